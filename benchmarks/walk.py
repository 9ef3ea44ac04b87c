"""How many files and functions of the library a first call walks through: what a reader of the code has to follow.

    python benchmarks/walk.py

Each call is made in a process of its own whose cache of kernels is warm. A function counts when it is first entered;
`spatial` and `errors`, which hold what is computed with, are left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

BEGIN = "import chainrule as cr; robot = cr.load('panda'); q = robot.home(); zero = 0 * q"
CALLS = {
    "cr.load('panda')": ("import chainrule as cr", "cr.load('panda')"),
    "robot.inverse_dynamics(q, qd, qdd)": (BEGIN, "robot.inverse_dynamics(q, zero, zero)"),
    "robot.simulate(q, None, 0.1)": (BEGIN, "robot.simulate(q, None, 0.1)"),
}
LEFT_OUT = ("spatial/", "errors.py")


def walk(setup: str, call: str) -> list[str]:
    """The functions entered by a call, as "file function", in the order of their first entry."""
    names: dict[str, Any] = {}
    exec(setup, names)
    root = f"{Path(names['cr'].__file__).parent}/"
    entered: dict[CodeType, None] = {}

    def enter(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root):
            entered.setdefault(frame.f_code)

    sys.setprofile(enter)
    try:
        exec(call, names)
    finally:
        sys.setprofile(None)
    steps = [f"{code.co_filename.removeprefix(root)} {code.co_qualname}" for code in entered
             if code.co_name != "<module>"]  # fmt: skip
    return [step for step in steps if not step.startswith(LEFT_OUT)]


def walk_alone(name: str) -> list[str]:
    """The same in a process of its own, the second of two, so that kernels are on disk."""
    for _ in range(2):
        run = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
    steps: list[str] = json.loads(run.stdout)
    return steps


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(walk(*CALLS[sys.argv[1]])))
        return
    print(f"{'call':40}{'files':>8}{'functions':>12}")
    for name in CALLS:
        steps = walk_alone(name)
        files = Counter(step.split()[0] for step in steps)
        print(f"{name:40}{len(files):8}{len(steps):12}")


if __name__ == "__main__":
    main()
