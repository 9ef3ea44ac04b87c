"""The robot of a study in motion: its points in space, for the drawings of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.model.geometry import Ellipsoid
from chainrule.shapes.skeleton import place, skeleton

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


class Wireframe:
    """The skeleton of a robot as points and the lines between them."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.skeleton = skeleton(robot)
        self.lines: list[tuple[int, int]] = []
        """Pairs of points that a line connects."""
        self._points: list[tuple[int, Array]] = []
        """Each point: its link, and its place in the frame of the link."""
        for k, link in enumerate(self.skeleton.links):
            edges = [*link.bars, *zip(link.plate, np.roll(link.plate, -1), strict=True)]
            self._add([(k, point) for point in link.points], edges)
        for joint in self.skeleton.joints:
            if joint.kind == "slides":
                self._add([(joint.parent, joint.in_parent), (joint.child, joint.in_child)], [(0, 1)])
        for tie in self.skeleton.ties:
            self._add([(tie.link_a, tie.in_a), (tie.link_b, tie.in_b)], [(0, 1)])

    def _add(self, points: Sequence[tuple[int, Array]], lines: Sequence[tuple[int, int]]) -> None:
        first = len(self._points)
        self._points += points
        self.lines += [(first + int(a), first + int(b)) for a, b in lines]

    def points(self, q: Array) -> Array:
        """All points in the base frame, for configurations (T, nq): (T, points, 3)."""
        poses = self.robot.poses(q)
        return np.concatenate([place(poses[:, link], point[None]) for link, point in self._points], axis=1)

    def bodies(self) -> list[dict[str, Any]]:
        """Ellipsoids of the base, such as a trunk and a head: each with its center, and a matrix A of x = c + A u for
        unit vectors u."""
        base = self.robot.model.links[0].name
        found = []
        for geometry in self.robot.model.geometries:
            if geometry.link == base and isinstance(geometry.shape, Ellipsoid):
                T = np.array(geometry.origin)
                radii = np.array([float(radius) for radius in geometry.shape.radii])
                found.append({"center": T[:3, 3].round(4).tolist(), "axes": (T[:3, :3] * radii).round(4).tolist()})
        return found
