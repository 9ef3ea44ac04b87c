"""Velocities and accelerations of a frame, and the joint velocities and accelerations that make given ones.

Closed loops count: only motions that keep them closed are taken into account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import ACCELERATION_UNITS, TWIST_UNITS, Array, number, rows_of, together
from chainrule.core.dask import takes_dask
from chainrule.core.mechanism import Mechanism
from chainrule.core.units import quantities_on_request
from chainrule.errors import ShapeError
from chainrule.kinematics.poses import jacobian_derivative, pose
from chainrule.kinematics.tasks import jacobian_rows, loop_jacobian, loop_projector, pseudo_inverse, rows_of_part

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@takes_dask()
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


@takes_dask()
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


@takes_dask()
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
    caller = "resolved_rate"
    (q,) = robot.read(caller, q=q)
    V = _read_motion(twist, part, f"{caller}: twist", "angular and linear velocity", TWIST_UNITS)
    z = None if null_velocity is None else robot.read_joints(null_velocity, "velocity", f"{caller}: null_velocity")
    given = {"q": q, "twist": V} | ({} if z is None else {"null_velocity": z})
    together(given, caller)  # refuses batches that do not fit
    J = loop_jacobian(robot, q, link, part, frame)
    return _smallest(robot, q, J, V, _read_damping(damping, caller), z)


@takes_dask()
@quantities_on_request
def resolved_acceleration(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    acceleration: ArrayLike,
    link: str | None = None,
    frame: str = "world",
    *,
    part: str = "all",
    damping: float = 0.0,
    null_acceleration: ArrayLike | None = None,
    units: bool = False,
) -> Array:
    """The joint accelerations that come nearest to an acceleration: qdd = J^+ (A - dJ/dt qd) + N z, (..., n).

    The way back from `acceleration`, as `resolved_rate` is from `velocity`. Closed loops stay closed.

    Parameters
    ----------
    q, qd
        Configurations (..., nq) and velocities (..., n).
    acceleration
        A, (..., 6), the angular acceleration and that of the origin, in rad/s^2 and m/s^2; (..., 3) for a part.
    link
        A link or frame, the end-effector unless one is named.
    frame
        The frame of A: "world" or "body", as of `acceleration`; "space", the rate of the twist at the base's origin.
    part
        "all"; or "translational" or "rotational", where A has three numbers and the rest of the motion is free.
    damping
        In units of J, as of `resolved_rate`.
    null_acceleration
        z, (..., n): the acceleration besides, N being the null space's projector.
    units
        Whether the result is a quantity of pint, or several by name where units differ.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> q, qd = [0.3, 0.9], [1.0, -2.0]
    >>> qdd = arm.resolved_acceleration(q, qd, [0.5, 2.0, 0.0], part="translational")
    >>> arm.acceleration(q, qd, qdd)[3:].round(9).tolist()
    [0.5, 2.0, 0.0]
    """
    caller = "resolved_acceleration"
    q, qd = robot.read(caller, q=q, qd=qd)
    of = "angular acceleration and acceleration of the origin"
    A = _read_motion(acceleration, part, f"{caller}: acceleration", of, ACCELERATION_UNITS)
    what = f"{caller}: null_acceleration"
    z = None if null_acceleration is None else robot.read_joints(null_acceleration, "acceleration", what)
    given = {"q": q, "qd": qd, "acceleration": A} | ({} if z is None else {"null_acceleration": z})
    together(given, caller)  # refuses batches that do not fit
    strength = _read_damping(damping, caller)
    J = jacobian_rows(robot, q, link, part, frame)
    A = A - velocity_acceleration(robot, q, qd, link, frame)[..., rows_of_part(part)]
    if not robot.model.constraints:
        return _smallest(robot, q, J, A, strength, z)
    G = robot.evaluate("constraint_jacobian", q=q)
    gamma = robot.evaluate("constraint_velocity_terms", q=q, qd=qd)  # of the loops: G qdd + gamma = 0
    closing = -(pseudo_inverse(G) @ gamma[..., None])
    J_closed = J @ loop_projector(robot, q)
    return closing[..., 0] + _smallest(robot, q, J_closed, A - (J @ closing)[..., 0], strength, z)


def velocity_acceleration(robot: Mechanism, q: Array, qd: Array, link: str | None, frame: str) -> Array:
    """dJ/dt qd: the acceleration of a link or frame at qdd = 0, in a frame of `resolved_acceleration`: (..., 6)."""
    if frame == "space":
        return (jacobian_derivative(robot, q, qd, link, frame) @ qd[..., None])[..., 0]
    return robot.evaluate("acceleration", q=q, qd=qd, qdd=np.zeros(robot.nv), link=link, frame=frame)


def _read_motion(value: ArrayLike, part: str, what: str, of: str, units: tuple[tuple[str, str], ...]) -> Array:
    """The numbers of a part of a motion (..., k), in the given units."""
    rows = rows_of_part(part)
    return rows_of(value, len(rows), what, of if part == "all" else part, [units[i] for i in rows])


def _read_damping(damping: float, caller: str) -> float:
    strength = number(damping, f"{caller}: damping")
    if strength < 0:
        raise ShapeError(f"{caller}: damping must not be negative, got {damping!r}")
    return strength


def _smallest(robot: Mechanism, q: Array, J: Array, wanted: Array, damping: float, z: Array | None) -> Array:
    """The smallest joint numbers x with J x nearest to what is wanted, and z in the null space besides: (..., n)."""
    x = (pseudo_inverse(J, damping) @ wanted[..., None])[..., 0]
    return x if z is None else x + (_null_projector(robot, q, J) @ z[..., None])[..., 0]


@takes_dask()
def null_space(robot: Mechanism, q: ArrayLike, link: str | None = None, *, part: str = "all") -> Array:
    """The projector N = 1 - J^+ J onto joint velocities that do not move the frame: (..., n, n)."""
    (q,) = robot.read("null_space", q=q)
    return _null_projector(robot, q, loop_jacobian(robot, q, link, part))


def _null_projector(robot: Mechanism, q: Array, J: Array) -> Array:
    return loop_projector(robot, q) - pseudo_inverse(J) @ J
