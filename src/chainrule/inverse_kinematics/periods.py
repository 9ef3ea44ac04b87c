"""Whole turns: configurations that differ by them are the same pose."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array
from chainrule.model import Model
from chainrule.model.joints import Kind


def periods(model: Model) -> Array:
    """How far each coordinate of q goes until the pose is the same again, infinite where it never is: (nq,)."""
    led = {joint.mimic.joint for joint in model.joints if joint.mimic}
    result: list[float] = []
    for joint in model.moving:
        closes = turns_only(joint.kind) and joint.name not in led
        length = 2 * np.pi / float(joint.kind.columns([0.0])[0].angular.norm()) if closes else np.inf
        result += [length] * joint.kind.nq
    return np.array(result)


def turns_only(kind: Kind) -> bool:
    """Whether a joint turns about one axis and does nothing else."""
    if kind.nv != 1 or kind.units != ("rad",):
        return False
    S = kind.columns([0.0])[0]
    return abs(float(S.angular.dot(S.linear))) <= 1e-12 * float(S.angular.dot(S.angular))


def unwound(model: Model, q: Array, near: Array, lower: Array, upper: Array) -> Array:
    """q (..., nq) with whole turns taken out, each joint as near as it can be to `near` and within its limits."""
    period = periods(model)
    turns = np.isfinite(period)
    step = np.where(turns, period, 1.0)
    least = np.where(np.isfinite(lower), np.ceil((lower - q) / step), -np.inf)
    most = np.where(np.isfinite(upper), np.floor((upper - q) / step), np.inf)
    count = np.clip(np.round((near - q) / step), least, np.maximum(least, most))
    moved = q + count * step
    fits = turns & (moved >= lower) & (moved <= upper)
    return np.where(fits, moved, q)
