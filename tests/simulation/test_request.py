"""The request: everything that was asked for, checked, in one frozen object."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

import chainrule as cr
from chainrule.core.derived import merged_model
from chainrule.simulation.request import SimulationRequest, SourceReader, read_start
from chainrule.simulation.simulate import simulate

from .motions import ARM


def request(**changes):
    start = read_start(ARM, [[0.1, 0.2], [0.3, 0.4]], None, within_limits=True)
    sources = SourceReader(ARM, start.batch)
    given = {
        "robot": ARM, "start": start, "duration": 0.5, "integrator": cr.RK4(1e-2), "torque": sources.torque([1.0, 2.0], True),
        "wrenches": sources.wrenches(None, {"tip": np.arange(6.0)}),
    }  # fmt: skip
    return SimulationRequest(**{**given, **changes})


def test_a_request_has_the_plant_the_states_and_the_numbers_of_its_simulation():
    asked = request(stops=cr.Stops(100.0, [1.0, 2.0]))
    assert asked.state.shape == (2, 2 + 2 + 3)
    assert asked.parameters.tolist() == [[100.0, 100.0, 1.0, 2.0, 1.0, 2.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]]
    assert asked.plant.model == merged_model(ARM)
    assert asked.plant.fingerprint == request(stops=cr.Stops(5.0)).plant.fingerprint  # numbers do not shape the text
    assert asked.plant.fingerprint != request().plant.fingerprint


def test_a_request_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        request().duration = 1.0


def test_the_signature_of_simulate_is_that_of_the_method_before_and_after_a_call():
    robot = cr.load("pendulum")
    parameters = list(inspect.signature(simulate).parameters)
    for _ in range(2):
        assert list(inspect.signature(robot.simulate).parameters) == parameters[1:]
        robot.simulate([0.1], None, 0.01)
    documented = inspect.getdoc(simulate)
    assert all(name in documented for name in parameters[1:])
    own = {"start", "bound", "wrenches", "wrench_frame", "stabilization", "record_every"}  # of several, or renamed
    assert {field.name for field in fields(SimulationRequest)} - own <= {*parameters}
