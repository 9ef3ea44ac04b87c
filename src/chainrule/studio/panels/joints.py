"""Sliders for every degree of freedom, and named configurations."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ModelError
from chainrule.studio.charts.style import STYLE, message
from chainrule.studio.controls import Control, controls, followers, move_control, shown_value
from chainrule.studio.inputs import GuardedControl
from chainrule.studio.panels.panel import Panel

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session

OWN = ("home", "neutral")
"""Configurations that every robot has."""


class JointsPanel(Panel):
    """A slider for each degree of freedom, within its limits, and configurations to choose from."""

    title = "Joints"
    tab = "Move"
    icon = "adjustments-horizontal"
    rate = 30.0

    def suits(self, robot: Robot) -> bool:
        """Whether anything moves."""
        return robot.nv > 0

    def build(self, session: Session) -> None:
        """Make the choice of configurations and the sliders."""
        self._session, gui = session, session.client.gui
        self._lock = threading.Lock()
        gui.add_html(STYLE)
        self._choice = gui.add_dropdown("Configuration", self._names(), initial_value="home")
        self._choice.on_update(session.guarded(lambda _: self._take(self._choice.value)))
        buttons = gui.add_button_group("Go to", ("Home", "Random"))
        buttons.on_click(session.guarded(lambda _: self._take(buttons.value.lower())))
        self._unit = gui.add_button_group("Angles in", ("degrees", "radians"))
        self._unit.on_click(session.guarded(lambda _: self._set_unit(self._unit.value == "degrees")))
        self._folder = gui.add_folder("Positions in degrees")
        self._sliders: list[tuple[Control, GuardedControl]] = []
        self._add_sliders(degrees=True)
        self._home = gui.add_command("Home", description="Move the robot to its home configuration", hotkey="H")
        self._home.on_trigger(session.guarded(lambda _: self._take("home")))
        with gui.add_folder("Keep this configuration", expand_by_default=False):
            name = gui.add_text("Name", "")
            keep = gui.add_button("Keep")
            keep.on_click(session.guarded(lambda _: self._keep(name.value)))

    # --- configurations ---

    def _names(self) -> tuple[str, ...]:
        return (*OWN, *(name for name in self._session.robot.configurations if name not in OWN))

    def _take(self, name: str) -> None:
        """Move to a configuration, and stop there."""
        robot = self._session.robot
        makers = {"home": robot.home, "neutral": robot.neutral, "random": robot.random_state}
        q = makers[name]() if name in makers else robot.configurations[name]
        self._session.move(robot.loops.close(q), np.zeros(robot.nv), np.zeros(robot.nv))

    def _keep(self, name: str) -> None:
        """Give the present configuration a name."""
        session = self._session
        if not name.strip():
            raise ModelError("a configuration needs a name: write one into the field above the button")
        session.revise(session.robot.edit(configurations={name.strip(): session.state.q}))
        self._choice.options = self._names()
        self._choice.value = name.strip()
        session.say(f"The configuration {name.strip()!r} is kept while this page is open.")

    # --- sliders ---

    def _set_unit(self, degrees: bool) -> None:
        with self._lock:
            for _, slider in self._sliders:
                slider.control.remove()
            self._folder.label = f"Positions in {'degrees' if degrees else 'radians'}"
            self._add_sliders(degrees)

    def _add_sliders(self, degrees: bool) -> None:
        robot, gui, q = self._session.robot, self._session.client.gui, self._session.state.q
        every = controls(robot, degrees=degrees)
        driven = [control for control in every if not control.passive] or list(every)
        rest = [control for control in every if control not in driven]
        self._sliders = []
        with self._folder:
            for control in [*driven, *rest]:
                hint = f"{control.lower:g} to {control.upper:g} {control.unit}"
                hint += ", which nothing drives" if control.passive else ""
                slider = gui.add_slider(
                    control.label, control.lower, control.upper, control.step, shown_value(control, q), hint=hint
                )
                follow = partial(self._follow, len(self._sliders))
                self._sliders.append((control, GuardedControl(self._session, slider, follow)))
        self._tell_followers()

    def _tell_followers(self) -> None:
        if (follows := followers(self._session.robot)) and not hasattr(self, "_followers"):
            lines = [f"{joint} follows {leader}" for joint, leader in follows]
            with self._folder:
                self._followers = self._session.client.gui.add_html(message("; ".join(lines)))

    def _follow(self, place: int) -> None:
        """Move the coordinate of one slider; where loops cannot close, say so and put the slider back."""
        session = self._session
        with self._lock:
            if place >= len(self._sliders):
                return
            control, slider = self._sliders[place]
            q = session.state.q
            try:
                new = move_control(session.robot, q, control, slider.value, self._angles(control))
            except ModelError as error:
                slider.value = shown_value(control, q)
                session.complain("joints", str(error))
                return
            session.move(new, by=self)
            if session.robot.model.constraints:
                self._show(new, but=place)

    def _angles(self, control: Control) -> list[float]:
        """Roll, pitch and yaw as the sliders of a joint show them, in rad."""
        if control.angle is None:
            return []
        mine = [(c, s) for c, s in self._sliders if c.index == control.index and c.angle is not None]
        return [float(np.radians(s.value) if c.unit == "°" else s.value) for c, s in mine]

    def _show(self, q: Array, but: int | None = None) -> None:
        for k, (control, slider) in enumerate(self._sliders):
            if k != but:
                slider.show(shown_value(control, q))

    def update(self, session: Session) -> None:
        """Set the sliders, unless it was only them that moved the robot: one of them may be under the user's hand."""
        if session.movers <= {self}:
            return
        with self._lock:
            self._show(session.state.q)

    def close(self) -> None:
        """Remove the command; sliders are remove_control with their tab."""
        self._home.remove()
