"""Layers of the scene that can be switched: marks on links, the total center of mass, the trail of the tip.

Nodes are made when a layer is shown for the first time. Marks on links hang below the links' nodes and move with them
without a message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.shapes import surfaces
from chainrule.shapes.skeleton import skeleton
from chainrule.studio.page import is_removed
from chainrule.studio.scene import appearance, marks
from chainrule.studio.scene.appearance import DARK_MASS, INERTIA, MASS, SLIDING_AXIS, TOTAL_MASS, TRAIL
from chainrule.studio.scene.nodes import add_surface, quaternions
from chainrule.studio.scene.robot import DrawnRobot
from chainrule.studio.scene.view import Ground

if TYPE_CHECKING:
    from viser import SceneApi

    from chainrule.core.mechanism import Mechanism


class Marks:
    """Marks of one kind on the links of a drawn robot, made when they are shown for the first time."""

    def __init__(self, make: Callable[[], list[Any]]) -> None:
        self._make = make
        self._nodes: list[Any] | None = None

    def show(self, visible: bool) -> None:
        """Show or hide them."""
        if self._nodes is None:
            if not visible:
                return
            self._nodes = self._make()
        for node in self._nodes:
            node.visible = visible

    def rebuild(self) -> None:
        """Make them anew where they have been made: the robot's numbers have changed."""
        if self._nodes is not None:
            visible = any(node.visible for node in self._nodes)
            self.remove()
            self.show(visible)

    def remove(self) -> None:
        """Remove them; their links may be gone already."""
        for node in self._nodes or []:
            if not is_removed(node):
                node.remove()
        self._nodes = None


def frame_nodes(scene: SceneApi, drawn: DrawnRobot, robot: Mechanism) -> list[Any]:
    """Nodes of the frames of links, and of named frames, a little smaller."""
    length = marks.AXIS_LENGTH * skeleton(robot).reach
    found = []
    for i, mark in enumerate(marks.frames(robot)):
        size = length if i < len(robot.link_names) else 0.7 * length
        found.append(
            scene.add_frame(
                f"{drawn.name}/link{mark.link}/frame{i}",
                axes_length=size,
                axes_radius=0.045 * size,
                origin_radius=0.09 * size,
                origin_color=(250, 250, 250),
                position=mark.pose[:3, 3],
                wxyz=quaternions(mark.pose[:3, :3]),
            )
        )
    return found


def name_nodes(scene: SceneApi, drawn: DrawnRobot, robot: Mechanism) -> list[Any]:
    """Labels with the names of joints, at their places."""
    return [
        scene.add_label(f"{drawn.name}/link{link}/name_{k}", joint.name, position=point, anchor="bottom-left")
        for k, joint in enumerate(skeleton(robot).joints)
        for link, point in (joint.symbol,)
        if joint.kind != "fixed"
    ]


def axis_nodes(scene: SceneApi, drawn: DrawnRobot, robot: Mechanism) -> list[Any]:
    """Arrows along the screw axes of joints: those that turn and those that slide in different colors."""
    reach = skeleton(robot).reach
    return [
        scene.add_arrows(
            f"{drawn.name}/link{mark.link}/axis_{i}",
            mark.ends[None].astype(np.float32),
            appearance.ACCENT if mark.turns else SLIDING_AXIS,
            shaft_radius=0.003 * reach,
            head_radius=0.010 * reach,
            head_length=0.030 * reach,
        )
        for i, mark in enumerate(marks.axes(robot))
    ]


def mass_nodes(scene: SceneApi, drawn: DrawnRobot, robot: Mechanism) -> list[Any]:
    """Balls at the centers of mass of links."""
    found = []
    for mark in marks.masses(robot):
        for which, surface in enumerate(marks.quartered_ball(mark.center, mark.radius)):
            name = f"{drawn.name}/link{mark.link}/mass{which}"
            found.append(add_surface(scene, name, surface, (MASS, DARK_MASS)[which], cast_shadow=False))
    return found


def inertia_nodes(scene: SceneApi, drawn: DrawnRobot, robot: Mechanism, solid: str) -> list[Any]:
    """Ellipsoids or boxes of uniform density with the inertias of links."""
    unit = marks.unit_solid(solid)
    return [
        add_surface(
            scene,
            f"{drawn.name}/link{mark.link}/inertia_{solid}",
            unit.scale_by(mark.half_axes),
            INERTIA,
            opacity=0.55,
            cast_shadow=False,
            position=mark.pose[:3, 3],
            wxyz=quaternions(mark.pose[:3, :3]),
        )
        for mark in marks.inertias(robot, solid)
    ]


class TotalMass:
    """The center of mass of the whole robot, and the plumb line from it to the ground."""

    def __init__(self, scene: SceneApi, robot: Mechanism, ground: Ground) -> None:
        radius = 1.35 * marks.COM_RADIUS * skeleton(robot).reach
        self._ground = ground
        self._root = scene.add_frame("/total_mass", show_axes=False, visible=False)
        for which, surface in enumerate(marks.quartered_ball(np.zeros(3), radius)):
            add_surface(scene, f"/total_mass/ball{which}", surface, (TOTAL_MASS, DARK_MASS)[which], cast_shadow=False)
        line = surfaces.cylinder(np.zeros(3), np.array([0.0, 0.0, -1.0]), 0.12 * radius)
        self._line = add_surface(scene, "/total_mass/line", line, TOTAL_MASS, opacity=0.6, cast_shadow=False)
        foot = surfaces.cylinder(np.zeros(3), np.array([0.0, 0.0, 0.05 * radius]), 0.9 * radius)
        self._foot = add_surface(scene, "/total_mass/foot", foot, TOTAL_MASS, opacity=0.7, cast_shadow=False)
        self._root.wxyz = quaternions(surfaces.rotation_along(ground.up))

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return bool(self._root.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._root.visible = visible

    def move(self, center: Array) -> None:
        """Move it to a point (3,) of the base frame."""
        height = float((center - self._ground.point) @ self._ground.up)
        self._root.position = center
        self._line.scale = (1.0, 1.0, max(height, 1e-6))
        self._foot.position = (0.0, 0.0, -height)

    def remove(self) -> None:
        """Remove its nodes."""
        self._root.remove()


MAX_TRAIL_POINTS = 400
"""Points of the trail; the oldest are forgotten."""


def extend_trail(trail: Array, tip: Array, step: float) -> Array:
    """The trail (k, 3) with a further point, if that is a step away from the last; else the same array."""
    if len(trail) and np.linalg.norm(trail[-1] - tip) < step:
        return trail
    return np.concatenate([trail, tip[None]])[-MAX_TRAIL_POINTS:]


class Trail:
    """The way that the tip has gone."""

    def __init__(self, scene: SceneApi, reach: float) -> None:
        self._scene, self._step, self._thickness = scene, 4e-3 * reach, 6e-3 * reach
        self._points = np.empty((0, 3))
        self._node: Any = None
        self.visible = False

    def follow(self, tip: Array) -> None:
        """Lead the trail to the tip (3,), where it is shown."""
        if not self.visible:
            return
        points = extend_trail(self._points, tip, self._step)
        if points is self._points:
            return
        self._points = points
        if len(points) < 2:
            return
        segments = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        if self._node is None:
            self._node = self._scene.add_line_segments("/trail", segments, TRAIL, thickness=self._thickness)
        self._node.points = segments

    def clear(self) -> None:
        """Forget it."""
        self._points = np.empty((0, 3))
        if self._node is not None:
            self._node.remove()
            self._node = None
