"""The first view: where the ground is, and where the camera stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.shapes.parts import up_direction
from chainrule.shapes.skeleton import skeleton
from chainrule.shapes.surfaces import rotation_along
from chainrule.studio.page import first_camera_of
from chainrule.studio.scene.visuals import DrawnPart

if TYPE_CHECKING:
    from viser import ClientHandle

FIELD_OF_VIEW = 0.6
"""Vertical, in rad: a long lens, so that near parts do not look large."""

ELEVATION, AZIMUTH = 0.30, -0.95
"""Of the camera, in rad; a robot that faces x is seen from the front and its right."""

VIEWS = {"Reset": (AZIMUTH, ELEVATION), "Front": (0.0, 0.05), "Side": (-np.pi / 2, 0.05), "Top": (-np.pi / 2, 1.5)}
"""Azimuth and elevation of the camera, by name."""

MARGIN = 1.25
"""Room around the robot, as a multiple of its size."""


class Camera(NamedTuple):
    """A camera: position and the point that it looks at, in the base frame, and the direction that is up."""

    position: Array
    look_at: Array
    up: Array


class Ground(NamedTuple):
    """The ground: a point of it below the robot, its upward normal, and the size of the robot over it, in m."""

    point: Array
    up: Array
    size: float


def drawn_points(robot: Mechanism, parts: tuple[DrawnPart, ...], poses: Array) -> Array:
    """Points of all that is drawn of a robot at poses (links, 4, 4), in the base frame: (k, 3)."""
    points = [skeleton(robot).points_at(poses)]
    for part in parts:
        T = poses[part.link]
        points.append(part.surface.corners @ T[:3, :3].T + T[:3, 3])
    every = np.concatenate(points)
    return every[np.isfinite(every).all(axis=1)]


def ground(robot: Mechanism, points: Array) -> Ground:
    """The ground under a robot: at its lowest point, or where an upright planar arm cannot touch it."""
    up = up_direction(robot)
    frame = skeleton(robot)
    middle, size = _box(points)
    level = float((points @ up).min())
    if frame.normal is not None and abs(up[frame.normal]) < 0.5 and not _is_loose(robot):
        level = min(level, -1.05 * frame.reach)
        size = max(size, 2 * frame.reach)
    return Ground(middle + (level - middle @ up) * up, up, size)


def first_camera(robot: Mechanism, points: Array, side: str = "Reset", aspect: float = 1.4) -> Camera:
    """A camera that sees all points (k, 3): from the front, a little from the side and from above, or as VIEWS says.

    A robot that moves in an upright plane is at first seen from across it.
    """
    up = up_direction(robot)
    frame = skeleton(robot)
    azimuth, elevation = VIEWS[side]
    basis = rotation_along(up) if abs(up[2]) < 1 - 1e-9 else np.eye(3)
    if side == "Reset" and frame.normal is not None and abs(up[frame.normal]) < 0.5:
        across = np.eye(3)[frame.normal]
        basis = np.stack([np.cross(across, up), across, up], axis=1)
        azimuth, elevation = np.pi / 2 - 0.35, 0.18
    direction = basis @ np.array(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    )
    middle, size = _box(points)
    distance = MARGIN * size / 2 / (np.tan(FIELD_OF_VIEW / 2) * min(1.0, max(aspect, 0.4)))
    return Camera(middle + distance * direction, middle, up)


def point_camera(client: ClientHandle, camera: Camera, *, turned: bool) -> None:
    """Point the camera of a tab; `turned`: the direction that is up has changed since the last time.

    The page turns the world after it has placed the camera. It places the camera once more if the place comes as that
    of the first view, to which the page's own button then leads as well.
    """
    if turned:
        client.scene.set_up_direction(camera.up)
        first = first_camera_of(client)
        first.fov, first.position, first.look_at, first.up = FIELD_OF_VIEW, camera.position, camera.look_at, camera.up
    else:
        handle = client.camera
        handle.fov, handle.position, handle.look_at = FIELD_OF_VIEW, camera.position, camera.look_at
        handle.up_direction = camera.up


def is_seen(point: Array, camera: Array, look_at: Array, fov: float) -> bool:
    """Whether a camera of a vertical field of view (rad) has a point well within its picture."""
    ahead, way = look_at - camera, point - camera
    cosine = float(ahead @ way) / max(float(np.linalg.norm(ahead) * np.linalg.norm(way)), 1e-12)
    return cosine > np.cos(0.8 * fov / 2)


def _box(points: Array) -> tuple[Array, float]:
    """The middle of the box around points, and the length of its diagonal."""
    low, high = points.min(axis=0), points.max(axis=0)
    return (low + high) / 2, max(float(np.linalg.norm(high - low)), 1e-3)


def _is_loose(robot: Mechanism) -> bool:
    """Whether the robot is not fastened to its base."""
    return any(body.joint.kind.nv > 3 for body in robot.model.bodies)
