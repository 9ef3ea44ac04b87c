"""Whole turns of joints: what they leave as it is, and walls that no other joint gets a robot past."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.planning.robot_space import reach_of
from chainrule.planning.turns import equivalents, turning, walls

UR5E = cr.load("ur5e")
CLEARANCE = 0.005
START = np.array([0.0, -1.5, 1.5, -0.3, -1.5, 0.0])
BEYOND = START + np.array([0.5, 0, 0, 2 * np.pi - 0.5, 0, 0])


def test_turning_coordinates_are_those_of_joints_that_turn():
    assert turning(UR5E) == (0, 1, 2, 3, 4, 5)
    scara = cr.load("scara")
    slides = [i for i, joint in enumerate(scara.joint_names) if scara.model.joints[i].type == "prismatic"]
    assert set(turning(scara)).isdisjoint(slides)
    assert len(turning(scara)) == scara.nq - len(slides)


def test_equivalents_have_the_same_poses_within_the_limits():
    q = UR5E.random_state(np.random.default_rng(0), (2,))
    found = equivalents(UR5E, q, START)
    assert (found[:2] == q).all()
    assert len(np.unique(found.round(9), axis=0)) == len(found) > 10
    assert (found >= UR5E.limits.lower).all()
    assert (found <= UR5E.limits.upper).all()
    gap = abs(UR5E.poses(found)[:, None] - UR5E.poses(q)).max(axis=(2, 3, 4)).min(axis=1)
    assert gap.max() < 1e-9


def test_a_joint_without_an_equivalent_keeps_its_own():
    panda = cr.load("panda")  # no joint may turn a whole turn
    q = panda.random_state(np.random.default_rng(1), (3,))
    assert (equivalents(panda, q, q[0]) == q).all()


def test_at_a_wall_no_other_joint_helps():
    found = walls(UR5E, CLEARANCE, reach_of(UR5E))
    assert {wall.pair for wall in found} == {("forearm_link", "wrist_2_link")}
    rng = np.random.default_rng(0)
    for wall in found[:: len(found) // 3]:
        q = UR5E.random_state(rng, (20_000,))
        q[:, wall.coordinate] = wall.angle + 2 * np.pi * rng.integers(-1, 2, 20_000)
        assert UR5E.clearance(q).max() < CLEARANCE


def test_walls_divide_at_any_turn():
    wall = walls(UR5E, CLEARANCE, reach_of(UR5E))[0]
    q = np.zeros((5, 6))
    q[:, 3] = wall.angle + np.array([-0.1, 0.1, -0.1 + 2 * np.pi, 0.1 - 2 * np.pi, 0.1 - 4 * np.pi])
    assert wall.divides(q[0], q).tolist() == [False, True, True, False, True]
    assert wall.divides(q[1], q).tolist() == [True, False, False, True, True]


def test_a_goal_behind_a_wall_is_refused_at_once_by_the_name_of_the_joint():
    with pytest.raises(
        cr.ModelError, match=r"there is no way .*: coordinate 'wrist_1_joint' would turn from .* turns=True"
    ):
        cr.plan(UR5E, [START, BEYOND], clearance=CLEARANCE, time_limit=1e-9)


def test_with_turns_it_ends_a_whole_turn_away():
    motion = cr.plan(UR5E, [START, BEYOND], clearance=CLEARANCE, turns=True)
    end = motion.waypoints[-1]
    assert UR5E.poses(end) == pytest.approx(UR5E.poses(BEYOND), abs=1e-9)
    assert end - BEYOND == pytest.approx([0, 0, 0, -2 * np.pi, 0, 0])
    q, _, _ = motion(np.linspace(0.0, motion.duration, 5000))
    assert UR5E.clearance(q).min() >= CLEARANCE - 2e-6


def test_turns_are_true_or_false():
    with pytest.raises(cr.ChainruleError, match="turns"):
        cr.plan(UR5E, [START, BEYOND], clearance=CLEARANCE, turns="yes")
    with pytest.raises(cr.ShapeError, match=r"turns=\.\.\. is for plans with a world"):
        cr.plan(UR5E, [START, BEYOND], turns=True)
