"""Plans in joint space: motions through way-points, within a robot's limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, flag, refuse_nonfinite
from chainrule.control.motions.curves import METHODS, Curve, legs, refuse_unknown_method
from chainrule.control.motions.limits import describe_excess, refuse_endless, refuse_positions
from chainrule.control.motions.references import Reference, read_only
from chainrule.control.motions.timing import most_strained, shortest_durations, waypoint_times
from chainrule.control.requirements import known_robot
from chainrule.errors import ModelError, ShapeError
from chainrule.kinematics.configurations import difference

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism


def plan(
    robot: Mechanism,
    waypoints: ArrayLike,
    *,
    times: ArrayLike | None = None,
    method: str = "minimum_jerk",
    velocities: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    limits: bool = True,
) -> Reference:
    """A motion through configurations (k, nq), at rest at both ends, within the robot's limits.

    A coordinate goes straight from one number to the next, a continuous joint too. Where configurations have
    quaternions, every leg is a geodesic from rest to rest, by any method: the robot stops at each way-point.

    Parameters
    ----------
    robot
        The robot that moves.
    waypoints
        Configurations (k, nq), at least two.
    times
        The time of each way-point (k,), from 0 on, in s; or the duration of the whole, which legs share in proportion
        to their longest displacements. Without times, the motion is as quick as the limits on speed and acceleration
        allow: legs share the time as they would need it from rest to rest, and all of it is stretched until a limit
        is met.
    method
        "minimum_jerk", the motion of least integral of squared jerk, with continuous accelerations and jerks; "cubic",
        a cubic spline, whose acceleration jumps at both ends; "quintic", through the way-points with given or
        estimated velocities, and without acceleration there; "trapezoidal", which stops at every way-point, with
        phases of constant acceleration and constant speed.
    velocities
        Velocities (k, nv) at the way-points, for the method "quintic".
    acceleration
        The largest acceleration, one number or (nv,), in rad/s^2 or m/s^2.
    limits
        Whether the robot's own limits on positions and speeds are checked.

    Returns
    -------
    Reference
        `reference(t)` is (q, qd, qdd).

    Examples
    --------
    >>> import chainrule as cr
    >>> scara = cr.load("scara")
    >>> motion = cr.plan(scara, [[0, 0, 0, 0], [1, 1, -0.1, 0], [2, 0, 0, 0]])
    >>> bool((motion.peak.velocity <= scara.limits.velocity * 1.000001).all())
    True
    """
    points = _waypoints(robot, waypoints)
    refuse_unknown_method(method, "plan")
    curved = robot.nq != robot.nv
    displacements = difference(robot, points[:-1], points[1:])
    unlimited = np.full(robot.nv, np.inf)
    speed = robot.limits.velocity if flag(limits, "plan: limits") else unlimited
    rate = unlimited if acceleration is None else _acceleration(robot, acceleration)
    options: dict[str, Any] = {}
    if velocities is not None:
        options["velocities"] = _velocities(robot, velocities, len(points), method, timed=times is not None)
    if method == "trapezoidal" and acceleration is not None:
        options["acceleration"] = rate

    def curve_at(when: Array) -> Curve:
        return legs(method, when, displacements, **options) if curved else METHODS[method](when, points, **options)

    shortest = shortest_durations(method, displacements, speed, rate)
    if times is None:
        refuse_endless(robot, displacements, shortest)
        when = np.concatenate([[0.0], np.cumsum(shortest)])
        if method != "trapezoidal":  # legs that pass through their way-points share what speeding up takes
            when = when * most_strained(curve_at(when), speed, rate).stretch
        curve = curve_at(when)
    else:
        when = waypoint_times(times, len(points), "plan", np.abs(displacements).max(axis=1))
        curve = curve_at(when)
        excess = most_strained(curve, speed, rate)
        if excess.is_beyond:
            stretch = excess.stretch
            if method == "trapezoidal" and acceleration is not None:
                stretch = float((shortest / np.diff(when)).max())
            raise ShapeError(describe_excess(robot, excess, when[-1], stretch))
    if limits:
        refuse_positions(robot, points, when, curve)
    return Reference(read_only(when), read_only(points), curve, robot if curved else None)


def _waypoints(robot: Mechanism, waypoints: ArrayLike) -> Array:
    known_robot(robot, "plan", masses=False)
    (points,) = robot.read("plan", q=waypoints)
    if robot.model.constraints:
        raise ModelError(
            f"plan: robot {robot.name!r} has closed loops, which a motion of each joint by itself would break; plan "
            "for the joints that are driven, and close the loops at each sample"
        )
    if points.ndim != 2 or len(points) < 2:
        raise ShapeError(
            f"plan: way-points must be at least two configurations, shape (k, {robot.nq}), got shape {points.shape}; "
            "cr.hold(q) stays at one"
        )
    refuse_nonfinite(points, "plan: way-points")
    return points.astype(float)


def _velocities(robot: Mechanism, velocities: ArrayLike, count: int, method: str, *, timed: bool) -> Array:
    if method != "quintic" or robot.nq != robot.nv:
        raise ShapeError(
            "plan: velocities at way-points belong to method='quintic', for robots without quaternions; leave them out"
        )
    if not timed:
        raise ShapeError("plan: velocities at way-points need times=...: without, time is stretched, and they with it")
    v = robot.read_joints(velocities, "velocity", "plan: velocities").astype(float)
    if v.shape != (count, robot.nv) or v[0].any() or v[-1].any():
        raise ShapeError(
            f"plan: velocities must be {count} rows, one for each way-point, the first and the last zero, got shape "
            f"{v.shape}"
        )
    refuse_nonfinite(v, "plan: velocities")
    return v


def _acceleration(robot: Mechanism, acceleration: ArrayLike) -> Array:
    a = robot.read_per_joint(acceleration, "plan: acceleration", "acceleration").astype(float)
    if a.shape not in {(), (robot.nv,)} or not (np.isfinite(a) & (a > 0)).all():
        raise ShapeError(
            f"plan: acceleration must be a positive number, or {robot.nv} of them, in rad/s^2 or m/s^2, got "
            f"{np.array2string(a, threshold=8)}"
        )
    return np.broadcast_to(a, (robot.nv,))
