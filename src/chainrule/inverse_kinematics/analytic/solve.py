"""Inverse kinematics in closed form: every branch, for the arms that have one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, number
from chainrule.errors import ModelError, ShapeError
from chainrule.inverse_kinematics.analytic.axes import Axes, axes_of
from chainrule.inverse_kinematics.analytic.parallel import parallel, planar
from chainrule.inverse_kinematics.analytic.wrist import spherical_wrist
from chainrule.inverse_kinematics.goals import Goal
from chainrule.inverse_kinematics.periods import unwound
from chainrule.inverse_kinematics.request import numbers_of
from chainrule.inverse_kinematics.result import Truths, measured_errors
from chainrule.inverse_kinematics.solve import bounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Branches:
    """All closed-form solutions: one row of q for each branch, whether it is one or not."""

    q: Array
    """Configurations (..., branches, nq), in rad. Where there is no such branch, the nearest that the formulas give."""
    exists: Truths
    """Whether forward kinematics leads back to the target: (..., branches)."""
    valid: Truths
    """Whether it exists, keeps the joints' limits, and is not the same as one before it: (..., branches)."""
    error: Array
    """What is left of the error: m and rad, (..., branches, 2)."""
    kind: str
    """The class of arms: "planar", "spherical wrist" or "parallel axes"."""


def analytic_inverse_kinematics(robot: Robot, target: ArrayLike, link: str | None, tolerance: float) -> Branches:
    """See `Robot.analytic_inverse_kinematics`."""
    where = "analytic_inverse_kinematics"
    allowed = number(tolerance, f"{where}: tolerance")
    if allowed <= 0:
        raise ShapeError(f"{where}: tolerance must be a positive number, in m and rad, got {tolerance!r}")
    robot._refuse_loops(where)
    name = robot._name(link)
    axes = axes_of(robot._merged, name, where)
    kind, task, solve = _class_of(axes, robot.name, where)
    goal = Goal(name, task)
    numbers = numbers_of(goal, target, f"{where}: target")
    batch = numbers.shape[:-1]
    rows = numbers.reshape(-1, numbers.shape[-1])
    T = np.tile(np.eye(4), (len(rows), 1, 1))
    if task == "pose":
        T[:, :3, :3] = rows[:, :9].reshape(-1, 3, 3)
    T[:, :3, 3] = rows[:, -3:]
    with np.errstate(all="ignore"):
        angles = solve(axes, T)
    q = _configurations(robot, axes, angles)
    error = measured_errors(goal, robot.pose(q, name), rows[:, None, :])
    with np.errstate(invalid="ignore"):
        exists = (error <= allowed).all(axis=-1)
    lower, upper = bounds(robot, True)
    keeps = exists & np.asarray(((q >= lower) & (q <= upper)).all(axis=-1))
    valid = keeps & ~_repeated(q, keeps)
    count = q.shape[1]
    shape = (*batch, count)
    return Branches(
        q.reshape((*shape, robot.nq)), exists.reshape(shape), valid.reshape(shape), error.reshape((*shape, 2)), kind
    )


def _class_of(axes: Axes, name: str, where: str) -> tuple[str, str, Callable[[Axes, Array], Array]]:
    """The class of an arm, the task that it can be given, and what solves it."""
    n = axes.count
    if n in (2, 3) and axes.parallel(*range(n)):
        return "planar", "position" if n == 2 else "pose", planar
    if n == 6 and axes.common_point(3, 4, 5) is not None and not axes.parallel(0, 1, 2):
        return "spherical wrist", "pose", spherical_wrist
    if n == 6 and axes.parallel(1, 2, 3) and axes.common_point(4, 5) is not None and not axes.parallel(0, 1):
        return "parallel axes", "pose", parallel
    raise ModelError(
        f"{where}: robot {name!r} has {n} joints on the way to this link, and neither are they two or three with "
        "parallel axes, nor six of which the last three axes meet in a point, nor six with the second to fourth axes "
        "parallel and the last two meeting; robot.inverse_kinematics solves it numerically"
    )


def _configurations(robot: Robot, axes: Axes, angles: Array) -> Array:
    """Angles (rows, branches, joints) as configurations, within half a turn of the middle of the limits if they can."""
    lower, upper = bounds(robot, True)
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isfinite(lower) & np.isfinite(upper), (lower + upper) / 2, 0.0)
    q = np.tile(np.clip(robot.neutral(), lower, upper), (*angles.shape[:2], 1))
    q[..., list(axes.places)] = angles / axes.scales
    endless = np.full(robot.nq, np.inf)
    q = unwound(robot.model, q, middle, -endless, endless)
    return unwound(robot.model, q, middle, lower, upper)


def _repeated(q: Array, counts: Truths) -> Truths:
    """Which branches are the same as one before them, as at a singularity."""
    apart = np.abs(q[:, :, None, :] - q[:, None, :, :]).max(axis=-1)
    with np.errstate(invalid="ignore"):
        same = (apart < 1e-7) & counts[:, None, :]
    repeated: Truths = np.tril(same, -1).any(axis=-1)
    return repeated
