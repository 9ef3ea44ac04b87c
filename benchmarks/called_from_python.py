"""What it costs to call a control law from Python in a simulation: the same law compiled in, called, and a controller.

    python benchmarks/called_from_python.py [--rows N] [--seconds S] [--output FOLDER]

Panda, Runge and Kutta's method in steps of 1 ms, four evaluations of the law each. Prints microseconds a step, for
one motion and for each of a batch.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures

GOAL = np.array([0.1, -0.4, 0.1, -2.1, 0.1, 1.8, 0.9])


def law(t, q, qd):
    return 50.0 * (GOAL - q) - 5.0 * qd


def cost(robot: cr.Robot, start: np.ndarray, seconds: float, torque: object) -> float:
    """Microseconds a step and motion, the best of three."""
    steps = max(2, round(seconds * 1e3))
    robot.simulate(start, None, 2e-3, torque)
    spent = np.inf
    for _ in range(3):
        began = time.perf_counter()
        robot.simulate(start, None, steps * 1e-3, torque, record=steps)
        spent = min(spent, time.perf_counter() - began)
    return spent / steps / (start.size // robot.nv) * 1e6


def main(rows: int, seconds: float, output: str | None) -> None:
    robot = cr.load("panda")
    one, many = GOAL - 0.1, np.tile(GOAL - 0.1, (rows, 1))
    laws = {
        "compiled, cr.traceable": cr.traceable(law),
        "compiled, cr.PD": cr.PD(robot, GOAL, 50.0, 5.0),
        "called from Python": law,
    }
    print(f"{'microseconds a step':26} {'one motion':>12} {f'each of {rows}':>14}")
    table = {
        name: (cost(robot, one, seconds, torque), cost(robot, many, seconds / 20, torque))
        for name, torque in laws.items()
    }
    for name, figures in table.items():
        print(f"{name:26} {figures[0]:12.2f} {figures[1]:14.3f}")
    compiled, _, called = table.values()
    print(f"{'ratio':26} {called[0] / compiled[0]:12.0f} {called[1] / compiled[1]:14.1f}")
    if output:
        figures = {name: {"one motion": alone, "each": each} for name, (alone, each) in table.items()}
        write_figures(output, "called_from_python", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.rows, options.seconds, options.output)
