"""The run of the tests itself: it ends, compares no clocks, and its fast tests compile nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import run_record

TESTS = Path(__file__).parents[1]
pytestmark = pytest.mark.interpreted

CLOCKS = {"monotonic", "perf_counter", "process_time", "deadline"}
LIMITS = {"timeout", "open_timeout", "deadline"}


def names_and_limits(path: Path):
    """Names of clocks that a file uses, and limits of time that it gives to calls."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS:
            yield node.lineno, node.attr
        if isinstance(node, ast.keyword) and node.arg in LIMITS:
            value = node.value
            if not (isinstance(value, ast.Constant) and value.value in (None, 0)):  # which mean: none
                yield value.lineno, node.arg


def test_no_test_has_a_limit_of_time():
    own = {TESTS / "run_record.py", TESTS / "waiting.py", Path(__file__)}
    found = {
        f"{path.relative_to(TESTS)}:{line} {name}"
        for path in TESTS.rglob("*.py")
        if path not in own
        for line, name in names_and_limits(path)
    }
    assert not found, "wait for the event with waiting.eventually"


def run_tests(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a file of tests as the tests of this folder are run: with its conftest, and the settings of pyproject.toml."""
    (folder / "conftest.py").write_text((TESTS / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    command = [
        sys.executable, "-m", "pytest", "-c", str(TESTS.parent / "pyproject.toml"), f"--rootdir={folder}",
        "-o", f"pythonpath={TESTS}", *options, str(folder / "test_it.py"),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_hang_ends_the_run_and_says_where_it_stood(tmp_path):
    text = "import threading\n\ndef test_that_hangs():\n    threading.Event().wait()\n\ndef test_after(): pass\n"
    done = run_tests(tmp_path, text, "-o", "faulthandler_timeout=0.5", "--numprocesses", "1")
    assert done.returncode != 0
    assert "in test_that_hangs" in done.stderr
    assert "worker 'gw0' crashed" in done.stdout


def test_an_interpreted_test_that_compiles_fails(tmp_path):
    text = """
import pytest, chainrule as cr

@pytest.mark.interpreted
def test_a_kernel():
    cr.load("pendulum").compiled.kernel("mass_matrix")

@pytest.mark.interpreted
def test_a_function():
    assert cr.load("pendulum").mass_matrix([0.1]).shape == (1, 1)
"""
    done = run_tests(tmp_path, text)
    assert "1 failed, 1 passed" in done.stdout
    assert "a test marked `interpreted` uses compiled code" in done.stdout


def test_a_run_writes_its_own_record(tmp_path):
    page = tmp_path / "page.md"
    earlier = "| 2026-01-01 | of an earlier run |"
    page.write_text(f"before\n\n{run_record.BEGIN}{earlier}\n{run_record.END}\n\nafter\n", encoding="utf-8")
    run_tests(tmp_path, "def test_one(): pass\ndef test_two(): assert False\n", "--record", str(page))
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| 2")]
    assert len(rows) == 2
    assert " | 1 | 1 | 0 | 0 | " in rows[0]
    assert rows[1] == earlier
    assert (lines[0], lines[-1]) == ("before", "after")
