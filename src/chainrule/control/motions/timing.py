"""Durations of motions: as long as the limits require, and no longer.

Stretching time by a factor divides speeds by it and accelerations by its square, so that the factor at which a limit
is met with equality is known once the motion has been laid out for any times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array, positive, real_array, refuse_nonfinite
from chainrule.control.motions.curves import METHODS, Curve, extremes
from chainrule.errors import ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LIMIT_TOLERANCE = 1e-6
"""The part of itself by which a limit may be exceeded: rounding, which no motor notices."""

MIN_LEG_SHARE = 1e-3
"""The time of a leg without length, as a part of that of the longest, where legs share a duration."""

MIN_LEG_TIME_SHARE = 1e-9
"""The shortest leg, as a part of the whole, where times are given: speeds of shorter ones are lost in rounding."""

MIN_DURATION_S, MAX_DURATION_S = 1e-9, 1e12
"""The shortest and the longest motion."""


class Excess(NamedTuple):
    """The limit that a motion strains most, and the factor by which time has to be stretched to meet it."""

    stretch: float
    quantity: str
    component: int
    time: float
    value: float
    limit: float

    @property
    def is_beyond(self) -> bool:
        """Whether the limit is exceeded."""
        return self.stretch > 1 + LIMIT_TOLERANCE


def most_strained(curve: Curve, velocity: Array, acceleration: Array) -> Excess:
    """The most strained of the limits on speed and acceleration, (n,) each, infinite where there is none."""
    found = []
    for order, (quantity, limit) in enumerate((("speed", velocity), ("acceleration", acceleration)), start=1):
        reached = extremes(curve.derivative(order))
        with np.errstate(divide="ignore", invalid="ignore"):
            stretch = np.where(reached.peak > 0, reached.peak / limit, 0.0) ** (1 / order)
        i = int(stretch.argmax())
        of_it = (reached.peak_time, reached.peak, limit)
        found.append(Excess(float(stretch[i]), quantity, i, *(float(array[i]) for array in of_it)))
    return max(found)


def shortest_durations(method: str, displacements: Array, velocity: Array, acceleration: Array) -> Array:
    """The shortest duration of each leg (k - 1,), from rest to rest, that speed and acceleration limits allow.

    Zero where nothing limits the joints that move in a leg, infinite where one of them may not.
    """
    d = np.abs(displacements)
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.where(d > 0, velocity / d, np.inf).min(axis=1)  # limits on a path variable that goes from 0 to 1
        a = np.where(d > 0, acceleration / d, np.inf).min(axis=1)
        if method == "trapezoidal" and np.isfinite(acceleration).all():
            # cruising at full speed, or speeding up half the way and slowing down the other half
            return np.where(v * v < a, 1 / v + v / a, 2 / np.sqrt(a))
        unit = METHODS[method](np.array([0.0, 1.0]), np.array([[0.0], [1.0]]))
        speed, rate = (extremes(unit.derivative(order)).peak[0] for order in (1, 2))
        return np.maximum(speed / v, np.sqrt(rate / a))


def waypoint_times(times: ArrayLike, count: int, what: str, lengths: Array) -> Array:
    """The time of each way-point, from as many times, or from a duration that legs share by their lengths."""
    when = real_array(times, f"{what}: times", "s").astype(float)
    refuse_nonfinite(when, f"{what}: times")
    if when.ndim == 0:
        total = positive(times, f"{what}: times", "a positive duration in s, or a time for each way-point", unit="s")
        _refuse_extreme_duration(total, what)
        shares = np.maximum(lengths, MIN_LEG_SHARE * lengths.max()) if lengths.any() else np.ones_like(lengths)
        return np.concatenate([[0.0], np.cumsum(shares / shares.sum()) * total])
    if when.shape != (count,):
        raise ShapeError(
            f"{what}: times must be {count} numbers, one for each way-point, or one for the whole, got shape "
            f"{when.shape}"
        )
    if when[0] != 0 or not (np.diff(when) > 0).all():
        raise ShapeError(f"{what}: times must increase, from 0 on, got {when.tolist()}")
    if np.diff(when).min() < MIN_LEG_TIME_SHARE * when[-1]:
        raise ShapeError(
            f"{what}: times must not be nearer to the next than {MIN_LEG_TIME_SHARE:g} of the whole, got "
            f"{when.tolist()!s:.200}"
        )
    _refuse_extreme_duration(float(when[-1]), what)
    return when


def _refuse_extreme_duration(duration: float, what: str) -> None:
    """Raise where powers of a duration would be no numbers."""
    if not MIN_DURATION_S <= duration <= MAX_DURATION_S:
        raise ShapeError(
            f"{what}: a motion takes between {MIN_DURATION_S:g} and {MAX_DURATION_S:g} s, not {duration:g} s"
        )
