"""Sliders: ranges, units, and the configurations that they ask for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.core.closure import closure_of
from chainrule.errors import ModelError
from chainrule.studio.controls import controls, euler_angles, followers, move_control, quaternion, shown_value

BALL = """<mujoco><worldbody><body name="a"><joint name="ball" type="ball"/><geom size="0.1" mass="1"/>
<body name="b" pos="0 0 1"><joint name="hinge" type="hinge"/><geom size="0.1" mass="1"/></body></body></worldbody></mujoco>"""

GRIPPER = """<robot name="gripper"><link name="base"/>
<link name="left"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="right"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="one" type="prismatic"><parent link="base"/><child link="left"/><limit lower="0" upper="0.04" effort="1" velocity="1"/></joint>
<joint name="two" type="prismatic"><parent link="base"/><child link="right"/><mimic joint="one" multiplier="-1"/>
<limit lower="-0.04" upper="0" effort="1" velocity="1"/></joint></robot>"""


def test_each_degree_of_freedom_has_a_slider_inside_its_limits():
    robot = cr.load("panda")
    found = controls(robot)
    assert [control.name for control in found] == list(robot.velocity_names)
    for control, low, high in zip(found, robot.model.layout.lower, robot.model.layout.upper, strict=True):
        assert np.degrees(low) <= control.lower < control.upper <= np.degrees(high)
        assert (control.label, control.unit) == (control.name, "°")


def test_angles_can_be_shown_in_radians():
    robot = cr.load("panda")
    q = robot.home()
    in_degrees, in_radians = controls(robot)[3], controls(robot, degrees=False)[3]
    assert shown_value(in_degrees, q) == pytest.approx(-135.0, abs=0.05)
    assert shown_value(in_radians, q) == pytest.approx(-2.356, abs=1e-3)
    for control, value in ((in_degrees, -90.0), (in_radians, -np.pi / 2)):
        assert move_control(robot, q, control, value)[3] == pytest.approx(-np.pi / 2)


def test_a_slider_moves_nothing_but_its_own_coordinate_and_keeps_the_limits():
    robot = cr.load("panda")
    q = robot.home() + 1e-5
    new = move_control(robot, q, controls(robot)[1], 1e4)
    assert new[1] == robot.model.layout.upper[1]
    assert np.delete(new, 1).tolist() == np.delete(q, 1).tolist()


def test_joints_without_limits_are_shown_within_half_a_turn():
    robot = cr.load("pendulum")
    (control,) = controls(robot)
    assert (control.lower, control.upper) == (-180.0, 180.0)
    assert shown_value(control, np.array([np.radians(370.0)])) == pytest.approx(10.0)
    assert shown_value(control, np.array([np.nan])) == -180.0


def test_a_floating_base_has_positions_and_angles():
    robot = cr.load("planar_2r").floating()
    found = controls(robot)
    assert [control.name.partition(".")[2] for control in found[:6]] == ["x", "y", "z", "roll", "pitch", "yaw"]
    q = robot.neutral()
    q = move_control(robot, q, found[5], 90.0)
    assert q[3:7] == pytest.approx([0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    assert [shown_value(control, q) for control in found[3:6]] == pytest.approx([0, 0, 90.0])


def test_a_ball_joint_has_three_angles():
    robot = cr.load(BALL)
    assert [control.name for control in controls(robot)] == ["ball.roll", "ball.pitch", "ball.yaw", "hinge"]


def test_roll_stays_where_the_pitch_is_a_quarter_turn():
    robot = cr.load(BALL)
    roll, pitch, _, _ = controls(robot)
    q = move_control(robot, robot.neutral(), roll, 30.0)
    q = move_control(robot, q, pitch, 90.0, [np.radians(30), 0.0, 0.0])
    q = move_control(robot, q, pitch, 0.0, [np.radians(30), np.pi / 2, 0.0])
    assert q[:4] == pytest.approx(quaternion([np.radians(30), 0.0, 0.0]))


@settings(max_examples=50)
@given(st.lists(st.floats(-10, 10), min_size=4, max_size=4).filter(lambda x: np.linalg.norm(x) > 0.1))
def test_angles_and_quaternions_are_inverse(numbers):
    q = np.array(numbers) / np.linalg.norm(numbers)
    again = quaternion(euler_angles(q))
    assert abs(again @ q) == pytest.approx(1.0, abs=1e-6)


def test_joints_that_follow_others_have_no_slider():
    robot = cr.load(GRIPPER)
    assert [control.name for control in controls(robot)] == ["one"]
    assert controls(robot)[0].label == "one (m)"
    assert followers(robot) == (("two", "one"),)


def test_loops_stay_closed_while_a_crank_is_turned():
    robot = cr.load("four_bar")
    q = robot.home()
    crank = next(control for control in controls(robot) if control.joint == "crank")
    for angle in np.linspace(shown_value(crank, q), shown_value(crank, q) + 20, 5):
        q = move_control(robot, q, crank, angle)
        assert closure_of(robot).is_closed(q)
        assert shown_value(crank, q) == pytest.approx(angle, abs=0.06)


def test_a_loop_that_cannot_close_is_refused():
    robot = cr.load("slider_crank")
    slider = controls(robot)[2]
    with pytest.raises(ModelError, match="'wrist_pin' stays open"):
        move_control(robot, robot.home(), slider, slider.upper)


def test_driven_joints_come_first_and_passive_ones_are_known():
    robot = cr.load("delta")
    passive = {control.joint for control in controls(robot) if control.passive}
    assert passive == set(robot.passive_joints)
