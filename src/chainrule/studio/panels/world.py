"""Gravity, a payload and friction, changed while the robot is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.core.derived import has_moving_mass
from chainrule.errors import ChainruleError
from chainrule.shapes.skeleton import skeleton
from chainrule.shapes.surfaces import ball
from chainrule.studio import world
from chainrule.studio.charts.style import STYLE, in_frame, number
from chainrule.studio.charts.torque_bars import round_up
from chainrule.studio.panels.panel import Panel, by_user
from chainrule.studio.postures import default_tip
from chainrule.studio.scene.loads import payload_radius
from chainrule.studio.scene.nodes import add_surface
from chainrule.studio.scene.tubes import DrawnTubes

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session

GRAVITY_COLOR = np.array([[70, 84, 108]], dtype=np.uint8)
PAYLOAD_COLOR = (120, 92, 58)
LENGTH_OF_G = 0.3
"""The length of 9.81 m/s^2 as it is drawn, as a part of the robot's reach."""


class WorldPanel(Panel):
    """The world in which the robot stands."""

    title = "Gravity, payload, friction"
    tab = "Dynamics"
    open = False

    def suits(self, robot: Robot) -> bool:
        """Whether there are masses for gravity to pull at."""
        return has_moving_mass(robot)

    def draws(self, session: Session) -> bool:
        """Whether gravity or a payload is in the scene."""
        return self._arrow is not None or bool(session.state.parameters)

    def build(self, session: Session) -> None:
        """Make the controls."""
        gui, robot = session.client.gui, session.robot
        self._arrow: DrawnTubes | None = None
        self._ball: Any = None
        self._own = float(np.linalg.norm(robot.gravity))
        gui.add_html(STYLE)
        planets = gui.add_button_group("Gravity of", tuple(world.PLANETS))
        self._size = gui.add_slider("Size m/s²", 0.0, 25.0, step=0.01, initial_value=min(self._own, 25.0))
        self._tilt = gui.add_slider("Tilt °", 0.0, 180.0, step=1.0, initial_value=0.0)
        self._heading = gui.add_slider("Towards °", -180.0, 180.0, step=1.0, initial_value=0.0)
        most = round_up(max(0.5 * robot.mass, 0.01))
        self._mass = gui.add_slider("Payload kg", 0.0, most, step=most / 500, initial_value=0.0)
        self._place = gui.add_vector3("Its place (m)", (0.0, 0.0, 0.0), step=0.01)
        self._dry = gui.add_slider("Dry friction, times", 0.0, 5.0, step=0.05, initial_value=1.0)
        self._viscous = gui.add_slider("Viscous, times", 0.0, 5.0, step=0.05, initial_value=1.0)
        self._damping = gui.add_slider("Added damping", 0.0, 5.0, step=0.01, initial_value=0.0)
        scales = world.can_scale_friction(robot)
        self._dry.disabled = self._viscous.disabled = not (scales and world.has_friction(robot))
        self._damping.disabled = not scales
        reset = gui.add_button("As the robot has it")
        self._note = gui.add_html("")
        controls: tuple[Any, ...] = (self._size, self._tilt, self._heading, self._mass, self._place)
        for control in (*controls, self._dry, self._viscous, self._damping):
            control.on_update(by_user(session, lambda: self._follow(session)))
        planets.on_click(session.guarded(lambda event: self._go_to(session, event.target.value)))
        reset.on_click(session.guarded(lambda _: self._reset(session)))

    def _go_to(self, session: Session, planet: str) -> None:
        self._size.value = world.PLANETS[planet]
        self._follow(session)

    def _reset(self, session: Session) -> None:
        for control, value in (
            (self._size, self._own), (self._tilt, 0.0), (self._heading, 0.0), (self._mass, 0.0),
            (self._place, (0.0, 0.0, 0.0)), (self._dry, 1.0), (self._viscous, 1.0), (self._damping, 0.0),
        ):  # fmt: skip
            control.value = value
        self._follow(session)

    def _is_own(self) -> bool:
        """Whether the controls are at the robot's own world."""
        factors = self._dry.value == 1 and self._viscous.value == 1 and self._damping.value == 0
        return bool(factors and self._size.value == self._own and self._tilt.value == 0 and self._mass.value == 0)

    def _follow(self, session: Session) -> None:
        robot = session.robot
        if self._is_own():
            session.move(parameters={}, by=self)
            return
        world.prepare(robot)
        angles = np.radians([self._tilt.value, self._heading.value])
        changed = world.Conditions(
            world.gravity_vector(robot, self._size.value, *angles),
            default_tip(robot),
            self._mass.value,
            self._place.value,
            self._dry.value,
            self._viscous.value,
            self._damping.value,
        )
        session.move(parameters=changed.parameters(robot), by=self)

    def update(self, session: Session) -> None:
        """Draw the direction of gravity and the payload, and say what they are."""
        robot, state = session.robot, session.state
        carrier = default_tip(robot)
        gravity = state.parameters.get("gravity", robot.gravity)
        body = state.parameters.get(f"{carrier}.payload", np.zeros(10))
        self._draw_gravity(session, np.asarray(gravity), bool(state.parameters))
        self._draw_payload(session, carrier, np.asarray(body))
        lines = [f"gravity ({', '.join(number(float(x)) for x in gravity)}) m/s²"]
        if state.parameters:
            lines.append(f"payload {number(float(body[0]))} kg")
        try:
            most = float(robot.analysis.payload(state.q, carrier))
            lines.append(f"at rest, its motors hold at most {number(most)} kg in this posture on its own gravity")
        except ChainruleError:
            pass
        self._note.content = in_frame("".join(f'<div class="dim">{line}</div>' for line in lines))

    def _draw_gravity(self, session: Session, gravity: Any, visible: bool) -> None:
        if self._arrow is None:
            if not visible:
                return
            self._arrow = DrawnTubes(session.client.scene, "/gravity", 1, 2)
        reach = skeleton(session.robot).reach
        start = session.poses[0, :3, 3] + reach * np.array([-0.45, 0.45, 0.75])
        path = np.stack([start, start + LENGTH_OF_G * reach / 9.81 * gravity])
        self._arrow.move(path[None], np.array([0.012 * reach]), GRAVITY_COLOR)
        self._arrow.show(visible)

    def _draw_payload(self, session: Session, carrier: str, body: Any) -> None:
        if body[0] <= 0:
            if self._ball is not None:
                self._ball.visible = False
            return
        if self._ball is None:
            scene = session.client.scene
            self._ball = add_surface(scene, "/payload", ball(np.zeros(3)), PAYLOAD_COLOR, opacity=0.85)
        T = np.asarray(session.robot.pose(session.state.q, carrier))
        self._ball.position = T[:3, :3] @ body[1:4] + T[:3, 3]
        self._ball.scale = payload_radius(float(body[0]))
        self._ball.visible = True

    def close(self) -> None:
        """Remove the arrow and the payload."""
        if self._arrow is not None:
            self._arrow.remove()
        if self._ball is not None:
            self._ball.remove()
