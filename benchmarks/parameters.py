"""A sweep over payloads of a Panda in one batch, beside a robot of its own for each payload.

    python benchmarks/parameters.py [--quick] [--payloads N] [--separate K] [--output FOLDER]

Each arm holds its posture by computed torque for a robot without payload, for 500 steps of 1 ms. The batch takes the
payloads as parameters: its time includes the compilation of its one loop, from an empty cache. Of the separate robots
only K are made and simulated, each with a loop of its own to compile; their time is multiplied up. The motions of these
are compared with the rows of the batch.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.kernels import without_cache

T = TypeVar("T")

HAND = "panda_link8"
STEP = 1e-3
MAX_MASS = 3.0
WANTED = 100.0
"""How many times faster the batch is to be."""


def payloads(count: int) -> np.ndarray:
    """Bodies (count, 10): mass, center of mass, inertia about it of cubes of the density of water."""
    rng = np.random.default_rng(0)
    masses = rng.uniform(0.1, MAX_MASS, count)
    bodies = np.zeros((count, 10))
    bodies[:, 0], bodies[:, 3] = masses, 0.1
    bodies[:, 4:7] = (masses * (masses / 1000.0) ** (2 / 3) / 6)[:, None]
    return bodies


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and the result."""
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


def measure(count: int, separate: int, steps: int) -> dict[str, float]:
    """Seconds for the whole sweep, either way."""
    robot = cr.load("panda")
    law = cr.ComputedTorque(robot, robot.home(), 100.0, 20.0)
    bodies = payloads(count)

    def simulate(arm: Any) -> cr.Trajectory:
        return arm.simulate(robot.home(), None, steps * STEP, law, progress=False)

    def sweep() -> cr.Trajectory:
        return simulate(robot.at({f"{HAND}.payload": bodies}))

    def each(k: int) -> cr.Trajectory:
        return simulate(robot.with_payload(bodies[k, 0], bodies[k, 1:4], bodies[k, 4:], link=HAND))

    with without_cache():
        first, motion = timed(sweep)
        again = min(timed(sweep)[0] for _ in range(3))
        chosen = np.linspace(0, count - 1, separate).astype(int)
        runs = [timed(lambda k=k: each(k)) for k in chosen]
    apart = max(float(np.abs(one.q - motion.q[k]).max()) for k, (_, one) in zip(chosen, runs, strict=True))
    alone = float(np.median([seconds for seconds, _ in runs]))
    return {"batch": first, "batch_again": again, "one_robot": alone, "separate": alone * count, "difference": apart}


def main(quick: bool, count: int, separate: int, output: str | None) -> None:
    steps = 20 if quick else 500
    found = measure(count, separate, steps)
    ratio = found["separate"] / found["batch"]
    print(f"{count} payloads of a Panda, {steps} steps each, RK4, computed torque:")
    print(f"  one batch        {found['batch']:8.2f} s with compilation, {found['batch_again']:.2f} s after it")
    alone = f"{count} times {found['one_robot']:.2f} s, the median of {separate}"
    print(f"  separate robots  {found['separate']:8.1f} s: {alone}")
    print(f"  {ratio:.0f}x (wanted: {WANTED:.0f}x); apart by {found['difference']:.1g} rad at most")
    if output:
        write_figures(output, "parameters", {**found, "ratio": ratio, "payloads": count, "steps": steps})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few steps: seconds instead of minutes")
    parser.add_argument("--payloads", type=int, metavar="N", help="1000, or 50 with --quick")
    parser.add_argument("--separate", type=int, metavar="K", help="robots of their own: 8, or 1 with --quick")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    many, few = (50, 1) if options.quick else (1000, 8)
    main(options.quick, options.payloads or many, options.separate or few, options.output)
