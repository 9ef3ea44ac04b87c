"""The first posture of robots, and their tips."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.studio.postures import default_tip, first_posture

FORKED = """<robot name="forked"><link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="left"/><link name="right"/><link name="eye"/>
<joint name="swing" type="continuous"><parent link="base"/><child link="arm"/></joint>
<joint name="a" type="fixed"><parent link="arm"/><child link="left"/></joint>
<joint name="b" type="continuous"><parent link="arm"/><child link="right"/></joint>
<joint name="c" type="fixed"><parent link="base"/><child link="eye"/></joint></robot>"""


@pytest.mark.parametrize("name", ["panda", "delta", "humanoid", "pendulum"])
def test_robots_with_a_home_loops_or_many_joints_are_shown_at_home(name):
    robot = cr.load(name)
    assert first_posture(robot).tolist() == robot.home().tolist()


def test_an_arm_that_would_be_stretched_out_is_bent_above_the_ground():
    links = [(0.0, -np.pi / 2, 0.3, 0.0), (0.5, 0.0, 0.0, 0.0), (0.4, 0.0, 0.0, 0.0)]
    robot = cr.Robot.from_dh(links, convention="standard", check=False)
    q = first_posture(robot)
    assert robot.manipulability(q, task="position") > 0.01 > robot.manipulability(robot.home(), task="position")
    assert robot.poses(q)[1:, 2, 3].min() > -1e-6
    assert first_posture(robot).tolist() == q.tolist()


def test_the_tip_behind_most_joints_is_taken_where_there_are_several():
    with pytest.warns(cr.ModelWarning):
        robot = cr.load(FORKED)
    assert default_tip(robot) == "right"
    assert default_tip(cr.load("planar_2r")) == "tip"
