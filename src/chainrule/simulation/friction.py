"""Dry friction that sticks, decided once a step.

A joint keeps its direction of slip during a step. If its velocity would change sign, it stops, exactly; at rest it
sticks, exactly, until the torque on it exceeds the friction: no chatter, no creep. A joint at a hard stop sticks in the
same way, in one direction only.

Which of several resting joints break away together is decided by `algorithms.sticking`.
"""

from __future__ import annotations

from collections.abc import Mapping

from chainrule.algorithms import sticking
from chainrule.algorithms.sticking import Slip
from chainrule.simulation.plant import Plant, Rates, Scalars
from chainrule.simulation.plant_calls import PlantCalls
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import where

UNBOUNDED_TORQUE = 1e300
"""More than any torque, in N m or N: what a hard stop can hold."""

Range = tuple[Scalar, Scalar]
"""The torques that a joint can hold, downwards and upwards."""


def resolve_sticking(
    plant: Plant, calls: PlantCalls, q: Scalars, v: Scalars, x: Scalars, s: Scalars
) -> tuple[Slip | None, Rates]:
    """The joints that stick, the direction in which the others slip, and the rates that follow."""
    if not plant.can_stick:
        return None, calls.rates(q, v, x, s, None)
    if calls.by_rates and not plant.rows and not plant.breaks_suddenly:
        return _find_by_rates(plant, calls, q, v, x, s)
    slip = find_slip(plant, calls, q, v, x, s, sticking_ranges(plant, q))
    return slip, calls.rates(q, v, x, s, slip)


def _find_by_rates(
    plant: Plant, calls: PlantCalls, q: Scalars, v: Scalars, x: Scalars, s: Scalars
) -> tuple[Slip, Rates]:
    """`resolve_sticking` by passes that evaluate the rates: one, as long as no joint breaks away.

    Friction in motion, at rest, is what a joint can hold at most, so that the passes are those of `find_slip`.
    """
    places, ranges = plant.can_stick, sticking_ranges(plant, q)
    start = sticking.slip_along(plant.model.nv, places, v).direction
    low, high = [ranges[i][0] for i in places], [ranges[i][1] for i in places]
    resting = [where(start[i] == 0, 1.0, 0.0) for i in places]
    direction: Scalars = [start[i] for i in places]
    counters: Scalars = [float(len(places) + 1), float(sticking.PATIENCE)]
    for _ in range(max(2, sticking.sticking_passes(len(places)))):
        before = direction
        result = calls.rates_pass(q, v, x, s, low, high, resting, direction, counters)
        direction, counters = result[: len(places)], result[len(places) : len(places) + 2]
    final = list(start)
    for i, d in zip(places, before, strict=True):
        final[i] = d
    return sticking.slip_in(final), plant.unpack(result[len(places) + 2 :])


def find_slip(
    plant: Plant,
    calls: PlantCalls,
    q: Scalars,
    v: Scalars,
    x: Scalars,
    s: Scalars,
    ranges: Mapping[int, Range],
    passes: int | None = None,
) -> Slip:
    """`sticking.find_slip` of a plant."""

    def problem(direction: Scalars) -> Scalars:
        return calls.sticking_problem(q, v, x, s, direction)

    nv, places, again = plant.model.nv, plant.can_stick, plant.breaks_suddenly
    return sticking.find_slip(nv, places, v, ranges, problem, calls.sticking_pass, passes, again)


def sticking_ranges(plant: Plant, q: Scalars) -> dict[int, Range]:
    """The excess torques that dry friction, or a hard stop, can hold at each joint that can stick."""
    up, down = plant.breakaway_levels(q)
    ranges: dict[int, Range] = {i: (down[i], up[i]) for i in plant.can_stick}
    if plant.stops == "impact":
        for limit in plant.limits:
            low, high = ranges[limit.velocity]
            x = q[limit.coordinate]
            ranges[limit.velocity] = (
                where(x <= limit.lower, UNBOUNDED_TORQUE, low),
                where(x >= limit.upper, UNBOUNDED_TORQUE, high),
            )
    return ranges


def stop_reversed_joints(
    plant: Plant, calls: PlantCalls, slip: Slip, q: Scalars, v: Scalars, h: Scalar
) -> list[Scalar]:
    """The velocity, zero where it has turned against the direction of slip: an impulse of friction stops the joint.

    The other joints keep their momentum, so that a stop costs energy in proportion to the square of the step. In a
    closed loop a joint may turn back while the others move on, as a rocker does at its dead points. To stop it there is
    to stop them all. Where that takes more than friction can give in a step, the joint goes on, the other way.
    """
    rubbing = plant.has_friction
    if not rubbing:
        return list(v)
    up, down = plant.breakaway_levels(q)
    is_free: list[Scalar] = [1] * plant.model.nv
    prescribed: list[Scalar] = [0] * plant.model.nv
    for i in rubbing:
        turned = v[i] * slip.direction[i] < 0
        is_free[i], prescribed[i] = where(turned, 0.0, slip.is_free[i]), where(turned, -v[i], 0 * v[i])
    jumps, impulses = calls.jump(q, is_free, prescribed)
    if plant.rows:
        for i in rubbing:
            most = (up[i] + down[i]) * h
            passes = where(v[i] * slip.direction[i] < 0, impulses[i] * impulses[i] > most * most, v[i] != v[i])
            is_free[i], prescribed[i] = where(passes, 1.0, is_free[i]), where(passes, 0 * v[i], prescribed[i])
        jumps, _ = calls.jump(q, is_free, prescribed)
    after = [a + b for a, b in zip(v, jumps, strict=True)]
    for i in rubbing:
        after[i] = where(is_free[i] == 0, 0.0, after[i])  # exactly at rest, not up to rounding
    return after
