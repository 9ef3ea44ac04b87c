"""What a new process waits for: the import, and first calls with an empty cache and with a warm one.

python benchmarks/first_call.py [--rounds N] [--cases NAME ..] [--output FOLDER]

Every case runs in fresh processes, with a cache of its own, and prints the best of several rounds: seconds on the
clock, and seconds of the processor, which tell more on a machine that does other things as well.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from chainrule.cli.benchmark.figures import write_figures

START = """
import time
start = time.perf_counter()
import chainrule as cr
import numpy as np
imported = time.perf_counter()
"""
TALOS = """
from importlib.util import find_spec
from pathlib import Path
prefix = next(p for p in Path(find_spec("pinocchio").origin).parents if p.name == "cmeel.prefix")
path = prefix / "share" / "example-robot-data" / "robots" / "talos_data" / "robots" / "talos_reduced.urdf"
robot = cr.Robot.from_urdf(path, floating_base=True, check=False)
"""
SIMULATE = "robot.simulate(robot.home(), np.zeros(robot.nv), 0.01)"

CASES = {
    "panda inverse_dynamics": ('robot = cr.load("panda")', "robot.inverse_dynamics(*np.zeros((3, 7)))"),
    "panda simulate": ('robot = cr.load("panda")', SIMULATE),
    "talos simulate": (TALOS, SIMULATE),
    "stewart_platform simulate": ('robot = cr.load("stewart_platform")', SIMULATE),
    "talos coriolis_matrix": (TALOS, "robot.coriolis_matrix(robot.neutral(), np.zeros(robot.nv))"),
}
"""Code that makes the robot, and the call, by the name of the case."""

END = """
print(imported - start, called - imported, time.perf_counter() - called, time.process_time() - used)
"""


def run(case: str, folder: str) -> list[float]:
    """Seconds to import, to load the robot, and of the call, by the clock and of the processor."""
    robot, call = CASES[case]
    code = f"{START}\n{robot}\ncalled, used = time.perf_counter(), time.process_time()\n{call}\n{END}"
    environment = {**os.environ, "CHAINRULE_CACHE": folder}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return [float(word) for word in done.stdout.split()]


def main(rounds: int, cases: list[str], output: str | None) -> None:
    figures: dict[str, float] = {}
    for case in cases:
        cold, warm = [], []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                cold.append(run(case, folder))
                warm.append(run(case, folder))
        best, again = ([min(column) for column in zip(*rows, strict=True)] for rows in (cold, warm))
        if not figures:
            print(f"import chainrule and numpy {best[0]:.3f} s, load a robot {best[1]:.3f} s, best of {rounds}")
            figures |= {"import": best[0], "load": best[1]}
        print(f"{case}: {best[2]:.3f} s with an empty cache ({best[3]:.3f} s of the processor), {again[2]:.3f} s warm")
        figures |= {f"{case}, empty cache": best[2], f"{case}, warm cache": again[2]}
    if output:
        write_figures(output, "first_call", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES), metavar="NAME")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.rounds, options.cases, options.output)
