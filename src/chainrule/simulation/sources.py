"""Where torques and wrenches come from: nothing, constants, samples in time, functions, controllers.

A source gives `size` numbers from the state, from signals known ahead (a reference, samples) and from parameters (a
constant, gains). The first is text to be compiled; the other two are numbers handed to it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chainrule.arguments import Array, real_array, refuse_nonfinite, rows_of
from chainrule.errors import ShapeError
from chainrule.spatial import Scalar

Scalars = Sequence[Scalar]


class Source:
    """A constant, zero unless it is given: the simplest source, and what the others have in common."""

    def __init__(self, size: int, constant: Array | None = None) -> None:
        self.size = size
        self.states = 0
        self.width = 0
        self.parameters = np.zeros(0) if constant is None else constant
        self.batch: tuple[int, ...] = ()
        """The shape of the batch that its signals come in."""
        self.called = False
        """Whether its signals are found by calling Python at every stage of every step."""

    @property
    def key(self) -> tuple[Hashable, ...]:
        """All that shapes its text."""
        return (type(self).__name__, self.size, self.states, self.width, self.parameters.shape[-1])

    @property
    def breaks(self) -> Array:
        """Times at which it jumps, where an adaptive integrator must stop."""
        return np.zeros(0)

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        """The signals at times t (T,): (T, width), or (..., T, width) where rows of a batch differ."""
        return np.zeros((len(t), 0))

    @property
    def jumps(self) -> bool:
        """Whether its signals just before a time may be others than at it."""
        return False

    def before(self, t: Array) -> Array:
        """The signals just before the times t, where they jump."""
        raise NotImplementedError

    @staticmethod
    def refuse_undriven(values: Array, undriven: Sequence[int], joints: Sequence[str]) -> None:
        """An error where there are torques on joints whose effort limit is zero."""
        for i in undriven:
            if values[..., i].any():
                raise ShapeError(
                    f"simulate: joint {joints[i]!r} has an effort limit of 0, so that no torque can act there; give it "
                    "none, or pass torque_limits=False"
                )

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        """The numbers, and the rates of the source's own states z."""
        return (list(p) or [0] * self.size), []


ROUNDING = 1e-15
"""How far, in parts of it, a time may be from that of a sample it is meant to be."""

INTERPOLATIONS = ("linear", "previous", "cubic")


class Samples(Source):
    """Samples at times t (T,), values (..., T, size): linear between them unless told otherwise, held beyond them.

    interpolation: "linear"; "previous", which holds each value until the next, as a digital controller does; or
    "cubic", a spline.

    >>> import chainrule as cr
    >>> cr.Samples([0.0, 1.0], [[0.0], [2.0]])(0.25).tolist()
    [0.5]
    """

    def __init__(self, t: ArrayLike, values: ArrayLike, interpolation: str = "linear") -> None:
        times, numbers = real_array(t, "Samples: t"), real_array(values, "Samples: values").astype(float)
        if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
            raise ShapeError(f"Samples: t must be two or more increasing times, got shape {times.shape}")
        if numbers.ndim < 2 or numbers.shape[-2] != len(times):
            raise ShapeError(f"Samples: values must have the shape (.., {len(times)}, n), got {numbers.shape}")
        if interpolation not in INTERPOLATIONS:
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
        """Values at any times."""
        times = np.asarray(t, dtype=float)
        return self.signals(times.reshape(-1), np.zeros(0), np.zeros(0)).reshape(
            (*self.values.shape[:-2], *times.shape, self.size)
        )

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        t = np.clip(t, self.t[0], self.t[-1])
        if self.interpolation == "cubic":
            from scipy.interpolate import CubicSpline

            return np.asarray(CubicSpline(self.t, self.values, axis=-2)(t))
        k = np.clip(np.searchsorted(self.t, t * (1 + ROUNDING), side="right") - 1, 0, len(self.t) - 1)
        if self.interpolation == "previous":
            return np.asarray(self.values[..., k, :])
        k = np.minimum(k, len(self.t) - 2)
        share = ((t - self.t[k]) / (self.t[k + 1] - self.t[k]))[:, None]
        return np.asarray(self.values[..., k, :] * (1 - share) + self.values[..., k + 1, :] * share)

    @property
    def jumps(self) -> bool:
        return self.interpolation == "previous"

    def before(self, t: Array) -> Array:
        k = np.searchsorted(self.t, t * (1 - ROUNDING), side="left") - 1
        return np.asarray(self.values[..., np.maximum(k, 0), :])

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        return s, []


class Called(Source):
    """A Python function of (t, q, qd), called with NumPy arrays at every stage of every step."""

    def __init__(self, function: Callable[..., Any], size: int, what: str, joints: Sequence[str]) -> None:
        super().__init__(size)
        self.function, self.what, self.joints = function, what, joints
        self.width, self.called = size, True
        self.undriven: Sequence[int] = ()

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        rows = len(q)
        if rows == np.prod(self.batch, dtype=int):  # as the user gave them; part of them where an event is looked for
            q, qd = (a.reshape((*self.batch, a.shape[-1])) for a in (q, qd))
        value = self.function(float(t[0]), q, qd)
        array = rows_of(value, self.size, f"simulate: what {self.what} returns at t = {t[0]:g} s", self.what)
        try:
            array = np.broadcast_to(array, (*q.shape[:-1], self.size))
        except ValueError:
            raise ShapeError(
                f"simulate: {self.what} returned shape {array.shape} at t = {t[0]:g} s for q of shape {q.shape}"
            ) from None
        if not np.isfinite(array).all():
            *row, column = np.argwhere(~np.isfinite(array))[0].tolist()
            name = self.joints[column] if column < len(self.joints) else f"number {column}"
            which = f", row {tuple(row)}" if row else ""
            raise ShapeError(
                f"simulate: {self.what} returned {array[(*row, column)]} for {name!r} at t = {t[0]:g} s{which}"
            )
        self.refuse_undriven(array, self.undriven, self.joints)
        return np.asarray(array.reshape(rows, 1, self.size))

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        return s, []


class Controlled(Source):
    """A controller of the library, or one that looks like it."""

    def __init__(self, controller: Any, size: int) -> None:
        super().__init__(size, np.asarray(controller.parameters, dtype=float))
        self.controller = controller
        self.states, self.width = controller.states, controller.width

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (*super().key, *self.controller.key)

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        return np.asarray(self.controller.signals(t))

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        tau, rates = self.controller.torque(q, qd, z, s, p)
        return tau, rates
