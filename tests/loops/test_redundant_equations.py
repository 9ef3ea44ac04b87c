"""Loops whose equations follow from others, which ones changing from place to place: all rows are used everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.core.closure import closure_of
from chainrule.spatial.linear import Factors, PseudoInverse

from .mechanisms import accelerations, bennett


@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-3, 0.5])
def test_bennetts_linkage_where_the_equations_of_elsewhere_lose_rank(distance):
    robot, closed = bennett()
    q = closed(np.pi - distance)
    assert np.abs(robot.loops.residual(q)).max() < 1e-12
    qd = np.linalg.svd(robot.loops.jacobian(q))[2][-1]
    qd = 2 * qd / qd[0]
    zero = np.zeros(3)
    for one in (robot, robot.reference):
        assert np.allclose(one.forward_dynamics(q, qd, zero), accelerations(robot, q, qd, zero), atol=1e-11)
        assert np.allclose(one.loops.consistent_velocity(q, [2.0, 0.0, 0.0], hold=["j0"]), qd, atol=1e-10)
        assert np.abs(one.loops.forces(q, qd, zero, frame="body")).max() < 1e3
    tau = np.array([0.3, 0.0, 0.0])
    qdd = robot.forward_dynamics(q, qd, tau)
    again = robot.loops.torques(q, qd, qdd, actuated=["j0"]).tau
    assert np.allclose(again, tau, atol=1e-9)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bennett"])
def test_accelerations_are_those_of_all_equations_by_singular_values(name):
    rng = np.random.default_rng(0)
    if name == "bennett":
        robot, closed = bennett()
        q = np.array([closed(angle) for angle in rng.uniform(-np.pi, np.pi, 200)])
    else:
        robot = cr.load(name)
        states, good = closure_of(robot).close(robot.random_state(rng, (200,)))
        q = states[good]
    qd = robot.loops.consistent_velocity(q, rng.normal(size=(len(q), robot.nv)))
    tau = rng.normal(size=(len(q), robot.nv))
    found = robot.forward_dynamics(q, qd, tau)
    expected = np.array([accelerations(robot, *state) for state in zip(q, qd, tau, strict=True)])
    assert np.abs((found - expected) / (1 + np.abs(expected).max(axis=1, keepdims=True))).max() < 1e-11


def test_a_flat_four_bar_has_finite_accelerations_in_all_directions():
    from simulation.test_loops import four_bars

    robot = four_bars(1)
    feet = np.array([name.startswith("foot") for name in robot.joint_names])
    for angle in (0.0, np.pi / 2, 1.0):
        q = np.where(feet, angle, 0.0)
        q[~feet] = -angle
        assert np.isfinite(robot.forward_dynamics(q, np.zeros(3), np.zeros(3))).all()
    flat = robot.forward_dynamics(np.zeros(3), np.where(feet, 1.0, -1.0), np.zeros(3))
    assert np.isfinite(flat).all()


def test_equations_in_use_leave_out_only_those_that_follow_from_others_everywhere():
    assert closure_of(cr.load("four_bar")).rows == (0, 1)
    robot, _ = bennett()
    assert closure_of(robot).rows == (0, 1, 2, 3, 4)
    assert len(closure_of(robot).independent_rows) == 2


def test_the_option_rows_is_still_taken():
    bar = cr.load("four_bar")
    q = bar.loops.close([0.5, 0.0, 0.0], hold=["crank"])
    zero = np.zeros(3)
    expected = bar.forward_dynamics(q, zero, zero)
    for rows in ((0, 1), (0, 1, 2)):
        kernel = bar.compiled.kernel("forward_dynamics", rows=rows)
        assert np.allclose(kernel(q, zero, zero), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 2, 3, 4])
def test_the_pseudo_inverse_is_that_of_numpy_for_every_rank(rank):
    rng = np.random.default_rng(rank)
    B = rng.normal(size=(4, rank))
    A, b = B @ B.T, rng.normal(size=4)
    for bound in (None, max(rank, 1)):
        x = PseudoInverse(A.tolist(), 1e-12, bound).solve(b.tolist())
        assert np.allclose(x, np.linalg.pinv(A, 1e-10) @ b, atol=1e-8)


def test_factors_leave_out_rows_whose_pivots_are_at_most_the_numbers_given():
    A = [[4.0, 2.0, 2.0], [2.0, 1.0, 1.0], [2.0, 1.0, 3.0]]
    x = Factors(A, [1e-12] * 3).solve([8.0, 4.0, 8.0])
    assert np.allclose(np.array(A) @ x, [8.0, 4.0, 8.0])
