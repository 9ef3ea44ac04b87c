"""Each script of the gallery runs, and draws."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.rglob("*.py"))


def test_there_are_at_least_forty():
    assert len(SCRIPTS) >= 40


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_script_draws(path, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(path))
    if path.parent.name == "pages":
        assert (tmp_path / f"{path.stem.removesuffix('_page')}.html").stat().st_size > 1000
    figure = names["figure"]
    if hasattr(figure, "savefig"):
        figure.savefig("picture.png", dpi=40)
    else:
        figure.save("picture.png" if hasattr(figure, "png") else "picture.gif")
    assert max(made.stat().st_size for made in tmp_path.glob("picture.*")) > 1000
