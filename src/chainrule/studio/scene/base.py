"""A wheeled base on the ground: as it is, and as its odometry believes, with their ways and an ellipse of doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.robot.robot import Robot
from chainrule.studio.driving import RADIUS, SEPARATION, WHEELBASE, DrivenBase
from chainrule.studio.scene import view
from chainrule.studio.scene.appearance import BRAND, JOINT, Color
from chainrule.studio.scene.nodes import quaternions
from chainrule.studio.scene.visuals import drawing
from chainrule.wheels import Track

if TYPE_CHECKING:
    from chainrule.studio.session import Session

BELIEVED: Color = (242, 140, 40)
"""The color of what odometry says."""

LINES = (("way", BRAND, 3.0), ("believed_way", BELIEVED, 3.0), ("believed", BELIEVED, 4.0), ("doubt", BELIEVED, 1.5))
"""Lines on the ground: names, colors, and widths in pixels."""

PIECES = 300
"""Pieces of each line."""

DEVIATIONS = 2.0
"""Standard deviations of the ellipse."""

NEARER, ASIDE = 0.4, 0.5
"""The distance of the start from the robot, towards the first camera and to its left, as shares of the robot's size."""


def start_pose(robot: Robot, points: Array) -> tuple[Array, Array]:
    """The origin (3,) and the axes (3, 3) of the plane of the wheels, of a robot drawn by points (k, 3).

    The base starts before the robot, as the first camera sees it, and heads to the right.
    """
    place, camera = view.ground(robot, points), view.first_camera(robot, points)
    ahead = camera.look_at - camera.position
    ahead = ahead - (ahead @ place.up) * place.up
    ahead = ahead / np.linalg.norm(ahead)
    right = np.cross(ahead, place.up)
    origin = place.point - place.size * (NEARER * ahead + ASIDE * right)
    return origin, np.stack([right, ahead, place.up], axis=1)


def is_seen(point: Array, camera: Array, look_at: Array, fov: float) -> bool:
    """Whether a camera of a vertical field of view (rad) has a point well within its picture."""
    ahead, way = look_at - camera, point - camera
    cosine = float(ahead @ way) / max(float(np.linalg.norm(ahead) * np.linalg.norm(way)), 1e-12)
    return cosine > np.cos(0.8 * fov / 2)


def outline(pose: Array) -> Array:
    """Corners of a chassis and its nose on the ground, a closed line: (k, 3)."""
    l, w = WHEELBASE / 2 + RADIUS, SEPARATION / 2
    corners = np.array([[-l, -w], [l, -w], [1.25 * l, 0.0], [l, w], [-l, w], [-l, -w]])
    c, s = np.cos(pose[2]), np.sin(pose[2])
    flat = corners @ np.array([[c, s], [-s, c]]) + pose[:2]
    return np.column_stack([flat, np.full(len(flat), 0.012)])


def doubt(drive: DrivenBase, points: int = 48) -> Array:
    """The ellipse of the believed position at two standard deviations, a closed line on the ground: (k, 3)."""
    radii, axes = Track(np.zeros(1), drive.believed[None], drive.covariance[None]).ellipses(DEVIATIONS)
    angle = np.linspace(0.0, 2 * np.pi, points)
    ring = np.stack([radii[0, 0] * np.cos(angle), radii[0, 1] * np.sin(angle)], axis=1) @ axes[0].T
    return np.column_stack([ring + drive.believed[:2], np.full(points, 0.008)])


def segments(line: Array, count: int, height: float = 0.0) -> Array:
    """The pieces of a line through points (k, 2) or (k, 3): (count, 2, 3), those without length at its start."""
    points = line if line.shape[1] == 3 else np.column_stack([line, np.full(len(line), height)])
    points = np.concatenate([np.tile(points[:1], (count + 1 - len(points), 1)), points])
    return np.stack([points[:-1], points[1:]], axis=1)


class DrawnBase:
    """The base in the scene, on the ground beside the robot."""

    def __init__(self, session: Session, drive: DrivenBase) -> None:
        scene, robot = session.client.scene, session.robot
        origin, R = start_pose(robot, view.drawn_points(robot, drawing(robot, "model").parts, session.poses))
        self.root: Any = scene.add_frame("/wheels", show_axes=False, wxyz=quaternions(R), position=origin)
        self._show_to(session.client.camera, origin)
        self.body: Any = scene.add_frame("/wheels/base", show_axes=False)
        scene.add_box(
            "/wheels/base/chassis",
            color=BRAND,
            dimensions=(WHEELBASE + 2 * RADIUS, SEPARATION, RADIUS),
            position=(0.0, 0.0, 1.3 * RADIUS),
        )
        scene.add_box(
            "/wheels/base/nose",
            color=BELIEVED,
            dimensions=(RADIUS / 2, SEPARATION / 3, RADIUS / 2),
            position=(WHEELBASE / 2 + RADIUS, 0.0, 1.5 * RADIUS),
        )
        for k, (x, y) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
            scene.add_cylinder(
                f"/wheels/base/wheel{k}",
                RADIUS,
                RADIUS / 2,
                color=JOINT,
                position=(x * WHEELBASE / 2, y * SEPARATION / 2, RADIUS),
                wxyz=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0),
            )
        self._lines = {
            name: scene.add_line_segments(
                f"/wheels/{name}",
                np.zeros((PIECES, 2, 3), np.float32),
                color,
                thickness=width,
                thickness_units="screen",
            )
            for name, color, width in LINES
        }
        self.move(drive)

    @staticmethod
    def _show_to(camera: Any, origin: Array) -> None:
        """Let the camera look at the start, from the same side, where it would not see it."""
        if not is_seen(origin, camera.position, camera.look_at, camera.fov):
            offset = camera.position - camera.look_at
            camera.position, camera.look_at = origin + offset, origin

    def move(self, drive: DrivenBase) -> None:
        """Show where it is, where it believes to be, and how it came there."""
        x, y, theta = drive.pose
        self.body.position, self.body.wxyz = (x, y, 0.0), (np.cos(theta / 2), 0.0, 0.0, np.sin(theta / 2))
        way, believed_way = drive.ways(PIECES)
        lines = (way, believed_way, outline(drive.believed), doubt(drive))
        for node, line in zip(self._lines.values(), lines, strict=True):
            node.points = segments(line, PIECES, height=0.005).astype(np.float32)

    def remove(self) -> None:
        """Remove it from the scene."""
        self.root.remove()
