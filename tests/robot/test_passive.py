"""Passive joints are said to be so: by an edit, by a key of the file, and by what `chainrule info` prints."""

import json

import pytest
from click.testing import CliRunner

import chainrule as cr
from chainrule.cli import cli
from chainrule.core.derived import driven_velocities
from chainrule.robot.building import to_urdf

pytestmark = pytest.mark.interpreted


def test_an_edit_makes_joints_passive_and_an_effort_drives_them_again():
    robot = cr.load("double_pendulum")
    assert robot.passive_joints == ()
    passive = robot.edit(joints={"upper_hinge": {"effort": 0.0}})
    assert passive.passive_joints == ("upper_hinge",)
    assert driven_velocities(passive) == (1,)
    assert passive.limits.effort[0] == 0
    assert passive.edit(joints={"upper_hinge": {"effort": 5.0}}).passive_joints == ()
    with pytest.raises(cr.UnknownNameError, match="no joint named 'joint9'"):
        robot.edit(joints={"joint9": {"effort": 0.0}})
    with pytest.warns(cr.ModelWarning, match="no motor drives 'upper_hinge'"):
        cr.PD(passive, [0.0, 0.0], 1.0, 1.0)


def test_the_native_format_reads_passive_and_keeps_effort_0(tmp_path):
    text = (
        'format = "chainrule 1"\nname = "r"\n[[link]]\nname = "base"\n[[link]]\nname = "a"\nmass = 1\n'
        'inertia = [1, 1, 1, 0, 0, 0]\n[[joint]]\nname = "j"\ntype = "revolute"\nparent = "base"\nchild = "a"\n'
        "axis = [0, 0, 1]\n"
    )
    robot = cr.load(text + "passive = true\n")
    assert robot.passive_joints == ("j",)
    assert cr.load(text + "effort = 0\n") == robot
    assert cr.load(text + "passive = false\n").passive_joints == ()
    robot.save(tmp_path / "r.json")
    assert cr.load(tmp_path / "r.json") == robot
    with pytest.raises(cr.FormatError, match="gives passive = true and effort = 3; keep one"):
        cr.load(text + "passive = true\neffort = 3\n")
    with pytest.raises(cr.FormatError, match="needs passive = true or false, got 1"):
        cr.load(text + "passive = 1\n")


def test_bundled_linkages_have_passive_joints_and_info_says_so():
    four_bar = cr.load("four_bar")
    assert four_bar.passive_joints == ("coupler", "rocker")
    assert driven_velocities(four_bar) == (0,)
    told = CliRunner().invoke(cli, ["info", "four_bar"]).stdout
    assert told.count("passive") >= 2
    facts = json.loads(CliRunner().invoke(cli, ["info", "four_bar", "--json"]).stdout)
    assert json.dumps(facts).count('"passive": true') == 2


def test_a_passive_joint_survives_urdf():
    robot = cr.load("ur5")
    last = robot.joint_names[-1]
    text = to_urdf(robot.edit(joints={last: {"effort": 0.0}}))
    assert text.count('passive="true"') == 1
    assert cr.Robot.from_urdf(text, check=False).passive_joints == (last,)
