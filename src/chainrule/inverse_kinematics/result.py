"""The result of inverse kinematics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, is_lazy
from chainrule.compile.backend import columns
from chainrule.compile.cuda.device_arrays import to_host
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError
from chainrule.inverse_kinematics.goals import Goal, goal_errors
from chainrule.inverse_kinematics.history import IterationHistory
from chainrule.spatial import Rotation, Transform, Vector

Truths = NDArray[np.bool_]

REASONS = {
    "": "solved",
    "limits": "found only beyond the joints' limits",
    "not reached": "no configuration was found that reaches it, within the limits or without",
    "not finite": "the target or the start has numbers that are not finite",
    "singular start": "Newton's method has no step from its start, where the Jacobian is singular and has no inverse",
    "in the way": "reached only where two bodies are nearer to each other than asked, which `in_the_way` names",
}

IN_THE_WAY = np.str_("in the way")
"""The reason of what is reached, but not clear."""


SINGULAR_START = "the Jacobian is singular at the start, where it has no inverse, and rounding leads Newton's method on"
ROUNDING = 1e-6
"""Errors below this, in mm and degrees, are rounding, and shown as zero."""

REASON_CODES = tuple(REASONS)
"""Reasons in the order of their codes: a device has no words, so that `reason` has places in this list there."""


@dataclass(frozen=True, eq=False, repr=False)
class InverseKinematics(Shown):
    """Configurations for targets, and their errors, measured by forward kinematics in the end.

    Where `success` is false, q is the configuration with the lowest weighted error that was found. The arrays of a
    search on a device are on that device, and `reason` has places in REASON_CODES; `with_words` gives its words.
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
    """Reason of failure: "" (solved), "limits" (found only beyond them), "not reached", "not finite", "singular
    start", of Newton's method without restarts, or "in the way", of solutions that are to keep clear: (...)."""
    errors: dict[str, Array] = field(default_factory=dict, repr=False)
    """The errors of each link that had a target."""
    names: tuple[str, ...] = field(default=(), repr=False)
    """The names of the numbers of q."""
    rank: int = field(default=0, repr=False)
    """How many equations of the task the robot can meet independently, in nearly every configuration."""
    equations: int = field(default=0, repr=False)
    """How many equations the task has: where they are more than the rank, targets must be where the robot can go."""
    history: IterationHistory | None = field(default=None, repr=False)
    """Every iterate, where history=True asked for them."""
    clearance: Any = field(default=None, repr=False)
    """The smallest distance of two bodies at q, in m, where solutions are to keep clear: (...)."""
    in_the_way: Any = field(default=None, repr=False)
    """The two bodies that are too near to each other at q, where the reason is "in the way": (...)."""

    def __bool__(self) -> bool:
        """Whether the target was reached, of one target."""
        if np.ndim(self.success):
            raise ShapeError(
                f"inverse_kinematics: these are the solutions of {np.size(self.success)} targets; .success has a truth "
                "for each: .success.all()"
            )
        return bool(self.success)

    def __getitem__(self, place: Any) -> NoReturn:
        """A solution is no array: its parts have names."""
        raise ShapeError(
            "inverse_kinematics: the parts of a solution have names, .q, .success and .error among them; of a batch, "
            ".q[0] is the first configuration"
        )

    def with_words(self) -> InverseKinematics:
        """The same with words for reasons; arrays on a device are copied to the host."""
        if np.asarray(to_host(self.reason)).dtype.kind not in "iu":
            return self
        return replace(
            self,
            q=to_host(self.q),
            success=to_host(self.success)[()],
            error=to_host(self.error),
            iterations=to_host(self.iterations)[()],
            reason=np.array(REASON_CODES)[to_host(self.reason)],
            errors={link: to_host(error) for link, error in self.errors.items()},
        )

    def _words(self) -> str:
        """The result in a sentence."""
        if is_lazy(self.success):
            return f"the solutions of Dask arrays, of shape {self.success.shape}, which are not computed yet"
        own = self.with_words()
        count, solved = np.size(own.success), int(np.sum(own.success))
        lines = [f"{solved} of {count} solved" if np.ndim(own.success) else REASONS[str(own.reason)]]
        failures = sorted(set(np.ravel(own.reason).tolist()) - {""}) if np.ndim(own.success) else []
        for reason in failures:
            lines.append(f"{int(np.sum(np.asarray(own.reason) == reason))}: {REASONS[reason]}")
        if self.in_the_way is not None:
            names, counts = np.unique(np.ravel(self.in_the_way), return_counts=True)
            lines += [f"{name}: {count}" for name, count in zip(names, counts, strict=True) if name]
        if own.history is not None and own.history.starts_singular:
            lines.append(SINGULAR_START)
        if self.rank < self.equations:
            lines.append(f"of the task's {self.equations} equations, {self.rank} are independent on this robot")
        return "; ".join(lines)

    def _view(self) -> Iterator[str | Table]:
        yield self._words()
        if is_lazy(self.success):
            return
        own = self.with_words()
        names = self.names or tuple(f"q{k}" for k in range(own.q.shape[-1]))
        q, errors = own.q.reshape(-1, own.q.shape[-1]), own.error.reshape(-1, 2)
        good, counts, why = (np.ravel(x) for x in (own.success, own.iterations, own.reason))
        millimeters, degrees = (np.where(x < ROUNDING, 0.0, x) for x in (1e3 * errors[:, 0], np.degrees(errors[:, 1])))
        words = ["yes" if yes else str(reason) for yes, reason in zip(good, why, strict=True)]
        rows = [
            (word, float(mm), float(angle), str(count), *map(float, row))
            for word, mm, angle, count, row in zip(words, millimeters, degrees, counts, q, strict=True)
        ]
        yield Table(("solved", "error, mm", "error, deg", "iterations", *names), rows)


def measured_errors(goal: Goal, T: Array, target: Array) -> Array:
    """Distance and angle (..., 2) between poses (..., 4, 4) and the numbers of a goal's targets (..., size)."""
    rows = [[T[..., i, j] for j in range(4)] for i in range(3)]
    pose = Transform(Rotation(*(Vector(*row[:3]) for row in rows)), Vector(*(row[3] for row in rows)))
    with np.errstate(over="ignore", invalid="ignore"):  # a target so far away is infinitely far
        return columns(goal_errors(goal, pose, list(np.moveaxis(target, -1, 0))), T.shape[:-2])
