"""The loop over time: states of a batch moved on step by step, by a loop of the backend or by calls from Python.

All have one interface: states (rows, state) are moved on in place, and records written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.backend import (
    INTERPRETED,
    Backend,
    InterpretedScan,
    LoopBody,
    LoopShape,
    OutlinedCall,
    Scan,
    Traceable,
    active,
    call_inline,
    columns,
)
from chainrule.core.derived import backend_of
from chainrule.functions.reference import scalars_of
from chainrule.simulation.friction import resolve_sticking
from chainrule.simulation.integrators import FixedStep, scheme_key
from chainrule.simulation.plant import WORKS, Plant, Scalars
from chainrule.simulation.plant_calls import PlantCalls, plant_calls
from chainrule.simulation.sampled import samples_in_steps
from chainrule.simulation.stages import Signals, StepResult, step
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from chainrule.simulation.request import SimulationRequest


TimeLoop: TypeAlias = "BackendTimeLoop | CallingTimeLoop"
"""A loop over time: it moves states on, and records them."""


def make_time_loop(request: SimulationRequest, integrator: FixedStep) -> TimeLoop:
    """The time loop of a simulation: the backend's, unless a source can only be called from Python."""
    plant, scheme, backend = request.plant, integrator.scheme, active(backend_of(request.robot))
    if any(source.called for source in plant.sources):
        return CallingTimeLoop(plant, scheme, request.projects, backend)
    return BackendTimeLoop(plant, scheme, request.projects, backend, len(request.state))


# --- states and records ---


def state_size(plant: Plant) -> int:
    """The number of numbers in a state: q, v and x."""
    return plant.model.nq + plant.model.nv + plant.nx


def record_size(plant: Plant) -> int:
    """The number of numbers in a record: state, accelerations, torques, friction, and the integrator's residual."""
    return state_size(plant) + 3 * plant.model.nv + 1


def columns_of(plant: Plant, records: Array) -> dict[str, Array]:
    """The arrays of a trajectory, from records (..., T, record)."""
    nq, nv = plant.model.nq, plant.model.nv
    widths = {
        "q": nq, "qd": nv, "states": plant.nx - WORKS, "work": WORKS, "qdd": nv, "tau": nv, "friction": nv,
    }  # fmt: skip
    ends = accumulate(widths.values())
    return {name: records[..., end - width : end] for (name, width), end in zip(widths.items(), ends, strict=True)}


def _split_state(plant: Plant, state: Scalars) -> tuple[Scalars, Scalars, Scalars]:
    nq, nv = plant.model.nq, plant.model.nv
    return state[:nq], state[nq : nq + nv], state[nq + nv :]


def _result(q: Scalars, v: Scalars, x: Scalars, after: StepResult) -> list[Scalar]:
    """The state after the step, and the record of its start."""
    start = after.start
    record = [*q, *v, *x, *start.acceleration, *start.torque, *start.friction, after.residual]
    return [*after.q, *after.v, *after.x, *record]


# --- time loops ---


def _take_step(
    plant: Plant, scheme: FixedStep, project: bool, calls: PlantCalls, h: Scalar, state: Scalars, signals: Signals
) -> list[Scalar]:
    """The state after a step, and the record of its start."""
    q, v, x = _split_state(plant, state)
    if samples_in_steps(plant):
        x = calls.sample(q, v, x, signals(0, q, v))
    restitution = calls.p[: plant.model.nv] if plant.stops == "impact" else []
    return _result(q, v, x, step(plant.at(calls.p), calls, scheme, q, v, x, signals, restitution, h, project))


def step_function(plant: Plant, scheme: FixedStep, project: bool, *, by_rates: bool = False) -> LoopBody:
    """One step as a function of (call, parameters, state, signals): the first parameter is its length.

    With `by_rates` the joints that stick are found by evaluating the rates again and again: fewer operations where
    calls that are not needed are left out.
    """
    width = plant.width

    def one_step(call: OutlinedCall, parameters: Scalars, state: Scalars, signals: Scalars) -> list[Scalar]:
        h, *p = parameters

        def at_stage(stage: int, _q: Scalars, _v: Scalars) -> Scalars:
            return signals[stage * width : (stage + 1) * width]

        calls = PlantCalls(plant, call, p, by_rates=by_rates)
        return _take_step(plant, scheme, project, calls, h, state, at_stage)

    return one_step


class BackendTimeLoop:
    """All steps in one loop of the backend, compiled or interpreted."""

    def __init__(self, plant: Plant, scheme: FixedStep, project: bool, backend: Backend, rows: int) -> None:
        function = step_function(plant, scheme, project)
        shape = LoopShape(1 + plant.parameter_count, state_size(plant), plant.width, record_size(plant))
        key = (plant.fingerprint, scheme_key(scheme), project) if backend.compiles else ()
        self.loop: Scan = backend.scan(Traceable(function, key, plant.model.name, "rollout"), shape, rows)

    @property
    def taken(self) -> int:
        """Steps that the last advance has completed; 0 if compiled code was interrupted, which does not count."""
        return self.loop.completed if isinstance(self.loop, InterpretedScan) else 0

    def advance(self, state: Array, parameters: Array, t: Array, signals: Array, every: int, records: Array) -> None:
        """Take len(t) - 1 steps from the times t (steps + 1); signals (rows, 3 steps, width)."""
        self.loop(state, parameters, len(t) - 1, signals, records, every)

    def bind(self, state: Array, parameters: Array) -> Callable[[], None]:
        """One step of these states with these parameters, both in place; for plants without signals."""
        bind = getattr(self.loop, "bind", None)
        step: Callable[[], None] = partial(self.loop, state, parameters, 1) if bind is None else bind(state, parameters)
        return step

    def look(self, state: Array, parameters: Array, t: float, signals: Array, record: Array) -> None:
        """Write the record of a state, from a step of a copy; the signals are those of a step from there."""
        self.loop(state.copy(), parameters, 1, signals, record)


class CallingTimeLoop:
    """One step after the other in Python, which asks the sources for their signals on the way."""

    def __init__(self, plant: Plant, scheme: FixedStep, project: bool, backend: Backend) -> None:
        self.plant, self.backend = plant, backend
        call = backend.outlined_call(plant.fingerprint if backend.compiles else (), plant.model.name)

        def one_step(_: OutlinedCall, parameters: Scalars, state: Scalars, signals: Scalars) -> list[Scalar]:
            h, *p = parameters
            calls = PlantCalls(plant, call, p, call_inline)
            return _take_step(plant, scheme, project, calls, h, state, self._signals(signals, len(state[0])))

        shape = LoopShape(1 + plant.parameter_count, state_size(plant), plant.width + 1, record_size(plant))
        self.loop = INTERPRETED.scan(Traceable(one_step, (), plant.model.name, "rollout"), shape)

    @property
    def taken(self) -> int:
        """Steps that the last advance has completed."""
        return self.loop.completed

    def advance(self, state: Array, parameters: Array, t: Array, signals: Array, every: int, records: Array) -> None:
        """Take the steps between the times t."""
        times = np.stack([t[:-1], (t[:-1] + t[1:]) / 2, t[1:]], axis=1).reshape(-1)
        self.loop(state, parameters, len(t) - 1, _with_time(signals, times), records, every)

    def look(self, state: Array, parameters: Array, t: float, signals: Array, record: Array) -> None:
        """Write the record of a state: its rates, without a step."""
        _, *p = scalars_of(np.broadcast_to(parameters, (len(state), parameters.shape[-1])))
        q, v, x = _split_state(self.plant, scalars_of(state))
        ahead = _with_time(signals[:, :3], np.full(3, t))
        stages = [column for stage in range(3) for column in scalars_of(ahead[:, stage])]
        with np.errstate(all="ignore"):
            found = self._signals(stages, len(state))(0, q, v)
            calls = plant_calls(self.plant, p, self.backend)
            if samples_in_steps(self.plant):
                x = calls.sample(q, v, x, found)
            _, start = resolve_sticking(self.plant.at(p), calls, q, v, x, found)
        after = StepResult(q, v, x, start, 0)
        record[:, 0] = columns(_result(q, v, x, after), (len(state),))[:, state.shape[1] :]

    def _signals(self, stages: Scalars, rows: int) -> Signals:
        """Signals known ahead, and those that the sources' functions give when called; the last one is the time."""
        width = self.plant.width + 1

        def at_stage(stage: int, q: Scalars, v: Scalars) -> Scalars:
            *values, t = stages[stage * width : (stage + 1) * width]
            at = 0
            for source in self.plant.sources:
                if source.called:
                    called = source.signals(np.array([t[0]]), columns(q, (rows,)), columns(v, (rows,)))
                    values[at : at + source.width] = scalars_of(called[:, 0])
                at += source.width
            return values

        return at_stage


def _with_time(signals: Array, times: Array) -> Array:
    """Signals (rows, T, width) with the time as one more."""
    return np.concatenate([signals, np.broadcast_to(times[None, :, None], (*signals.shape[:2], 1))], axis=-1)
