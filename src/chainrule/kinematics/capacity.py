"""Statics within effort limits: the wrench that torques balance, and how much a robot can push and carry.

The robot is at rest: tau = g(q) + J^T F, |tau_i| <= effort_i. Friction is no help.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import WRENCH_UNITS, Array, flag, rows_of, unit_vectors, vector
from chainrule.core.at import reads_model
from chainrule.core.declaration import composition
from chainrule.core.derived import has_moving_mass
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_state
from chainrule.errors import ModelError, ShapeError
from chainrule.functions.table import WRENCH
from chainrule.kinematics.poses import pose
from chainrule.kinematics.tasks import jacobian_rows, pseudo_inverse, refuse_loops, rows_of_task

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TORQUE_ROUNDING = 1e-12
"""A torque that is at most this part of the largest is rounding: the structure carries the wrench."""


@composition((WRENCH,))
def balanced_wrench(
    robot: Mechanism,
    q: ArrayLike,
    tau: ArrayLike,
    link: str | None = None,
    *,
    frame: str = "world",
    gravity: bool = True,
    task: str = "pose",
    out: Array | None = None,
) -> Array:
    """The wrench that a link or frame applies to the world with torques that leave the robot at rest: (..., 6).

    F with J^T F = tau - g(q), the inverse of static_torque: the smallest that comes nearest. What it leaves unbalanced,
    tau - g(q) - static_torque(q, F), is zero for six independent joints, and else sets the robot in motion. The torques
    of springs count with g. The world pushes back with -F.

    Parameters
    ----------
    q, tau
        Configurations (..., nq) and torques (..., n).
    link
        The link or frame that applies F, the end-effector unless one is named.
    frame
        The axes of F and the point its moment is about, as of static_torque.
    gravity
        Count g and the torques of springs; without, F is that of the torques alone.
    task
        "pose" for moment and force; "position" for a force alone, as a point that touches can apply, or "orientation"
        for a moment alone, the rest of F being zero. Of "pose", the smallest F depends on the unit of length, and a
        moment may take the place of a force.
    out
        An array (..., 6) that F is written into.

    Towards a singularity the force of a given torque grows without bound, like 1/b on an arm that is bent by b:

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> bent = [[0.0, 0.1], [0.0, 0.01], [0.0, 0.001]]
    >>> arm.balanced_wrench(bent, [1.0, 0.0], task="position", gravity=False)[:, 3].round(1).tolist()
    [10.0, 100.0, 1000.0]
    """
    refuse_loops(robot, "balanced_wrench")
    with_gravity = flag(gravity, "balanced_wrench: gravity")
    q, tau = read_state(robot, "balanced_wrench", q=q, tau=tau)
    rows = rows_of_task(task)
    across = np.swapaxes(jacobian_rows(robot, q, link, "pose", frame), -1, -2)
    if frame == "space" and task != "pose":
        raise ShapeError(
            "balanced_wrench: a force or a moment alone acts at the frame's origin, and the moment of frame='space' "
            "is about the origin of the base; take frame='world' or 'body'"
        )
    spare = tau - _holding_torque(robot, q) if with_gravity else tau
    chosen = across[..., rows]
    applied = (pseudo_inverse(chosen) @ spare[..., None])[..., 0]
    F = np.zeros((*applied.shape[:-1], 6))
    F[..., rows] = applied
    return F


@composition(())
def wrench_capacity(
    robot: Mechanism,
    q: ArrayLike,
    wrench: ArrayLike,
    link: str | None = None,
    *,
    frame: str = "world",
    gravity: bool = True,
    out: Array | None = None,
) -> Array:
    """The largest f with which a frame can apply f times a wrench (..., 6) to its surroundings at rest: (...).

    Each joint allows -effort <= g + f J^T F <= effort. Infinite where no motor feels the wrench, the structure
    carrying it; nan where no f >= 0 will do, the robot being too weak to hold itself. frame: as of the Jacobian.
    """
    (q,) = read_state(robot, "wrench_capacity", q=q)
    F = rows_of(wrench, 6, "wrench_capacity: wrench", "moment and force", WRENCH_UNITS)
    least, most = _multiples(robot, q, F, link, frame, flag(gravity, "wrench_capacity: gravity"))
    return np.where((least <= most) & (most >= 0), most, np.nan)


@composition((), unit="N")
def push(
    robot: Mechanism,
    q: ArrayLike,
    direction: ArrayLike,
    link: str | None = None,
    *,
    gravity: bool = True,
    out: Array | None = None,
) -> Array:
    """The largest force, in N, with which a frame can push in a direction (..., 3), in base axes, at rest: (...).

    f = min_i (+-effort_i - g_i) / (J^T d)_i; it grows without bound towards singularities in which d is lost.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").edit(joints={"*": {"effort": 10.0}})
    >>> arm.analysis.push([[0.0, 1.0], [0.0, 0.1]], [1, 0, 0], gravity=False).round(2).tolist()
    [11.88, 100.17]
    """
    d = unit_vectors(direction, 3, "push: direction", "x, y, z")
    unit = np.concatenate([np.zeros_like(d), d], axis=-1)
    return wrench_capacity(robot, q, unit, link, gravity=gravity)


@reads_model
@composition((), unit="kg")
def payload(
    robot: Mechanism,
    q: ArrayLike,
    link: str | None = None,
    *,
    com: ArrayLike = (0.0, 0.0, 0.0),
    out: Array | None = None,
) -> Array:
    """The largest mass, in kg, that a frame can hold at rest within the effort limits: (...).

    com: where its center of mass is, in the frame, in m. Zero where the robot can not even hold itself, infinite
    where no motor feels the weight.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").edit(joints={"*": {"effort": [60.0, 30.0]}})
    >>> arm.analysis.payload([0.0, 0.0]).round(4).tolist()
    1.5581
    """
    (q,) = read_state(robot, "payload", q=q)
    g = np.array([float(x) for x in robot.model.gravity])
    if not g.any():
        raise ModelError(f"payload: robot {robot.name!r} feels no gravity; set robot.edit(gravity=...)")
    R = pose(robot, q, link)[..., :3, :3]
    arm = R @ np.array(list(vector(com, "payload: com", "m")), dtype=float)
    weight = np.concatenate([np.cross(arm, -g), np.broadcast_to(-g, arm.shape)], axis=-1)
    least, most = _multiples(robot, q, weight, link, "world", True)
    return np.where(np.isnan(most), np.nan, np.where(least <= 0, np.maximum(most, 0.0), 0.0))


def _multiples(
    robot: Mechanism, q: Array, F: Array, link: str | None, frame: str, gravity: bool
) -> tuple[Array, Array]:
    """The least and the largest multiple of a wrench that all joints allow: (...) each; least > most if none."""
    refuse_loops(robot, "the capacity of its motors")
    effort = robot.limits.effort
    if not np.isfinite(effort).any():
        raise ModelError(
            f"robot {robot.name!r} has no effort limits, so nothing bounds its forces; give them with "
            "robot.edit(joints={'*': {'effort': ...}})"
        )
    J = jacobian_rows(robot, q, link, "pose", frame)
    try:
        a = (F[..., None, :] @ J)[..., 0, :]
    except ValueError:
        raise ShapeError(f"the batches of q {q.shape} and of the wrenches {F.shape} do not fit together") from None
    h = np.broadcast_to(_holding_torque(robot, q), a.shape) if gravity else np.zeros_like(a)
    size = np.linalg.norm(J, axis=(-2, -1)) * np.linalg.norm(F, axis=-1)
    felt = np.abs(a) > TORQUE_ROUNDING * size[..., None]
    with np.errstate(all="ignore"):
        ends = np.stack([-effort - h, effort - h]) / np.where(felt, a, 1.0)
    free = np.where(np.abs(h) <= effort, np.inf, -np.inf)  # a joint that does not feel it allows all, or nothing
    low = np.where(felt, ends.min(axis=0), -free).max(axis=-1)
    high = np.where(felt, ends.max(axis=0), free).min(axis=-1)
    broken = (np.isnan(a) | np.isnan(h)).any(axis=-1)
    return np.where(broken, np.nan, low), np.where(broken, np.nan, high)


def _holding_torque(robot: Mechanism, q: Array) -> Array:
    """Torques that hold the robot against gravity and its springs."""
    if not has_moving_mass(robot):
        return evaluate(robot, "spring_torque", q=q)
    return evaluate(robot, "bias", q=q, qd=np.zeros(robot.nv))
