"""Recorded figures of benchmarks: kept where a library did not take part, and compared."""

import json
import runpy
from pathlib import Path

import pytest

from chainrule.cli.benchmark.figures import NOT_INSTALLED, write_figures

pytestmark = pytest.mark.interpreted


COMPARE = Path(__file__).parents[2] / "benchmarks" / "compare.py"


def test_figures_of_a_library_that_is_not_installed_stay(tmp_path):
    write_figures(tmp_path, "x", {"arm": {"ours": {"seconds": 1.0}, "theirs": {"seconds": 2.0}}})
    path = write_figures(tmp_path, "x", {"arm": {"ours": {"seconds": 3.0}, "theirs": {"error": NOT_INSTALLED}}})
    arm = json.loads(path.read_text())["arm"]
    assert arm == {"ours": {"seconds": 3.0}, "theirs": {"seconds": 2.0, "earlier_run": True}}


def test_figures_are_compared_by_their_ratio(tmp_path, capsys):
    compare = runpy.run_path(str(COMPARE))["compare"]
    old = {"states": 8, "a": {"call": 2.0, "batch": 1.0}, "seconds": [1.0, 4.0]}
    new = {"states": 8, "a": {"call": 3.0, "batch": 1.0}, "seconds": [1.0, 1.0]}
    write_figures(tmp_path / "old", "x", old)
    write_figures(tmp_path / "new", "x", new)
    write_figures(tmp_path / "new", "y", new)
    compare(tmp_path / "old", tmp_path / "new", 0.05)
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert ["a/call", "2", "3", "1.50"] in rows
    assert ["seconds", "of", "2", "2", "1", "0.50"] in rows
    assert "1 more within 5%" in printed
    assert "y: nothing recorded" in printed
