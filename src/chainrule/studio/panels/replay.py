"""Replay: a saved trajectory, a recorded motion, or one of the study of the human arm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from chainrule.core.derived import has_moving_mass
from chainrule.studio.charts.style import safe
from chainrule.studio.panels.panel import Panel
from chainrule.studio.player.charts import MAX_CURVES, Chart, effort_unit
from chainrule.studio.player.recorder import Recorder
from chainrule.studio.player.recordings import (
    SUFFIXES,
    Recording,
    activities,
    read_recording,
    read_upload,
    rows,
    study_recording,
)
from chainrule.studio.player.sources import RecordedSource
from chainrule.studio.player.transport import Transport
from chainrule.studio.scene.ghosts import Ghosts

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.simulation.trajectory import Trajectory
    from chainrule.studio.session import Session

LIST_ACTIVITIES = "Activities of the study"

MAX_MOTIONS = 8
"""Motions of a batch that are shown: one as the robot, the others as ghosts."""

MAX_NOTES = 6
"""Notes of a recording that are shown."""

_opened: WeakKeyDictionary[Session, Recording] = WeakKeyDictionary()
"""Motions of other robots than the one shown: panels are built again for these, and the new one takes the motion."""


class ReplayPanel(Panel):
    """A motion that is complete, seen again."""

    title = "Replay"
    icon = "movie"

    def suits(self, robot: Robot) -> bool:
        """Whether anything moves."""
        return robot.nv > 0

    def draws(self, session: Session) -> bool:
        """Whether the robot moves by it, or ghosts are in the scene."""
        return self.transport.playing or self.ghosts is not None

    def build(self, session: Session) -> None:
        """Make the controls."""
        self.session = session
        self.ghosts: Ghosts | None = None
        self.recording: Recording | None = None
        gui, guarded = session.client.gui, session.guarded
        upload = gui.add_upload_button("Open a motion", icon="upload", hint=f"A file: {', '.join(SUFFIXES)}.")
        upload.on_upload(guarded(lambda _: self._read_upload(upload.value)))
        if session.is_local:
            self.path = gui.add_text("Path", "", hint="A file on this machine.")
            gui.add_button("Open path").on_click(guarded(lambda _: self._read_path()))
        self._activities: dict[str, str] = {}
        self.activity = gui.add_dropdown("Activity", ("",), visible=False)
        self.study = gui.add_button(LIST_ACTIVITIES, hint="Motions of the human arm in the library's study.")
        self.study.on_click(guarded(lambda _: self._show_activity()))
        self.about = gui.add_markdown("No motion is open.")
        self.transport = Transport(session, RecordedSource(session, []))
        self.recorder = Recorder(session, self.transport)
        self.transport.build()
        self.looping = gui.add_checkbox("Over and over", False)
        self.looping.on_update(guarded(lambda _: self._loop()))
        self.curves = gui.add_folder("Curves", expand_by_default=True, visible=False)
        with self.curves:
            names = session.robot.velocity_names[:MAX_CURVES]
            self.torques = Chart(gui, "Torques", names, effort_unit(session.robot))
            self.residuals = Chart(gui, "Torques less those predicted", names, effort_unit(session.robot))
        with gui.add_folder("Pictures", expand_by_default=False):
            self.recorder.build()
        waiting = _opened.pop(session, None)
        if waiting is not None:
            self.show(waiting)

    # --- what is opened ---

    def _read_upload(self, file: Any) -> None:
        self.show(read_upload(file.name, file.content, self.session.robot))

    def _read_path(self) -> None:
        self.show(read_recording(Path(self.path.value).expanduser(), self.session.robot))

    def _show_activity(self) -> None:
        """List the activities at first, and then show the one that is chosen."""
        if not self._activities:
            self._activities = activities()
            self.activity.options = tuple(self._activities)
            self.activity.visible, self.study.label = True, "Show activity"
            return
        self.show(study_recording(self._activities[self.activity.value]))

    def show(self, recording: Recording) -> None:
        """Show a motion from its start; where its robot is another one, that one is shown."""
        if recording.robot.coordinate_names != self.session.robot.coordinate_names:
            _opened[self.session] = recording
            self.session.show(recording.robot)
            return
        self.recording = recording
        self._remove_ghosts()
        motions = rows(recording.motion, MAX_MOTIONS)
        if len(motions) > 1:
            self.ghosts = Ghosts(self.session.client.scene, self.session.robot, motions[1:], "/ghosts/replay")
        self.about.content = about(recording, len(motions))
        places = np.unique(np.linspace(0, len(motions[0]) - 1, 400).astype(int))
        self.torques.draw(motions[0].t[places], motions[0].tau[places][:, :MAX_CURVES])
        self._compare(motions[0], places)
        self.curves.visible = True
        self.transport.load(RecordedSource(self.session, motions))

    def _compare(self, motion: Trajectory, places: NDArray[np.intp]) -> None:
        """Draw what the robot that is shown leaves of the torques of a motion, such as measured ones."""
        robot, tau = self.session.robot, motion.tau[places]
        self.residuals.plot.visible = has_moving_mass(robot)
        if has_moving_mass(robot):
            rest = tau - robot.inverse_dynamics(motion.q[places], motion.qd[places], motion.qdd[places])
            self.residuals.draw(motion.t[places], rest[:, :MAX_CURVES])

    def _loop(self) -> None:
        self.transport.clock.looping = self.looping.value

    def _remove_ghosts(self) -> None:
        if self.ghosts is not None:
            self.ghosts.remove()
        self.ghosts = None

    # --- the page ---

    def update(self, session: Session) -> None:
        """Move ghosts and controls."""
        if self.ghosts is not None:
            self.ghosts.move(self.transport.clock.time)
        self.transport.update()

    def close(self) -> None:
        """End the threads, and remove the ghosts."""
        self.transport.close()
        self.recorder.close()
        self._remove_ghosts()


def about(recording: Recording, shown: int) -> str:
    """A recording in words, as Markdown: its title, size, and what was found in it."""
    motion = recording.motion
    count = int(np.prod(motion.batch, dtype=int))
    lines = [f"**{_plain(recording.title)}**: {len(motion)} samples, {motion.duration:.4g} s"]
    if motion.batch:
        lines.append(f"{shown} of {count} motions are shown, one of them solid.")
    notes = [*recording.notes[:MAX_NOTES], *(["and more"] if len(recording.notes) > MAX_NOTES else [])]
    return "\n\n".join([*lines, *(f"- {_plain(note)}" for note in notes)])


def _plain(text: str) -> str:
    """Text without meaning in Markdown or HTML."""
    return "".join("\\" + c if c in "\\`*_{}[]()#+!|~" else c for c in safe(text))
