"""One step of a plant: which joints slip, the integrator's step, and what happens where it arrives.

Dry friction keeps its direction during a step. A joint whose velocity would change sign stops, exactly; at rest it
stays held, exactly, until what acts on it exceeds the friction: no chatter, no creep. Which of several resting
joints break away together is found in a few passes. A joint at a hard stop is held in the same way, against one
direction only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from chainrule.simulation.integrators import METHODS, scaled
from chainrule.simulation.plant import Plant, Rates, Slip
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import where

Scalars = Sequence[Scalar]

PASSES = 4
"""How often the set of joints that break away is corrected in one step; the next step goes on from there."""

RESTING = 1e-13
"""The speed, in rad/s or m/s, below which a joint in a loop whose others have stopped is at rest but for rounding."""

BEYOND = 1e300
"""More than any torque."""


class Calls(Protocol):
    """The functions of a plant that are evaluated during a step: in place, or by calls of compiled code."""

    def rates(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, slip: Slip | None) -> Rates: ...

    def jump(self, q: Scalars, free: Scalars, given: Scalars) -> tuple[Scalars, Scalars]: ...

    def closing_step(self, q: Scalars, free: Scalars) -> Scalars: ...

    def consistent_velocity(self, q: Scalars, v: Scalars, free: Scalars) -> Scalars: ...


@dataclass(frozen=True)
class Stepped:
    """The state after a step, what was true at its start, and how well its equations were solved."""

    q: Scalars
    v: Scalars
    x: Scalars
    start: Rates
    residual: Scalar


@dataclass(frozen=True)
class _World:
    """A plant during one step, as the integrators see it."""

    plant: Plant
    calls: Calls
    signals: Callable[[int, Scalars, Scalars], Scalars]
    slip: Slip | None

    def rates(self, stage: int, q: Scalars, v: Scalars, x: Scalars) -> tuple[Scalars, Scalars]:
        found = self.calls.rates(q, v, x, self.signals(stage, q, v), self.slip)
        return found.acceleration, found.further

    def coordinate_rates(self, q: Scalars, v: Scalars) -> Scalars:
        return self.plant.coordinate_rates(q, v)

    def moved(self, q: Scalars, v: Scalars) -> Scalars:
        return self.plant.moved(q, v)

    def normalised(self, q: Scalars) -> Scalars:
        return self.plant.normalised(q)


def step(
    plant: Plant,
    calls: Calls,
    method: str,
    q: Scalars,
    v: Scalars,
    x: Scalars,
    signals: Callable[[int, Scalars, Scalars], Scalars],
    restitution: Scalars,
    h: Scalar,
    project: bool = True,
) -> Stepped:
    """The state a time h later; signals(stage, q, v) are those of the sources."""
    slip, start = settled(plant, calls, q, v, x, signals(0, q, v))
    world = _World(plant, calls, signals, slip)
    q, v, x, residual = METHODS[method](world, (start.acceleration, start.further), q, v, x, h)
    if slip:
        v = _stopped(plant, calls, slip, q, v, h)
    if plant.stops == "impact":
        q, v = bounced(plant, calls, q, v, restitution, scaled(start.acceleration, h))
    if plant.rows and project:
        v = list(v)
        free: list[Scalar] = [1] * plant.model.nv
        for i in plant.may_hold:
            free[i] = where(v[i] * v[i] > RESTING * RESTING, 1.0, 0.0)
            v[i] = where(free[i] == 0, 0.0, v[i])
        q = plant.moved(q, calls.closing_step(q, free))
        v = calls.consistent_velocity(q, v, free)
    return Stepped(q, v, x, start, residual)


def settled(plant: Plant, calls: Calls, q: Scalars, v: Scalars, x: Scalars, s: Scalars) -> tuple[Slip | None, Rates]:
    """Which joints slip in which direction and which are held, and the rates that follow."""
    if not plant.may_hold:
        return None, calls.rates(q, v, x, s, None)
    bounds = held_range(plant, q)
    slip = moving(plant, v)
    rates = calls.rates(q, v, x, s, slip)
    for _ in range(PASSES):
        slip = corrected(plant, slip, v, rates, bounds)
        rates = calls.rates(q, v, x, s, slip)
    return slip, rates


def moving(plant: Plant, v: Scalars) -> Slip:
    """Joints slip in the direction of their velocity; those at rest are held, if anything can hold them."""
    direction: list[Scalar] = [1] * plant.model.nv
    for i in plant.may_hold:
        direction[i] = where(v[i] > 0, 1.0, where(v[i] < 0, -1.0, 0.0))
    return slip_of(direction)


def held_range(plant: Plant, q: Scalars) -> dict[int, tuple[Scalar, Scalar]]:
    """What excess each joint can be held against, downwards and upwards: by dry friction, and by a hard stop."""
    up, down = plant.coulomb
    bounds: dict[int, tuple[Scalar, Scalar]] = {i: (float(down[i]), float(up[i])) for i in plant.may_hold}
    if plant.stops == "impact":
        for iq, i, lower, upper in plant.limited:
            low, high = bounds[i]
            bounds[i] = (where(q[iq] <= lower, BEYOND, low), where(q[iq] >= upper, BEYOND, high))
    return bounds


def corrected(plant: Plant, slip: Slip, v: Scalars, rates: Rates, bounds: dict[int, tuple[Scalar, Scalar]]) -> Slip:
    """At rest: let go what is pulled too hard, and hold what would move against the direction it was let go in."""
    direction = list(slip.direction)
    for i in plant.may_hold:
        d, r = direction[i], rates.excess[i]
        low, high = bounds[i]
        let_go = where(r > high, 1.0, where(r < -low, -1.0, 0.0))
        kept = where(rates.acceleration[i] * d < 0, 0.0, d)
        direction[i] = where(v[i] == 0, where(d == 0, let_go, kept), d)
    return slip_of(direction)


def slip_of(direction: Scalars) -> Slip:
    """Joints that slip in the given directions, 1 or -1, and are held where it is 0."""
    return Slip(direction, [d * d for d in direction])


def _stopped(plant: Plant, calls: Calls, slip: Slip, q: Scalars, v: Scalars, h: Scalar) -> list[Scalar]:
    """The velocity, zero where it has turned against the direction of slip: an impulse of friction sees to that.

    With it the other joints keep their momentum, so that a stop costs energy in proportion to the square of the step.
    In a closed loop a joint may turn back while the others move on, as a rocker does at its dead points. To stop it
    there is to stop them all, which takes more than friction can give in a step: it then goes on, the other way.
    """
    up, down = plant.coulomb
    rubbing = [i for i in plant.may_hold if up[i] > 0 or down[i] > 0]
    if not rubbing:
        return list(v)
    free: list[Scalar] = [1] * plant.model.nv
    given: list[Scalar] = [0] * plant.model.nv
    for i in rubbing:
        turned = v[i] * slip.direction[i] < 0
        free[i], given[i] = where(turned, 0.0, slip.free[i]), where(turned, -v[i], 0 * v[i])
    jumps, impulses = calls.jump(q, free, given)
    if plant.rows:
        for i in rubbing:
            most = (up[i] + down[i]) * h
            passes = where(v[i] * slip.direction[i] < 0, impulses[i] * impulses[i] > most * most, v[i] != v[i])
            free[i], given[i] = where(passes, 1.0, free[i]), where(passes, 0 * v[i], given[i])
        jumps, _ = calls.jump(q, free, given)
    after = [a + b for a, b in zip(v, jumps, strict=True)]
    for i in rubbing:
        after[i] = where(free[i] == 0, 0.0, after[i])  # exactly at rest, not but for rounding
    return after


def bounced(
    plant: Plant, calls: Calls, q: Scalars, v: Scalars, restitution: Scalars, in_a_step: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """The state after impacts at the joint limits: v- becomes -e v+, and impulses there move the other joints along.

    A rebound slower than the joint speeds up in a step is none: the joint comes to rest at its stop.
    """
    q, v = list(q), list(v)
    free: list[Scalar] = [1] * plant.model.nv
    given: list[Scalar] = [0] * plant.model.nv
    for iq, i, lower, upper in plant.limited:
        outward = where(q[iq] > upper, 1.0, where(q[iq] < lower, -1.0, 0.0))
        speed = v[i] * outward
        back = restitution[i] * speed
        back = where(back * back > in_a_step[i] * in_a_step[i], back, 0 * back)
        hit = where(speed > 0, 1.0, 0.0)
        free[i], given[i] = 1 - hit, -(speed + back) * outward * hit
        if not plant.rows:  # a loop would be torn open; there the joint comes back by itself
            q[iq] = where(q[iq] > upper, upper, where(q[iq] < lower, lower, q[iq]))
    jumps, _ = calls.jump(q, free, given)
    after = [a + b for a, b in zip(v, jumps, strict=True)]
    for _, i, *_ in plant.limited:
        after[i] = where(given[i] + v[i] == 0, 0.0, after[i])  # exactly at rest, not but for rounding
    return q, after
