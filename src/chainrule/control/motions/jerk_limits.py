"""Limits on jerk along a path.

With x = s-dot^2 and u = s-double-dot, the jerk is sqrt(x) (q''' x + 3 q'' u + q' du/ds). Its limit bounds the bracket
by jerk / sqrt(x), which is convex in x and so no half plane; its tangent at some profile lies below it everywhere.
With the tangent in its place, a profile that holds the limit is found by a linear program; the next program takes the
tangent at that profile, until the motion gets no quicker.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from chainrule.arguments import Array
from chainrule.control.motions.curves import Curve
from chainrule.control.motions.profiles import HalfPlanes, all_interval_rows, law_of_time
from chainrule.errors import ModelError

MAX_PROGRAMS = 40
GAIN = 1e-3
"""The part by which the duration must still shrink for another program to be worth it."""
SLOWEST = 1e-6
"""The share of the largest x at which tangents are taken where a profile is slower."""


def limit_jerk(path: Curve, grid: Array, start: Array, rows: HalfPlanes, jerk: Array) -> Curve:
    """The law of time of a quick profile within the limits on jerk (n,), from the quickest one without them."""
    fixed, right = _program_rows(rows, grid)
    upper = np.minimum(rows.x_max, start)  # no profile is above the one without a limit on jerk
    upper[[0, -1]] = 0.0
    upper[1] = min(upper[1], _largest_after_rest(path, grid[0], grid[1] - grid[0], jerk))
    upper[-2] = min(upper[-2], _largest_after_rest(path, grid[-1], grid[-1] - grid[-2], jerk))
    best = np.maximum(upper, 0.0)
    around, shortest = np.minimum(best, _jerk_alone(path, grid, jerk)), np.inf
    for _ in range(MAX_PROGRAMS):
        around = np.maximum(around, SLOWEST * around.max())
        x = _program(grid, around, fixed, right, _jerk_rows(path, grid, around, jerk), upper)
        if x is None:
            break
        duration = float(law_of_time(grid, x).x[-1])
        is_quicker = duration < (1 - GAIN) * shortest
        if duration < shortest:
            best, shortest = x, duration
        if not is_quicker:
            break
        around = x
    if np.isinf(shortest):
        raise ModelError(
            "plan: the path cannot be followed within the limits on jerk; raise jerk=..., or move the way-points"
        )
    return _smooth_law(grid, best)


def _jerk_alone(path: Curve, grid: Array, jerk: Array) -> float:
    """About the largest x where nothing but jerk is limited."""
    largest = np.abs(path(grid, 1)).max(axis=0)
    with np.errstate(divide="ignore"):
        j = float(np.where(largest > 0, jerk / largest, np.inf).min())
    return float(j ** (2 / 3) * (grid[-1] - grid[0]) ** (4 / 3))


def _program(
    grid: Array, around: Array, fixed: Any, right: Array, jerk_rows: tuple[Any, Array], upper: Array
) -> Array | None:
    """The quickest profile within half planes, to first order about another profile; none if the solver finds none.

    The unknowns are shares of that profile, and every row is divided by its largest coefficient: the solver's
    tolerances are numbers, and a program in any unit means the same.
    """
    gain = np.gradient(grid) * around**-0.5
    rows = scipy.sparse.vstack([fixed, jerk_rows[0]]).tocsr() @ scipy.sparse.diags_array(around)
    limits = np.concatenate([right, jerk_rows[1]])
    size = np.maximum(abs(rows).max(axis=1).toarray().ravel(), np.abs(limits))
    found = scipy.optimize.linprog(
        -gain / gain.max(),
        A_ub=scipy.sparse.diags_array(1 / np.where(size > 0, size, 1.0)) @ rows,
        b_ub=limits / np.where(size > 0, size, 1.0),
        bounds=np.stack([np.zeros_like(upper), upper / around], axis=1),
        method="highs",
    )
    return None if found.x is None else np.clip(found.x * around, 0.0, upper)


def _program_rows(rows: HalfPlanes, grid: Array) -> tuple[Any, Array]:
    """Half planes of all intervals as rows over x at the places of the grid."""
    count = len(grid) - 1
    A, B, C = all_interval_rows(rows, grid)
    u = A / (2 * np.diff(grid))[:, None]  # A u + B x = (B - u) x_i + u x_next
    start = np.broadcast_to(np.arange(count)[:, None], A.shape)
    return _matrix([(start, B - u), (start + 1, u)], len(grid)), C.ravel()


def _jerk_rows(path: Curve, grid: Array, around: Array, jerk: Array) -> tuple[Any, Array]:
    """Limits on jerk at the inner places of the grid, by tangents at the profile `around`, as rows over x.

    The third derivative of the path jumps between its pieces, so that both sides of a place count.
    """
    limited = np.isfinite(jerk)
    bound = jerk[limited]
    d1, d2 = (path(grid[1:-1], order)[:, limited] for order in (1, 2))
    d3 = path((grid[1:] + grid[:-1]) / 2, 3)[:, limited]
    before, after = 1 / (2 * np.diff(grid)[:-1, None]), 1 / (2 * np.diff(grid)[1:, None])
    turn = 4 * before * after / (before + after)  # one over the distance of the middles of the two intervals
    first = (d1 * turn - 1.5 * d2) * before
    last = (d1 * turn + 1.5 * d2) * after
    middle = 1.5 * d2 * (before - after) - d1 * turn * (before + after)
    at = around[1:-1, None]
    root, slack = np.sqrt(at), 0.5 * bound / at
    place = np.broadcast_to(np.arange(1, len(grid) - 1)[:, None], first.shape)
    sides = [
        _matrix(
            [
                (place - 1, sign * root * first),
                (place, sign * root * (middle + third) + slack),
                (place + 1, sign * root * last),
            ],
            len(grid),
        )
        for sign in (1.0, -1.0)
        for third in (d3[:-1], d3[1:])
    ]
    right = np.broadcast_to(1.5 * bound, first.shape).ravel()
    return scipy.sparse.vstack(sides), np.tile(right, len(sides))


def _matrix(parts: list[tuple[Any, Any]], width: int) -> Any:
    """A sparse matrix with a row for each entry of the parts, which are pairs of columns and values."""
    size = parts[0][1].size
    columns = np.concatenate([np.ravel(column) for column, _ in parts])
    values = np.concatenate([np.ravel(value) for _, value in parts])
    return scipy.sparse.coo_array(
        (values, (np.tile(np.arange(size), len(parts)), columns)), shape=(size, width)
    ).tocsr()


def _largest_after_rest(path: Curve, place: float, distance: float, jerk: Array) -> float:
    """The largest x at a distance from rest that constant jerk reaches: s = j t^3 / 6."""
    d1 = np.abs(path(place, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        j = float(np.where(d1 > 0, jerk / d1, np.inf).min())
    return float(0.25 * 6 ** (4 / 3) * j ** (2 / 3) * distance ** (4 / 3))


def _smooth_law(grid: Array, x: Array) -> Curve:
    """s as a function of time whose second derivative is continuous: straight between the middles of intervals.

    It starts and ends at rest and without acceleration. Rounding the corners leaves a little speed at the end: what
    slows down is scaled so that none is left, then all of it so that the end is met.
    """
    speed = np.sqrt(np.maximum(x, 0.0))
    durations = np.diff(grid) / np.maximum((speed[1:] + speed[:-1]) / 2, 1e-300)
    durations[[0, -1]] *= 1.5  # constant jerk from rest takes 3 s / s-dot
    ends = np.concatenate([[0.0], np.cumsum(durations)])
    t = np.concatenate([[0.0], (ends[1:] + ends[:-1]) / 2, ends[-1:]])
    u = np.concatenate([[0.0], np.diff(speed) / durations, [0.0]])
    faster, slower = (np.trapezoid(np.clip(u, *part), t) for part in ((0.0, None), (None, 0.0)))
    u = np.where(u < 0, u * (-faster / slower), u)
    acceleration = scipy.interpolate.PPoly(np.stack([np.diff(u) / np.diff(t), u[:-1]]), t)
    law = acceleration.antiderivative(2)
    return scipy.interpolate.PPoly(law.c * ((grid[-1] - grid[0]) / law(t[-1])), law.x)
