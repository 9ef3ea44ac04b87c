"""What a transport plays on a page: a simulation that goes on, or motions that are complete."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from chainrule.arguments import Array
from chainrule.robot.robot import Robot
from chainrule.shapes.skeleton import skeleton
from chainrule.simulation.trajectory import Trajectory
from chainrule.studio.player.live import Live, Sample, Settings

if TYPE_CHECKING:
    from chainrule.studio.session import Session


class PlayerSource(Protocol):
    """A motion of the robot on the page."""

    @property
    def start(self) -> float:
        """The first time that can be shown, in s."""

    @property
    def end(self) -> float:
        """The last time that can be shown so far, in s."""

    @property
    def goes_on(self) -> bool:
        """Whether playing leads beyond the end."""

    def show(self, time: float, by: object) -> None:
        """Move the robot on the page to where it is at a time between start and end."""

    def begin(self) -> None:
        """Get ready to play from the moment that is shown."""

    def play(self, time: float, by: object) -> None:
        """Move on to a time from where the last call of show or play was."""


PULL_STEP_S = 0.008
"""The time for which the force of a pull stays what it is; it must be short beside the swings on the spring."""

PULL_LENGTH = 0.5
"""The length of a pull that is as strong as the robot's weight, as a part of its reach."""

PULL_DAMPING_S = 0.1
"""The damping of the spring, as the time in which it alone would lead back to the hand."""


class Pull(NamedTuple):
    """A hand that pulls at a point of a link by a spring."""

    link: str
    point: Array
    """(3,), in the frame of the link."""
    hand: Array
    """(3,), in the base frame."""


def pull_wrench(robot: Robot, pull: Pull, q: Array, before: Array | None, dt: float) -> tuple[Array, Array]:
    """The wrench (6,) of a pull on the link's origin, in world axes, and where the point is (3,).

    before: where the point was dt ago, for the damping of the spring.
    """
    T = np.asarray(robot.pose(q, pull.link))
    arm = T[:3, :3] @ pull.point
    at = T[:3, 3] + arm
    stiffness = 9.81 * robot.mass / (PULL_LENGTH * skeleton(robot).reach)
    velocity = np.zeros(3) if before is None else (at - before) / dt
    force = stiffness * (pull.hand - at - PULL_DAMPING_S * velocity)
    return np.concatenate([np.cross(arm, force), force]), at


class LiveSource:
    """A simulation of the session's robot, made when it is first played."""

    goes_on = True

    def __init__(self, session: Session, settings: Callable[[], Settings]) -> None:
        self.session, self.settings = session, settings
        self.live: Live | None = None
        self.pull: Pull | None = None
        """The hand of the user on a link."""
        self._shown: Sample | None = None
        self._ends: dict[str, float] = {}

    @property
    def start(self) -> float:
        """The time of the oldest moment that is kept."""
        return 0.0 if self.live is None else self.live.start

    @property
    def end(self) -> float:
        """The time of the newest moment."""
        return 0.0 if self.live is None else self.live.history.last

    def forget(self) -> None:
        """Start again from the state on the page when it is played next."""
        self.live = self._shown = None
        self._ends = {}

    def push(self, link: str, wrench: Array, seconds: float, time: float) -> None:
        """Let a wrench act on a link for some seconds of the motion."""
        self._ends[link] = time + seconds
        self.session.move(wrenches={**self.session.state.wrenches, link: wrench})

    def show(self, time: float, by: object) -> None:
        """Show a moment that is kept; playing goes on from there."""
        if self.live is not None:
            self._move(self.live.at(time), by)

    def begin(self) -> None:
        """Make the simulation, or take it to the pose that the user has put the robot into meanwhile."""
        live, state = self._prepare(), self.session.state
        if self._shown is not None and not np.array_equal(state.q, self._shown.q):
            live.place(state.q, state.qd)
            self._shown = live.sample

    def play(self, time: float, by: object) -> None:
        """Simulate up to a time."""
        live = self._prepare()
        self._follow_user(live)
        live.change(self.session.state.parameters)
        for end in sorted(end for end in self._ends.values() if end < time):
            live.push(self.session.state.wrenches)
            live.run_to(end)
            self._end_pushes(end)
        self._run_under_pull(live, time)
        live.push(self.session.state.wrenches)
        live.run_to(time)
        self._move(live.sample, by)

    def _run_under_pull(self, live: Live, time: float) -> None:
        """Simulate up to a time while the user pulls at a link."""
        at: Array | None = None
        while (pull := self.pull) is not None and live.end < time - 1e-9:
            wrench, at = pull_wrench(live.robot, pull, live.sample.q, at, PULL_STEP_S)
            others = self.session.state.wrenches
            live.push({**others, pull.link: wrench + others.get(pull.link, 0.0)})
            live.run_to(min(time, live.end + PULL_STEP_S))

    def _prepare(self) -> Live:
        """The simulation with the present settings, at the moment that is shown."""
        session, live, settings = self.session, self.live, self.settings()
        state = session.state
        if live is None:
            live = self.live = Live(session.robot, state.q, state.qd, settings, parameters=state.parameters)
            self._shown = live.sample
        elif (
            live.robot is not session.robot
            or live.settings != settings
            or live.parameters.keys() != state.parameters.keys()
        ):
            now = live.sample if self._shown is None else self._shown
            target = live.target if live.settings.law == settings.law else now.q
            live = self.live = Live(
                session.robot, now.q, now.qd, settings, target=target, parameters=state.parameters, time=now.time
            )
        elif self._shown is not None and self._shown.time < live.end:
            live.rewind(self._shown.time)
        return live

    def _follow_user(self, live: Live) -> None:
        """Aim at where a slider or the hand was put since the robot was last moved from here."""
        q = self.session.state.q
        if self._shown is None or np.array_equal(q, self._shown.q):
            return
        target = q.copy()
        if live.robot.nq == live.robot.nv:  # a joint that was not touched keeps its own target
            kept = live.target if live.holds else live.sample.q
            target = np.where(q == self._shown.q, kept, q)
        live.aim(target)

    def _end_pushes(self, time: float) -> None:
        over = [link for link, end in self._ends.items() if time >= end - 1e-9]
        if over:
            self._ends = {link: end for link, end in self._ends.items() if link not in over}
            wrenches = self.session.state.wrenches
            self.session.move(wrenches={link: w for link, w in wrenches.items() if link not in over})

    def _move(self, sample: Sample, by: object) -> None:
        self._shown = sample
        self.session.move(sample.q, sample.qd, sample.qdd, time=sample.time, by=by)


class RecordedSource:
    """Complete motions: the first one moves the robot on the page, the others are for ghosts."""

    goes_on = False

    def __init__(self, session: Session, motions: Sequence[Trajectory]) -> None:
        self.session, self.motions = session, list(motions)

    @property
    def start(self) -> float:
        """The earliest time of all motions."""
        return min((float(motion.t[0]) for motion in self.motions), default=0.0)

    @property
    def end(self) -> float:
        """The latest time of all motions."""
        return max((float(motion.t[-1]) for motion in self.motions), default=0.0)

    def at(self, time: float, which: int = 0) -> Trajectory:
        """One motion at a time, as a trajectory of one sample; before its start and after its end it stands still."""
        motion = self.motions[which]
        return motion.resample([min(max(time, float(motion.t[0])), float(motion.t[-1]))])

    def show(self, time: float, by: object) -> None:
        """Move the robot to where the first motion is."""
        if not self.motions:
            return
        now = self.at(time)
        self.session.move(now.q[0], now.qd[0], now.qdd[0], time=time, by=by)

    def begin(self) -> None:
        """Nothing is to be prepared."""

    def play(self, time: float, by: object) -> None:
        """Show the moment."""
        self.show(time, by)
