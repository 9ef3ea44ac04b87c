"""Derivatives of motions, against differences of simulations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import state, tree

import chainrule as cr
from chainrule.errors import ModelError, ShapeError, UnknownNameError

ARM = cr.load("planar_2r")
Q0, QD0 = np.array([0.3, -0.4]), np.array([0.5, 0.2])
OPTIONS = {"duration": 0.2, "dt": 0.02}
H = 1e-6


def differences(run, count):
    """Central differences of q and qd of motions, (..., T, number, k)."""
    ends = [(run(H * e), run(-H * e)) for e in np.eye(count)]
    return [np.stack([(getattr(a, x) - getattr(b, x)) / (2 * H) for a, b in ends], axis=-1) for x in ("q", "qd")]


def check(motion, name, run, count, tolerance=2e-7):
    forward = motion.forward([name])[name]
    for ours, theirs in zip(forward, differences(run, count), strict=True):
        assert_allclose(ours, theirs, atol=tolerance * max(1.0, np.abs(theirs).max()))
    rng = np.random.default_rng(0)
    dq, dqd = rng.normal(size=motion.q.shape), rng.normal(size=motion.qd.shape)
    expected = np.einsum("...tq,...tqk->...k", dq, forward[0]) + np.einsum("...tq,...tqk->...k", dqd, forward[1])
    assert_allclose(motion.adjoint(dq, dqd)[name], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "euler"])
@pytest.mark.filterwarnings("ignore:.*of energy came from nowhere")  # steps of 20 ms
def test_starts_and_torques(method):
    tau = np.array([1.0, -0.5])
    motion = ARM.sensitivities(Q0, QD0, torque=tau, integrator=method, **OPTIONS)
    assert motion.names == ("q0", "qd0", "torque")

    def run(q0=0.0, qd0=0.0, torque=0.0):
        return ARM.simulate(Q0 + q0, QD0 + qd0, torque=tau + torque, integrator=method, **OPTIONS)

    assert_allclose(motion.q, run().q, rtol=1e-12)
    assert_allclose(motion.qd, run().qd, rtol=1e-12)
    for name in motion.names:
        check(motion, name, lambda change, name=name: run(**{name: change}), 2)


def test_gains_and_parameters_of_the_robot_in_a_batch():
    starts = Q0 + np.random.default_rng(1).normal(size=(3, 2))
    mass = 1.2
    controller = cr.PD(ARM, [0.5, 0.5], kp=20.0, kd=3.0)
    name = f"{ARM.link_names[-1]}.mass"
    motion = ARM.at({name: mass}).sensitivities(starts, QD0, torque=controller, **OPTIONS)
    assert motion.names == ("q0", "qd0", "controller", name)
    check(motion, name, lambda m: ARM.at({name: mass + m[0]}).simulate(starts, QD0, torque=controller, **OPTIONS), 1)

    def with_gains(change):
        other = cr.PD(ARM, [0.5, 0.5], kp=20.0, kd=3.0)
        other.parameters = controller.parameters + change
        return ARM.at({name: mass}).simulate(starts, QD0, torque=other, **OPTIONS)

    check(motion, "controller", with_gains, controller.parameters.shape[-1])


@pytest.mark.parametrize("interpolation", ["linear", "previous"])
def test_samples_of_a_torque(interpolation):
    t = np.linspace(0, 0.2, 6)
    values = np.random.default_rng(2).normal(size=(6, 2))
    motion = ARM.sensitivities(Q0, QD0, torque=cr.Samples(t, values, interpolation), **OPTIONS)
    weights = np.random.default_rng(3).normal(size=motion.q.shape)
    gradient = motion.adjoint(weights)["torque"]

    def loss(change):
        torque = cr.Samples(t, values + change, interpolation)
        return np.sum(weights * ARM.simulate(Q0, QD0, torque=torque, **OPTIONS).q)

    for place in ((0, 0), (2, 1), (4, 0), (5, 1)):
        e = np.zeros((6, 2))
        e[place] = H
        assert_allclose(gradient[place], (loss(e) - loss(-e)) / (2 * H), atol=1e-7)
    with pytest.raises(ShapeError, match="given by samples, use adjoint"):
        motion.forward(["torque"])


def test_a_free_body_with_an_arm_and_a_wrench():
    robot = tree(4, ["free", "revolute"], drives=False, mimic=False)
    q0, qd0, _ = state(robot, 1)
    wrenches = {robot.link_names[-1]: np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])}
    motion = robot.sensitivities(q0, qd0, external=wrenches, **OPTIONS, frame="body")

    def run(change):
        return robot.simulate(robot.integrate(q0, change), qd0, external=wrenches, **OPTIONS, frame="body")

    check(motion, "q0", run, robot.nv, 1e-6)
    assert motion.names[-1] == f"external.{robot.link_names[-1]}"


def test_a_traceable_torque_and_the_reference_path():
    @cr.traceable
    def spring(t, q, qd):
        return -4.0 * np.sin(q) * (1 + t) - 0.3 * qd

    motion = ARM.sensitivities(Q0, QD0, torque=spring, **OPTIONS)
    check(motion, "q0", lambda change: ARM.simulate(Q0 + change, QD0, torque=spring, **OPTIONS), 2)
    plain = ARM.sensitivities(Q0, QD0, torque=[1.0, 0.0], **OPTIONS).forward()
    slow = ARM.reference.sensitivities(Q0, QD0, torque=[1.0, 0.0], **OPTIONS)
    for name, parts in slow.forward().items():
        for a, b in zip(parts, plain[name], strict=True):
            assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    with pytest.raises(ModelError, match="the adjoint needs compiled code"):
        slow.adjoint()


def test_a_closed_loop_moves_with_its_crank():
    robot = cr.load("four_bar")
    q0 = robot.home()
    motion = robot.sensitivities(q0, None, 0.02, dt=0.002)
    direction = robot.loops.consistent_velocity(q0, np.eye(robot.nv)[0])
    ends = [robot.simulate(q0, sign * 1e-5 * direction, 0.02, dt=0.002).q for sign in (1, -1)]
    found = motion.forward(["qd0"])["qd0"][0] @ direction
    assert_allclose(found, (ends[0] - ends[1]) / 2e-5, atol=1e-5)


def test_what_has_no_derivative_is_refused():
    with pytest.raises(ShapeError, match="chooses its steps"):
        ARM.sensitivities(Q0, integrator="dop853")
    with pytest.raises(ShapeError, match="whole number of steps"):
        ARM.sensitivities(Q0, duration=0.105, dt=0.01)
    with pytest.raises(ShapeError, match=r"mark it with cr\.traceable"):
        ARM.sensitivities(Q0, torque=lambda t, q, qd: -q)
    with pytest.raises(ModelError, match=r"dry friction of 'joint1', 'joint2'.*'coulomb': 0"):
        ARM.edit(joints={"*": {"coulomb": 0.1}}).sensitivities(Q0)
    with pytest.raises(ShapeError, match="sampled are not differentiated"):
        ARM.sensitivities(Q0, torque=cr.Sampled(cr.PD(ARM, [0, 0], kp=1.0, kd=1.0), 0.01))
    motion = ARM.sensitivities(Q0, **OPTIONS)
    with pytest.raises(UnknownNameError, match="'q1'"):
        motion.forward(["q1"])
    with pytest.raises(ShapeError, match=r"dq must have the shape \(11, 2\)"):
        motion.adjoint(np.zeros((3, 2)))
    with pytest.raises(ShapeError, match="jumps inside a step"):
        ARM.sensitivities(Q0, torque=cr.Samples([0, 0.013, 0.2], np.ones((3, 2)), "previous"), **OPTIONS)
