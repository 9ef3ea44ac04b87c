"""Exported JavaScript in a browser beside the same calls from Python.

python benchmarks/javascript.py [--robots NAME ..] [--functions NAME ..] [--rounds N] [--output FOLDER]

Each line is a function of a robot: microseconds a call in Chromium, once it has compiled the function, and from Python,
medians of rounds that take turns, and their ratio. The calls go through a list of states, so that none is made twice in
a row with the same numbers; those in the browser write into an array that is there. Three times a call from Python is
the bar.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from chromium import chromium
from compile.support import arguments_of

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures

ROBOTS = ("planar_2r", "panda", "quadruped", "g1")
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "pose", "poses", "jacobian", "torque_terms")
STATES = 16
SECONDS = 0.001
"""Length of a stretch of calls; the best of STRETCHES counts, so that what else runs on the machine counts little."""
STRETCHES = 10

LOAD = """async text => {
  globalThis.exported = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}"""
TIME = """([name, states, seconds, stretches]) => {
  const call = exported[name];
  const inputs = states.map(state => state.map(argument => Float64Array.from(argument)));
  const out = call(...inputs[0]);
  const [a, b, c] = [0, 1, 2].map(k => inputs.map(state => state[k]));
  const run = { 1: k => call(a[k], out), 2: k => call(a[k], b[k], out), 3: k => call(a[k], b[k], c[k], out) };
  const one = run[inputs[0].length];
  let best = Infinity;
  for (let stretch = 0; stretch < stretches; stretch++) {
    let calls = 0;
    const start = performance.now();
    do {
      for (let k = 0; k < inputs.length; k++) one(k);
      calls += inputs.length;
    } while (performance.now() - start < 1000 * seconds);
    best = Math.min(best, (performance.now() - start) / 1000 / calls);
  }
  return best;
}"""


def in_python(robot: cr.Robot, function: str, states: list[list[np.ndarray]]) -> float:
    """Seconds a call of the method."""
    call, best = getattr(robot, function), float("inf")
    for _ in range(STRETCHES):
        calls, start = 0, time.perf_counter()
        while time.perf_counter() - start < SECONDS:
            for state in states:
                call(*state)
            calls += len(states)
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def main(robots: list[str], functions: list[str], rounds: int, output: str | None) -> None:
    """Print and write the figures."""
    figures = {}
    print(f"{'robot':12} {'function':18} {'browser us':>11} {'Python us':>10} {'ratio':>6}")
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        page = browser.new_page()
        for name in robots:
            robot = cr.load(name)
            robot = robot if robot.model.end_effector else robot.with_end_effector(robot.model.tips[0])
            for function in functions:
                path = Path(folder) / "robot.mjs"
                robot.compiled.export("javascript", functions=[function], path=path)
                page.evaluate(LOAD, path.read_text())
                states = [list(arguments_of(robot, function, seed)) for seed in range(STATES)]
                lists = [[argument.tolist() for argument in state] for state in states]
                pairs = [
                    (
                        page.evaluate(TIME, [function, lists, SECONDS, STRETCHES]),
                        in_python(robot, function, states),
                    )
                    for _ in range(rounds + 8)
                ][8:]
                browser_us, python_us = (1e6 * median(side) for side in zip(*pairs, strict=True))
                ratio = median(there / here for there, here in pairs)
                print(f"{name:12} {function:18} {browser_us:11.2f} {python_us:10.2f} {ratio:6.2f}", flush=True)
                figures[f"{name} {function}"] = {"browser_us": browser_us, "python_us": python_us, "ratio": ratio}
    if output:
        write_figures(output, "javascript", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=ROBOTS, metavar="NAME")
    parser.add_argument("--functions", nargs="+", default=FUNCTIONS, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.robots, options.functions, options.rounds, options.output)
