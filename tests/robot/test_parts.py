"""robot.links, robot.joints and robot.frames: mappings in order, parts with their numbers, and text that says units."""

import math
import pickle
import re

import numpy as np
import pytest

import chainrule as cr

pytestmark = pytest.mark.interpreted


def in_one_line(part):
    """What it prints, without the breaks of lines."""
    return re.sub(r"\n    ", " ", repr(part))


def test_mappings_keep_the_models_order():
    robot = cr.load("panda_hand")
    assert tuple(robot.links) == robot.link_names
    assert list(robot.joints) == [joint.name for joint in robot.model.joints]
    assert len(robot.frames) == len(robot.model.frames)
    assert [link.part for link in robot.links.values()] == list(robot.model.links)
    assert robot.links is robot.links


def test_numbers_of_a_link():
    link = cr.load("panda").links["panda_link3"]
    part = cr.load("panda").model.links[3]
    assert link.mass == part.mass
    np.testing.assert_array_equal(link.com, [*part.com])
    np.testing.assert_array_equal(link.inertia, [[*row] for row in part.inertia])
    assert (link.parent, link.joint, link.children) == ("panda_link2", "panda_joint3", ("panda_link4",))
    base = cr.load("panda").links["panda_link0"]
    assert (base.parent, base.joint) == (None, None)


def test_numbers_of_a_joint():
    joint = cr.load("panda").joints["panda_joint4"]
    assert (joint.type, joint.parent, joint.child) == ("revolute", "panda_link3", "panda_link4")
    assert (joint.lower, joint.upper, joint.velocity, joint.effort) == (-3.0718, -0.0698, 2.175, 87.0)
    np.testing.assert_allclose(joint.rpy, [math.pi / 2, 0, 0])
    np.testing.assert_allclose(joint.origin[:3, 3], joint.xyz)
    np.testing.assert_array_equal(joint.axis, [0, 0, 1])
    assert (joint.nq, joint.nv, joint.q_places, joint.mimic) == (1, 1, slice(3, 4), None)


def test_joints_of_several_degrees_of_freedom_have_arrays():
    robot = cr.load("stewart_platform")
    universal = robot.joints["universal1"]
    assert universal.effort.tolist() == [0.0, 0.0]
    assert universal.axis.tolist() == [[1, 0, 0], [0, 1, 0]]
    free = robot.joints["platform_pose"]
    assert free.axis is None
    assert (free.nq, free.nv) == (7, 6)
    assert "effort" in dir(free)


def test_a_mimic_joint_says_whom_it_follows():
    joint = cr.load("panda_hand").joints["panda_finger_joint2"]
    assert joint.mimic == ("panda_finger_joint1", 1.0, 0.0)
    assert joint.nq == 0
    assert "follows   'panda_finger_joint1'" in in_one_line(joint)


def test_text_has_units():
    puma = cr.load("puma560").joints["joint1"]
    assert "viscous 5.80182 N m s/rad, Coulomb 24.7314 forwards, 27.2358 backwards N m" in in_one_line(puma)
    assert "gear -62.6111 (0.78403 kg m^2 at the joint)" in in_one_line(puma)
    assert "-160 deg to 160 deg" in in_one_line(puma)
    assert "mass     17.4 kg" in in_one_line(cr.load("puma560").links["link2"])
    assert "-0.2 m to 0.25 m; velocity 0.6 m/s, effort 2000 N" in in_one_line(
        cr.load("stewart_platform").joints["leg1"]
    )
    assert "limits    none; velocity none, effort none" in in_one_line(cr.load("pendulum").joints["hinge"])
    tool = cr.load("iiwa14").frames["iiwa_flange"]
    assert repr(tool) == "frame 'iiwa_flange' on link 'iiwa_link_7': xyz (0, 0, 0.045) m"


def test_a_child_that_is_not_at_the_joint_has_an_offset():
    arm = cr.load("stanford")
    joint = arm.joints["joint1"]
    np.testing.assert_allclose(joint.offset[:3, 3], [0, 0, 0.412])
    np.testing.assert_allclose(arm.pose(np.zeros(6), joint.child), joint.origin @ joint.offset)
    assert "offset    xyz (0, 0, 0.412) m, rpy (-90, 0, 0) deg" in in_one_line(joint)
    assert "offset" not in in_one_line(cr.load("panda").joints["panda_joint1"])


def test_a_spring_is_shown():
    arm = cr.load("pendulum").edit(joints={"*": {"stiffness": 2.0, "rest": 0.5}})
    assert "spring    2 N m/rad, at rest at 0.5 rad" in repr(arm.joints["hinge"])


def test_tables_have_a_row_for_each_part(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    robot = cr.load("panda_hand")
    lines = repr(robot.joints).splitlines()
    assert lines[0] == "12 joints of robot 'panda_hand'"
    assert len(lines) == 2 + 12
    assert "0 to 0.04 m" in lines[-1]
    assert repr(cr.load("iiwa14").frames).splitlines()[0] == "1 frame of robot 'iiwa14'"


def test_names_from_files_command_no_terminal():
    robot = cr.load("planar_2r").rename({"link2": "a\x1b[31mb", "joint2": "c\nd"})
    for text in (repr(robot.links), repr(robot.joints), repr(robot.links["a\x1b[31mb"]), repr(robot.joints["c\nd"])):
        assert "\x1b" not in text
        assert "c\nd" not in text


@pytest.mark.parametrize(("kind", "name"), [("links", "panda_lnk3"), ("joints", "panda_jint3"), ("frames", "x")])
def test_unknown_names_suggest(kind, name):
    parts = getattr(cr.load("panda"), kind)
    with pytest.raises(cr.UnknownNameError, match=f"robot 'panda' has no {kind[:-1]} named '{name}'; (did you|there)"):
        parts[name]
    with pytest.raises(KeyError):
        parts[name]
    assert parts.get(name) is None
    assert name not in parts
    assert 3 not in parts


def test_unknown_attributes_and_those_of_fixed_joints():
    joints = cr.load("panda").joints
    with pytest.raises(AttributeError, match=r"a joint has no attribute 'torque'; use \.effort"):
        _ = joints["panda_joint1"].torque
    with pytest.raises(AttributeError, match="joint 'panda_joint8' is fixed and has no lower"):
        _ = joints["panda_joint8"].lower


def test_parts_cannot_be_written_to():
    robot = cr.load("planar_2r")
    with pytest.raises(TypeError):
        robot.links["link1"] = None
    with pytest.raises(AttributeError):
        robot.links["link1"].mass = 3.0


def test_parts_of_equal_robots_are_equal_and_robots_still_pickle():
    one, two = cr.load("planar_2r"), cr.load("planar_2r")
    assert one.links["link1"] == two.links["link1"]
    assert one.joints["joint1"] == two.joints["joint1"]
    assert one.links["link1"] != one.links["link2"]
    assert len({one.links["link1"], two.links["link1"]}) == 1
    assert pickle.loads(pickle.dumps(one)).links["link1"] == one.links["link1"]
