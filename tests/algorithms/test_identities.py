"""Identities that hold for every robot, on random trees that use every kind of joint."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import KINDS, state, tree

from chainrule.algorithms import rnea

pytestmark = pytest.mark.interpreted

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=12)
STEP = 1e-6


def along(robot, function, q, v):
    """The derivative of a function of q along the velocity v."""
    return (function(robot.integrate(q, STEP * v)) - function(robot.integrate(q, -STEP * v))) / (2 * STEP)


@given(SEEDS)
@few
def test_forward_dynamics_undoes_inverse_dynamics_with_wrenches_friction_rotors_and_springs(seed):
    robot = tree(seed)
    q, qd, qdd = state(robot, seed)
    rng = np.random.default_rng(seed)
    loads = {
        "tip_wrench": rng.normal(size=6),
        "external": {"link3": rng.normal(size=6), "tool": rng.normal(size=6)},
        "frame": "body",
    }
    tau = robot.inverse_dynamics(q, qd, qdd, **loads)
    assert_allclose(robot.forward_dynamics(q, qd, tau, **loads), qdd, rtol=1e-9, atol=1e-9)


@given(SEEDS)
@few
def test_articulated_bodies_give_the_same_without_mimics(seed):
    robot = tree(seed, mimic=False)
    q, qd, qdd = state(robot, seed)
    assert not robot.model.has_mimics
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=1e-9, atol=1e-9)
    assert_allclose(robot.mass_matrix(q) @ robot.analysis.apply_inverse_mass(q, tau), tau, rtol=1e-9, atol=1e-9)


@given(SEEDS)
@few
def test_the_torque_is_mass_matrix_times_acceleration_plus_bias(seed):
    robot = tree(seed)
    q, qd, qdd = state(robot, seed)
    M = robot.mass_matrix(q)
    assert_allclose(M @ qdd + robot.bias(q, qd), robot.inverse_dynamics(q, qd, qdd), rtol=1e-10, atol=1e-10)
    assert_allclose(M, M.T, atol=0)
    assert np.linalg.eigvalsh(M)[0] > 0


@given(SEEDS)
@few
def test_columns_of_the_mass_matrix_are_inverse_dynamics_of_unit_accelerations(seed):
    robot = tree(seed).edit(gravity=[0, 0, 0]).without_spring()
    q, _, _ = state(robot, seed)
    zero = np.zeros(robot.nv)
    columns = robot.inverse_dynamics(q, zero, np.eye(robot.nv))
    assert_allclose(columns, robot.mass_matrix(q), rtol=1e-10, atol=1e-10)


@given(SEEDS)
@few
def test_mass_matrix_rate_less_twice_coriolis_is_skew(seed):
    robot = tree(seed)
    q, qd, _ = state(robot, seed)
    skew = along(robot, robot.mass_matrix, q, qd) - 2 * robot.coriolis_matrix(q, qd)
    assert_allclose(skew, -skew.T, atol=1e-6 * np.abs(skew).max())


@given(SEEDS)
@few
def test_bias_is_coriolis_gravity_springs_and_friction(seed):
    robot = tree(seed)
    q, qd, _ = state(robot, seed)
    parts = robot.coriolis_matrix(q, qd) @ qd + robot.gravity_torque(q) + robot.spring_torque(q)
    assert_allclose(parts + robot.friction_torque(qd), robot.bias(q, qd), rtol=1e-9, atol=1e-9)


@given(SEEDS)
@few
def test_torque_terms_sum_to_the_torque_and_scale_with_speed_as_they_should(seed):
    robot = tree(seed)
    q, qd, qdd = state(robot, seed)
    terms = robot.torque_terms(q, qd, qdd)
    total = terms.pop("total")
    assert_allclose(sum(terms.values()), total, rtol=1e-10, atol=1e-10)
    assert_allclose(total, robot.inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-9)
    one = np.zeros(robot.nv)
    one[0] = qd[0]
    assert_allclose(robot.torque_terms(q, one, qdd)["coriolis"], 0, atol=1e-10)


@given(SEEDS)
@few
def test_power_in_is_energy_gained(seed):
    robot = tree(seed)
    q, qd, qdd = state(robot, seed)
    power = robot.inverse_dynamics(q, qd, qdd) @ qd

    def energy(s):
        at, speed = robot.integrate(q, s * qd), qd + s * qdd
        return robot.kinetic_energy(at, speed) + robot.potential_energy(at)

    gained = (energy(STEP) - energy(-STEP)) / (2 * STEP)
    lost = robot.friction_torque(qd) @ qd
    assert_allclose(gained + lost, power, rtol=1e-6, atol=1e-6)


@given(SEEDS)
@few
def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(seed):
    robot = tree(seed)
    q, qd, _ = state(robot, seed)
    assert_allclose(robot.kinetic_energy(q, qd), qd @ robot.mass_matrix(q) @ qd / 2, rtol=1e-10)


@given(SEEDS)
@few
def test_gravity_torque_is_the_gradient_of_potential_energy(seed):
    robot = tree(seed).without_spring()
    q, _, _ = state(robot, seed)
    gradient = [along(robot, robot.potential_energy, q, e) for e in np.eye(robot.nv)]
    assert_allclose(gradient, robot.gravity_torque(q), rtol=1e-6, atol=1e-6)


@given(SEEDS)
@few
def test_spring_torque_is_the_gradient_of_their_energy(seed):
    robot = tree(seed).edit(gravity=[0, 0, 0])
    q, _, _ = state(robot, seed)
    gradient = [along(robot, robot.potential_energy, q, e) for e in np.eye(robot.nv)]
    assert_allclose(gradient, robot.spring_torque(q), rtol=1e-6, atol=1e-6)


@given(SEEDS, st.sampled_from(["space", "body", "world"]))
@few
def test_jacobian_derivative_is_the_rate_of_the_jacobian(seed, frame):
    robot = tree(seed)
    q, qd, _ = state(robot, seed)
    rate = along(robot, lambda x: robot.jacobian(x, frame=frame), q, qd)
    assert_allclose(robot.jacobian_dot(q, qd, frame=frame), rate, rtol=1e-6, atol=1e-6)


@given(SEEDS)
@few
def test_the_three_jacobians_are_one_twist_in_three_frames(seed):
    robot = tree(seed)
    q, qd, _ = state(robot, seed)
    T = robot.pose(q)
    R, p = T[:3, :3], T[:3, 3]
    space, body, world = (robot.jacobian(q, frame=frame) @ qd for frame in ("space", "body", "world"))
    assert_allclose(space[:3], R @ body[:3], atol=1e-10)
    assert_allclose(space[3:], R @ body[3:] + np.cross(p, R @ body[:3]), atol=1e-10)
    assert_allclose(world, np.concatenate([R @ body[:3], R @ body[3:]]), atol=1e-10)
    rate = along(robot, lambda x: robot.pose(x)[:3, 3], q, qd)
    assert_allclose(world[3:], rate, rtol=1e-6, atol=1e-6)


@given(SEEDS)
@few
def test_analytic_jacobian_gives_the_rates_of_the_pose_vector(seed):
    from chainrule.spatial import Transform

    robot = tree(seed)
    q, qd, _ = state(robot, seed)

    def vector(x):
        T = Transform.of(robot.pose(x).tolist())
        return np.array([*T.translation, *T.rotation.rpy()])

    if abs(np.cos(vector(q)[4])) > 0.1:
        rate = along(robot, vector, q, qd)
        assert_allclose(robot.textbook.analytic_jacobian(q) @ qd, rate, rtol=1e-5, atol=1e-5)


@given(SEEDS)
@few
def test_twists_and_accelerations_are_those_of_the_jacobians(seed):
    robot = tree(seed)
    q, qd, qdd = state(robot, seed)
    V, A = robot.velocities(q, qd), robot.accelerations(q, qd, qdd)
    for i, link in enumerate(robot.link_names):
        J, dJ = robot.jacobian(q, link), robot.jacobian_dot(q, qd, link)
        assert_allclose(V[i], J @ qd, atol=1e-9)
        assert_allclose(A[i], J @ qdd + dJ @ qd, rtol=1e-9, atol=1e-8)


@given(SEEDS)
@few
def test_the_vector_form_and_the_closed_matrix_form_agree_with_the_recursion(seed):
    robot = tree(seed)
    q, qd, qdd = state(robot, seed)
    tau = np.array(rnea.inverse_dynamics(robot.model, q.tolist(), qd.tolist(), qdd.tolist()))
    assert_allclose(robot.inverse_dynamics(q, qd, qdd), tau, rtol=1e-9, atol=1e-9)
    table = robot.textbook.newton_euler_table(q, qd, qdd)
    assert_allclose(table.tau, tau, rtol=1e-9, atol=1e-9)
    form = robot.textbook.matrix_form(q, qd)
    drives = robot.friction_torque(qd) + robot.spring_torque(q)
    assert_allclose(form.M @ qdd + form.C @ qd + form.g + drives, tau, rtol=1e-9, atol=1e-9)
    assert_allclose(form.M, robot.mass_matrix(q), rtol=1e-9, atol=1e-9)
    assert_allclose(form.L @ (np.eye(len(form.A)) - form.A), np.eye(len(form.A)), atol=1e-8)
    assert_allclose(form.J, form.L @ form.S, atol=1e-9)
    assert_allclose(form.J.T @ form.inertia @ form.J + form.rotors, form.M, rtol=1e-9, atol=1e-9)


@given(SEEDS)
@few
def test_newton_euler_rows_are_the_joint_wrenches_and_the_link_motions(seed):
    robot = tree(seed, [k for k in KINDS if k != "fixed"])
    q, qd, qdd = state(robot, seed)
    table = robot.textbook.newton_euler_table(q, qd, qdd)
    V = robot.velocities(q, qd, frame="body")[1:]
    joints = [joint.name for joint in robot.model.joints]
    W = robot.joint_wrenches(q, qd, qdd, joints=joints, frame="body")
    assert_allclose(table.omega, V[:, :3], atol=1e-9)
    assert_allclose(np.concatenate([table.n, table.f], axis=-1), W, rtol=1e-8, atol=1e-8)


@given(SEEDS)
@few
def test_momentum_and_centre_of_mass(seed):
    robot = tree(seed)
    q, qd, _ = state(robot, seed)
    c = robot.center_of_mass(q)
    h, centroidal = robot.momentum(q, qd), robot.centroidal.momentum(q, qd)
    assert_allclose(
        robot.centroidal.com_jacobian(q) @ qd, along(robot, robot.center_of_mass, q, qd), rtol=1e-6, atol=1e-6
    )
    assert_allclose(h[3:], robot.mass * (robot.centroidal.com_jacobian(q) @ qd), rtol=1e-9, atol=1e-9)
    assert_allclose(centroidal[:3], h[:3] - np.cross(c, h[3:]), rtol=1e-9, atol=1e-9)
    assert_allclose(robot.centroidal.matrix(q) @ qd, centroidal, rtol=1e-9, atol=1e-9)


@given(SEEDS)
@few
def test_static_torque_is_what_a_wrench_adds_to_inverse_dynamics(seed):
    robot = tree(seed)
    q, qd, qdd = state(robot, seed)
    F = np.random.default_rng(seed).normal(size=6)
    added = robot.inverse_dynamics(q, qd, qdd, tip_wrench=F, frame="body") - robot.inverse_dynamics(q, qd, qdd)
    assert_allclose(added, robot.static_torque(q, F, frame="body"), rtol=1e-8, atol=1e-8)
    by_world = robot.inverse_dynamics(q, qd, qdd, external={"tool": -F}, frame="body")
    assert_allclose(by_world, robot.inverse_dynamics(q, qd, qdd, tip_wrench=F, frame="body"), atol=1e-10)


@given(SEEDS)
@few
def test_joint_wrenches_project_to_the_torque(seed):
    robot = tree(seed, ["revolute", "prismatic", "helical", "revolute", "fixed"], drives=False, mimic=False)
    q, qd, qdd = state(robot, seed)
    W = robot.joint_wrenches(q, qd, qdd, frame="body")
    axes = [next(iter(body.at(q.tolist()).S))[1] for body in robot.model.bodies if body.joint.kind.nv]
    assert_allclose(
        [np.dot(list(S), F) for S, F in zip(axes, W, strict=True)], robot.inverse_dynamics(q, qd, qdd), atol=1e-9
    )


@given(SEEDS)
@few
def test_integrate_and_difference_are_inverse_on_the_manifold(seed):
    robot = tree(seed)
    q, v, _ = state(robot, seed)
    v = np.tanh(v)  # turns by less than pi: beyond, the shorter way round is the difference
    reached = robot.integrate(q, v)
    assert_allclose(robot.difference(q, reached), v, atol=1e-8)
    other = robot.random_state(np.random.default_rng(seed + 1))
    back = robot.integrate(q, robot.difference(q, other))
    assert_allclose(robot.poses(back), robot.poses(other), atol=1e-8)


@given(SEEDS, st.sampled_from([(), (1,), (3,), (2, 3), (0,), (2, 0, 3)]))
@few
def test_a_batch_gives_what_its_states_give_one_by_one(seed, shape):
    robot = tree(seed)
    q, qd, qdd = state(robot, seed, shape)
    batch = robot.inverse_dynamics(q, qd, qdd), robot.forward_dynamics(q, qd, qdd), robot.mass_matrix(q), robot.poses(q)
    assert batch[0].shape == (*shape, robot.nv)
    assert batch[3].shape == (*shape, len(robot.link_names), 4, 4)
    for index in np.ndindex(*shape):
        one = q[index], qd[index], qdd[index]
        assert_allclose(batch[0][index], robot.inverse_dynamics(*one), rtol=1e-11, atol=1e-11)
        assert_allclose(batch[1][index], robot.forward_dynamics(*one), rtol=1e-9, atol=1e-9)
        assert_allclose(batch[2][index], robot.mass_matrix(one[0]), rtol=1e-11, atol=1e-11)
        assert_allclose(batch[3][index], robot.poses(one[0]), rtol=1e-11, atol=1e-11)


def test_arguments_broadcast_against_each_other():
    robot = tree(1)
    q, qd, qdd = state(robot, 1)
    many = np.stack([qdd, 2 * qdd, 3 * qdd])[:, None]
    result = robot.inverse_dynamics(q, np.stack([qd, -qd]), many)
    assert result.shape == (3, 2, robot.nv)
    assert_allclose(result[2, 1], robot.inverse_dynamics(q, -qd, 3 * qdd))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_state_that_is_not_finite_spoils_its_own_row_only(bad):
    robot = tree(2)
    q, qd, qdd = state(robot, 2, (4,))
    clean = robot.inverse_dynamics(q, qd, qdd)
    q[1, 0] = bad
    for function in (robot.inverse_dynamics, robot.forward_dynamics):
        spoiled = function(q, qd, qdd)
        assert not np.isfinite(spoiled[1]).all()
        assert np.isfinite(spoiled[[0, 2, 3]]).all()
    assert_allclose(robot.inverse_dynamics(q, qd, qdd)[[0, 2, 3]], clean[[0, 2, 3]])
    assert not np.isfinite(robot.inverse_dynamics(q[1], qd[1], qdd[1])).all()


@given(SEEDS)
@few
def test_frames_change_nothing_a_turned_base_turns_gravity_with_it(seed):
    """Mount a robot on a turned base: with gravity as seen from there, torques are the same."""
    from chainrule.model import edits

    robot = tree(seed)
    q, qd, qdd = state(robot, seed)
    turn = np.eye(4)
    turn[:3, :3] = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    turn[:3, 0] *= np.sign(np.linalg.det(turn[:3, :3]))
    turn[:3, 3] = [1, 2, 3]
    stand = type(robot)(edits.Model.build("stand", [edits.Link("floor")], []))
    mounted = stand.attach(robot, "floor", origin=turn).edit(gravity=turn[:3, :3] @ robot.gravity)
    assert_allclose(mounted.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), rtol=1e-8, atol=1e-8)
    assert_allclose(mounted.pose(q), turn @ robot.pose(q), rtol=1e-8, atol=1e-8)
