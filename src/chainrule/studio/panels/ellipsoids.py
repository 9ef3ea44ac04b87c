"""Velocity and force ellipsoids at a link, and a warning near singularities with the direction that is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ChainruleError
from chainrule.robot.robot import Robot
from chainrule.shapes.skeleton import skeleton
from chainrule.shapes.surfaces import ball
from chainrule.studio.charts.style import STYLE, in_frame, message, notes, number
from chainrule.studio.panels.panel import Panel, by_user
from chainrule.studio.postures import default_tip
from chainrule.studio.scene.ellipsoids import Ball, ball_of, closeness, lost_arrows, warning
from chainrule.studio.scene.nodes import add_surface
from chainrule.studio.scene.tubes import DrawnTubes

if TYPE_CHECKING:
    from chainrule.studio.session import Session

KINDS: dict[str, tuple[int, int, int]] = {"velocity": (38, 132, 230), "force": (226, 96, 34)}
"""Colors of the ellipsoids."""

UNITS = {"velocity": "m/s", "force": "N"}
PER = {"velocity": "joint velocities", "force": "joint torques"}
LOST: tuple[int, int, int] = (200, 20, 120)
SIZE, LONGEST = 0.25, 0.45
"""The largest semi-axis of an ellipsoid in the first posture, and at most, as parts of the robot's reach."""

ARROWS = 12
"""Arrows of lost directions: both ways of up to six."""


def links_to_choose(robot: Robot) -> list[str]:
    """The links and frames whose motion can be looked at, the end-effector first."""
    first = default_tip(robot)
    names = [*robot.link_names[1:], *(frame.name for frame in robot.model.frames)]
    return [first, *(name for name in dict.fromkeys(names) if name != first)]


class EllipsoidsPanel(Panel):
    """Manipulability: how easily a link moves and pushes in each direction."""

    title = "Ellipsoids and singularities"
    tab = "Dynamics"
    open = False

    def suits(self, robot: Robot) -> bool:
        """Whether anything moves."""
        return robot.nv > 0

    def draws(self, session: Session) -> bool:
        """Whether ellipsoids or lost directions are in the scene."""
        return self._arrows is not None or any(control.value for control in self._on.values())

    def build(self, session: Session) -> None:
        """Make the controls."""
        gui, robot = session.client.gui, session.robot
        self._balls: dict[str, Any] = {}
        self._arrows: DrawnTubes | None = None
        self._units: dict[tuple[str, str], float] = {}
        gui.add_html(STYLE)
        self._warning = gui.add_html("")
        self._on = {kind: gui.add_checkbox(kind.capitalize(), False) for kind in KINDS}
        names = links_to_choose(robot)
        self._link = gui.add_dropdown("At", names, initial_value=session.tip if session.tip in names else names[0])
        self._size = gui.add_slider("Size", 0.2, 3.0, step=0.1, initial_value=1.0)
        self._warn = gui.add_checkbox("Lost direction", True)
        self._numbers = gui.add_html("")
        for control in (*self._on.values(), self._link, self._size, self._warn):
            control.on_update(by_user(session, session.move))

    def update(self, session: Session) -> None:
        """Show the ellipsoids of the present posture."""
        robot, q, link = session.robot, session.state.q, self._link.value
        try:
            near = closeness(robot, q, link)
            lines = [f"<b>Manipulability</b> {number(float(robot.manipulability(q, link)))}"]
        except ChainruleError as error:
            self._warning.content, self._numbers.content = message(str(error)), ""
            self._show_lost(session, np.zeros((0, 2, 3)))
            for node in self._balls.values():
                node.visible = False
            return
        lines.append(f"smallest over largest singular value {number(near.ratio)}")
        at = np.asarray(robot.pose(q, link))[:3, 3]
        for kind, control in self._on.items():
            if control.value:
                lines.append(self._show(session, kind, q, at))
            elif kind in self._balls:
                self._balls[kind].visible = False
        self._numbers.content = in_frame("".join(f"<div>{line}</div>" for line in lines))
        self._warning.content = notes(warning(near), "#c81478" if near.is_singular else "#e0861a")
        arrows = lost_arrows(near, at, 0.3 * skeleton(robot).reach)
        self._show_lost(session, arrows if self._warn.value else arrows[:0])

    def _show(self, session: Session, kind: str, q: Array, at: Array) -> str:
        """Draw one ellipsoid; its semi-axes, in words."""
        robot, link = session.robot, self._link.value
        reach = skeleton(robot).reach
        ellipsoid = robot.analysis.ellipsoid(q, link, kind=kind, task="position")
        finite = ellipsoid.lengths[np.isfinite(ellipsoid.lengths) & (ellipsoid.lengths > 0)]
        unit = self._units.setdefault((kind, link), SIZE * reach / float(finite.max()) if len(finite) else 1.0)
        self._place(session, kind, ball_of(ellipsoid, unit * self._size.value, LONGEST * reach), at)
        lengths = ", ".join(number(float(x)) for x in ellipsoid.lengths)
        color = "#{:02x}{:02x}{:02x}".format(*KINDS[kind])
        return f'<b style="color:{color}">{kind}</b> semi-axes {lengths} {UNITS[kind]} for {PER[kind]} of length 1'

    def _place(self, session: Session, kind: str, shape: Ball, at: Array) -> None:
        if kind not in self._balls:
            self._balls[kind] = add_surface(
                session.client.scene, f"/ellipsoids/{kind}", ball(np.zeros(3)), KINDS[kind], opacity=0.42,
                cast_shadow=False, receive_shadow=False,
            )  # fmt: skip
        node = self._balls[kind]
        node.position, node.wxyz, node.scale, node.visible = at, shape.quaternion, tuple(map(float, shape.scale)), True

    def _show_lost(self, session: Session, arrows: Array) -> None:
        if not len(arrows) and self._arrows is None:
            return
        if self._arrows is None:
            self._arrows = DrawnTubes(session.client.scene, "/lost", ARROWS, 2)
        paths, radii = np.zeros((ARROWS, 2, 3)), np.zeros(ARROWS)
        paths[: len(arrows)], radii[: len(arrows)] = arrows[:ARROWS], 0.009 * skeleton(session.robot).reach
        self._arrows.move(paths, radii, np.tile(np.array(LOST, dtype=np.uint8), (ARROWS, 1)))

    def close(self) -> None:
        """Remove ellipsoids and arrows."""
        for node in self._balls.values():
            node.remove()
        if self._arrows is not None:
            self._arrows.remove()
