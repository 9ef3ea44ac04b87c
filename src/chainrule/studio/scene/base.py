"""What a robot that drives leaves on the ground: its way, and that of its odometry, with an ellipse of doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.studio.driving import RADIUS, SEPARATION, WHEELBASE, DrivenBase
from chainrule.studio.scene.appearance import BRAND, Color
from chainrule.studio.scene.nodes import quaternions
from chainrule.wheels import Track

if TYPE_CHECKING:
    from viser import SceneApi

BELIEVED: Color = (242, 140, 40)
"""The color of what odometry says."""

LINES = (("way", BRAND, 3.0), ("believed_way", BELIEVED, 3.0), ("believed", BELIEVED, 4.0), ("doubt", BELIEVED, 1.5))
"""Lines on the ground: names, colors, and widths in pixels."""

PIECES = 300
"""Pieces of each line."""

DEVIATIONS = 2.0
"""Standard deviations of the ellipse."""


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
    """The way of a robot on the ground, and that of its odometry, with where it believes to be."""

    def __init__(self, scene: SceneApi, start: Array) -> None:
        """start: the pose (4, 4) of the plane at the start, in the base frame; x is forwards and z up."""
        self.root: Any = scene.add_frame(
            "/wheels", show_axes=False, wxyz=quaternions(start[:3, :3]), position=start[:3, 3]
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

    def move(self, drive: DrivenBase) -> None:
        """Show how it came to where it is, and where it believes to be."""
        way, believed_way = drive.ways(PIECES)
        lines = (way, believed_way, outline(drive.believed), doubt(drive))
        for node, line in zip(self._lines.values(), lines, strict=True):
            node.points = segments(line, PIECES, height=0.005).astype(np.float32)

    def remove(self) -> None:
        """Remove it from the scene."""
        self.root.remove()
