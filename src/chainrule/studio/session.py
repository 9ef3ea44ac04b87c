"""A session: one tab of the page, with its robot, its state and its panels.

Everything that a tab shows lives in `client.scene` and `client.gui`, never in the server's shared scene: tabs are
independent, and viser frees what they use with the client.

    session.move(q)          a new state; every panel's `update` follows, on the session's own thread
    session.say("...")       a notification on the page
    session.guarded(f)       a callback whose errors become messages on the page, and a line while it takes long
    session.busy(text)       a line on the page while a block takes long
    session.show(robot)      another robot: panels are closed and built again
    session.revise(robot)    the same robot with other numbers: the state stays, panels are updated
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import wraps
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.reading import find_link, read_argument
from chainrule.errors import ChainruleError, ModelError
from chainrule.robot.robot import Robot
from chainrule.studio.busy import Busy
from chainrule.studio.charts.style import message
from chainrule.studio.page import is_gone, wait_until_sent
from chainrule.studio.postures import default_tip, first_posture
from chainrule.studio.scene import appearance, view
from chainrule.studio.scene.backdrop import Backdrop
from chainrule.studio.scene.robot import DrawnRobot
from chainrule.studio.scene.visuals import drawing
from chainrule.studio.screen import Screen, TabRow, leave_button
from chainrule.studio.summary import summary
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

PANEL_WIDTH = 380.0
"""Width of the control panel, in pixels: a row of tabs, and most of a page of 1024 for the robot."""

PHONE_WIDTH = 576
"""Width of a page, in pixels, below which viser has the panel at the bottom."""


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
    tab: str = ""
    is_new: bool = True
    """Whether it has never been updated; the first time may compile what it shows."""
    stale: bool = True
    due: float = 0.0
    complaint: str = ""
    movers: set[object] = field(default_factory=set)


class _Body:
    """The robot itself, drawn as a panel without controls."""

    title, rate = "Robot", 60.0

    def draws(self, session: Session) -> bool:
        return True

    def update(self, session: Session) -> None:
        session.drawn.move(session.poses)
        if session.is_presenting:
            session.caption()

    def close(self) -> None:
        pass


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
        self.backdrop: Backdrop
        """Ground, light and background."""
        self._kinds = list(panels)
        self._mounted: list[_Mounted] = []
        self._tabs: dict[str, Any] = {}
        """The contents of each tab, of which one is visible."""
        self._row: TabRow | None = None
        self._open = ""
        self._changed = threading.Condition()
        self.drawing = threading.RLock()
        """Held while panels are built, updated and closed; callbacks that change nodes which `update` moves hold it."""
        self._complaints: dict[str, tuple[str, float]] = {}
        self._closed = False
        self._up: Array | None = None
        self._is_docked = False
        self._poses: tuple[Array, Robot, Array] | None = None
        self._thread = threading.Thread(target=self._redraw_forever, name="chainrule studio session", daemon=True)
        self.client.gui.set_panel_label("chainrule studio")
        self.client.gui.main_panel.dock_right()
        self.client.gui.main_panel.set_width(PANEL_WIDTH)
        self.screen = Screen(self.client.gui)
        self.screen.mark("joined")
        self.is_presenting = False
        """Whether panels are hidden, and the robot's name stands in large type."""
        self._leave = leave_button(self.client.gui)
        self._leave.on_click(self.guarded(lambda _: self.present(False)))
        self._busy = Busy(self._tell_work)
        self.theme(dark=False)
        self.client.flush()
        self.show(robot)
        self._thread.start()

    # --- the robot ---

    def show(self, robot: Robot) -> None:
        """Show another robot, at home: every panel is closed and built again."""
        with self.busy(f"Opening {robot.name} …"):
            state = SessionState.at_rest(robot, first_posture(robot))
            with self.drawing:
                if self._closed:
                    return
                if self._row is not None:
                    self._unmount()
                    wait_until_sent(self.client)
                with self._changed:
                    self.robot, self.state, self.tip = robot, state, default_tip(robot)
                with self.client.atomic():
                    self._draw_first()
                self.client.flush()
                with self.client.atomic():
                    self._mount()
                    self.screen.mark("ready")
        self._wake()

    def _draw_first(self) -> None:
        """The first picture, before any panel: the robot on its ground."""
        parts = drawing(self.robot).parts
        self.drawn = DrawnRobot(self.client.scene, self.robot)
        self.drawn.move(self.poses)
        ground = view.ground(self.robot, view.drawn_points(self.robot, parts, self.poses))
        self.backdrop = Backdrop(self.client.scene, ground, dark=self.dark)
        self.look(self.seen_from("Reset"))
        self._is_docked = True
        self.caption()

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

    def busy(self, text: str) -> AbstractContextManager[None]:
        """Do what may take long; the page says this meanwhile, if it does."""
        return self._busy.with_note(text)

    def _tell_work(self, text: str) -> None:
        if not self._closed and not is_gone(self.client):
            self.screen.work(text)
            self.client.flush()

    def guarded(self, callback: Callable[..., Any], *, work: str | None = "Working …") -> Callable[..., Any]:
        """A callback whose errors become messages on the page: the library's own as they are, others a sentence.

        It is called for what the user does, not where this program assigns to a control's value. work: what the page
        says while it takes long; None for what goes on for as long as the user likes.
        """

        @wraps(callback)
        def call(*arguments: Any) -> Any:
            if arguments and getattr(arguments[0], "client", self) is None:
                return None
            try:
                with nullcontext() if work is None else self.busy(work):
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

    def present(self, on: bool) -> None:
        """Hide the panels, and show the robot alone with large type; or end that."""
        self.is_presenting = on
        with self.client.atomic():
            self._leave.visible = on
            self.screen.mark("presenting", on)
        self._wake()

    def caption(self) -> None:
        """Say in a presentation which robot it is, and what time it is in its motion."""
        time = self.state.time
        self.screen.caption(self.robot.name, *summary(self.robot), *([f"{time:.1f} s"] if time else []))

    def seen_from(self, side: str) -> view.Camera:
        """A camera that sees the whole robot from one of the VIEWS of scene/view.py."""
        points = view.drawn_points(self.robot, drawing(self.robot).parts, self.poses)
        width, height = self.client.camera.image_width, self.client.camera.image_height
        if not self._is_docked and width >= PHONE_WIDTH:  # the panel will take its part
            width -= int(PANEL_WIDTH)
        return view.first_camera(self.robot, points, side, width / max(height, 1))

    def look(self, camera: view.Camera) -> None:
        """Point the camera of the tab."""
        turned = self._up is None or not np.allclose(self._up, camera.up)
        self._up = camera.up
        with self.client.atomic():
            view.point_camera(self.client, camera, turned=turned)

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
        self._busy.close()
        with self.drawing:
            self._unmount()
        self.uploads.close()

    # --- panels ---

    def _mount(self) -> None:
        """Build the panels that suit the robot: each in a tab of its title, or as a folder of the tab that it names.

        Tabs are folders without a label, of which one is visible: the page says which, so that panels nobody looks at
        compute nothing.
        """
        gui = self.client.gui
        panels = [panel for kind in self._kinds if (panel := kind()).suits(self.robot)]
        shared = {panel.tab for panel in panels if panel.tab}
        names = list(dict.fromkeys(panel.tab or panel.title for panel in panels))
        if names:
            self._row = TabRow(gui, names)
            self._row.buttons.on_click(self.guarded(lambda _: self.open_tab(self._row_value())))
        self._open = names[0] if names else ""
        self._tabs = {name: gui.add_folder(None, visible=name == self._open) for name in names}
        self._mounted = [_Mounted(_Body(), is_new=False)]
        for panel in panels:
            label = panel.tab or panel.title
            with self._tabs[label]:
                if label in shared:
                    with gui.add_folder(panel.title, expand_by_default=panel.open):
                        self._build(panel, label)
                else:
                    self._build(panel, label)

    def _row_value(self) -> str:
        return "" if self._row is None else str(self._row.buttons.value)

    def open_tab(self, name: str) -> None:
        """Show a tab; its panels take up the state of this moment."""
        if self._row is None or name not in self._tabs:
            return
        with self.client.atomic():
            self._open = name
            self._row.open(name)
            for label, contents in self._tabs.items():
                contents.visible = label == name
        self._wake()

    def _build(self, panel: Any, tab: str) -> None:
        try:
            panel.build(self)
        except Exception as error:
            self.client.gui.add_html(message(f"{panel.title} cannot be shown: {self._explain(error)}"))
            return
        self._mounted.append(_Mounted(panel, tab))

    def _unmount(self) -> None:
        for mounted in reversed(self._mounted):
            try:
                mounted.panel.close()
            except Exception as error:  # one panel must not keep the others open
                LOG.error("closing the panel %r", mounted.panel.title, exc_info=error)
        self._mounted = []
        for contents in self._tabs.values():
            contents.remove()
        self._tabs = {}
        if self._row is not None:
            self._row.remove()
            self._row = None
            self.backdrop.remove()
            self.drawn.remove()

    def _wake(self) -> None:
        with self._changed:
            for mounted in self._mounted:
                mounted.stale = True
            self._changed.notify_all()

    # --- drawing ---

    def _redraw_forever(self) -> None:
        while True:
            with self._changed:
                stale = [mounted.due for mounted in self._mounted if mounted.stale and self._is_seen(mounted)]
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
            due = [
                mounted
                for mounted in self._mounted
                if mounted.stale and (everything or mounted.due <= now) and self._is_seen(mounted)
            ]
            for mounted in due:
                mounted.stale = False
        if not due:
            return
        with self.client.atomic():
            for mounted in due:
                if not mounted.is_new:
                    self._update(mounted)
        self.client.flush()
        for mounted in due:
            if mounted.is_new:  # it may compile what it shows: what else is due has been sent
                with self.busy(f"Preparing {mounted.panel.title.lower()} …"):
                    self._update(mounted)
                mounted.is_new = False
            mounted.due = now + 1.0 / mounted.panel.rate
        self.client.flush()

    def _is_seen(self, mounted: _Mounted) -> bool:
        """Whether a panel's tab is open, or it draws something in the scene."""
        return mounted.tab == self._open or bool(mounted.panel.draws(self))

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
