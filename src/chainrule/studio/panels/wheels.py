"""Wheels: a robot that is driven by keys, and its odometry beside the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.studio.driving import KINDS, MAX_SPEED, STEP_S, DrivenBase, Errors, compose, start_of
from chainrule.studio.panels.panel import Panel
from chainrule.studio.player.transport import Runner
from chainrule.studio.scene.base import DrawnBase
from chainrule.studio.scene.view import is_seen

if TYPE_CHECKING:
    from chainrule.model.layout import JointPlaces
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session

KEYS: dict[str, tuple[str, dict[str, Any]]] = {
    "I": ("Faster", {"forward": 1}),
    "K": ("Slower", {"forward": -1}),
    "J": ("Turn left", {"turn": 1}),
    "L": ("Turn right", {"turn": -1}),
    "U": ("To the left", {"left": 1}),
    "O": ("To the right", {"left": -1}),
    "X": ("Halt", {"stop": True}),
}
"""Keys, what they do in words, and as arguments of `DrivenBase.command`. The page's own keys move the camera."""


class DriveSource:
    """A drive that goes on as long as it moves, from where the robot stands."""

    goes_on = True
    start = 0.0

    def __init__(self, session: Session, drive: DrivenBase, places: slice) -> None:
        self.session, self.drive, self._places = session, drive, places
        self.origin = self._pose
        """Where the way of the drive began: (x, y, theta) of the planar joint."""

    @property
    def _pose(self) -> Array:
        return self.session.state.q[self._places].copy()

    @property
    def end(self) -> float:
        """The time that was driven, in s."""
        return self.drive.time

    def begin(self) -> None:
        """Go on from where the robot is, wherever it was put meanwhile."""
        self.origin = start_of(self._pose, self.drive.pose)

    def show(self, time: float, by: object) -> None:
        """Nothing of the past is shown again."""

    def play(self, time: float, by: object) -> None:
        """Drive on to a time."""
        while self.drive.time < time - STEP_S / 2:
            self.drive.step()
        q = self.session.state.q.copy()
        q[self._places] = compose(self.origin, self.drive.pose)
        self.session.move(q, by=by)

    def plane(self) -> Array:
        """The pose (4, 4) of the plane at the start of the way, in the base frame."""
        q = self.session.state.q.copy()
        q[self._places] = self.origin
        return np.asarray(self.session.robot.pose(q, _driving(self.session.robot).joint.child))


def _driving(robot: Robot) -> JointPlaces:
    """The planar joint by which a robot drives."""
    return next(places for places in robot.model.layout.joints if places.joint.type == "planar")


class WheelsPanel(Panel):
    """The robot driven over the ground, as if it stood on wheels of some kind."""

    title = "Wheels"
    icon = "steering-wheel"
    rate = 30.0

    def suits(self, robot: Robot) -> bool:
        """Whether the robot drives over the ground."""
        return any(places.joint.type == "planar" for places in robot.model.layout.joints)

    def draws(self, session: Session) -> bool:
        """Whether ways are in the scene, or about to be."""
        return self.drawn is not None or self.runner.playing

    def build(self, session: Session) -> None:
        """Make the controls; ways appear when it is first driven."""
        self.session = session
        self.drawn: DrawnBase | None = None
        gui, guarded = session.client.gui, session.guarded
        self.kind = gui.add_dropdown("Wheels of a", list(KINDS))
        self.kind.on_update(guarded(lambda _: self.restart()))
        gui.add_markdown("Keys: " + ", ".join(f"**{key}** {words.lower()}" for key, (words, _) in KEYS.items()))
        self._add_keys()
        self.numbers = gui.add_markdown("")
        with gui.add_folder("What odometry does not know", expand_by_default=True):
            self.larger = gui.add_slider("Right wheel larger by (%)", -10.0, 10.0, 0.5, 2.0)
            self.slip = gui.add_slider("Slip of wheels (%)", 0.0, 30.0, 1.0, 5.0)
            self.ticks = gui.add_slider("Ticks a turn", 4, 1024, 1, 360)
            for control in (self.larger, self.slip, self.ticks):
                control.on_update(guarded(lambda _: self._set_errors()))
        gui.add_button("Start again", icon="restore").on_click(guarded(lambda _: self.restart()))
        self._new_drive()
        self.runner = Runner(session, self.source)
        self._set_errors()

    def _new_drive(self) -> None:
        self.drive = DrivenBase(self.kind.value)
        self.source = DriveSource(self.session, self.drive, _driving(self.session.robot).q)

    def _add_keys(self) -> None:
        gui, guarded = self.session.client.gui, self.session.guarded
        self.commands = []
        for key, (words, _) in KEYS.items():
            command = gui.add_command(f"Drive: {words}", hotkey=key)
            command.on_trigger(guarded(lambda _, key=key: self.press(key)))
            self.commands.append(command)
        for row in (("U", "I", "O"), ("J", "K", "L"), ("X",)):
            self._add_buttons({KEYS[key][0]: key for key in row})

    def _add_buttons(self, keys: dict[str, str]) -> None:
        group = self.session.client.gui.add_button_group("", list(keys))
        group.on_click(self.session.guarded(lambda _: self.press(keys[group.value])))

    def press(self, key: str) -> None:
        """Do what a key does."""
        self.drive.command(**KEYS[key][1])
        if not self.drive.is_at_rest:
            self.runner.play()
        self.session.move()

    def _set_errors(self) -> None:
        self.drive.errors = Errors(self.larger.value / 100, self.slip.value / 100, int(self.ticks.value))
        self.session.move()

    def restart(self) -> None:
        """Stop, forget the way, and begin a new one where the robot stands."""
        self.runner.pause()
        self._new_drive()
        self._set_errors()
        self.runner.load(self.source)
        self._remove()
        self.session.move()

    def update(self, session: Session) -> None:
        """Draw the ways; the robot stands still once nothing moves it."""
        self.runner.mark_drawn()
        drive = self.drive
        if drive.time or not drive.is_at_rest:
            if self.drawn is None:
                self.drawn = DrawnBase(session.client.scene, self.source.plane())
            self.drawn.move(drive)
            self._follow(session)
        if self.runner.playing and drive.is_at_rest:
            self.runner.pause()
        self.numbers.content = numbers(drive)

    def _follow(self, session: Session) -> None:
        """Let the camera look at the robot, from the same side, where it would not see it any more."""
        places, camera = _driving(session.robot), session.client.camera
        here = session.poses[session.robot.link_names.index(places.joint.child), :3, 3]
        if not is_seen(here, camera.position, camera.look_at, camera.fov):
            camera.position, camera.look_at = here + camera.position - camera.look_at, here

    def _remove(self) -> None:
        if self.drawn is not None:
            self.drawn.remove()
        self.drawn = None

    def close(self) -> None:
        """End the thread, and remove the ways and the keys."""
        self.runner.close()
        for command in self.commands:
            command.remove()
        self._remove()


def numbers(drive: DrivenBase) -> str:
    """Speeds and poses in words."""
    v, w, turn = drive.twist
    sideways = f", sideways {w:.1f} m/s" if KINDS[drive.kind].sideways else ""
    distance, angle = drive.error
    return (
        f"Speed {v:.1f} of {MAX_SPEED:g} m/s{sideways}, turning {turn:.1f} rad/s\n\n"
        f"Truth: {_pose(drive.pose)}\n\nOdometry: {_pose(drive.believed)}\n\n"
        f"Odometry is {distance:.3f} m and {np.degrees(angle):.1f} degrees off after {drive.time:.1f} s."
    )


def _pose(pose: Any) -> str:
    x, y, theta = pose
    return f"x {x:.3f} m, y {y:.3f} m, heading {np.degrees(theta):.1f} degrees"
