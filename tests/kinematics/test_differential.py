"""Velocities, singularities, manipulability, pose vectors and forces: by identities, by hand, and by differences."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation
from trees import tree

import chainrule as cr
from chainrule.algorithms.euler import ORDERS

ROBOTS = ["planar_2r", "planar_3r", "scara", "puma560", "ur5", "panda", "iiwa14", "stanford"]
TASKS = ["pose", "position", "orientation"]


def some(name, count=6, seed=0):
    robot = cr.load(name)
    return robot, robot.random_state(np.random.default_rng(seed), (count,))


def by_differences(function, robot, q, step=1e-6):
    """Derivatives of function(q) along each velocity coordinate, last."""
    columns = [
        (function(robot.integrate(q, step * e)) - function(robot.integrate(q, -step * e))) / (2 * step)
        for e in np.eye(robot.nv)
    ]
    return np.stack(columns, axis=-1)


# --- velocities ---


@pytest.mark.parametrize("frame", ["space", "body", "world"])
def test_velocity_is_the_rate_of_the_pose(frame):
    robot, q = some("panda")
    qd = np.random.default_rng(1).normal(size=(6, 7))
    V = robot.velocity(q, qd, "panda_link5", frame=frame)
    h = 1e-6
    before, after, T = (robot.pose(q + s * h * qd, "panda_link5") for s in (-1, 1, 0))
    rate = (after - before) / (2 * h)
    inverse = np.linalg.inv(T)
    bracket = inverse @ rate if frame == "body" else rate @ inverse
    omega = np.stack([bracket[:, 2, 1], bracket[:, 0, 2], bracket[:, 1, 0]], axis=-1)
    linear = rate[:, :3, 3] if frame == "world" else bracket[:, :3, 3]
    assert_allclose(V, np.concatenate([omega, linear], axis=-1), atol=1e-8)


@pytest.mark.parametrize("frame", ["space", "body", "world"])
def test_resolved_rate_makes_the_twist_and_the_null_space_does_not_disturb_it(frame):
    robot, q = some("panda")
    rng = np.random.default_rng(2)
    V, z = rng.normal(size=(6, 6)), rng.normal(size=(6, 7))
    plain = robot.analysis.resolved_rate(q, V, frame=frame)
    beside = robot.analysis.resolved_rate(q, V, frame=frame, null_velocity=z)
    assert_allclose(robot.velocity(q, plain, frame=frame), V, atol=1e-9)
    assert_allclose(robot.velocity(q, beside, frame=frame), V, atol=1e-9)
    assert_allclose(np.einsum("ij,ij->i", plain, beside - plain), 0, atol=1e-9)
    assert np.abs(beside - plain).max() > 0.01


@pytest.mark.parametrize("frame", ["space", "body", "world"])
def test_resolved_acceleration_is_the_way_back_from_acceleration(frame):
    robot, q = some("panda")
    robot = robot.reference
    rng = np.random.default_rng(2)
    qd, A, z = rng.normal(size=(6, 7)), rng.normal(size=(6, 6)), rng.normal(size=(6, 7))

    def made(qdd):
        if frame != "space":
            return robot.acceleration(q, qd, qdd, frame=frame)
        Jd = robot.jacobian_dot(q, qd, frame="space")
        return np.einsum("kij,kj->ki", robot.jacobian(q, frame="space"), qdd) + np.einsum("kij,kj->ki", Jd, qd)

    plain = robot.analysis.resolved_acceleration(q, qd, A, frame=frame)
    beside = robot.analysis.resolved_acceleration(q, qd, A, frame=frame, null_acceleration=z)
    assert_allclose(made(plain), A, atol=1e-8)
    assert_allclose(made(beside), A, atol=1e-8)
    assert_allclose(np.einsum("ij,ij->i", plain, beside - plain), 0, atol=1e-8)
    assert np.abs(beside - plain).max() > 0.01


def test_resolved_acceleration_of_a_planar_arm_by_hand():
    """J qdd = a - dJ/dt qd, with the Jacobian of the lecture notes for links of length one."""
    arm = cr.load("planar_2r").reference
    q, qd, a = np.array([0.3, 0.9]), np.array([1.0, -2.0]), np.array([0.5, 2.0])
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    J = np.array([[-s1 - s12, -s12], [c1 + c12, c12]])
    w1, w12 = qd[0], qd.sum()
    centripetal = -np.array([c1 * w1**2 + c12 * w12**2, s1 * w1**2 + s12 * w12**2])
    qdd = arm.analysis.resolved_acceleration(q, qd, [*a, 0.0], task="position")
    assert_allclose(qdd, np.linalg.solve(J, a - centripetal), rtol=1e-12)
    damped = arm.analysis.resolved_acceleration(q, qd, [*a, 0.0], task="position", damping=0.1)
    assert_allclose(damped, np.linalg.solve(J.T @ J + 0.01 * np.eye(2), J.T @ (a - centripetal)), rtol=1e-9)
    alpha = arm.analysis.resolved_acceleration(q, qd, [0.0, 0.0, 3.0], task="orientation")
    assert_allclose(alpha.sum(), 3.0)
    assert_allclose(alpha[0], alpha[1])  # the smallest of those


def test_resolved_acceleration_keeps_loops_closed():
    bar = cr.load("four_bar").reference
    q = bar.random_state(np.random.default_rng(0), (4,))
    qd = bar.loops.consistent_velocity(q, np.random.default_rng(1).normal(size=(4, bar.nv)))
    wanted = bar.acceleration(q, qd, bar.loops.consistent_acceleration(q, qd, np.ones((4, bar.nv))))
    qdd = bar.analysis.resolved_acceleration(q, qd, wanted)
    closing = (bar.loops.jacobian(q) @ qdd[..., None])[..., 0] + bar.loops.velocity_terms(q, qd)
    assert_allclose(closing, 0, atol=1e-8)
    assert_allclose(bar.acceleration(q, qd, qdd), wanted, atol=1e-7)


def test_resolved_acceleration_takes_names_and_units():
    pint = pytest.importorskip("pint")
    u = pint.get_application_registry()
    arm = cr.load("planar_2r").reference
    q = {"joint2": 0.9, "joint1": 17.18873385 * u.degree}
    a = [50 * u.cm / u.s**2, 2 * u.m / u.s**2, 0 * u.m / u.s**2]
    qdd = arm.units.analysis.resolved_acceleration(q, [0.0, 0.0], a, task="position")
    plain = arm.analysis.resolved_acceleration([0.3, 0.9], [0.0, 0.0], [0.5, 2.0, 0.0], task="position")
    assert_allclose(qdd.to("rad/s^2").magnitude, plain, rtol=1e-7)


def test_null_space_is_a_projector_that_moves_nothing():
    robot, q = some("panda")
    N = robot.analysis.null_space(q)
    assert_allclose(N @ N, N, atol=1e-12)
    assert_allclose(robot.jacobian(q) @ N, 0, atol=1e-12)
    assert_allclose(np.trace(N, axis1=-2, axis2=-1), 1)
    assert_allclose(np.trace(robot.analysis.null_space(q, task="position"), axis1=-2, axis2=-1), 4)


def test_damping_minimises_error_and_speed_together_and_bounds_the_speed():
    robot, q = some("ur5")
    q[0, 4] = 0.0  # a wrist singularity
    V = np.random.default_rng(3).normal(size=(6, 6))
    damping = 0.05
    qd = robot.analysis.resolved_rate(q, V, damping=damping)
    J = robot.jacobian(q, frame="world")
    JT = np.swapaxes(J, -1, -2)
    normal = np.linalg.solve(JT @ J + damping**2 * np.eye(6), JT @ V[..., None])[..., 0]
    assert_allclose(qd, normal, atol=1e-9)
    assert (np.linalg.norm(qd, axis=-1) <= np.linalg.norm(V, axis=-1) / (2 * damping)).all()


def test_closed_loops_stay_closed():
    bar = cr.load("four_bar")
    q = bar.random_state(np.random.default_rng(0), (4,))
    qd = bar.analysis.resolved_rate(q, [0.1, 0.2, 0.0], task="position")
    assert_allclose(bar.loops.jacobian(q) @ qd[..., None], 0, atol=1e-9)
    assert bar.analysis.task_rank() == 1
    assert not bar.is_singular(q).any()


# --- singularities ---


def test_planar_arm_by_hand():
    arm = cr.load("planar_2r")
    q = np.array([[0.4, 0.0], [0.4, 1.0], [0.4, math.pi], [0.4, -2.0]])
    assert_allclose(arm.manipulability(q), np.abs(np.sin(q[:, 1])), atol=1e-15)
    assert arm.is_singular(q).tolist() == [True, False, True, False]
    assert arm.analysis.condition_number(q)[0] > 1e15
    report = arm.analysis.singularity([0.4, 0.0])
    assert_allclose(report.lost, [[0, 0, 0, math.cos(0.4), math.sin(0.4), 0]], atol=1e-12)  # along the arm
    assert report.joints == ("joint1", "joint2")
    assert_allclose(report.motion, [-0.5, 1])
    assert "instead of 2" in str(report)
    assert "not singular" in str(arm.analysis.singularity([0.4, 1.0]))


def test_the_task_is_translation_where_it_tells_all_and_the_twist_elsewhere():
    expected = {"planar_2r": 2, "planar_3r": 3, "scara": 4, "cartesian_3p": 3, "ur5": 6, "panda": 6}
    assert {name: cr.load(name).analysis.task_rank() for name in expected} == expected
    assert cr.load("planar_3r").analysis.task_rank(task="position") == 2
    assert cr.load("scara").analysis.task_rank(task="orientation") == 1


@pytest.mark.parametrize(
    ("name", "q", "joints"),
    [
        ("puma560", [0.3, 0.2, 0.4, 0.5, 0.0, 0.6], ("joint4", "joint6")),  # the wrist straight
        ("panda", [0.0] * 7, ("panda_joint1", "panda_joint3")),
        ("ur5", [0.3, -1.0, 0.0, 0.2, 0.4, 0.5], ("shoulder_lift_joint", "elbow_joint", "wrist_1_joint")),
    ],
)
def test_a_singularity_names_the_joints_and_the_direction(name, q, joints):
    robot = cr.load(name)
    report = robot.analysis.singularity(q)
    assert report.singular
    assert report.joints == joints
    J = robot.jacobian(q, frame="world")
    assert_allclose(report.lost @ J, 0, atol=1e-9)  # no joint makes it, and no torque holds it as a wrench
    assert_allclose(J @ report.motion, 0, atol=1e-9)
    assert len(report.lost) == report.full_rank - report.rank


def test_the_condition_number_of_a_singularity_is_not_negative():
    assert cr.load("panda").analysis.condition_number(np.zeros(7)) > 1e15


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("task", TASKS)
def test_manipulability_is_the_product_of_singular_values(name, task):
    robot, q = some(name)
    rank = robot.analysis.task_rank(task=task)
    rows = {"pose": slice(0, 6), "orientation": slice(0, 3), "position": slice(3, 6)}[task]
    J = robot.jacobian(q, frame="world")[:, rows]
    s = np.linalg.svd(J, compute_uv=False)
    assert_allclose(robot.manipulability(q, task=task), s[:, :rank].prod(axis=-1), rtol=1e-8, atol=1e-12)
    assert_allclose(robot.singular_values(q, task=task), s, atol=1e-12)
    if rank == J.shape[1]:
        w = np.sqrt(np.linalg.det(J @ np.swapaxes(J, -1, -2)))
        assert_allclose(robot.manipulability(q, task=task), w, rtol=1e-6)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("task", TASKS)
def test_gradient_of_manipulability_is_that_of_differences(name, task):
    robot, q = some(name)
    near = by_differences(lambda q: robot.manipulability(q, task=task), robot, q)
    assert_allclose(robot.analysis.gradient(q, task=task), near, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_gradient_holds_for_every_joint_kind(seed):
    robot = tree(seed, ["revolute", "spherical", "prismatic", "planar", "helical"])
    q = robot.random_state(np.random.default_rng(seed))
    near = by_differences(robot.manipulability, robot, q)
    assert_allclose(robot.analysis.gradient(q), near, rtol=1e-5, atol=1e-6 * max(1, np.abs(near).max()))


def test_climbing_the_gradient_leaves_a_singularity():
    robot = cr.load("planar_2r")
    q = np.array([0.4, 0.1])
    for _ in range(200):
        q = q + 0.1 * robot.analysis.gradient(q)
    assert q[1] == pytest.approx(math.pi / 2, abs=1e-6)


# --- ellipsoids ---


@pytest.mark.parametrize("task", TASKS)
def test_ellipsoids_of_velocity_and_force_are_inverse(task):
    robot, q = some("ur5")
    velocity, force = (robot.analysis.ellipsoid(q, kind=kind, task=task) for kind in ("velocity", "force"))
    assert_allclose(velocity.lengths * force.lengths, 1, rtol=1e-9)
    rows = {"pose": slice(0, 6), "orientation": slice(0, 3), "position": slice(3, 6)}[task]
    J = robot.jacobian(q, frame="world")[:, rows]
    JJ = J @ np.swapaxes(J, -1, -2)
    A = velocity.axes * velocity.lengths[:, None, :]
    assert_allclose(A @ np.swapaxes(A, -1, -2), JJ, atol=1e-12)
    assert_allclose(velocity.volume, np.sqrt(np.linalg.det(JJ)), rtol=1e-7)
    d = np.random.default_rng(0).normal(size=(6, J.shape[1]))
    unit = d / np.linalg.norm(d, axis=-1, keepdims=True)
    F = unit * force.along(d)[:, None]
    assert_allclose(np.linalg.norm(np.einsum("bij,bi->bj", J, F), axis=-1), 1)  # |J^T F| = 1 on its surface


@pytest.mark.parametrize("name", ["planar_2r", "planar_3r", "scara", "cartesian_3p", "four_bar", "ur5", "panda"])
@pytest.mark.parametrize("task", [None, "position", "pose"])
def test_manipulability_is_the_product_of_the_half_axes_for_the_same_task(name, task):
    """By default too: the robot's own task. Directions in which a planar arm never moves do not count."""
    robot, q = some(name)
    if name == "four_bar":
        q = np.tile(robot.home(), (2, 1))
    ellipsoid = robot.analysis.ellipsoid(q, task=task)
    w = robot.manipulability(q, task=task)
    assert_allclose(ellipsoid.volume, w, rtol=1e-7, atol=1e-12)
    assert_allclose(np.prod(ellipsoid.lengths[..., : ellipsoid.rank], axis=-1), w, rtol=1e-7, atol=1e-12)
    assert_allclose(ellipsoid.lengths[..., ellipsoid.rank :], 0, atol=1e-12)


def test_accelerations_come_from_unit_torques():
    robot, q = some("ur5")
    ellipsoid = robot.analysis.ellipsoid(q, kind="acceleration", task="position")
    A = robot.jacobian(q, frame="world")[:, 3:] @ np.linalg.inv(robot.mass_matrix(q))
    assert_allclose(ellipsoid.lengths, np.linalg.svd(A, compute_uv=False), rtol=1e-9)
    J = robot.jacobian(q, frame="world")
    expected = np.abs(np.linalg.det(J) / np.linalg.det(robot.mass_matrix(q)))
    assert_allclose(robot.analysis.dynamic_manipulability(q), expected, rtol=1e-7)


def test_limits_scale_the_ellipsoids():
    robot, q = some("panda")
    scaled = robot.analysis.ellipsoid(q, kind="velocity", task="position", limits=True)
    J = robot.jacobian(q, frame="world")[:, 3:] * robot.limits.velocity
    assert_allclose(scaled.lengths, np.linalg.svd(J, compute_uv=False))
    with pytest.raises(cr.ModelError, match=r"no velocity limit on 'joint1'.*robot.edit"):
        cr.load("planar_2r").analysis.ellipsoid([0.0, 1.0], limits=True)


# --- pose vectors ---


@pytest.mark.parametrize("order", ORDERS)
def test_pose_vectors_are_scipys_angles_and_their_rates_those_of_differences(order):
    robot, q = some("panda", 40)
    x = robot.textbook.pose_vector(q, order=order)
    name = "xyz" if order == "rpy" else order.upper()
    assert_allclose(x[:, 3:], Rotation.from_matrix(robot.pose(q)[:, :3, :3]).as_euler(name), atol=1e-12)
    assert_allclose(x[:, :3], robot.pose(q)[:, :3, 3])
    J = robot.textbook.analytic_jacobian(q, order=order)
    near = by_differences(lambda q: robot.textbook.pose_vector(q, order=order), robot, q)
    regular = np.abs(near).max(axis=(1, 2)) < 20  # neither jumps by 2 pi nor nearly singular angles
    assert regular.sum() > 25
    assert_allclose(J[regular], near[regular], atol=1e-5)
    assert not robot.textbook.angles_are_singular(q, order=order).any()


@pytest.mark.parametrize("order", ORDERS)
def test_singular_angles_are_told_and_still_give_the_orientation(order):
    again = order[0] == order[2]
    letters = "zyx" if order == "rpy" else order
    turn = Rotation.from_euler(letters.upper(), [0.3, 0.0 if again else math.pi / 2, 0.4])
    T = np.eye(4)
    T[:3, :3] = turn.as_matrix()
    robot = cr.load("pendulum").with_frame("tool", T, link="base")
    assert robot.textbook.angles_are_singular([0.7], "tool", order=order)
    x = robot.textbook.pose_vector([0.7], "tool", order=order)[3:]
    again = Rotation.from_euler("xyz" if order == "rpy" else order.upper(), x)
    assert_allclose(again.as_matrix(), T[:3, :3], atol=1e-9)
    for one in (robot, robot.reference):
        with pytest.raises(
            cr.ShapeError, match=f"the angles '{order}' are singular: .*use another order, or robot.jac"
        ):
            one.textbook.analytic_jacobian([0.7], "tool", order=order)


def test_rates_of_singular_angles_are_refused_by_row():
    arm = cr.load("puma560")
    q = np.stack([arm.home() + 0.1, np.zeros(6), np.full(6, np.nan)])
    with pytest.raises(cr.ShapeError, match=r"are singular in row \(1,\)"):
        arm.textbook.analytic_jacobian(q, order="zyz")
    assert np.isnan(arm.textbook.analytic_jacobian(q[2], order="zyz")).any()


# --- forces ---


def test_power_at_the_tip_is_power_at_the_joints():
    robot, q = some("panda")
    rng = np.random.default_rng(4)
    F, qd = rng.normal(size=(6, 6)), rng.normal(size=(6, 7))
    tau = robot.static_torque(q, F, frame="body")
    assert_allclose((tau * qd).sum(-1), (F * robot.velocity(q, qd, frame="body")).sum(-1))


@pytest.mark.parametrize("frame", ["space", "body", "world"])
def test_balanced_wrench_is_the_one_the_torques_hold(frame):
    robot, q = some("ur5")
    F = np.random.default_rng(5).normal(size=(6, 6))
    tau = robot.gravity_torque(q) + (F[:, None] @ robot.jacobian(q, frame=frame))[:, 0]
    assert_allclose(robot.balanced_wrench(q, tau, frame=frame), F, atol=1e-8)
    redundant, q, tau = cr.load("panda"), np.full(7, 0.3), np.ones(7)
    F = redundant.balanced_wrench(q, tau, frame=frame, gravity=False)
    unbalanced = tau - redundant.static_torque(q, F, frame=frame)
    assert np.abs(unbalanced).max() > 1e-3
    assert_allclose(
        redundant.jacobian(q, frame=frame) @ unbalanced, 0, atol=1e-12
    )  # the nearest that a wrench can come


@pytest.mark.parametrize("gravity", [True, False])
@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_push_capacity_is_the_optimum_of_a_linear_program(name, gravity):
    robot, q = some(name, 12)
    d = np.random.default_rng(6).normal(size=(12, 3))
    ours = robot.analysis.push(q, d, gravity=gravity)
    for k in range(len(q)):
        a = robot.jacobian(q[k], frame="world")[3:].T @ (d[k] / np.linalg.norm(d[k]))
        h = robot.gravity_torque(q[k]) if gravity else np.zeros(robot.nv)
        limit = robot.limits.effort
        best = linprog(
            [-1.0], np.concatenate([a, -a])[:, None], np.concatenate([limit - h, limit + h]), bounds=(0, None)
        )
        assert ours[k] == pytest.approx(-best.fun, rel=1e-7) if best.success else np.isnan(ours[k])


def test_pushing_grows_without_bound_towards_the_singularity():
    arm = cr.load("planar_2r").edit(joints={"*": {"effort": 10.0}})
    bend = np.array([1.0, 0.1, 0.01, 0.0])
    q = np.stack([-bend / 2, bend], axis=-1)  # the tip stays on the x axis
    force = arm.analysis.push(q, [1, 0, 0], gravity=False)
    assert_allclose(force[:3], 10 / np.sin(bend[:3] / 2))  # by hand: the elbow's lever is sin(bend / 2)
    assert force[3] == np.inf


def test_payload_capacity_loads_one_motor_fully_and_none_more():
    robot, q = some("ur5", 30)
    mass = robot.analysis.payload(q, com=[0.02, 0.0, 0.05])
    for state, m in zip(q, mass, strict=True):
        tau = robot.with_payload(float(m), [0.02, 0.0, 0.05]).gravity_torque(state)
        worst = np.max(np.abs(tau) / robot.limits.effort)
        assert worst == pytest.approx(1) if m > 0 else worst > 1
    weak = robot.edit(joints={"*": {"effort": 1.0}})
    assert_allclose(weak.analysis.payload(np.zeros(6)), 0)
    assert np.isnan(weak.analysis.push([0.0, -0.1, 0.2, 0.3, 0.4, 0.5], [1, 0, 0]))


def test_batches_are_loops_and_bad_rows_stay_alone():
    robot, q = some("panda", 12)
    q = q.reshape(3, 4, 7)
    q[1, 2, 3] = np.nan
    d = np.array([0.0, 0.3, -1.0])
    functions = {
        "w": robot.manipulability,
        "gradient": robot.analysis.gradient,
        "condition": robot.analysis.condition_number,
        "push": lambda q: robot.analysis.push(q, d),
        "payload": robot.analysis.payload,
        "rate": lambda q: robot.analysis.resolved_rate(q, np.ones(6)),
        "vector": lambda q: robot.textbook.pose_vector(q, order="zyz"),
        "lengths": lambda q: robot.analysis.ellipsoid(q).lengths,
    }
    for name, function in functions.items():
        whole = function(q)
        for index in np.ndindex(3, 4):
            if index != (1, 2):
                assert_allclose(whole[index], function(q[index]), rtol=1e-9, atol=1e-12, err_msg=name)
                assert np.isfinite(whole[index]).all(), name
        assert np.isnan(whole[1, 2]).any(), name


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.manipulability(np.zeros(7), task="linear"), "no task named 'linear'"),
        (lambda r: r.manipulability(np.zeros(6)), "q must have 7 numbers"),
        (lambda r: r.manipulability(np.zeros(7), "panda_link"), "did you mean"),
        (lambda r: r.manipulability(np.zeros(7), "panda_link0"), "no joint of robot 'panda' moves 'panda_link0'"),
        (lambda r: r.velocity(np.zeros(7), np.zeros(7), frame="tool"), "no frame named 'tool'"),
        (lambda r: r.analysis.resolved_rate(np.zeros(7), np.zeros(3)), r"twist must have 6 numbers"),
        (lambda r: r.analysis.resolved_rate(np.zeros(7), np.zeros(6), damping=-1), "damping must not be negative"),
        (
            lambda r: r.analysis.resolved_acceleration(*np.zeros((2, 7)), np.zeros(3)),
            r"acceleration must have 6 numbers",
        ),
        (
            lambda r: r.analysis.resolved_acceleration(*np.zeros((2, 7)), np.zeros(6), damping=-1),
            "damping must not be negative",
        ),
        (lambda r: r.analysis.resolved_acceleration(*np.zeros((2, 7)), np.zeros(6), frame="tool"), "named 'tool'"),
        (lambda r: r.analysis.resolved_acceleration(*np.zeros((2, 3, 7)), np.zeros((2, 6))), "do not fit together"),
        (lambda r: r.is_singular(np.zeros(7), tolerance=2), "tolerance must be at least 0"),
        (lambda r: r.analysis.singularity(np.zeros((2, 7))), "takes one configuration"),
        (lambda r: r.analysis.ellipsoid(np.zeros(7), kind="speed"), "no kind of ellipsoid named 'speed'"),
        (lambda r: r.textbook.pose_vector(np.zeros(7), order="xxy"), "no order of angles named 'xxy'"),
        (lambda r: r.compiled.kernel("textbook.pose_vector", order="abc"), "no order of angles"),
        (lambda r: cr.load("four_bar").compiled.kernel("manipulability"), "it is no single kernel"),
        (lambda r: r.analysis.push(np.zeros(7), [0, 0, 0]), "direction must not be zero"),
        (lambda r: r.analysis.push(np.zeros((3, 7)), np.ones((2, 3))), "do not fit together"),
        (lambda r: r.edit(gravity=[0, 0, 0]).analysis.payload(np.zeros(7)), "feels no gravity"),
        (lambda r: cr.load("planar_2r").analysis.payload([0, 0]), "no effort limits.*robot.edit"),
        (lambda r: cr.load("four_bar").analysis.gradient(np.zeros(3)), "has closed loops"),
        (lambda r: r.analysis.resolved_rate(np.zeros((3, 7)), np.zeros((2, 6))), "do not fit together"),
        (
            lambda r: r.analysis.resolved_rate(np.zeros((3, 7)), np.zeros(6), null_velocity=np.zeros((2, 7))),
            "do not fit together",
        ),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(cr.ChainruleError, match=message):
        call(cr.load("panda"))
