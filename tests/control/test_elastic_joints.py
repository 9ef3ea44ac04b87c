"""Robots with a spring between the motor and the link of a joint, and the laws that know it."""

import numpy as np
import pytest
import trees

import chainrule as cr
from chainrule.kinematics.elastic_joints import rigid_robot

ARM, PENDULUM, PANDA = cr.load("planar_2r"), cr.load("pendulum"), cr.load("panda")
B = 0.2
WITH_ROTORS = ARM.edit(joints={name: {"rotor": B} for name in ARM.joint_names})


def soft(robot=ARM, stiffness=300.0, damping=0.0, rotor=B):
    return robot.with_elastic_joints(stiffness, damping, rotor=rotor)


def test_both_coordinates_of_each_joint_carry_the_links_and_the_motors_their_rotors():
    robot, q = soft(), np.array([0.4, 0.1, -0.5, 0.2])
    M = ARM.mass_matrix(robot.states.link_side(q).q)
    found = robot.mass_matrix(q)
    np.testing.assert_allclose(found[::2, ::2], M + B * np.eye(2), rtol=1e-12)
    for part in (found[::2, 1::2], found[1::2, ::2], found[1::2, 1::2]):
        np.testing.assert_allclose(part, M, rtol=1e-12)


@pytest.mark.interpreted
def test_with_springs_at_rest_the_torques_are_those_of_the_rigid_robot():
    rng = np.random.default_rng(0)
    robot, q, qd, qdd = soft().reference, *rng.normal(size=(3, 2))
    wide = np.zeros((3, 4))
    wide[:, ::2] = q, qd, qdd
    rigid = WITH_ROTORS.reference
    np.testing.assert_allclose(robot.inverse_dynamics(*wide)[::2], rigid.inverse_dynamics(q, qd, qdd), rtol=1e-12)


def test_stiffer_springs_come_to_the_rigid_robot_in_proportion():
    law = lambda goal: cr.PD(goal, np.zeros(goal.nv), kp=0.0, kd=0.0, gravity=False, actuated=True)  # noqa: E731
    rigid = WITH_ROTORS.simulate([0.5, 0.5], None, 0.3, law(WITH_ROTORS), dt=2e-4)
    errors = []
    for stiffness in (3e3, 3e4):
        robot = soft(stiffness=stiffness, damping=stiffness / 200)
        start = robot.states.on_springs([0.5, 0.5])
        start[1::2], start[::2] = 0.0, [0.5, 0.5]
        motion = robot.simulate(start, None, 0.3, law(robot), dt=2e-4)
        errors.append(np.abs(robot.states.link_side(motion.q).q - rigid.q).max())
    assert 5 < errors[0] / errors[1] < 20
    assert errors[1] < 1e-3


def test_one_joint_swings_at_the_frequency_of_rotor_and_link_on_their_spring():
    I, k = PENDULUM.mass_matrix([0.0]).item(), 100.0
    robot = soft(PENDULUM.edit(gravity=(0, 0, 0)), k)
    w = np.sqrt(k * (1 / B + 1 / I))
    motion = robot.simulate([0.0, 0.1], None, 1.0)
    np.testing.assert_allclose(motion.q[:, 1], 0.1 * np.cos(w * motion.t), atol=1e-6)
    poles = np.linalg.eigvals(robot.linearize([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])[0])
    np.testing.assert_allclose(np.sort(np.abs(poles.imag))[-1], w, rtol=1e-9)


def test_energy_is_kept_by_springs_and_lost_in_their_dampers():
    start = [0.5, 0.2, 0.3, -0.1]
    free, damped = (soft(damping=d).simulate(start, None, 0.5) for d in (0.0, 5.0))
    assert np.abs(free.energy - free.energy[0]).max() < 1e-5
    assert damped.energy[-1] < damped.energy[0] - 1.0
    assert np.abs(damped.energy_error).max() < 1e-4


def test_states_of_links_and_motors_and_the_state_at_rest_under_weight():
    robot = soft(PANDA, 5e3, rotor=0.3)
    q = robot.states.on_springs(PANDA.home())
    links, motors = robot.states.link_side(q, 1.0 + np.zeros(14)), robot.states.motor_side(q, np.ones(14))
    np.testing.assert_allclose(links.q, PANDA.home(), atol=1e-12)
    assert (links.qd == 2.0).all()
    assert (motors.qd == 1.0).all()
    np.testing.assert_allclose(robot.pose(q), PANDA.pose(PANDA.home()), atol=1e-12)
    held = robot.gravity_torque(q) + robot.spring_torque(q)
    np.testing.assert_allclose(held[1::2], 0.0, atol=1e-9)
    np.testing.assert_allclose(motors.q - links.q, PANDA.gravity_torque(PANDA.home()) / 5e3, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_links_stand_where_motor_and_spring_together_bring_joints_of_every_kind(seed):
    rigid = trees.tree(seed, ("revolute", "prismatic", "helical", "moved", "spherical"), drives=False, mimic=False)
    robot = rigid.with_elastic_joints(200.0, rotor=B)
    q = trees.state(robot, seed)[0]
    links = robot.states.link_side(q).q
    for link in rigid.link_names:
        np.testing.assert_allclose(robot.pose(q, link), rigid.pose(links, link), atol=1e-12)
    back = rigid_robot(robot)
    np.testing.assert_allclose(back.gravity_torque(links), rigid.gravity_torque(links), atol=1e-9)


def test_a_floating_robot_has_springs_in_the_joints_that_are_named():
    robot = cr.load("go2")
    legs = [name for name in robot.joint_names if name.endswith("calf_joint")]
    springy = robot.with_elastic_joints(dict.fromkeys(legs, 200.0), rotor=0.01)
    assert springy.nv == robot.nv + 4
    state = springy.states.link_side(springy.neutral(), np.zeros(springy.nv))
    np.testing.assert_array_equal(state.q, robot.neutral())
    assert state.qd.shape == (robot.nv,)


def test_joints_without_a_rotor_get_the_inertia_that_they_move_and_say_so():
    with pytest.warns(cr.ModelWarning, match="no rotor inertia at 'joint1', 'joint2'"):
        robot = ARM.with_elastic_joints(stiffness=5e3, damping=1.0)
    assert robot.nv == 2 * ARM.nv
    q = np.zeros(4)
    q[::2] = ARM.home()
    M = robot.mass_matrix(q)
    np.testing.assert_allclose(np.diag(M)[::2], 2 * np.diag(M)[1::2])
    quiet = WITH_ROTORS.with_elastic_joints(5e3)
    np.testing.assert_allclose(quiet.mass_matrix(np.zeros(4))[0, 0], WITH_ROTORS.mass_matrix([0.0, 0.0])[0, 0])


# --- laws ---


def test_feedback_linearization_brings_links_to_the_goal_with_four_equal_poles():
    robot, w = soft(), 2 * np.pi * 2
    law = cr.ElasticComputedTorque(robot, [0.5, -0.3])
    motion = robot.simulate(robot.states.on_springs([0.0, 0.0]), None, 1.0, law)
    x = w * motion.t
    left = (1 + x + x**2 / 2 + x**3 / 6) * np.exp(-x)
    np.testing.assert_allclose(robot.states.link_side(motion.q).q, np.outer(1 - left, [0.5, -0.3]), atol=1e-4)


def test_links_follow_a_motion_whose_derivatives_the_law_takes_up_to_the_fourth():
    robot = soft()
    plan = cr.plan(ARM, [[0.0, 0.0], [0.5, -0.3]], times=1.0, method="quintic")
    law = cr.ElasticComputedTorque(robot, plan, bandwidth=4.0)
    start = robot.states.on_springs([0.0, 0.0])
    motion = robot.simulate(start, None, 1.0, law)
    error = np.abs(robot.states.link_side(motion.q).q - plan(motion.t)[0])
    assert error[motion.t > 0.4].max() < 2e-4  # what the jerk with which a quintic begins has left
    states = (0.4, motion.q[400], motion.qd[400])
    np.testing.assert_allclose(law(*states), law.evaluate(*states)[0], rtol=1e-9)


def test_the_spring_is_damped_to_the_ratio_that_is_asked_for():
    still = PENDULUM.edit(gravity=(0, 0, 0))
    robot, I, k, ratio = soft(still, 100.0), PENDULUM.mass_matrix([0.0]).item(), 100.0, 0.3
    law = cr.VibrationDamping(robot, cr.GravityCompensation(still), damping_ratio=ratio)
    w = np.sqrt(k * (1 / B + 1 / I))
    motion = robot.simulate([0.0, 0.1], None, 0.5, law)
    wd = w * np.sqrt(1 - ratio**2)
    expected = 0.1 * np.exp(-ratio * w * motion.t) * (np.cos(wd * motion.t) + ratio * w / wd * np.sin(wd * motion.t))
    np.testing.assert_allclose(motion.q[:, 1], expected, atol=1e-5)


def test_singular_perturbation_control_of_stiff_joints_is_the_law_of_the_rigid_robot():
    goal = [0.5, -0.3]
    law = cr.ComputedTorque(WITH_ROTORS, goal, bandwidth=1.0)
    rigid = WITH_ROTORS.simulate([0.0, 0.0], None, 1.5, law)
    errors = []
    for stiffness in (1e3, 8e3):
        robot = soft(stiffness=stiffness)
        motion = robot.simulate(robot.states.on_springs([0.0, 0.0]), None, 1.5, cr.VibrationDamping(robot, law))
        errors.append(np.abs(robot.states.link_side(motion.q).q - rigid.q).max())
    assert errors[1] < 0.5 * errors[0]
    assert errors[1] < 1e-2


def test_a_robot_with_some_elastic_joints_is_damped_and_not_linearized():
    robot = ARM.with_elastic_joints({"joint2": 300.0}, rotor=B)
    with pytest.raises(cr.ModelError, match="'joint1' of robot"):
        cr.ElasticComputedTorque(robot, [0.1, 0.2])
    law = cr.VibrationDamping(robot, cr.PD(ARM, [0.1, 0.2]), damping=2.0)
    q, qd = np.array([0.1, 0.2, 0.05]), np.array([0.3, 0.4, 0.5])
    expected = cr.PD(ARM, [0.1, 0.2])(0.0, [0.1, 0.25], [0.3, 0.9])
    expected[1] += 2.0 * 0.5
    np.testing.assert_allclose(law(0.0, q, qd), [*expected, 0.0], rtol=1e-12)


def test_mistakes_are_named():
    with pytest.raises(cr.ShapeError, match="stiffness must be positive"):
        ARM.with_elastic_joints(0.0)
    with pytest.raises(cr.UnknownNameError, match="elbow"):
        ARM.with_elastic_joints({"elbow": 3.0})
    with pytest.raises(cr.ShapeError, match="rotor must be positive; it is not for 'joint1'"):
        ARM.with_elastic_joints(300.0, rotor={"joint2": 1.0})
    with pytest.raises(cr.ModelError, match="'joint1' of robot 'planar_2r' is elastic already"):
        soft().with_elastic_joints({"joint1": 3.0}, rotor=B)
    with pytest.raises(cr.ModelError, match="several coordinates"):
        cr.load("go2").with_elastic_joints({"floating_base": 3.0}, rotor=B)
    with pytest.raises(cr.ModelError, match="no elastic joints"):
        ARM.states.link_side([0.0, 0.0])
    with pytest.raises(cr.ModelError, match="without elastic joints"):
        cr.VibrationDamping(soft(), cr.PD(soft(), np.zeros(4)))
    with pytest.raises(cr.ShapeError, match="must be a controller"):
        cr.VibrationDamping(soft(), lambda t, q, qd: q)
