"""A wrench on any link: dragged as an arrow in the scene, or typed."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.shapes.skeleton import skeleton
from chainrule.studio import world
from chainrule.studio.inputs import GuardedControl
from chainrule.studio.panels.panel import Panel, by_user
from chainrule.studio.postures import default_tip
from chainrule.studio.scene.loads import ARC_POINTS, first_push, force_paths, meters_per_newton, moment_paths
from chainrule.studio.scene.tubes import DrawnTubes

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session

COLOR = np.array([[214, 40, 60]], dtype=np.uint8)
HOLD = 0.4
"""Seconds after the last drag during which the handle is left where the user holds it."""


class PushPanel(Panel):
    """Forces and moments that the world applies to links, in world axes at the origins of their frames."""

    title = "Push a link"
    tab = "Dynamics"
    open = False

    def suits(self, robot: Robot) -> bool:
        """Whether there is a link that could be pushed."""
        return len(robot.link_names) > 1

    def draws(self, session: Session) -> bool:
        """Whether arrows are in the scene."""
        return self._tubes is not None or bool(session.state.wrenches)

    def build(self, session: Session) -> None:
        """Make the controls; the arrow appears when it is asked for."""
        gui, robot = session.client.gui, session.robot
        self._tubes: tuple[DrawnTubes, DrawnTubes] | None = None
        self._dragged = -np.inf
        names = robot.link_names[1:]
        first = robot.model.links[robot.model.locate(default_tip(robot))[0]].name
        self._link = gui.add_dropdown("Pushed link", names, initial_value=first if first in names else names[0])
        self._on = gui.add_checkbox("Arrow to drag", False)
        force = gui.add_vector3("Force (N)", (0.0, 0.0, 0.0), step=1.0)
        moment = gui.add_vector3("Moment (N m)", (0.0, 0.0, 0.0), step=0.1)
        self._force, self._moment = (GuardedControl(session, c, lambda: self._apply(session)) for c in (force, moment))
        off = gui.add_button("Let go of all links")
        self._gizmo = session.client.scene.add_transform_controls(
            "/push", scale=0.16 * skeleton(robot).reach, disable_rotations=True, depth_test=False, visible=False
        )
        self._link.on_update(by_user(session, lambda: self._choose(session)))
        self._on.on_update(by_user(session, lambda: self._switch(session)))
        self._gizmo.on_update(session.guarded(lambda _: self._drag(session)))
        off.on_click(session.guarded(lambda _: session.move(wrenches={})))

    def _origin(self, session: Session) -> Array:
        return np.asarray(session.poses[session.robot.link_names.index(self._link.value), :3, 3])

    def _switch(self, session: Session) -> None:
        """Show the handle, at the tip of a first push where the link has none: away from the link's origin."""
        robot = session.robot
        if self._on.value and self._link.value not in session.state.wrenches:
            self._force.value = tuple(map(float, first_push(robot)))
            self._apply(session)
        session.move()

    def _choose(self, session: Session) -> None:
        """Show the wrench of another link."""
        wrench = session.state.wrenches.get(self._link.value, np.zeros(6))
        self._force.value, self._moment.value = tuple(map(float, wrench[3:])), tuple(map(float, wrench[:3]))
        session.move()

    def _drag(self, session: Session) -> None:
        self._dragged = monotonic()
        force = (np.asarray(self._gizmo.position) - self._origin(session)) / meters_per_newton(session.robot)
        self._force.value = tuple(float(x) for x in force)
        self._apply(session)

    def _apply(self, session: Session) -> None:
        """Put the wrench of the controls on the link; a wrench of zeros takes it away."""
        world.prepare(session.robot)
        wrench = np.array([*self._moment.value, *self._force.value], dtype=float)
        others = {name: w for name, w in session.state.wrenches.items() if name != self._link.value}
        wrenches = {**others, self._link.value: wrench} if wrench.any() else others
        session.move(wrenches=wrenches, by=self)

    def update(self, session: Session) -> None:
        """Draw all wrenches, and put the handle at the tip of the chosen one."""
        robot, wrenches = session.robot, session.state.wrenches
        if self._tubes is None and wrenches:
            count = len(robot.link_names)
            scene = session.client.scene
            self._tubes = DrawnTubes(scene, "/forces", count, 2), DrawnTubes(scene, "/moments", count, ARC_POINTS)
        if self._tubes is not None:
            radii = np.full(len(robot.link_names), 0.011 * skeleton(robot).reach)
            colors = np.repeat(COLOR, len(radii), axis=0)
            for tubes, paths in zip(self._tubes, (force_paths, moment_paths), strict=True):
                tubes.move(paths(robot, wrenches, session.poses), radii, colors)
        held = monotonic() - self._dragged < HOLD
        wrench = wrenches.get(self._link.value, np.zeros(6))
        if self not in session.movers and not held:
            self._force.show(tuple(map(float, wrench[3:])))
            self._moment.show(tuple(map(float, wrench[:3])))
        self._gizmo.visible = bool(self._on.value)
        if self._gizmo.visible and not held:
            self._gizmo.position = self._origin(session) + meters_per_newton(robot) * wrench[3:]

    def close(self) -> None:
        """Remove handle and arrows."""
        self._gizmo.remove()
        for tubes in self._tubes or ():
            tubes.remove()
