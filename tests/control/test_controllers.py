"""Controllers: the textbook's formulas, one text for arrays and graphs, and loops that close."""

import itertools
import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import tree

import chainrule as cr
from chainrule import ModelError, ShapeError, UnknownNameError
from chainrule.compile.traced_function import TracedFunction

PANDA = cr.load("panda").reference
ARM = cr.load("planar_2r").reference
SCREWS = tree(4, ("revolute", "prismatic", "helical", "universal", "fixed", "revolute"), mimic=False).reference
SPINNING = tree(3, ("spherical", "revolute", "free", "prismatic"), mimic=False).reference
ZOO = tree(5).reference
RNG = np.random.default_rng(0)
HOME = np.array([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.7])
POSTURE = HOME + 0.2
PLAN = cr.plan(PANDA, [HOME, HOME + 0.3, HOME - 0.1], times=[0, 1, 2])
TARGET = PANDA.pose(HOME + 0.1)
POSES = cr.plan_pose([PANDA.pose(HOME), PANDA.pose(HOME + 0.3)], times=1.0)

CONTROLLERS = {
    "gravity compensation": cr.GravityCompensation(PANDA, 0.5),
    "PD to a point": cr.PD(PANDA, HOME, 50.0, 5.0),
    "PD along a motion": cr.PD(PANDA, PLAN, 50.0, 5.0, gravity=False),
    "PID": cr.PID(PANDA, PLAN, 50.0, 20.0, 5.0),
    "PID with a limit": cr.PID(PANDA, HOME, 50.0, 20.0, 5.0, limit=0.3),
    "computed torque": cr.ComputedTorque(PANDA, PLAN, 100.0),
    "impedance": cr.Impedance(PANDA, TARGET, [20, 20, 20, 500, 500, 500], joint_damping=0.1),
    "impedance with damping": cr.Impedance(PANDA, POSES, 100.0, 10.0, link="panda_link5"),
    "operational space": cr.OperationalSpace(PANDA, POSES, 100.0),
    "position only": cr.OperationalSpace(PANDA, TARGET, 9.0, task="position", posture=POSTURE, posture_kp=4.0),
    "quaternions": cr.PD(SPINNING, SPINNING.random_state(np.random.default_rng(3)), 3.0, 1.0, actuated=True),
    "every joint kind": cr.ComputedTorque(ZOO, ZOO.random_state(np.random.default_rng(3)), 3.0, actuated=True),
    "planar impedance": cr.Impedance(ARM, ARM.pose([0.3, 0.4]), 10.0),
    "planar operational space": cr.OperationalSpace(ARM, ARM.pose([0.3, 0.4]), 10.0),
}
every = pytest.mark.parametrize("controller", CONTROLLERS.values(), ids=CONTROLLERS)


def state(robot, shape=(), seed=1):
    rng = np.random.default_rng(seed)
    return robot.random_state(rng, shape), rng.normal(size=(*shape, robot.nv))


# --- one text ---


@every
def test_graph_gives_the_torque_that_arrays_give(controller):
    q, qd = state(controller.robot)
    z, s, p = RNG.normal(size=controller.states), controller.signals([0.4])[0], controller.parameters
    traced = TracedFunction.of(
        lambda *lists: [*itertools.chain(*controller.torque(*lists))], [*map(len, (q, qd, z, s, p))]
    )
    tau, rates = np.split(np.array(traced(q, qd, z, s, p)), [controller.robot.nv])
    expected = controller.evaluate(0.4, q, qd, z)
    assert np.isfinite(expected[0]).all()
    assert_allclose(tau, expected[0], rtol=1e-9, atol=1e-9)
    assert_allclose(rates, expected[1], rtol=1e-9, atol=1e-9)


@every
def test_a_batch_is_its_rows(controller):
    q, qd = state(controller.robot, (3, 2))
    t = np.array([0.1, 0.6])
    tau = controller(t, q, qd)
    assert tau.shape == (3, 2, controller.robot.nv)
    assert_allclose(tau[1, 1], controller(0.6, q[1, 1], qd[1, 1]), rtol=1e-9, atol=1e-9)


@every
def test_shapes_of_signals_parameters_and_states(controller):
    assert controller.signals(np.linspace(0, 1, 5)).shape == (5, controller.width)
    assert controller.parameters.ndim == 1
    tau, rates = controller.torque(*state_lists(controller))
    assert (len(tau), len(rates)) == (controller.robot.nv, controller.states)
    assert hash(controller.key) == hash(pickle.loads(pickle.dumps(controller)).key)


def state_lists(controller):
    q, qd = state(controller.robot)
    rest = (np.zeros(controller.states), controller.signals([0.0])[0], controller.parameters)
    return [a.tolist() for a in (q, qd, *rest)]


def test_key_tells_texts_apart_and_nothing_else():
    assert cr.PD(ARM, [0, 0], 1, 1).key == cr.PD(ARM, [1, 0], [2, 3], 4).key
    different = [
        cr.PD(ARM, [0, 0], 1, 1),
        cr.PD(ARM, [0, 0], 1, 1, gravity=False),
        cr.PD(ARM, cr.hold([0, 0]), 1, 1),
        cr.PD(ARM.with_payload(1.0), [0, 0], 1, 1),
        cr.PID(ARM, [0, 0], 1, 1, 1),
        cr.PID(ARM, [0, 0], 1, 1, 1, limit=1),
        cr.ComputedTorque(ARM, [0, 0], 1, 1),
        cr.Impedance(ARM, np.eye(4), 1),
        cr.Impedance(ARM, np.eye(4), 1, 1),
        cr.Impedance(ARM, np.eye(4), 1, 1, link="link1"),
        cr.OperationalSpace(ARM, np.eye(4), 1),
        cr.OperationalSpace(ARM, np.eye(4), 1, task="position"),
        cr.OperationalSpace(ARM, np.eye(4), 1, posture=[0, 0], posture_kp=1),
    ]
    assert len({controller.key for controller in different}) == len(different)


def test_gains_vary_over_a_batch():
    kp = np.array([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]])
    controller = cr.PD(ARM, [0.1, 0.2], kp, 1.0)
    assert controller.parameters.shape == (3, 6)
    q, qd = state(ARM)
    tau = controller(0.0, q, qd)
    for row, gain in zip(tau, kp, strict=True):
        assert_allclose(row, cr.PD(ARM, [0.1, 0.2], gain, 1.0)(0.0, q, qd))
    targets = cr.PD(ARM, np.zeros((3, 2)), kp, 1.0)
    assert_allclose(targets.parameters[:, 4:], 0)
    poses = cr.Impedance(ARM, np.broadcast_to(np.eye(4), (5, 4, 4)), 1.0)
    assert poses(0.0, q, qd).shape == (5, 2)


# --- formulas ---


@pytest.mark.parametrize("robot", [PANDA, SCREWS, SPINNING], ids=["panda", "screws", "quaternions"])
def test_pd_and_pid_are_their_formulas(robot):
    q, qd = state(robot)
    goal = robot.random_state(np.random.default_rng(8))
    held = robot.bias(q, np.zeros(robot.nv))
    e = robot.difference(q, goal)
    kp, kd = RNG.uniform(1, 2, robot.nv), RNG.uniform(1, 2, robot.nv)
    assert_allclose(cr.GravityCompensation(robot, kd, actuated=True)(0.0, q, qd), held - kd * qd, rtol=1e-9, atol=1e-9)
    pd = cr.PD(robot, goal, kp, kd, actuated=True)
    assert_allclose(pd(0.0, q, qd), kp * e - kd * qd + held, rtol=1e-9, atol=1e-9)
    pid = cr.PID(robot, goal, kp, 3.0, kd, gravity=False, actuated=True)
    tau, rates = pid.evaluate(0.0, q, qd, 2 * e)
    assert_allclose(tau, kp * e + 6 * e - kd * qd, rtol=1e-9, atol=1e-9)
    assert_allclose(rates, e, rtol=1e-9, atol=1e-9)


def test_pd_follows_positions_and_velocities_of_a_motion():
    q, qd = state(PANDA)
    q_ref, qd_ref, _ = PLAN(0.7)
    tau = cr.PD(PANDA, PLAN, 3.0, 2.0)(0.7, q, qd)
    assert_allclose(tau, 3 * (q_ref - q) + 2 * (qd_ref - qd) + PANDA.gravity_torque(q), rtol=1e-9, atol=1e-9)


def test_integral_is_cut_off_and_does_not_wind_up():
    pid = cr.PID(ARM, [1.0, 1.0], 0.0, 2.0, 0.0, limit=[0.5, 0.5], gravity=False)
    q = np.zeros(2)  # the error is (1, 1)
    tau, rates = pid.evaluate(0.0, q, q, [3.0, -3.0])
    assert_allclose(tau, [0.5, -0.5])
    assert_allclose(rates, [0.0, 1.0])
    assert_allclose(pid.evaluate(0.0, q, q, [0.1, -0.1])[0], [0.2, -0.2])


def test_computed_torque_is_inverse_dynamics():
    q, qd = state(PANDA)
    q_ref, qd_ref, qdd_ref = PLAN(0.7)
    robot = PANDA.without_friction()
    a = qdd_ref + 20 * (qd_ref - qd) + 100 * (q_ref - q)
    controller = cr.ComputedTorque(robot, PLAN, 100.0)
    assert_allclose(controller(0.7, q, qd), robot.inverse_dynamics(q, qd, a), rtol=1e-9, atol=1e-9)
    assert_allclose(robot.forward_dynamics(q, qd, controller(0.7, q, qd)), a, rtol=1e-8, atol=1e-8)


def test_computed_torque_compensates_coulomb_friction_in_the_direction_of_the_reference():
    plan = cr.plan(SCREWS, [np.zeros(SCREWS.nv), np.ones(SCREWS.nv)], times=1.0)
    q, qd = np.zeros(SCREWS.nv), RNG.normal(size=SCREWS.nv)
    controller = cr.ComputedTorque(SCREWS, plan, 0.0)
    _, qd_ref, qdd_ref = plan(0.4)
    smooth = SCREWS.without_friction().inverse_dynamics(q, qd, qdd_ref)
    viscous = np.array([dof.viscous for joint in SCREWS.model.moving for dof in joint.dofs]) * qd
    coulomb = np.array([dof.coulomb for joint in SCREWS.model.moving for dof in joint.dofs])
    assert (qd_ref > 0).all()
    assert_allclose(controller(0.4, q, qd), smooth + viscous + coulomb, rtol=1e-9, atol=1e-9)
    still = cr.ComputedTorque(SCREWS, q, 0.0, 0.0)
    assert_allclose(still(0.0, q, 1e-9 * qd), still(0.0, q, -1e-9 * qd), atol=1e-7)


def test_impedance_is_springs_and_dampers_at_the_link():
    q, qd = state(PANDA)
    stiffness, damping = RNG.uniform(1, 9, 6), RNG.uniform(1, 9, 6)
    J, T = PANDA.jacobian(q, frame="world"), PANDA.pose(q)
    T_ref, V_ref, _ = POSES(0.3)
    e = np.concatenate([rotation_vector(T_ref[:3, :3] @ T[:3, :3].T), T_ref[:3, 3] - T[:3, 3]])
    tau = cr.Impedance(PANDA, POSES, stiffness, damping, joint_damping=0.5)(0.3, q, qd)
    F = stiffness * e + damping * (V_ref - J @ qd)
    assert_allclose(tau, J.T @ F + PANDA.gravity_torque(q) - 0.5 * qd, rtol=1e-9, atol=1e-9)
    B = np.diag(J @ np.linalg.solve(PANDA.mass_matrix(q), J.T))
    tau = cr.Impedance(PANDA, POSES, stiffness, damping_ratio=0.7)(0.3, q, qd)
    F = stiffness * e + 1.4 * np.sqrt(stiffness / B) * (V_ref - J @ qd)
    assert_allclose(tau, J.T @ F + PANDA.gravity_torque(q), rtol=1e-9, atol=1e-9)


def rotation_vector(R):
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_rotvec()


@pytest.mark.parametrize("task", ["pose", "position", "orientation"])
def test_operational_space_gives_the_link_the_acceleration_that_is_asked_for(task):
    rows = {"pose": slice(6), "position": slice(3, 6), "orientation": slice(3)}[task]
    robot = PANDA.without_friction()
    q, qd = state(robot)
    controller = cr.OperationalSpace(robot, POSES, 30.0, 7.0, task=task, posture=POSTURE, posture_kp=5.0, damping=1e-12)
    qdd = robot.forward_dynamics(q, qd, controller(0.3, q, qd))
    J, drift = robot.jacobian(q, frame="world"), robot.jacobian_dot(q, qd, frame="world") @ qd
    T, (T_ref, V_ref, A_ref) = robot.pose(q), POSES(0.3)
    e = np.concatenate([rotation_vector(T_ref[:3, :3] @ T[:3, :3].T), T_ref[:3, 3] - T[:3, 3]])
    wanted = A_ref + 7 * (V_ref - J @ qd) + 30 * e
    assert_allclose((J @ qdd + drift)[rows], wanted[rows], rtol=1e-6, atol=1e-6)


def test_posture_acts_where_the_link_does_not_notice():
    """The rest of qdd is the posture's: with N = 1 - M^-1 J^T Lambda J, N qdd = N a."""
    robot = PANDA.without_friction()
    q, qd = state(robot)
    controller = cr.OperationalSpace(
        robot, TARGET, 30.0, posture=POSTURE, posture_kp=5.0, posture_kd=2.0, damping=1e-12
    )
    qdd = robot.forward_dynamics(q, qd, controller(0.0, q, qd))
    J, M = robot.jacobian(q, frame="world"), robot.mass_matrix(q)
    X = np.linalg.solve(M, J.T)
    N = np.eye(7) - X @ np.linalg.solve(J @ X, J)
    assert_allclose(N @ qdd, N @ (5 * (POSTURE - q) - 2 * qd), rtol=1e-6, atol=1e-6)


# --- loops that close ---


def closed_loop(robot, controller, q, qd, duration, steps):
    """Runge and Kutta's method of fourth order, on plain coordinates."""
    h, z = duration / steps, np.zeros(controller.states)

    def rates(t, x):
        q, qd, z = np.split(x, [robot.nq, robot.nq + robot.nv])
        tau, dz = controller.evaluate(t, q, qd, z)
        return np.concatenate([qd, robot.forward_dynamics(q, qd, tau), dz])

    x = np.concatenate([q, qd, z])
    for k in range(steps):
        t = k * h
        k1 = rates(t, x)
        k2 = rates(t + h / 2, x + h / 2 * k1)
        k3 = rates(t + h / 2, x + h / 2 * k2)
        k4 = rates(t + h, x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.split(x, [robot.nq, robot.nq + robot.nv])


def test_computed_torque_errors_decay_as_the_gains_say():
    """Critically damped from e0 at rest: e = e0 (1 + w t) exp(-w t)."""
    plan = cr.plan(ARM, [[0, 0], [1, -0.5]], times=1.0)
    e0, w, t = np.array([0.2, -0.1]), 6.0, 0.8
    q, _, _ = closed_loop(ARM, cr.ComputedTorque(ARM, plan, w**2), -e0, np.zeros(2), t, 200)
    assert_allclose(plan(t)[0] - q, e0 * (1 + w * t) * math.exp(-w * t), atol=1e-6)


def test_integral_removes_the_error_that_a_payload_leaves():
    loaded, goal = ARM.with_payload(0.5), [0.3, 0.4]
    pd = closed_loop(loaded, cr.PD(ARM, goal, 100.0, 40.0), np.array(goal), np.zeros(2), 3.0, 300)[0]
    pid = closed_loop(loaded, cr.PID(ARM, goal, 100.0, 120.0, 40.0), np.array(goal), np.zeros(2), 12.0, 800)[0]
    assert np.abs(pd - goal).max() > 0.05
    assert np.abs(pid - goal).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("law", ["impedance", "operational space"])
def test_the_link_comes_to_its_pose(law):
    robot = cr.load("puma560").without_friction()
    q0 = np.array([0.1, 0.8, -2.0, 0.3, 0.9, 0.2])
    goal = robot.pose(q0 + 0.15)
    controller = {
        "impedance": lambda: cr.Impedance(robot, goal, [60, 60, 60, 900, 900, 900], joint_damping=2.0),
        "operational space": lambda: cr.OperationalSpace(robot, goal, 40.0),
    }[law]()
    q, qd, _ = closed_loop(robot, controller, q0, np.zeros(6), 3.0, 300)
    assert_allclose(robot.pose(q), goal, atol=2e-3)
    assert np.abs(qd).max() < 0.02


def test_gravity_compensation_lets_the_robot_float():
    q, qd = np.array([0.4, 0.9]), np.zeros(2)
    assert_allclose(ARM.forward_dynamics(q, qd, cr.GravityCompensation(ARM)(0.0, q, qd)), 0, atol=1e-12)


def test_a_controller_of_ones_own_needs_only_a_law():
    class Pull(cr.Controller):
        def __init__(self, robot, strength):
            super().__init__(robot, {"strength": np.atleast_1d(strength)})

        def torque(self, q, qd, z, s, p):
            (strength,) = self.parts(p)
            return [-strength[0] * x for x in q], []

    assert_allclose(Pull(ARM, 2.0)(0.0, [1.0, 2.0], [0.0, 0.0]), [-2.0, -4.0])


# --- what is refused ---


def weightless():
    with pytest.warns(cr.ModelWarning):
        return cr.Robot.from_dh([(1.0, 0.0, 0.0, 0.0)], convention="standard")


BAD = [
    (lambda: cr.PD("panda", HOME, 1, 1), ShapeError, r"PD: the first argument must be a Robot"),
    (lambda: cr.PD(ARM, [0, 0, 0], 1, 1), ShapeError, r"PD: q must have 2 numbers"),
    (lambda: cr.PD(ARM, [0, math.nan], 1, 1), ShapeError, r"PD: q must be finite"),
    (lambda: cr.PD(ARM, [0, 0], -1, 1), ShapeError, r"PD: kp must not be negative, got -1"),
    (lambda: cr.PD(ARM, [0, 0], 1, [1, 2, 3]), ShapeError, r"PD: kd must be one number, or 2 in the last dimension"),
    (lambda: cr.PD(ARM, [0, 0], 1, math.inf), ShapeError, r"PD: kd must be finite"),
    (lambda: cr.PD(ARM, [0, 0], "stiff", 1), ShapeError, r"PD: kp must be real numbers"),
    (lambda: cr.PD(ARM, PLAN, 1, 1), ShapeError, r"reference has 7 coordinates and robot 'planar_2r' has 2; .*another robot"),
    (lambda: cr.PD(ARM, POSES, 1, 1), ShapeError, r"motion of poses.*cr.plan"),
    (lambda: cr.PID(ARM, [0, 0], 1, 1, 1, limit=-1), ShapeError, r"PID: limit must not be negative"),
    (lambda: cr.Impedance(PANDA, PLAN, 1), ShapeError, r"motion of joints.*cr.plan_pose"),
    (lambda: cr.PD(ARM, np.zeros((0, 2)), kd=1.0), ShapeError, r"PD: q of shape \(0, 2\) holds no configuration"),
    (lambda: cr.Impedance(PANDA, np.ones((4, 4)), 1), ShapeError, r"Impedance: the target is not a rigid transform"),
    (lambda: cr.Impedance(PANDA, np.zeros((0, 4, 4)), 1), ShapeError, r"the target of shape \(0, 4, 4\) holds no pose"),
    (lambda: cr.OperationalSpace(PANDA, np.zeros((0, 4, 4)), 1), ShapeError, r"OperationalSpace: .* holds no pose"),
    (lambda: cr.Impedance(PANDA, TARGET, [1, 2, 3]), ShapeError, r"stiffness must be one number, or 6"),
    (lambda: cr.Impedance(PANDA, TARGET, 1, link="panda_hnd"), UnknownNameError, r"no link or frame named 'panda_hnd'"),
    (lambda: cr.OperationalSpace(PANDA, TARGET, 1, task="all"), UnknownNameError, r"no task named 'all'"),
    (lambda: cr.OperationalSpace(PANDA, TARGET, [1] * 6, task="position"), ShapeError, r"or 3 in the last dimension"),
    (lambda: cr.OperationalSpace(PANDA, TARGET, 1, posture=HOME), ShapeError, r"posture and posture_kp go together"),
    (lambda: cr.OperationalSpace(PANDA, TARGET, 1, damping=0.0), ShapeError, r"damping must be positive"),
    (lambda: cr.OperationalSpace(PANDA, TARGET, 1, posture=PLAN, posture_kp=1), ShapeError, r"posture: q must be real numbers"),
    (lambda: cr.GravityCompensation(weightless()), ModelError, r"has no masses"),
    (lambda: cr.PD(weightless(), [0.0], 1, 1), ModelError, r"has no masses"),
    (lambda: cr.PD(ARM, [0, 0], 1, 1)(0.0, [0], [0, 0]), ShapeError, r"PD: q must have 2 numbers"),
    (lambda: cr.PD(ARM, [0, 0], np.ones((3, 2)), 1)(0.0, np.zeros((2, 2)), [0, 0]), ShapeError, r"PD: the leading"),
    (lambda: cr.PID(ARM, [0, 0], 1, 1, 1)(0.0, [0, 0], [0, 0], [1]), ShapeError, r"PID: z must have 2 numbers"),
    (lambda: cr.PD(ARM, [0, 0], np.ones((3, 2)), np.ones((2, 2))), ShapeError, r"do not fit together"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "pattern"), BAD)
def test_bad_input_is_refused_by_name(call, error, pattern):
    with pytest.raises(error, match=pattern):
        call()


def test_moving_references_along_quaternions_are_refused():
    points = SPINNING.random_state(np.random.default_rng(1), 2)
    motion = cr.plan(SPINNING, points, times=1.0)
    with pytest.raises(ShapeError, match=r"has quaternions in q \(joint 'joint\d'\).*give a constant configuration"):
        cr.PD(SPINNING, motion, 1, 1)


def test_pd_without_gravity_needs_no_masses():
    assert_allclose(cr.PD(weightless(), [0.5], 2.0, 1.0, gravity=False)(0.0, [0.0], [0.0]), [1.0])


def test_pd_without_gravity_knows_nothing_of_loops():
    robot = cr.load("four_bar")
    q = robot.neutral()
    crank_alone = cr.PD(robot, q + 0.1, 2.0, 1.0, gravity=False)
    assert_allclose(crank_alone(0.0, q, np.zeros(robot.nv)), [0.2, 0.0, 0.0])
    everything = cr.PD(robot, q + 0.1, 2.0, 1.0, gravity=False, actuated=True)
    assert_allclose(everything(0.0, q, np.zeros(robot.nv)), 0.2)
