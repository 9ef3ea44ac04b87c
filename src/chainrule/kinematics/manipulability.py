"""Manipulability: how well a frame can be moved, pushed and accelerated.

`part` of a frame's motion: as of `robot.task`. Of "all", numbers depend on the unit of length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, flag, one_of
from chainrule.core.dask import takes_dask
from chainrule.core.mechanism import Mechanism
from chainrule.kinematics.ellipsoids import KINDS, Ellipsoid
from chainrule.kinematics.poses import kinematic_hessian
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
    rows_of_part,
    svd,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@takes_dask()
def manipulability(robot: Mechanism, q: ArrayLike, link: str | None = None, *, part: str | None = None) -> Array:
    """Yoshikawa's w = sqrt(det(J J^T)): (...). The volume of the velocity ellipsoid, zero where it is singular.

    In general the product of as many singular values as the task has directions (task_rank): sqrt(det(J^T J)) for
    a robot with fewer joints than rows, and without the rows of motions that a planar robot never makes.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").manipulability([0.3, 1.0]).round(4) == np.sin(1.0).round(4)
    np.True_
    """
    chosen = moving_task(robot, link, part=part)
    if chosen.is_spanned:
        return robot.evaluate("manipulability", q=q, link=chosen.link, axes=chosen.rows, columns=chosen.by_columns)
    s = singular_values(robot, q, chosen.link, part=chosen.part)
    return np.asarray(s[..., : chosen.rank].prod(axis=-1))


@takes_dask()
def manipulability_gradient(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, part: str | None = None
) -> Array:
    """The change of w with each velocity coordinate: (..., n), exact.

    dw = sum_i (prod_{j != i} s_j) u_i^T dJ v_i, with the singular vectors of J and its derivative along each
    joint. Where w is zero it has a corner, and a minimum: what comes is 0 for the singular value that vanishes.
    """
    refuse_loops(robot, "manipulability_gradient")
    (q,) = robot.read("manipulability_gradient", q=q)
    chosen = moving_task(robot, link, part=part)
    dJ = kinematic_hessian(robot, q, chosen.link, "world")[..., rows_of_part(chosen.part), :, :]
    U, s, Vt = svd(loop_jacobian(robot, q, link, chosen.part))
    ds = np.einsum("...mi,...mnk,...in->...ki", U[..., : chosen.rank], dJ, Vt[..., : chosen.rank, :])
    s = s[..., : chosen.rank]
    others = np.stack([np.delete(s, i, axis=-1).prod(axis=-1) for i in range(chosen.rank)], axis=-1)
    others = np.where(s <= 1e-14 * s[..., :1], 0.0, others)
    return np.einsum("...i,...ki->...k", others, ds)


@takes_dask()
def manipulability_ellipsoid(
    robot: Mechanism,
    q: ArrayLike,
    kind: str = "velocity",
    part: str = "translational",
    link: str | None = None,
    *,
    limits: bool = False,
) -> Ellipsoid:
    """The motions or forces of a frame that unit joint vectors make: principal axes, in base axes, and lengths.

    Parameters
    ----------
    q
        Configurations (..., nq).
    kind
        "velocity": {J qd}, lengths s; "force": {F with |J^T F| = 1}, lengths 1/s along the same axes, infinite
        where the structure carries; "acceleration": {J M^-1 tau}, from rest and gravity aside.
    part
        "translational" or "rotational", three axes; "all", six, which mixes units.
    link
        A link or frame, the end-effector unless one is named.
    limits
        Count joint velocities or torques in units of their limits.
    """
    (q,) = robot.read("manipulability_ellipsoid", q=q)
    one_of(KINDS, kind, "kind of ellipsoid")
    in_limits, size = flag(limits, "manipulability_ellipsoid: limits"), len(rows_of_part(part))
    J = loop_jacobian(robot, q, link, part)
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
    return Ellipsoid(kind, part, U, lengths)


@takes_dask()
def dynamic_manipulability(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, part: str | None = None
) -> Array:
    """The volume of the acceleration ellipsoid, sqrt(det(J M^-2 J^T)): (...); |det J / det M| if J is square."""
    (q,) = robot.read("dynamic_manipulability", q=q)
    chosen = moving_task(robot, link, part=part)
    s = svd(loop_jacobian(robot, q, link, chosen.part) @ _inverse_mass(robot, q))[1]
    return np.asarray(s[..., : chosen.rank].prod(axis=-1))


def _inverse_mass(robot: Mechanism, q: Array) -> Array:
    """M^-1, with closed loops N (N^T M N)^-1 N^T: joint accelerations for torques, from rest and gravity aside."""
    M = robot.evaluate("mass_matrix", q=q)
    robot.require("apply_inverse_mass")
    if not robot.model.constraints:
        return np.asarray(np.linalg.inv(M))
    P = loop_projector(robot, q)
    return pseudo_inverse(P @ M @ P)
