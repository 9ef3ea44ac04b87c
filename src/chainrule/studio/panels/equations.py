"""The equations of motion of small robots, typeset, with the present numbers; their derivation is a click away."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chainrule.core.derived import remember
from chainrule.errors import ChainruleError
from chainrule.robot.robot import Robot
from chainrule.studio.charts.formulas import Typeset, formulas, term_values, typeset
from chainrule.studio.charts.style import STYLE, message
from chainrule.studio.panels.panel import Panel, by_user

if TYPE_CHECKING:
    from chainrule.studio.session import Session

AT_ONCE = 2
"""Joints up to which the equations are derived without being asked for: it takes a second."""

MAX_DERIVATIONS = 2
"""Derivations that run at once for all tabs of the studio: each takes a processor."""

_derivations = threading.BoundedSemaphore(MAX_DERIVATIONS)

MOST = 9
"""Joints up to which there are equations on the page; those of more fill books."""

LONG = 60_000
"""Letters of HTML from which on the numbers follow the robot only once a second."""

UNCHANGED = "These are the equations of the robot itself, without the gravity, payload and friction set on this page."

METHODS = ("lagrange", "newton-euler", "rnea", "closed-form", "dae")
"""Ways of deriving the equations, as of robot.derivation."""

DOCUMENT_STYLE = """<style>
.chainrule-document{margin:0!important;padding:0 .6rem!important;font-size:14px!important;max-width:none!important}
.chainrule-document .equation,.chainrule-document pre{
background:color-mix(in srgb,var(--mantine-color-text) 6%,transparent)!important}
.chainrule-document h2,.chainrule-document th,.chainrule-document td{
border-color:color-mix(in srgb,var(--mantine-color-text) 20%,transparent)!important}
</style>"""
"""Colors of the page for a document that is written for white paper."""

WINDOW = {"x": 40.0, "y": 60.0, "width": 680.0, "height": 560.0}
"""Place and size of the window of a derivation, in pixels."""


def typeset_equations(robot: Robot) -> Typeset:
    """The equations of a robot, derived once for all tabs."""
    return remember(robot, "studio equations", lambda: typeset(robot.equations()))


class EquationsPanel(Panel):
    """M, C, g and tau of the robot itself, without the changes of gravity, payload and friction made on the page."""

    title = "Equations"
    icon = "math-function"
    rate = 8.0

    def suits(self, robot: Robot) -> bool:
        """Whether equations of the robot could be read by anybody."""
        return 0 < robot.nv <= MOST

    def build(self, session: Session) -> None:
        """Make the controls; small robots are derived when they are first looked at, on a thread of their own."""
        gui, n = session.client.gui, session.robot.nv
        self._found: Typeset | None = None
        self._window: Any = None
        self._closed = False
        self._busy = threading.Lock()
        gui.add_html(STYLE)
        self._note = gui.add_html(message(_first_note(n)))
        derive = gui.add_button("Derive the equations", visible=n > AT_ONCE)
        self._with_numbers = gui.add_checkbox("Put numbers in", False, visible=False)
        self._text = gui.add_html("")
        self._method = gui.add_dropdown("Derivation by", METHODS, initial_value=METHODS[0])
        steps = gui.add_button("Show it step by step")
        save = gui.add_button("Save it as a page")
        derive.on_click(session.guarded(lambda _: self._start(session, self._derive)))
        steps.on_click(session.guarded(lambda _: self._start(session, self._show_steps)))
        save.on_click(session.guarded(lambda _: self._start(session, self._save)))
        self._with_numbers.on_update(by_user(session, session.move))
        self._is_asked = n > AT_ONCE

    def _start(self, session: Session, work: Callable[[Session], None]) -> None:
        """Do something that takes long on a thread of its own, one at a time, with a note on the page."""
        if not self._busy.acquire(blocking=False):
            session.say("The equations are being derived; wait until they are there.")
            return
        if not _derivations.acquire(blocking=False):
            self._busy.release()
            session.say(f"{MAX_DERIVATIONS} other tabs derive equations just now; try again when they are done.")
            return

        def run() -> None:
            try:
                self._tell("Deriving …")
                work(session)
                self._tell("")
            except ChainruleError as error:
                self._tell(str(error))
            finally:
                _derivations.release()
                self._busy.release()

        threading.Thread(
            target=session.guarded(run, work="Deriving the equations …"), name="chainrule studio equations", daemon=True
        ).start()

    def _tell(self, text: str) -> None:
        if not self._closed:
            self._note.content = message(text) if text else ""

    def _derive(self, session: Session) -> None:
        self._found = typeset_equations(session.robot)
        if not self._closed:
            self._with_numbers.visible = True
        session.move()

    def _document(self, session: Session) -> Any:
        state = session.state
        return session.robot.derivation(self._method.value, state=(state.q, state.qd, state.qdd))

    def _show_steps(self, session: Session) -> None:
        """Show the derivation in a window that can be moved."""
        page = DOCUMENT_STYLE + self._document(session)._repr_html_()
        if self._closed:
            return
        self._close_window()
        gui = session.client.gui
        self._window = gui.add_panel()
        with self._window.add_tab("Derivation", icon="math-function"):
            close = gui.add_button("Close")
            gui.add_html(page)
        close.on_click(session.guarded(lambda _: self._close_window()))
        self._window.float(**WINDOW)

    def _save(self, session: Session) -> None:
        """Send the derivation to the browser as a file."""
        page = self._document(session).html()
        if not self._closed:
            session.client.send_file_download("derivation.html", page.encode(), save_immediately=True)

    def _close_window(self) -> None:
        if self._window is not None:
            self._window.remove()
            self._window = None

    def update(self, session: Session) -> None:
        """Write the present numbers."""
        if not self._is_asked:
            self._is_asked = True
            self._start(session, self._derive)
        found, robot, state = self._found, session.robot, session.state
        if found is None:
            return
        values = term_values(robot, state.q, state.qd, state.qdd)
        put_in = found.values(state.q, state.qd, state.qdd) if self._with_numbers.value else None
        page = (message(UNCHANGED) if state.parameters else "") + formulas(found, values, put_in)
        self.rate = 1.0 if len(page) > LONG else 8.0
        self._text.content = page

    def close(self) -> None:
        """Close the window; a derivation that is under way ends without a trace."""
        self._closed = True
        self._close_window()


def _first_note(n: int) -> str:
    if n <= AT_ONCE:
        return "Deriving …"
    if n <= 4:
        return f"{n} joints: deriving the equations takes some seconds."
    return (
        f"{n} joints: closed forms of so many joints are long. Some can be derived in a minute; of the others the "
        "library estimates the length, and says so."
    )
