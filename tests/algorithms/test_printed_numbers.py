"""Printed numbers: the closed forms of the slides "Ch2: Robot Dynamics - Part 1", Modern Robotics' examples, the PUMA 560, the human arm."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.robot.human_arm import RANGES, TABLES, human_arm

pytestmark = pytest.mark.interpreted

QN = np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])


@pytest.mark.parametrize("seed", range(5))
def test_planar_2r_with_point_masses_is_the_notes_closed_form(seed):
    robot = cr.load("planar_2r")
    rng = np.random.default_rng(seed)
    (t1, t2), (d1, d2), qdd = rng.normal(size=(3, 2))
    m1 = m2 = L1 = L2 = 1.0
    g, c2, s2 = 9.81, np.cos(t2), np.sin(t2)
    M = [
        [m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * c2 + L2**2), m2 * (L1 * L2 * c2 + L2**2)],
        [m2 * (L1 * L2 * c2 + L2**2), m2 * L2**2],
    ]
    c = np.array([-m2 * L1 * L2 * s2 * (2 * d1 * d2 + d2**2), m2 * L1 * L2 * d1**2 * s2])
    gravity = [(m1 + m2) * L1 * g * np.cos(t1) + m2 * g * L2 * np.cos(t1 + t2), m2 * g * L2 * np.cos(t1 + t2)]
    assert_allclose(robot.mass_matrix([t1, t2]), M, atol=1e-12)
    assert_allclose(robot.gravity_torque([t1, t2]), gravity, atol=1e-12)
    terms = robot.torque_terms([t1, t2], [d1, d2], qdd)
    assert_allclose(terms["centrifugal"], [-m2 * L1 * L2 * s2 * d2**2, m2 * L1 * L2 * d1**2 * s2], atol=1e-12)
    assert_allclose(terms["coriolis"], [-2 * m2 * L1 * L2 * s2 * d1 * d2, 0], atol=1e-12)
    assert_allclose(robot.inverse_dynamics([t1, t2], [d1, d2], qdd), M @ qdd + c + gravity, atol=1e-12)


def test_planar_2r_jacobian_and_its_singularities():
    robot = cr.load("planar_2r")
    t1, t2 = 0.3, 0.8
    s1, c1, s12, c12 = np.sin(t1), np.cos(t1), np.sin(t1 + t2), np.cos(t1 + t2)
    J = robot.jacobian([t1, t2], frame="world")[3:5]
    assert_allclose(J, [[-s1 - s12, -s12], [c1 + c12, c12]], atol=1e-12)
    for folded in (0.0, np.pi):
        assert abs(np.linalg.det(robot.jacobian([t1, folded], frame="world")[3:5])) < 1e-12


def test_planar_rp_and_cartesian_are_the_notes_examples():
    arm = cr.load("planar_rp")
    t, r = 0.4, 0.7
    (one, two) = arm.model.links[1:]
    M = np.diag([one.mass * 1 + one.inertia.zz + two.inertia.zz + two.mass * r**2, two.mass])
    assert_allclose(arm.mass_matrix([t, r]), M, atol=1e-12)
    assert_allclose(
        arm.gravity_torque([t, r]), [9.81 * (one.mass * 1 + two.mass * r) * np.cos(t), 9.81 * two.mass * np.sin(t)]
    )
    cartesian = cr.load("cartesian_3p")
    m1, m2, m3 = (link.mass for link in cartesian.model.links[1:])
    assert_allclose(cartesian.mass_matrix([1.0, 2.0, 3.0]), np.diag([m1 + m2 + m3, m2 + m3, m3]))
    assert_allclose(cartesian.gravity_torque([1.0, 2.0, 3.0]), [9.81 * (m1 + m2 + m3), 0, 0])


def test_modern_robotics_chapter_8_example():
    robot = cr.load("modern_robotics_3r")
    q, qd, qdd, F = [0.1] * 3, [0.1, 0.2, 0.3], [2, 1.5, 1], [1] * 6
    close = {"rtol": 0, "atol": 5e-10}
    assert_allclose(
        robot.inverse_dynamics(q, qd, qdd, tip_wrench=F, frame="body"),
        [74.6961615529, -33.0676601585, -3.2305731379],
        **close,
    )
    M = [
        [22.5433380355, -0.3071467542, -0.0071842639],
        [-0.3071467542, 1.9685071663, 0.4321573683],
        [-0.0071842639, 0.4321573683, 0.1916308575],
    ]
    assert_allclose(robot.mass_matrix(q), M, **close)
    assert_allclose(robot.coriolis_matrix(q, qd) @ qd, [0.2645311805, -0.0550515683, -0.0068913201], **close)
    assert_allclose(robot.gravity_torque(q), [28.4033126182, -37.6409481718, -5.4415892], **close)
    assert_allclose(robot.static_torque(q, F, frame="body"), [1.4095460783, 1.8577149723, 1.392409], **close)
    assert_allclose(
        robot.forward_dynamics(q, qd, [0.5, 0.6, 0.7], tip_wrench=F, frame="body"),
        [-0.9739290671, 25.5846678403, -32.9149921248],
        rtol=1e-9,
    )


def test_modern_robotics_example_with_its_first_screw_scaled_to_unit():
    table = cr.load("modern_robotics_3r").textbook.to_screws()
    robot = cr.Robot.from_screws(
        home=table.home,
        screws=table.screws,
        frames=table.frames,
        inertias=table.inertias,
        gravity=(0, 0, -9.8),
        normalize=True,
    )
    tau = robot.inverse_dynamics([0.1] * 3, [0.1, 0.2, 0.3], [2, 1.5, 1], tip_wrench=[1] * 6, frame="body")
    assert_allclose(tau, [39.966458539, -32.9462007451, -3.2333109635], atol=5e-10)


def test_puma_560_of_corke_and_armstrong():
    puma = cr.load("puma560")
    rest = np.zeros(6)
    assert_allclose(puma.inverse_dynamics(QN, rest, rest), [0, 31.6399, 6.0351, 0, 0.0283, 0], atol=5e-5)
    unit = [3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133]
    assert_allclose(puma.inverse_dynamics(QN, rest, rest + 1), unit, atol=5e-5)
    M = puma.mass_matrix(QN)
    assert_allclose(np.diag(M), [3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941], atol=5e-5)
    assert_allclose([M[0, 1], M[0, 2], M[1, 2]], [-0.4044, 0.1006, 0.3509], atol=5e-5)
    without = puma.edit(joints={"*": {"rotor": 0}}).mass_matrix(QN)
    assert_allclose(np.diag(without), [2.8753, 2.0889, 0.361, 0.0017, 0.0006, 0.0000], atol=5e-5)


def test_puma_560_friction_is_referred_to_the_joint():
    puma = cr.load("puma560")
    G = np.array([-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686])
    B = np.array([1.48e-3, 0.817e-3, 1.38e-3, 71.2e-6, 82.6e-6, 36.7e-6])
    forward = np.array([0.395, 0.126, 0.132, 11.2e-3, 9.26e-3, 3.96e-3])
    backward = np.array([0.435, 0.071, 0.105, 16.9e-3, 14.5e-3, 10.5e-3])
    assert_allclose(puma.friction_torque(np.full(6, 0.5)), abs(G) * forward + G**2 * B * 0.5, rtol=1e-9)
    assert_allclose(puma.friction_torque(np.full(6, -0.5)), -abs(G) * backward - G**2 * B * 0.5, rtol=1e-9)
    assert_allclose(puma.friction_torque(np.zeros(6)), 0)


def test_puma_560_says_what_it_did_with_its_incomplete_links():
    notes = " ".join(cr.load("puma560").model.notes)
    assert "Link 1 has no mass" in notes
    assert "triangle inequality" in notes


@pytest.mark.parametrize("table", TABLES)
def test_human_arm_is_built_from_the_tables(table):
    mass, height = 80.0, 1.8
    arm = human_arm(mass, height, table)
    upper, fore, hand = TABLES[table]
    assert arm.nv == 7
    assert_allclose(arm.mass, mass * (upper.mass + fore.mass + hand.mass))
    lengths = [height * s.length for s in (upper, fore, hand)]
    assert_allclose(arm.pose(arm.neutral())[:3, 3], [0, 0, -sum(lengths)], atol=1e-12)
    raised = np.radians([90, 0, 0, 0, 0, 0, 0])
    assert_allclose(arm.pose(raised)[:3, 3], [sum(lengths), 0, 0], atol=1e-12)
    levers = [
        lengths[0] * upper.com, lengths[0] + lengths[1] * fore.com, lengths[0] + lengths[1] + lengths[2] * hand.com,
    ]  # fmt: skip
    held = 9.81 * mass * sum(s.mass * lever for s, lever in zip((upper, fore, hand), levers, strict=True))
    assert_allclose(arm.gravity_torque(raised)[0], held, rtol=1e-12)
    lower, upper_limit = np.degrees(arm.limits.lower), np.degrees(arm.limits.upper)
    assert_allclose(np.stack([lower, upper_limit], axis=1), list(RANGES.values()), atol=1e-9)


def test_human_arm_moves_the_way_its_joints_are_named():
    arm = human_arm()
    tip = arm.pose(arm.neutral())[:3, 3]

    def moved(joint):
        q = arm.neutral()
        q[arm.joint_names.index(joint)] = 0.1
        return arm.pose(q)[:3, 3] - tip

    assert moved("shoulder_flexion")[0] > 0
    assert moved("shoulder_abduction")[1] < 0
    assert moved("elbow_flexion")[0] > 0
    assert moved("wrist_flexion")[1] > 0
    assert moved("wrist_deviation")[0] > 0


def test_gravity_dominates_slow_reaching_as_rosen_and_others_found():
    arm = human_arm()
    t = np.linspace(0, 1, 101)[:, None]
    shape = 10 * t**3 - 15 * t**4 + 6 * t**5
    rate, bend = 30 * t**2 - 60 * t**3 + 30 * t**4, 60 * t - 180 * t**2 + 120 * t**3
    reach = np.radians([70, 20, 0, 60, 0, 0, 0])
    T = 2.0
    terms = arm.torque_terms(shape * reach, rate * reach / T, bend * reach / T**2)
    moving = terms["inertial"] + terms["centrifugal"] + terms["coriolis"]
    assert (np.abs(terms["gravity"]).max(axis=0)[[0, 3]] > np.abs(moving).max(axis=0)[[0, 3]]).all()
