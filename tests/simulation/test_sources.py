"""Sources of torques and wrenches: numbers, samples, functions, traced functions, controllers."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

from .motions import ARM, START


def test_the_same_torque_gives_the_same_motion_however_it_is_told(arm):
    tau = np.array([2.0, -1.0])
    told = [
        tau,
        cr.Samples([0.0, 1.0], [tau, tau]),
        ([0.0, 1.0], [tau, tau]),
        cr.Samples([0.0, 0.5, 1.0], [tau] * 3, "previous"),
        cr.Samples([0.0, 0.5, 1.0], [tau] * 3, "cubic"),
        lambda t, q, qd: tau,
        cr.traceable(lambda t, q, qd: tau + 0 * q),
    ]
    motions = [arm.simulate(START, None, 0.5, torque) for torque in told]
    for motion in motions[1:]:
        assert np.abs(motion.q - motions[0].q).max() < 1e-12
        assert np.allclose(motion.tau, tau)


def test_samples_are_interpolated_as_they_say(arm):
    t, values = np.array([0.0, 0.1, 0.2]), np.array([[0.0, 1.0], [2.0, 1.0], [0.0, -1.0]])
    linear = arm.simulate(START, None, 0.3, cr.Samples(t, values), dt=0.05)
    assert np.allclose(linear.tau[:, 0], [0, 1, 2, 1, 0, 0, 0])
    steps = arm.simulate(START, None, 0.3, cr.Samples(t, values, "previous"), dt=0.05)
    assert np.allclose(steps.tau[:, 0], [0, 0, 2, 2, 0, 0, 0])
    smooth = arm.simulate(START, None, 0.2, cr.Samples(t, values, "cubic"), dt=0.05)
    assert np.allclose(smooth.tau[:, 0], [0, 1.5, 2, 1.5, 0])


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint"])
@pytest.mark.parametrize("as_wrench", [False, True])
def test_samples_that_are_held_give_exactly_their_impulse(method, as_wrench):
    wheel = cr.load("pendulum").edit(gravity=[0, 0, 0]).without_friction()
    t, u = np.arange(20) * 0.01, np.random.default_rng(0).normal(size=(20, 1))
    if as_wrench:
        moments = cr.Samples(t, -u * [[0, 0, 1, 0, 0, 0]], "previous")
        motion = wheel.simulate([0.0], None, 0.2, None, integrator=method, dt=0.01, tip_wrench=moments, frame="body")
    else:
        motion = wheel.simulate(
            [0.0], None, 0.2, cr.Samples(t, u, "previous"), integrator=method, dt=0.01, torque_limits=False
        )
    inertia = wheel.mass_matrix([0.0])[0, 0]
    assert motion.qd[-1, 0] * inertia == pytest.approx(u.sum() * 0.01, abs=1e-13)


def test_samples_refuse_what_they_cannot_mean():
    for t, values in (
        ([0.0], [[1.0]]),
        ([1.0, 0.0], [[1.0], [2.0]]),
        ([0.0, 1.0], [[1.0]]),
        ([0, 1], [[1.0], [np.nan]]),
    ):
        with pytest.raises(cr.ShapeError):
            cr.Samples(t, values)
    with pytest.raises(cr.ShapeError, match="linear"):
        cr.Samples([0, 1], [[1.0], [2.0]], "quadratic")


def test_a_function_is_never_asked_beyond_the_end(arm):
    times = []
    arm.simulate(START, None, 0.1, lambda t, q, qd: times.append(t) or 0 * q, dt=0.03)
    assert min(times) == 0
    assert max(times) <= 0.1 + 1e-12


def test_wrenches_of_every_kind_act_as_those_of_forward_dynamics(arm):
    push = np.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5])
    for told in (push, lambda t, q, qd: push, ([0.0, 1.0], [push, push]), cr.traceable(lambda t, q, qd: push + 0 * t)):
        motion = arm.simulate(START, None, 0.1, [0.5, 0.1], tip_wrench=told, frame="body")
        expected = arm.forward_dynamics(motion.q, motion.qd, motion.tau, tip_wrench=push, frame="body")
        assert np.abs(motion.qdd - expected).max() < 1e-9
        link = arm.link_names[1]
        motion = arm.simulate(START, None, 0.1, [0.5, 0.1], external={link: told}, frame="body")
        expected = arm.forward_dynamics(motion.q, motion.qd, motion.tau, external={link: push}, frame="body")
        assert np.abs(motion.qdd - expected).max() < 1e-9


# --- traced functions ---


def test_a_traced_function_runs_compiled_and_equals_itself_called(arm):
    K = np.array([[30.0, 2.0], [2.0, 10.0]])

    @cr.traceable
    def law(t, q, qd):
        return -K @ q - 3.0 * qd + np.array([1.0, 0.0]) * np.sin(2 * t)

    compiled = arm.simulate(START, None, 1.0, law)
    called = arm.simulate(START, None, 1.0, law.function)
    assert np.abs(compiled.q - called.q).max() < 1e-12


def saturated(tau):
    return np.clip(tau, -4.0, 4.0)


def test_a_law_in_numpys_style_runs_compiled_as_it_is(arm):
    K = np.array([[30.0, 2.0], [2.0, 10.0]])
    goal = np.array([0.3, -0.2])

    def law(t, q, qd):
        q = np.asarray(q, dtype=float)
        error = np.array([goal[0] * np.sin(t), goal[1]]) - q
        tau = np.zeros(2)
        tau[:] = K @ error - 3.0 * qd
        tau[1] += np.where(np.linalg.norm(error) > 0.1, 1.0, np.interp(t, [0.0, 0.3, 0.6], [0.0, 1.0, 0.5]))
        return saturated(tau) * (np.abs(qd) < 50.0)

    compiled = arm.simulate(START, None, 1.0, cr.traceable(law))
    called = arm.simulate(START, None, 1.0, law)
    assert np.abs(compiled.q - called.q).max() < 1e-12
    assert np.abs(compiled.tau).max() == 4.0


def test_the_error_of_a_law_is_the_error_that_the_user_sees(arm):
    def law(t, q, qd):
        return -gains["kp"] * q  # noqa: F821

    class Broken(cr.Controller):
        def torque(self, q, qd, z, s, p):
            return [-{}["kp"] * x for x in q], []

    for torque, error in ((cr.traceable(law), NameError), (Broken(arm, {}), KeyError)):
        with pytest.raises(error) as caught:
            arm.simulate(START, None, 0.1, torque)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "law",
    [
        lambda t, q, qd: -q if q[0] > 0 else q,
        lambda t, q, qd: np.array([float(q[0]), 0.0]),
        lambda t, q, qd: np.random.normal(size=2),
        lambda t, q, qd: [q[0]] * 3,
        lambda t, q, qd: "torque",
    ],
)
def test_what_cannot_be_traced_is_refused(arm, law):
    with pytest.raises(cr.ShapeError, match="torque"):
        arm.simulate(START, None, 0.1, cr.traceable(law))


def test_a_traced_function_indexes_the_joints_of_one_motion_on_every_path(arm):
    law = cr.traceable(lambda t, q, qd: [-50 * q[0] + np.tanh(q[1]), np.exp(-(qd[0] ** 2)) - np.arctan(q[1])])
    starts = [[0.7, 0.8], [0.1, 0.2], [-0.3, 0.4]]
    motions = [robot.simulate(starts, None, 0.1, law) for robot in (arm, arm.reference)]
    motions.append(arm.simulate(starts, None, 0.1, law, integrator=cr.DOP853(rtol=1e-12)))
    for motion in motions[1:]:
        assert np.abs(motion.q - motions[0].q).max() < 1e-9


def test_a_traceable_law_follows_the_values_it_takes_from_elsewhere():
    gain = {"k": 5.0}
    law = cr.traceable(lambda t, q, qd: [-gain["k"] * q[0], -gain["k"] * q[1]])
    assert ARM.simulate([0.1, 0.0], None, 0.01, law).tau[0, 0] == -0.5
    gain["k"] = 50.0
    assert ARM.simulate([0.1, 0.0], None, 0.01, law).tau[0, 0] == -5.0


# --- controllers ---


def test_the_integral_of_a_pid_is_one_of_the_states(arm):
    controller = cr.PID(arm, [0.3, 0.2], 200.0, 50.0, 30.0)
    motion = arm.simulate([0.0, 0.0], None, 0.5, controller, torque_limits=False)
    assert motion.states.shape == (501, 2)
    error = np.array([0.3, 0.2]) - motion.q
    integral = np.concatenate([[[0, 0]], np.cumsum((error[1:] + error[:-1]) / 2 * 1e-3, axis=0)])
    assert np.allclose(motion.states, integral, atol=1e-6)


def test_a_controller_class_that_is_defined_anew_is_compiled_anew():
    def defined(stiffness):
        class Spring(cr.Controller):
            def torque(self, q, qd, z, s, p):
                return [-stiffness * x for x in q], []

        return Spring(ARM, {})

    assert [ARM.simulate([0.1, 0.0], None, 0.01, defined(k)).tau[0, 0] for k in (5.0, 50.0)] == [-0.5, -5.0]
