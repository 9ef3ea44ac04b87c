"""Derivatives of inverse and forward dynamics: against differences, peers and identities, on trees of every joint kind."""

from __future__ import annotations

import numpy as np
import pytest
import trees

import chainrule as cr
from chainrule.algorithms import rnea_derivatives
from chainrule.spatial.scalar import where

SEEDS = (3, 8)


STEPS = np.array([1.0, -1.0, 0.5, -0.5, 0.25, -0.25]) * 1e-3
WEIGHTS = np.array([1.0, -1.0, -40.0, 40.0, 256.0, -256.0]) / 90e-3
"""Central differences extrapolated twice: the error grows like the sixth power of the step."""


def columns(f, n):
    """The matrix whose column k is df(e v_k)/de at e = 0, with v_k a unit vector; f takes them all at once."""
    values = f(STEPS[:, None, None] * np.eye(n))
    return np.moveaxis(np.tensordot(WEIGHTS, values, 1), 0, -1)


def moving(robot, seed):
    """A state whose velocities are not next to zero, where dry friction jumps."""
    q, qd, qdd = trees.state(robot, seed)
    return q, qd + 0.1 * np.sign(qd), qdd


def assert_close(found, expected, tolerance=1e-9):
    assert np.abs(found - expected).max() < tolerance * max(1.0, np.abs(expected).max())


def assert_inverse_dynamics(robot, q, qd, qdd, **loads):
    found = robot.inverse_dynamics_derivatives(q, qd, qdd, **loads)
    tau = lambda *state: robot.inverse_dynamics(*state, **loads)  # noqa: E731
    assert_close(found.dq, columns(lambda v: tau(robot.integrate(q, v), qd, qdd), robot.nv))
    assert_close(found.dqd, columns(lambda v: tau(q, qd + v, qdd), robot.nv))
    assert_close(found.dqdd, robot.mass_matrix(q))


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics_of_trees_of_every_joint_kind_against_differences(seed):
    robot = trees.tree(seed).reference
    assert_inverse_dynamics(robot, *moving(robot, seed))


@pytest.mark.parametrize("frame", ["body", "world"])
def test_wrenches_in_either_frame_against_differences(frame):
    robot = trees.tree(5).reference
    rng = np.random.default_rng(0)
    loads = {"external": {"link4": rng.normal(size=6), "link9": rng.normal(size=6)}, "tip_wrench": rng.normal(size=6)}
    assert_inverse_dynamics(robot, *moving(robot, 5), **loads, frame=frame)


def assert_forward_dynamics(robot, q, qd, tau, **loads):
    found = robot.forward_dynamics_derivatives(q, qd, tau, **loads)
    qdd = lambda *state: robot.forward_dynamics(*state, **loads)  # noqa: E731
    assert_close(found.dq, columns(lambda v: qdd(robot.integrate(q, v), qd, tau), robot.nv), 1e-8)
    assert_close(found.dqd, columns(lambda v: qdd(q, qd + v, tau), robot.nv), 1e-8)
    assert_close(found.dtau, columns(lambda v: qdd(q, qd, tau + v), robot.nv), 1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_of_trees_of_every_joint_kind_against_differences(seed):
    robot = trees.tree(seed).reference
    load = {"tip_wrench": np.random.default_rng(0).normal(size=6), "frame": ("body", "world")[seed % 2]}
    assert_forward_dynamics(robot, *moving(robot, seed), **load)


def assert_second_derivatives(robot, q, qd, qdd, **loads):
    """The contraction of differences of first derivatives."""
    vector = np.random.default_rng(9).normal(size=robot.nv)
    found = robot.derivatives.second(q, qd, qdd, vector, **loads)
    first = lambda *state: np.stack(robot.inverse_dynamics_derivatives(*state, **loads))  # noqa: E731
    slopes = lambda *state: np.moveaxis(vector @ first(*state), 0, -2)  # noqa: E731
    along_q = columns(lambda v: slopes(robot.integrate(q, v), qd, qdd), robot.nv)
    along_qd = columns(lambda v: slopes(q, qd + v, qdd), robot.nv)
    assert_close(found.dq_dq, along_q[0], 1e-8)
    assert_close(found.dq_dqd, along_q[1].T, 1e-8)
    assert_close(found.dq_dqdd, along_q[2].T, 1e-8)
    assert_close(found.dqd_dqd, along_qd[1], 1e-8)
    assert_close(found.dq_dqd, along_qd[0], 1e-8)


@pytest.mark.parametrize("frame", ["body", "world"])
def test_second_derivatives_of_trees_of_every_joint_kind_against_differences(frame):
    names = ("revolute", "universal", "spherical", "helical") if frame == "body" else ("planar", "free", "prismatic")
    robot = trees.tree(7, names).reference
    loads = {"tip_wrench": np.random.default_rng(0).normal(size=6), "frame": frame}
    assert_second_derivatives(robot, *moving(robot, 7), **loads)


@pytest.fixture
def sprung():
    """An arm with springs and a damper between links, and every smooth law of friction."""
    arm = cr.load("planar_2r").with_spring("base", "link2", (0.3, 1.0, 0.1), (0.1, 0, 0), stiffness=40, rest_length=0.2)
    arm = arm.with_spring("link1", "link2", (0, 0.2, 0), (0.5, 0.1, 0), stiffness=7, damping=3.0)
    return arm.edit(
        joints={"*": {"viscous": 0.4, "coulomb": 0.5, "static": 0.9, "stribeck": 0.3, "ripple": 0.2, "ripple_waves": 3}}
    )


def test_springs_dampers_and_friction_against_differences(sprung):
    assert_inverse_dynamics(sprung.reference, *np.random.default_rng(2).normal(size=(3, 2)))


def test_second_derivatives_of_springs_dampers_and_friction_against_differences(sprung):
    assert_second_derivatives(sprung.reference, *np.random.default_rng(2).normal(size=(3, 2)))


def test_friction_laws_of_the_users_own_against_differences():
    law = lambda q, qd: 2.0 * np.tanh(3 * qd) * (1 + 0.1 * np.sin(q)) + where(qd > 1, qd * qd - 1, 0)  # noqa: E731
    arm = cr.load("planar_2r").edit(joints={"*": {"friction_function": law}})
    assert_inverse_dynamics(arm.reference, np.array([0.3, -0.7]), np.array([0.2, 1.4]), np.array([1.0, 2.0]))


def test_the_level_of_dry_friction_has_no_derivative_on_either_side():
    arm = cr.load("planar_2r")
    rubbing = arm.edit(joints={"*": {"coulomb": 0.7}}).reference
    state = [0.3, -0.7], [0.2, -1.4], [1.0, 2.0]
    for a, b in zip(
        rubbing.inverse_dynamics_derivatives(*state), arm.reference.inverse_dynamics_derivatives(*state), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_the_derivative_of_gravity_is_the_hessian_of_the_potential_energy():
    robot = trees.tree(1, ("revolute", "prismatic", "helical", "universal", "planar"), drives=False).reference
    q, rest = trees.state(robot, 1)[0], np.zeros(robot.nv)
    dq = robot.inverse_dynamics_derivatives(q, rest, rest).dq
    assert_close(dq, dq.T, 1e-13)
    n = robot.nv
    gradient = columns(lambda v: robot.potential_energy(q + v), n)
    assert_close(robot.gravity_torque(q), gradient)
    assert_close(dq, columns(lambda v: robot.gravity_torque(q + v), n))


def test_velocity_torques_are_quadratic_and_their_derivative_is_twice_the_coriolis_matrix():
    robot = trees.tree(2, drives=False).edit(gravity=(0, 0, 0)).reference
    q, qd, _ = trees.state(robot, 2)
    rest = np.zeros(robot.nv)
    dqd = robot.inverse_dynamics_derivatives(q, qd, rest).dqd
    assert_close(dqd @ qd, 2 * robot.inverse_dynamics(q, qd, rest), 1e-13)
    flat = trees.tree(1, ("revolute", "prismatic", "universal", "planar"), drives=False).reference
    q, qd, _ = trees.state(flat, 1)
    assert_close(flat.inverse_dynamics_derivatives(q, qd, 0 * qd).dqd, 2 * flat.coriolis_matrix(q, qd), 1e-13)


def test_derivatives_of_accelerations_are_symmetric_changes_of_the_mass_matrix():
    """d tau/dq at rest, without gravity, is d(M qdd)/dq; contracted with qd, dM/dt is symmetric."""
    robot = trees.tree(4, drives=False).edit(gravity=(0, 0, 0)).reference
    q, qd, _ = trees.state(robot, 4)
    rest = np.zeros(robot.nv)
    rate = (robot.inverse_dynamics_derivatives(q, rest, np.eye(robot.nv)).dq @ qd).T
    assert_close(rate, rate.T, 1e-12)
    assert_close(rate, np.tensordot(WEIGHTS, robot.mass_matrix(robot.integrate(q, STEPS[:, None] * qd)), 1))


def test_one_kernel_gives_all_three_matrices_as_views():
    robot = cr.load("panda")
    state = np.random.default_rng(0).normal(size=(3, 5, 7))
    kernel = robot.compiled.kernel("inverse_dynamics_derivatives")
    assert kernel(*state).shape == (5, 3, 7, 7)
    found = robot.inverse_dynamics_derivatives(*state)
    assert found.dq.base is found.dqdd.base
    expected = robot.reference.inverse_dynamics_derivatives(*state)
    one = robot.inverse_dynamics_derivatives(*(x[2].copy() for x in state))
    assert type(one) is type(found)
    for whole, single, slow in zip(found, one, expected, strict=True):
        np.testing.assert_allclose(whole, slow, rtol=0, atol=1e-12)
        np.testing.assert_allclose(whole[2], single, rtol=0, atol=1e-12)


def test_one_frame_for_all_and_link_to_link_are_equal(monkeypatch):
    """Long chains are computed in one frame, others from link to link."""
    robot = trees.tree(6).reference
    load = {"tip_wrench": np.ones(6), "frame": "world"}
    state = trees.state(robot, 6)
    expected = robot.inverse_dynamics_derivatives(*state, **load)
    monkeypatch.setattr(rnea_derivatives, "is_deep", lambda model: True)
    for a, b in zip(robot.inverse_dynamics_derivatives(*state, **load), expected, strict=True):
        assert_close(a, b, 1e-13)


def test_panda_against_pinocchio():
    pin = pytest.importorskip("pinocchio")
    from chainrule.cli.benchmark.peers import urdf

    robot = cr.load("panda").without_friction().reference
    model = pin.buildModelFromXML(urdf(robot))
    model.gravity.linear = robot.gravity
    data = model.createData()
    state = np.random.default_rng(1).normal(size=(3, 7))
    pin.computeRNEADerivatives(model, data, *state)
    found = robot.inverse_dynamics_derivatives(*state)
    np.testing.assert_allclose(found.dq, data.dtau_dq, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.dqd, data.dtau_dv, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.triu(found.dqdd), np.triu(data.M), rtol=0, atol=1e-12)
    pin.computeABADerivatives(model, data, *state)
    found = robot.forward_dynamics_derivatives(*state)
    assert_close(found.dq, data.ddq_dq, 1e-12)
    assert_close(found.dqd, data.ddq_dv, 1e-12)
    assert_close(np.triu(found.dtau), np.triu(data.Minv), 1e-12)


@pytest.fixture(params=["four_bar", "tree"])
def looped(request):
    """A robot with closed loops, and a q that closes them."""
    rng = np.random.default_rng(0)
    if request.param == "four_bar":
        robot = cr.load("four_bar").reference
        return robot, robot.random_state(rng)
    names = ("revolute", "universal", "spherical", "prismatic", "revolute")
    robot, q = trees.looped(3, ("point",), names, drives=False)
    return robot.reference, q


def test_forward_dynamics_with_closed_loops_against_differences(looped):
    robot, q = looped
    rng = np.random.default_rng(1)
    qd = robot.loops.consistent_velocity(q, rng.normal(size=robot.nv))
    assert_forward_dynamics(robot, q, qd, rng.normal(size=robot.nv), tip_wrench=rng.normal(size=6))


def test_inverse_dynamics_with_closed_loops_is_refused():
    robot = cr.load("four_bar").reference
    zero = np.zeros(robot.nv)
    with pytest.raises(cr.ModelError, match=r"inverse_dynamics_derivatives: .* closed loops are not computed"):
        robot.inverse_dynamics_derivatives(robot.neutral(), zero, zero)
    with pytest.raises(cr.ModelError, match=r"inverse_dynamics_second_derivatives: .* closed loops are not computed"):
        robot.derivatives.second(robot.neutral(), zero, zero, zero)
