"""Rich display in notebooks: complete, escaped, and light."""

import re
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp
from lxml import html as parser

import chainrule as cr
from chainrule.display import tables as display
from chainrule.symbolic import Lagrangian, PointMass
from plots.test_names import NAMES, named, shown


def text_of(fragment):
    return parser.fromstring(f"<div>{fragment}</div>").text_content()


def tags_of(fragment):
    return {
        element.tag for element in parser.fromstring(f"<div>{fragment}</div>").iter() if isinstance(element.tag, str)
    }


@pytest.mark.parametrize("name", ["panda", "four_bar", "stewart_platform", "quadruped", "human_arm", "pendulum"])
def test_a_robot_shows_its_picture_its_joints_its_masses_and_its_tree(name):
    robot = cr.load(name)
    card = robot._repr_html_()
    assert "data:image/png;base64," in card
    text = text_of(card)
    for word in (robot.name, *robot.joint_names[:20], *robot.link_names, "tree", "mass, kg", "effort"):
        assert word in text, word
    assert ("constraints" in text) == bool(robot.model.constraints)


def test_a_robot_that_cannot_be_drawn_still_shows_its_tables(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    card = cr.load("planar_2r")._repr_html_()
    assert "<img" not in card
    assert "joint1" in card


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
@pytest.mark.parametrize(
    "name", [*NAMES[:1], *NAMES[6:9], '"><img src=x onerror=alert(1)>', "</pre><script>alert(1)</script>"], ids=ascii
)
def test_names_are_shown_letter_by_letter(name):
    robot = named(name)
    motion = robot.simulate([0.1], None, 0.01)
    for card in (robot._repr_html_(), motion._repr_html_(), robot.limits._repr_html_()):
        assert shown(name) in text_of(card)
        assert "script" not in tags_of(card)
        assert "$" not in re.sub(r"base64,[^\"]*", "", card)  # MathJax finds no formula in a name
        images = [dict(element.attrib) for element in parser.fromstring(f"<div>{card}</div>").iter("img")]
        assert all(image["src"].startswith("data:image/png") and "onerror" not in image for image in images)


def test_limits_have_the_names_of_their_joints_and_are_a_tuple_as_before():
    robot = cr.load("panda")
    lower, upper, velocity, effort = robot.limits
    assert robot.limits._fields == ("lower", "upper", "velocity", "effort")
    assert lower is robot.limits.lower
    assert isinstance(robot.limits, tuple)
    assert (upper > lower).all()
    assert not velocity.flags.writeable
    assert len(effort) == 7
    table = text_of(robot.limits._repr_html_())
    assert "panda_joint7" in table
    assert "∞" in text_of(cr.load("pendulum").limits._repr_html_())
    bare = type(robot.limits)(np.zeros(2), np.ones(2), np.ones(2), np.ones(2))
    assert "1" in text_of(bare._repr_html_())


def test_a_trajectory_shows_its_extremes_and_curves():
    robot = cr.load("panda")
    motion = robot.simulate(robot.home(), None, 0.05)
    card = motion._repr_html_()
    assert card.count("<img") == 1
    assert "panda_joint4" in text_of(card)
    assert "% of its limit" in text_of(card)
    assert "no samples" not in text_of(motion[:0]._repr_html_())
    batch = cr.load("double_pendulum").simulate([[0.1, 0.2], [0.3, 0.4]], None, 0.01)
    assert "2 motions" in text_of(batch._repr_html_())


def test_dh_tables_show_the_variable_of_each_joint():
    table = cr.load("puma560").textbook.to_dh(convention="standard")
    text = text_of(table._repr_html_())
    assert "standard Denavit-Hartenberg" in text
    assert "q1" in text
    formula = table._repr_latex_()
    assert formula.startswith("$")
    assert formula.endswith("$")
    assert r"\theta_{6}" in formula
    assert r"\frac{\pi}{2}" in formula
    scara = cr.load("scara").textbook.to_dh(convention="modified")
    assert re.search(r"d_\{[34]\}", scara._repr_latex_())


def test_answers_of_inverse_kinematics_are_a_table():
    robot = cr.load("panda")
    one = robot.inverse_kinematics(robot.pose(robot.home()), q0=robot.home())
    text = text_of(one._repr_html_())
    assert "panda_joint1" in text
    assert "solved" in text
    targets = robot.pose(robot.random_state(np.random.default_rng(0), (3,)))
    targets[2, :3, 3] = 9.0
    text = text_of(robot.inverse_kinematics(targets)._repr_html_())
    assert "not reached" in text


def test_equations_show_formulas_or_say_how_to_see_them():
    small = cr.load("planar_2r").equations()
    assert "math" in tags_of(small._repr_html_())
    assert small._repr_latex_().startswith(r"$\displaystyle \tau =")
    large = cr.load("ur5").equations()
    assert "derived when they are asked for" in text_of(large._repr_html_())
    assert large._repr_latex_() is None
    assert "M" not in large.__dict__  # nothing long was derived
    pose = cr.load("planar_2r").kinematic_equations()
    assert "math" in tags_of(pose._repr_html_())
    assert "T = " in pose._repr_latex_()
    assert "derived when asked for" in text_of(cr.load("ur5").kinematic_equations()._repr_html_())


def test_a_lagrangian_is_shown_as_its_equations():
    m, g, length, theta = sp.symbols("m g l theta")
    bob = PointMass(m, (length * sp.sin(theta), -length * sp.cos(theta)))
    system = Lagrangian.of_bodies(theta, [bob], gravity=(0, -g))
    assert system._repr_latex_() == f"$\\displaystyle {system.latex()}$"


def test_a_document_brings_its_style_and_leaves_that_of_the_page_alone():
    document = cr.load("planar_2r").derivation("lagrange")
    shown_ = document._repr_html_()
    sheet = re.search(r"<style>(.*?)</style>", shown_, re.DOTALL)[1]
    selectors = [s.strip() for rule in re.findall(r"([^{}]+)\{", sheet) for s in rule.split(",")]
    assert selectors
    assert all(s.startswith(".chainrule-document") for s in selectors), selectors
    assert "@media" not in sheet
    assert ".chainrule-document .equation" in sheet
    assert document.with_style(shorthand=True)._repr_html_() != shown_
    assert "body {" in document.html()


def test_display_imports_matplotlib_only_when_something_is_drawn():
    code = (
        "import sys, chainrule as cr\n"
        "robot = cr.load('planar_2r')\n"
        "robot.limits._repr_html_(); robot.textbook.to_dh(convention='standard')._repr_html_(); repr(robot)\n"
        "robot.animate\n"
        "assert 'matplotlib' not in sys.modules\n"
        "robot._repr_html_()\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_long_tables_are_cut_and_say_so():
    table = display.table(("k",), [(k,) for k in range(100)])
    assert "and 40 more" in text_of(table)
    assert text_of(display.fold("a<b", "<i>c</i>")) == "a<bc"
    assert display.latex_number(0) == "0"
    assert display.latex_number(-2 * np.pi) == r"-2\pi"
