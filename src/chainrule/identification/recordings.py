"""Recorded motions as samples for identification, and what is wrong with them, by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.dynamics.dynamics import inverse_dynamics
from chainrule.errors import ShapeError, quoted, short_repr
from chainrule.identification.streamed import RecordedSamples
from chainrule.motion.recorded import MEASURED
from chainrule.motion.times import GAP_FACTOR
from chainrule.simulation.trajectory import Trajectory

MAX_SAMPLED = 20_000
"""States from which outliers, noise and weights are found; of longer recordings, pieces that are evenly spread."""

END_SAMPLES = 10
"""Samples at the ends of a recording, and beside gaps, that are left out: curves through positions are bad there."""

SLOW = 0.02
"""The share of a joint's largest speed below which dry friction, whose sign is not sure there, is not looked at."""

STILL = 1e-3
"""The range of a position, in rad or m, up to which a joint stands still."""

CLIPPED_SHARE, CLIPPED_SAMPLES = 5e-3, 20
"""The share of a joint's samples, and the number of them, that are equal to its largest torque where it is clipped."""

Motions = Trajectory | str | PathLike[str]


class Overview(NamedTuple):
    """Summary of recordings: how much they hold, and what is wrong with them."""

    samples: int
    used: Array
    """The torques of each joint that count (nv,)."""
    still: tuple[str, ...]
    """Joints that do not move."""
    clipped: tuple[str, ...]
    ranges: Array
    """The range of each velocity's own coordinate (nv,), and below it the rms of the velocity: (2, nv)."""


class Recordings:
    """Recordings of one robot, which are read anew each time: files are loaded one after the other."""

    def __init__(self, robot: Mechanism, motions: Any, what: str, *, has_dry_friction: bool) -> None:
        single = isinstance(motions, (Trajectory, str, PathLike))
        if not single and not isinstance(motions, Sequence):
            raise ShapeError(
                f"identify: {what} must be trajectories or files in a list, which is read several times, got "
                f"{short_repr(motions)}"
            )
        self.robot, self.what, self.has_dry_friction = robot, what, has_dry_friction
        self.sources: list[Any] = [motions] if single else list(motions)
        if not self.sources:
            raise ShapeError(f"identify: {what} holds no motion")
        self._facts: list[tuple[Array, Array]] = []
        self.findings = self._look()

    def trajectories(self) -> Iterator[tuple[int, Trajectory]]:
        """The motions with their numbers; batches as one motion after the other."""
        for number, source in enumerate(self.sources):
            motion = source
            if isinstance(source, (str, PathLike)):
                motion = Trajectory.load(source, self.robot)
            if not isinstance(motion, Trajectory):
                raise ShapeError(f"identify: {self.what}[{number}] must be a Trajectory, got {short_repr(motion)}")
            yield number, motion

    def stretches(self) -> Iterator[RecordedSamples]:
        """The samples of all motions, and which of them count."""
        for place, (number, motion) in enumerate(self.trajectories()):
            largest, fastest = self._facts[place]
            counts = np.isfinite(motion.tau) & (np.abs(motion.tau) < largest)
            if self.has_dry_friction:
                counts &= np.abs(motion.qd) > SLOW * fastest
            if motion.method == MEASURED:
                counts &= _is_sure(motion.t)[:, None]
            tau = np.where(counts, motion.tau, 0.0)
            n = self.robot.nv
            yield RecordedSamples(
                motion.q.reshape(-1, self.robot.nq), motion.qd.reshape(-1, n), motion.qdd.reshape(-1, n),
                tau.reshape(-1, n), counts.reshape(-1, n), number,
            )  # fmt: skip

    def sample(self) -> list[RecordedSamples]:
        """Pieces of all recordings, whole blocks, evenly spread."""
        every = max(1.0, self.findings.samples / MAX_SAMPLED)
        blocks = (block for stretch in self.stretches() for block in stretch.blocks())
        return [
            block.at(np.arange(len(block.q)))
            for i, block in enumerate(blocks)
            if int(i / every) != int((i - 1) / every) or i == 0
        ]

    def _look(self) -> Overview:
        """Find what stands still, is clipped or missing; refuse what does not fit the robot."""
        robot, names = self.robot, self.robot.model.layout.velocity_names
        low, high = np.full(robot.nq, np.inf), np.full(robot.nq, -np.inf)
        used, squares, samples = np.zeros(robot.nv), np.zeros(robot.nv), 0
        clipped: dict[str, None] = {}
        for number, motion in self.trajectories():
            where = f"identify: {self.what}[{number}]"
            own, other = robot.model.layout.coordinate_names, motion.robot.model.layout.coordinate_names
            if own != other:
                raise ShapeError(
                    f"{where} is a motion of robot {motion.robot.name!r}, with coordinates {quoted(other)}; robot "
                    f"{robot.name!r} has {quoted(own)}"
                )
            if motion.method == "recorded":
                raise ShapeError(
                    f"{where} has no measured torques, only those that the robot's numbers ask for; give them, with "
                    "Trajectory.from_samples(robot, t, q, tau=...) or Trajectory.load(..., tau=True)"
                )
            size = np.abs(motion.tau).reshape(-1, robot.nv)
            largest = np.nanmax(size, axis=0, initial=0.0)
            at_most = (size == largest).sum(axis=0)
            is_clipped = (at_most > CLIPPED_SAMPLES) & (at_most > CLIPPED_SHARE * len(size)) & (largest > 0)
            is_clipped &= np.nanmin(size, axis=0, initial=np.inf) < 0.9 * largest
            clipped |= dict.fromkeys(name for name, cut in zip(names, is_clipped, strict=True) if cut)
            fastest = np.abs(motion.qd).reshape(-1, robot.nv).max(axis=0)
            self._facts.append((np.where(is_clipped, largest, np.inf), fastest))
            samples += len(size)
            q = motion.q.reshape(-1, robot.nq)
            low, high = np.minimum(low, q.min(axis=0)), np.maximum(high, q.max(axis=0))
            squares += (motion.qd**2).reshape(-1, robot.nv).sum(axis=0)
        for stretch in self.stretches():
            used += stretch.counts.sum(axis=0)
        coordinates = robot.model.layout.coordinate_names
        moved = dict(zip(coordinates, high - low, strict=True))
        ranges = np.array([moved.get(name, np.inf) for name in names])
        still = tuple(name for name, span in zip(names, ranges, strict=True) if span < STILL)
        if not used.any():
            raise ShapeError(f"identify: no sample of {self.what} has a torque that counts")
        return Overview(samples, used, still, tuple(clipped), np.stack([ranges, np.sqrt(squares / samples)]))


def _is_sure(t: Array) -> NDArray[np.bool_]:
    """Whether a curve through positions is to be trusted at each time (T,): not at ends and gaps."""
    steps = np.diff(t)
    ends = [0, len(t) - 1]
    for i in np.flatnonzero(steps > GAP_FACTOR * np.median(steps)).tolist():
        ends += [i, i + 1]
    sure = np.ones(len(t), dtype=bool)
    for i in ends if len(t) > 10 * END_SAMPLES else []:
        sure[max(i - END_SAMPLES + 1, 0) : i + END_SAMPLES] = False
    return sure


def refuse_other_units(robot: Mechanism, pieces: Sequence[RecordedSamples]) -> None:
    """Refuse torques in other units than N m, and those whose sign is turned, by the robot's own numbers."""
    names = robot.model.layout.velocity_names
    q, qd, qdd, tau, counts = (np.concatenate([piece[i] for piece in pieces]) for i in range(5))
    expected = inverse_dynamics(robot, q, qd, qdd)
    slopes, turned, wrong = {}, [], []
    for k, name in enumerate(names):
        a, b = expected[counts[:, k], k], tau[counts[:, k], k]
        if len(a) < 10 or not a.std() > 1e-9 * max(1.0, np.abs(a).max()) or not b.std() > 0:
            continue
        ranks = [np.argsort(np.argsort(x)).astype(float) for x in (a, b)]  # outliers count little
        correlation = float(np.corrcoef(np.stack(ranks))[0, 1])
        if correlation < -0.8:
            turned.append(name)
        if abs(correlation) > 0.8:
            slopes[name] = float(np.median(np.abs(b - np.median(b))) / np.median(np.abs(a - np.median(a))))
            if not 0.02 < slopes[name] < 50:
                wrong.append(name)
    if wrong and len(wrong) == len(slopes):
        factor = float(np.median([slopes[name] for name in wrong]))
        raise ShapeError(
            f"identify: measured torques of {quoted(wrong)} are about {factor:.2g} times those of the robot's file: "
            'they seem to be in another unit than N m (N mm, percent or A); convert them, ask for "gains" where they '
            "are currents, or take them as they are with check=False"
        )
    if turned:
        raise ShapeError(
            f"identify: measured torques of {quoted(turned)} have the opposite sign of those that the robot's file "
            "asks for; turn the sign of these columns, or take them as they are with check=False"
        )
