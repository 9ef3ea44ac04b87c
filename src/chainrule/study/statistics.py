"""Statistics of joints in activities: what a motor has to deliver, and which terms it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.errors import UnknownNameError
from chainrule.study.distributions import Distribution
from chainrule.study.motions import evenly
from chainrule.study.torques import MotionTorques

QUANTITIES = ("angle", "speed", "acceleration", "torque", "gravity", "dynamic", "power")
"""What is collected of every joint: `dynamic` is the sum of inertial, centrifugal and Coriolis torques."""

LOADED_SHARE = 0.1
"""A joint counts as loaded while its torque exceeds this share of its peak in the activity."""

MAX_KEPT = 500_000
"""Samples of an activity that are kept for its quantiles, about, evenly spread in time. Moments and extremes are of
all."""


@dataclass(frozen=True, eq=False)
class JointStatistics:
    """One joint in one activity, or in several, over all subjects and variants. SI units."""

    joint: str
    activity: str
    motions: int
    duration: float
    """Of all motions together, in s."""
    distributions: Mapping[str, Distribution]
    """By quantity."""
    speed_at_peak_torque: float
    work: float
    """Positive work of a motion, in J: the mean over the motions."""
    regenerated: float
    """Negative work of a motion, in J, as a positive number: what a drive could take back."""
    duty_cycle: float
    """The share of the time in which the torque exceeds a tenth of its peak."""
    shares: Mapping[str, float]
    """The share of each term in the sum of the mean magnitudes of all terms."""
    dynamic_beyond_gravity: float
    """The share of the time in which the dynamic torque exceeds that of gravity."""

    def __getitem__(self, quantity: str) -> Distribution:
        if quantity not in self.distributions:
            raise UnknownNameError.of("quantity", quantity, self.distributions, "a study")
        return self.distributions[quantity]

    @property
    def peak_torque(self) -> float:
        """The largest magnitude of the torque."""
        return self["torque"].peak

    @property
    def rms_torque(self) -> float:
        """The root of the mean square of the torque, which heats a motor."""
        return self["torque"].rms


class Sums(NamedTuple):
    """Sums over the motions of an activity, for each joint (n,)."""

    motions: int
    duration: float
    work: Array
    regenerated: Array
    beyond: Array
    peak: Array
    """The largest magnitude of the torque."""
    speed_at_peak: Array
    terms: Mapping[str, Array]

    @staticmethod
    def of(torques: MotionTorques) -> Sums:
        """Those of one motion."""
        t, power, magnitude = torques.motion.t, torques.power, np.abs(torques.total)
        at, joints = magnitude.argmax(axis=0), np.arange(magnitude.shape[1])
        return Sums(
            1,
            torques.motion.duration,
            np.trapezoid(np.maximum(power, 0), t, axis=0),
            -np.trapezoid(np.minimum(power, 0), t, axis=0),
            (np.abs(torques.dynamic) > np.abs(torques.gravity)).sum(axis=0).astype(float),
            magnitude[at, joints],
            np.abs(torques.motion.qd[at, joints]),
            {name: np.abs(term).sum(axis=0) for name, term in torques.terms.items() if name != "total"},
        )

    def plus(self, other: Sums) -> Sums:
        """Both together."""
        none = np.zeros_like(self.work)
        terms = {
            name: self.terms.get(name, none) + other.terms.get(name, none) for name in {**self.terms, **other.terms}
        }
        return Sums(
            self.motions + other.motions,
            self.duration + other.duration,
            self.work + other.work,
            self.regenerated + other.regenerated,
            self.beyond + other.beyond,
            np.maximum(self.peak, other.peak),
            np.where(self.peak >= other.peak, self.speed_at_peak, other.speed_at_peak),
            terms,
        )


@dataclass
class Samples:
    """Samples of one quantity: moments and extremes of all, and those of evenly spread times."""

    parts: list[NDArray[np.float32]] = field(default_factory=list)
    count: int = 0
    total: Array | float = 0.0
    squares: Array | float = 0.0
    low: Array | float = np.inf
    high: Array | float = -np.inf

    def add(self, values: Array, places: slice) -> None:
        """Take in the values (T, n) of a motion, and keep those at some places."""
        self.parts.append(values[places].astype(np.float32))
        self.count += len(values)
        self.total = self.total + values.sum(axis=0)
        self.squares = self.squares + np.einsum("ij,ij->j", values, values)
        self.low, self.high = np.minimum(self.low, values.min(axis=0)), np.maximum(self.high, values.max(axis=0))

    def join(self, other: Samples) -> None:
        """Take in what others have collected."""
        self.parts += other.parts
        self.count += other.count
        self.total, self.squares = self.total + other.total, self.squares + other.squares
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)

    def columns(self) -> NDArray[np.float32]:
        """The samples of each joint (n, N), which are given up here."""
        parts, self.parts = self.parts, []
        out = np.empty((parts[0].shape[1], sum(map(len, parts))), dtype=np.float32)
        at = 0
        for part in parts:
            out[:, at : at + len(part)] = part.T
            at += len(part)
        return out

    def distributions(self, columns: NDArray[np.float32]) -> list[Distribution]:
        """One for each joint; the columns are sorted in place."""
        sums = zip(*np.broadcast_arrays(self.total, self.squares, self.low, self.high), strict=True)
        return [
            Distribution.of(column, self.count, *map(float, moments))
            for column, moments in zip(columns, sums, strict=True)
        ]


@dataclass
class Collector:
    """Samples of one activity, motion by motion, in bounded memory."""

    activity: str
    every: int = 1
    """The distance of the samples that are kept."""
    samples: dict[str, Samples] = field(default_factory=lambda: {name: Samples() for name in QUANTITIES})
    sums: Sums | None = None

    @staticmethod
    def distance(samples: int) -> int:
        """The distance at which enough of so many samples are kept."""
        return max(1, -(-samples // MAX_KEPT))

    def add(self, torques: MotionTorques, number: int) -> None:
        """Take in the motion of this number."""
        motion, places = torques.motion, evenly(self.every, number)
        values = (torques.angles, motion.qd, motion.qdd, torques.total, torques.gravity, torques.dynamic, torques.power)
        for name, array in zip(QUANTITIES, values, strict=True):
            self.samples[name].add(array, places)
        self._sum(Sums.of(torques))

    def join(self, other: Collector) -> None:
        """Take in what another one has collected of later motions."""
        for name, samples in self.samples.items():
            samples.join(other.samples[name])
        if other.sums is not None:
            self._sum(other.sums)

    def _sum(self, sums: Sums) -> None:
        self.sums = sums if self.sums is None else self.sums.plus(sums)

    def finish(self, joints: Sequence[str]) -> list[JointStatistics]:
        """The statistics of each joint; the samples are given up, one quantity after the other."""
        assert self.sums is not None
        motions, duration, work, regenerated, beyond, peaks, speeds, terms = self.sums
        found = {}
        for name, samples in self.samples.items():
            columns = samples.columns()
            if name == "torque":
                loaded = (np.abs(columns) > LOADED_SHARE * peaks[:, None]).mean(axis=1)
            found[name] = samples.distributions(columns)
        whole = np.sum(list(terms.values()), axis=0)
        return [
            JointStatistics(
                joint,
                self.activity,
                motions,
                duration,
                {name: found[name][j] for name in QUANTITIES},
                float(speeds[j]),
                float(work[j] / motions),
                float(regenerated[j] / motions),
                float(loaded[j]),
                {name: float(term[j] / whole[j]) if whole[j] else 0.0 for name, term in terms.items()},
                float(beyond[j] / self.samples["torque"].count),
            )
            for j, joint in enumerate(joints)
        ]


def union(parts: Sequence[JointStatistics], activity: str) -> JointStatistics:
    """One joint in several activities together."""
    worst = max(parts, key=lambda part: part.peak_torque)
    samples = [part["torque"].count for part in parts]
    motions = [part.motions for part in parts]
    terms = sorted({name for part in parts for name in part.shares})
    return JointStatistics(
        worst.joint,
        activity,
        sum(motions),
        sum(part.duration for part in parts),
        {name: Distribution.union([part[name] for part in parts]) for name in QUANTITIES},
        worst.speed_at_peak_torque,
        _mean([part.work for part in parts], motions),
        _mean([part.regenerated for part in parts], motions),
        _mean([part.duty_cycle for part in parts], samples),
        {name: _mean([part.shares.get(name, 0.0) for part in parts], samples) for name in terms},
        _mean([part.dynamic_beyond_gravity for part in parts], samples),
    )


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return float(np.average(values, weights=weights))
