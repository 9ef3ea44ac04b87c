"""The arm in its postures, as small drawings of lines: SVG that needs no program to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.display.tables import escape
from chainrule.model.geometry import Ellipsoid

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

VIEW = np.array([[0.85, 0.53, 0.0], [-0.16, 0.26, 0.95]])
"""From points in space to the paper: forward goes to the right, left a little less so, up goes up."""

MARGIN = 0.06
"""White space around a drawing, as a share of its size."""


class Paper:
    """A drawing of a robot in several postures, all to one scale."""

    def __init__(self, robot: Robot, configurations: list[Array]) -> None:
        self.robot = robot
        place = {name: k for k, name in enumerate(robot.link_names)}
        self.edges = [(place[joint.parent], place[joint.child]) for joint in robot.model.joints]
        self.has_tip = len(robot.model.tips) == 1 or robot.model.end_effector is not None
        if self.has_tip:
            self.edges.append((robot.model.locate(robot.end_effector)[0], len(place)))
        self.lines = [self._line(q) for q in configurations]
        self.bodies = self._bodies()
        corners = np.concatenate(
            [*self.lines, *(center + r * np.array([[1, 1], [-1, -1]]) for center, r in self.bodies)]
        )
        self.low, self.high = corners.min(axis=0), corners.max(axis=0)
        self.size = float((self.high - self.low).max()) or 1.0

    def _line(self, q: Array) -> Array:
        """The places of the links on the paper (k, 2), and of the tip where there is one."""
        points = self.robot.poses(q)[:, :3, 3]
        if self.has_tip:
            points = np.vstack([points, self.robot.pose(q)[:3, 3]])
        return points @ VIEW.T

    def _bodies(self) -> list[tuple[Array, Array]]:
        """Ellipses of the base: a trunk, a head."""
        base = self.robot.model.links[0].name
        found = []
        for geometry in self.robot.model.geometries:
            if geometry.link == base and isinstance(geometry.shape, Ellipsoid):
                center = VIEW @ np.array([*geometry.origin.translation], dtype=float)
                radii = np.array([*geometry.shape.radii], dtype=float)
                found.append((center, np.sqrt((VIEW**2) @ radii**2)))
        return found

    def draw(self, which: int, title: str, width: int = 150) -> str:
        """One posture."""
        low, size = self.low - MARGIN * self.size, self.size * (1 + 2 * MARGIN)
        height = float((self.high - self.low)[1]) + 2 * MARGIN * self.size
        wide = float((self.high - self.low)[0]) + 2 * MARGIN * self.size

        def at(point: Array) -> tuple[str, str]:
            return f"{(point[0] - low[0]) / size:.4f}", f"{(height - (point[1] - low[1])) / size:.4f}"

        shapes = "".join(
            '<ellipse cx="{}" cy="{}" rx="{:.4f}" ry="{:.4f}"/>'.format(*at(center), *(radii / size))
            for center, radii in self.bodies
        )
        points = self.lines[which]
        lines = "".join(
            f'<polyline points="{" ".join(",".join(at(points[k])) for k in edge)}"/>' for edge in self.edges
        )
        dots = "".join('<circle cx="{}" cy="{}" r="0.014"/>'.format(*at(point)) for point in points)
        return (
            f'<figure class="posture"><svg viewBox="0 0 {wide / size:.4f} {height / size:.4f}" width="{width}" '
            f'role="img" aria-label="{escape(title)}"><g class="body">{shapes}</g>{lines}'
            f'<g class="joints">{dots}</g></svg><figcaption>{escape(title)}</figcaption></figure>'
        )
