"""How far a first call walks through the library: what a reader of the code has to follow.

    python benchmarks/walk.py

A function counts when it is first entered. The walk is the list of files in which they are: a return is a step to a
file that was left before. `spatial` and `errors`, which hold what is computed with, are left out, and so is what
imports run. Each call is made in a process of its own, once with an empty cache of kernels and once with a warm one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, NamedTuple

BEGIN = "import chainrule as cr; robot = cr.load('panda'); q = robot.home(); zero = 0 * q"
CALLS = {
    "cr.load('panda')": ("import chainrule as cr", "cr.load('panda')"),
    "robot.inverse_dynamics(q, qd, qdd)": (BEGIN, "robot.inverse_dynamics(q, zero, zero)"),
    "robot.simulate(q, None, 0.1, pd)": (f"{BEGIN}; pd = cr.PD(robot, q)", "robot.simulate(q, None, 0.1, pd)"),
}
LEFT_OUT = ("spatial/", "errors.py")


class Walk(NamedTuple):
    """Files entered, steps to a file that was left before, and functions entered."""

    files: int
    returns: int
    functions: int


def steps(setup: str, call: str) -> list[str]:
    """The functions entered by a call, as "file function", in the order of their first entry."""
    names: dict[str, Any] = {}
    exec(setup, names)
    root = f"{Path(names['cr'].__file__).parent}/"
    entered: dict[CodeType, bool] = {}

    def enter(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root) and not entered.get(frame.f_code):
            entered.pop(frame.f_code, None)
            entered[frame.f_code] = not _in_import(frame)

    sys.setprofile(enter)
    try:
        exec(call, names)
    finally:
        sys.setprofile(None)
    found = [f"{c.co_filename.removeprefix(root)} {c.co_qualname}" for c, counts in entered.items() if counts]
    return [step for step in found if not step.startswith(LEFT_OUT)]


def _in_import(frame: FrameType | None) -> bool:
    """Whether a function runs while a module is imported."""
    while frame is not None and frame.f_code.co_filename != "<string>":
        if frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


def walk_of(functions: list[str]) -> Walk:
    """Files and returns of a walk through these functions."""
    stays = [file for file, _ in groupby(functions, key=lambda step: step.split()[0])]
    files = len({*stays})
    return Walk(files, len(stays) - files, len(functions))


def walk_alone(name: str, cache: str) -> Walk:
    """The walk of a call in a process of its own, with this folder as the cache of kernels."""
    environment = os.environ | {"CHAINRULE_CACHE": cache}
    run = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True, env=environment)
    return walk_of(json.loads(run.stdout))


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(steps(*CALLS[sys.argv[1]])))
        return
    print(f"{'call':38}{'cache':>8}{'files':>8}{'returns':>9}{'functions':>11}")
    for name in CALLS:
        with TemporaryDirectory() as cache:
            for state in ("empty", "warm"):
                walk = walk_alone(name, cache)
                print(f"{name:38}{state:>8}{walk.files:8}{walk.returns:9}{walk.functions:11}")


if __name__ == "__main__":
    main()
