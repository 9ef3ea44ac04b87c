"""A robot in viser's scene: a node for each link, moved by the poses of the links."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.shapes import surfaces
from chainrule.shapes.parts import Bar, bars
from chainrule.shapes.skeleton import skeleton
from chainrule.studio.scene.appearance import HIGHLIGHT, Color
from chainrule.studio.scene.nodes import add_surface, quaternions
from chainrule.studio.scene.visuals import LOOK, DrawnPart, color_of, drawing

if TYPE_CHECKING:
    from viser import SceneApi


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
        self._on_drag: Callable[[str, Any], None] | None = None
        self._meshes: list[tuple[DrawnPart, Any]] = []
        self._bars: list[tuple[Bar, Any]] = []
        self.restyle(style)

    def path(self, link: str | None = None) -> str:
        """The name of the node of a link, the end-effector's if none is given; of a frame, that of its link."""
        index, _ = self._robot.model.locate(find_link(self._robot, link))
        return f"{self.name}/link{index}"

    def restyle(self, style: str) -> None:
        """Draw the robot in another style; what others have added below its links stays."""
        for node in [*(mesh for _, mesh in self._meshes), *(node for _, node in self._bars)]:
            node.remove()
        self.style = style
        found = drawing(self._robot, style)
        self._meshes = [
            (part, self._add_mesh(f"/link{part.link}/part{i}", part.surface, self._color or part.color, part.opacity))
            for i, part in enumerate(found.parts)
        ]
        self._bars = []
        for i, bar in enumerate(bars(self._robot, LOOK, slides=not found.has_geometry)):
            unit = surfaces.cylinder(np.zeros(3), np.array([0.0, 0.0, 1.0]), 1.0).scale_by(
                [bar.radius, bar.radius, 1.0]
            )
            self._bars.append((bar, self._add_mesh(f"/bar{i}", unit, self._color or color_of(bar.role, 0))))
        self._move_bars()
        self._bind()

    def drag_by(self, callback: Callable[[str, Any], None] | None) -> None:
        """Call back with the name of a link and viser's event while its body is dragged; None: drags turn the camera.

        Callbacks come one after the other, on the server's event loop.
        """
        self._on_drag = callback
        for _, node in self._meshes:
            node.remove_drag_callback()
        self._bind()

    def _bind(self) -> None:
        callback = self._on_drag
        if callback is None:
            return
        for part, node in self._meshes:
            name = self._robot.link_names[part.link]

            async def call(event: Any, name: str = name) -> None:
                callback(name, event)

            node.on_drag("left")(call)

    def _add_mesh(self, name: str, surface: surfaces.Surface, color: Color, opacity: float = 1.0) -> Any:
        return add_surface(
            self._scene,
            self.name + name,
            surface,
            color,
            opacity=_opacity(opacity * self._opacity),
            side="double",
            cast_shadow=self._opacity >= 1,
            receive_shadow=False,  # the lamp's map of shadows is too coarse for shadows of links on links
        )

    def move(self, poses: Array) -> None:
        """Move all links to their poses (links, 4, 4); only what changed is sent."""
        changed = (poses != self._poses).any(axis=(1, 2))
        if not changed.any():
            return
        self._poses = np.array(poses)
        wxyz = quaternions(self._poses[changed, :3, :3])
        for k, orientation in zip(np.flatnonzero(changed), wxyz, strict=True):
            self.links[k].position = self._poses[k, :3, 3]
            self.links[k].wxyz = orientation
        self._move_bars()

    def _move_bars(self) -> None:
        for bar, node in self._bars:
            ends = bar.ends(self._poses)
            along = ends[1] - ends[0]
            length = float(np.linalg.norm(along))
            node.visible = length > 1e-9 * self._skeleton.reach
            node.position = ends[0]
            node.wxyz = quaternions(surfaces.rotation_along(along))
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
        for _, node in self._bars:
            node.opacity = _opacity(opacity)

    def highlight(self, links: Iterable[str] = ()) -> None:
        """Color some links so that they stand out, and all others as they were."""
        chosen = {self._robot.model.locate(find_link(self._robot, link))[0] for link in links}
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
