"""The pages for people who come from another library: both sides of each row are run, and compared."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs" / "coming_from"
PEERS = {"pinocchio": "pinocchio", "mujoco": "mujoco", "modern_robotics": "modern_robotics", "drake": "pydrake"}
NOT_RUN = ("robotics_toolbox", "matlab", "opensim")
ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \|$", re.MULTILINE)


def parts(page):
    """The code of a page, and the rows before the section about what is otherwise."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    return code, ROW.findall(text.split("## What is otherwise")[0])


@pytest.mark.parametrize("page", PEERS)
def test_both_sides_of_a_row_are_equal(page, tmp_path, monkeypatch):
    if find_spec(PEERS[page]) is None:
        pytest.skip(f"{PEERS[page]} is not installed")
    monkeypatch.chdir(tmp_path)
    code, rows = parts(page)
    names: dict = {"__name__": page}
    exec(compile(code, page, "exec"), names)
    assert len(rows) >= 10
    for theirs, ours in rows:
        found, expected = eval(ours, names), eval(theirs, names)
        if isinstance(expected, list):
            assert found == expected, ours
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-6, err_msg=f"{theirs} and {ours}")


@pytest.mark.parametrize("page", NOT_RUN)
def test_a_page_that_is_not_run_says_so_and_its_right_sides_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, rows = parts(page)
    assert "not run" in (DOCS / f"{page}.md").read_text(encoding="utf-8").split("\n## ")[0]
    names: dict = {"__name__": page}
    exec(compile(code, page, "exec"), names)
    assert len(rows) >= 8
    for _, ours in rows:
        assert eval(ours, names) is not None, ours
