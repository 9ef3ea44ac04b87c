"""A session: one tab of the page, with its robot, its state and its panels.

Everything that a tab shows lives in `client.scene` and `client.gui`, never in the server's shared scene: tabs are
independent, and viser frees what they use with the client.

    session.move(q)          a new state; every panel's `update` follows, on the session's own thread
    session.say("...")       a notification on the page
    session.guarded(f)       a callback whose errors become messages on the page
    session.show(robot)      another robot: panels are closed and built again
    session.revise(robot)    the same robot with other numbers: the state stays, panels are updated
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.reading import find_link, read_argument
from chainrule.errors import ChainruleError, ModelError
from chainrule.robot.robot import Robot
from chainrule.studio.charts.style import message
from chainrule.studio.page import is_gone, wait_until_sent
from chainrule.studio.postures import default_tip, first_posture
from chainrule.studio.scene import appearance
from chainrule.studio.scene.robot import DrawnRobot
from chainrule.studio.scene.view import Camera, point_camera
from chainrule.studio.uploads import Uploads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from viser import ClientHandle

LOG = logging.getLogger("chainrule.studio")

KINDS = {"info": None, "warning": "yellow", "error": "red"}
"""Kinds of notifications, and the color of each."""

SECONDS_SHOWN = {"info": 5.0, "warning": 8.0, "error": 20.0}
"""How long a notification stays: long enough to be read, not so long that several of them hide the robot."""

SECONDS_BETWEEN_COMPLAINTS = 6.0

PANEL_WIDTH = 340.0
"""Width of the control panel, in pixels: the robot keeps most of a page of 1280."""


@dataclass(frozen=True, eq=False)
class SessionState:
    """The state that a tab shows: one immutable record, so that a reader never sees half of a new one."""

    q: Array
    """(nq,), in rad and m."""
    qd: Array
    """(nv,)."""
    qdd: Array
    """(nv,)."""
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    """Wrenches that the world applies to links, by name: (6,), moment (N m) and force (N) in world axes, at the
    origin of the link's frame. Methods of Robot take them so."""
    time: float = 0.0
    """In s; 0 where nothing is simulated or replayed."""
    parameters: Mapping[str, Array] = field(default_factory=dict)
    """Numbers of the robot in place of its own (gravity, payload, friction), as its methods take them: {} for none.
    Nothing is compiled anew when they change."""

    @staticmethod
    def at_rest(robot: Robot, q: ArrayLike | None = None) -> SessionState:
        """The state of a robot that does not move, at home unless another configuration is given."""
        return SessionState(
            np.array(robot.home() if q is None else q, dtype=float), np.zeros(robot.nv), np.zeros(robot.nv)
        )


@dataclass
class _Mounted:
    """A panel on the page, and when it is drawn again."""

    panel: Any  # a Panel of studio/panels/panel.py, which imports this file
    stale: bool = True
    due: float = 0.0
    complaint: str = ""
    movers: set[object] = field(default_factory=set)


class Session:
    """One tab of the page."""

    def __init__(
        self, client: ClientHandle, robot: Robot, panels: Sequence[Callable[[], Any]], *, is_local: bool = True
    ) -> None:
        """A session with panels of these classes: PANELS of studio/panels, or some of them.

        is_local: whether whoever uses the page owns the machine, and may open files by their paths.
        """
        self.client = client
        self.is_local = is_local
        self.uploads = Uploads()
        self.robot = robot
        self.state: SessionState
        self.tip: str
        """The link or frame that is dragged and leaves a trail: the end-effector, until the user chooses another."""
        self.movers: frozenset[object] = frozenset()
        """During `update`: the `by` of all calls of `move` since the panel's last update; None where none was given."""
        self.dark = False
        self.drawn: DrawnRobot
        """The robot in the scene: its links' nodes, to hang things on; `highlight` makes links stand out."""
        self._kinds = list(panels)
        self._mounted: list[_Mounted] = []
        self._tabs: Any = None
        self._changed = threading.Condition()
        self.drawing = threading.RLock()
        """Held while panels are built, updated and closed; callbacks that change nodes which `update` moves hold it."""
        self._complaints: dict[str, tuple[str, float]] = {}
        self._closed = False
        self._up: Array | None = None
        self._poses: tuple[Array, Robot, Array] | None = None
        self._thread = threading.Thread(target=self._redraw_forever, name="chainrule studio session", daemon=True)
        self.client.gui.set_panel_label("chainrule studio")
        self.client.gui.main_panel.dock_right()
        self.client.gui.main_panel.set_width(PANEL_WIDTH)
        self.theme(dark=False)
        self.show(robot)
        self._thread.start()

    # --- the robot ---

    def show(self, robot: Robot) -> None:
        """Show another robot, at home: every panel is closed and built again."""
        state = SessionState.at_rest(robot, first_posture(robot))
        with self.drawing:
            if self._closed:
                return
            if self._tabs is not None:
                self._unmount()
                wait_until_sent(self.client)
            with self._changed:
                self.robot, self.state, self.tip = robot, state, default_tip(robot)
            with self.client.atomic():
                self.drawn = DrawnRobot(self.client.scene, robot)
                self.drawn.move(self.poses)
                self._mount()
        self._wake()

    def restyle(self, *, style: str | None = None, opacity: float | None = None) -> None:
        """Draw the robot as one of the STYLES of scene/visuals.py says, or with another opacity."""
        with self.drawing, self.client.atomic():
            if opacity is not None:
                self.drawn.opacity = opacity
            if style is not None:
                self.drawn.restyle(style)

    def revise(self, robot: Robot) -> None:
        """Show the same robot with other numbers (gravity, payload, friction): the state stays, panels are updated.

        Links and coordinates must be those of the robot shown. Panels read `session.robot` in each `update`.
        """
        if (robot.link_names, robot.coordinate_names) != (self.robot.link_names, self.robot.coordinate_names):
            raise ModelError("the links or coordinates differ from those of the robot shown; show it as another robot")
        with self._changed:
            self.robot = robot
        self.move()

    # --- the state ---

    @property
    def poses(self) -> Array:
        """Poses of all links in the base frame, (links, 4, 4), at the present state; computed once for all panels."""
        state, robot, kept = self.state, self.robot, self._poses
        if kept is None or kept[0] is not state.q or kept[1] is not robot:
            kept = self._poses = (state.q, robot, np.asarray(robot.poses(state.q)))
        return kept[2]

    def move(
        self,
        q: ArrayLike | None = None,
        qd: ArrayLike | None = None,
        qdd: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        *,
        time: float | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        by: object = None,
    ) -> None:
        """Change the state, from any thread; what is not given stays. The page follows soon, at most 60 times a second.

        q, qd, qdd: numbers of the robot's own lengths, or by name as the robot's methods take them. A new q alone does
        not stop a motion: pass qd as well. wrenches, parameters: all of them, {} for none. by: whoever moves, which
        finds itself in `session.movers` during `update`, and need not set the controls that the user is holding.
        """
        given = {"q": q, "qd": qd, "qdd": qdd}
        new: dict[str, Any] = {
            name: np.array(read_argument(self.robot, "move", name, value), dtype=float)
            for name, value in given.items()
            if value is not None
        }
        if wrenches is not None:
            new["wrenches"] = {find_link(self.robot, name): np.array(w, dtype=float) for name, w in wrenches.items()}
        if time is not None:
            new["time"] = float(time)
        if parameters is not None:
            new["parameters"] = {name: np.array(numbers, dtype=float) for name, numbers in parameters.items()}
        for name, array in new.items():
            if name in given and array.ndim != 1:
                raise ModelError(f"move: {name} must be one state, got shape {array.shape}")
        with self._changed:
            self.state = replace(self.state, **new)
            for mounted in self._mounted:
                mounted.movers.add(by)
        self._wake()

    # --- messages ---

    def say(self, message: str, kind: str = "info", title: str | None = None) -> None:
        """Show a notification on the page; kind: "info", "warning" or "error"."""
        title = {"info": "Note", "warning": "Take care", "error": "That did not work"}[kind] if title is None else title
        self.client.add_notification(title, message, color=KINDS[kind], auto_close_seconds=SECONDS_SHOWN[kind])

    def complain(self, topic: str, message: str) -> None:
        """Show a warning; the same one about a topic only once in a few seconds, since sliders move often."""
        now = monotonic()
        last, when = self._complaints.get(topic, ("", -np.inf))
        if message != last or now - when > SECONDS_BETWEEN_COMPLAINTS:
            self._complaints[topic] = (message, now)
            self.say(message, "warning")

    def guarded(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        """A callback whose errors become messages on the page: the library's own as they are, others a sentence.

        It is called for what the user does, not where this program assigns to a control's value.
        """

        @wraps(callback)
        def call(*arguments: Any) -> Any:
            if arguments and getattr(arguments[0], "client", self) is None:
                return None
            try:
                return callback(*arguments)
            except Exception as error:  # the page must stay alive whatever happens
                if not self._closed:
                    self.say(self._explain(error), "error")
                return None

        return call

    def _explain(self, error: Exception) -> str:
        if isinstance(error, ChainruleError):
            return str(error)
        LOG.error("an error in the studio", exc_info=error)
        return f"This is an error in the studio itself ({type(error).__name__}); the terminal has the details."

    # --- appearance ---

    def theme(self, *, dark: bool) -> None:
        """Set the light or the dark appearance of the page; panels are updated and can read `session.dark`."""
        self.dark = dark
        self.client.gui.configure_theme(
            dark_mode=dark,
            show_logo=False,
            show_share_button=False,
            control_width="medium",
            brand_color=appearance.BRAND,
        )
        self._wake()

    def look(self, camera: Camera) -> None:
        """Point the camera of the tab."""
        turned = self._up is None or not np.allclose(self._up, camera.up)
        self._up = camera.up
        with self.client.atomic():
            point_camera(self.client, camera, turned=turned)

    # --- the end ---

    def close(self) -> None:
        """End the thread and close every panel. The client may be gone already."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)
        with self.drawing:
            self._unmount()
        self.uploads.close()

    # --- panels ---

    def _mount(self) -> None:
        """Build all panels: each in a tab of its title, or as a folder of the tab that it names."""
        gui = self.client.gui
        panels = [kind() for kind in self._kinds]
        shared = {panel.tab for panel in panels if panel.tab}
        self._tabs = gui.add_tab_group()
        tabs: dict[str, Any] = {}
        for panel in panels:
            label = panel.tab or panel.title
            if label not in tabs:
                tabs[label] = self._tabs.add_tab(label, panel.icon)
            with tabs[label]:
                if label in shared:
                    with gui.add_folder(panel.title, expand_by_default=panel.open):
                        self._build(panel)
                else:
                    self._build(panel)

    def _build(self, panel: Any) -> None:
        try:
            panel.build(self)
        except Exception as error:
            self.client.gui.add_html(message(f"{panel.title} cannot be shown: {self._explain(error)}"))
            return
        self._mounted.append(_Mounted(panel))

    def _unmount(self) -> None:
        for mounted in reversed(self._mounted):
            try:
                mounted.panel.close()
            except Exception as error:  # one panel must not keep the others open
                LOG.error("closing the panel %r", mounted.panel.title, exc_info=error)
        self._mounted = []
        if self._tabs is not None:
            self._tabs.remove()
            self.drawn.remove()
            self._tabs = None

    def _wake(self) -> None:
        with self._changed:
            for mounted in self._mounted:
                mounted.stale = True
            self._changed.notify_all()

    # --- drawing ---

    def _redraw_forever(self) -> None:
        while True:
            with self._changed:
                stale = [mounted.due for mounted in self._mounted if mounted.stale]
                wait = min(stale) - monotonic() if stale else None
                if not self._closed and (wait is None or wait > 0):  # a tab may close before this thread begins
                    self._changed.wait(wait)
                if self._closed:
                    return
            with self.drawing:
                if is_gone(self.client):
                    return
                self._redraw()

    def draw(self) -> None:
        """Draw the present state now, on this thread, however often that was done: for pictures of it."""
        with self.drawing:
            self._redraw(everything=True)

    def _redraw(self, everything: bool = False) -> None:
        """Update the panels that are due, in one message to the page."""
        now = monotonic()
        with self._changed:
            due = [mounted for mounted in self._mounted if mounted.stale and (everything or mounted.due <= now)]
            for mounted in due:
                mounted.stale = False
        if not due:
            return
        with self.client.atomic():
            self.drawn.move(self.poses)
            for mounted in due:
                self._update(mounted)
                mounted.due = now + 1.0 / mounted.panel.rate
        self.client.flush()

    def _update(self, mounted: _Mounted) -> None:
        """Update one panel; an error is said once, not sixty times a second."""
        with self._changed:
            self.movers, mounted.movers = frozenset(mounted.movers), set()
        try:
            mounted.panel.update(self)
            mounted.complaint = ""
        except Exception as error:
            if self._closed:
                return
            if str(error) != mounted.complaint:
                mounted.complaint = str(error)
                self.say(self._explain(error), "error", title=mounted.panel.title)
