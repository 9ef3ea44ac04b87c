"""Singular configurations: singular values, the motion that is lost, and the joints that have lined up.

`task` says which part of its pose a frame is meant to move: "pose", "position" or "orientation". Closed loops count:
only motions that keep them closed do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, number, refuse_undefined_rows
from chainrule.core.declaration import composition
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_state
from chainrule.display.text import Shown
from chainrule.errors import ShapeError, short_repr
from chainrule.kinematics.poses import jacobian_dot
from chainrule.kinematics.tasks import TASKS, loop_jacobian, moving_task, refuse_loops, svd, task_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_JOINT_SETS = 20_000
"""Sets of joints that are tried in search of those that have lined up."""


@dataclass(frozen=True, repr=False)
class Singularity(Shown):
    """One configuration, and the motions that are impossible in it.

    `rank` directions are left of the `full_rank` that the frame has nearly everywhere. `lost` (k, 6) are unit twists
    (omega, v), in base axes at the frame's origin, that no joint velocity makes here; the same numbers as wrenches are
    those that the structure carries without any torque. `joints` are the fewest whose screws depend on each other, and
    `motion` (n) the joint velocities, the largest one 1, with which they move nothing.
    """

    singular: bool
    task: str
    rank: int
    full_rank: int
    singular_values: Array
    lost: Array
    joints: tuple[str, ...]
    motion: Array

    def _view(self) -> Iterator[str]:
        if not self.singular:
            least = self.singular_values[self.full_rank - 1]
            yield f"not singular: rank {self.rank}, smallest singular value {least:.4g}"
            return
        yield f"singular: rank {self.rank} instead of {self.full_rank}"
        for twist in self.lost:
            numbers = ", ".join(f"{x:.4g}" for x in twist + 0.0)
            yield f"lost twist (omega, v): ({numbers})"
        ratios = ", ".join(f"{rate + 0.0:.4g}" for rate in self.motion)
        yield f"joints that have lined up: {', '.join(self.joints)}"
        yield f"no motion at qd = ({ratios})"


@composition()
def singular_values(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, task: str | None = None, out: Array | None = None
) -> Array:
    """Singular values of the Jacobian, largest first: (..., k), k the smaller number of its rows and columns."""
    (q,) = read_state(robot, "singular_values", q=q)
    return svd(loop_jacobian(robot, q, link, task_of(robot, link, task=task).task))[1]


@composition()
def condition_number(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, task: str | None = None, out: Array | None = None
) -> Array:
    """The largest singular value over the smallest of those the task has: (...); infinite where it is singular."""
    chosen = moving_task(robot, link, task=task)
    s = singular_values(robot, q, chosen.link, task=chosen.task)
    with np.errstate(all="ignore"):
        return np.abs(s[..., 0] / s[..., chosen.rank - 1])  # LAPACK has zeros of either sign


@composition()
def is_singular(
    robot: Mechanism,
    q: ArrayLike,
    link: str | None = None,
    *,
    task: str | None = None,
    tolerance: float = 1e-6,
    out: Array | None = None,
) -> NDArray[np.bool_]:
    """Whether the frame has lost a direction of motion that it has elsewhere: (...), booleans.

    It has where the condition number exceeds 1/tolerance. A configuration that is not finite is neither singular nor
    not: it is refused, with its row in the batch.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").is_singular([[0.3, 0.0], [0.3, 1.0], [0.3, 3.141592653589793]]).tolist()
    [True, False, True]
    """
    small = _relative(tolerance)
    (q,) = read_state(robot, "is_singular", q=q)
    chosen = moving_task(robot, link, task=task)
    s = singular_values(robot, q, chosen.link, task=chosen.task)
    refuse_undefined_rows(~np.isfinite(q).all(axis=-1) | np.isnan(s[..., 0]), "is_singular")
    return np.asarray(s[..., chosen.rank - 1] <= small * s[..., 0])


def singularity(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, task: str | None = None, tolerance: float = 1e-6
) -> Singularity:
    """The motion that one configuration has lost: its twists, and the joints that have lined up.

    >>> import chainrule as cr
    >>> print(cr.load("planar_2r").analysis.singularity([0.0, 0.0]))
    singular: rank 1 instead of 2
    lost twist (omega, v): (0, 0, 0, 1, 0, 0)
    joints that have lined up: joint1, joint2
    no motion at qd = (-0.5, 1)
    """
    refuse_loops(robot, "singularity")
    (q,) = read_state(robot, "singularity", q=q)
    if q.ndim != 1 or not np.isfinite(q).all():
        raise ShapeError(f"singularity takes one configuration of finite numbers, got shape {q.shape}")
    small, chosen = _relative(tolerance), moving_task(robot, link, task=task)
    full, rows = chosen.rank, list(TASKS[chosen.task])
    J = loop_jacobian(robot, q, link, chosen.task)
    s = svd(J)[1]
    rank = int((s > small * s[0]).sum())
    lost, motion = np.zeros((0, 6)), np.zeros(robot.nv)
    joints: tuple[str, ...] = ()
    if rank < full:
        v = np.random.default_rng(0).normal(size=robot.nv)
        rate = jacobian_dot(robot, q, v, chosen.link)[rows]
        lost = np.zeros((full - rank, 6))
        lost[:, rows] = lost_directions(J, rate, rank, full - rank)
        columns, motion = dependent_columns(J, small)
        joints = tuple(robot.velocity_names[i] for i in columns)
    return Singularity(rank < full, chosen.task, rank, full, s, lost, joints, motion)


def _relative(value: Any) -> float:
    tolerance = number(value, "tolerance")
    if not 0 <= tolerance < 1:
        raise ShapeError(f"tolerance must be at least 0 and less than 1, got {short_repr(value)}")
    return tolerance


def lost_directions(J: Array, rate: Array, rank: int, missing: int) -> Array:
    """Directions (missing, m) that J does not have and that a small move, at which J changes by `rate`, gives back."""
    U, _, _ = svd(J)
    outside = U[:, rank:]
    back, _, _ = svd(outside.T @ rate)
    return _largest_positive((outside @ back[:, :missing]).T)


def dependent_columns(J: Array, tolerance: float) -> tuple[tuple[int, ...], Array]:
    """The fewest columns of J that depend on each other, and the coefficients (n) with which they cancel."""
    n = J.shape[1]
    largest = float(np.linalg.norm(J, 2))
    for size in range(1, n + 1):
        if comb(n, size) > MAX_JOINT_SETS:
            break
        for columns in combinations(range(n), size):
            _, s, Vt = np.linalg.svd(J[:, columns])
            if size > len(s) or s[-1] <= tolerance * largest:
                return columns, _spread(Vt[-1], columns, n)
    _, _, Vt = svd(J)
    return tuple(int(i) for i in np.flatnonzero(np.abs(Vt[-1]) > tolerance)), _spread(Vt[-1], range(n), n)


def _spread(coefficients: Array, columns: tuple[int, ...] | range, n: int) -> Array:
    motion = np.zeros(n)
    motion[list(columns)] = coefficients / coefficients[np.abs(coefficients).argmax()]
    return motion


def _largest_positive(rows: Array) -> Array:
    """Rows whose largest entry is positive, with rounding errors set to zero."""
    largest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    return np.where(np.abs(rows) < 1e-14, 0.0, rows * np.sign(largest)[:, None])
