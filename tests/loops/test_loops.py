"""Closed loops: identities of the constraints on random mechanisms, and linkages with closed forms."""

from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tiers import with_slow
from trees import looped, moving, state, tree

import chainrule as cr
from chainrule.algorithms import loop_dynamics, loop_equations, loop_projection
from chainrule.core.closure import closure_of
from chainrule.functions.table import FUNCTIONS
from chainrule.loops.mobility import refuse_immobile
from chainrule.model import Constraint, Free, Link, Model
from chainrule.spatial import Rotation, Transform, Vector
from loops.mechanisms import coupled_cranks, hinge, placed, rod

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=8)
STEP = 1e-6
ALL = ("point", "hinge", "weld", "distance")
CRANK, COUPLER, ROCKER, GROUND = 0.1, 0.5, 0.5, 0.3


def along(robot, function, q, v):
    return (function(robot.integrate(q, STEP * v)) - function(robot.integrate(q, -STEP * v))) / (2 * STEP)


def at(x, y, z=0.0):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


# --- identities ----------------------------------------------------------------------------------------------------


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_the_rows_of_g_are_the_gradients_of_the_residual_closed_or_not(seed):
    robot, _ = looped(seed, ALL)
    robot = robot.reference
    q, qd, _ = state(tree(seed), seed)
    assert_allclose(robot.loops.jacobian(q) @ qd, along(robot, robot.loops.residual, q, qd), rtol=1e-6, atol=1e-6)


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_the_velocity_terms_are_the_rate_of_g_times_qd(seed):
    robot, _ = looped(seed, ALL)
    robot = robot.reference
    q, qd, _ = state(tree(seed), seed)
    rate = along(robot, lambda x: robot.loops.jacobian(x) @ qd, q, qd)
    assert_allclose(robot.loops.velocity_terms(q, qd), rate, rtol=1e-6, atol=1e-5)


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_ties_are_closed_where_they_were_tied(seed):
    robot, q = looped(seed, ALL)
    assert_allclose(robot.reference.loops.residual(q), 0, atol=1e-12)


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_accelerations_keep_the_loops_closed_and_the_forces_do_no_work(seed):
    robot, q = looped(seed)
    model = robot.model
    rng = np.random.default_rng(seed)
    tau = rng.normal(size=robot.nv)
    qd = np.array(loop_projection.consistent_velocity(model, q.tolist(), rng.normal(size=robot.nv).tolist()))
    G, gamma = robot.reference.loops.jacobian(q), robot.reference.loops.velocity_terms(q, qd)
    assert_allclose(G @ qd, 0, atol=1e-9)
    qdd, forces, excess = (
        np.array(x) for x in loop_dynamics.constrained_dynamics(model, q.tolist(), qd.tolist(), tau.tolist())
    )
    assert_allclose(G @ qdd + gamma, 0, atol=1e-8)
    assert_allclose(robot.mass_matrix(q) @ qdd + robot.bias(q, qd), tau + G.T @ forces, rtol=1e-8, atol=1e-8)
    assert_allclose(excess, 0, atol=1e-8)
    V = robot.velocities(q, qd, frame="body")
    wrenches = loop_equations.loop_wrenches(model, q.tolist(), forces.tolist())
    power = sum(np.dot(list(F), V[index]) for index, F in wrenches.items())
    assert_allclose(power, 0, atol=1e-8 * max(1, np.abs(forces).max()))


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_wrenches_of_the_constraints_project_to_g_transposed_lambda(seed):
    robot, q = looped(seed, ALL)
    robot = robot.reference
    forces = np.random.default_rng(seed).normal(size=len(robot.model.rows))
    wrenches = loop_equations.loop_wrenches(robot.model, q.tolist(), forces.tolist())
    tau = sum(robot.jacobian(q, robot.link_names[i], frame="body").T @ np.array(list(F)) for i, F in wrenches.items())
    assert_allclose(tau, robot.loops.jacobian(q).T @ forces, rtol=1e-9, atol=1e-9)


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_held_joints_move_as_told_and_the_excess_is_what_holds_them(seed):
    robot, q = looped(seed)
    rng = np.random.default_rng(seed)
    qd, tau, told = rng.normal(size=(3, robot.nv))
    free = np.where(np.arange(robot.nv) % 5 == 0, 0.0, 1.0)
    arguments = [x.tolist() for x in (q, qd, tau)]
    qdd, _, excess = (
        np.array(x)
        for x in loop_dynamics.constrained_dynamics(
            robot.model, *arguments, is_free=free.tolist(), prescribed_acceleration=told.tolist()
        )
    )
    G, gamma = robot.reference.loops.jacobian(q), robot.reference.loops.velocity_terms(q, qd)
    assert_allclose(qdd[free == 0], told[free == 0])
    assert_allclose(excess[free == 1], 0, atol=1e-8)
    assume(np.abs(G @ qdd + gamma).max() < 1e-8)  # or else too many joints are held
    without = [x.tolist() for x in (q, qd, tau - excess)]
    assert_allclose(loop_dynamics.constrained_dynamics(robot.model, *without)[0], qdd, rtol=1e-6, atol=1e-6)


def test_with_every_joint_held_no_equation_is_asked_for():
    robot = cr.load("four_bar")
    q, zero = robot.neutral().tolist(), [0.0] * 3
    qdd, _, excess = loop_dynamics.constrained_dynamics(robot.model, q, zero, zero, rows=(0, 1), is_free=zero)
    assert_allclose(qdd, 0)
    assert_allclose(excess, -robot.gravity_torque(q))


@given(SEEDS)
@few
def test_without_constraints_it_is_forward_dynamics(seed):
    robot = tree(seed).reference
    q, qd, tau = state(robot, seed)
    qdd, forces, _ = loop_dynamics.constrained_dynamics(robot.model, q.tolist(), qd.tolist(), tau.tolist())
    assert forces == []
    assert_allclose(qdd, robot.forward_dynamics(q, qd, tau), rtol=1e-9, atol=1e-9)


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_feedback_pulls_an_open_loop_closed(seed):
    robot, q = looped(seed)
    robot = robot.reference
    rng = np.random.default_rng(seed)
    q, qd, tau = robot.integrate(q, 0.01 * rng.normal(size=robot.nv)), *rng.normal(size=(2, robot.nv))
    qdd = loop_dynamics.constrained_dynamics(robot.model, q.tolist(), qd.tolist(), tau.tolist(), feedback=(3.0, 5.0))[0]
    G, phi = robot.loops.jacobian(q), robot.loops.residual(q)
    left = G @ np.array(qdd) + robot.loops.velocity_terms(q, qd) + 6.0 * G @ qd + 25.0 * phi
    assert_allclose(left, 0, atol=1e-8)


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_a_closing_step_squares_the_residual(seed):
    robot, q = looped(seed)
    q = robot.integrate(q, 1e-4 * np.random.default_rng(seed).normal(size=robot.nv))
    step = loop_projection.closing_step(robot.model, q.tolist())
    before, after = (np.abs(robot.reference.loops.residual(x)).max() for x in (q, robot.integrate(q, step)))
    assert after < 1e-2 * before


@pytest.mark.interpreted
@given(SEEDS, st.sampled_from(["point", "hinge", "weld"]))
@few
def test_a_joint_cut_open_and_tied_again_moves_as_before(seed, kind):
    """A joint of the tree made free, and its constraint: the same accelerations and the same wrench."""
    names = {"point": "spherical", "hinge": "revolute", "weld": "fixed"}
    robot = tree(seed, ["universal", names[kind], "prismatic", "spherical"], drives=False, mimic=False, shuffle=False)
    model = robot.model
    k = [joint.name for joint in model.joints].index("joint1")
    before, joint, after = model.joints[:k], model.joints[k], model.joints[k + 1 :]
    if kind == "hinge":  # a hinge turns about the z axis
        joint = replace(joint, kind=replace(joint.kind, angular=Vector(0.0, 0.0, 1.0)))
        robot = type(robot)(replace(model, joints=(*before, joint, *after)))
    cut = replace(joint, kind=Free(), dofs=())
    tie = Constraint("tie", kind, joint.parent, joint.child, joint.origin, Transform.identity())
    opened = type(robot)(
        Model.build("cut", model.links, [*before, cut, *after], gravity=model.gravity, constraints=[tie])
    )
    q, qd, tau = state(robot, seed)
    qdd = robot.forward_dynamics(q, qd, tau)
    body = robot.model.bodies[k]
    placed = body.at(q.tolist())
    apart = joint.origin.inverse() * placed.T
    first_q, first_v = sum(j.kind.nq for j in before), sum(j.kind.nv for j in before)
    spot = slice(first_q, first_q + joint.kind.nq), slice(first_v, first_v + joint.kind.nv)

    def put(x, values, where):
        return np.concatenate([x[: where.start], values, x[where.stop :]])

    S = np.array([list(S) for _, S in placed.S], dtype=float).reshape(-1, 6)
    q2 = put(q, [*apart.translation, *apart.rotation.quaternion()], spot[0])
    qd2, tau2 = put(qd, S.T @ qd[spot[1]], spot[1]), put(tau, S.T @ tau[spot[1]], spot[1])
    reached = opened.forward_dynamics(q2, qd2, tau2)
    assert_allclose(
        put(reached, [], slice(spot[1].start, spot[1].start + 6)), put(qdd, [], spot[1]), rtol=1e-7, atol=1e-7
    )
    accelerations = robot.accelerations(q, qd, qdd)
    assert_allclose(opened.accelerations(q2, qd2, reached), accelerations, rtol=1e-7, atol=1e-7)
    wrench = opened.loops.forces(q2, qd2, tau2, frame="body")[0] + S.T @ tau[spot[1]]
    expected = robot.joint_wrenches(q, qd, qdd, joints=[joint.name], frame="body")[0]
    assert_allclose(wrench, expected, rtol=1e-7, atol=1e-7)


BUNDLED = ("four_bar", "slider_crank", "stewart_platform")
MECHANISMS = with_slow(BUNDLED, "stewart_platform")


@pytest.mark.parametrize("name", MECHANISMS)
def test_forward_dynamics_undoes_inverse_dynamics_with_wrenches(name):
    robot = cr.load(name)
    q, qd, qdd = moving(robot, 1, (4,))
    loads = {"tip_wrench": np.ones(6), "external": {robot.link_names[2]: np.full(6, 0.5)}, "frame": "body"}
    tau = robot.inverse_dynamics(q, qd, qdd, **loads)
    assert_allclose(tau[..., robot.limits.effort == 0], 0, atol=1e-12)
    assert_allclose(robot.forward_dynamics(q, qd, tau, **loads), qdd, rtol=1e-8, atol=1e-8)
    forces = robot.loops.torques(q, qd, qdd, actuated=None, **loads).forces
    assert_allclose(forces, robot.loops.forces(q, qd, tau, **loads), rtol=1e-8, atol=1e-8)
    terms = robot.torque_terms(q, qd, qdd)
    assert_allclose(terms["total"], robot.inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-9)
    total = terms.pop("total")
    assert_allclose(sum(terms.values()), total, atol=1e-9)


@pytest.mark.parametrize("name", MECHANISMS)
def test_joint_wrenches_include_the_forces_of_the_loops(name):
    """What goes through a joint projects to its torque, zero for a passive one."""
    robot = cr.load(name)
    q, qd, qdd = moving(robot, 2)
    tau = robot.inverse_dynamics(q, qd, qdd)
    W = robot.joint_wrenches(q, qd, qdd, frame="body")
    for body, wrench in zip(robot.model.bodies, W, strict=True):
        for i, S in body.at(q.tolist()).S:
            assert_allclose(np.dot(list(S), wrench), tau[i], atol=1e-9)
    table = robot.textbook.newton_euler_table(q, qd, qdd)
    assert_allclose(np.concatenate([table.n, table.f], axis=-1), W, atol=1e-9)


@pytest.mark.parametrize("name", MECHANISMS)
def test_power_in_is_energy_gained(name):
    robot = cr.load(name)
    q, qd, _ = moving(robot, 3)
    tau = np.random.default_rng(3).normal(size=robot.nv)
    qdd = robot.forward_dynamics(q, qd, tau)

    def energy(s):
        there, speed = robot.integrate(q, s * qd), qd + s * qdd
        return robot.kinetic_energy(there, speed) + robot.potential_energy(there)

    assert_allclose((energy(STEP) - energy(-STEP)) / (2 * STEP), tau @ qd, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", MECHANISMS)
def test_static_torques_do_the_work_of_the_wrench(name):
    robot = cr.load(name)
    q, qd, _ = moving(robot, 4)
    F = np.random.default_rng(4).normal(size=6)
    assert_allclose(
        robot.static_torque(q, F, frame="body") @ qd, F @ (robot.jacobian(q, frame="body") @ qd), rtol=1e-8, atol=1e-8
    )


TABLES_AND_WRENCHES = ("textbook.newton_euler", "textbook.recursion", "static_torque")


@pytest.mark.parametrize("name", MECHANISMS)
def test_compiled_functions_are_the_reference_path(name):
    robot = cr.load(name)
    q, qd, qdd = moving(robot, 5, (3,))
    values = {"q": q, "q0": q, "q1": q, "qd": qd, "qdd": qdd, "tau": 0.1 * qdd, "v": qd, "x": qd}
    for function, entry in FUNCTIONS.items():
        if not (entry.loops or function.startswith("loops.")) or function in TABLES_AND_WRENCHES:
            continue
        arguments = [values[argument] for argument in entry.arguments]
        options = {"stick": True} if function == "sticking_dynamics" else {}
        ours, theirs = (
            attrgetter(entry.variant_of or function)(r)(*arguments, **options) for r in (robot, robot.reference)
        )
        for a, b in zip(ours.values(), theirs.values(), strict=True) if isinstance(ours, dict) else [(ours, theirs)]:
            assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=function)


def test_a_batch_gives_what_its_states_give_one_by_one():
    robot = cr.load("four_bar")
    q, qd, qdd = moving(robot, 6, (2, 3))
    tau = robot.inverse_dynamics(q, qd, qdd)
    for index in np.ndindex(2, 3):
        assert_allclose(tau[index], robot.inverse_dynamics(q[index], qd[index], qdd[index]), atol=1e-10)
        assert_allclose(robot.forward_dynamics(q, qd, tau)[index], qdd[index], rtol=1e-8, atol=1e-8)
    broken = q.copy()
    broken[0, 1, 0] = np.nan
    spoiled = robot.inverse_dynamics(broken, qd, qdd)
    assert np.isnan(spoiled[0, 1]).any()
    assert np.isfinite(spoiled[1]).all()


def test_one_state_goes_straight_to_machine_code():
    robot = cr.load("four_bar")
    q, qd, qdd = moving(robot, 7)
    tau = robot.inverse_dynamics(q, qd, qdd)
    robot.forward_dynamics(q, qd, tau)
    assert "built-in" in repr(robot.forward_dynamics)
    assert "built-in" not in repr(robot.inverse_dynamics)
    assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=1e-9)


# --- linkages with closed forms ------------------------------------------------------------------------------------


def rocker_angle(theta):
    """The rocker's angle from the ground line, by the law of cosines, for the branch of the home configuration."""
    x, y = GROUND - CRANK * np.cos(theta), -CRANK * np.sin(theta)  # from the crank's end to the rocker's pivot
    d = np.hypot(x, y)
    inner = np.arccos((d**2 + ROCKER**2 - COUPLER**2) / (2 * d * ROCKER))
    return np.arctan2(-y, -x) - inner


def test_the_four_bar_goes_where_the_law_of_cosines_says():
    robot = cr.load("four_bar")
    turns = np.linspace(-3, 3, 25)
    q = robot.loops.close(np.stack([turns, -turns, 0 * turns], axis=-1), hold=["crank"])
    assert_allclose(q[:, 0], turns, atol=0)
    expected = rocker_angle(turns + np.pi / 2) - np.pi / 2
    assert_allclose(np.exp(1j * q[:, 2]), np.exp(1j * expected), atol=1e-9)
    qd = robot.loops.consistent_velocity(q, np.ones((25, 3)), hold=["crank"])
    rate = (rocker_angle(turns + np.pi / 2 + STEP) - rocker_angle(turns + np.pi / 2 - STEP)) / (2 * STEP)
    assert_allclose(qd[:, 2], rate, atol=1e-7)


def test_the_piston_goes_where_pythagoras_says():
    robot = cr.load("slider_crank")
    turns = np.linspace(-3, 3, 25)
    q = robot.loops.close(np.stack([turns, -turns, 0 * turns], axis=-1), hold=["crank"])
    theta = turns + np.pi / 2
    root = np.sqrt(0.1**2 - (0.06 * np.sin(theta)) ** 2)
    assert_allclose(q[:, 2] + 0.08, 0.06 * np.cos(theta) + root, atol=1e-12)
    qd = robot.loops.consistent_velocity(q, np.full((25, 3), 2.0), hold=["crank"])
    speed = -0.06 * np.sin(theta) * (1 + 0.06 * np.cos(theta) / root)
    assert_allclose(qd[:, 2], 2 * speed, atol=1e-12)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_a_mechanism_of_one_freedom_obeys_lagranges_equation_in_its_crank_angle(name):
    """I(theta) theta'' + I'(theta) theta'^2 / 2 + U'(theta) = tau, with I and U by closing the loop anew."""
    robot = cr.load(name)
    theta, speed, torque, step = 0.7, 1.3, 0.2, 1e-4

    def closed(angle):
        return robot.loops.close([angle, 0.0, 0.0], hold=["crank"])

    def inertia(angle):
        q = closed(angle)
        return 2 * robot.kinetic_energy(q, robot.loops.consistent_velocity(q, [1.0, 0.0, 0.0], hold=["crank"]))

    slope = (inertia(theta + step) - inertia(theta - step)) / (2 * step)
    weight = (robot.potential_energy(closed(theta + step)) - robot.potential_energy(closed(theta - step))) / (2 * step)
    expected = (torque - slope * speed**2 / 2 - weight) / inertia(theta)
    q = closed(theta)
    qd = robot.loops.consistent_velocity(q, [speed, 0.0, 0.0], hold=["crank"])
    qdd = robot.forward_dynamics(q, qd, [torque, 0.0, 0.0])
    assert_allclose(qdd[0], expected, rtol=1e-5)
    assert_allclose(robot.inverse_dynamics(q, qd, qdd), [torque, 0, 0], atol=1e-10)


def test_a_planar_loop_closed_by_a_hinge_moves_as_if_closed_by_a_point():
    by_point = cr.load("four_bar")
    by_hinge = by_point.without_constraint("pin").with_constraint(
        "hinge", "coupler_link", "rocker_link", at(0.5, 0), at(0.5, 0), name="pin"
    )
    assert by_hinge.loops.mobility().redundant == ("pin",) * 3
    q, qd, qdd = moving(by_point, 8)
    assert_allclose(by_hinge.forward_dynamics(q, qd, qdd), by_point.forward_dynamics(q, qd, qdd), rtol=1e-9)


def test_the_legs_of_a_stewart_platform_are_as_long_as_the_pose_asks():
    robot = cr.load("stewart_platform")
    q = robot.neutral()
    q[-7:] = [0.05, -0.04, 0.03, *Rotation.exp(Vector(0.1, -0.15, 0.2)).quaternion()]
    closed = robot.loops.close(q, hold=["platform_pose"])
    assert_allclose(closed[-7:], q[-7:], atol=1e-12)
    plate = robot.pose(closed, "platform")
    home = robot.neutral()
    for k, constraint in enumerate(robot.model.constraints):
        foot = robot.pose(closed, f"cylinder{k + 1}")[:3, 3]
        top = plate[:3, :3] @ np.array(list(constraint.origin_b.translation)) + plate[:3, 3]
        at_home = robot.pose(home, f"rod{k + 1}")[:3, 3]
        stretch = np.linalg.norm(top - foot) - np.linalg.norm(at_home - foot)
        assert_allclose(closed[3 * k + 2], stretch, atol=1e-12)


@pytest.mark.slow
def test_the_legs_carry_the_plate():
    robot = cr.load("stewart_platform")
    q, rest = robot.neutral(), np.zeros(24)
    forces = robot.loops.torques(q, rest, rest).forces
    assert_allclose(forces[:, 3:].sum(axis=0), [0, 0, 12 * 9.81], atol=1e-9)
    assert_allclose(forces[:, :3].sum(axis=0), 0, atol=1e-9)


def test_a_weld_moves_like_a_locked_joint():
    robot = cr.load("planar_3r")
    q, qd, tau = np.array([0.3, -0.4, 0.5]), np.array([0.2, 0.1, 0.0]), np.array([1.0, 2.0, 0.0])
    links = robot.model.joints[2]
    apart = np.linalg.inv(robot.pose(q, links.parent)) @ robot.pose(q, links.child)
    welded = robot.with_constraint("weld", links.parent, links.child, apart)
    qdd = welded.forward_dynamics(q, qd, tau)
    locked = robot.lock({links.name: 0.5}).forward_dynamics(q[:2], qd[:2], tau[:2])
    assert_allclose(qdd, [*locked, 0], atol=1e-9)


def test_more_motors_than_needed_share_the_work_with_the_least_torque():
    robot = cr.load("four_bar")
    q, qd, qdd = moving(robot, 9)
    one = robot.loops.torques(q, qd, qdd, actuated=["crank"]).tau
    two = robot.loops.torques(q, qd, qdd, actuated=["crank", "rocker"]).tau
    assert np.linalg.norm(two) < np.linalg.norm(one)
    for tau in (one, two):
        assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=1e-8, atol=1e-8)


# --- configurations and mobility -----------------------------------------------------------------------------------


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_closing_a_disturbed_mechanism_closes_it(seed):
    robot, q = looped(seed)
    robot = robot.reference
    disturbed = robot.integrate(q, 0.05 * np.random.default_rng(seed).normal(size=(3, robot.nv)))
    assert_allclose(robot.loops.residual(robot.loops.close(disturbed)), 0, atol=1e-8)


def test_a_state_that_is_not_finite_stays_so_and_alone():
    robot = cr.load("four_bar")
    q = robot.loops.close([[0.3, 0.0, 0.0], [np.nan, 0.0, 0.0]])
    assert np.isfinite(q[0]).all()
    assert np.isnan(q[1, 0])


def test_mobility_is_reported():
    assert str(cr.load("stewart_platform").loops.mobility()).startswith(
        "6 degrees of freedom: the joints have 24, less 18"
    )
    report = cr.load("planar_2r").loops.mobility([0.0, 0.0])
    assert (report.dof, report.rank, report.independent_joints) == (2, 0, ("joint1", "joint2"))


def triangle():
    """Two bars pinned to the ground and to each other: nothing can move."""
    return (
        cr.load("four_bar")
        .without_constraint("pin")
        .lock({"coupler": 0.0})
        .with_constraint("point", "coupler_link", "rocker_link", at(0.5, 0), at(0.5, 0), name="corner")
    )


def test_a_mechanism_that_cannot_move_says_so():
    robot = triangle()
    assert robot.loops.mobility().dof == 0
    assert "it cannot move" in str(robot.loops.mobility())
    with pytest.raises(
        cr.ModelError, match=r"'four_bar' cannot move: its constraints \('corner'\) leave none of its 2"
    ):
        refuse_immobile(robot)
    refuse_immobile(cr.load("four_bar"))
    refuse_immobile(cr.load("panda"))


@pytest.mark.parametrize(
    ("length", "places"), [(0.6, (0.0, 1.0, 0.2)), (0.3, (0.0, 1.0, 0.5)), (0.25, (0.0, 1.0, 0.3, 0.6))]
)
def test_rows_that_nearly_vanish_at_a_flat_position_do_not_count_as_independent(length, places):
    """The neutral position is flat: what Newton's method finds beside it has rows as long as it is off."""
    robot = coupled_cranks(len(places), length, places)
    assert robot.nv - len(closure_of(robot).independent_rows) == robot.nv - closure_of(robot).rank == 1
    refuse_immobile(robot)


@pytest.mark.parametrize("off", [1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("cranks", [2, 3])
def test_a_held_crank_leads_the_others_up_to_next_to_a_flat_position(cranks, off):
    """All cranks turn as one, and the bar stays level, however near to lying flat."""
    robot = coupled_cranks(cranks)
    turns = np.array([-1.0 if name == "top" else 1.0 for name in robot.joint_names])
    lead = np.array([1.0 if name == "foot0" else 0.0 for name in robot.joint_names])
    v = robot.loops.consistent_velocity(off * turns, 5.0 * lead, hold=["foot0"])
    assert_allclose(v, 5.0 * turns, rtol=1e-8)


@pytest.mark.parametrize("turn", [0.0, 0.3, 1.1])
def test_torques_are_refused_where_a_rod_lies_flat(turn):
    """Two cranks and a rod between their ends, in a plane turned so that rounding, not zeros, is left of its row."""
    ends = Constraint("rod", "distance", "crank0", "crank1", placed(0.3), placed(0.3), distance=1.0)
    plane = Rotation.about(Vector(0.0, 0.0, 1.0), turn)
    feet = [hinge("foot0", "ground", "crank0", Transform(plane, Vector(0.0, 0.0, 0.0)))]
    feet.append(hinge("foot1", "ground", "crank1", Transform(plane, Vector(np.cos(turn), np.sin(turn), 0.0))))
    links = [Link("ground"), rod("crank0", 0.3), rod("crank1", 0.3)]
    robot = cr.Robot(Model.build("cranks", links, feet, gravity=Vector(0.0, -9.81, 0.0), constraints=[ends]))
    near = robot.loops.torques([1e-4, 1e-4], actuated=["foot0"]).tau
    assert_allclose(near, [2 * 9.81 * 0.15 * np.cos(turn + 1e-4), 0.0], rtol=1e-6)
    for q in ([0.0, 0.0], [1e-15, 1e-15], [1e-9, 1e-9]):
        with pytest.raises(cr.ModelError, match="cannot produce this motion"):
            robot.loops.torques(q, actuated=["foot0"])


def test_random_states_are_closed():
    for name in BUNDLED:
        robot = cr.load(name)
        q = robot.random_state(np.random.default_rng(0), (5, 2))
        assert q.shape == (5, 2, robot.nq)
        assert_allclose(robot.loops.residual(q), 0, atol=1e-8)


def test_many_states_are_closed_in_blocks(monkeypatch):
    """The memory on the way is that of a block, whatever the number of states."""
    bar = cr.load("four_bar")
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 3))
    whole = bar.loops.close(q, hold=["crank"])
    monkeypatch.setattr("chainrule.core.closure.BLOCK_STATES", 7)
    assert np.allclose(bar.loops.close(q, hold=["crank"]), whole, atol=1e-12)
