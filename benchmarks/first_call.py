"""What a new process waits for: the import, and the first call with an empty cache and with a warm one.

python benchmarks/first_call.py [--rounds N] [--output FOLDER]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from chainrule.cli.benchmark.figures import write_figures

CODE = """
import time
start = time.perf_counter()
import chainrule as cr
import numpy as np
imported = time.perf_counter()
robot = cr.load("panda")
loaded = time.perf_counter()
robot.inverse_dynamics(np.zeros(7), np.zeros(7), np.zeros(7))
print(imported - start, loaded - imported, time.perf_counter() - loaded)
"""


def run(folder: str) -> list[float]:
    """Seconds to import, to load Panda, and to call its inverse dynamics for the first time."""
    environment = {**os.environ, "CHAINRULE_CACHE": folder}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment)
    return [float(word) for word in done.stdout.split()]


def main(rounds: int, output: str | None) -> None:
    cold, warm = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(run(folder))
            warm.append(run(folder))
    best = [min(column) for column in zip(*cold, strict=True)]
    print(f"import chainrule and numpy {best[0]:.3f} s, load a robot {best[1]:.3f} s, best of {rounds}")
    last = min(row[2] for row in warm)
    print(f"first call: {best[2]:.3f} s with an empty cache, {last:.3f} s with a warm one")
    if output:
        figures = {
            "import": best[0],
            "load": best[1],
            "first call, empty cache": best[2],
            "first call, warm cache": last,
        }
        write_figures(output, "first_call", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.rounds, options.output)
