"""The rate of the state for ODE solvers: against simulate, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import chainrule as cr
from chainrule.errors import ModelError, ShapeError
from chainrule.model import Free

from .motions import body

ARM = cr.load("planar_2r")
TIGHT = {"rtol": 1e-9, "atol": 1e-10}
PUSH = cr.Samples([0.0, 0.2], [[0.0, 0.0], [20.0, 5.0]])


def end_of(robot, x0, duration, torque=None, **options):
    """The state that SciPy's solver reaches."""
    found = solve_ivp(lambda t, x: robot.textbook.state_dot(t, x, torque, **options), (0.0, duration), x0, **TIGHT)
    return found.y[:, -1]


TORQUES = {
    "none": None,
    "numbers": [30.0, 10.0],
    "an array": np.array([30.0, 10.0]),
    "by name": {"joint1": 30.0, "joint2": 10.0},
    "samples": PUSH,
    "a function": lambda t, q, qd: np.array([30.0 * np.cos(t), 10.0]) - qd,
    "a controller": cr.PD(ARM, [1.0, 0.5], 50.0, 10.0),
    "a controller with a reference": cr.ComputedTorque(ARM, cr.plan(ARM, [[0.0, 0.0], [0.5, 0.2]], times=[0.0, 0.3])),
}


@pytest.mark.parametrize("name", TORQUES)
def test_a_solver_finds_the_motion_that_simulate_finds(name):
    torque = TORQUES[name]
    motion = ARM.simulate([0.0, 0.0], [0.1, 0.2], 0.2, torque, dt=2e-3)
    end = end_of(ARM, [0.0, 0.0, 0.1, 0.2], 0.2, torque)
    assert np.allclose(end, [*motion.q[-1], *motion.qd[-1]], atol=2e-8)


def test_one_line_with_solve_ivp_and_batches_of_states():
    found = solve_ivp(ARM.textbook.state_dot, (0.0, 0.1), np.zeros(4), args=([1.0, 2.0],))
    assert found.success
    x = np.random.default_rng(0).normal(size=(3, 5, 4))
    tau = np.random.default_rng(1).normal(size=(5, 2))
    rate = ARM.textbook.state_dot(0.0, x, tau)
    assert rate.shape == (3, 5, 4)
    assert np.allclose(rate[..., :2], x[..., 2:])
    assert np.allclose(rate[..., 2:], ARM.forward_dynamics(x[..., :2], x[..., 2:], tau))
    pd = cr.PD(ARM, [1.0, 0.5], 50.0, 10.0)
    assert np.allclose(ARM.textbook.state_dot(0.0, x, pd)[2, 3], ARM.reference.textbook.state_dot(0.0, x[2, 3], pd))


def test_wrenches_and_limits_of_torques_act_as_in_simulate():
    weak = ARM.edit(joints={"*": {"effort": [20.0, 5.0]}}).reference
    load = {"tip": [0, 0, 0, 0, -3.0, 0]}
    x, tau = np.array([0.3, -0.5, 0.0, 0.1]), [100.0, -100.0]
    rate = weak.textbook.state_dot(0.0, x, tau, external=load)
    expected = weak.forward_dynamics(x[:2], x[2:], [20.0, -5.0], external=load)
    assert np.allclose(rate[2:], expected)
    free = weak.textbook.state_dot(0.0, x, tau, torque_limits=False)
    assert np.allclose(free[2:], weak.forward_dynamics(x[:2], x[2:], tau))


def test_a_floating_base_keeps_its_quaternion_and_moves_as_in_simulate():
    free = body(Free()).reference
    q, qd = free.neutral(), np.array([0.5, -1.0, 2.0, 0.1, 0.0, 0.3])
    motion = free.simulate(q, qd, 0.2, integrator="dop853", dt=0.1)
    end = end_of(free, [*q, *qd], 0.2)
    assert np.allclose(end, [*motion.q[-1], *motion.qd[-1]], atol=1e-7)
    stretched = np.array([*q, *qd])
    stretched[3:7] *= 3.0  # the same orientation
    assert np.allclose(free.textbook.state_dot(0.0, stretched), free.textbook.state_dot(0.0, [*q, *qd]))
    with pytest.raises(ShapeError, match=r"state_dot: x: the quaternion .* is zero"):
        free.textbook.state_dot(0.0, np.zeros(13))


def test_loops_stay_closed_as_well_as_the_solver_and_open_ones_are_refused():
    loop = cr.load("four_bar").reference
    q = loop.loops.close(loop.home())
    motion = loop.simulate(q, None, 0.1, [2.0, 0.0, 0.0], integrator="dop853", dt=0.05)
    end = end_of(loop, [*q, 0.0, 0.0, 0.0], 0.1, [2.0, 0.0, 0.0])
    assert np.allclose(end[:3], motion.q[-1], atol=1e-6)
    assert np.abs(loop.loops.residual(end[:3])).max() < 1e-6
    with pytest.raises(ShapeError, match="the loops of robot 'four_bar' are open by"):
        loop.textbook.state_dot(0.0, [q[0] + 0.1, q[1], q[2], 0.0, 0.0, 0.0])


def test_dry_friction_is_smoothed_or_held_on_request_and_refused_without():
    robot = cr.load("pendulum").edit(joints={"*": {"viscous": 0.1, "coulomb": 2.0}}).reference
    with pytest.raises(ModelError, match=r"joints 'hinge' of robot 'pendulum' have dry friction.*smoothing=0\.01"):
        robot.textbook.state_dot(0.0, [0.0, 0.0])
    weight = robot.gravity_torque([0.3])[0]
    hold = robot.edit(joints={"*": {"coulomb": 2 * weight, "static": 3 * weight}}).reference
    assert (hold.textbook.state_dot(0.0, [0.3, 0.0], smoothing=0) == 0).all()
    moving = robot.textbook.state_dot(0.0, [0.3, 0.2], smoothing=0.1)
    friction = 0.02 + 2.0 * np.tanh(2.0)
    assert moving[1] == pytest.approx(robot.without_friction().forward_dynamics([0.3], [0.2], [-friction])[0])
    motion = robot.simulate([0.3], [1.0], 0.2, dt=2e-3)
    end = end_of(robot, [0.3, 1.0], 0.2, smoothing=1e-4)
    assert np.allclose(end, [motion.q[-1, 0], motion.qd[-1, 0]], atol=1e-4)
    own = robot.edit(joints={"*": {"friction_function": lambda q, qd: 0.1 * qd * (2 + np.sin(q))}}).reference
    found = own.textbook.state_dot(0.0, [0.3, 0.2], smoothing=0.1)
    assert found[1] < moving[1]


REFUSED = {
    "a short state": (lambda: ARM.textbook.state_dot(0.0, [0.0, 0.0]), "x must have 4 numbers.*|x.*4"),
    "a class": (lambda: ARM.textbook.state_dot(0.0, np.zeros(4), cr.PD), "torque is the class PD; make an object of it"),
    "a law with a memory": (
        lambda: ARM.textbook.state_dot(0.0, np.zeros(4), cr.Sampled(lambda t, q, qd: [0.0, 0.0], 0.01)),
        "cr.Sampled holds its torque between samples"),
    "a law with states": (
        lambda: ARM.textbook.state_dot(0.0, np.zeros(4), cr.PID(ARM, [1.0, 0.5], 50.0, 5.0, 10.0)),
        "a PID has internal states, for which x = .* has no room"),
    "a controller of another robot": (
        lambda: ARM.textbook.state_dot(0.0, np.zeros(4), cr.PD(cr.load("pendulum"), [0.0], 1.0, 1.0)),
        "state_dot: the PD was made for robot 'pendulum'"),
    "a torque on a passive joint": (
        lambda: ARM.edit(joints={"joint1": {"effort": 0.0}}).textbook.state_dot(0.0, np.zeros(4), [1.0, 0.0]),
        "joint 'joint1' has an effort limit of 0"),
    "a torque of wrong length": (lambda: ARM.textbook.state_dot(0.0, np.zeros(4), [1.0]), "state_dot: tau"),
    "a negative smoothing": (
        lambda: ARM.edit(joints={"*": {"coulomb": 1.0}}).textbook.state_dot(0.0, np.zeros(4), smoothing=-1.0),
        "smoothing must be a speed, 0 or more"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(name):
    call, match = REFUSED[name]
    with pytest.raises(ShapeError, match=match):
        call()
