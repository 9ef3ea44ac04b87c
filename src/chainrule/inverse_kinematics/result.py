"""What inverse kinematics answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.inverse_kinematics.goals import Goal

Truths = NDArray[np.bool_]

REASONS = {
    "": "solved",
    "limits": "found only beyond the joints' limits",
    "not reached": "no configuration was found that reaches it, within the limits or without",
    "not finite": "the target or the start has numbers that are not finite",
}


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """Configurations for targets, and how good they are, measured by forward kinematics after all else.

    Where `success` is false, q is the configuration found that comes nearest, by the cost that the weights make.
    """

    q: Array
    """Configurations (..., nq), in rad and m."""
    success: Any
    """Whether the error is within the tolerance and q within the limits: (...)."""
    error: Array
    """What is left of the error: m and rad, (..., 2); of several links, the largest."""
    iterations: Any
    """Iterations spent, over all starts: (...)."""
    reason: Any
    """Why not: "" (solved), "limits" (found beyond them only), "not reached" or "not finite": (...)."""
    errors: dict[str, Array] = field(default_factory=dict, repr=False)
    """The same error for each link that had a target."""

    def __str__(self) -> str:
        count, solved = np.size(self.success), int(np.sum(self.success))
        lines = [f"{solved} of {count} solved" if np.ndim(self.success) else REASONS[str(self.reason)]]
        failures = sorted(set(np.ravel(self.reason).tolist()) - {""}) if np.ndim(self.success) else []
        for reason in failures:
            lines.append(f"{int(np.sum(np.asarray(self.reason) == reason))}: {REASONS[reason]}")
        return "; ".join(lines)


def measured_errors(goal: Goal, T: Array, target: Array) -> Array:
    """Distance and angle (..., 2) between poses (..., 4, 4) and the numbers of a goal's targets (..., size)."""
    error = np.zeros((*T.shape[:-2], 2))
    own = np.eye(3)
    if goal.turn == "whole":
        own = target[..., :9].reshape(*target.shape[:-1], 3, 3)
        error[..., 1] = _angles(np.swapaxes(own, -1, -2) @ T[..., :3, :3], np.array(goal.weights[:3]) > 0)
    elif goal.turn == "axis" and goal.weights[0]:
        a, b = T[..., :3, :3] @ np.array(goal.axis), target[..., :3]
        error[..., 1] = np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))
    if goal.places:
        apart = T[..., :3, 3] - target[..., -3:]
        counts = np.array(goal.weights[3:]) > 0
        if not counts.all():
            apart = np.einsum("...ij,...i->...j", np.broadcast_to(own, (*apart.shape, 3)), apart) * counts
        error[..., 0] = np.linalg.norm(apart, axis=-1)
    return error


def _angles(R: Array, counts: Truths) -> Array:
    """Angles t of rotations; where not every axis counts, the angle whose 2 sin(t/2) n has only those entries."""
    skew = R[..., [2, 0, 1], [1, 2, 0]] - R[..., [1, 2, 0], [2, 0, 1]]
    length = np.linalg.norm(skew, axis=-1)
    angle = np.arctan2(length, np.trace(R, axis1=-2, axis2=-1) - 1)
    if counts.all() or not counts.any():
        return angle * counts.any()
    share = np.linalg.norm(skew * counts, axis=-1) / np.where(length > 0, length, 1.0)
    return 2 * np.arcsin(np.sin(angle / 2) * np.where(length > 0, share, 1.0))
