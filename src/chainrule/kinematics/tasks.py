"""Tasks: which part of a frame's motion counts, its rank, and what singular values of its Jacobian say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, one_of
from chainrule.core.derived import remember
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.errors import ModelError, quoted
from chainrule.kinematics.configurations import random_state
from chainrule.kinematics.poses import jacobian

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TASKS = {"pose": (0, 1, 2, 3, 4, 5), "orientation": (0, 1, 2), "position": (3, 4, 5)}
"""The rows of a world Jacobian, (omega, v), that each part of a motion has."""

RANK_TOLERANCE = 1e-9
"""A singular value counts when it is more than this part of the largest."""

RANK_SAMPLES = 6
"""Random configurations in which a Jacobian's rank is looked at; it is less than full in hardly any."""


@dataclass(frozen=True)
class MotionTask:
    """The part of a frame's motion that counts.

    `rank` is the number of independent directions in which the frame can move in nearly every configuration, and
    `rows` are the rows of its Jacobian that are not zero everywhere.
    """

    robot: str
    link: str
    task: str
    rank: int
    rows: tuple[int, ...]
    n: int
    has_loops: bool

    @property
    def is_spanned(self) -> bool:
        """Whether manipulability is a volume spanned by all rows of the Jacobian, or by all its columns."""
        return not self.has_loops and self.rank in (len(self.rows), self.n)

    @property
    def by_columns(self) -> bool:
        """Whether it is the columns that span the volume."""
        return self.rank != len(self.rows)

    def spanning(self, function: str) -> MotionTask:
        """This task, refused where neither rows nor columns span a volume."""
        if not self.is_spanned:
            raise ModelError(
                f"{function} of {self.link!r} of robot {self.robot!r} is spanned neither by the rows nor by the "
                f"columns of its Jacobian, so it is no single kernel; robot.{function}(q) computes it"
            )
        return self


def task_of(robot: Mechanism, link: str | None = None, *, task: str | None = None) -> MotionTask:
    """The task of a link or frame, the end-effector unless one is named.

    task: "pose", six rows (omega, v) of its motion; "position" or "orientation", three. Where it is left out, the
    robot's own task is meant: the translation, if that tells all joint velocities of a robot with fewer than six
    degrees of freedom, as for a planar 2R arm; else all.
    """
    name = find_link(robot, link)
    if task is not None:
        rows_of_task(task)
        return remember(robot, ("task", name, task), lambda: _measure_task(robot, name, task))
    whole, moved = task_of(robot, name, task="pose"), task_of(robot, name, task="position")
    return moved if moved.rank == whole.rank < 6 else whole


def _measure_task(robot: Mechanism, link: str, task: str) -> MotionTask:
    q = random_state(robot, np.random.default_rng(0), (RANK_SAMPLES,))
    J = loop_jacobian(robot, q, link, task)
    size = np.abs(J).max(axis=(0, 2), initial=0.0)
    rows = tuple(row for row, x in zip(TASKS[task], size, strict=True) if x > RANK_TOLERANCE * size.max())
    rank = int(rank_of(J).max()) if robot.nv else 0
    if task == "pose" and not rank:
        raise ModelError(f"no joint of robot {robot.name!r} moves {link!r}; name another link")
    return MotionTask(robot.name, link, task, rank, rows, robot.nv, bool(robot.model.constraints))


def moving_task(robot: Mechanism, link: str | None = None, *, task: str | None = None) -> MotionTask:
    """The task of a link or frame, refused where no joint moves it: a volume of no directions means nothing."""
    chosen = task_of(robot, link, task=task)
    if not chosen.rank:
        raise ModelError(
            f"no joint of robot {robot.name!r} gives {chosen.link!r} a {chosen.task} motion; take another task"
        )
    return chosen


def task_rank(robot: Mechanism, link: str | None = None, *, task: str | None = None) -> int:
    """In how many independent directions a frame can move, in nearly every configuration."""
    return task_of(robot, link, task=task).rank


def rows_of_task(task: str) -> tuple[int, ...]:
    """The rows of a task, by its name."""
    return TASKS[one_of(TASKS, task, "task", "a Jacobian (targets have 'axis' and 'pointing' too)")]


def jacobian_rows(robot: Mechanism, q: ArrayLike, link: str | None, task: str, frame: str = "world") -> Array:
    """The rows of a Jacobian that belong to a part of the motion: (..., k, n)."""
    rows = rows_of_task(task)
    J = jacobian(robot, q, link, frame=frame)
    return J if task == "pose" else J[..., rows, :]


def loop_jacobian(robot: Mechanism, q: Array, link: str | None, task: str, frame: str = "world") -> Array:
    """The rows of a Jacobian for velocities that keep loops closed: (..., k, n)."""
    J = jacobian_rows(robot, q, link, task, frame)
    return J @ loop_projector(robot, q) if robot.model.constraints else J


def loop_projector(robot: Mechanism, q: Array) -> Array:
    """The projector onto joint velocities that keep loops closed: (..., n, n), or (n, n) where there are none."""
    identity = np.eye(robot.nv)
    if not robot.model.constraints:
        return identity
    G = evaluate(robot, "loops.jacobian", q=q)
    return identity - pseudo_inverse(G) @ G


def refuse_loops(robot: Mechanism, function: str) -> None:
    """Raise where a robot has closed loops and a function is for trees."""
    if robot.model.constraints:
        raise ModelError(
            f"{function}: robot {robot.name!r} has closed loops ({quoted(robot.model.constraint_names)}); this is for "
            "trees, so open them with robot.without_constraint(...)"
        )


def finite_limits(robot: Mechanism, which: str) -> Array:
    """Limits of one kind ("velocity" or "effort"), refused where a joint has none: (n,)."""
    limits: Array = getattr(robot.limits, which)
    without = [name for name, x in zip(robot.velocity_names, limits, strict=True) if not 0 < x < np.inf]
    if without:
        raise ModelError(
            f"robot {robot.name!r} has no {which} limit on {quoted(without)}; give them with "
            f"robot.edit(joints={{'*': {{{which!r}: ...}}}})"
        )
    return limits


# --- singular values ---


def svd(J: Array) -> tuple[Array, Array, Array]:
    """U (..., m, m), s (..., min(m, n)) and V^T (..., n, n) with J = U s V^T; nan where J is not finite."""
    whole = np.asarray(np.isfinite(J).all(axis=(-2, -1)))
    U, s, Vt = np.linalg.svd(np.where(whole[..., None, None], J, 0.0).astype(float, copy=False))
    if not whole.all():
        s = np.where(whole[..., None], s, np.nan)
    return U, s, Vt


def rank_of(J: Array) -> Array:
    """The number of singular values that count: (...)."""
    _, s, _ = svd(J)
    return (s > RANK_TOLERANCE * s[..., :1]).sum(axis=-1)


def inverse_singular_values(s: Array, damping: float = 0.0) -> Array:
    """s / (s^2 + damping^2) of each singular value; without damping, 1/s, or 0 for those that do not count."""
    if damping:
        return s / (s * s + damping * damping)
    counts = ~(s <= RANK_TOLERANCE * s[..., :1])
    return np.where(counts, 1.0 / np.where(counts, s, 1.0), 0.0)


def pseudo_inverse(J: Array, damping: float = 0.0) -> Array:
    """J^+ (..., n, m), damped: J^T (J J^T + damping^2)^-1."""
    U, s, Vt = svd(J)
    k = s.shape[-1]
    return (np.swapaxes(Vt[..., :k, :], -1, -2) * inverse_singular_values(s, damping)[..., None, :]) @ np.swapaxes(
        U[..., :, :k], -1, -2
    )


def pad_with_zeros(s: Array, length: int) -> Array:
    """Singular values with zeros up to a length: (..., length)."""
    return np.concatenate([s, np.zeros((*s.shape[:-1], length - s.shape[-1]))], axis=-1)
