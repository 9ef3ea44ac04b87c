"""Figures of robots: numbers that are drawn, labels that can be read, files that are written."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from formats.samples import BODY
from numpy.testing import assert_allclose
from refusals import refused

import chainrule as cr
from figures.robots import CHAINS, NAMES, named, state

pytestmark = pytest.mark.interpreted


def texts(figure):
    return [label.text.latex if hasattr(label.text, "latex") else label.text for label in figure.scene.labels]


def figures_of(name, q=None):
    robot = named(name)
    home = robot.home() if q is None else q
    _, qd, qdd = state(robot)
    book = robot.textbook
    yield "figure", book.figure(home)
    yield "free_body", book.free_body(home, qd, qdd, link=robot.link_names[-1])
    yield "velocity_figure", book.velocity_figure(home, qd)
    yield "screw_figure", book.screw_figure(home)
    if name in CHAINS:
        for convention in ("standard", "modified"):
            yield convention, book.dh_figure(home, convention=convention)


@pytest.mark.parametrize("name", NAMES)
def test_labels_lie_on_no_other_label_and_nothing_is_cut_off(name):
    for kind, figure in figures_of(name):
        labels = figure.scene.labels
        low, high = figure.scene.box
        assert np.isfinite([low, high]).all()
        assert ((high - low < 16) & (high - low > 1)).all(), kind
        for a, b in itertools.combinations(labels, 2):
            apart = np.abs(a.center - b.center) - 0.8 * (a.half + b.half)
            assert (apart > 0).any(), (kind, a.text, b.text)
        for label in labels:
            assert (label.center - label.half >= low).all()
            assert (label.center + label.half <= high).all()


def test_the_symbols_are_those_of_the_equations():
    found = set(texts(cr.load("planar_2r").reference.textbook.figure([0.4, 0.6])))
    assert found == {
        "g",
        "q_{1}",
        "q_{2}",
        "L_{1}",
        "L_{2}",
        "m_{1}",
        "m_{2}",
        r"\{0\}, \{1\}",
        r"\{2\}",
        "x_{0}",
        "y_{0}",
    }
    own = texts(cr.load("planar_2r").reference.textbook.figure(symbols={"q_1": "theta_1", "L_2": "b"}))
    assert {r"\theta_{1}", "b"} <= set(own)
    assert "d_{1}" in texts(named("puma560").textbook.figure())  # of its table
    refused(lambda: cr.load("planar_2r").textbook.figure(symbols={"L_9": "b"}), cr.UnknownNameError, "L_9")


def test_the_arc_of_an_angle_is_the_angle():
    q = np.array([0.7, -1.1])
    scene = cr.load("planar_2r").reference.textbook.figure(q).scene
    for k, angle in enumerate(q, 1):
        (arc,) = (path for path in scene.paths if path.name == f"q_{{{k}}}")
        steps = np.diff(arc.points, axis=0)
        chords = np.arctan2(steps[:, 1], steps[:, 0])
        assert_allclose(chords[-1] - chords[0], angle * (len(steps) - 1) / len(steps), atol=1e-9)


def test_the_length_of_a_slide_is_how_far_the_joint_has_slid():
    scene = cr.load("planar_rp").reference.textbook.figure([0.3, 0.8]).scene
    assert_allclose(np.linalg.norm(scene.vectors()["q_{2}"].value), 0.8)


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("name", CHAINS)
def test_lengths_are_those_of_the_table_and_its_frames_end_at_the_tip(name, convention):
    from chainrule.figures.dh import dh_steps

    robot = named(name)
    q, _, _ = state(robot)
    table = robot.textbook.to_dh(convention=convention)
    vectors = robot.textbook.dh_figure(q, convention=convention).scene.vectors()
    for i, ((a, _, d, _), kind) in enumerate(zip(table.rows, table.types, strict=True), 1):
        d = d + q[i - 1] * (kind == "P")
        for text, length in ((f"a_{{{i if convention == 'standard' else i - 1}}}", a), (f"d_{{{i}}}", d)):
            drawn = np.linalg.norm(vectors[text].value) if text in vectors else 0.0
            assert_allclose(drawn, abs(length), atol=1e-6), text
    steps, _ = dh_steps(robot, q, robot.end_effector, convention)
    assert_allclose(steps[-1].after @ np.array(table.tool.rows(), dtype=float), robot.pose(q), atol=1e-9)
    for step in steps:  # one leg along z by d, the other along x by a
        legs = np.stack([step.corner - step.before[:3, 3], step.after[:3, 3] - step.corner])
        sizes = (
            [abs(step.row[2]), abs(step.row[0])] if convention == "standard" else [abs(step.row[0]), abs(step.row[2])]
        )
        assert_allclose(np.linalg.norm(legs, axis=1), sizes, atol=1e-9)


def test_the_convention_is_never_guessed():
    arm = named("scara")
    refused(lambda: arm.textbook.dh_figure(convention="craig"), cr.FormatError, "standard")
    with pytest.raises(TypeError, match="convention"):
        arm.textbook.dh_figure()


def test_velocities_that_no_scale_fits_are_refused():
    arm = cr.load("planar_2r").reference
    with pytest.raises(cr.ShapeError, match="no scale for vectors so large"):
        arm.textbook.velocity_figure([0.1, 0.2], [-1e308, 1e308])


@pytest.mark.parametrize("name", NAMES)
def test_velocities_are_those_of_the_table_and_each_is_its_parents_and_a_term(name):
    robot = named(name)
    q, qd, _ = state(robot)
    table = robot.merge_fixed().textbook.velocity_table(q, qd)
    vectors = robot.textbook.velocity_figure(q, qd).scene.vectors()
    model = robot.merge_fixed().model
    for row, link in enumerate(table.links):
        index = model.index_of.get(link, "e")
        for text, values in ((f"v_{{{index}}}", table.v_0), (rf"\omega_{{{index}}}", table.omega_0)):
            drawn = vectors[text].value if text in vectors else np.zeros(3)
            assert_allclose(drawn, values[row], atol=1e-7 * abs(values).max())
    for text, path in vectors.items():
        match = re.fullmatch(r"\\omega_\{(\d+)\} \\times P_\{(\d+|e)\}", text)
        if match:
            parent, row = int(match[1]) - 1, len(table.links) - 1 if match[2] == "e" else int(match[2]) - 1
            kind = None if match[2] == "e" else model.bodies[row].joint.kind
            if kind is None or not any(kind.columns(kind.neutral())[0].linear):  # the joint moves the origin not at all
                assert_allclose(table.v_0[parent] + path.value, table.v_0[row], atol=1e-9)


@pytest.mark.parametrize("name", CHAINS)
def test_screw_axes_are_the_columns_of_the_space_jacobian(name):
    robot = named(name)
    q, _, _ = state(robot)
    columns = robot.textbook.exponential_table(q).columns
    scene = robot.textbook.screw_figure(q).scene
    for i, S in enumerate(columns, 1):
        drawn = scene.vectors()[f"S_{{{i}}}"].value
        assert_allclose(drawn, S[:3] if S[:3].any() else S[3:], atol=1e-9)


def test_planar_robots_are_drawn_in_their_plane_and_others_so_that_axes_do_not_coincide():
    from chainrule.figures.posture import Posture

    assert Posture.of(named("planar_2r"), "test", None).view.flat
    for name in ("scara", "puma560", "panda", "human_arm"):
        view = Posture.of(named(name), "test", None).view
        seen = view.directions(np.eye(3))
        assert not view.flat
        assert (np.linalg.norm(seen, axis=1) > 0.2).all()
        unit = seen / np.linalg.norm(seen, axis=1)[:, None]
        for a, b in itertools.combinations(unit, 2):
            assert abs(a[0] * b[1] - a[1] * b[0]) > 0.1


def test_files_are_written_by_their_endings(tmp_path):
    figure = named("planar_2r").textbook.figure([0.4, 0.6])
    starts = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF", ".tex": b"% A picture"}
    for ending, start in starts.items():
        assert figure.save(tmp_path / f"a{ending}").read_bytes().startswith(start)
    ElementTree.fromstring(figure.svg())
    assert figure._repr_svg_() == figure.svg()  # the same each time
    refused_text = "figures are written as .svg, .png, .pdf, .tex"
    with pytest.raises(cr.ChainruleError, match=refused_text):
        figure.save(tmp_path / "a.jpeg")
    with pytest.raises(cr.ShapeError, match="path must be"):
        figure.save(3)
    assert not (tmp_path / "a.jpeg").exists()


def test_tikz_needs_no_package_and_a_picture_says_which_one_it_needs(tmp_path):
    code = f"""
import sys
sys.modules["matplotlib"] = None
import chainrule as cr
figure = cr.load("planar_2r").reference.textbook.free_body([0.4, 0.6], link="link1")
figure.save({str(tmp_path / "a.tex")!r})
assert figure._repr_svg_() is None and "figure" in repr(figure).lower()
try:
    figure.save({str(tmp_path / "a.svg")!r})
except cr.MissingPackageError as error:
    assert "pip install 'chainrule[plot]'" in str(error)
else:
    raise SystemExit("it was drawn")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "a.tex").exists()
    assert not (tmp_path / "a.svg").exists()


@pytest.mark.parametrize("name", ["a_b", r"\input{x}", "50% $x$ & #", "日本", "\x1b[31m\n"], ids=ascii)
def test_names_of_files_never_reach_markup(name, tmp_path):
    joint = {"name": name, "type": "continuous", "parent": "base", "child": name + "!", "axis": [0, 0, 1]}
    document = {
        "format": "chainrule 1", "name": name, "link": [{"name": "base"}, {"name": name + "!", **BODY}], "joint": [joint],
    }  # fmt: skip
    robot = cr.load(json.dumps(document), check=False).reference
    for figure in (robot.textbook.figure([0.1]), robot.textbook.free_body([0.1])):
        assert name not in figure.tikz()
        figure.save(tmp_path / "a.svg")
        ElementTree.parse(tmp_path / "a.svg")


def test_a_plain_label_is_escaped():
    from chainrule.figures.scene import Label, Scene
    from chainrule.figures.tikz import tikz

    text = tikz(Scene((Label(np.zeros(2), r"50% of \x{a_b}"),)))
    assert r"50\% of \textbackslash{}x\{a\_b\}" in text
