"""The end-effector follows a target, and says why where it does not."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.core.closure import closure_of
from chainrule.studio.reaching import Reaching, limits_reached, natural_task


def shifted(T, *step):
    T = np.array(T)
    T[:3, 3] += step
    return T


def test_a_near_pose_is_reached_and_nothing_is_said():
    robot = cr.load("panda")
    q = robot.home()
    target = shifted(robot.pose(q), 0.02, -0.03, 0.01)
    found = Reaching(robot).reach(q, target)
    assert found.success
    assert found.message == ""
    assert robot.pose(found.q) == pytest.approx(target, abs=2e-4)


def test_a_far_target_is_approached_and_the_line_says_how_far_it_is():
    robot = cr.load("planar_2r")
    q = np.array([0.3, 0.4])
    found = Reaching(robot).reach(q, shifted(np.eye(4), 3.0, 0.0, 0.0), "position")
    for _ in range(20):
        found = Reaching(robot).reach(found.q, shifted(np.eye(4), 3.0, 0.0, 0.0), "position")
    assert not found.success
    assert found.message == "Out of reach: 1.00 m short."
    assert robot.pose(found.q)[:2, 3] == pytest.approx([2.0, 0.0], abs=1e-2)


def test_joints_at_their_limits_are_named():
    robot = cr.load("planar_2r").edit(joints={"*": {"lower": -0.2, "upper": 0.2}})
    q = np.zeros(2)
    for _ in range(10):
        found = Reaching(robot).reach(q, shifted(np.eye(4), 0.0, 2.0, 0.0), "position")
        q = found.q
    assert found.message.startswith("Out of reach: ")
    assert found.message.endswith("with joint1, joint2 at the limit.")
    assert limits_reached(robot, q) == ["joint1", "joint2"]


def test_a_planar_robot_ignores_what_leads_out_of_its_plane():
    robot = cr.load("planar_2r")
    q = np.array([0.3, 0.4])
    found = Reaching(robot).reach(q, shifted(robot.pose(q), 0.01, 0.0, 0.5), "position")
    assert found.success


@pytest.mark.parametrize(("name", "task"), [("panda", "pose"), ("planar_2r", "position"), ("delta", "position")])
def test_the_task_suits_the_robot(name, task):
    assert natural_task(cr.load(name)) == task


def test_loops_stay_closed():
    robot = cr.load("delta")
    q = robot.home()
    found = Reaching(robot).reach(q, shifted(robot.pose(q), 0.01, 0.02, 0.01), "position")
    assert found.success
    assert closure_of(robot).is_closed(found.q)


def test_a_floating_base_stays_where_it_is_if_it_is_held():
    robot = cr.load("panda").floating()
    q = robot.neutral()
    q[:3], q[3:7] = [1.0, 2.0, 3.0], [0.5, 0.5, 0.5, 0.5]
    q[7:] = cr.load("panda").home()
    target = shifted(robot.pose(q), 0.02, 0.03, -0.02)
    held = Reaching(robot).reach(q, target)
    assert held.success
    assert held.q[:7].tolist() == q[:7].tolist()
    assert robot.pose(held.q) == pytest.approx(target, abs=2e-4)
    assert Reaching(robot, hold_base=False).reach(q, target).q[:3].tolist() != q[:3].tolist()
