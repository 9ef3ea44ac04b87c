"""Wide results of large batches beside the speed at which memory is copied.

    python benchmarks/bandwidth.py [--robot panda] [--states N] [--rounds R] [--quick] [--output FOLDER]

For one thread and for all: ns a state in the cache (1,000 states, on one thread), of N states in a new array, and of N
states in an array that exists (`out=`). The bandwidth of the latter counts the bytes of the arguments, read once, and
of the result, written once. It is given as a share of that of `np.copyto` between two arrays which have as many bytes
together, one of them read and one written, on one thread; and of the same copy spread over as many threads as ours.
Calls take turns, best of R rounds.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.timing import best_in_turns
from chainrule.compile.runtime.threads import run_all, threads

CACHED_STATES = 1000
CASES: dict[str, tuple[str, dict[str, Any], int]] = {
    "mass matrix": ("mass_matrix", {}, 1),
    "mass matrix, half": ("mass_matrix", {"half": True}, 1),
    "Jacobian": ("jacobian", {}, 1),
    "poses of all links": ("poses", {}, 1),
    "inverse dynamics": ("inverse_dynamics", {}, 3),
}
"""Functions of a robot with their options and the number of their arguments."""


def spread_copy(target: np.ndarray, source: np.ndarray, count: int) -> None:
    """A copy in as many parts as there are threads."""
    pairs = zip(np.array_split(target, count), np.array_split(source, count), strict=True)
    run_all([partial(np.copyto, *pair) for pair in pairs])


def measure(robot: cr.Robot, case: str, states: int, rounds: int, count: int) -> dict[str, float]:
    """Nanoseconds a state, and shares of the bandwidth of a copy."""
    name, options, arguments_taken = CASES[case]
    rng = np.random.default_rng(0)
    arguments = [robot.random_state(rng, (states,)), *rng.normal(size=(2, states, robot.nv))][:arguments_taken]
    few = [a[:CACHED_STATES] for a in arguments]
    method, kernel = getattr(robot, name), robot.compiled.kernel(name, **options)
    result, small = method(*arguments, **options), kernel.ufunc(*few)
    size = (sum(a.nbytes for a in arguments) + result.nbytes) // 16
    source, target = np.ones(size), np.ones(size)
    cr.set_threads(count)
    calls = [
        lambda: [kernel.ufunc(*few, out=small) for _ in range(10)],
        lambda: method(*arguments, **options),
        lambda: method(*arguments, out=result, **options),
        lambda: np.copyto(target, source),
        lambda: spread_copy(target, source, count),
    ]
    cached, fresh, reused, copy, wide_copy = best_in_turns(calls, rounds)
    return {
        "in_cache_ns": cached / 10 / len(few[0]) * 1e9,
        "new_array_ns": fresh / states * 1e9,
        "out_ns": reused / states * 1e9,
        "copy_gb_per_s": 16 * size / copy / 1e9,
        "share_of_copy": copy / reused,
        "share_of_spread_copy": wide_copy / reused,
    }


def main(name: str, states: int, rounds: int, output: str | None) -> None:
    robot = cr.load(name)
    figures: dict[str, Any] = {"robot": name, "states": states}
    for count in sorted({1, threads()}):
        print(f"{name}: {states:,} states, {count} thread(s), best of {rounds}; ns a state")
        print(f"  {'':20} in cache  new array    out=  ratio new/out  of the copy  of a copy on as many threads")
        for case in CASES:
            found = figures[f"{case}, {count} threads"] = measure(robot, case, states, rounds, count)
            print(
                f"  {case:20} {found['in_cache_ns']:8.1f}  {found['new_array_ns']:9.1f}  {found['out_ns']:6.1f}"
                f"  {found['new_array_ns'] / found['out_ns']:12.2f}x  {found['share_of_copy']:11.0%}"
                f"  {found['share_of_spread_copy']:11.0%}"
            )
    cr.set_threads(None)
    if output:
        write_figures(output, "bandwidth", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="panda")
    parser.add_argument("--states", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="few states, to see that it runs")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    few = (2000, 1) if options.quick else (options.states, options.rounds)
    main(options.robot, *few, options.output)
