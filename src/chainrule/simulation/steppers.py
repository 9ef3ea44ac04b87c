"""What takes steps: compiled code, or the same text on NumPy arrays.

Both have one interface: states (rows, state) are moved on in place, and records written.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.batch import batch_function
from chainrule.compile.load import engine
from chainrule.compile.program import Outliner, symbols, tape
from chainrule.compile.rollout import Rollout
from chainrule.functions.reference import scalars_of
from chainrule.simulation.plant import WORKS, Plant, Rates, Slip
from chainrule.simulation.step import Stepped, settled, step
from chainrule.spatial import Scalar

Scalars = Sequence[Scalar]


class Stepper(Protocol):
    """Moves states on in time."""

    def advance(self, state: Array, parameters: Array, t: Array, signals: Array, every: int, records: Array) -> None:
        """Take len(t) - 1 steps from the times t (steps + 1); signals (rows, 3 steps, width)."""


def state_size(plant: Plant) -> int:
    return plant.model.nq + plant.model.nv + plant.nx


def record_size(plant: Plant) -> int:
    """A record holds the state, accelerations, torques, what friction takes, and the integrator's residual."""
    return state_size(plant) + 3 * plant.model.nv + 1


def columns_of(plant: Plant, records: Array) -> dict[str, Array]:
    """The arrays of a trajectory, from records (..., T, record)."""
    nq, nv = plant.model.nq, plant.model.nv
    widths = {
        "q": nq, "qd": nv, "states": plant.nx - WORKS, "work": WORKS, "qdd": nv, "tau": nv, "friction": nv,
    }  # fmt: skip
    ends = np.cumsum(list(widths.values()))
    return {name: records[..., end - width : end] for (name, width), end in zip(widths.items(), ends, strict=True)}


def _taken_apart(plant: Plant, state: Scalars) -> tuple[Scalars, Scalars, Scalars]:
    nq, nv = plant.model.nq, plant.model.nv
    return state[:nq], state[nq : nq + nv], state[nq + nv :]


def _result(q: Scalars, v: Scalars, x: Scalars, after: Stepped) -> list[Scalar]:
    """The state after the step, and the record of its start."""
    start = after.start
    record = [*q, *v, *x, *start.acceleration, *start.torque, *start.friction, after.residual]
    return [*after.q, *after.v, *after.x, *record]


def _restitution(plant: Plant, p: Scalars) -> Scalars:
    return p[: plant.model.nv] if plant.stops == "impact" else []


def outlined_rates(
    plant: Plant,
    call: Callable[..., list[Scalar]],
    q: Scalars,
    v: Scalars,
    x: Scalars,
    s: Scalars,
    p: Scalars,
    slip: Slip | None,
) -> list[Scalar]:
    """The plant's rates by a call of a function that has been made of them."""

    def rates(q: Scalars, v: Scalars, x: Scalars, s: Scalars, p: Scalars, *slipping: Scalars) -> list[Scalar]:
        return plant.rates(q, v, x, s, p, Slip(*slipping) if slipping else None).flat()

    if slip is None:
        return call("rates", rates, q, v, x, s, p)
    return call("rates_slipping", rates, q, v, x, s, p, slip.direction, slip.free)


class _Outlined:
    """The plant's functions as calls of compiled code."""

    def __init__(self, plant: Plant, outliner: Outliner, p: Scalars) -> None:
        self.plant, self.outliner, self.p = plant, outliner, p

    def rates(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, slip: Slip | None) -> Rates:
        return self.plant.unpack(outlined_rates(self.plant, self.outliner.call, q, v, x, s, self.p, slip))

    def jump(self, q: Scalars, free: Scalars, given: Scalars) -> tuple[Scalars, Scalars]:
        return _halves(self.outliner.call("jump", self.plant.jump, q, free, given))

    def closing_step(self, q: Scalars, free: Scalars) -> Scalars:
        return self.outliner.call("close", self.plant.closing_step, q, free)

    def consistent_velocity(self, q: Scalars, v: Scalars, free: Scalars) -> Scalars:
        return self.outliner.call("settle", self.plant.consistent_velocity, q, v, free)


class Compiled:
    """The whole loop as machine code."""

    def __init__(self, plant: Plant, method: str, width: int, project: bool) -> None:
        outliner = Outliner((1 + plant.parameter_count, state_size(plant), 3 * plant.width))
        (h, *p), state, three = outliner.inputs
        q, v, x = _taken_apart(plant, state)

        def signals(stage: int, _q: Scalars, _v: Scalars) -> Scalars:
            return three[stage * plant.width : (stage + 1) * plant.width]

        calls = _Outlined(plant, outliner, p)
        after = step(plant, calls, method, q, v, x, signals, _restitution(plant, p), h, project)
        program = outliner.finished(_result(q, v, x, after))
        self.rollout = Rollout(program, record_size(plant), width, plant.model.name)

    def advance(self, state: Array, parameters: Array, t: Array, signals: Array, every: int, records: Array) -> None:
        self.rollout(state, parameters, signals, len(t) - 1, every, records)


KEPT = 16
_built: OrderedDict[Any, Compiled] = OrderedDict()
_functions: OrderedDict[Any, Any] = OrderedDict()
_building = threading.Lock()


def compiled(plant: Plant, method: str, rows: int, project: bool) -> Compiled:
    """The compiled stepper of a plant; the last few stay at hand."""
    width = 1 if rows == 1 else engine.vector_bits() // 64
    key = (plant.key, method, width, project)
    with _building:
        if key not in _built:
            _built[key] = Compiled(plant, method, width, project)
        _built.move_to_end(key)
        while len(_built) > KEPT:
            _built.popitem(last=False)
        return _built[key]


class Inline:
    """The plant's functions evaluated where they stand, on NumPy arrays."""

    def __init__(self, plant: Plant, p: Scalars) -> None:
        self.plant, self.p = plant, p

    def rates(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, slip: Slip | None) -> Rates:
        return self.plant.rates(q, v, x, s, self.p, slip)

    def jump(self, q: Scalars, free: Scalars, given: Scalars) -> tuple[Scalars, Scalars]:
        return _halves(self.plant.jump(q, free, given))

    def closing_step(self, q: Scalars, free: Scalars) -> Scalars:
        return self.plant.closing_step(q, free)

    def consistent_velocity(self, q: Scalars, v: Scalars, free: Scalars) -> Scalars:
        return self.plant.consistent_velocity(q, v, free)


class Kernels(Inline):
    """The plant's functions, each compiled, called from Python."""

    def _call(self, name: str, compute: Callable[..., Scalars], *arguments: Scalars) -> list[Any]:
        key = (self.plant.key, name, len(arguments))
        with _building:
            if key not in _functions:
                own = [symbols(f"a{k}_", len(part)) for k, part in enumerate(arguments)]
                flat = [x for part in own for x in part]
                _functions[key] = batch_function(tape([flat], compute(*own)), name, self.plant.model.name)
            while len(_functions) > 4 * KEPT:
                _functions.popitem(last=False)
        return scalars_of(_functions[key](_columns([x for part in arguments for x in part], len(arguments[0][0]))))

    def rates(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, slip: Slip | None) -> Rates:
        return self.plant.unpack(outlined_rates(self.plant, self._call, q, v, x, s, self.p, slip))

    def jump(self, q: Scalars, free: Scalars, given: Scalars) -> tuple[Scalars, Scalars]:
        return _halves(self._call("jump", self.plant.jump, q, free, given))


class Stepwise:
    """One step after the other, in Python: for torques that only Python can tell, and as a reference."""

    def __init__(self, plant: Plant, method: str, project: bool, calls: Callable[[Plant, Scalars], Any]) -> None:
        self.plant, self.method, self.project, self.calls = plant, method, project, calls
        self.taken = 0
        """Steps of the last advance that were taken, all of them unless it was interrupted."""

    def advance(self, state: Array, parameters: Array, t: Array, signals: Array, every: int, records: Array) -> None:
        h, *p = scalars_of(np.broadcast_to(parameters, (len(state), parameters.shape[-1])))
        calls = self.calls(self.plant, p)
        with np.errstate(all="ignore"):
            for k in range(len(t) - 1):
                self.taken = k
                q, v, x = _taken_apart(self.plant, scalars_of(state.copy()))
                times = (t[k], (t[k] + t[k + 1]) / 2, t[k + 1])
                found = self._signals(times, signals[:, 3 * k : 3 * k + 3])
                after = step(
                    self.plant, calls, self.method, q, v, x, found, _restitution(self.plant, p), h, self.project
                )
                flat = _columns(_result(q, v, x, after), len(state))
                if k % every == 0:
                    records[:, k // every] = flat[:, state.shape[1] :]
                state[:] = flat[:, : state.shape[1]]
        self.taken = len(t) - 1

    def look(self, state: Array, parameters: Array, t: float, signals: Array, record: Array) -> None:
        """The record of a state, without a step."""
        _, *p = scalars_of(np.broadcast_to(parameters, (len(state), parameters.shape[-1])))
        q, v, x = _taken_apart(self.plant, scalars_of(state))
        found = self._signals((t, t, t), signals[:, :3])
        with np.errstate(all="ignore"):
            _, start = settled(self.plant, self.calls(self.plant, p), q, v, x, found(0, q, v))
        after = Stepped(q, v, x, start, 0)
        record[:, 0] = _columns(_result(q, v, x, after), len(state))[:, state.shape[1] :]

    def _signals(self, times: tuple[float, float, float], ahead: Array) -> Callable[[int, Scalars, Scalars], Scalars]:
        """Signals known ahead, and those that the sources' functions give when called."""

        def signals(stage: int, q: Scalars, v: Scalars) -> Scalars:
            values = scalars_of(ahead[:, stage])
            at = 0
            for source in self.plant.sources:
                if source.called:
                    rows = len(ahead)
                    called = source.signals(np.array([times[stage]]), _columns(q, rows), _columns(v, rows))
                    values[at : at + source.width] = scalars_of(called[:, 0])
                at += source.width
            return values

        return signals


def _columns(values: Scalars, rows: int) -> Array:
    out = np.empty((rows, len(values)))
    for i, value in enumerate(values):
        out[:, i] = value
    return out


def _halves(values: Scalars) -> tuple[Scalars, Scalars]:
    return values[: len(values) // 2], values[len(values) // 2 :]
