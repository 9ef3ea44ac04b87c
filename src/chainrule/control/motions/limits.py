"""What a robot's limits say to a planned motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.control.motions.curves import Curve, Extremes, extremes
from chainrule.control.motions.timing import TOLERANCE, Excess
from chainrule.errors import ShapeError

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

SAME = 1e-9
"""Way-points nearer than so many rad or m are one."""


def dofs(robot: Robot) -> Iterator[tuple[str, str, int | None]]:
    """For each degree of freedom: the joint in words, its unit, and its place in q, if it is a plain coordinate."""
    at = 0
    for joint in robot.model.moving:
        plain = joint.kind.nq == joint.kind.nv
        for k, unit in enumerate(joint.kind.units):
            part = f", component {k}," if joint.kind.nv > 1 else ""
            yield f"joint {joint.name!r}{part}", unit, at + k if plain else None
        at += joint.kind.nq


def refuse_endless(robot: Robot, displacements: Array, shortest: Array) -> None:
    """Legs that would take no time, or forever."""
    names = [name for name, _, _ in dofs(robot)]
    for i, d in enumerate(displacements):
        if np.abs(d).max() < SAME:
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


def too_fast(robot: Robot, excess: Excess, duration: float, stretch: float) -> str:
    """A speed or an acceleration that is passed, and how long the motion would have to take."""
    name, unit, _ = list(dofs(robot))[excess.component]
    per = f"{unit}/s" if excess.quantity == "speed" else f"{unit}/s^2"
    return (
        f"plan: {name} would reach {excess.value:.4g} {per} at t = {excess.time:.4g} s, and its {excess.quantity} "
        f"limit is {excess.limit:.4g} {per}; the motion takes at least {duration * stretch:.6g} s, {stretch:.4g} times "
        "as long: leave out times=... to have it so"
    )


def refuse_positions(robot: Robot, points: Array, when: Array, curve: Curve) -> None:
    """Positions beyond a limit, at way-points or between them."""
    reached = _extreme_positions(robot, points, when, curve)
    for i, (name, unit, place) in enumerate(dofs(robot)):
        if place is None:
            continue
        for side, bound, value, time in (
            ("lower", robot.limits.lower[i], reached.low[place], reached.low_time[place]),
            ("upper", robot.limits.upper[i], reached.high[place], reached.high_time[place]),
        ):
            beyond = bound - value if side == "lower" else value - bound
            if beyond > TOLERANCE * max(1.0, abs(bound)):
                at = np.flatnonzero(np.abs(when - time) <= 1e-9 * when[-1])
                where = f"at way-point {at[0]}" if at.size else "between way-points"
                remedy = "move it" if at.size else "move them, or take method='trapezoidal', which stays between them"
                raise ShapeError(
                    f"plan: {name} would be at {value:.4g} {unit} at t = {time:.4g} s, {where}, and its {side} limit "
                    f"is {bound:.4g} {unit}; {remedy}, or give limits=False"
                )


def _extreme_positions(robot: Robot, points: Array, when: Array, curve: Curve) -> Extremes:
    """Of every entry of q. On a manifold, plain coordinates go straight from one way-point to the next."""
    if robot.nq == robot.nv:
        return extremes(curve)
    low, high = points.argmin(axis=0), points.argmax(axis=0)
    return Extremes(points.min(axis=0), when[low], points.max(axis=0), when[high])
