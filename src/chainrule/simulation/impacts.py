"""Stops at the joint limits: springs that give, and hard stops that a joint rebounds from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chainrule.calls import explains_construction
from chainrule.simulation.plant import Plant, Scalars
from chainrule.simulation.plant_calls import PlantCalls
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import where


@explains_construction
@dataclass(frozen=True)
class Stops:
    """Springs and dampers at the joint limits.

    stiffness is in N m/rad or N/m, damping in N m s/rad or N s/m; each is one number for all joints, or one for each.
    """

    stiffness: Any
    damping: Any = 0.0


@explains_construction
@dataclass(frozen=True)
class Impacts:
    """Hard stops at the joint limits: an approach at v ends in a rebound at restitution times v.

    restitution is from 0 to 1: one number for all joints, or one for each.
    """

    restitution: Any = 0.0


def rebound(
    plant: Plant, calls: PlantCalls, q: Scalars, v: Scalars, restitution: Scalars, speed_per_step: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """The state after impacts at the joint limits: an impulse there moves the other joints along.

    Rebounds slower than one step's velocity change are set to zero: the joint comes to rest at its stop.
    """
    q, v = list(q), list(v)
    is_free: list[Scalar] = [1] * plant.model.nv
    prescribed: list[Scalar] = [0] * plant.model.nv
    for k, i, lower, upper in plant.limits:
        outward = where(q[k] > upper, 1.0, where(q[k] < lower, -1.0, 0.0))
        speed = v[i] * outward
        back = restitution[i] * speed
        back = where(back * back > speed_per_step[i] * speed_per_step[i], back, 0 * back)
        hit = where(speed > 0, 1.0, 0.0)
        is_free[i], prescribed[i] = 1 - hit, -(speed + back) * outward * hit
        if not plant.rows:  # a loop would be torn open; there the joint comes back by itself
            q[k] = where(q[k] > upper, upper, where(q[k] < lower, lower, q[k]))
    jumps, _ = calls.jump(q, is_free, prescribed)
    after = [a + b for a, b in zip(v, jumps, strict=True)]
    for _, i, *_ in plant.limits:
        after[i] = where(prescribed[i] + v[i] == 0, 0.0, after[i])  # exactly at rest, not up to rounding
    return q, after
