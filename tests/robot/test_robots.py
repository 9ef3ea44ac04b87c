"""The bundled robots: all there, physically possible, and with the source of their numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tiers import with_slow

import chainrule as cr
from chainrule.core.validation import validate

EXPECTED = {
    "pendulum": 1, "double_pendulum": 2, "planar_2r": 2, "planar_3r": 3, "planar_rp": 2, "cartesian_3p": 3, "scara": 4,
    "stanford": 6, "puma560": 6, "puma560_craig": 6, "ur5": 6, "panda": 7, "panda_hand": 8, "iiwa14": 7, "human_arm": 7,
    "modern_robotics_3r": 3, "quadruped": 18, "four_bar": 3, "slider_crank": 3, "stewart_platform": 24,
    "five_bar": 4, "delta": 12, "humanoid": 35, "wx250s": 6, "ur3e": 6, "ur5e": 6, "ur10e": 6, "ur16e": 6, "fr3": 7,
    "gen3": 7, "xarm7": 7, "so101": 6, "go2": 18, "g1": 35,
}  # fmt: skip


def test_the_promised_robots_are_there():
    assert {name: cr.load(name).nv for name in cr.robots()} == EXPECTED


@pytest.mark.parametrize("name", with_slow(EXPECTED, "stewart_platform"))
def test_a_robot_is_possible_and_moves(name):
    robot = cr.load(name)
    assert robot.name == name
    validate(robot.model, check="puma560" not in name, warn=False)
    assert len(robot.model.notes) >= 2
    rng = np.random.default_rng(0)
    q, qd, qdd = robot.random_state(rng), *rng.normal(size=(2, robot.nv))
    qd = robot.loops.consistent_velocity(q, qd)
    qdd = robot.loops.consistent_acceleration(q, qd, qdd)
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=1e-8, atol=1e-8)
    assert np.linalg.eigvalsh(robot.mass_matrix(q))[0] > 0


def test_the_puma_of_craig_has_the_page_s_formula_and_the_masses_of_the_other():
    """DD2410, lecture 4, equation (3), with the sign of a2 sin(theta2) that keeps the arm's length."""
    puma, other = cr.load("puma560_craig"), cr.load("puma560").without_friction()
    q = np.array([0.3, -0.5, 0.7, 0.2, 0.4, 0.1])
    a2, a3, d3, d4 = 0.4318, 0.0203, 0.15005, 0.4318
    (s1, c1), (s2, c2), (s23, c23) = ((np.sin(x), np.cos(x)) for x in (q[0], q[1], q[1] + q[2]))
    reach = a2 * c2 + a3 * c23 - d4 * s23
    place = [c1 * reach - d3 * s1, s1 * reach + d3 * c1, -a3 * s23 - a2 * s2 - d4 * c23]
    assert_allclose(puma.pose(q)[:3, 3], place, atol=1e-12)
    mirror = np.array([-1.0, 1, 1, 1, 1, 1])
    assert_allclose(puma.mass_matrix(q), mirror * other.mass_matrix(mirror * q) * mirror[:, None], atol=1e-12)
    assert_allclose(puma.gravity_torque(q), -mirror * other.gravity_torque(mirror * q), atol=1e-12)


UR = {  # d1, a2, a3, d4, d5, d6 in m, as Universal Robots publishes them for calculations of kinematics
    "ur3e": (0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921),
    "ur5e": (0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996),
    "ur10e": (0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655),
    "ur16e": (0.1807, -0.4784, -0.36, 0.17415, 0.11985, 0.11655),
}


@pytest.mark.parametrize("name", UR)
def test_arms_of_universal_robots_have_their_published_lengths(name):
    d1, a2, a3, d4, d5, d6 = UR[name]
    rows = [(d1, 0, 90), (0, a2, 0), (0, a3, 0), (d4, 0, 90), (d5, 0, -90), (d6, 0, 0)]
    table = [{"d": d, "a": a, "alpha": np.radians(alpha), "theta": 0} for d, a, alpha in rows]
    robot, dh = cr.load(name).reference, cr.Robot.from_dh(table, convention="standard", check=False).reference
    q = np.array([[0.3, -1.1, 1.4, -0.7, 0.9, 0.2], [-2.0, -0.4, -1.9, 0.6, -1.3, 2.2]])
    base = np.diag([-1.0, -1.0, 1.0, 1.0])  # the base of the tables is turned by half a turn
    assert_allclose(robot.pose(q), base @ dh.pose(q), atol=1e-9)


def test_the_franka_research_3_has_its_published_lengths():
    lengths = [
        (0, 0.333, 0),
        (0, 0, -90),
        (0, 0.316, 90),
        (0.0825, 0, 90),
        (-0.0825, 0.384, -90),
        (0, 0, 90),
        (0.088, 0, 90),
    ]
    table = [{"a": a, "d": d, "alpha": np.radians(alpha), "theta": 0} for a, d, alpha in lengths]
    dh = cr.Robot.from_dh(table, convention="modified", check=False).reference
    robot, q = cr.load("fr3").reference, np.array([0.2, -0.5, 0.3, -1.9, 0.1, 1.6, 0.7])
    flange = np.eye(4)
    flange[2, 3] = 0.107
    assert_allclose(robot.pose(q), dh.pose(q) @ flange, atol=1e-9)


def test_walkers_stand_on_their_feet_at_home():
    """The lowest foot is as high as its sole is thick, by the bodies in the files."""
    for name, feet, thick in (("go2", ("FL_foot", "RR_foot"), 0.022), ("g1", ("left_ankle_roll_link",), 0.035)):
        robot = cr.load(name).reference
        assert min(robot.pose(robot.home(), foot)[2, 3] for foot in feet) == pytest.approx(thick, abs=1e-4)


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
