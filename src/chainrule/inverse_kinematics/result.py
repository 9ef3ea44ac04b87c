"""The result of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.compile.backend import columns
from chainrule.display import tables as display
from chainrule.inverse_kinematics.goals import Goal, goal_errors
from chainrule.inverse_kinematics.history import History
from chainrule.spatial import Rotation, Transform, Vector

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
    rows = [[T[..., i, j] for j in range(4)] for i in range(3)]
    pose = Transform(Rotation(*(Vector(*row[:3]) for row in rows)), Vector(*(row[3] for row in rows)))
    with np.errstate(over="ignore", invalid="ignore"):  # a target so far away is infinitely far
        return columns(goal_errors(goal, pose, list(np.moveaxis(target, -1, 0))), T.shape[:-2])
