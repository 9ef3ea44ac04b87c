"""Velocities and accelerations of a frame, and the joint velocities that make a given velocity.

Closed loops count: only motions that keep them closed are taken into account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import TWIST_UNITS, Array, number, rows_of, together
from chainrule.core.mechanism import Mechanism
from chainrule.core.units import quantities_on_request
from chainrule.errors import ShapeError
from chainrule.kinematics.poses import pose
from chainrule.kinematics.tasks import jacobian_rows, loop_jacobian, loop_projector, pseudo_inverse, rows_of_part

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@quantities_on_request
def velocity(
    robot: Mechanism, q: ArrayLike, qd: ArrayLike, link: str | None = None, frame: str = "world", *, units: bool = False
) -> Array:
    """The twist (omega, v) = J qd of a link or frame: (..., 6), rad/s and m/s. frame: as of the Jacobian.

    units=True makes the result a quantity of pint, or several by name where units differ.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").velocity([0.0, 0.0], [1.0, 0.0]).tolist()
    [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    """
    q, qd = robot.read("velocity", q=q, qd=qd)
    return (jacobian_rows(robot, q, link, "all", frame) @ qd[..., None])[..., 0]


def acceleration(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    link: str | None = None,
    frame: str = "world",
    point: ArrayLike | None = None,
    *,
    gravity: bool = False,
) -> Array:
    """The angular acceleration of a link or frame and the acceleration of its origin: (..., 6), rad/s^2 and m/s^2.

    The second is the classical one, the second derivative of the origin's position. In base axes it is
    J qdd + dJ/dt qd, with J and dJ/dt in the frame "world".

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., n).
    link
        A link or frame, the end-effector unless one is named.
    frame
        The axes of both parts: "world", those of the base; "body", the link's own.
    point
        (..., 3): a point fixed on the link, in the link's frame, in m, instead of its origin.
    gravity
        False, the acceleration alone; True, minus g, which is what an accelerometer there reads.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.acceleration([0.0, 0.0], [3.0, 0.0], [0.0, 0.0])[3:].tolist()
    [-18.0, 0.0, 0.0]
    """
    A = robot.evaluate("acceleration", q=q, qd=qd, qdd=qdd, link=link, frame=frame, gravity=gravity)
    if point is None:
        return A
    r = rows_of(point, 3, "acceleration: point", "x, y, z in the frame of the link")
    q, qd = robot.read("acceleration", q=q, qd=qd)
    omega = velocity(robot, q, qd, link, frame)[..., :3]
    together({"q": A, "point": r}, "acceleration")  # refuses batches that do not fit
    if frame != "body":
        r = (pose(robot, q, link)[..., :3, :3] @ r[..., None])[..., 0]
    linear = A[..., 3:] + np.cross(A[..., :3], r) + np.cross(omega, np.cross(omega, r))
    return np.concatenate([np.broadcast_to(A[..., :3], linear.shape), linear], axis=-1)


@quantities_on_request
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
    units: bool = False,
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
    units
        Whether the result is a quantity of pint, or several by name where units differ.
    """
    (q,) = robot.read("resolved_rate", q=q)
    rows = rows_of_part(part)
    of = "angular and linear velocity" if part == "all" else part
    V = rows_of(twist, len(rows), "resolved_rate: twist", of, [TWIST_UNITS[i] for i in rows])
    z = np.zeros(robot.nv) if null_velocity is None else null_velocity
    z = robot.read_joints(z, "velocity", "resolved_rate: null_velocity")
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
