"""The result of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.display import tables as display
from chainrule.inverse_kinematics.goals import Goal
from chainrule.inverse_kinematics.history import History

Truths = NDArray[np.bool_]

REASONS = {
    "": "solved",
    "limits": "found only beyond the joints' limits",
    "not reached": "no configuration was found that reaches it, within the limits or without",
    "not finite": "the target or the start has numbers that are not finite",
}


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """Configurations for targets, and their errors, measured by forward kinematics in the end.

    Where `success` is false, q is the configuration with the lowest weighted error that was found.
    """

    q: Array
    """Configurations (..., nq), in rad and m."""
    success: Any
    """Whether the error is within the tolerance and q within the limits: (...)."""
    error: Array
    """Remaining errors of position and orientation, in m and rad: (..., 2); of several links, the largest."""
    iterations: Any
    """Iterations spent, over all starts: (...)."""
    reason: Any
    """Reason of failure: "" (solved), "limits" (found only beyond them), "not reached" or "not finite": (...)."""
    errors: dict[str, Array] = field(default_factory=dict, repr=False)
    """The errors of each link that had a target."""
    names: tuple[str, ...] = field(default=(), repr=False)
    """The names of the numbers of q."""
    rank: int = field(default=0, repr=False)
    """How many equations of the task the robot can meet independently, in nearly every configuration."""
    equations: int = field(default=0, repr=False)
    """How many equations the task has: where they are more than the rank, targets must be where the robot can go."""
    history: History | None = field(default=None, repr=False)
    """Every iterate, where history=True asked for them."""

    def __str__(self) -> str:
        count, solved = np.size(self.success), int(np.sum(self.success))
        lines = [f"{solved} of {count} solved" if np.ndim(self.success) else REASONS[str(self.reason)]]
        failures = sorted(set(np.ravel(self.reason).tolist()) - {""}) if np.ndim(self.success) else []
        for reason in failures:
            lines.append(f"{int(np.sum(np.asarray(self.reason) == reason))}: {REASONS[reason]}")
        if self.rank < self.equations:
            lines.append(f"of the task's {self.equations} equations, {self.rank} are independent on this robot")
        return "; ".join(lines)

    def _repr_html_(self) -> str:
        """A table of the answers: whether each is one, its errors, its configuration."""
        names = self.names or tuple(f"q{k}" for k in range(self.q.shape[-1]))
        q, errors = self.q.reshape(-1, self.q.shape[-1]), self.error.reshape(-1, 2)
        good, counts, why = (np.ravel(x) for x in (self.success, self.iterations, self.reason))
        millimeters, degrees = 1e3 * errors[:, 0], np.degrees(errors[:, 1])
        words = ["yes" if yes else str(reason) for yes, reason in zip(good, why, strict=True)]
        rows = [
            (word, float(mm), float(angle), str(count), *map(float, row))
            for word, mm, angle, count, row in zip(words, millimeters, degrees, counts, q, strict=True)
        ]
        header = ("solved", "error, mm", "error, deg", "iterations", *names)
        return display.heading(str(self)) + display.table(header, rows)


def measured_errors(goal: Goal, T: Array, target: Array) -> Array:
    """Distance and angle (..., 2) between poses (..., 4, 4) and the numbers of a goal's targets (..., size)."""
    error = np.zeros((*T.shape[:-2], 2))
    axes = np.eye(3)
    if goal.orientation == "full":
        axes = target[..., :9].reshape(*target.shape[:-1], 3, 3)
        error[..., 1] = _angles(np.swapaxes(axes, -1, -2) @ T[..., :3, :3], np.array(goal.weights[:3]) > 0)
    elif goal.orientation == "axis" and goal.weights[0]:
        a, b = T[..., :3, :3] @ np.array(goal.axis), target[..., :3]
        error[..., 1] = np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))
    if goal.has_position:
        offset = T[..., :3, 3] - target[..., -3:]
        counts = np.array(goal.weights[3:]) > 0
        if not counts.all():
            offset = np.einsum("...ij,...i->...j", np.broadcast_to(axes, (*offset.shape, 3)), offset) * counts
        with np.errstate(over="ignore"):  # a target so far away is infinitely far
            error[..., 0] = np.linalg.norm(offset, axis=-1)
    return error


def _angles(R: Array, counts: Truths) -> Array:
    """Angles t of rotations; where not every axis counts, the angle whose 2 sin(t/2) n has only the entries that do."""
    skew = R[..., [2, 0, 1], [1, 2, 0]] - R[..., [1, 2, 0], [2, 0, 1]]
    length = np.linalg.norm(skew, axis=-1)
    angle = np.arctan2(length, np.trace(R, axis1=-2, axis2=-1) - 1)
    if counts.all() or not counts.any():
        return angle * counts.any()
    share = np.linalg.norm(skew * counts, axis=-1) / np.where(length > 0, length, 1.0)
    return 2 * np.arcsin(np.sin(angle / 2) * np.where(length > 0, share, 1.0))
