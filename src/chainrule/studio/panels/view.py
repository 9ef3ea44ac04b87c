"""The view: how the robot is drawn, marks on it, the ground, the camera, light and dark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.core.derived import has_moving_mass
from chainrule.shapes.parts import problems_in_words
from chainrule.shapes.skeleton import skeleton
from chainrule.studio.inputs import GuardedControl
from chainrule.studio.panels.panel import Panel
from chainrule.studio.scene import layers, marks, view, visuals

if TYPE_CHECKING:
    from chainrule.studio.session import Session

BODIES = {"Visual geometry": "visual", "From the model": "model", "Collision geometry": "collision"}

SEE_THROUGH = 0.35
"""Opacity of bodies while something inside of them is shown."""

KEYS = (("Frames", "frames", "F"), ("Centers of mass", "masses", "C"), ("Light and dark", "dark", "T"))
"""Commands with a key for some of the switches."""

INSIDE = ("frames", "axes", "masses", "ellipsoids", "boxes", "total")
"""Layers that bodies would hide."""


class ViewPanel(Panel):
    """Switches for what is seen."""

    title = "View"
    icon = "eye"

    def draws(self, session: Session) -> bool:
        """The marks and the trail follow the robot."""
        return True

    def build(self, session: Session) -> None:
        """Make the switches."""
        self._session, self._robot = session, session.robot
        self._total = layers.TotalMass(session.client.scene, session.robot, session.backdrop.place)
        self._trail = layers.Trail(session.client.scene, skeleton(session.robot).reach)
        self._marks = self._new_marks(session)
        self._shown: set[str] = set()
        self._add_controls(session)
        problems = visuals.drawing(session.robot).problems
        if problems:
            session.say(problems_in_words(problems), "warning", title="Not all meshes are there")

    def _new_marks(self, session: Session) -> dict[str, layers.Marks]:
        def make(nodes: Callable[..., list[Any]], *options: Any) -> layers.Marks:
            return layers.Marks(lambda: nodes(session.client.scene, session.drawn, session.robot, *options))

        return {
            "frames": make(layers.frame_nodes),
            "axes": make(layers.axis_nodes),
            "masses": make(layers.mass_nodes),
            "ellipsoids": make(layers.inertia_nodes, "ellipsoid"),
            "boxes": make(layers.inertia_nodes, "box"),
            "names": make(layers.name_nodes),
        }

    # --- controls ---

    def _add_controls(self, session: Session) -> None:
        gui, massless = session.client.gui, not has_moving_mass(session.robot)
        flat = not marks.inertias(session.robot)
        available = [label for label, style in BODIES.items() if style == "model" or visuals.has(session.robot, style)]
        self._bodies = gui.add_dropdown("Bodies", available, initial_value=available[0])
        self._bodies.on_update(session.guarded(lambda _: session.restyle(style=BODIES[self._bodies.value])))
        self._opacity = gui.add_slider("Opacity", 0.05, 1.0, 0.05, 1.0)
        self._opacity.on_update(session.guarded(lambda _: session.restyle(opacity=self._opacity.value)))
        boxes = {
            "frames": gui.add_checkbox("Frames", False),
            "axes": gui.add_checkbox("Joint axes", False),
            "names": gui.add_checkbox("Joint names", False),
            "masses": gui.add_checkbox("Centers of mass", False, disabled=massless),
            "ellipsoids": gui.add_checkbox("Inertia ellipsoids", False, disabled=flat),
            "boxes": gui.add_checkbox("Inertia boxes", False, disabled=flat),
            "total": gui.add_checkbox("Total center of mass", False, disabled=massless),
            "trail": gui.add_checkbox("Trail of the tip", False),
            "ground": gui.add_checkbox("Ground", True),
            "shadow": gui.add_checkbox("Shadow", True),
            "dark": gui.add_checkbox("Dark", session.dark),
        }
        self._switches = {name: GuardedControl(session, box, self._switch) for name, box in boxes.items()}
        camera = gui.add_button_group("Camera", tuple(view.VIEWS))
        camera.on_click(session.guarded(lambda _: session.look(session.seen_from(camera.value))))
        self._keys = [self._add_key(label, name, key) for label, name, key in KEYS]
        reset = gui.add_command("First view", description="Look at the robot as at first", hotkey="V")
        reset.on_trigger(session.guarded(lambda _: session.look(session.seen_from("Reset"))))
        self._keys.append(reset)
        hide = gui.add_button("Presentation", icon="presentation", hint="The robot alone, in large type (key M).")
        hide.on_click(session.guarded(lambda _: session.present(True)))
        present = gui.add_command("Presentation", description="Hide or show the panels", hotkey="M")
        present.on_trigger(session.guarded(lambda _: session.present(not session.is_presenting)))
        self._keys.append(present)

    def _add_key(self, label: str, name: str, key: str) -> Any:
        """A command that turns a switch."""
        switch = self._switches[name]

        def turn(_: Any) -> None:
            with self._session.drawing:
                switch.value = not switch.value
                self._switch()

        command = self._session.client.gui.add_command(label, description="Show or hide", hotkey=key)
        command.on_trigger(self._session.guarded(turn))
        return command

    def _switch(self) -> None:
        """Show and hide as the switches say."""
        session = self._session
        with session.drawing, session.client.atomic():
            shown = {name for name, switch in self._switches.items() if switch.value}
            for name, layer in self._marks.items():
                layer.show(name in shown)
            self._total.visible = "total" in shown
            self._trail.visible = "trail" in shown
            if not self._trail.visible:
                self._trail.clear()
            was, now = bool(self._shown & set(INSIDE)), bool(shown & set(INSIDE))
            self._shown = shown
            if was != now:
                self._opacity.value = SEE_THROUGH if now else 1.0
                session.restyle(opacity=self._opacity.value)
            if session.dark != ("dark" in shown):
                session.theme(dark="dark" in shown)
            self._show_backdrop()
        session.move()

    def _show_backdrop(self) -> None:
        on = {name: switch.value for name, switch in self._switches.items()}
        self._session.backdrop.show(ground=on["ground"], shadow=on["shadow"], dark=self._session.dark)

    # --- the state ---

    def update(self, session: Session) -> None:
        """Move what is not fixed to links; the robot itself is moved by the session."""
        if session.robot is not self._robot:
            self._robot = session.robot
            for name in ("masses", "ellipsoids", "boxes"):
                self._marks[name].rebuild()
        if session.dark != self._switches["dark"].value:
            self._switches["dark"].show(session.dark)
            self._show_backdrop()
        if self._total.visible:
            self._total.move(np.asarray(session.robot.center_of_mass(session.state.q)))
        if self._trail.visible:
            self._trail.follow(np.asarray(session.robot.pose(session.state.q, session.tip))[:3, 3])

    def close(self) -> None:
        """Remove what was added to the scene."""
        for layer in self._marks.values():
            layer.remove()
        for key in self._keys:
            key.remove()
        self._trail.clear()
        self._total.remove()
