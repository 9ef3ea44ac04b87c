"""Torques in the scene: arcs about axes that turn, arrows along those that slide, by their share of the limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.core.derived import remember
from chainrule.robot.robot import Robot
from chainrule.shapes.skeleton import skeleton

POINTS, TRACK_POINTS = 37, 25
"""Points of the path of a torque, and of a track."""

RADIUS, LENGTH, THICKNESS, TRACK = 0.092, 0.3, 0.0095, 0.0011
"""Radius of an arc, length of an arrow at the limit, radii of its tube and of its track, as parts of the reach."""

MAX_SWEEP = np.radians(300.0)
"""The angle of an arc at the limit."""

MAX_SIZE = 1.0
"""The size at which marks stop to grow: that of the limit."""

SMALLEST = 0.004
"""Smaller marks are left out."""

LEVELS = np.array([0.0, 0.5, 0.8, 1.0])
COLORS = np.array([[16, 148, 92], [226, 172, 10], [236, 106, 10], [214, 28, 24]], dtype=float)
OVER = np.array([186, 12, 140], dtype=float)
"""Colors at shares of the limit, and beyond it."""
UNLIMITED = np.array([38, 104, 224], dtype=float)
"""The color of torques that have no limit."""
TRACK_COLOR = np.array([142, 150, 164], dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class VelocityAxes:
    """The axis of each velocity of a robot."""

    points: Array
    """(n, 3): a point of the axis, in m."""
    directions: Array
    """(n, 3): unit vectors."""
    across: Array
    """(n, 3): unit vectors perpendicular to the axis, which turn with the link."""
    third: Array
    """(n, 3): unit vectors perpendicular to both."""
    turns: NDArray[np.bool_]
    """(n,): whether the link turns about the axis; it slides along it otherwise."""


@dataclass(frozen=True, eq=False)
class TorqueMarks:
    """Torques of one state as paths with arrowheads."""

    paths: Array
    """(n, POINTS, 3), in m, in the base frame."""
    radii: Array
    """(n,): of tubes along the paths, in m; 0 for torques too small to be drawn."""
    colors: NDArray[np.uint8]
    """(n, 3): red, green and blue."""
    tracks: Array
    """(n, TRACK_POINTS, 3): the paths as far as the limit."""
    track_radii: Array
    """(n,): negative, for tubes without an arrowhead; 0 where there is no limit."""


def share_of_limit(robot: Robot, tau: Array) -> Array:
    """|tau| as a part of the effort limit (n,); nan where there is no limit, infinite where a joint is passive."""
    effort = robot.limits.effort
    with np.errstate(all="ignore"):
        share = np.abs(tau) / effort
    return np.where(np.isinf(effort), np.nan, np.where((effort == 0) & (tau == 0), 0.0, share))


def share_colors(share: Array) -> NDArray[np.uint8]:
    """Colors (n, 3) of shares of a limit (n,): green, yellow, red at the limit, purple beyond, blue without one.

    >>> share_colors(np.array([0.0, 1.0, 1.2, np.nan])).tolist()
    [[16, 148, 92], [214, 28, 24], [186, 12, 140], [38, 104, 224]]
    """
    colors = np.stack([np.interp(share, LEVELS, channel) for channel in COLORS.T], axis=-1)
    colors[share > 1] = OVER
    colors[np.isnan(share)] = UNLIMITED
    return colors.round().astype(np.uint8)


def joint_axes(robot: Robot, q: Array, poses: Array) -> VelocityAxes:
    """The axes of all velocities in the base frame, for the poses (links, 4, 4) of the links at q.

    Of a joint with several velocities, these are the axes of each of them.
    """
    links, own = remember(robot, "studio axes", lambda: _own_axes(robot, robot.neutral()))
    if any(body.joint.kind.nv > 1 for body in robot.model.bodies):
        links, own = _own_axes(robot, q)
    T = poses[links]
    here = np.stack([own.points, own.directions, own.across, own.third], axis=-1)
    placed = T[:, :3, :3] @ here
    points = placed[..., 0] + T[:, :3, 3]
    return VelocityAxes(points, placed[..., 1], placed[..., 2], placed[..., 3], own.turns)


def _own_axes(robot: Robot, q: Array) -> tuple[NDArray[np.intp], VelocityAxes]:
    """The link that each velocity moves, and the axes in the frames of these links."""
    links, screws = np.zeros(robot.nv, dtype=int), np.zeros((robot.nv, 6))
    coordinates = [float(x) for x in q]
    for body in robot.model.bodies:
        for i, screw in body.at(coordinates).S if body.joint.mimic is None else ():
            links[i], screws[i] = body.index, [float(x) for x in screw]
    w, v = screws[:, :3], screws[:, 3:]
    turns = np.abs(w).max(axis=1) > 0
    along = np.where(turns[:, None], w, v)
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    foot = np.cross(w, v) / np.where(turns, (w * w).sum(axis=1), 1.0)[:, None]
    aside = np.cross(along, np.eye(3)[np.abs(along).argmin(axis=1)])
    aside = aside / np.linalg.norm(aside, axis=1, keepdims=True)
    return links, VelocityAxes(foot, along, aside, np.cross(along, aside), turns)


def torque_marks(robot: Robot, q: Array, tau: Array, poses: Array | None = None) -> TorqueMarks:
    """The marks of torques tau (n,) at the configuration q.

    They are as large as their share of the limit; those without a limit are compared with the largest of these.
    """
    placed = np.asarray(robot.poses(q)) if poses is None else poses
    axes, share, reach = joint_axes(robot, q, placed), share_of_limit(robot, tau), skeleton(robot).reach
    free = np.isnan(share)
    largest = np.abs(tau[free]).max(initial=0.0)
    relative = np.abs(tau) / largest if largest > 0 else np.zeros_like(tau)
    size = np.minimum(np.where(free, relative, share), MAX_SIZE)
    radii = np.where(size > SMALLEST, THICKNESS * reach * (0.6 + 0.4 * size), 0.0)
    side = np.where(tau < 0, -1.0, 1.0)
    return TorqueMarks(
        _paths(axes, side * size, reach, POINTS),
        radii,
        share_colors(share),
        _paths(axes, side, reach, TRACK_POINTS),
        np.where(free, 0.0, -TRACK * reach),
    )


def _paths(axes: VelocityAxes, size: Array, reach: float, points: int) -> Array:
    """Arcs about axes and arrows along them, for sizes (n,) of which 1 is that of the limit: (n, points, 3)."""
    along = np.linspace(0.0, 1.0, points)[None, :, None] * size[:, None, None]
    angle = MAX_SWEEP * along
    arcs = np.cos(angle) * axes.across[:, None] + np.sin(angle) * axes.third[:, None]
    arrows = 0.5 * axes.across[:, None] + LENGTH / RADIUS * along * axes.directions[:, None]
    return np.asarray(axes.points[:, None] + RADIUS * reach * np.where(axes.turns[:, None, None], arcs, arrows))
