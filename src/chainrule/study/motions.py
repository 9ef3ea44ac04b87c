"""Motions of a study: samples at a uniform rate, with what is in the hand and what the hand meets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, as_list
from chainrule.control.motions.curves import Curve
from chainrule.errors import ShapeError, quoted
from chainrule.simulation.columns import WORKS
from chainrule.simulation.trajectory import Trajectory
from chainrule.study.subjects import Subject

if TYPE_CHECKING:
    from chainrule.robot.rigid_body import RigidBody

MAX_SAMPLES = 1_000_000
"""Of a motion: more do not fit into memory with all that is computed of them."""

GOLDEN = (5**0.5 - 1) / 2
"""Fractions of its multiples are spread evenly from 0 to 1, however many there are."""


@dataclass(frozen=True, eq=False)
class Grasp:
    """An object in the hand during a part of a motion; the body is given in the frame of the end-effector."""

    name: str
    body: RigidBody
    during: NDArray[np.bool_]
    """For each sample (T,)."""


@dataclass(frozen=True, eq=False)
class Motion:
    """One motion: times (T,), and angles, speeds and accelerations (T, n), in SI units."""

    activity: str
    t: Array
    q: Array
    qd: Array
    qdd: Array
    grasps: tuple[Grasp, ...] = ()
    contact: Array | None = None
    """The wrench (moment, force) that the end-effector applies to its surroundings, in the axes of the base (T, 6)."""
    synthetic: bool = False
    """Whether the motion was made from way-points, not measured."""
    notes: tuple[str, ...] = ()
    even: NDArray[np.bool_] | None = None
    """Of a motion with chosen samples, those that are evenly spread in time (T,); all of them if none are named."""

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        made = "synthetic" if self.synthetic else "recorded"
        return f"<Motion {self.activity!r}: {made}, {len(self)} samples, {self.duration:.3g} s>"

    @property
    def duration(self) -> float:
        """In s."""
        return float(self.t[-1] - self.t[0])

    def at(self, places: NDArray[np.intp], even: NDArray[np.bool_]) -> Motion:
        """The motion at some of its samples."""
        return replace(
            self,
            t=self.t[places],
            q=self.q[places],
            qd=self.qd[places],
            qdd=self.qdd[places],
            grasps=tuple(replace(grasp, during=grasp.during[places]) for grasp in self.grasps),
            contact=None if self.contact is None else self.contact[places],
            even=even,
        )


def evenly(every: int, number: int) -> slice:
    """Places of one in `every` samples of the motion with this number.

    The first place differs from motion to motion, so that all times of an activity are met alike, even where most
    motions are shorter than the distance.
    """
    return slice(int(every * (number * GOLDEN % 1)), None, every)


def sample(curve: Curve, rate: float) -> tuple[Array, Array, Array, Array]:
    """Times at `rate` samples a second, and a curve with its first two derivatives there.

    Piece by piece a table of powers times the coefficients, which is several times faster than a general evaluation.
    """
    start, end = curve.x[0], curve.x[-1]
    t = start + np.arange(int(np.floor((end - start) * rate + 1e-9)) + 1) / rate
    piece = np.clip(np.searchsorted(curve.x, t, side="right") - 1, 0, len(curve.x) - 2)
    bounds = np.searchsorted(piece, np.arange(len(curve.x)))
    degree, _, n = curve.c.shape
    powers = np.arange(degree - 1, -1, -1)
    out = np.empty((3, len(t), n))
    for i, (a, b) in enumerate(pairwise(bounds)):
        u = np.vander(t[a:b] - curve.x[i], degree)
        c, dc = curve.c[:, i], curve.c[:-1, i] * powers[:-1, None]
        ddc = dc[:-1] * powers[1:-1, None]
        out[0, a:b] = u @ c
        out[1, a:b] = u[:, 1:] @ dc
        out[2, a:b] = u[:, 2:] @ ddc
    return (t, *out)


class Motions(Protocol):
    """Some motions of one activity, made or read one by one; small when it is sent to another process."""

    def __iter__(self) -> Iterator[tuple[Subject, Motion]]: ...

    def subject_of(self, place: int) -> Subject:
        """The subject of the motion at a place among them."""


class MotionSource(Protocol):
    """A source of motions, made or read one by one, so that memory stays bounded."""

    @property
    def activities(self) -> Mapping[str, str]:
        """Titles by name."""

    @property
    def subject_count(self) -> int:
        """The number of subjects."""

    def count(self, activity: str) -> int:
        """The number of motions of an activity."""

    def samples(self, activity: str) -> int:
        """The number of samples of all motions of an activity, about."""

    def motions(self, activity: str, start: int = 0, stop: int | None = None) -> Motions:
        """The motions of an activity, or those of some numbers; the same ones at each call.

        The first one of an activity is shown as its example.
        """

    def describe(self) -> list[str]:
        """Sentences for the report about the motions: seed, filter, what is synthetic."""


class Recorded:
    """Motions that were recorded or simulated, of one subject: each is an activity of its own, or one of several."""

    def __init__(self, subject: Subject, motions: Mapping[str, Trajectory | Sequence[Trajectory]]) -> None:
        self.subject = subject
        self.recordings = {
            name: [motion] if isinstance(motion, Trajectory) else as_list(motion, f"motion {name!r}")
            for name, motion in motions.items()
        }
        for name, several in self.recordings.items():
            if not several or not all(isinstance(motion, Trajectory) for motion in several):
                raise ShapeError(
                    f"motion {name!r} must be a Trajectory or several, as of Trajectory.from_samples or Trajectory.load"
                )
            for motion in several:
                if (
                    motion.robot.model.layout.velocity_names != subject.robot.model.layout.velocity_names
                    or motion.batch
                ):
                    raise ShapeError(
                        f"motion {name!r} must be one motion of the joints of {subject.name!r}, got {motion!r}"
                    )
                if np.any(motion.work[..., WORKS.index("wrenches")]):
                    raise ShapeError(
                        f"motion {name!r} was made under wrenches on its links (tip_wrench or external), whose torques "
                        "are not in a study of recorded motions; give the motion without them, what is in the hand as "
                        "a payload of the robot, or take motion.tau, in which they are"
                    )
                if len(motion.t) < 2:
                    raise ShapeError(f"motion {name!r} must have at least two samples, got {len(motion.t)}")
        every = [motion for several in self.recordings.values() for motion in several]
        self.step = min((float(np.median(np.diff(motion.t))) for motion in every), default=0.0)
        """Between samples, in s: the smallest one of the recordings."""
        self._resampled = [
            name
            for name, several in self.recordings.items()
            if not all(_is_even(recording, self.step) for recording in several)
        ]

    @property
    def activities(self) -> Mapping[str, str]:
        """The names are the titles."""
        return {name: name for name in self.recordings}

    @property
    def subject_count(self) -> int:
        """One: recordings are those of one subject."""
        return 1

    def count(self, activity: str) -> int:
        """The number of recordings."""
        return len(self.recordings[activity])

    def samples(self, activity: str) -> int:
        """The number of samples of all recordings, resampled."""
        return sum(round(recording.duration / self.step) + 1 for recording in self.recordings[activity])

    def motions(self, activity: str, start: int = 0, stop: int | None = None) -> RecordedMotions:
        """The recordings, one after the other."""
        chosen = self.recordings[activity][start:stop]
        return RecordedMotions(self.subject, activity, chosen, self.step)

    def describe(self) -> list[str]:
        """Notes of the recordings: what was found in them, how they were smoothed."""
        notes = [note for several in self.recordings.values() for motion in several for note in motion.notes]
        if self._resampled:
            notes.append(
                f"Resampled to steps of {self.step:.3g} s, so that all times count alike: {quoted(self._resampled)}."
            )
        return list(dict.fromkeys(notes))


@dataclass(frozen=True, eq=False)
class RecordedMotions:
    """Recordings of one activity, at the steps of a study."""

    subject: Subject
    activity: str
    recordings: Sequence[Trajectory]
    step: float

    def __iter__(self) -> Iterator[tuple[Subject, Motion]]:
        for recording in self.recordings:
            if not _is_even(recording, self.step):
                steps = max(1, round(recording.duration / self.step))
                if steps > MAX_SAMPLES:
                    raise ShapeError(
                        f"motion {self.activity!r} of {recording.duration:.3g} s has {steps:,} samples at the study's "
                        f"smallest step, {self.step:.3g} s; resample the finest motion first, by motion.resample(step)"
                    )
                recording = recording.resample(np.linspace(recording.t[0], recording.t[-1], steps + 1))
            arrays = (recording.t, recording.q, recording.qd, recording.qdd)
            yield self.subject, Motion(self.activity, *arrays, notes=recording.notes)

    def subject_of(self, place: int) -> Subject:
        """The subject, the same of all."""
        return self.subject


def _is_even(recording: Trajectory, step: float) -> bool:
    """Whether its samples are at the steps of a study; the last step may be shorter."""
    return bool(np.allclose(np.diff(recording.t)[:-1], step, rtol=0.01, atol=0.0))
