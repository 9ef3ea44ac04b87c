"""Motions of a study: samples at a uniform rate, with what is in the hand and what the hand meets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, as_list
from chainrule.control.motions.curves import Curve
from chainrule.errors import ShapeError, quoted
from chainrule.simulation.trajectory import Trajectory
from chainrule.study.subjects import Subject

if TYPE_CHECKING:
    from chainrule.robot.bodies import RigidBody

MAX_SAMPLES = 1_000_000
"""Of a motion: more do not fit into memory with all that is computed of them."""


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
                if motion.robot.layout.velocity_names != subject.robot.layout.velocity_names or motion.batch:
                    raise ShapeError(
                        f"motion {name!r} must be one motion of the joints of {subject.name!r}, got {motion!r}"
                    )
                if len(motion.t) < 2:
                    raise ShapeError(f"motion {name!r} must have at least two samples, got {len(motion.t)}")
        every = [motion for several in self.recordings.values() for motion in several]
        self.step = min((float(np.median(np.diff(motion.t))) for motion in every), default=0.0)
        """Between samples, in s: the smallest one of the recordings."""
        self._resampled = [name for name, several in self.recordings.items() if not all(map(self._is_even, several))]

    @property
    def activities(self) -> Mapping[str, str]:
        """The names are the titles."""
        return {name: name for name in self.recordings}

    def count(self, activity: str) -> int:
        """The number of recordings."""
        return len(self.recordings[activity])

    def motions(self, activity: str) -> Iterator[tuple[Subject, Motion]]:
        """The recordings, one after the other."""
        for recording in self.recordings[activity]:
            if not self._is_even(recording):
                steps = max(1, round(recording.duration / self.step))
                if steps > MAX_SAMPLES:
                    raise ShapeError(
                        f"motion {activity!r} of {recording.duration:.3g} s has {steps:,} samples at the study's "
                        f"smallest step, {self.step:.3g} s; resample the finest motion first, by motion.resample(step)"
                    )
                recording = recording.resample(np.linspace(recording.t[0], recording.t[-1], steps + 1))
            arrays = (recording.t, recording.q, recording.qd, recording.qdd)
            yield self.subject, Motion(activity, *arrays, notes=recording.notes)

    def describe(self) -> list[str]:
        """Notes of the recordings: what was found in them, how they were smoothed."""
        notes = [note for several in self.recordings.values() for motion in several for note in motion.notes]
        if self._resampled:
            notes.append(
                f"Resampled to steps of {self.step:.3g} s, so that all times count alike: {quoted(self._resampled)}."
            )
        return list(dict.fromkeys(notes))

    def _is_even(self, recording: Trajectory) -> bool:
        """Whether its samples are at the steps of the study; the last step may be shorter."""
        return bool(np.allclose(np.diff(recording.t)[:-1], self.step, rtol=0.01, atol=0.0))
