"""Steps that are split: where samples jump, and where joints stop or meet their limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr

PENDULUM = cr.load("pendulum")
DOUBLE = cr.load("double_pendulum")
EXACT = {"integrator": cr.DOP853(rtol=1e-11, atol=1e-13)}

CASES = {
    "friction": (PENDULUM.edit(joints={"*": {"coulomb": 0.5}}), {}),
    "friction at two joints": (DOUBLE.edit(joints={"*": {"coulomb": 0.3}}), {}),
    "a hard stop": (PENDULUM.edit(joints={"*": {"lower": -0.5, "upper": 2.0}}), {"stops": cr.Impacts(0.6)}),
    "hard stops": (DOUBLE.edit(joints={"*": {"lower": -0.6, "upper": 2.0}}), {"stops": cr.Impacts(0.3)}),
    "both": (DOUBLE.edit(joints={"*": {"lower": -0.6, "upper": 2.0, "coulomb": 0.1}}), {"stops": cr.Impacts(0.3)}),
    "springs": (DOUBLE.edit(joints={"*": {"lower": -0.6, "upper": 2.0}}), {"stops": cr.Stops(20.0, 0.5)}),
}


@pytest.mark.parametrize(("robot", "options"), CASES.values(), ids=CASES)
def test_methods_keep_their_order_at_events(robot, options):
    start = [1.2, 0.3][: robot.nq]
    exact = robot.simulate(start, None, 1.2, **EXACT, **options).q[-1]
    for method, order, dt, largest in (("rk4", 4, 4e-3, 1e-6), ("implicit_midpoint", 2, 4e-3, 2e-3)):
        coarse, fine = (
            np.abs(robot.simulate(start, None, 1.2, integrator=method, dt=h, **options).q[-1] - exact).max()
            for h in (dt, dt / 4)
        )
        assert coarse < largest
        assert fine < coarse / 4 ** (order - 0.7) + 1e-10


def test_every_row_of_a_batch_has_events_of_its_own():
    robot, options = CASES["both"]
    starts = np.random.default_rng(0).uniform(0, 1.2, (5, 2))
    batch = robot.simulate(starts, None, 0.8, **options)
    for row, start in enumerate(starts):
        assert_allclose(batch.q[row], robot.simulate(start, None, 0.8, **options).q, atol=1e-10)


def test_called_functions_have_located_events_too():
    robot, options = CASES["both"]
    starts = np.array([[1.2, 0.3], [0.4, 0.1]])
    called = robot.simulate(starts, None, 0.5, lambda t, q, qd: -0.1 * qd + t, dt=2e-3, **options)
    traced = robot.simulate(starts, None, 0.5, cr.traceable(lambda t, q, qd: -0.1 * qd + t), dt=2e-3, **options)
    assert_allclose(called.q, traced.q, atol=1e-9)


@pytest.mark.parametrize("at", [0.1234, 0.1 + 1e-13, 0.1003])
def test_samples_that_jump_between_steps_split_the_step(at):
    torque = cr.Samples([0.0, at, 1.0], [[0.0], [5.0], [5.0]], "previous")
    exact = PENDULUM.simulate([0.2], None, 0.3, torque, **EXACT).q[-1]
    assert_allclose(PENDULUM.simulate([0.2], None, 0.3, torque).q[-1], exact, atol=1e-11)
    two = PENDULUM.simulate([0.2], None, at)
    after = PENDULUM.simulate(two.q[-1], two.qd[-1], 0.3 - at, [5.0])
    assert_allclose(exact, after.q[-1], atol=1e-9)


def test_rows_of_samples_that_jump_between_steps():
    torque = cr.Samples([0.0, 0.0513, 0.0777], np.arange(6.0).reshape(2, 3, 1), "previous")
    batch = PENDULUM.simulate([[0.2], [0.3]], None, 0.1, torque)
    for row, start in enumerate((0.2, 0.3)):
        own = cr.Samples(torque.t, torque.values[row], "previous")
        assert_allclose(batch.q[row], PENDULUM.simulate([start], None, 0.1, own).q, atol=1e-13)


def test_recorded_times_are_those_of_whole_steps():
    torque = cr.Samples([0.0, 0.0505, 0.0777], [[0.0], [5.0], [1.0]], "previous")
    for every in (1, 3):
        motion = PENDULUM.simulate([0.2], None, 0.1, torque, record=every)
        plain = PENDULUM.simulate([0.2], None, 0.1, record=every)
        assert_allclose(motion.t, plain.t, atol=1e-15)
    event = cr.Event(lambda t, q, qd: q[..., 0] - 0.19, terminal=False)
    assert_allclose(PENDULUM.simulate([0.2], None, 0.1, torque, events=event).t, 1e-3 * np.arange(101), atol=1e-15)
