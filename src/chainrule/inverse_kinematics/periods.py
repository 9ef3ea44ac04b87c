"""Periods of coordinates: configurations that differ by whole revolutions of a joint are the same pose."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array
from chainrule.inverse_kinematics.bounds import Bounds
from chainrule.model import Model
from chainrule.model.joints import JointKind

PITCH_TOLERANCE = 1e-12
"""The ratio of a screw's pitch and its length below which the joint counts as revolute."""


def periods(model: Model) -> Array:
    """The period of each coordinate of q (nq,), infinite where the pose never repeats."""
    sources = {joint.mimic.joint for joint in model.joints if joint.mimic}
    result = np.full(model.nq, np.inf)
    for joint, q, _ in model.layout.joints:
        if is_revolute(joint.kind) and joint.name not in sources:
            result[q] = 2 * np.pi / float(joint.kind.columns([0.0])[0].angular.norm())
    return result


def is_revolute(kind: JointKind) -> bool:
    """Whether a joint rotates about one fixed axis and does nothing else."""
    if kind.nv != 1 or kind.units != ("rad",):
        return False
    S = kind.columns([0.0])[0]
    return abs(float(S.angular.dot(S.linear))) <= PITCH_TOLERANCE * float(S.angular.dot(S.angular))


def shift_by_periods(model: Model, q: Array, near: Array, bounds: Bounds) -> Array:
    """The same poses with each coordinate of q (..., nq) as close to `near` as its period and the bounds allow."""
    return shift_by(periods(model), q, near, bounds)


def shift_by(period: Array, q: Array, near: Array, bounds: Bounds) -> Array:
    """The same for coordinates of these periods (nq,)."""
    repeats = np.isfinite(period)
    step = np.where(repeats, period, 1.0)
    lower, upper = bounds
    least = np.where(np.isfinite(lower), np.ceil((lower - q) / step), -np.inf)
    most = np.where(np.isfinite(upper), np.floor((upper - q) / step), np.inf)
    count = np.clip(np.round((near - q) / step), least, np.maximum(least, most))
    shifted = q + count * step
    fits = repeats & (shifted >= lower) & (shifted <= upper)
    return np.where(fits, shifted, q)
