"""Load: many states through every function, robots made and dropped, threads, forked and spawned processes.

Memory is measured before and after each part. The counts are printed as a table, and written to soak.json.

    python benchmarks/soak.py --states 1e9 --robots 10000 --output benchmarks/results
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import chainrule as cr
from chainrule.compile.backend import Call, is_worth_compiling
from chainrule.compile.runtime import memory_cache
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import evaluate, options_of
from chainrule.functions.table import FUNCTIONS

BATCH = 4096
ROBOTS = {"panda": 1, "planar_2r": 1, "four_bar": 4, "quadruped": 20}
"""Robots whose functions are called, each once in so many rounds."""
KEPT = 64
"""Compiled things that stay in memory while robots come and go."""

MAX_GROWTH_MB = 50.0
"""Growth of memory in one part beyond which the run has failed."""


def resident_mb() -> float:
    """Memory that this process holds, in MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def arguments_of(robot: cr.Robot, name: str, rng: np.random.Generator, rows: int) -> dict[str, Any]:
    """Random arguments of a function of the table."""
    return {
        argument: robot.random_state(rng, (rows,)) if entry.is_configuration else rng.normal(size=(rows, robot.nv))
        for argument, entry in zip(FUNCTIONS[name].arguments, FUNCTIONS[name].takes, strict=True)
    }


def calls(robot: cr.Robot) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The compiled functions of a robot whose arguments are positions, velocities, accelerations or torques."""
    for name, entry in FUNCTIONS.items():
        try:
            model = robot.model if entry.whole else merged_model(robot)
            if not is_worth_compiling(Call.of(model, name, options_of(robot, name, {}))):
                continue
            evaluate(robot, name, **arguments_of(robot, name, np.random.default_rng(0), 2))
        except cr.ChainruleError:  # it needs a tip, a load or a loop that this robot has not
            continue
        yield name, partial(evaluate, robot, name)


def states_through_functions(total: float) -> dict[str, Any]:
    """Batches through every function of some robots, again and again."""
    rng = np.random.default_rng(0)
    work = []
    for name, every in ROBOTS.items():
        robot = cr.load(name)
        for function, method in calls(robot):
            arguments = arguments_of(robot, function, rng, BATCH)
            work.append((every, method, arguments, method(**arguments)))
    for _, method, arguments, _ in work:
        method(**arguments)
    before, started, done, rounds = resident_mb(), time.perf_counter(), 0, 0
    while done < total:
        for every, method, arguments, expected in work:
            if rounds % every:
                continue
            result = method(**arguments)
            if rounds % 50 == 0 and not np.array_equal(result, expected, equal_nan=True):
                raise AssertionError(f"{method} has given other numbers than before")
            done += BATCH
            if done >= total:
                break
        rounds += 1
    return {
        "states": done, "functions": len(work), "seconds": time.perf_counter() - started,
        "before": before, "after": resident_mb(),
    }  # fmt: skip


def robots_made_and_dropped(count: int, every: int) -> dict[str, Any]:
    """Robots, each of other numbers; every so many is compiled, and called with one state and with a batch."""

    def make(k: int) -> None:
        robot = cr.load("planar_2r").scale_masses(1.0 + k / count)
        robot.reference.gravity_torque(np.zeros(2))
        if k % every == 0:
            robot.gravity_torque(np.zeros((3, 2)))
            robot.gravity_torque(np.zeros(2))

    memory_cache.MAX_ENTRIES = KEPT
    warm = min(count // 2, 2 * KEPT * every)  # the store of compiled things is full then
    for k in range(warm):
        make(k)
    before, started = resident_mb(), time.perf_counter()
    for k in range(warm, count):
        make(k)
    return {
        "robots": count, "compiled": -(-count // every), "seconds": time.perf_counter() - started,
        "before": before, "after": resident_mb(),
    }  # fmt: skip


def hammer(seed: int, rounds: int) -> int:
    """Single states, batches, edits and rollouts, compared with the reference; the number of rounds."""
    rng = np.random.default_rng(seed)
    for k in range(rounds):
        robot = cr.load("planar_3r").scale_masses(1.0 + (k % 7))
        q = rng.normal(size=(50, 3))
        expected = robot.reference.gravity_torque(q)
        np.testing.assert_allclose(robot.gravity_torque(q), expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(robot.gravity_torque(q[0]), expected[0], rtol=1e-9, atol=1e-9)
    return rounds


def in_threads(count: int, rounds: int) -> dict[str, Any]:
    """Several threads at once, forks in between: each child computes too."""
    hammer(0, 10)
    before, started, children = resident_mb(), time.perf_counter(), []
    workers = [threading.Thread(target=hammer, args=(seed, rounds)) for seed in range(count)]
    for worker in workers:
        worker.start()
    failed = 0
    while any(worker.is_alive() for worker in workers):
        child = os.fork()
        if child == 0:
            try:
                hammer(os.getpid(), 5)
                os._exit(0)
            except BaseException:
                os._exit(1)
        children.append(child)
        failed += os.waitpid(child, 0)[1] != 0
    return {
        "threads": count, "rounds": count * rounds, "forks": len(children), "failed": failed,
        "seconds": time.perf_counter() - started, "before": before, "after": resident_mb(),
    }  # fmt: skip


def in_processes(method: str, count: int, rounds: int) -> dict[str, Any]:
    """A pool of processes."""
    before, started = resident_mb(), time.perf_counter()
    with multiprocessing.get_context(method).Pool(count) as pool:
        done = sum(pool.starmap(hammer, [(seed, rounds) for seed in range(4 * count)]))
    return {
        "processes": count, "rounds": done, "seconds": time.perf_counter() - started,
        "before": before, "after": resident_mb(),
    }  # fmt: skip


def main() -> int:
    """Run all parts; 1 if memory has grown in one of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=float, default=1e9)
    parser.add_argument("--robots", type=int, default=10_000)
    parser.add_argument("--compiled-every", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "spawn": lambda: in_processes("spawn", 2, chosen.rounds),
        "fork": lambda: in_processes("fork", 2, chosen.rounds),
        "threads and fork": lambda: in_threads(4, chosen.rounds),
        "robots": lambda: robots_made_and_dropped(chosen.robots, chosen.compiled_every),
        "states": lambda: states_through_functions(chosen.states),
    }
    results: dict[str, dict[str, Any]] = {}
    for name, part in parts.items():
        found = results[name] = part()
        found["growth"] = found["after"] - found["before"]
        numbers = ", ".join(f"{key} {value:,.0f}" for key, value in found.items())
        print(f"{name:18} {numbers}", flush=True)
    if chosen.output:
        chosen.output.mkdir(parents=True, exist_ok=True)
        (chosen.output / "soak.json").write_text(json.dumps(results, indent=2) + "\n")
    grown = [name for name, found in results.items() if found["growth"] > MAX_GROWTH_MB or found.get("failed")]
    print(f"failed: {', '.join(grown)}" if grown else "memory is as it was")
    return bool(grown)


if __name__ == "__main__":
    sys.exit(main())
