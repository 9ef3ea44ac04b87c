"""Velocities: what joint velocities make of a frame's motion, and the joint velocities that make a given one.

Closed loops count: only motions that keep them closed are taken into account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, number, rows_of, together
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError
from chainrule.kinematics.tasks import jacobian_rows, loop_jacobian, loop_projector, pseudo_inverse, rows_of_part

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def velocity(robot: Mechanism, q: ArrayLike, qd: ArrayLike, link: str | None = None, frame: str = "world") -> Array:
    """The twist (omega, v) = J qd of a link or frame: (..., 6), rad/s and m/s. frame: as of the Jacobian.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").velocity([0.0, 0.0], [1.0, 0.0]).tolist()
    [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    """
    q, qd = robot.read("velocity", q=q, qd=qd)
    return (jacobian_rows(robot, q, link, "all", frame) @ qd[..., None])[..., 0]


def resolved_rate(
    robot: Mechanism,
    q: ArrayLike,
    twist: ArrayLike,
    link: str | None = None,
    frame: str = "world",
    *,
    part: str = "all",
    damping: float = 0.0,
    null_velocity: ArrayLike | None = None,
) -> Array:
    """The joint velocities that come nearest to a twist: qd = J^T (J J^T + damping^2)^-1 V + N z, (..., n).

    Parameters
    ----------
    q
        Configurations (..., nq).
    twist
        V, (..., 6) as (omega, v), in rad/s and m/s; (..., 3) for a part of the motion.
    link
        A link or frame, the end-effector unless one is named.
    frame
        The frame of V, as of the Jacobian.
    part
        "all"; or "translational" or "rotational", where V has three numbers and the rest of the motion is free.
    damping
        In units of J. Without it, the smallest qd among the best ones, which grows without bound towards
        singularities and is finite again in them. With it, |J qd - V|^2 + damping^2 |qd|^2 is least, and |qd| is at
        most |V| / (2 damping).
    null_velocity
        z, (..., n): the motion besides, N being the null space's projector.
    """
    (q,) = robot.read("resolved_rate", q=q)
    rows = rows_of_part(part)
    V = rows_of(twist, len(rows), "resolved_rate: twist", "angular and linear velocity" if part == "all" else part)
    z = np.zeros(robot.nv) if null_velocity is None else null_velocity
    z = rows_of(z, robot.nv, "resolved_rate: null_velocity", robot.describe_coordinates())
    together({"q": q, "twist": V, "null_velocity": z}, "resolved_rate")  # refuses batches that do not fit
    strength = number(damping, "resolved_rate: damping")
    if strength < 0:
        raise ShapeError(f"resolved_rate: damping must not be negative, got {damping!r}")
    J = loop_jacobian(robot, q, link, part, frame)
    qd = (pseudo_inverse(J, strength) @ V[..., None])[..., 0]
    if null_velocity is None:
        return qd
    return qd + (_null_projector(robot, q, J) @ z[..., None])[..., 0]


def null_space(robot: Mechanism, q: ArrayLike, link: str | None = None, *, part: str = "all") -> Array:
    """The projector N = 1 - J^+ J onto joint velocities that do not move the frame: (..., n, n)."""
    (q,) = robot.read("null_space", q=q)
    return _null_projector(robot, q, loop_jacobian(robot, q, link, part))


def _null_projector(robot: Mechanism, q: Array, J: Array) -> Array:
    return loop_projector(robot, q) - pseudo_inverse(J) @ J
