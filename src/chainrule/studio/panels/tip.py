"""The end-effector: a gizmo that drags it, and inverse kinematics that follows."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.shapes.skeleton import skeleton
from chainrule.studio.charts.style import STYLE, message
from chainrule.studio.panels.panel import Panel
from chainrule.studio.reaching import TASKS, Reaching, natural_task
from chainrule.studio.scene.nodes import quaternions

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session

GIZMO_SIZE = 0.16
"""Length of the gizmo's arrows, as a part of the robot's reach."""

AMBER = "#e69f00"
"""The edge of a line that says why the robot does not follow."""

FOLLOWS = "Drag the arrows at the tip: the robot follows."


class TipPanel(Panel):
    """A gizmo on a link or frame; the robot follows it while it is dragged."""

    title = "End-effector"
    tab = "Move"

    def suits(self, robot: Robot) -> bool:
        """Whether anything moves."""
        return robot.nv > 0

    def draws(self, session: Session) -> bool:
        """Whether the gizmo is in the scene."""
        return bool(self._on.value)

    def build(self, session: Session) -> None:
        """Make the gizmo and its controls."""
        self._session, robot, gui = session, session.robot, session.client.gui
        self._lock = threading.Lock()
        self._is_dragged, self._last = False, np.empty(0)
        self._gizmo: Any = None
        gui.add_html(STYLE)
        self._on = gui.add_checkbox("Drag the tip", True, hint="Hotkey G")
        self._on.on_update(session.guarded(lambda _: self._switch()))
        names = (*robot.link_names[1:], *(frame.name for frame in robot.model.frames)) or robot.link_names
        self._link = gui.add_dropdown("Link", names, initial_value=session.tip)
        self._link.on_update(session.guarded(lambda _: self._choose()))
        natural = natural_task(robot, session.tip)
        first = next(label for label, task in TASKS.items() if task == natural)
        self._task = gui.add_dropdown("Follow", tuple(TASKS), initial_value=first)
        self._task.on_update(session.guarded(lambda _: self._choose()))
        self._hold = gui.add_checkbox("Hold the base", True, visible=self._has_loose_base())
        self._hold.on_update(session.guarded(lambda _: self._choose()))
        self._line = gui.add_html(message(FOLLOWS))
        self._key = gui.add_command("Drag the tip", description="Show or hide the gizmo at the tip", hotkey="G")
        self._key.on_trigger(session.guarded(lambda _: self._toggle()))
        self._choose()

    def _has_loose_base(self) -> bool:
        return any(body.joint.kind.nv in (3, 6) and body.parent == 0 for body in self._session.robot.model.bodies)

    def _choose(self) -> None:
        """Put the gizmo on the link that is chosen, with the arrows and rings of the task."""
        session, scene = self._session, self._session.client.scene
        task = TASKS[self._task.value]
        session.tip = self._link.value
        with self._lock:
            self._reaching = Reaching(session.robot, session.tip, hold_base=self._hold.value)
            self._is_dragged, self._last = False, np.empty(0)
            if self._gizmo is not None:
                self._gizmo.remove()
            T = self._tip()
            self._gizmo = scene.add_transform_controls(
                "/gizmo",
                scale=GIZMO_SIZE * skeleton(session.robot).reach,
                line_width=3.0,
                depth_test=False,
                opacity=0.9,
                disable_axes=task == "orientation",
                disable_sliders=task == "orientation",
                disable_rotations=task == "position",
                position=T[:3, 3],
                wxyz=quaternions(T[:3, :3]),
                visible=self._on.value,
            )
            self._gizmo.on_update(session.guarded(self._drag))
        self._line.content = message(FOLLOWS)

    def _tip(self) -> Array:
        return np.asarray(self._session.robot.pose(self._session.state.q, self._session.tip))

    def _switch(self) -> None:
        self._gizmo.visible = self._on.value

    def _toggle(self) -> None:
        self._on.value = not self._on.value
        self._switch()

    # --- dragging ---

    def _drag(self, event: Any) -> None:
        """Follow the gizmo. Calls come from several threads: each takes the newest target, and one solves it."""
        if event.phase == "end":
            self._is_dragged = False
            self._session.move(by=self)
            return
        with self._lock:
            self._is_dragged = True
            target = np.concatenate([self._gizmo.position, self._gizmo.wxyz])
            if np.array_equal(target, self._last):
                return
            self._last = target
            session = self._session
            found = self._reaching.reach(session.state.q, _pose(target), TASKS[self._task.value])
            session.move(found.q, np.zeros(session.robot.nv), np.zeros(session.robot.nv), by=self)
        self._line.content = message(found.message, AMBER) if found.message else message(FOLLOWS)

    def update(self, session: Session) -> None:
        """Keep the gizmo at the tip, unless it is being dragged."""
        with self._lock:
            if session.robot is not self._reaching.robot:
                self._reaching = Reaching(session.robot, session.tip, hold_base=self._hold.value)
            self._gizmo.visible = self._on.value and not session.is_presenting
            if not self._is_dragged and self._on.value:
                T = self._tip()
                self._gizmo.position = T[:3, 3]
                self._gizmo.wxyz = quaternions(T[:3, :3])

    def close(self) -> None:
        """Remove gizmo and command."""
        self._gizmo.remove()
        self._key.remove()


def _pose(numbers: Array) -> Array:
    """The pose (4, 4) of a position and a quaternion (w, x, y, z)."""
    from scipy.spatial.transform import Rotation

    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(numbers[3:], scalar_first=True).as_matrix()
    T[:3, 3] = numbers[:3]
    return T
