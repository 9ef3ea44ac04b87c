"""The differential-algebraic equations: solved at once they are forward dynamics, reduced they are M and h."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tiers import with_slow
from trees import looped, state, tree

import chainrule as cr
from chainrule.core.closure import closure_of

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=8)


def loads_of(seed):
    rng = np.random.default_rng(seed)
    return {
        "tip_wrench": rng.normal(size=6),
        "external": {"link3": rng.normal(size=6), "tool": rng.normal(size=6)},
        "frame": "body",
    }


@given(SEEDS)
@few
def test_solved_at_once_it_is_forward_dynamics_on_trees_of_every_joint_kind(seed):
    robot = tree(seed).reference
    q, qd, tau = state(robot, seed)
    loads = loads_of(seed)
    solution = robot.textbook.dae(q, qd, tau, **loads).solve()
    qdd = robot.forward_dynamics(q, qd, tau, **loads)
    assert_allclose(solution.qdd, qdd, rtol=1e-8, atol=1e-8)
    merged = robot.merge_fixed().reference
    joints = [joint.name for joint in merged.model.joints]
    rates = merged.edit(gravity=(0, 0, 0)).reference.textbook.rnea_table(q, qd, qdd).V_dot
    assert_allclose(solution.accelerations, rates, rtol=1e-8, atol=1e-8)
    wrenches = merged.joint_wrenches(q, qd, qdd, joints=joints, **loads)
    assert_allclose(solution.joint_wrenches, wrenches, rtol=1e-7, atol=1e-7)


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_reduced_it_is_the_mass_matrix_and_the_bias(seed):
    robot = tree(seed).reference
    q, qd, tau = state(robot, seed)
    loads = loads_of(seed)
    reduction = robot.textbook.dae(q, qd, tau, **loads).reduce()
    assert_allclose(reduction.M, robot.mass_matrix(q), rtol=1e-9, atol=1e-9)
    assert_allclose(reduction.h, robot.bias(q, qd, **loads), rtol=1e-9, atol=1e-8)
    form = robot.merge_fixed().textbook.matrix_form(q, qd)
    for ours, theirs in ((reduction.A, form.A), (reduction.L, form.L), (reduction.S, form.S), (reduction.J, form.J)):
        assert_allclose(ours, theirs, atol=1e-8)


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_loops_stand_beside_joints_in_the_same_system(seed):
    robot, q = looped(seed)
    robot = robot.reference
    closure_of(robot).__dict__["independent_rows"] = tuple(range(len(robot.model.rows)))  # so they were tied
    rng = np.random.default_rng(seed)
    qd, tau = rng.normal(size=(2, robot.nv))
    system = robot.textbook.dae(q, qd, tau)
    solution, reduction = system.solve(), system.reduce()
    assert_allclose(solution.qdd, robot.forward_dynamics(q, qd, tau), rtol=1e-7, atol=1e-7)
    assert_allclose(solution.constraint_forces, robot.loops.forces(q, qd, tau, frame="body"), rtol=1e-7, atol=1e-7)
    assert_allclose(reduction.G, robot.loops.jacobian(q), atol=1e-9)
    assert_allclose(reduction.gamma, robot.loops.velocity_terms(q, qd), rtol=1e-8, atol=1e-8)
    assert_allclose(reduction.M, robot.mass_matrix(q), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", with_slow(["four_bar", "slider_crank", "stewart_platform"], "stewart_platform"))
def test_bundled_mechanisms(name):
    robot = cr.load(name)
    rng = np.random.default_rng(0)
    q = robot.random_state(rng)
    qd, tau = robot.loops.consistent_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
    solution = robot.textbook.dae(q, qd, tau).solve()
    qdd = robot.forward_dynamics(q, qd, tau)
    assert_allclose(solution.qdd, qdd, rtol=1e-8, atol=1e-8)
    rates = robot.edit(gravity=(0, 0, 0)).textbook.rnea_table(q, qd, qdd).V_dot
    assert_allclose(solution.accelerations, rates, rtol=1e-8, atol=1e-8)
    assert_allclose(solution.constraint_forces, robot.loops.forces(q, qd, tau, frame="body"), rtol=1e-8, atol=1e-8)


def test_the_system_is_square_sparse_and_named():
    arm = cr.load("planar_2r")
    system = arm.textbook.dae([0.1, 0.2], [0.3, 0.4], [1.0, 2.0])
    assert system.matrix.shape == (26, 26)
    assert system.matrix.nnz < 26 * 26 / 5
    assert [block.name for block in system.columns] == [
        "dV link1", "dV link2", "W joint1", "W joint2", "qdd joint1", "qdd joint2",
    ]  # fmt: skip
    assert_allclose(system.block("Newton-Euler link1", "W joint1"), -np.eye(6))
    assert_allclose(system.block("torque joint2", "W joint2").T, -system.block("joint joint2", "qdd joint2"))
    # action and reaction: what carries motion outward carries wrenches inward, transposed
    assert_allclose(system.block("joint joint2", "dV link1").T, -system.block("Newton-Euler link1", "W joint2"))
    text = str(system)
    assert "Newton-Euler link1" in text
    assert text.count("\n") == 13
    assert "26 equations" in repr(system)
    assert "M = J^T I J" in str(system.reduce())


def test_bad_arguments_are_named():
    arm = cr.load("planar_2r")
    rest = np.zeros(2)
    with pytest.raises(cr.ShapeError, match="dae takes one state, got a batch of shape"):
        arm.textbook.dae(np.zeros((3, 2)), rest, rest)
    with pytest.raises(cr.ShapeError, match="dae: tau must have 2 numbers"):
        arm.textbook.dae(rest, rest, [1.0])
    with pytest.raises(cr.ShapeError, match="dae: tip_wrench must have 6 numbers"):
        arm.textbook.dae(rest, rest, rest, tip_wrench=[1.0], frame="body")
    with pytest.raises(cr.UnknownNameError, match="no link or frame named 'nope'"):
        arm.textbook.dae(rest, rest, rest, external={"nope": np.zeros(6)}, frame="body")
