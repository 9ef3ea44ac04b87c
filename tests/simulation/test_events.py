"""Events: found to rounding, in order, row by row."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

from .motions import ARM


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "dop853", "lsoda"])
def test_an_event_stops_the_motion_where_its_function_is_zero(method):
    robot = cr.load("double_pendulum")
    event = cr.Event(lambda t, q, qd: q[..., 0] + q[..., 1] - 0.2, name="crossing")
    motion = robot.simulate([1.0, 0.5], None, 3.0, integrator=method, events=event)
    assert motion.status == "stopped"
    assert abs(motion.q[-1].sum() - 0.2) < 1e-9
    assert motion.events[0].name == "crossing"
    assert motion.t[-1] == motion.events[0].t
    assert (motion.q[:-1].sum(-1) > 0.2).all()


def test_events_in_a_batch_are_found_row_by_row_and_in_one_direction():
    robot = cr.load("pendulum")
    event = cr.Event(lambda t, q, qd: q[..., 0], direction=-1, terminal=False)
    motion = robot.simulate([[0.5], [1.0], [-0.5]], None, 2.0, events=event, record=100)
    assert len(motion) == 21
    rows = sorted(happened.row for happened in motion.events)
    assert set(rows) == {(0,), (1,), (2,)}
    for happened in motion.events:
        assert abs(happened.q[0]) < 1e-12
        assert happened.qd[0] < 0


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_batch_stops_when_every_row_has_had_its_event(method):
    robot = cr.load("pendulum")
    motion = robot.simulate([[0.2], [2.0]], None, 50.0, events=lambda t, q, qd: q[..., 0], integrator=method)
    assert motion.status == "stopped"
    first, second = sorted(motion.events, key=lambda happened: happened.t)
    assert motion.t[-1] <= second.t < motion.t[-1] + 1e-3
    rows = motion.row(*first.row), motion.row(*second.row)
    assert (np.isnan(rows[0].q[:, 0]) == (motion.t > first.t)).all()
    assert np.isfinite(rows[1].q).all()


def test_of_two_events_in_one_step_the_earlier_ends_the_motion():
    late = cr.Event(lambda t, q, qd: t - 0.0205 + 0 * q[..., 0], name="late")
    early = cr.Event(lambda t, q, qd: t - 0.0202 + 0 * q[..., 0], name="early")
    motion = ARM.simulate([0.0, 0.0], None, 1.0, events=[late, early])
    assert [event.name for event in motion.events] == ["early"]


def test_an_event_in_a_batch_is_found_with_a_function_that_has_numbers_for_each_row():
    gains = np.array([[1.0, 2.0], [3.0, 4.0]])
    level = cr.Event(lambda t, q, qd: q[..., 0] + 0.3)
    motion = ARM.simulate(np.zeros((2, 2)), None, 1.0, lambda t, q, qd: -gains * q, events=level)
    assert motion.status == "stopped"
    assert [event.row for event in motion.row(1).events] == [()]
    assert motion.row(1).events[0].t == motion.events[[e.row for e in motion.events].index((1,))].t


def test_a_row_that_an_event_has_stopped_may_diverge_afterwards():
    law = cr.traceable(lambda t, q, qd: [3000.0 * q[0] ** 3 + 1.0, 0.0 * t])
    stop = cr.Event(lambda t, q, qd: q[..., 0] - 1.5)
    options = {"torque_limits": False, "limits": False, "events": stop}
    assert ARM.simulate([[1.0, 0.0], [0.0, 0.0]], None, 1.5, law, **options).status == "stopped"
