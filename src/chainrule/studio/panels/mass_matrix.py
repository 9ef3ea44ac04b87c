"""The mass matrix as a heat map with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.errors import ChainruleError
from chainrule.studio import world
from chainrule.studio.charts.heat_map import COLORINGS, entry_units, heat_map
from chainrule.studio.charts.style import STYLE, in_frame, message, number
from chainrule.studio.panels.panel import Panel, by_user

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session


class MassMatrixPanel(Panel):
    """M(q): the inertia that each joint feels of itself and of the others."""

    title = "Mass matrix"
    tab = "Dynamics"
    open = False
    rate = 30.0

    def suits(self, robot: Robot) -> bool:
        """Whether anything moves."""
        return robot.nv > 0

    def build(self, session: Session) -> None:
        """Make the map."""
        gui = session.client.gui
        gui.add_html(STYLE)
        self._map = gui.add_html("")
        self._note = gui.add_html("")
        self._by = gui.add_dropdown("Color by", COLORINGS, initial_value=COLORINGS[0])
        self._by.on_update(by_user(session, session.move))
        units = dict.fromkeys(unit for row in entry_units(session.robot) for unit in row)
        self._units = ", ".join(units)

    def update(self, session: Session) -> None:
        """Show the matrix of the present state."""
        try:
            M = world.mass_matrix(session.robot, session.state)
        except ChainruleError as error:
            self._map.content, self._note.content = message(str(error)), ""
            return
        self._map.content = heat_map(session.robot.velocity_names, M, self._by.value)
        values = np.linalg.eigvalsh(M) if len(M) else np.zeros(0)
        if len(values):
            ends = f"{number(float(values[0]))} to {number(float(values[-1]))}"
            self._note.content = in_frame(f'<span class="dim">{self._units}; eigenvalues {ends}</span>')
