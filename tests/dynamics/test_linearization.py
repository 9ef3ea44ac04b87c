"""Linear systems near a state, against small changes of the motion itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from trees import state, tree

import chainrule as cr
from chainrule.errors import ShapeError, SimulationError


def flow(robot, q, qd, tau, dt, steps=8):
    """The state after a time dt under constant torques: q by its displacement from the start."""
    n = robot.nv

    def rates(_, y):
        x, v = y[:n], y[n:]
        at = robot.integrate(q, x)
        h = 1e-6  # the displacement's rate, by the change of the displacement along the velocity
        after, before = (robot.difference(q, robot.integrate(at, sign * h * v)) for sign in (1, -1))
        return np.concatenate([(after - before) / (2 * h), robot.forward_dynamics(at, v, tau)])

    return solve_ivp(rates, (0, dt), np.concatenate([np.zeros(n), qd]), rtol=1e-10, atol=1e-12).y[:, -1]


@pytest.mark.parametrize(
    "robot",
    [
        cr.load("planar_2r"),
        tree(5, ["free", "revolute"], drives=False, mimic=False),
        tree(2, ["spherical", "universal"], drives=False, mimic=False),
    ],
    ids=["planar", "free", "spherical"],
)
def test_the_discrete_system_is_the_change_of_the_motion(robot):
    q, qd, tau = state(robot, 3)
    qd, dt, n, h = qd * 0.5, 0.02, robot.nv, 1e-5
    system = robot.linearize(q, qd, tau, dt)
    end = robot.integrate(q, flow(robot, q, qd, tau, dt)[:n])

    def change(q1, qd1, tau1):
        y = flow(robot, q1, qd1, tau1, dt)
        return np.concatenate([robot.difference(end, robot.integrate(q1, y[:n])), y[n:]])

    for k, e in enumerate(np.eye(n)):
        by_q = (change(robot.integrate(q, h * e), qd, tau) - change(robot.integrate(q, -h * e), qd, tau)) / (2 * h)
        by_qd = (change(q, qd + h * e, tau) - change(q, qd - h * e, tau)) / (2 * h)
        by_tau = (change(q, qd, tau + h * e) - change(q, qd, tau - h * e)) / (2 * h)
        assert_allclose(system.A[:, k], by_q, atol=1e-5 * max(1, np.abs(by_q).max()))
        assert_allclose(system.A[:, n + k], by_qd, atol=1e-5 * max(1, np.abs(by_qd).max()))
        assert_allclose(system.B[:, k], by_tau, atol=1e-5 * max(1, np.abs(by_tau).max()))
    assert_allclose(robot.integrate(q, system.f[:n]), end, atol=1e-7)


def test_brackets_of_turning_bodies():
    robot = tree(5, ["free"], drives=False, mimic=False)
    q, qd, tau = state(robot, 1)
    A, h = robot.linearize(q, qd, tau).A, 1e-4

    def displaced(x, t):
        """The displacement of two states that move at the same velocity."""
        return robot.difference(robot.integrate(q, t * qd), robot.integrate(robot.integrate(q, x), t * qd))

    for k, e in enumerate(np.eye(6)):
        rate = (displaced(h * e, h) - displaced(h * e, -h)) / (2 * h) / h
        assert_allclose(A[:6, k], rate, atol=1e-3)


def test_an_equilibrium_stays_and_batches_are_rows():
    arm = cr.load("planar_2r")
    q = np.random.default_rng(0).normal(size=(3, 2))
    tau = arm.gravity_torque(q)
    system = arm.linearize(q, np.zeros(2), tau)
    assert_allclose(system.f, 0, atol=1e-12)
    assert system.A.shape == (3, 4, 4)
    assert system.B.shape == (3, 4, 2)
    one = arm.linearize(q[1], np.zeros(2), tau[1], 0.01)
    assert_allclose(arm.linearize(q, np.zeros(2), tau, 0.01).A[1], one.A, rtol=1e-12)


def test_the_pendulum_is_that_of_the_textbook():
    arm = cr.load("pendulum")
    hanging = arm.linearize(arm.neutral(), [0.0], [0.0])
    assert_allclose(hanging.A[0], [0, 1])
    assert_allclose(hanging.A[1, 0], -arm.derivatives.gravity_torque_dq(arm.neutral())[0, 0] * hanging.B[1, 0])


def test_a_state_that_is_not_finite_spoils_no_other():
    arm = cr.load("planar_2r")
    q, qd = np.array([[0.3, 0.8], [np.nan, 0.0]]), np.array([2.0, -3.0])
    both = arm.linearize(q, qd, [5.0, 1.0], 0.05)
    assert_allclose(both.A[0], arm.linearize(q[0], qd, [5.0, 1.0], 0.05).A, rtol=1e-9)
    assert np.isnan(both.A[1]).any()


def test_a_motion_that_is_not_resolved_is_refused():
    arm = cr.load("planar_2r")
    with np.errstate(all="ignore"), pytest.raises(SimulationError, match=r"not resolved by .* give a shorter dt"):
        arm.linearize([0.3, 0.8], [2e4, -3e4], [5.0, 1.0], dt=10.0)


def test_what_does_not_fit_is_refused():
    arm = cr.load("planar_2r")
    with pytest.raises(ShapeError, match="dt must be a positive time"):
        arm.linearize([0, 0], [0, 0], [0, 0], dt=0.0)
    with pytest.raises(ShapeError, match="linearize: q"):
        arm.linearize([0, 0, 0], [0, 0], [0, 0])
