"""Inverse kinematics in closed form: every branch, for the arms that have one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, positive
from chainrule.core.at import reads_model
from chainrule.core.declaration import takes_dask
from chainrule.core.derived import merged_model
from chainrule.core.reading import find_link
from chainrule.display.text import Shown, Table
from chainrule.errors import ModelError
from chainrule.inverse_kinematics.analytic.axes import JointAxes, axes_of
from chainrule.inverse_kinematics.analytic.parallel import parallel, planar
from chainrule.inverse_kinematics.analytic.wrist import spherical_wrist
from chainrule.inverse_kinematics.bounds import Bounds
from chainrule.inverse_kinematics.goals import Goal
from chainrule.inverse_kinematics.periods import shift_by_periods
from chainrule.inverse_kinematics.request import pose_dimensions, poses_in_order, target_numbers
from chainrule.inverse_kinematics.result import Truths, measured_errors
from chainrule.kinematics.configurations import integrate, neutral
from chainrule.kinematics.poses import jacobian, pose
from chainrule.kinematics.tasks import refuse_loops

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

SAME_BRANCH_TOLERANCE = 1e-7
"""Branches that differ by less than this in every angle, in rad, are one."""

EXACT, NEAR = 1e-11, 1e-3
"""Branches with errors between these, in m or rad, are refined."""
REFINING_STEPS = 3
"""Steps of Newton that refine a branch."""
DAMPING = 1e-4
"""The damping of these steps, in m or rad for a radian of a joint."""


@dataclass(frozen=True, eq=False, repr=False)
class Branches(Shown):
    """All closed-form solutions: one row of q for each branch of the formulas."""

    q: Array
    """Configurations (..., branches, nq), in rad. Where a branch does not exist, the nearest that the formulas give."""
    exists: Truths
    """Whether forward kinematics leads back to the target: (..., branches)."""
    valid: Truths
    """Whether the branch exists, keeps the joints' limits, and differs from those before it: (..., branches)."""
    error: Array
    """Remaining errors of position and orientation, in m and rad: (..., branches, 2)."""
    free: Truths
    """Whether the angle of a coordinate is free in a branch: (..., branches, nq). There, at a singularity, other angles
    of that joint meet the target within the tolerance too, as far as the arm reaches, while other joints follow."""
    kind: str
    """The class of arms: "planar", "spherical wrist" or "parallel axes"."""
    names: tuple[str, ...] = ()
    """The names of the numbers of q."""

    def _view(self) -> Iterator[str | Table]:
        yield f"{int(self.valid.sum())} of {self.valid.size} branches are valid; arms of the kind {self.kind!r}"
        names = self.names or tuple(f"q{k}" for k in range(self.q.shape[-1]))
        n = self.q.shape[-1]
        marks = np.where(self.valid, "yes", np.where(self.exists, "no", "does not exist"))
        branch = np.broadcast_to(np.arange(self.valid.shape[-1]), self.valid.shape)
        parts = (branch.ravel(), marks.ravel(), self.q.reshape(-1, n), self.free.reshape(-1, n))
        rows = [
            (int(k), str(mark), *(float(x) for x in q), ", ".join(np.array(names)[free]))
            for k, mark, q, free in zip(*parts, strict=True)
        ]
        yield Table(("branch", "valid", *names, "free"), rows)


@reads_model
@takes_dask(target=pose_dimensions)
def branches(
    robot: Mechanism, target: ArrayLike, link: str | None = None, *, order: str = "rpy", tolerance: float = 1e-6
) -> Branches:
    """All configurations that bring a link to poses (..., 4, 4), in closed form: `q` (..., branches, nq).

    There are closed forms for arms of two or three parallel revolute joints (with two, the target is the position),
    of six revolute joints whose last three axes meet in a point, and of six whose second to fourth axes are parallel
    while the last two meet. Forward kinematics decides which branches exist; those that keep the limits are `valid`.
    Angles are within half a revolution of the middle of the limits.

    At a singularity an angle can be free: that of the last joint of an arm like the UR's where its axis is parallel to
    the elbow's, of the fourth joint where a spherical wrist is straight, of the first where the wrist is on its axis,
    and of the joint before two equal links that are folded. Where nothing decides it, it is 0, or the nearest to 0 with
    which the arm reaches; `free` names it.

    Parameters
    ----------
    target
        Poses in the base frame (..., 4, 4), or pose vectors (..., 6); points (..., 3) for arms of two joints.
    link
        The link or frame; the end-effector unless one is named.
    order
        Of the angles of pose vectors, as of `pose_vector`.
    tolerance
        The largest error of a branch that exists, in m and rad.

    Returns
    -------
    Branches
        `q`, `exists`, `valid`, `error`, `free` and `kind`.
    """
    caller = "branches"
    largest_error = positive(tolerance, f"{caller}: tolerance", "a positive number, in m and rad")
    refuse_loops(robot, caller)
    name = find_link(robot, link)
    axes = axes_of(merged_model(robot), name, caller)
    kind, task, solve = _class_of(axes, robot.name, caller)
    goal = Goal(name, task)
    numbers = target_numbers(goal, poses_in_order(target, order, caller), f"{caller}: target")
    batch = numbers.shape[:-1]
    rows = numbers.reshape(-1, numbers.shape[-1])
    T = np.tile(np.eye(4), (len(rows), 1, 1))
    if task == "pose":
        T[:, :3, :3] = rows[:, :9].reshape(-1, 3, 3)
    T[:, :3, 3] = rows[:, -3:]
    with np.errstate(all="ignore"):
        angles, levers = solve(axes, T)
    bounds = Bounds.of_limits(robot)
    q = _configurations(robot, axes, angles, bounds)
    error = measured_errors(goal, pose(robot, q, name), rows[:, None, :])
    if task == "pose":
        q, error = _reduce_errors(robot, goal, q, error, T, rows)
    with np.errstate(invalid="ignore"):
        exists = (error <= largest_error).all(axis=-1)
    keeps = exists & bounds.contain(q)
    valid = keeps & ~_repeats(q, keeps)
    free = np.zeros(q.shape, dtype=bool)
    free[..., list(axes.places)] = np.expand_dims(exists, -1) & (2 * levers <= largest_error)
    q, exists, valid, error, free = (x.reshape((*batch, *x.shape[1:])) for x in (q, exists, valid, error, free))
    return Branches(q, exists, valid, error, free, kind, robot.coordinate_names)


def _class_of(
    axes: JointAxes, name: str, caller: str
) -> tuple[str, str, Callable[[JointAxes, Array], tuple[Array, Array]]]:
    """The class of an arm, the task of its targets, and the function that solves it."""
    n = axes.count
    if n in (2, 3) and axes.parallel(*range(n)):
        return "planar", "position" if n == 2 else "pose", planar
    if n == 6 and axes.common_point(3, 4, 5) is not None and not axes.parallel(0, 1, 2):
        return "spherical wrist", "pose", spherical_wrist
    if n == 6 and axes.parallel(1, 2, 3) and axes.common_point(4, 5) is not None and not axes.parallel(0, 1):
        return "parallel axes", "pose", parallel
    raise ModelError(
        f"{caller}: robot {name!r} has {n} joints on the way to this link, and neither are they two or three with "
        "parallel axes, nor six of which the last three axes meet in a point, nor six with the second to fourth axes "
        "parallel and the last two meeting; robot.inverse_kinematics solves it numerically"
    )


def _configurations(robot: Mechanism, axes: JointAxes, angles: Array, bounds: Bounds) -> Array:
    """Angles (rows, branches, joints) as configurations, as near to the middle of the limits as their periods allow."""
    middle = np.where(np.isfinite(bounds.lower) & np.isfinite(bounds.upper), bounds.center, 0.0)
    q = np.tile(bounds.clip(neutral(robot)), (*angles.shape[:2], 1))
    q[..., list(axes.places)] = angles / axes.scales
    q = shift_by_periods(robot.model, q, middle, Bounds.infinite(robot.nq))
    return shift_by_periods(robot.model, q, middle, bounds)


def _reduce_errors(robot: Mechanism, goal: Goal, q: Array, error: Array, T: Array, rows: Array) -> tuple[Array, Array]:
    """Branches that are nearly there, after damped steps of Newton that make their errors smaller.

    Where two singularities meet, formulas that follow one another know their angles to the root of the rounding only.
    """
    for _ in range(REFINING_STEPS):
        largest = error.max(axis=-1)
        row, branch = np.nonzero((largest > EXACT) & (largest < NEAR))
        if not len(row):
            break
        now, goals = pose(robot, q[row, branch], goal.link), T[row]
        turn = np.cross(now[:, :3, :3], goals[:, :3, :3], axis=1).sum(axis=-1) / 2
        away = np.concatenate([turn, goals[:, :3, 3] - now[:, :3, 3]], axis=-1)[..., None]
        J = jacobian(robot, q[row, branch], goal.link)
        Jt = np.swapaxes(J, -1, -2)
        step = Jt @ np.linalg.solve(J @ Jt + DAMPING**2 * np.eye(6), away)
        trial = integrate(robot, q[row, branch], step[..., 0])
        errors = measured_errors(goal, pose(robot, trial, goal.link), rows[row])
        better = errors.max(axis=-1) < largest[row, branch]
        row, branch = row[better], branch[better]
        q[row, branch], error[row, branch] = trial[better], errors[better]
    return q, error


def _repeats(q: Array, counts: Truths) -> Truths:
    """Whether a branch is the same as one before it that counts, as at a singularity."""
    apart = np.abs(q[:, :, None, :] - q[:, None, :, :]).max(axis=-1)
    with np.errstate(invalid="ignore"):
        same = (apart < SAME_BRANCH_TOLERANCE) & counts[:, None, :]
    repeats: Truths = np.tril(same, -1).any(axis=-1)
    return repeats
