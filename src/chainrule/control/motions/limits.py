"""Limits of a robot, and the planned motions that exceed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.control.motions.curves import Curve, CurveExtremes, extremes, quintic, replace_components
from chainrule.control.motions.timing import LIMIT_TOLERANCE, Excess
from chainrule.core.plausibility import degrees_hint
from chainrule.errors import ShapeError

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

MIN_LEG_LENGTH = 1e-9
"""The distance of two way-points, in rad or m, below which they are one."""


def refuse_endless(robot: Mechanism, displacements: Array, shortest: Array) -> None:
    """Refuse legs that would take no time, or forever."""
    names = [f"joint {name!r}" for name in robot.model.layout.velocity_names]
    for i, d in enumerate(displacements):
        if np.abs(d).max() < MIN_LEG_LENGTH:
            raise ShapeError(
                f"plan: way-points {i} and {i + 1} are the same, so that going from one to the other takes no time; "
                "leave one out, or give times=..."
            )
        if np.isinf(shortest[i]):
            stuck = int((np.where(d != 0, 1.0, 0.0) * (robot.limits.velocity == 0)).argmax())
            raise ShapeError(
                f"plan: {names[stuck]} has to move between way-points {i} and {i + 1}, and its speed limit is zero; "
                "give limits=False and times=..."
            )
        if shortest[i] == 0:
            name = names[int(np.abs(d).argmax())]
            raise ShapeError(
                f"plan: nothing says how fast {name} of robot {robot.name!r} may go between way-points {i} and "
                f"{i + 1}: give times=..., or acceleration=..., or a robot with velocity limits"
            )


def describe_excess(robot: Mechanism, excess: Excess, duration: float, stretch: float) -> str:
    """The message about a speed or an acceleration beyond its limit, with the shortest possible duration."""
    velocity = robot.model.layout.velocities[excess.component]
    per = f"{velocity.unit}/s" if excess.quantity == "speed" else f"{velocity.unit}/s^2"
    return (
        f"plan: joint {velocity.name!r} would reach {excess.value:.4g} {per} at t = {excess.time:.4g} s, and its "
        f"{excess.quantity} limit is {excess.limit:.4g} {per}; the motion takes at least {duration * stretch:.6g} s, "
        f"{stretch:.4g} times as long: leave out times=... to have it so"
    )


def keep_within(robot: Mechanism, curve: Curve, when: Array, points: Array) -> Curve:
    """The curve through points, its coordinates that leave their limits replaced by ones that stay between points."""
    reached = extremes(curve)
    coordinates = robot.model.layout.coordinates
    lower, upper = (np.array([getattr(c, side) for c in coordinates], float) for side in ("lower", "upper"))
    beyond = (lower - reached.low > _rounding(lower)) | (reached.high - upper > _rounding(upper))
    return replace_components(curve, quintic(when, points), beyond) if beyond.any() else curve


def _rounding(bound: Array) -> Array:
    return LIMIT_TOLERANCE * np.maximum(1.0, np.where(np.isfinite(bound), np.abs(bound), 1.0))


def refuse_positions(robot: Mechanism, points: Array, when: Array, curve: Curve) -> None:
    """Refuse positions beyond a limit, at way-points or between them."""
    reached = _extreme_positions(robot, points, when, curve)
    for coordinate in robot.model.layout.coordinates:
        i, unit = coordinate.index, coordinate.unit
        for side, bound, value, time in (
            ("lower", coordinate.lower, reached.low[i], reached.low_time[i]),
            ("upper", coordinate.upper, reached.high[i], reached.high_time[i]),
        ):
            beyond = bound - value if side == "lower" else value - bound
            if beyond > _rounding(np.array(bound)):
                at = np.flatnonzero(np.abs(when - time) <= 1e-9 * when[-1])
                leg = int(np.searchsorted(when, time))
                where = f"at way-point {at[0]}" if at.size else f"between way-points {leg - 1} and {leg}"
                remedy = "move it" if at.size else "leave out method=..., which takes another curve then"
                hint = degrees_hint(robot.model.layout, points)
                remedy += f" ({hint})" if hint else ""
                raise ShapeError(
                    f"plan: joint {coordinate.name!r} would be at {value:.4g} {unit} {where}, and its {side} limit is "
                    f"{bound:.4g} {unit}; {remedy}, or give limits=False"
                )


def _extreme_positions(robot: Mechanism, points: Array, when: Array, curve: Curve) -> CurveExtremes:
    """Extremes of every number of q. On a manifold, plain coordinates go straight from one way-point to the next."""
    if robot.nq == robot.nv:
        return extremes(curve)
    low, high = points.argmin(axis=0), points.argmax(axis=0)
    return CurveExtremes(points.min(axis=0), when[low], points.max(axis=0), when[high])
