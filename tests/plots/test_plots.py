"""Plots: figures are drawn and written, and wrong arguments are named."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.wheels import MobileManipulator, Unicycle


@pytest.mark.parametrize("color", ["manipulability", "payload", "dexterity"])
def test_pictures_of_workspaces(color, tmp_path):
    file = tmp_path / "cloud.png"
    figure = cr.load("ur5").workspace(5_000).plot(file, color=color)
    assert len(figure.axes) == 4  # cloud, two sections, a bar
    assert file.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("name", ["panda", "planar_2r", "scara", "quadruped", "four_bar"])
def test_pictures_of_postures(name, tmp_path):
    robot = cr.load(name)
    link = "FL_FOOT" if name == "quadruped" else None
    q = robot.random_state(np.random.default_rng(0), (2,))
    robot.plot(q, tmp_path / "robot.svg", link=link, ellipsoids=["velocity", "force"])
    assert (tmp_path / "robot.svg").stat().st_size > 1000


def test_a_picture_of_manipulability_along_a_way(tmp_path):
    robot = cr.load("planar_2r")
    way = np.stack([np.zeros(50), np.linspace(-1, 1, 50)], axis=1)
    figure = robot.analysis.plot(way, tmp_path / "way.pdf", t=np.linspace(0, 1, 50))
    assert len(figure.axes) == 3
    whole = MobileManipulator(Unicycle(), cr.load("planar_2r")).robot
    assert whole.plot(np.zeros(5)).axes


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.plot(color="blue"), "no color named 'blue'"),
        (lambda c: c.plot("cloud.docx"), "a picture is written to .png, .pdf or .svg"),
        (lambda c: c.robot.plot(np.zeros((0, 2))), "one posture or a list of them"),
        (lambda c: c.robot.plot([0, 0], ellipsoids=["egg"]), "no kind of ellipsoid named 'egg'"),
        (lambda c: c.robot.analysis.plot([0, 0]), "postures in a row"),
        (lambda c: c.robot.analysis.plot(np.zeros((3, 2)), t=[0, 1]), "t must have 3 numbers"),
        (lambda c: c.plot(points=0), "points must be a whole number, at least 1"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(cr.ChainruleError, match=message):
        call(cr.load("planar_2r").workspace(100))
