"""Inverse and related functions agree in sign, frame and shape, with no option named and with every frame.

A pair is a check on a robot and a state. Each is held for arms, floating bases, closed loops and random trees of every
joint kind; for one state of some, and for a batch of others.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from surface import functions
from trees import looped, state, tree

import chainrule as cr

FRAMES = ("world", "body", "space")
STEP = 1e-6
PAIRS = {}
LOOPED = {}


def pair(check):
    PAIRS[check.__name__] = check
    return check


def of_loops(check):
    LOOPED[check.__name__] = check
    return check


def close(a, b, tolerance=1e-9):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    assert np.abs(a - b).max(initial=0.0) <= tolerance * (1 + np.abs(b).max(initial=0.0))


def along(robot, q, v, function):
    """The rate of a function of q along v, by central differences on the manifold."""
    ahead, behind = (function(robot.integrate(q, sign * STEP * v)) for sign in (1, -1))
    return (np.asarray(ahead) - np.asarray(behind)) / (2 * STEP)


def by_q(robot, q, function):
    """The derivative of a function by each velocity of q, the last axis."""
    columns = [along(robot, q, np.broadcast_to(unit, (*q.shape[:-1], robot.nv)), function) for unit in np.eye(robot.nv)]
    return np.stack(columns, axis=-1)


def vector(x):
    """The vector of a skew-symmetric matrix (..., 3, 3)."""
    return np.stack([x[..., 2, 1], x[..., 0, 2], x[..., 1, 0]], axis=-1)


def named(robot):
    """Links and frames to ask for: the end-effector where none is named, a link in the middle, the first one."""
    return (None, robot.link_names[len(robot.link_names) // 2], robot.link_names[-1])


def in_axes(T, twist, frame):
    """A twist, or a wrench by its two vectors about the frame's origin, from "world" to the axes of another frame."""
    if frame != "body":
        return twist
    turned = np.swapaxes(T[..., :3, :3], -1, -2)
    return np.concatenate([(turned @ x[..., None])[..., 0] for x in (twist[..., :3], twist[..., 3:])], axis=-1)


def wrench_in(T, wrench, frame):
    if frame != "space":
        return in_axes(T, wrench, frame)
    moment, force = wrench[..., :3], wrench[..., 3:]
    return np.concatenate([moment + np.cross(T[..., :3, 3], force), force], axis=-1)


def velocity_in(T, twist, frame):
    if frame != "space":
        return in_axes(T, twist, frame)
    omega, v = twist[..., :3], twist[..., 3:]
    return np.concatenate([omega, v + np.cross(T[..., :3, 3], omega)], axis=-1)


def times(A, x):
    return (A @ np.asarray(x)[..., None])[..., 0]


# --- kinematics ---


@pair
def plurals_are_the_same_quantity_of_all_links(robot, q, qd, qdd, F):
    for k, link in enumerate(robot.link_names):
        close(robot.poses(q)[..., k, :, :], robot.pose(q, link))
        for frame in FRAMES:
            close(robot.velocities(q, qd, frame=frame)[..., k, :], robot.velocity(q, qd, link, frame=frame))
            for gravity in (False, True):
                options = {"frame": frame, "gravity": gravity}
                close(
                    robot.accelerations(q, qd, qdd, **options)[..., k, :],
                    robot.acceleration(q, qd, qdd, link, **options),
                )


@pair
def no_link_is_the_end_effector_and_no_frame_is_world(robot, q, qd, qdd, F):
    tip, frame = robot.end_effector, "world"
    close(robot.pose(q), robot.pose(q, tip))
    close(robot.jacobian(q), robot.jacobian(q, tip, frame=frame))
    close(robot.jacobian_dot(q, qd), robot.jacobian_dot(q, qd, tip, frame=frame))
    close(robot.jacobian_dq(q), robot.jacobian_dq(q, tip, frame=frame))
    close(robot.velocity(q, qd), robot.velocity(q, qd, tip, frame=frame))
    close(robot.velocities(q, qd), robot.velocities(q, qd, frame=frame))
    close(robot.acceleration(q, qd, qdd), robot.acceleration(q, qd, qdd, tip, frame=frame))
    close(robot.accelerations(q, qd, qdd), robot.accelerations(q, qd, qdd, frame=frame))
    close(robot.static_torque(q, F), robot.static_torque(q, F, tip, frame=frame))
    close(robot.joint_wrenches(q, qd, qdd), robot.joint_wrenches(q, qd, qdd, frame=frame))
    close(
        robot.inverse_dynamics(q, qd, qdd, tip_wrench=F), robot.inverse_dynamics(q, qd, qdd, tip_wrench=F, frame=frame)
    )


@pair
def velocity_is_jacobian_times_qd(robot, q, qd, qdd, F):
    for link in named(robot):
        for frame in FRAMES:
            close(times(robot.jacobian(q, link, frame=frame), qd), robot.velocity(q, qd, link, frame=frame))


@pair
def velocity_is_the_rate_of_the_pose(robot, q, qd, qdd, F):
    for link in named(robot):
        T, rate = robot.pose(q, link), along(robot, q, qd, lambda x, link=link: robot.pose(x, link))
        omega = vector(rate[..., :3, :3] @ np.swapaxes(T[..., :3, :3], -1, -2))
        close(np.concatenate([omega, rate[..., :3, 3]], axis=-1), robot.velocity(q, qd, link), 1e-6)


@pair
def frames_of_a_velocity_are_one_velocity(robot, q, qd, qdd, F):
    for link in named(robot):
        T, V = robot.pose(q, link), robot.velocity(q, qd, link)
        for frame in FRAMES:
            close(velocity_in(T, V, frame), robot.velocity(q, qd, link, frame=frame))


@pair
def acceleration_is_the_rate_of_the_velocity(robot, q, qd, qdd, F):
    for link in named(robot):
        for frame in ("world", "space"):
            ahead, behind = (
                robot.velocity(robot.integrate(q, s * qd + s * s / 2 * qdd), qd + s * qdd, link, frame=frame)
                for s in (STEP, -STEP)
            )
            found = robot.acceleration(q, qd, qdd, link, frame=frame)
            close((ahead - behind) / (2 * STEP), found, 1e-5)
            J, J_dot = robot.jacobian(q, link, frame=frame), robot.jacobian_dot(q, qd, link, frame=frame)
            close(times(J, qdd) + times(J_dot, qd), found)
        T = robot.pose(q, link)
        close(
            in_axes(T, robot.acceleration(q, qd, qdd, link), "body"), robot.acceleration(q, qd, qdd, link, frame="body")
        )


@pair
def an_accelerometer_reads_gravity_too(robot, q, qd, qdd, F):
    up = np.concatenate([np.zeros(3), -robot.gravity])
    close(robot.acceleration(q, qd, qdd, gravity=True), robot.acceleration(q, qd, qdd) + up)


@pair
def dot_is_the_rate_and_dq_the_derivative_by_q(robot, q, qd, qdd, F):
    for link in named(robot):
        for frame in FRAMES:
            J = lambda x, link=link, frame=frame: robot.jacobian(x, link, frame=frame)  # noqa: E731
            J_dq, J_dot = robot.jacobian_dq(q, link, frame=frame), robot.jacobian_dot(q, qd, link, frame=frame)
            close(by_q(robot, q, J), J_dq, 1e-6)
            close(times(J_dq, qd[..., None, :]), J_dot)
    own = robot.derivatives
    close(by_q(robot, q, robot.mass_matrix), own.mass_matrix_dq(q), 1e-6)
    close(times(own.mass_matrix_dq(q), qd[..., None, :]), own.mass_matrix_dot(q, qd))
    close(by_q(robot, q, robot.gravity_torque), own.gravity_torque_dq(q), 1e-6)
    close(by_q(robot, q, robot.potential_energy), own.potential_energy_dq(q), 1e-6)


@pair
def integrate_and_difference(robot, q, qd, qdd, F):
    close(robot.difference(q, robot.integrate(q, 0.1 * qd)), 0.1 * qd, 1e-8)
    rate = (robot.integrate(q, STEP * qd) - robot.integrate(q, -STEP * qd)) / (2 * STEP)
    close(robot.states.coordinate_rates(q, qd), rate, 1e-7)


# --- wrenches ---


@pair
def static_torque_is_jacobian_transposed_times_the_wrench(robot, q, qd, qdd, F):
    for link in named(robot):
        for frame in FRAMES:
            J = robot.jacobian(q, link, frame=frame)
            close(times(np.swapaxes(J, -1, -2), F), robot.static_torque(q, F, link, frame=frame))


@pair
def frames_of_a_wrench_are_one_wrench(robot, q, qd, qdd, F):
    for link in named(robot):
        T = robot.pose(q, link)
        for frame in FRAMES:
            close(robot.static_torque(q, wrench_in(T, F, frame), link, frame=frame), robot.static_torque(q, F, link))
            power = np.sum(wrench_in(T, F, frame) * robot.velocity(q, qd, link, frame=frame), axis=-1)
            close(power, np.sum(F * robot.velocity(q, qd, link), axis=-1))


@pair
def balanced_wrench_is_the_inverse_of_static_torque(robot, q, qd, qdd, F):
    for frame in FRAMES:
        rest = robot.gravity_torque(q) + robot.spring_torque(q)
        tau = rest + robot.static_torque(q, F, frame=frame)
        J = robot.jacobian(q, frame=frame)
        found = robot.balanced_wrench(q, tau, frame=frame)
        if robot.nv >= 6 and np.linalg.matrix_rank(J, tol=1e-3).min() == 6:
            close(found, F, 1e-7)
        elif robot.nv <= 6 and np.linalg.matrix_rank(J, tol=1e-3).min() == robot.nv:
            close(times(np.swapaxes(J, -1, -2), found), tau - rest, 1e-7)


@pair
def what_acts_on_a_link_relieves_the_joints(robot, q, qd, qdd, F):
    still = robot.inverse_dynamics(q, qd, qdd)
    for link in named(robot)[1:]:
        for frame in FRAMES:
            pushed = robot.inverse_dynamics(q, qd, qdd, external={link: F}, frame=frame)
            close(pushed, still - robot.static_torque(q, F, link, frame=frame))
    for frame in FRAMES:
        pushing = robot.inverse_dynamics(q, qd, qdd, tip_wrench=F, frame=frame)
        close(pushing, still + robot.static_torque(q, F, frame=frame))


@pair
def a_tip_wrench_is_what_acts_on_the_tip_reversed(robot, q, qd, qdd, F):
    """Every function that takes both."""
    state = {"q": q, "qd": qd, "qdd": qdd, "tau": qdd, "vector": qd}
    seen, left_out = set(), ONE_STATE | (NOT_ABOUT_THE_BASE if robot.nv > 10 else set())  # those take long
    for name, function in functions(robot):
        taken = inspect.signature(function).parameters
        if {"tip_wrench", "external"} <= set(taken) and set(taken) & set(state) and name not in left_out:
            arguments = {key: value for key, value in state.items() if key in taken}
            for frame in FRAMES if name not in NOT_ABOUT_THE_BASE else FRAMES[:2]:
                tip = function(**arguments, tip_wrench=F, frame=frame)
                outer = function(**arguments, external={robot.end_effector: -F}, frame=frame)
                for a, b in zip(arrays(tip), arrays(outer), strict=True):
                    close(a, b)
            seen.add(name)
    assert {"inverse_dynamics", "forward_dynamics", "bias", "torque_terms", "joint_wrenches"} <= seen


ONE_STATE = {
    "textbook.newton_euler_table", "textbook.rnea_table", "textbook.dae", "textbook.free_body", "loops.torques",
}  # fmt: skip
"""Functions with results that are no arrays, or of loops alone."""

NOT_ABOUT_THE_BASE = {"inverse_dynamics_derivatives", "forward_dynamics_derivatives", "derivatives.second"}
"""Functions that refuse wrenches about the origin of the base, which change as the link moves."""


def arrays(result):
    if isinstance(result, dict):
        return list(result.values())
    if isinstance(result, np.ndarray):
        return [result]
    return [part for part in (getattr(result, name) for name in result.__match_args__) if isinstance(part, np.ndarray)]


@pair
def joint_wrenches_are_one_wrench_in_every_frame(robot, q, qd, qdd, F):
    world = robot.joint_wrenches(q, qd, qdd)
    names = [joint.name for joint in robot.model.joints]
    assert world.shape[-2:] == (len(robot.joint_names), 6)
    children = {joint.name: joint.child for joint in robot.model.joints}
    assert set(robot.joint_names) <= set(names)
    for frame in FRAMES:
        found = robot.joint_wrenches(q, qd, qdd, frame=frame)
        for k, joint in enumerate(robot.joint_names):
            close(wrench_in(robot.pose(q, children[joint]), world[..., k, :], frame), found[..., k, :])


# --- dynamics ---


@pair
def inverse_and_forward_dynamics(robot, q, qd, qdd, F):
    link = robot.link_names[-1]
    for options in (
        {},
        {"tip_wrench": F},
        {"external": {link: F}, "frame": "body"},
        {"tip_wrench": F, "frame": "space"},
    ):
        close(robot.forward_dynamics(q, qd, robot.inverse_dynamics(q, qd, qdd, **options), **options), qdd, 1e-6)


@pair
def torques_are_the_sum_of_their_causes(robot, q, qd, qdd, F):
    tau = robot.inverse_dynamics(q, qd, qdd)
    M, C, g = robot.mass_matrix(q), robot.coriolis_matrix(q, qd), robot.gravity_torque(q)
    friction, springs = robot.friction_torque(qd, q), robot.spring_torque(q)
    close(times(M, qdd) + times(C, qd) + g + friction + springs, tau)
    close(robot.bias(q, qd), tau - times(M, qdd))
    terms = robot.torque_terms(q, qd, qdd, tip_wrench=F)
    close(terms["total"], robot.inverse_dynamics(q, qd, qdd, tip_wrench=F))
    close(sum(value for name, value in terms.items() if name != "total"), terms["total"])
    close(robot.analysis.apply_inverse_mass(q, times(M, qdd)), qdd, 1e-6)


@pair
def coriolis_matrix_does_no_work(robot, q, qd, qdd, F):
    skew = robot.derivatives.mass_matrix_dot(q, qd) - 2 * robot.coriolis_matrix(q, qd)
    close(np.einsum("...i,...ij,...j", qd, skew, qd), np.zeros(q.shape[:-1]), 1e-8)


@pair
def energies_and_their_rates(robot, q, qd, qdd, F):
    M = robot.mass_matrix(q)
    close(robot.kinetic_energy(q, qd), np.einsum("...i,...ij,...j", qd, M, qd) / 2)
    fall = along(robot, q, qd, robot.potential_energy)
    close(fall, np.sum((robot.gravity_torque(q) + robot.spring_torque(q)) * qd, axis=-1), 1e-5)
    close(robot.derivatives.potential_energy_dq(q), robot.gravity_torque(q) + robot.spring_torque(q))


@pair
def momentum_and_the_center_of_mass(robot, q, qd, qdd, F):
    com, v = robot.center_of_mass(q), times(robot.centroidal.com_jacobian(q), qd)
    close(along(robot, q, qd, robot.center_of_mass), v, 1e-6)
    P, about = robot.momentum(q, qd), robot.centroidal.momentum(q, qd)
    close(P[..., 3:], robot.mass * v)
    close(about[..., 3:], P[..., 3:])
    close(about[..., :3], P[..., :3] - np.cross(com, P[..., 3:]))
    close(times(robot.centroidal.matrix(q), qd), about)


@pair
def derivatives_by_name_are_those_of_the_function(robot, q, qd, qdd, F):
    found = robot.inverse_dynamics_derivatives(q, qd, qdd)
    close(by_q(robot, q, lambda x: robot.inverse_dynamics(x, qd, qdd)), found.dq, 1e-5)
    close(found.dqdd, robot.mass_matrix(q))
    tau = robot.inverse_dynamics(q, qd, qdd)
    own = robot.forward_dynamics_derivatives(q, qd, tau)
    close(own.dtau @ robot.mass_matrix(q), np.broadcast_to(np.eye(robot.nv), own.dtau.shape), 1e-6)
    close(own.dq, -own.dtau @ found.dq, 1e-6)


@pair
def torques_are_linear_in_the_parameters(robot, q, qd, qdd, F):
    own = robot.parameters
    assert own.values.shape == (len(own.names),)
    close(times(own.regressor(q, qd, qdd), own.values), robot.inverse_dynamics(q, qd, qdd))


@pair
def states_by_name(robot, q, qd, qdd, F):
    close(robot.q(robot.states.by_name(q)), q)
    close(robot.qd(robot.states.by_name(qd)), qd)
    assert len(robot.coordinate_names) == robot.nq
    assert len(robot.velocity_names) == robot.nv


# --- closed loops ---


@of_loops
def residual_and_its_jacobian(robot, q, qd, qdd, F):
    close(robot.loops.residual(q), np.zeros((*q.shape[:-1], robot.loops.residual(q).shape[-1])), 1e-7)
    close(by_q(robot, q, robot.loops.residual), robot.loops.jacobian(q), 1e-6)


@of_loops
def consistent_motions_keep_the_loops_closed(robot, q, qd, qdd, F):
    G = robot.loops.jacobian(q)
    close(times(G, qd), np.zeros(G.shape[:-1]), 1e-8)
    close(times(G, qdd) + robot.loops.velocity_terms(q, qd), np.zeros(G.shape[:-1]), 1e-7)


@of_loops
def forces_of_the_loops_complete_the_equations_of_the_tree(robot, q, qd, qdd, F):
    tau = robot.inverse_dynamics(q, qd, qdd)
    h = times(robot.coriolis_matrix(q, qd), qd) + robot.gravity_torque(q) + robot.friction_torque(qd, q)
    tree = times(robot.mass_matrix(q), qdd) + h + robot.spring_torque(q)
    G = robot.loops.jacobian(q)
    left = np.swapaxes(G, -1, -2)
    push, *_ = np.linalg.lstsq(left, tree - tau, rcond=None)
    close(left @ push, tree - tau, 1e-7)
    close(robot.forward_dynamics(q, qd, tau), qdd, 1e-6)
    close(robot.loops.forces(q, qd, tau), robot.loops.motion_forces(q, qd, qdd), 1e-6)
    close(robot.loops.torques(q, qd, qdd).tau, tau)


# --- the robots ---

ROBOTS = {
    "planar_2r": lambda: cr.load("planar_2r"),
    "scara": lambda: cr.load("scara"),
    "ur5": lambda: cr.load("ur5"),
    "panda": lambda: cr.load("panda"),
    "quadruped": lambda: cr.load("quadruped").with_end_effector("HR_FOOT"),
    "tree 1": lambda: tree(1),
    "tree 2": lambda: tree(2),
    "small tree": lambda: tree(3, ("revolute", "helical", "spherical", "fixed")),
}


BATCHED = {"planar_2r", "panda", "tree 1"}


@pytest.mark.both_paths
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", PAIRS)
def test_pair(name, robot, path):
    shape = (2,) if robot in BATCHED else ()
    own = ROBOTS[robot]()
    own = own.reference if path == "reference" else own
    rng = np.random.default_rng(7)
    PAIRS[name](own, *state(own, 5, shape), rng.normal(size=(*shape, 6)))


@pytest.mark.both_paths
@pytest.mark.parametrize("robot", ["four_bar", "five_bar", "tree"])
@pytest.mark.parametrize("name", LOOPED)
def test_pair_of_closed_loops(name, robot, path):
    if robot == "tree":
        own, q = looped(11, names=("revolute", "universal", "prismatic", "spherical"))
    else:
        own = cr.load(robot)
        q = own.loops.close(own.home())
    own = own.reference if path == "reference" else own
    rng = np.random.default_rng(2)
    qd = own.loops.consistent_velocity(q, rng.normal(size=own.nv))
    qdd = own.loops.consistent_acceleration(q, qd, rng.normal(size=own.nv))
    LOOPED[name](own, q, qd, qdd, rng.normal(size=6))


def test_a_floating_base_carries_the_momentum():
    """The first six rows of M qd are the momentum of all links, in the base's own axes about its origin."""
    robot = cr.load("quadruped").reference
    q, qd, _ = state(robot, 3)
    assert all(dof.rotor == 0 for joint in robot.model.joints for dof in joint.dofs)
    T, P = robot.pose(q, robot.model.joints[0].child), robot.momentum(q, qd)
    about = np.concatenate([P[:3] - np.cross(T[:3, 3], P[3:]), P[3:]])
    close(in_axes(T, about, "body"), (robot.mass_matrix(q) @ qd)[:6])
