"""Manipulability: how well a frame can be moved, pushed and accelerated.

`task` says which part of its pose a frame is meant to move: "pose", "position" or "orientation". Of "pose", numbers
depend on the unit of length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms import manipulability as algorithm
from chainrule.arguments import Array, flag, one_of
from chainrule.core.declaration import composition, variant
from chainrule.core.evaluation import evaluate, require
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import LINK, indices
from chainrule.core.reading import read_state
from chainrule.functions.table import Needs, Option, Q
from chainrule.kinematics.ellipsoids import KINDS, ManipulabilityEllipsoid
from chainrule.kinematics.poses import jacobian_dq
from chainrule.kinematics.singularities import singular_values
from chainrule.kinematics.tasks import (
    RANK_TOLERANCE,
    finite_limits,
    loop_jacobian,
    loop_projector,
    moving_task,
    pad_with_zeros,
    pseudo_inverse,
    refuse_loops,
    rows_of_task,
    svd,
    task_of,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


TASK_ROWS = Option(
    lambda robot, options: task_of(robot, options["link"]).spanning("manipulability").rows,
    indices("axes", lambda model: 6),
    is_public=False,
)
BY_COLUMNS = Option(
    lambda robot, options: task_of(robot, options["link"]).spanning("manipulability").by_columns,
    lambda robot, value: flag(value, "columns"),
    is_public=False,
)

variant(
    lambda m, q, *, link, axes, columns: algorithm.manipulability(m, q, link, axes, columns),
    "manipulability",
    of="manipulability",
    takes=(Q,),
    gives=(),
    options={"link": LINK, "axes": TASK_ROWS, "columns": BY_COLUMNS},
    needs=Needs.NOTHING,
    answer="manipulability of {link}",
)


@composition()
def manipulability(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, task: str | None = None, out: Array | None = None
) -> Array:
    """Yoshikawa's w = sqrt(det(J J^T)): (...). The volume of the velocity ellipsoid, zero where it is singular.

    In general the product of as many singular values as the task has directions (task_rank): sqrt(det(J^T J)) for
    a robot with fewer joints than rows, and without the rows of motions that a planar robot never makes.

    task: "pose", "position" or "orientation". Unless given, the robot's own, as in `ellipsoid`: the position, if it
    tells all joint velocities of a robot with fewer than six degrees of freedom, and else the pose. It is the `volume`
    of the velocity ellipsoid for the same task, the product of its half axes.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").manipulability([0.3, 1.0]).round(4) == np.sin(1.0).round(4)
    np.True_
    """
    chosen = moving_task(robot, link, task=task)
    if chosen.is_spanned:
        return evaluate(robot, "manipulability", q=q, link=chosen.link, axes=chosen.rows, columns=chosen.by_columns)
    s = singular_values(robot, q, chosen.link, task=chosen.task)
    return np.asarray(s[..., : chosen.rank].prod(axis=-1))


@composition()
def gradient(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, task: str | None = None, out: Array | None = None
) -> Array:
    """The change of w with each velocity coordinate: (..., n), exact.

    dw = sum_i (prod_{j != i} s_j) u_i^T dJ v_i, with the singular vectors of J and its derivative along each
    joint. Where w is zero it has a corner, and a minimum: what comes is 0 for the singular value that vanishes.
    """
    refuse_loops(robot, "gradient")
    (q,) = read_state(robot, "gradient", q=q)
    chosen = moving_task(robot, link, task=task)
    dJ = jacobian_dq(robot, q, chosen.link)[..., rows_of_task(chosen.task), :, :]
    U, s, Vt = svd(loop_jacobian(robot, q, link, chosen.task))
    ds = np.einsum("...mi,...mnk,...in->...ki", U[..., : chosen.rank], dJ, Vt[..., : chosen.rank, :])
    s = s[..., : chosen.rank]
    others = np.stack([np.delete(s, i, axis=-1).prod(axis=-1) for i in range(chosen.rank)], axis=-1)
    others = np.where(s <= 1e-14 * s[..., :1], 0.0, others)
    return np.einsum("...i,...ki->...k", others, ds)


@composition()
def ellipsoid(
    robot: Mechanism,
    q: ArrayLike,
    link: str | None = None,
    *,
    kind: str = "velocity",
    task: str | None = None,
    limits: bool = False,
) -> ManipulabilityEllipsoid:
    """The motions or forces of a frame that unit joint vectors make: principal axes, in base axes, and lengths.

    Parameters
    ----------
    q
        Configurations (..., nq).
    kind
        "velocity": {J qd}, lengths s; "force": {F with |J^T F| = 1}, lengths 1/s along the same axes, infinite
        where the structure carries; "acceleration": {J M^-1 tau}, from rest and gravity aside.
    task
        "position" or "orientation", three axes; "pose", six, which mixes units. Unless given, the robot's own, as in
        `manipulability`: the position, if it tells all joint velocities of a robot with fewer than six degrees of
        freedom, and else the pose. So `ellipsoid(q).volume`, the product of the half axes, is `manipulability(q)`.
    link
        A link or frame, the end-effector unless one is named.
    limits
        Count joint velocities or torques in units of their limits.
    """
    (q,) = read_state(robot, "ellipsoid", q=q)
    one_of(KINDS, kind, "kind of ellipsoid")
    chosen = task_of(robot, link, task=task)
    in_limits, size = flag(limits, "ellipsoid: limits"), len(rows_of_task(chosen.task))
    J = loop_jacobian(robot, q, link, chosen.task)
    if kind == "acceleration":
        J = J @ _inverse_mass(robot, q)
    if in_limits:
        most = finite_limits(robot, "velocity" if kind == "velocity" else "effort")
        J = J / most if kind == "force" else J * most
    U, s, _ = svd(J)
    lengths = pad_with_zeros(s, size)
    if kind == "force":
        with np.errstate(all="ignore"):
            lengths = np.where(lengths <= RANK_TOLERANCE * lengths[..., :1], np.inf, 1.0 / lengths)
    return ManipulabilityEllipsoid(kind, chosen.task, U, lengths, chosen.rank)


@composition()
def dynamic_manipulability(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, task: str | None = None, out: Array | None = None
) -> Array:
    """The volume of the acceleration ellipsoid, sqrt(det(J M^-2 J^T)): (...); |det J / det M| if J is square."""
    (q,) = read_state(robot, "dynamic_manipulability", q=q)
    chosen = moving_task(robot, link, task=task)
    s = svd(loop_jacobian(robot, q, link, chosen.task) @ _inverse_mass(robot, q))[1]
    return np.asarray(s[..., : chosen.rank].prod(axis=-1))


def _inverse_mass(robot: Mechanism, q: Array) -> Array:
    """M^-1, with closed loops N (N^T M N)^-1 N^T: joint accelerations for torques, from rest and gravity aside."""
    M = evaluate(robot, "mass_matrix", q=q)
    require(robot, "analysis.apply_inverse_mass")
    if not robot.model.constraints:
        return np.asarray(np.linalg.inv(M))
    P = loop_projector(robot, q)
    return pseudo_inverse(P @ M @ P)
