"""Derivatives of motions: of all states of a simulation, with respect to its start, torques, gains and parameters.

The step of the integrator is differentiated exactly, so that the derivatives are those of the motion as it is computed.
Forward: the step is taken with dual numbers, one run for each direction, all of them in one batch. Adjoint: one run
backward in time gives the gradient of one number with respect to everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, real_array
from chainrule.compile.backend import COMPILED, LoopBody, LoopShape, OutlinedCall, Traceable, active, call_inline
from chainrule.compile.program import unflatten
from chainrule.core.derived import backend_of
from chainrule.core.evaluation import evaluate
from chainrule.errors import ModelError, ShapeError, UnknownNameError
from chainrule.lazy import cached_property
from chainrule.simulation.fixed_step import divide
from chainrule.simulation.integrators import FixedStep, scheme_key
from chainrule.simulation.request import SimulationRequest
from chainrule.simulation.sources import ControllerSource, Samples
from chainrule.simulation.splitting import StepSplitter
from chainrule.simulation.time_loop import record_size, state_size, step_function
from chainrule.spatial import Scalar
from chainrule.spatial.dual import Dual, derivative, parts_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Scalars = Sequence[Scalar]

MAX_ROWS = 4096
"""Rows of a batch, times directions, that are computed at once."""


class Sensitivities:
    """A motion and its derivatives.

    `forward` gives those of all states with respect to a few numbers, `adjoint` the gradient of one number, a function
    of the states, with respect to everything. The names are "q0" (in the n directions of qd), "qd0", "torque" (one that
    is constant or given by samples), "controller" (its `parameters`), "external.LINK", and those of `parameters`.
    """

    def __init__(self, request: SimulationRequest, integrator: FixedStep) -> None:
        self.request, self.plant, self.integrator = request, request.plant, integrator
        self.robot, self.batch = request.robot, request.start.batch
        self._refuse_jumps()
        h, steps, rest = divide(request.duration, integrator.dt)
        if rest > 0:
            raise ShapeError(
                f"sensitivities: the duration {request.duration:g} s must be a whole number of steps of {h:g} s"
            )
        self.h = h
        self.t: Array = np.arange(steps + 1, dtype=float) * h
        """The times of all states (T,)."""
        self._splitter = StepSplitter(request, integrator)
        if not self._splitter.divide(self.t, h).is_whole.all():
            raise ShapeError("sensitivities: the torque jumps inside a step; choose dt so that jumps are at its ends")
        self._parameters, self._signals = self._splitter.inputs(self.t, h)
        self._size, self._count = state_size(self.plant), 1 + self.plant.parameter_count

    def _refuse_jumps(self) -> None:
        plant = self.plant
        if any(source.called for source in plant.sources):
            raise ShapeError(
                "sensitivities: a function that only Python can call has no derivative here; mark it with cr.traceable"
            )
        if any(source.samples for source in plant.sources):
            raise ShapeError("sensitivities: laws that are sampled are not differentiated; pass the law itself")
        if plant.has_friction:
            names = ", ".join(repr(self.robot.velocity_names[i]) for i in plant.has_friction)
            raise ModelError(
                f"sensitivities: dry friction of {names} holds and releases joints, which has no derivative; take "
                "robot.edit(joints={'*': {'coulomb': 0}})"
            )

    def __repr__(self) -> str:
        return f"<Sensitivities of {self.robot.name!r}: {len(self.t)} states, {', '.join(self.names)}>"

    # --- the motion ---

    @cached_property
    def _states(self) -> Array:
        """All states, (rows, T, size)."""
        state, steps = self.request.state.copy(), len(self.t) - 1
        records = np.empty((len(state), steps, record_size(self.plant)))
        self._splitter.time_loop.advance(state, self._parameters, self.t, self._signals, 1, records)
        states = np.concatenate([records[..., : self._size], state[:, None]], axis=1)
        if not np.isfinite(states).all():
            raise ShapeError("sensitivities: the motion diverges; take smaller steps (dt)")
        return states

    @property
    def q(self) -> Array:
        """Configurations (..., T, nq)."""
        return self._in_batch(self._states)[..., : self.robot.nq]

    @property
    def qd(self) -> Array:
        """Velocities (..., T, n)."""
        return self._in_batch(self._states)[..., self.robot.nq : self.robot.nq + self.robot.nv]

    def _in_batch(self, rows: Array) -> Array:
        return rows.reshape((*self.batch, *rows.shape[1:]))

    # --- names of what it depends on ---

    @cached_property
    def _parts(self) -> dict[str, slice]:
        """Parameters by name, with their places in (h, p)."""
        at = 1 + self.plant.own_parameters
        parts: dict[str, slice] = {}
        torque = "controller" if isinstance(self.plant.torque, ControllerSource) else "torque"
        named = [(torque, self.plant.torque)]
        named += [(f"external.{link}", source) for link, source in self.plant.wrenches.items()]
        for name, source in named:
            count = source.parameters.shape[-1]
            if count:
                parts[name] = slice(at, at + count)
            at += count
        bound = self.request.bound
        for name, count in zip(bound.names, bound.counts, strict=True):
            parts[name] = slice(at, at + count)
            at += count
        return parts

    @property
    def _is_sampled(self) -> bool:
        return isinstance(self.plant.torque, Samples)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all that the motion can be differentiated with respect to."""
        return ("q0", "qd0", *self._parts, *(["torque"] if self._is_sampled else []))

    def _read_names(self, wrt: Sequence[str]) -> list[str]:
        names = [wrt] if isinstance(wrt, str) else list(wrt)
        for name in names:
            if name not in self.names:
                raise UnknownNameError.of("quantity", name, self.names, "this motion")
            if name == "torque" and self._is_sampled:
                raise ShapeError("sensitivities: with respect to a torque given by samples, use adjoint")
        return names

    # --- forward ---

    def forward(self, wrt: Sequence[str] = ("q0", "qd0")) -> dict[str, tuple[Array, Array]]:
        """Derivatives of all states by name: dq (..., T, nq, k) and dqd (..., T, n, k), for k numbers each.

        dq is that of the coordinates as they are stored, quaternions included.
        """
        names = self._read_names(wrt)
        directions = [(name, *direction) for name in names for direction in self._directions(name)]
        found = np.concatenate(
            [self._along(part) for part in _pieces(directions, max(1, MAX_ROWS // len(self.request.state)))], axis=-1
        )
        nq, n = self.robot.nq, self.robot.nv
        result = {}
        for name in names:
            own = [k for k, direction in enumerate(directions) if direction[0] == name]
            rates = self._in_batch(found[..., own])
            result[name] = (rates[..., :nq, :], rates[..., nq : nq + n, :])
        return result

    def _directions(self, name: str) -> Iterator[tuple[Array, Array]]:
        """Rates of the state (rows, size) and of the parameters (count,) for each number of a name."""
        rows, nq, n = len(self.request.state), self.robot.nq, self.robot.nv
        nothing, still = np.zeros(self._count), np.zeros((rows, self._size))
        if name in ("q0", "qd0"):
            for k in range(n):
                state = still.copy()
                if name == "q0":
                    state[:, :nq] = evaluate(
                        self.robot,
                        "states.coordinate_rates",
                        q=self.request.start.q,
                        v=np.broadcast_to(np.eye(n)[k], (rows, n)),
                    )
                else:
                    state[:, nq + k] = 1.0
                yield state, nothing
            return
        for place in range(*self._parts[name].indices(self._count)):
            rate = nothing.copy()
            rate[place] = 1.0
            yield still, rate

    def _along(self, directions: Sequence[tuple[str, Array, Array]]) -> Array:
        """Rates of all states along directions: (rows, T, size, k)."""
        rows, k, steps = len(self.request.state), len(directions), len(self.t) - 1
        which = np.repeat(np.arange(rows), k)
        state = np.concatenate(
            [self.request.state[which], np.stack([d[1] for d in directions], axis=1).reshape(rows * k, -1)], axis=1
        )
        rates = np.broadcast_to(np.stack([d[2] for d in directions]), (rows, k, self._count)).reshape(rows * k, -1)
        parameters = np.concatenate([self._parameters[which], rates], axis=1)
        signals = np.broadcast_to(self._signals[:1], (rows * k, *self._signals.shape[1:]))
        if self._signals.strides[0]:
            signals = self._signals[which]
        records = np.empty((rows * k, steps, 2 * self._size))
        self._dual_loop(rows * k)(state, parameters, steps, signals, records)
        both = np.concatenate([records, state[:, None]], axis=1)[..., self._size :]
        return np.moveaxis(both.reshape(rows, k, steps + 1, self._size), 1, -1)

    def _dual_loop(self, rows: int) -> Any:
        body, size, count = (
            step_function(self.plant, self.integrator.scheme, self.request.projects),
            self._size,
            self._count,
        )

        def dual_body(call: OutlinedCall, parameters: Scalars, state: Scalars, signals: Scalars) -> list[Scalar]:
            def step(x: list[Scalar]) -> Scalars:
                return body(_dual_caller(call), [parameters[0], *x[: count - 1]], x[count - 1 :], signals)[:size]

            given, rates = [*parameters[1:count], *state[:size]], [*parameters[count + 1 :], *state[size:]]
            after, change = derivative(step, given, rates)
            return [*after, *change, *state]

        backend = active(backend_of(self.robot))
        shape = LoopShape(2 * count, 2 * size, self.plant.width, 2 * size)
        return backend.scan(Traceable(dual_body, self._key("forward"), self.robot.name, "sensitivities"), shape, rows)

    @property
    def _body(self) -> LoopBody:
        return step_function(self.plant, self.integrator.scheme, self.request.projects)

    def _key(self, kind: str) -> tuple[Any, ...]:
        own = (self.plant.fingerprint, scheme_key(self.integrator.scheme), self.request.projects)
        return ("sensitivities", kind, *own)

    # --- adjoint ---

    def adjoint(self, dq: ArrayLike | None = None, dqd: ArrayLike | None = None) -> dict[str, Array]:
        """The gradient of a number L, a function of the states, by name.

        dq, dqd
            Derivatives of L with respect to coordinates (..., T, nq), as they are stored, and velocities (..., T, n).

        The gradients have the shapes of what they belong to: (..., n) of "q0" and "qd0", (..., k) of parameters, and
        (..., samples, n) of a torque that is given by samples.
        """
        if not active(backend_of(self.robot)).compiles:
            raise ModelError("sensitivities: the adjoint needs compiled code; take forward on the reference path")
        nq, n, states = self.robot.nq, self.robot.nv, self._states
        weights = np.zeros_like(states)
        weights[..., :nq] = self._read_weights(dq, nq, "dq")
        weights[..., nq : nq + n] = self._read_weights(dqd, n, "dqd")
        return self._gradients(*self._backward(states, weights))

    def _backward(self, states: Array, weights: Array) -> tuple[Array, Array, Array]:
        """Gradients with respect to the start, the parameters and the signals, for weights of all states."""
        rows, steps = len(states), len(self.t) - 1
        step = self._backward_step()
        adjoint = weights[:, -1].copy()
        by_parameters = np.zeros((rows, self._count))
        by_signals = np.empty((rows, steps, 3 * self.plant.width))
        signals = self._signals.reshape(rows, steps, 3 * self.plant.width)
        for k in reversed(range(steps)):
            gradient = step(*self._nonempty(self._parameters, states[:, k], signals[:, k]), adjoint)
            by_parameters += gradient[:, : self._count]
            by_signals[:, k] = gradient[:, self._count + self._size :]
            adjoint = gradient[:, self._count : self._count + self._size] + weights[:, k]
        return adjoint, by_parameters, by_signals

    def _nonempty(self, *arrays: Array) -> list[Array]:
        """The arrays that are not empty."""
        return [array for array in arrays if array.shape[-1]]

    def _read_weights(self, value: Any, length: int, name: str) -> Array:
        if value is None:
            return np.zeros((len(self._states), len(self.t), length))
        weights = real_array(value, f"adjoint: {name}").astype(float)
        shape = (*self.batch, len(self.t), length)
        if weights.shape != shape:
            raise ShapeError(f"adjoint: {name} must have the shape {shape} of the motion, got {weights.shape}")
        return weights.reshape(-1, len(self.t), length)

    @property
    def _backward_lengths(self) -> tuple[int, int, int, int]:
        """Numbers of the parameters, the state, the signals, and the cotangent of a step."""
        return self._count, self._size, 3 * self.plant.width, self._size

    def _gradient_body(self, *arguments: Scalars) -> Scalars:
        """The gradient of a step: of (parameters, state, signals, cotangent), with respect to the first three."""
        from chainrule.compile.autodiff import vjp

        *parts, cotangent = arguments
        after = self._body(call_inline, *parts)[: self._size]
        inputs: list[Any] = [x for part in parts for x in part]
        return vjp(inputs[0].graph, after, inputs, cotangent)

    def _backward_step(self) -> Callable[..., Array]:
        """The compiled gradient of a step, as a function of those of its arguments that are not empty."""
        lengths = self._backward_lengths

        def backward(*arguments: Scalars) -> Scalars:
            given = iter(arguments)
            return self._gradient_body(*(next(given) if length else [] for length in lengths))

        sizes = [length for length in lengths if length]
        return COMPILED.function(Traceable(backward, self._key("adjoint"), self.robot.name, "adjoint"), sizes)

    def _gradients(self, adjoint: Array, by_parameters: Array, by_signals: Array) -> dict[str, Array]:
        rows, nq, n = len(adjoint), self.robot.nq, self.robot.nv
        units = np.broadcast_to(np.eye(n), (rows, n, n))
        turned = evaluate(
            self.robot, "states.coordinate_rates", q=self.request.start.q[:, None], v=units
        )  # (rows, n, nq)
        found = {"q0": np.einsum("rkq,rq->rk", turned, adjoint[:, :nq]), "qd0": adjoint[:, nq : nq + n]}
        found |= {name: by_parameters[:, places] for name, places in self._parts.items()}
        gradients = {name: self._in_batch(value) for name, value in found.items()}
        if isinstance(self.plant.torque, Samples):
            gradients["torque"] = self._in_batch(self._by_samples(self.plant.torque, by_signals))
        return gradients

    def _by_samples(self, torque: Samples, by_signals: Array) -> Array:
        """The gradient with respect to the samples of a torque, which the signals depend on linearly."""
        rows, steps, _ = by_signals.shape
        n, count = self.robot.nv, len(torque.t)
        stages = np.stack([self.t[:-1], (self.t[:-1] + self.t[1:]) / 2, self.t[1:]], axis=1).reshape(-1)
        shares = Samples(torque.t, np.eye(count), torque.interpolation)
        weights = shares.signals(stages, np.zeros(0), np.zeros(0))
        if shares.jumps:
            weights = weights.copy()
            weights[2::3] = shares.before(stages[2::3])
        own = by_signals.reshape(rows, 3 * steps, self.plant.width)[..., :n]
        return np.einsum("ts,rtn->rsn", weights, own)


def _dual_caller(call: OutlinedCall) -> OutlinedCall:
    """Calls of functions of dual numbers: functions of their values and rates, that give both."""

    def dual_call(name: str, compute: Callable[..., Scalars], *arguments: Scalars, **_: Any) -> Scalars:
        lengths = [len(part) for part in arguments]
        flat = [x for part in arguments for x in part]
        tags = [x.tag for x in flat if isinstance(x, Dual)]
        if not tags:
            return call(name, compute, *arguments)

        def both(values: Scalars, rates: Scalars) -> list[Scalar]:
            result, change = derivative(lambda x: compute(*unflatten(x, lengths)), values, rates)
            return [*result, *change]

        found = call(f"{name}.dual", both, *zip(*(parts_of(x, max(tags)) for x in flat), strict=True))
        half = len(found) // 2
        return [Dual(value, rate, max(tags)) for value, rate in zip(found[:half], found[half:], strict=True)]

    return dual_call


def _pieces(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
