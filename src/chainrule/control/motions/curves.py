"""Curves through way-points: piecewise polynomials of time, at rest at both ends.

Points are rows (k, n), reached at increasing times (k,). A curve is SciPy's `PPoly`, one polynomial for each piece
between its break points and each of the n components.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy

from chainrule.arguments import Array
from chainrule.errors import UnknownNameError

Curve: TypeAlias = Any


def minimum_jerk(times: Array, points: Array) -> Curve:
    """The motion through the points of least integral of squared jerk, from rest to rest: a quintic spline.

    Calculus of variations: pieces of degree five, whose first four derivatives are continuous, with no speed and no
    acceleration at either end. For two points, s = 10 u^3 - 15 u^4 + 6 u^5.
    """
    rest = np.zeros(points.shape[1])
    ends = [(1, rest), (2, rest)]
    spline = scipy.interpolate.make_interp_spline(times, points, k=5, bc_type=(ends, ends))
    starts = times[:-1]
    return scipy.interpolate.PPoly(np.array([spline(starts, nu=m) / factorial(m) for m in range(5, -1, -1)]), times)


def cubic(times: Array, points: Array) -> Curve:
    """The cubic spline with no speed at either end; accelerations are continuous, but jump at the ends."""
    return scipy.interpolate.CubicSpline(times, points, bc_type="clamped")


def quintic(times: Array, points: Array, velocities: Array | None = None) -> Curve:
    """A polynomial of degree five between each two points, without acceleration at them.

    Speeds at the points are those given, or estimated, so that a coordinate never leaves the range of the two points
    that it is between.
    """
    v = estimate_velocities(times, points) if velocities is None else velocities
    h = np.diff(times)[:, None]
    d, v0, v1 = np.diff(points, axis=0), v[:-1] * h, v[1:] * h
    c3 = (10 * d - 6 * v0 - 4 * v1) / h**3
    c4 = (-15 * d + 8 * v0 + 7 * v1) / h**4
    c5 = (6 * d - 3 * v0 - 3 * v1) / h**5
    return scipy.interpolate.PPoly(np.array([c5, c4, c3, np.zeros_like(d), v[:-1], points[:-1]]), times)


def estimate_velocities(times: Array, points: Array) -> Array:
    """Speeds at way-points (k, n): the mean of the two slopes, zero at the ends and where they differ in sign.

    At most twice the smaller slope: the derivative of `quintic` is then nowhere negative on a leg that rises.
    """
    slopes = np.diff(points, axis=0) / np.diff(times)[:, None]
    before, after = slopes[:-1], slopes[1:]
    most = 2 * np.minimum(np.abs(before), np.abs(after))
    rest = np.zeros((1, points.shape[1]))
    return np.concatenate([rest, np.where(before * after > 0, np.clip((before + after) / 2, -most, most), 0.0), rest])


def trapezoidal(times: Array, points: Array, acceleration: Array | None = None) -> Curve:
    """Straight from point to point, stopping at each: constant acceleration, constant speed, constant deceleration.

    All components share one profile, so that they start, cruise and stop together. With limits on acceleration (n,),
    each leg speeds up for as short a time b as they allow, which takes |d| = a b (h - b); without, for a third of its
    duration h.
    """
    h, d = np.diff(times), np.diff(points, axis=0)
    b = h / 3
    if acceleration is not None:
        with np.errstate(divide="ignore"):
            a = (acceleration / np.abs(d)).min(axis=1)
        shortest = (h - np.sqrt(np.maximum(h**2 - 4 / a, 0))) / 2
        b = np.where(shortest > 0, shortest, b)
    speed = d / (h - b)[:, None]
    rate, rest = speed / b[:, None], np.zeros_like(d)
    half = speed * b[:, None] / 2  # how far a leg gets while it speeds up, and while it slows down
    starts = np.stack([times[:-1], times[:-1] + b, times[1:] - b], axis=1)
    pieces = np.stack(
        [
            np.stack([rate / 2, rest, -rate / 2], axis=1),
            np.stack([rest, speed, speed], axis=1),
            np.stack([points[:-1], points[:-1] + half, points[1:] - half], axis=1),
        ]
    )
    breaks, coefficients = starts.ravel(), pieces.reshape(3, -1, points.shape[1])
    lasts = np.diff(breaks, append=times[-1]) > 0  # a leg that never cruises has no piece for it
    return scipy.interpolate.PPoly(coefficients[:, lasts], np.append(breaks[lasts], times[-1]))


METHODS: dict[str, Callable[..., Curve]] = {
    "minimum_jerk": minimum_jerk,
    "cubic": cubic,
    "quintic": quintic,
    "trapezoidal": trapezoidal,
}


def refuse_unknown_method(method: str, what: str) -> None:
    """Refuse a method that does not exist."""
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownNameError.of("method", method, METHODS, what)


def legs(method: str, times: Array, displacements: Array, **options: Any) -> Curve:
    """Curves from zero to the displacement of each leg (k - 1, n), from rest to rest: zero again at each leg."""
    curves = [
        METHODS[method](times[i : i + 2], np.stack([np.zeros_like(d), d]), **options)
        for i, d in enumerate(displacements)
    ]
    breaks = np.concatenate([*(curve.x[:-1] for curve in curves), times[-1:]])
    return scipy.interpolate.PPoly(np.concatenate([curve.c for curve in curves], axis=1), breaks)


class CurveExtremes(NamedTuple):
    """The smallest and the largest value of each component of a curve (n,), and when they are reached (n,)."""

    low: Array
    low_time: Array
    high: Array
    high_time: Array

    @property
    def peak(self) -> Array:
        """The largest magnitude."""
        return np.maximum(-self.low, self.high)

    @property
    def peak_time(self) -> Array:
        """The time of the largest magnitude."""
        return np.where(-self.low > self.high, self.low_time, self.high_time)


def extremes(curve: Curve) -> CurveExtremes:
    """Exact extremes: at the ends of pieces, from both sides, and where the derivative is zero."""
    starts, ends = curve.x[:-1], curve.x[1:]
    h = (ends - starts)[:, None]
    at_starts = curve.c[-1]
    at_ends = sum(c * h**power for power, c in enumerate(curve.c[::-1]))
    slope = curve.derivative()
    rows = []
    for i in range(curve.c.shape[2]):
        roots = scipy.interpolate.PPoly(slope.c[:, :, i], curve.x).roots(discontinuity=False, extrapolate=False)
        roots = roots[np.isfinite(roots)]
        t = np.concatenate([starts, ends, roots])
        x = np.concatenate([at_starts[:, i], at_ends[:, i], curve(roots)[:, i]])
        low, high = x.argmin(), x.argmax()
        rows.append((x[low], t[low], x[high], t[high]))
    return CurveExtremes(*np.array(rows).T)


def replace_components(curve: Curve, other: Curve, which: Array) -> Curve:
    """The curve with some of its components, (n,) of truth values, taken from another one over the same pieces."""
    power = max(len(curve.c), len(other.c))
    own, others = (np.concatenate([np.zeros((power - len(c), *c.shape[1:])), c]) for c in (curve.c, other.c))
    return scipy.interpolate.PPoly(np.where(which, others, own), curve.x)


def squared_norm(curve: Curve) -> Curve:
    """The sum of the squares of a curve's components, a curve of one."""
    components = np.moveaxis(curve.c, 0, 2)  # pieces, components, powers
    squares = [sum(np.convolve(x, x) for x in piece) for piece in components]
    return scipy.interpolate.PPoly(np.array(squares).T[:, :, None], curve.x)
