"""Derivatives of inverse and forward dynamics beside Pinocchio's: Panda, and a chain of 30 joints.

    python benchmarks/derivatives.py [--quick] [--states N] [--rounds N] [--output FOLDER]

For each function: seconds to compile, the difference from Pinocchio's matrices relative to their largest entry,
nanoseconds a state of a batch on one thread, nanoseconds of one call from Python, those of Pinocchio's call, and the
ratios. The two sides run in turn, and the best of all rounds counts on each. Pinocchio's call leaves its matrices in a
workspace; ours makes new arrays in a call, and fills one that exists in a batch.
"""

from __future__ import annotations

import argparse
from timeit import timeit
from typing import Any

import numpy as np
import pinocchio as pin

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.kernels import snake, without_cache
from chainrule.cli.benchmark.peers import urdf
from chainrule.cli.benchmark.timing import NANOSECONDS, BenchmarkStates

CALLS = 50


def inverse(model: pin.Model, data: pin.Data, *state: np.ndarray) -> list[np.ndarray]:
    pin.computeRNEADerivatives(model, data, *state)
    return [data.dtau_dq, data.dtau_dv, np.triu(data.M) + np.triu(data.M, 1).T]


def forward(model: pin.Model, data: pin.Data, *state: np.ndarray) -> list[np.ndarray]:
    pin.computeABADerivatives(model, data, *state)
    return [data.ddq_dq, data.ddq_dv, np.triu(data.Minv) + np.triu(data.Minv, 1).T]


PEERS = {
    "inverse_dynamics_derivatives": (pin.computeRNEADerivatives, inverse),
    "forward_dynamics_derivatives": (pin.computeABADerivatives, forward),
}


def measure(robot: cr.Robot, name: str, states: int, rounds: int) -> dict[str, Any]:
    """All figures of one function of one robot."""
    model = pin.buildModelFromXML(urdf(robot))
    model.gravity.linear = robot.gravity
    data = model.createData()
    peer, matrices = PEERS[name]
    arguments = BenchmarkStates(robot, states).arguments(name)
    one = [a[0].copy() for a in arguments]
    with without_cache():
        kernel = robot.compiled.kernel(name)
    out, ufunc = kernel.spread(arguments), kernel.ufunc
    apart = max(
        np.abs(a - b).max() / np.abs(b).max()
        for a, b in zip(getattr(robot, name)(*one), matrices(model, data, *one), strict=True)
    )
    call = getattr(robot, name)
    best = np.full(3, np.inf)
    for _ in range(rounds):
        spent = (
            timeit(lambda: ufunc(*arguments, out=out), number=1) / states,
            timeit(lambda: call(*one), number=CALLS) / CALLS,
            timeit(lambda: peer(model, data, *one), number=CALLS) / CALLS,
        )
        best = np.minimum(best, spent)
    batch, alone, theirs = (float(x) * NANOSECONDS for x in best)
    return {
        "compile": kernel.compile_seconds, "instructions": kernel.instructions, "apart": float(apart), "batch": batch,
        "call": alone, "pinocchio": theirs, "batch ratio": theirs / batch, "call ratio": alone / theirs,
    }  # fmt: skip


def main(quick: bool, states: int, rounds: int, output: str | None) -> None:
    cr.set_threads(1)
    robots = [cr.load("planar_3r")] if quick else [cr.load("panda"), snake(30)]
    if quick:
        states, rounds = 8, 2
    figures: dict[str, Any] = {}
    for robot in (robot.without_friction() for robot in robots):
        print(f"{robot.name}, {robot.nv} joints, {states} states")
        for name in PEERS:
            row = figures.setdefault(robot.name, {})[name] = measure(robot, name, states, rounds)
            print(
                f"  {name:30} compiled in {row['compile']:.2f} s, {row['instructions']} instructions, apart by "
                f"{row['apart']:.0e}\n"
                f"  {'':30} {row['batch']:.0f} ns a state, Pinocchio {row['pinocchio']:.0f} ns: ratio "
                f"{row['batch ratio']:.1f}; one call {row['call']:.0f} ns, {row['call ratio']:.2f} of Pinocchio's"
            )
    if output:
        write_figures(output, "derivatives", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small robot and few states")
    parser.add_argument("--states", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    given = parser.parse_args()
    main(given.quick, given.states, given.rounds, given.output)
