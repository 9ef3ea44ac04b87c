"""Names in plots: shown letter by letter, whatever Matplotlib would make of them."""

import json
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from formats.samples import BODY
from tiers import with_slow

import chainrule as cr

NAMES = [
    "$\\frac$",
    "$x$",
    "_hidden",
    "a\\b",
    "50 % & #",
    "$",
    "\x1b[31m\nred\x00",
    "<b>&amp;</b>",
    "_$\\alpha_",
    "日本",
]


def named(name):
    joint = {"name": name, "type": "continuous", "parent": "base", "child": name + "!", "axis": [0, 0, 1]}
    document = {
        "format": "chainrule 1", "name": name, "link": [{"name": "base"}, {"name": name + "!", **BODY}], "joint": [joint],
    }  # fmt: skip
    return cr.load(json.dumps(document), check=False)


def texts(figure):
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text)]


def shown(name):
    return name.replace("\x1b", "\\x1b").replace("\n", "\\n").replace("\x00", "\\x00")


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
@pytest.mark.parametrize("name", with_slow(NAMES, *NAMES[1::2]), ids=ascii)
def test_names_are_drawn_as_they_are(name, tmp_path):
    robot = named(name)
    motion = robot.simulate([0.1], None, 0.01)
    figures = {
        "posture": robot.plot([0.1], tmp_path / "posture.svg"),
        "trajectory": motion.plot(tmp_path / "trajectory.svg"),
        "way": robot.analysis.plot([[0.1], [0.2]], tmp_path / "way.svg"),
        "workspace": robot.workspace(50).plot(tmp_path / "workspace.svg"),
    }
    for label, figure in figures.items():
        assert any(shown(name) in text for text in texts(figure)), label
        ElementTree.parse(tmp_path / f"{label}.svg")
    (legend,) = figures["trajectory"].legends
    assert legend.get_texts()[0].get_text() == shown(name)


def test_a_posture_that_is_not_finite_is_a_gap_in_the_curves():
    way = np.stack([np.zeros(5), np.linspace(-1, 1, 5)], axis=1)
    way[2] = np.nan
    assert cr.load("planar_2r").analysis.plot(way).axes


@pytest.mark.parametrize("path", [b"a.png", 3, True, "", "a\0.png", object()], ids=lambda path: type(path).__name__)
def test_what_is_no_path_is_refused(path):
    with pytest.raises(cr.ShapeError, match="path must be the path of a file"):
        cr.load("planar_2r").plot([0, 0], path)
