"""The robot in the scene, the ground under it, and switches for what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.studio.panels.panel import Panel
from chainrule.studio.scene import appearance, view
from chainrule.studio.scene.parts import model_parts
from chainrule.studio.scene.robot import DrawnRobot
from chainrule.studio.scene.surfaces import quaternions, rotation_along

if TYPE_CHECKING:
    from chainrule.studio.session import Session


class View(Panel):
    """The robot itself, and what is drawn with it."""

    title = "View"
    icon = "eye"

    def build(self, session: Session) -> None:
        """Draw robot and ground, and point the camera at them."""
        client, robot = session.client, session.robot
        self.drawn = DrawnRobot(client.scene, robot)
        points = view.drawn_points(robot, model_parts(robot), session.poses)
        self._ground = self._add_ground(session, view.ground(robot, points))
        camera = view.first_camera(robot, points)
        client.scene.set_up_direction(tuple(camera.up))
        client.camera.up_direction = camera.up
        client.camera.fov = view.FIELD_OF_VIEW
        client.camera.position = camera.position
        client.camera.look_at = camera.look_at
        dark = client.gui.add_checkbox("Dark", session.dark)
        dark.on_update(session.guarded(lambda _: session.theme(dark=dark.value)))

    def _add_ground(self, session: Session, place: view.Ground) -> Any:
        colors = appearance.theme(session.dark)
        cell = 10.0 ** np.floor(np.log10(place.size / 2))
        return session.client.scene.add_grid(
            "/ground",
            width=20 * place.size,
            height=20 * place.size,
            cell_size=cell / 2,
            section_size=cell,
            cell_color=colors.lines,
            section_color=colors.sections,
            plane_color=colors.ground,
            plane_opacity=1.0,
            shadow_opacity=colors.shadow,
            fade_distance=10 * place.size,
            position=place.point - 1e-3 * place.size * place.up,
            wxyz=quaternions(rotation_along(place.up)),
        )

    def update(self, session: Session) -> None:
        """Move the robot."""
        self.drawn.move(session.poses)

    def close(self) -> None:
        """Remove robot and ground."""
        self.drawn.remove()
        self._ground.remove()
