"""Torques of all joints: arcs and arrows in the scene, and bars that are split by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.errors import ChainruleError
from chainrule.studio import world
from chainrule.studio.charts.style import STYLE, message
from chainrule.studio.charts.torque_bars import torque_chart, torque_table, torques
from chainrule.studio.panels.panel import Panel, by_user
from chainrule.studio.scene.torque_marks import POINTS, TRACK_COLOR, TRACK_POINTS, torque_marks
from chainrule.studio.scene.tubes import DrawnTubes

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session

SCALES = ("torque", "share of limit")


class TorquesPanel(Panel):
    """The torques that the present state takes, by joint and by cause."""

    title = "Torques"
    tab = "Dynamics"
    icon = "chart-bar"

    def suits(self, robot: Robot) -> bool:
        """Whether anything moves."""
        return robot.nv > 0

    def draws(self, session: Session) -> bool:
        """Whether arcs are in the scene, as they are from the first look at the torques on."""
        return self._arcs is not None and bool(self._arcs_on.value)

    def build(self, session: Session) -> None:
        """Make the chart and the arcs."""
        gui = session.client.gui
        gui.add_html(STYLE)
        self._chart = gui.add_html("")
        self._arcs_on = gui.add_checkbox("Arcs", True)
        self._table_on = gui.add_checkbox("Numbers", False)
        self._scale = gui.add_dropdown("Bars", SCALES, initial_value=SCALES[0])
        self._table = gui.add_html("", visible=False)
        self._arcs: tuple[DrawnTubes, DrawnTubes] | None = None
        for control in (self._arcs_on, self._table_on, self._scale):
            control.on_update(by_user(session, session.move))

    def update(self, session: Session) -> None:
        """Show the torques of the present state."""
        robot, state = session.robot, session.state
        try:
            terms = world.torque_terms(robot, state)
        except ChainruleError as error:
            self._chart.content = message(str(error))
            self._draw(session, np.zeros(robot.nv))
            return
        found = torques(robot, terms)
        self._chart.content = torque_chart(found, of_limit=self._scale.value == SCALES[1])
        self._table.visible = self._table_on.value
        if self._table_on.value:
            self._table.content = torque_table(found)
        self._draw(session, found.total)

    def _draw(self, session: Session, tau: Any) -> None:
        if not len(tau):
            return
        if self._arcs_on.value:
            marks = torque_marks(session.robot, session.state.q, tau, session.poses)
            if self._arcs is None:
                scene, count = session.client.scene, len(tau)
                self._arcs = (
                    DrawnTubes(scene, "/torques", count, POINTS),
                    DrawnTubes(scene, "/torque_tracks", count, TRACK_POINTS),
                )
            self._arcs[0].move(marks.paths, marks.radii, marks.colors)
            self._arcs[1].move(marks.tracks, marks.track_radii, np.tile(TRACK_COLOR, (len(tau), 1)))
        for tubes in self._arcs or ():
            tubes.show(self._arcs_on.value)

    def close(self) -> None:
        """Remove the arcs."""
        for tubes in self._arcs or ():
            tubes.remove()
