"""Sliders for every coordinate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.studio.panels.panel import Panel

if TYPE_CHECKING:
    from chainrule.studio.session import Session


class Joints(Panel):
    """A slider for each coordinate, within its limits."""

    title = "Joints"
    icon = "adjustments-horizontal"
    rate = 30.0

    def build(self, session: Session) -> None:
        """Make the sliders."""
        gui, self.sliders = session.client.gui, list[Any]()
        home = gui.add_button("Home")
        home.on_click(session.guarded(lambda _: session.move(session.robot.home(), np.zeros(session.robot.nv))))
        for coordinate, value in zip(session.robot.layout.coordinates, session.state.q, strict=True):
            low, high = max(float(coordinate.lower), -np.pi), min(float(coordinate.upper), np.pi)
            slider = gui.add_slider(coordinate.name, low, high, 1e-3, float(np.clip(value, low, high)))
            slider.on_update(session.guarded(lambda _: self._follow(session)))
            self.sliders.append(slider)

    def _follow(self, session: Session) -> None:
        session.move([slider.value for slider in self.sliders], by=self)

    def update(self, session: Session) -> None:
        """Set the sliders, unless they are what moved the robot."""
        if self not in session.movers:
            for slider, value in zip(self.sliders, session.state.q, strict=True):
                slider.value = float(value)
