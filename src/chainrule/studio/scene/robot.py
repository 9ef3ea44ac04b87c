"""A robot in viser's scene: a node for each link, moved by the poses of the links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.plots.skeleton import skeleton
from chainrule.studio.scene import surfaces
from chainrule.studio.scene.appearance import HIGHLIGHT, ROD, SLIDE, Color
from chainrule.studio.scene.parts import Part, link_radii
from chainrule.studio.scene.visuals import drawing

if TYPE_CHECKING:
    from viser import SceneApi


class _Bar(NamedTuple):
    """A node that changes its length with the posture: a slide that has moved out, or a rod."""

    kind: str
    place: Any
    node: Any


class DrawnRobot:
    """A robot in a scene, `client.scene` of a tab or that of a server; several robots have different names.

    The node of link k is NAME/link{k}, and `path(link)` names it: what is added below it moves with the link.

    >>> drawn = DrawnRobot(client.scene, robot, "/ghost", opacity=0.3)  # doctest: +SKIP
    >>> drawn.move(robot.poses(q))  # doctest: +SKIP
    """

    def __init__(
        self,
        scene: SceneApi,
        robot: Mechanism,
        name: str = "/robot",
        *,
        style: str = "visual",
        opacity: float = 1.0,
        color: Color | None = None,
    ) -> None:
        """Draw a robot in one of the STYLES of visuals.py, perhaps see-through, or all in one color."""
        self.name, self._scene, self._robot, self._color = name, scene, robot, color
        self._skeleton, self._opacity = skeleton(robot), opacity
        self._poses = np.tile(np.eye(4), (len(robot.link_names), 1, 1))
        self.root = scene.add_frame(name, show_axes=False)
        self.links = [scene.add_frame(f"{name}/link{k}", show_axes=False) for k in range(len(robot.link_names))]
        """The node of each link, in the order of link_names."""
        self._meshes: list[tuple[Part, Any]] = []
        self._bars: list[_Bar] = []
        self.restyle(style)

    def path(self, link: str | None = None) -> str:
        """The name of the node of a link, the end-effector's if none is given; of a frame, that of its link."""
        index, _ = self._robot.model.locate(self._robot.link(link))
        return f"{self.name}/link{index}"

    def restyle(self, style: str) -> None:
        """Draw the robot in another style; what others have added below its links stays."""
        for node in [*(mesh for _, mesh in self._meshes), *(bar.node for bar in self._bars)]:
            node.remove()
        self.style = style
        parts = drawing(self._robot, style).parts
        self._meshes = [
            (part, self._add_mesh(f"/link{part.link}/part{i}", part.surface, self._color or part.color, part.opacity))
            for i, part in enumerate(parts)
        ]
        self._bars = list(self._new_bars())
        self._move_bars()

    def _add_mesh(self, name: str, surface: surfaces.Surface, color: Color, opacity: float = 1.0) -> Any:
        return self._scene.add_mesh_simple(
            self.name + name,
            surface.corners.astype(np.float32),
            surface.triangles.astype(np.uint32),
            color=color,
            opacity=_opacity(opacity * self._opacity),
            side="double",
            cast_shadow=self._opacity >= 1,
            receive_shadow=False,  # the lamp's map of shadows is too coarse for shadows of links on links
        )

    def _new_bars(self) -> Iterable[_Bar]:
        radii = link_radii(self._robot)
        unit = surfaces.cylinder(np.zeros(3), np.array([0.0, 0.0, 1.0]), 1.0)
        places: list[tuple[str, Any, int, Color]] = [
            ("rod", tie, tie.link_a, ROD) for tie in self._skeleton.ties if tie.kind == "distance"
        ]
        if self.style == "model" or not any(g.role == self.style for g in self._robot.model.geometries):
            places += [
                ("slide", slide, slide.child, SLIDE) for slide in self._skeleton.joints if slide.kind == "slides"
            ]
        for i, (kind, place, link, color) in enumerate(places):
            r = 0.6 * float(radii[link])
            thin = surfaces.Surface(unit.corners * [r, r, 1.0], unit.triangles)
            yield _Bar(kind, place, self._add_mesh(f"/bar{i}", thin, self._color or color))

    def move(self, poses: Array) -> None:
        """Move all links to their poses (links, 4, 4); only what changed is sent."""
        changed = (poses != self._poses).any(axis=(1, 2))
        if not changed.any():
            return
        self._poses = np.array(poses)
        wxyz = surfaces.quaternions(self._poses[changed, :3, :3])
        for k, orientation in zip(np.flatnonzero(changed), wxyz, strict=True):
            self.links[k].position = self._poses[k, :3, 3]
            self.links[k].wxyz = orientation
        self._move_bars()

    def _move_bars(self) -> None:
        for kind, place, node in self._bars:
            ends = self._skeleton.slide_at(place, self._poses) if kind == "slide" else None
            ends = self._skeleton.tie_at(place, self._poses) if ends is None else ends
            along = ends[1] - ends[0]
            length = float(np.linalg.norm(along))
            node.visible = length > 1e-9 * self._skeleton.reach
            node.position = ends[0]
            node.wxyz = surfaces.quaternions(surfaces.rotation_along(along))
            node.scale = (1.0, 1.0, max(length, 1e-9))

    @property
    def opacity(self) -> float:
        """The opacity of all bodies, between 0 and 1."""
        return self._opacity

    @opacity.setter
    def opacity(self, opacity: float) -> None:
        self._opacity = opacity
        for part, node in self._meshes:
            node.opacity = _opacity(opacity * part.opacity)
        for bar in self._bars:
            bar.node.opacity = _opacity(opacity)

    def highlight(self, links: Iterable[str] = ()) -> None:
        """Color some links so that they stand out, and all others as they were."""
        chosen = {self._robot.model.locate(self._robot.link(link))[0] for link in links}
        for part, node in self._meshes:
            node.color = HIGHLIGHT if part.link in chosen else self._color or part.color

    @property
    def visible(self) -> bool:
        """Whether the robot is shown."""
        return bool(self.root.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        self.root.visible = visible

    def remove(self) -> None:
        """Remove all its nodes, with what others have added below them."""
        self.root.remove()


def _opacity(opacity: float) -> float | None:
    """The opacity as viser has it: None is opaque, and is sorted right."""
    return None if opacity >= 1 else float(opacity)
