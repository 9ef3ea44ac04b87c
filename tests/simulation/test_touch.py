"""Touches stop a motion where the first two bodies meet, by every kind of integrator, and name them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import chainrule as cr

ARM = cr.load("planar_2r")
FLOOR = cr.World().half_space("floor", normal=(0, 1, 0), point=(0, -1, 0))
START = [0.0, 0.0]


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_a_falling_arm_stops_at_the_floor(integrator):
    motion = cr.load("planar_2r").simulate(START, None, 2.0, integrator=integrator, events=cr.Touch(ARM, FLOOR, 0.02))
    assert motion.status == "stopped"
    assert [event.name for event in motion.events] == ["touch of 'link2' and 'floor'"]
    assert ARM.clearance(motion.events[0].q, FLOOR) == pytest.approx(0.02, abs=1e-9)
    assert ARM.clearance(motion.q[:-1], FLOOR).min() > 0.02


def test_touches_may_be_noted_only():
    motion = ARM.simulate(START, None, 1.5, events=cr.Touch(ARM, FLOOR, terminal=False))
    assert motion.status == "finished"
    d = ARM.clearance(motion.q, FLOOR)
    assert len(motion.events) == ((d[:-1] > 0) & (d[1:] <= 0)).sum() >= 1


def test_a_robot_touches_itself():
    arm = cr.load("planar_3r").without_friction()
    start = np.array([0.0, 0.1, 0.1])
    motion = arm.simulate(start, [0.0, 6.0, 6.0], 3.0, events=cr.Touch(arm))
    assert motion.status == "stopped"
    assert motion.events[0].name == "touch of 'link1' and 'link3'"
    assert arm.clearance(motion.q[-1]) == pytest.approx(0.0, abs=1e-9)


def test_each_row_of_a_batch_stops_by_itself():
    starts = np.array([[0.0, 0.0], [-0.3, 0.3]])
    motion = ARM.simulate(starts, None, 2.0, events=cr.Touch(ARM, FLOOR, 0.01))
    assert sorted(event.row for event in motion.events) == [(0,), (1,)]
    for event in motion.events:
        assert ARM.clearance(event.q, FLOOR) == pytest.approx(0.01, abs=1e-9)


def test_a_start_that_touches_and_wrong_arguments_are_refused():
    for integrator in ("rk4", "dop853"):
        with pytest.raises(cr.ModelError, match=r"Touch: 'link2' and 'floor' are -.* mm apart at the start"):
            ARM.simulate([-np.pi / 2, 0.0], None, 1.0, integrator=integrator, events=cr.Touch(ARM, FLOOR))
    with pytest.raises(cr.ModelError, match="no pair of bodies"):
        ARM.simulate(START, None, 1.0, events=cr.Touch(ARM))
    with pytest.raises(cr.ShapeError, match=r"world must be a cr\.World"):
        cr.Touch(ARM, "floor")
    with pytest.raises(cr.ShapeError, match="clearance"):
        cr.Touch(ARM, FLOOR, clearance=np.nan)


def test_it_is_pickled():
    again = pickle.loads(pickle.dumps(cr.Touch(ARM, FLOOR, 0.1)))
    assert again.values(np.array(1.0), np.array(START), np.zeros(2)) == pytest.approx(ARM.clearance(START, FLOOR) - 0.1)
