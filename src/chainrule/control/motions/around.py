"""Plans around obstacles: a way that is free, smoothed, timed, and looked at in the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from chainrule.arguments import Array, number, positive, read_only, rigid_transforms, unit_vectors, whole_number
from chainrule.bodies.world import World
from chainrule.control.motions.blends import PLACES_ON_PATH, round_corners
from chainrule.control.motions.curves import Curve, quintic
from chainrule.control.motions.limits import keep_within, refuse_positions
from chainrule.control.motions.references import Reference
from chainrule.control.motions.time_optimal import DofLimits, geometric_path, time_path
from chainrule.core.progress import ProgressBar
from chainrule.core.reading import find_link
from chainrule.errors import ModelError, ShapeError, quoted
from chainrule.inverse_kinematics.result import REASONS
from chainrule.inverse_kinematics.solve import inverse_kinematics
from chainrule.kinematics.configurations import random_state
from chainrule.kinematics.poses import pose
from chainrule.planning.free_space import TOLERANCE, FreeSpace
from chainrule.planning.robot_space import describe_nearest, free_space
from chainrule.planning.search import search, shorten
from chainrule.planning.turns import equivalents, turning, walls
from chainrule.planning.upright import Upright

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

TIME_LIMIT_S = 10.0
"""How long a plan is searched for unless the user says otherwise."""
GOAL_GUESSES = 16
"""Configurations from which some that reach a pose are found, near to them: one of them may be easier to get to."""
MAX_CONFIGURATIONS = 1_000_000
"""Configurations in the trees of a search, at most: memory."""


class Avoidance(NamedTuple):
    """A plan's request to keep clear: of what, how far, and how long to search."""

    world: World | None
    clearance: float
    seed: int
    time_limit: float
    progress: bool | None
    link: str | None = None
    axis: Array | None = None
    """An axis of a link, in its frame, that keeps the direction it has at the start, within an angle."""
    tilt: float = 0.0
    turns: bool = False
    """Whether configurations after the first may be reached whole turns away."""

    def space(self, robot: Mechanism, start: Array) -> FreeSpace:
        """The free configurations, for a motion that begins in one (nq,)."""
        return free_space(robot, self.world, self.clearance, self.upright(robot, start))

    def upright(self, robot: Mechanism, start: Array) -> Upright | None:
        """The demand on an axis, for a motion that begins in a configuration (nq,)."""
        if self.axis is None:
            return None
        return Upright(robot, self.link, self.axis, pose(robot, start, self.link)[:3, :3] @ self.axis, self.tilt)


def keep_upright(robot: Mechanism, around: Avoidance, link: str | None, axis: Any, tilt: Any) -> Avoidance:
    """The request with an axis that keeps its direction."""
    unit = unit_vectors(axis, 3, "plan: upright", "an axis of the link, in its frame")
    if unit.ndim != 1:
        raise ShapeError(f"plan: upright must be one axis, (3,), got shape {unit.shape}")
    angle = positive(tilt, "plan: tilt", "an angle in rad", unit="rad")
    return around._replace(link=find_link(robot, link), axis=unit, tilt=angle)


def read_avoidance(world: Any, clearance: Any, seed: Any, time_limit: Any, progress: bool | None) -> Avoidance:
    """The options of `plan` about obstacles, checked."""
    if world is not None and not isinstance(world, World):
        raise ShapeError(f"plan: world must be a cr.World, got {type(world).__name__}")
    return Avoidance(
        world,
        0.0 if clearance is None else number(clearance, "plan: clearance", "m"),
        whole_number(seed, "plan: seed"),
        TIME_LIMIT_S if time_limit is None else positive(time_limit, "plan: time_limit", "a time in s", unit="s"),
        progress,
    )


def clear_goals(robot: Mechanism, poses: Any, link: str | None, around: Avoidance) -> list[Array]:
    """Free configurations (g, nq) that reach each of some poses, some of them for each."""
    T = rigid_transforms(poses, "plan: poses")
    goals = []
    for k, goal in enumerate(T.reshape(-1, 4, 4)):
        guesses = random_state(robot, np.random.default_rng(around.seed), (GOAL_GUESSES,))
        target = np.broadcast_to(goal, (GOAL_GUESSES, 4, 4))
        found = inverse_kinematics(robot, target, guesses, link, world=around.world, clearance=around.clearance)
        if not found.success.any():
            pair = next((str(names) for names in found.in_the_way if names), "")
            near = f"{pair} are nearer to each other than {around.clearance:g} m wherever it is reached"
            reason = near if pair else REASONS[str(found.reason[0])]
            raise ModelError(f"plan: pose {k} has no configuration to go to: {reason}; move the pose")
        q = found.q[found.success]
        goals.append(q[np.unique(q.round(6), axis=0, return_index=True)[1]])
    return goals


def plan_around(
    robot: Mechanism, stops: Sequence[Array], around: Avoidance, bounds: DofLimits, *, limits: bool
) -> Reference:
    """The quickest motion along a free path through stops, each a choice of configurations (g, n), the first of one."""
    space = around.space(robot, stops[0][0])
    if limits:
        every = np.concatenate(stops)
        places = np.arange(float(len(every)))
        refuse_positions(robot, every, places, quintic(places, every))
    for k, stop in enumerate(stops):
        if not space.is_free(stop).any():
            raise ModelError(f"plan: at way-point {k}, {describe_touch(robot, stops[0][0], around, stop[0])}")
    stops = [stop[space.is_free(stop)] for stop in stops]
    if around.turns:
        stops = [stops[0], *(equivalents(robot, stop, stops[0][0]) for stop in stops[1:])]
    motion = None
    if len(stops) > 2 and all(len(stop) == 1 for stop in stops):
        motion = _along_spline(robot, space, np.concatenate(stops), bounds, limits=limits)
    return refuse_touch(
        robot, motion or _along_ways(robot, _search(robot, space, stops, around), space, bounds), around
    )


def _along_spline(
    robot: Mechanism, space: FreeSpace, points: Array, bounds: DofLimits, *, limits: bool
) -> Reference | None:
    """The motion along the spline through configurations, where it is free."""
    path, places = geometric_path(points)
    path = keep_within(robot, path, places, points) if limits else path
    if not space.is_free(path(np.linspace(0.0, places[-1], PLACES_ON_PATH))).all():
        return None
    timed = time_path(robot, path, places, bounds)
    return Reference(read_only(timed.times), read_only(points), timed.curve)


def _along_ways(robot: Mechanism, ways: Sequence[Array], space: FreeSpace, bounds: DofLimits) -> Reference:
    """The motion along ways with rounded corners, at rest at the end of each."""
    pieces: list[Curve] = []
    when = [0.0]
    for way in ways:
        pieces += [time_path(robot, path, places, bounds).curve for path, places in round_corners(way, space.is_free)]
        when.append(float(sum(piece.x[-1] for piece in pieces)))
    return Reference(read_only(when), read_only([ways[0][0], *(way[-1] for way in ways)]), _join(pieces))


def _search(robot: Mechanism, space: FreeSpace, stops: Sequence[Array], around: Avoidance) -> list[Array]:
    """A short free way (k, n) from each stop to the next."""
    rng = np.random.default_rng(around.seed)
    begin = time.monotonic()
    ways: list[Array] = []
    with ProgressBar(around.time_limit, around.progress, "searching", "s") as bar:

        def is_over(configurations: int) -> bool:
            elapsed = time.monotonic() - begin
            bar.at(min(elapsed, around.time_limit))
            return elapsed > around.time_limit or configurations > MAX_CONFIGURATIONS

        for leg, goals in enumerate(stops[1:]):
            start = ways[-1][-1] if ways else stops[0][0]
            goals = _within_walls(robot, space, start, goals, leg, around)
            found = search(space, start, goals, rng, is_over)
            if found.points is None:
                raise ModelError(
                    f"plan: no way from way-point {leg} to way-point {leg + 1} was found in "
                    f"{time.monotonic() - begin:.3g} s: {found.from_start} configurations were reached from the one, "
                    f"{found.from_goal} from the other, and none from both. Give a longer time_limit=..., a smaller "
                    f"clearance=..., another seed=..., or a way-point between them{_far(robot, start, goals, around)}"
                )
            ways.append(shorten(space, found.points, rng))
    return ways


def _within_walls(robot: Mechanism, space: FreeSpace, start: Array, goals: Array, leg: int, around: Avoidance) -> Array:
    """The goals (g, n) to which no joint turns past an angle that the robot's own body forbids; refused without any."""
    turned = list(turning(robot))
    if not (np.abs(goals - start)[:, turned] > np.pi).any():
        return goals
    found = walls(robot, around.clearance, space.reach)
    inside = ~np.array([wall.divides(start, goals) for wall in found]).reshape(-1, len(goals)).any(axis=0)
    if inside.any():
        return goals[inside]
    passed = [wall for wall in found if wall.divides(start, goals[:1])[0]]
    wall = passed[len(passed) // 2]
    k, (a, b) = wall.coordinate, wall.pair
    others = "" if around.turns else "turns=True lets it end a whole turn away; or "
    raise ModelError(
        f"plan: there is no way from way-point {leg} to way-point {leg + 1}: coordinate "
        f"{robot.coordinate_names[k]!r} would turn from {start[k]:.4g} to {goals[0, k]:.4g} rad, past "
        f"{wall.angle:.4g} rad (and whole turns), where {a!r} and {b!r} are nearer than {1e3 * around.clearance:.3g} "
        f"mm wherever the other joints are; {others}"
        "move a way-point, or leave the pair out (robot.bodies.without_pair)"
    )


def _far(robot: Mechanism, start: Array, goals: Array, around: Avoidance) -> str:
    """The joints that turn far, for an error of a search that could do without."""
    far = [robot.coordinate_names[k] for k in turning(robot) if abs(goals[0, k] - start[k]) > np.pi]
    if not far or around.turns:
        return ""
    return f"; {quoted(far)} would turn by more than half a turn: turns=True lets it end a whole turn away"


def describe_touch(robot: Mechanism, start: Array, around: Avoidance, q: Array) -> str:
    """The two bodies that are nearest at a configuration, or the angle by which an axis is tilted there."""
    upright = around.upright(robot, start)
    pair, distance = describe_nearest(robot, around.world, q)
    if upright is not None and distance >= around.clearance - TOLERANCE:
        return (
            f"the upright axis of {around.link!r} is {upright.tilt(q):.3g} rad from its direction at the start, and "
            f"tilt is {around.tilt:.3g} rad; move the way-point, or give a larger tilt=..."
        )
    apart = f"{1e3 * distance:.3g} mm apart" if distance >= 0 else f"{-1e3 * distance:.3g} mm inside each other"
    return (
        f"{pair} are {apart}, and clearance is {1e3 * around.clearance:.3g} mm; move the way-point or the "
        "obstacle, give a smaller clearance=..., or leave the pair out (robot.bodies.without_pair)"
    )


def _join(pieces: Sequence[Curve]) -> Curve:
    """Curves one after the other in time."""
    power = max(len(piece.c) for piece in pieces)
    c = [np.concatenate([np.zeros((power - len(p.c), *p.c.shape[1:])), p.c]) for p in pieces]
    ends = np.cumsum([0.0, *(piece.x[-1] for piece in pieces)])
    x = [piece.x[:-1] + end for piece, end in zip(pieces, ends, strict=False)]
    return scipy.interpolate.PPoly(np.concatenate(c, axis=1), np.append(np.concatenate(x), ends[-1]))


def refuse_touch(robot: Mechanism, motion: Reference, around: Avoidance) -> Reference:
    """The motion, after a last look at many places in time."""
    q, _, _ = motion(np.linspace(0.0, motion.duration, PLACES_ON_PATH))
    space = around.space(robot, q[0])
    worst = int(space.clear(q).argmin())
    if not space.is_free(q[worst]):
        share = 100 * worst / (len(q) - 1)
        raise ModelError(f"plan: {share:.3g} % along the motion, {describe_touch(robot, q[0], around, q[worst])}")
    return motion
