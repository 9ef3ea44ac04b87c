"""The bundled robots: all there, physically possible, and with the source of their numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tiers import with_slow

import chainrule as cr
from chainrule.core.validation import validate

EXPECTED = {
    "pendulum": 1, "double_pendulum": 2, "planar_2r": 2, "planar_3r": 3, "planar_rp": 2, "cartesian_3p": 3, "scara": 4,
    "stanford": 6, "puma560": 6, "ur5": 6, "panda": 7, "panda_hand": 8, "iiwa14": 7, "human_arm": 7,
    "modern_robotics_3r": 3, "quadruped": 18, "four_bar": 3, "slider_crank": 3, "stewart_platform": 24,
    "five_bar": 4, "delta": 12, "humanoid": 35, "wx250s": 6,
}  # fmt: skip


def test_the_promised_robots_are_there():
    assert {name: cr.load(name).nv for name in cr.robots()} == EXPECTED


@pytest.mark.parametrize("name", with_slow(EXPECTED, "stewart_platform"))
def test_a_robot_is_possible_and_moves(name):
    robot = cr.load(name)
    assert robot.name == name
    validate(robot.model, check=name != "puma560", warn=False)
    assert len(robot.model.notes) >= 2
    rng = np.random.default_rng(0)
    q, qd, qdd = robot.random_state(rng), *rng.normal(size=(2, robot.nv))
    qd = robot.loops.consistent_velocity(q, qd)
    qdd = robot.loops.consistent_acceleration(q, qd, qdd)
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=1e-8, atol=1e-8)
    assert np.linalg.eigvalsh(robot.mass_matrix(q))[0] > 0


def test_random_states_keep_the_limits():
    panda = cr.load("panda")
    q = panda.random_state(np.random.default_rng(0), (1000,))
    assert q.shape == (1000, 7)
    assert (q >= panda.limits.lower).all()
    assert (q <= panda.limits.upper).all()
    quadruped = cr.load("quadruped").random_state(np.random.default_rng(0), 10)
    assert_allclose(np.linalg.norm(quadruped[:, 3:7], axis=1), 1)


def test_a_tree_asks_which_tip_is_meant():
    with pytest.raises(cr.ModelError, match=r"has 4 tips \('FL_FOOT'.*say which one is meant"):
        cr.load("quadruped").pose(cr.load("quadruped").neutral())


def test_pieces_of_a_robot_can_be_asked_for():
    robot = cr.load("panda_hand")
    assert "panda_finger_joint2" not in robot.joint_names
    assert robot.end_effector == "panda_hand_tcp"
    assert "panda_hand" in repr(robot)
    q = robot.neutral()
    W = robot.joint_wrenches(q, q, q, joints=["panda_joint8", "panda_finger_joint2"], frame="body")
    held = robot.mass - sum(link.mass for link in robot.model.links[1:8])
    assert_allclose(np.linalg.norm(W[0, 3:]), held * 9.81)
    table = str(robot.textbook.newton_euler_table(q, q, q))
    assert "omega_dot" in table
    assert "N m" in table
    assert "in the axes of its link" in table
    assert "tau, N m or N, in the order of the joints: " in table
