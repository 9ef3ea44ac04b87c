"""Another robot: a bundled one, a file of this machine, or an upload; in place of the one shown, or beside it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chainrule.errors import FormatError
from chainrule.robot.library import load, robots
from chainrule.studio.charts.differences import differences_table
from chainrule.studio.charts.style import STYLE
from chainrule.studio.panels.panel import Panel
from chainrule.studio.scene.beside import Beside, differing_links
from chainrule.studio.scene.view import first_camera
from chainrule.studio.uploads import open_upload

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session

CHOOSE = "choose one"
INSTEAD, BESIDE = "in its place", "beside it"
MAX_NOTES = 4
"""Notes about a robot that are shown as it is opened; the doctor has them all."""


class OpenPanel(Panel):
    """Controls that open a robot, and the differences from the one beside."""

    title = "Open another robot"
    tab = "Robot"
    open = False

    def draws(self, session: Session) -> bool:
        """Whether a second robot is in the scene."""
        return self._beside is not None

    def build(self, session: Session) -> None:
        """Make the controls."""
        gui, guarded = session.client.gui, session.guarded
        self._session, self._lock = session, threading.RLock()
        self._beside: Beside | None = None
        self._where = gui.add_dropdown("Show", (INSTEAD, BESIDE), hint="Where the robot that you open is shown.")
        bundled = gui.add_dropdown("Bundled", (CHOOSE, *robots()))
        bundled.on_update(guarded(lambda _: self._open_bundled(bundled.value)))
        if session.is_local:
            path = gui.add_text("Path", "", hint="The path of a file on this machine: URDF, SDF, MJCF, TOML.")
            button = gui.add_button("Open path")
            button.on_click(guarded(lambda _: self._open_path(path.value)))
        upload = gui.add_upload_button(
            "Upload a file or zip", icon="upload", hint="URDF, SDF, MJCF or TOML, or a zip of it with its meshes."
        )
        upload.on_upload(guarded(lambda _: self._open_upload(upload.value.name, upload.value.content)))
        self._add_choice(session)
        self._free = gui.add_checkbox("Free base", False, hint="Six more degrees of freedom, for what you open next.")
        self._repair = gui.add_checkbox("Repair", False, hint="Mend what is wrong in the file that you open next.")
        self._remove = gui.add_button("Take the second away", visible=False)
        self._remove.on_click(guarded(lambda _: self._take_away()))
        gui.add_html(STYLE)
        self._differences = gui.add_html("")

    def _add_choice(self, session: Session) -> None:
        """A choice among the robots of the last upload, where it has several."""
        last = session.uploads.last
        if last is not None and len(last.robots) > 1:
            choice = session.client.gui.add_dropdown("In the upload", (CHOOSE, *last.robots))
            choice.on_update(session.guarded(lambda _: self._open_uploaded(choice.value)))

    # --- opening ---

    def _open_bundled(self, name: str) -> None:
        if name != CHOOSE:
            self._show(load(name, floating_base=self._free.value))

    def _open_path(self, text: str) -> None:
        if not text.strip():
            raise FormatError("give the path of a robot file, such as ~/robots/arm.urdf")
        path = Path(text.strip()).expanduser()
        # no program is run for a tab: without a token, other accounts of this machine can open one
        robot = load(path, check=False, repair=self._repair.value, floating_base=self._free.value, xacro=False)
        self._show(robot, robot.model.notes)

    def _open_upload(self, name: str, content: bytes) -> None:
        upload = self._session.uploads.add(name, content)
        if len(upload.robots) > 1:
            self._session.say(
                f"{name} has {len(upload.robots)} robots: {upload.robots[0]} is shown, choose another below."
            )
        self._open_uploaded(upload.robots[0])

    def _open_uploaded(self, file: str) -> None:
        upload = self._session.uploads.last
        if upload is not None and file != CHOOSE:
            opened = open_upload(upload, file, floating_base=self._free.value, repair=self._repair.value)
            self._show(opened.robot, opened.notes)

    def _show(self, robot: Robot, notes: Sequence[str] = ()) -> None:
        """Show a robot where the user wants it, with what is to be known of it."""
        if self._where.value == BESIDE:
            self._put_beside(robot)
        else:
            self._session.show(robot)
        more = [f"and {len(notes) - MAX_NOTES} more"] if len(notes) > MAX_NOTES else []
        if notes:
            self._session.say("\n".join([*notes[:MAX_NOTES], *more]), "warning", title=robot.name)

    # --- the second robot ---

    def _put_beside(self, other: Robot) -> None:
        session = self._session
        comparison = session.robot.compare(other)
        with self._lock:
            self._take_away()
            with session.client.atomic():
                self._beside = Beside(session.client.scene, session.robot, session.state.q, other)
                links = differing_links(comparison, other)
                if 2 * len(links) < len(other.link_names):  # otherwise it is another robot, and not a version of this
                    self._beside.drawn.highlight(links)
                self._differences.content = differences_table(comparison)
                self._remove.visible = True
        session.look(first_camera(session.robot, self._beside.points))

    def _take_away(self) -> None:
        with self._lock:
            if self._beside is not None:
                self._beside.remove()
                self._beside = None
            self._differences.content = ""
            self._remove.visible = False

    def update(self, session: Session) -> None:
        """Let the second robot follow the first."""
        with self._lock:
            if self._beside is not None:
                self._beside.follow(session.robot, session.state.q)

    def close(self) -> None:
        """Remove the second robot."""
        with self._lock:
            if self._beside is not None:
                self._beside.remove()
                self._beside = None
