"""A robot in viser's scene: a node for each link, moved by the poses of the links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.plots.skeleton import skeleton
from chainrule.studio.scene import surfaces
from chainrule.studio.scene.appearance import ROD, SLIDE, Color
from chainrule.studio.scene.parts import Part, link_radii, model_parts

if TYPE_CHECKING:
    from viser import SceneApi


class DrawnRobot:
    """A robot in a scene, `client.scene` of a tab or that of a server; several robots have different names.

    >>> drawn = DrawnRobot(client.scene, robot, "/ghost", opacity=0.3)  # doctest: +SKIP
    >>> drawn.move(robot.poses(q))  # doctest: +SKIP
    """

    def __init__(
        self,
        scene: SceneApi,
        robot: Mechanism,
        name: str = "/robot",
        *,
        opacity: float = 1.0,
        color: Color | None = None,
        parts: tuple[Part, ...] | None = None,
    ) -> None:
        self.name = name
        self.root = scene.add_frame(name, show_axes=False)
        self.links = [scene.add_frame(f"{name}/link{k}", show_axes=False) for k in range(len(robot.link_names))]
        """The node of each link, in the order of link_names: what is added below it moves with the link."""
        self.meshes = [
            scene.add_mesh_simple(
                f"{name}/link{part.link}/part{i}",
                part.surface.corners.astype(np.float32),
                part.surface.triangles.astype(np.uint32),
                color=part.color if color is None else color,
                opacity=None if part.opacity * opacity >= 1 else part.opacity * opacity,
                cast_shadow=opacity >= 1,
            )
            for i, part in enumerate(model_parts(robot) if parts is None else parts)
        ]
        self._skeleton = skeleton(robot)
        self._bars = self._add_bars(scene, robot, opacity)

    def _add_bars(self, scene: SceneApi, robot: Mechanism, opacity: float) -> list[tuple[str, Any, Any]]:
        """Nodes of what changes its length with the posture: slides that have moved out, and rods."""
        radii = link_radii(robot)
        found: list[tuple[str, Any, Any]] = []
        slides = [(joint, radii[joint.child], SLIDE) for joint in self._skeleton.joints if joint.kind == "slides"]
        rods = [(tie, radii[tie.link_a], ROD) for tie in self._skeleton.ties if tie.kind == "distance"]
        unit = surfaces.cylinder(np.zeros(3), np.array([0.0, 0.0, 1.0]), 1.0)
        for i, (item, r, color) in enumerate([*slides, *rods]):
            node = scene.add_mesh_simple(
                f"{self.name}/bar{i}",
                (unit.corners * [0.6 * r, 0.6 * r, 1.0]).astype(np.float32),
                unit.triangles.astype(np.uint32),
                color=color,
                opacity=None if opacity >= 1 else opacity,
            )
            found.append(("slide" if i < len(slides) else "rod", item, node))
        return found

    def move(self, poses: Array) -> None:
        """Move all links to their poses (links, 4, 4); only what changed is sent."""
        for node, position, wxyz in zip(
            self.links, poses[:, :3, 3], surfaces.quaternions(poses[:, :3, :3]), strict=True
        ):
            node.position = position
            node.wxyz = wxyz
        for kind, item, node in self._bars:
            ends = self._skeleton.slide_at(item, poses) if kind == "slide" else self._skeleton.tie_at(item, poses)
            along = ends[1] - ends[0]
            length = float(np.linalg.norm(along))
            node.visible = length > 1e-9 * self._skeleton.reach
            node.position = ends[0]
            node.wxyz = surfaces.quaternions(surfaces.rotation_along(along))
            node.scale = (1.0, 1.0, max(length, 1e-9))

    @property
    def visible(self) -> bool:
        """Whether the robot is shown."""
        return bool(self.root.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        self.root.visible = visible

    def remove(self) -> None:
        """Remove all its nodes."""
        self.root.remove()
