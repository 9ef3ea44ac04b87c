"""Sources of torques and wrenches: constants, samples in time, functions, controllers.

A source gives `size` numbers from the state, from signals known ahead (a reference, samples) and from parameters (a
constant, gains). `compute` is traced and compiled; signals and parameters are its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chainrule.arguments import Array, real_array, refuse_nonfinite, rows_of
from chainrule.calls import explains_construction
from chainrule.compile.traced_function import TracedFunction
from chainrule.control.laws.tracing import call_law, is_own_law, law_key, takes_time, traced_law
from chainrule.errors import ShapeError, SimulationWarning, warn_user
from chainrule.lazy import cached_property
from chainrule.spatial import Scalar

Scalars = Sequence[Scalar]


def are_numeric(*scalars: Scalar) -> bool:
    """Whether scalars are numbers, or arrays of them, and not symbols."""
    return all(isinstance(x, (int, float, np.ndarray, np.generic)) for x in scalars)


class Source:
    """A constant, zero by default; also the base of the other sources."""

    is_reaction = False
    """Whether it is what the robot applies to the world: the opposite acts on the robot."""

    def __init__(self, size: int, constant: Array | None = None) -> None:
        self.size = size
        self.states = 0
        self.width = 0
        self.parameters = np.zeros(0) if constant is None else constant
        self.batch: tuple[int, ...] = ()
        """The batch dimensions of its signals."""
        self.called = False
        """Whether its signals come from a Python function, called at every stage of every step."""

    @property
    def fingerprint(self) -> tuple[Hashable, ...]:
        """Everything that shapes the arithmetic of `compute`."""
        return (type(self).__name__, self.is_reaction, self.size, self.states, self.width, self.parameters.shape[-1])

    @property
    def breaks(self) -> Array:
        """Times at which its values or their rates jump: an adaptive integrator restarts there."""
        return np.zeros(0)

    def restart_times(self, start: float, end: float) -> Array:
        """The times after `start` and before `end` at which an adaptive integrator restarts."""
        return self.breaks[(self.breaks > start) & (self.breaks < end)]

    def split_times(self, start: float, end: float) -> Array:
        """The times after `start` and before `end` at which its values jump: fixed steps are split there."""
        return self.restart_times(start, end) if self.jumps else np.zeros(0)

    samples = False
    """Whether it changes its own states at certain times: `sample` is called before a step."""

    def sample(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Scalars:
        """Its own states after a sample, if the signals say that this is the time of one."""
        return z

    def warn_of_memory(self) -> None:
        """A warning where it gives different numbers for the same time and state."""

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        """The signals at times t (T,): (T, width), or (..., T, width) where rows of a batch differ."""
        return np.zeros((len(t), 0))

    @property
    def jumps(self) -> bool:
        """Whether its signals just before a time may differ from those at that time."""
        return False

    def before(self, t: Array) -> Array:
        """The signals just before the times t."""
        raise NotImplementedError

    @staticmethod
    def refuse_undriven(values: Array, undriven: Sequence[int], joints: Sequence[str]) -> None:
        """An error where there is a torque on a joint whose effort limit is zero."""
        for i in undriven:
            if values[..., i].any():
                raise ShapeError(
                    f"simulate: joint {joints[i]!r} has an effort limit of 0, so that no torque can act there; give it "
                    "none, or pass torque_limits=False"
                )

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        """The `size` numbers, and the rates of the source's own states z."""
        return (list(p) or [0] * self.size), []


TIME_ROUNDING = 1e-15
"""The relative difference up to which a time counts as that of a sample."""

INTERPOLATIONS = ("linear", "previous", "cubic")


@explains_construction
class Samples(Source):
    """Samples at times t (T,) with values (..., T, size), constant before the first and after the last.

    interpolation: "linear"; "previous", which keeps each value until the next, as a digital controller does; or
    "cubic", a spline.

    >>> import chainrule as cr
    >>> cr.Samples([0.0, 1.0], [[0.0], [2.0]])(0.25).tolist()
    [0.5]
    """

    def __init__(self, t: ArrayLike, values: ArrayLike, interpolation: str = "linear") -> None:
        times, numbers = real_array(t, "Samples: t", "s"), real_array(values, "Samples: values").astype(float)
        if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
            raise ShapeError(f"Samples: t must be two or more increasing times, got shape {times.shape}")
        if numbers.ndim < 2 or numbers.shape[-2] != len(times):
            raise ShapeError(f"Samples: values must have the shape (.., {len(times)}, n), got {numbers.shape}")
        if not isinstance(interpolation, str) or interpolation not in INTERPOLATIONS:
            raise ShapeError(f"Samples: interpolation is one of {', '.join(INTERPOLATIONS)}, got {interpolation!r}")
        refuse_nonfinite(times, "Samples: t")
        if not np.isfinite(numbers).all():
            *_, at, column = np.argwhere(~np.isfinite(numbers))[0]
            raise ShapeError(f"Samples: values must be finite, and number {column} at t = {times[at]:g} s is not")
        super().__init__(numbers.shape[-1])
        self.t, self.values, self.interpolation = times, numbers, interpolation
        self.width, self.batch = self.size, numbers.shape[:-2]

    @property
    def breaks(self) -> Array:
        return self.t

    def __call__(self, t: ArrayLike) -> Array:
        """Values at the times t (...): (..., size)."""
        times = np.asarray(t, dtype=float)
        return self.signals(times.reshape(-1), np.zeros(0), np.zeros(0)).reshape(
            (*self.values.shape[:-2], *times.shape, self.size)
        )

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        t = np.clip(t, self.t[0], self.t[-1])
        if self.interpolation == "cubic":
            from scipy.interpolate import CubicSpline

            return np.asarray(CubicSpline(self.t, self.values, axis=-2)(t))
        k = np.clip(np.searchsorted(self.t, t * (1 + TIME_ROUNDING), side="right") - 1, 0, len(self.t) - 1)
        if self.interpolation == "previous":
            return np.asarray(self.values[..., k, :])
        k = np.minimum(k, len(self.t) - 2)
        share = ((t - self.t[k]) / (self.t[k + 1] - self.t[k]))[:, None]
        return np.asarray(self.values[..., k, :] * (1 - share) + self.values[..., k + 1, :] * share)

    @property
    def jumps(self) -> bool:
        return self.interpolation == "previous"

    def before(self, t: Array) -> Array:
        k = np.searchsorted(self.t, t * (1 - TIME_ROUNDING), side="left") - 1
        return np.asarray(self.values[..., np.maximum(k, 0), :])

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        return s, []


class CalledSource(Source):
    """A Python function of (t, q, qd), called with NumPy arrays at every stage of every step."""

    def __init__(
        self,
        function: Callable[..., Any],
        size: int,
        what: str,
        names: Sequence[str],
        batch: tuple[int, ...] = (),
        undriven: Sequence[int] = (),
        read: Callable[[Any, str], Array] | None = None,
    ) -> None:
        super().__init__(size)
        self.function, self.what, self.names, self.undriven = function, what, names, undriven
        self.read = read
        """Turns what the function returns into an array of `size` numbers; `names` are in order where it is None."""
        self.width, self.called, self.batch = size, True, batch
        self._first: tuple[Array, Array, Array, Array] | None = None
        """The arguments and the result of the first call."""
        self._changes = False

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        """The numbers that the function returns; the first call is made twice, to see whether it has a memory."""
        value = self.call(t, q, qd)
        if self._first is None:
            self._first = (t.copy(), q.copy(), qd.copy(), value.copy())
            self.warn_of_memory()
        return value

    def warn_of_memory(self) -> None:
        """A warning, once, where the function, called as at first, returns something else now."""
        if self._changes or self._first is None:
            return
        *arguments, value = self._first
        self._changes = not np.allclose(self.call(*arguments), value, rtol=1e-9, atol=1e-12)
        if self._changes:
            warn_user(
                f"simulate: the function given as {self.what} returned different numbers for the same (t, q, qd): it "
                "has a memory, or is random. It is called at every stage of a step, and again in steps that are "
                "repeated, so that the motion depends on the integrator. Pass cr.Sampled(function, period), which "
                "calls it once a period and holds the torque in between",
                SimulationWarning,
            )

    def call(self, t: Array, q: Array, qd: Array) -> Array:
        """The numbers that the function returns: (rows, 1, size)."""
        rows = len(q)
        if rows == np.prod(self.batch, dtype=int):  # as the user gave them; part of them where an event is looked for
            q, qd = (a.reshape((*self.batch, a.shape[-1])) for a in (q, qd))
        value = self.function(float(t[0]), q, qd)
        label = f"simulate: what {self.what} returns at t = {t[0]:g} s"
        array = rows_of(value, self.size, label, self.what) if self.read is None else self.read(value, label)
        try:
            array = np.broadcast_to(array, (*q.shape[:-1], self.size))
        except ValueError:
            raise ShapeError(
                f"simulate: {self.what} returned shape {array.shape} at t = {t[0]:g} s for q of shape {q.shape}"
            ) from None
        if not np.isfinite(array).all():
            *row, column = np.argwhere(~np.isfinite(array))[0].tolist()
            name = self.names[column]
            which = f", row {tuple(row)}" if row else ""
            raise ShapeError(
                f"simulate: {self.what} returned {array[(*row, column)]} for {name!r} at t = {t[0]:g} s{which}"
            )
        self.refuse_undriven(array, self.undriven, self.names)
        return np.asarray(array.reshape(rows, 1, self.size))

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        return s, []


def is_controller(value: Any) -> bool:
    """Whether a value has the attributes of a controller."""
    return hasattr(value, "torque") and hasattr(value, "signals") and not isinstance(value, type)


class ControllerSource(Source):
    """A controller: an object with the attributes of `chainrule.control.Controller`."""

    def __init__(self, controller: Any, size: int) -> None:
        super().__init__(size, np.asarray(controller.parameters, dtype=float))
        self.controller = controller
        self.takes_time = takes_time(controller)
        """Whether the time is one more signal, the last one."""
        self.states, self.width = controller.states, controller.width + self.takes_time

    @cached_property
    def fingerprint(self) -> tuple[Hashable, ...]:
        """The law itself, as it is at the start of this simulation."""
        return (*super().fingerprint, *law_key(self.controller))

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        known = np.asarray(self.controller.signals(t))
        return np.concatenate([known, t[:, None]], axis=-1) if self.takes_time else known

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        arguments = [q, qd, z, s[:-1], p, s[-1:]] if self.takes_time else [q, qd, z, s, p]
        if is_own_law(self.controller) or are_numeric(*(x for part in arguments for x in part)):
            tau, rates = call_law(self.controller.torque, arguments, self.takes_time)
            return list(tau), list(rates)
        flat = self._traced(*arguments)
        return flat[: self.size], flat[self.size :]

    @cached_property
    def _traced(self) -> TracedFunction:
        return traced_law(self.controller)
