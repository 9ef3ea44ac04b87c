"""Batches: each row moves as it would alone."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.errors import ShapeError

from .motions import ARM, START


def test_rows_of_a_batch_are_what_each_is_alone_whatever_the_threads():
    robot = cr.load("panda")
    q0 = robot.random_state(np.random.default_rng(0), (3, 7))
    cr.set_threads(2)
    try:
        many = robot.simulate(q0, None, 0.05, record=10)
    finally:
        cr.set_threads(None)
    assert many.q.shape == (3, 7, 6, 7)
    for row in ((0, 0), (2, 6)):
        alone = robot.simulate(q0[row], None, 0.05, record=10)
        assert np.abs(many.row(*row).q - alone.q).max() < 1e-12


def test_samples_may_differ_from_row_to_row(arm):
    values = np.random.default_rng(0).normal(size=(3, 5, 2))
    samples = cr.Samples(np.linspace(0, 0.4, 5), values)
    many = arm.simulate(np.tile(START, (3, 1)), None, 0.4, samples)
    for method in ("rk4", cr.DOP853(rtol=1e-11)):
        for row in range(3):
            alone = arm.simulate(START, None, 0.4, cr.Samples(samples.t, values[row]), integrator=method)
            assert np.abs(many.row(row).q - alone.q).max() < 1e-7


def test_a_function_sees_the_batch_as_it_was_given(arm):
    shapes = set()

    def torque(t, q, qd):
        shapes.add((np.shape(t), q.shape, qd.shape))
        return -qd

    arm.simulate(START, None, 0.01, torque)
    arm.simulate(np.tile(START, (3, 4, 1)), None, 0.01, torque)
    assert shapes == {((), (2,), (2,)), ((), (3, 4, 2), (3, 4, 2))}


def test_samples_with_rows_of_their_own_reach_the_right_rows_of_a_larger_batch():
    samples = cr.Samples([0.0, 1.0], np.arange(12.0).reshape(3, 2, 2))
    taus = [ARM.simulate(np.zeros((2, 3, 2)), None, 0.01, samples, integrator=m).tau for m in ("rk4", "dop853")]
    assert np.allclose(*taus)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_samples_of_another_batch_than_the_starts_are_refused(method):
    for start in ([0.0, 0.0], np.zeros((2, 2))):
        with pytest.raises(ShapeError, match="give q0 the larger one"):
            ARM.simulate(start, None, 0.1, cr.Samples([0.0, 1.0], np.zeros((3, 2, 2))), integrator=method)


def test_controllers_are_compiled_in_and_their_gains_may_vary_over_the_batch():
    robot = cr.load("panda").without_friction()
    q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.5])
    gains = np.array([[50.0], [100.0], [200.0]]) * np.ones(7)
    motion = robot.simulate(np.tile(q0, (3, 1)), None, 0.3, cr.ComputedTorque(robot, q0 + 0.2, gains))
    for row, kp in enumerate((50.0, 100.0, 200.0)):
        w = np.sqrt(kp)
        exact = q0 + 0.2 - 0.2 * (1 + w * motion.t[:, None]) * np.exp(-w * motion.t[:, None])
        assert np.abs(motion.q[row] - exact).max() < 1e-8


def test_rows_that_diverge_may_be_kept_apart(arm):
    push = cr.traceable(lambda t, q, qd: 200.0 * qd * qd * qd)
    motion = arm.simulate([START, [0.0, 0.0]], None, 3.0, push, diverged="keep")
    assert not np.isfinite(motion.q[0, -1]).all()
    assert (motion.q[1] == 0).all()
