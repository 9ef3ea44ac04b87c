"""Dry friction that sticks, decided once a step.

A joint keeps its direction of slip during a step. If its velocity would change sign, it stops, exactly; at rest it
sticks, exactly, until the torque on it exceeds the friction: no chatter, no creep. A joint at a hard stop sticks in the
same way, in one direction only.

Which of several resting joints break away together is a complementarity problem. With a the accelerations without their
friction, and W the accelerations that unit torques cause, their friction f is within its limits, and

    a - W f is 0 where a joint sticks, positive where f is at its upper limit, negative where it is at its lower one.

The motion is unique. Block pivoting finds it: a pass solves for f with the sets of joints that stick and slip as they
are, and moves the joints that contradict their set to another; where that does not make them fewer, one at a time,
the last one (J. J. Judice, F. M. Pires: A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems, 1994), which ends after finitely many passes. In loops W is singular, and joints may share
what holds the loop in many ways; a small multiple of the diagonal makes them share it evenly.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from chainrule.simulation.plant import SHARING, Calls, Plant, Rates, Scalars, Slip, shared_matrix
from chainrule.spatial import Scalar
from chainrule.spatial.linear import Factors, dot
from chainrule.spatial.scalar import where

PATIENCE = 3
"""Passes that move all contradicting joints at once without making them fewer, before they are moved one by one."""

ROUNDING = 1e-8
"""In loops: the acceleration, relative to its terms, that is none; more than `SHARING` leaves."""

UNBOUNDED_TORQUE = 1e300
"""More than any torque, in N m or N: what a hard stop can hold."""

Range = tuple[Scalar, Scalar]
"""The torques that a joint can hold, downwards and upwards."""


def resolve_sticking(
    plant: Plant, calls: Calls, q: Scalars, v: Scalars, x: Scalars, s: Scalars
) -> tuple[Slip | None, Rates]:
    """The joints that stick, the direction in which the others slip, and the rates that follow."""
    if not plant.can_stick:
        return None, calls.rates(q, v, x, s, None)
    slip = find_slip(plant, calls, q, v, x, s, sticking_ranges(plant, q))
    return slip, calls.rates(q, v, x, s, slip)


def find_slip(
    plant: Plant,
    calls: Calls,
    q: Scalars,
    v: Scalars,
    x: Scalars,
    s: Scalars,
    ranges: Mapping[int, Range],
    passes: int | None = None,
) -> Slip:
    """The joints that stick and the direction in which the others slip, those at rest as complementarity says.

    After all `passes`, joints that would still have to hold more than they can slip.
    """
    start = slip_along(plant, v).direction
    problem = calls.sticking_problem(q, v, x, s, start)
    k = len(plant.can_stick)
    a, W = problem[:k], problem[k:]
    low, high = [ranges[i][0] for i in plant.can_stick], [ranges[i][1] for i in plant.can_stick]
    resting = [where(v[i] == 0, 1.0, 0.0) for i in plant.can_stick]
    direction: Scalars = [start[i] for i in plant.can_stick]
    counters: Scalars = [k + 1 + 0 * a[0], PATIENCE + 0 * a[0]]
    friction: Scalars = []
    for _ in range(sticking_passes(k) if passes is None else passes):
        before = direction
        result = calls.sticking_pass(W, a, low, high, resting, direction, counters)
        direction, friction, counters = result[:k], result[k : 2 * k], result[2 * k :]
        if isinstance(counters[0], np.ndarray) and not np.any(counters[0]):
            break
    final = list(start)
    for n, i in enumerate(plant.can_stick):
        f = friction[n]
        beyond = where(f > high[n], 1.0, where(f < -low[n], -1.0, 0.0))  # never more than there is
        final[i] = where(resting[n] == 0, start[i], where(before[n] == 0, beyond, before[n]))
    return slip_in(final)


def sticking_passes(k: int) -> int:
    """The number of passes for k joints that can stick: random problems of up to seven joints took at most 15."""
    return 2 * k if k < 3 else 16


def sticking_pass(
    W: Scalars,
    a: Scalars,
    low: Scalars,
    high: Scalars,
    resting: Scalars,
    direction: Scalars,
    counters: Scalars,
    sharing: float = 0.0,
    rounding: float = 0.0,
) -> list[Scalar]:
    """Directions of slip after one pass, the friction before it, the fewest contradictions, and the patience left."""
    k = len(a)
    rows = [W[k * i : k * i + k] for i in range(k)]
    sticks = [r * (1 - d * d) for r, d in zip(resting, direction, strict=True)]
    limit = [
        r * where(d > 0, high_i, where(d < 0, -low_i, 0.0))
        for r, d, low_i, high_i in zip(resting, direction, low, high, strict=True)
    ]
    without = [x - dot(row, limit) for x, row in zip(a, rows, strict=True)]
    held = Factors(shared_matrix(rows, sticks, sharing)).solve([f * x for f, x in zip(sticks, without, strict=True)])
    friction = [where(s > 0, f, l) for s, f, l in zip(sticks, held, limit, strict=True)]
    wanted = []
    for i, (f, d) in enumerate(zip(friction, direction, strict=True)):
        acceleration = a[i] - dot(rows[i], friction)
        least: Scalar = 0
        if rounding:
            least = rounding * sum((_size(w * g) for w, g in zip(rows[i], friction, strict=True)), start=_size(a[i]))
        overloaded = where(f > high[i], 1.0, where(f < -low[i], -1.0, 0.0))
        slipping = where(acceleration * d < -least, 0.0, d)
        wanted.append(where(resting[i] == 0, d, where(sticks[i] > 0, overloaded, slipping)))
    changes = [where(w == d, 0.0, 1.0) for w, d in zip(wanted, direction, strict=True)]
    count = sum(changes, start=0)
    improves = where(count < counters[0], 1.0, 0.0)
    patience = where(improves > 0, PATIENCE + 0 * count, counters[1] - 1)
    after: list[Scalar] = list(direction)
    takes: Scalar = 1.0 + 0 * count
    for i in reversed(range(k)):
        after[i] = where(changes[i] * takes > 0, wanted[i], direction[i])
        takes = where(patience > 0, takes, takes * (1 - changes[i]))
    return [*after, *friction, where(improves > 0, count, counters[0]), patience]


def loop_sticking_pass(
    W: Scalars, a: Scalars, low: Scalars, high: Scalars, resting: Scalars, direction: Scalars, counters: Scalars
) -> list[Scalar]:
    """`sticking_pass` in loops, where W is singular."""
    return sticking_pass(W, a, low, high, resting, direction, counters, SHARING, ROUNDING)


def _size(x: Scalar) -> Scalar:
    return where(x < 0, -x, x)


def slip_along(plant: Plant, v: Scalars) -> Slip:
    """Slip in the direction of the velocity; joints at rest stick if they can."""
    direction: list[Scalar] = [1] * plant.model.nv
    for i in plant.can_stick:
        direction[i] = where(v[i] > 0, 1.0, where(v[i] < 0, -1.0, 0.0))
    return slip_in(direction)


def slip_in(direction: Scalars) -> Slip:
    """Slip in the given directions, 1 or -1; joints stick where the direction is 0."""
    return Slip(direction, [d * d for d in direction])


def sticking_ranges(plant: Plant, q: Scalars) -> dict[int, Range]:
    """The excess torques that dry friction, or a hard stop, can hold at each joint that can stick."""
    up, down = plant.coulomb
    ranges: dict[int, Range] = {i: (float(down[i]), float(up[i])) for i in plant.can_stick}
    if plant.stops == "impact":
        for limit in plant.limits:
            low, high = ranges[limit.velocity]
            x = q[limit.coordinate]
            ranges[limit.velocity] = (
                where(x <= limit.lower, UNBOUNDED_TORQUE, low),
                where(x >= limit.upper, UNBOUNDED_TORQUE, high),
            )
    return ranges


def stop_reversed_joints(plant: Plant, calls: Calls, slip: Slip, q: Scalars, v: Scalars, h: Scalar) -> list[Scalar]:
    """The velocity, zero where it has turned against the direction of slip: an impulse of friction stops the joint.

    The other joints keep their momentum, so that a stop costs energy in proportion to the square of the step. In a
    closed loop a joint may turn back while the others move on, as a rocker does at its dead points. To stop it there is
    to stop them all. Where that takes more than friction can give in a step, the joint goes on, the other way.
    """
    up, down = plant.coulomb
    rubbing = plant.has_friction
    if not rubbing:
        return list(v)
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
