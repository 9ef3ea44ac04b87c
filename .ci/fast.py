"""The fast tests, within a minute: `make fast`.

First the test files that were changed, then the examples in docstrings, README and docs, which touch every room, then
the tests of the rooms whose source was changed: tests/ROOM for src/chainrule/ROOM. Changes are those since the last
commit that the upstream branch has, or else since the last commit. Tests that would start after the time budget are
skipped and counted; `make test` runs them. A change of many rooms is for `make test`: here it gets the smoke set only.

This file is also the pytest plugin that keeps the budget.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SMOKE = ("src", "README.md", "docs")
MAX_ROOMS = 3
BUDGET_SECONDS = 45.0
START = time.monotonic()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip whatever would start after the budget."""
    if time.monotonic() - START > BUDGET_SECONDS:
        pytest.skip(f"{BUDGET_SECONDS:.0f} s are over")


def git(*words: str) -> list[str]:
    """The lines that a git command prints; none if it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed_files() -> list[Path]:
    """Files that differ from the upstream branch or the last commit, new ones included."""
    base = git("merge-base", "HEAD", "@{upstream}") or ["HEAD"]
    names = git("diff", "--name-only", base[0]) + git("ls-files", "--others", "--exclude-standard")
    return [Path(name) for name in names if (ROOT / name).exists()]


def tests_of(files: list[Path]) -> list[str]:
    """The tests to run for changed files, in order and each once."""
    own = [str(path) for path in files if path.parts[0] == "tests" and path.name.startswith("test_")]
    sources = [path for path in files if path.parts[:2] == ("src", "chainrule") and len(path.parts) > 3]
    rooms = [path.parts[1] for path in map(Path, own)] + [path.parts[2] for path in sources]
    if len({*rooms}) > MAX_ROOMS:
        return list(SMOKE)
    folders = [f"tests/{path.parts[2]}" for path in sources]
    return list(dict.fromkeys([*own, *SMOKE, *(folder for folder in folders if (ROOT / folder).is_dir())]))


if __name__ == "__main__":
    paths = tests_of(changed_files())
    print("make fast:", *paths, flush=True)
    command = [sys.executable, "-m", "pytest", "-n", "auto", "-m", "not slow", "-p", "fast", *paths]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
    }
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode)
