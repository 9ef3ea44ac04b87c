"""ARCHITECTURE.md shows the tree as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from architecture.sources import ROOT, modules
from architecture.test_layers import LAYERS

pytestmark = pytest.mark.interpreted


PAGE = Path(__file__).parents[2] / "ARCHITECTURE.md"


def drawn() -> list[str]:
    """The names in the tree of the page, in order."""
    block = PAGE.read_text(encoding="utf-8").split("```")[1]
    return re.findall(r"^  (\w[\w.]*)/?\s", block, flags=re.MULTILINE)


def test_every_package_and_top_level_file_is_drawn_and_no_other():
    there = {path.name for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert sorted(drawn()) == sorted(there)


def test_the_tree_is_drawn_in_the_order_of_dependencies():
    names = [name.removesuffix(".py") for name in drawn()]
    assert [name for name in names if not name.startswith("__")] == list(LAYERS)


def test_files_that_the_page_names_exist():
    text = PAGE.read_text(encoding="utf-8")
    root = PAGE.parent
    for path in re.findall(r"`((?:[a-z_]+/)+[\w.]*)`", text):
        place = root / path if path.startswith("tests") else ROOT / path
        assert place.exists() or place.with_suffix(".py").exists(), path


def test_few_files_lie_loose_at_the_top():
    loose = [module for module in modules() if module and "." not in module and modules()[module].name != "__init__.py"]
    assert len(loose) <= 6, loose
