"""Plans: motions through configurations or poses, within a robot's limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import MAX_POSITION, Array, flag, read_only, refuse_nonfinite
from chainrule.calls import explains_arguments
from chainrule.control.motions.around import clear_goals, keep_upright, plan_around, read_avoidance, refuse_touch
from chainrule.control.motions.curves import METHODS, Curve, legs
from chainrule.control.motions.limits import (
    MIN_LEG_LENGTH,
    describe_excess,
    keep_within,
    limit_of_each,
    refuse_endless,
    refuse_positions,
)
from chainrule.control.motions.pose_paths import through_poses
from chainrule.control.motions.references import DrivenLoops, Reference
from chainrule.control.motions.time_optimal import DofLimits, geometric_path, time_path
from chainrule.control.motions.timing import most_strained, shortest_durations, waypoint_times
from chainrule.control.requirements import known_robot
from chainrule.core.closure import closure_of
from chainrule.core.derived import driven_velocities, has_moving_mass
from chainrule.core.plausibility import warn_of_degrees
from chainrule.core.reading import read_joints, read_state
from chainrule.errors import ModelError, ShapeError, UnknownNameError
from chainrule.inverse_kinematics.path import FollowedPath
from chainrule.kinematics.configurations import difference
from chainrule.loops.mobility import leading_velocities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.bodies.world import World
    from chainrule.core.mechanism import Mechanism

OPEN_WAYPOINT = 1e-6
"""How far a loop may be open at a way-point, in m and rad."""


@explains_arguments
def plan(
    robot: Mechanism,
    waypoints: ArrayLike | FollowedPath | None = None,
    *,
    poses: ArrayLike | None = None,
    times: ArrayLike | None = None,
    method: str | None = None,
    velocities: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    torque: bool | None = None,
    limits: bool = True,
    link: str | None = None,
    q0: ArrayLike | None = None,
    world: World | None = None,
    clearance: float | None = None,
    upright: ArrayLike | None = None,
    tilt: float = 0.1,
    turns: bool = False,
    seed: int = 0,
    time_limit: float | None = None,
    progress: bool | None = None,
) -> Reference:
    """A motion through configurations or through poses, at rest at both ends, within the robot's limits.

    With a `world`, or a `clearance`, the robot's bodies keep clear of the world and of each other: straight or along a
    spline where that is free, else around what is in the way, by a search.

    A coordinate goes straight from one number to the next, a continuous joint too. Where configurations have
    quaternions, every leg is a geodesic from rest to rest, by any method: the robot stops at each way-point. In closed
    loops, driven joints go so and the others follow, so that the loops stay closed.

    Parameters
    ----------
    robot
        The robot that moves.
    waypoints
        Configurations (k, nq), at least two; or a path of `robot.ik.follow`.
    poses
        Poses (k, 4, 4) of a frame to go through, in place of configurations. The origin follows a smooth curve, the
        orientation turns the shortest way, and configurations along it come from inverse kinematics.
    times
        The time of each way-point (k,), from 0 on, in s; or the duration of the whole, which legs share in proportion
        to their longest displacements. Without times, the motion is as quick as the limits allow.
    method
        None: "minimum_jerk", but with "quintic" for those coordinates that would swing past a limit between way-points,
        so that way-points within limits always have a plan. "minimum_jerk", the motion of least integral of squared
        jerk, with continuous accelerations and jerks; "cubic", a cubic spline, whose acceleration jumps at both ends;
        "quintic", through the way-points with given or estimated velocities, and without acceleration there; with
        estimated ones it stays between the two next way-points. "trapezoidal", which stops at every way-point, with
        phases of constant acceleration and constant speed. Without times these share the time among legs as each would
        need it from rest to rest, and stretch it until a limit is met. "time_optimal", the quickest motion along a
        cubic spline through the way-points, or along a quintic one in coordinates that would swing past a limit: it
        alone knows limits on torque and jerk, and is what poses are timed by.
    velocities
        Velocities (k, nv) at the way-points, for the method "quintic".
    acceleration, jerk
        The largest acceleration and jerk, one number or (nv,), in rad/s^2 and rad/s^3, or m/s^2 and m/s^3.
    torque
        Whether torques stay within the robot's effort limits; with "time_optimal" they do where it has masses.
    limits
        Whether the robot's own limits on positions and speeds are checked.
    link, q0
        For poses and `upright`, the frame, the end-effector unless one is named; for poses, a configuration near the
        beginning.
    world
        Obstacles. The motion is timed by "time_optimal"; the robot stops at way-points between which it has to go
        around something. After way-points, `poses` are goals: one of the configurations that reach each is chosen.
    clearance
        The smallest distance of the robot's bodies from each other and from the world, in m; 0 where only a world is
        given. Without both, nothing is looked at.
    upright, tilt
        An axis of the link, in its frame, such as (0, 0, 1), that keeps the direction it has at the start within the
        angle `tilt`, in rad: a full cup. For plans with a world or a clearance.
    turns
        Whether the robot may arrive with joints whole turns away from a way-point, after the first, or from a goal,
        where all poses are the same. It stops at each then.
    seed, time_limit, progress
        The seed of the search; how long it may take, 10 s unless given; and whether a progress bar shows, on terminals
        after a second unless given.

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
    known_robot(robot, "plan", masses=False)
    keeps_clear = world is not None or clearance is not None
    if (waypoints is None) == (poses is None) and not (keeps_clear and waypoints is not None):
        both = "" if keeps_clear else "; goals after way-points are for plans with a world=... or a clearance=..."
        raise ShapeError(f"plan: give either way-points, which are configurations, or poses=...{both}")
    if poses is None and (q0 is not None or (link is not None and upright is None)):
        raise ShapeError(
            "plan: link and q0 belong to poses=..., and link to upright=...; way-points are configurations"
        )
    if not keeps_clear and (upright is not None or flag(turns, "plan: turns")):
        what = "turns" if upright is None else "upright"
        raise ShapeError(f"plan: {what}=... is for plans with a world=... or a clearance=..., such as clearance=0")
    default = "minimum_jerk" if poses is None and not keeps_clear else "time_optimal"
    chosen = default if method is None else method
    _refuse_other_method(chosen, jerk=jerk, torque=torque, velocities=velocities, times=times)
    has_limits = flag(limits, "plan: limits")
    if chosen == "time_optimal":
        bounds = _bounds(robot, acceleration, jerk, torque, has_limits)
    elif poses is not None or keeps_clear:
        what = "poses are" if poses is not None else "a motion that keeps clear is"
        raise ShapeError(f"plan: {what} timed by method='time_optimal', not by {chosen!r}")
    if keeps_clear:
        around = read_avoidance(world, clearance, seed, time_limit, progress)
        around = around._replace(turns=flag(turns, "plan: turns"))
        if upright is not None:
            around = keep_upright(robot, around, link, upright, tilt)
        if waypoints is not None and not isinstance(waypoints, FollowedPath):
            goals = [] if poses is None else clear_goals(robot, poses, link, around)
            points = _waypoints(robot, waypoints, 2 - bool(goals))
            _refuse_repeats(points)
            return plan_around(robot, [*points[:, None], *goals], around, bounds, limits=has_limits)
    if poses is not None:
        points, stops = through_poses(robot, poses, link, q0)
    elif isinstance(waypoints, FollowedPath):
        points, stops = _points_of(robot, waypoints), None
    else:
        points, stops = _waypoints(robot, waypoints), None
    if chosen == "time_optimal":
        motion = _time_optimal(robot, points, stops, bounds, has_limits)
        return refuse_touch(robot, motion, around) if keeps_clear else motion
    if times is None and isinstance(waypoints, FollowedPath):
        times = waypoints.times
    return _by_shape(robot, points, times, method, velocities, acceleration, has_limits)


def _refuse_other_method(method: Any, **options: Any) -> None:
    """Refuse a method that does not exist, and options that belong to another one."""
    if not isinstance(method, str) or method not in (*METHODS, "time_optimal"):
        raise UnknownNameError.of("method", method, (*METHODS, "time_optimal"), "plan")
    others = ("velocities", "times") if method == "time_optimal" else ("jerk", "torque")
    for name in others:
        if options[name] is not None:
            to_do = "leave it out" if method == "time_optimal" else "take that method, or leave it out"
            verb = "does not take" if method == "time_optimal" else "alone takes"
            raise ShapeError(f"plan: method='time_optimal' {verb} {name}=...; {to_do}")


def _bounds(
    robot: Mechanism, acceleration: ArrayLike | None, jerk: ArrayLike | None, torque: bool | None, limits: bool
) -> DofLimits:
    """The limits of the quickest motion; refused for robots whose paths it does not know."""
    if robot.model.constraints:
        raise ShapeError(
            f"plan: robot {robot.name!r} has closed loops, along which method='time_optimal' knows no torques; give "
            "times, or take another method"
        )
    if robot.nq != robot.nv:
        raise ShapeError(
            f"plan: robot {robot.name!r} has quaternions in q (joint {robot.model.quaternions[0][0]!r}), along which "
            "method='time_optimal' lays no spline; take another method"
        )
    has_torques = has_moving_mass(robot) if torque is None else flag(torque, "plan: torque")
    unlimited = np.full(robot.nv, np.inf)
    driven = np.isin(np.arange(robot.nv), driven_velocities(robot))
    return DofLimits(
        robot.limits.velocity if limits else unlimited,
        limit_of_each(robot, acceleration, "plan: acceleration", "rad/s^2 or m/s^2", "acceleration"),
        np.where(driven, robot.limits.effort, np.inf) if has_torques else unlimited,
        limit_of_each(robot, jerk, "plan: jerk", "rad/s^3 or m/s^3"),
    )


def _time_optimal(robot: Mechanism, points: Array, stops: Array | None, bounds: DofLimits, limits: bool) -> Reference:
    """The quickest motion along a spline through configurations; `stops` are the places of way-points among them."""
    _refuse_repeats(points)
    path, places = geometric_path(points)
    if limits:
        path = keep_within(robot, path, places, points)
        refuse_positions(robot, points, places, path)
    timed = time_path(robot, path, places, bounds)
    kept = np.arange(len(points)) if stops is None else stops
    return Reference(read_only(timed.times[kept]), read_only(points[kept]), timed.curve, None)


def _refuse_repeats(points: Array) -> None:
    for i in np.flatnonzero(np.abs(np.diff(points, axis=0)).max(axis=1, initial=0.0) < MIN_LEG_LENGTH):
        raise ShapeError(f"plan: way-points {i} and {i + 1} are the same; leave one out")


def _points_of(robot: Mechanism, path: FollowedPath) -> Array:
    """The configurations of a path, all of them reached."""
    if path.q.ndim != 2 or path.q.shape[-1] != robot.nq:
        raise ShapeError(
            f"plan: the path must be one of robot {robot.name!r}, (T, {robot.nq}), got shape {path.q.shape}"
        )
    if not path.success.all():
        missed = int(np.argmin(path.success))
        raise ShapeError(f"plan: the path does not reach pose {missed}; follow it from another q0, or move the pose")
    return _waypoints(robot, path.q)


def _by_shape(
    robot: Mechanism,
    points: Array,
    times: ArrayLike | None,
    named: str | None,
    velocities: ArrayLike | None,
    acceleration: ArrayLike | None,
    limits: bool,
) -> Reference:
    """A motion whose shape in time is that of its method, stretched to the limits."""
    method = named or "minimum_jerk"
    curved, has_loops = robot.nq != robot.nv, bool(robot.model.constraints)
    displacements = difference(robot, points[:-1], points[1:])
    unlimited = np.full(robot.nv, np.inf)
    speed = robot.limits.velocity if limits else unlimited
    rate = limit_of_each(robot, acceleration, "plan: acceleration", "rad/s^2 or m/s^2", "acceleration")
    options: dict[str, Any] = {}
    if velocities is not None:
        options["velocities"] = _velocities(robot, velocities, len(points), method, timed=times is not None)
    if method == "trapezoidal" and acceleration is not None:
        options["acceleration"] = rate

    def curve_at(when: Array) -> Curve:
        if curved:
            return legs(method, when, displacements, **options)
        curve = METHODS[method](when, points, **options)
        return keep_within(robot, curve, when, points) if named is None and limits else curve

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
    if not limits:
        warn_of_degrees(robot, points, "plan")
    if limits:
        refuse_positions(robot, points, when, curve)
    loops = (
        DrivenLoops(robot, leading_velocities(robot, points[0], driven_velocities(robot), "plan"))
        if has_loops
        else None
    )
    return Reference(read_only(when), read_only(points), curve, robot if curved else None, loops)


def _waypoints(robot: Mechanism, waypoints: Any, least: int = 2) -> Array:
    (points,) = read_state(robot, "plan", q=waypoints)
    if points.ndim != 2 or len(points) < least:
        number = "one configuration" if least == 1 else "two configurations"
        raise ShapeError(
            f"plan: way-points must be at least {number}, shape (k, {robot.nq}), got shape {points.shape}; "
            "cr.hold(q) stays at one"
        )
    refuse_nonfinite(points, "plan: way-points")
    if np.abs(points).max() > MAX_POSITION:
        raise ShapeError(
            f"plan: way-points go up to {np.abs(points).max():.3g}, and no joint moves beyond {MAX_POSITION:g} rad or m"
        )
    if robot.model.constraints and not closure_of(robot).is_closed(points, OPEN_WAYPOINT).all():
        worst = int(np.argmin(closure_of(robot).is_closed(points, OPEN_WAYPOINT)))
        raise ModelError(
            f"plan: way-point {worst} is not closed: {closure_of(robot).describe_gap(points[worst])}; close it with "
            "robot.loops.close, or find it with robot.inverse_kinematics"
        )
    return points.astype(float)


def _velocities(robot: Mechanism, velocities: ArrayLike, count: int, method: str, *, timed: bool) -> Array:
    if method != "quintic" or robot.nq != robot.nv:
        raise ShapeError(
            "plan: velocities at way-points belong to method='quintic', for robots without quaternions; leave them out"
        )
    if not timed:
        raise ShapeError("plan: velocities at way-points need times=...: without, time is stretched, and they with it")
    v = read_joints(robot, velocities, "velocity", "plan: velocities").astype(float)
    if v.shape != (count, robot.nv) or v[0].any() or v[-1].any():
        raise ShapeError(
            f"plan: velocities must be {count} rows, one for each way-point, the first and the last zero, got shape "
            f"{v.shape}"
        )
    refuse_nonfinite(v, "plan: velocities")
    return v
