"""Statistics of joints in activities: what a motor has to deliver, and which terms it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from chainrule.arguments import Array, one_of
from chainrule.display.text import FieldsShown
from chainrule.lazy import cached_property
from chainrule.statistics.statistics import Statistics
from chainrule.study.torques import DYNAMIC, MotionTorques

PARTS = ("gravity", "dynamic", "contact", "other")
"""Parts of the torque, which add up to it: `dynamic` is the sum of inertial, centrifugal and Coriolis torques,
`contact` is due to the hand's force on its surroundings, `other` to friction, springs, dampers and closed loops."""

QUANTITIES = ("angle", "speed", "acceleration", "torque", *PARTS, "power")
"""Quantities that are collected of every joint."""

LOADED_SHARE = 0.1
"""A joint counts as loaded while its torque exceeds this share of its peak in the activity."""


@dataclass(frozen=True, eq=False, repr=False)
class JointStatistics(FieldsShown):
    """One joint in one activity, or in several, over all subjects and variants. SI units."""

    joint: str
    activity: str
    motions: int
    duration: float
    """Of all motions together, in s."""
    statistics: Statistics
    """Of all samples, with a column for each of QUANTITIES. Rows are the numbers of motions."""
    speed_at_peak_torque: float
    work: float
    """Positive work of a motion, in J: the mean over the motions."""
    regenerated: float
    """Negative work of a motion, in J, as a positive number: what a drive could take back."""
    magnitudes: Mapping[str, float]
    """The mean magnitude of each term of the torque over all samples, in N m or N."""
    dynamic_beyond_gravity: float
    """The share of the time in which the dynamic torque exceeds that of gravity."""

    def __getitem__(self, quantity: str) -> Statistics:
        """The statistics of one quantity."""
        return self.statistics[one_of(QUANTITIES, quantity, "quantity", "a study")]

    @property
    def shares(self) -> dict[str, float]:
        """The share of each term in the sum of the mean magnitudes of all terms."""
        whole = sum(self.magnitudes.values())
        return {name: mean / whole if whole else 0.0 for name, mean in self.magnitudes.items()}

    def share(self, part: str) -> float:
        """The share of a part of the torque: that of all terms in it."""
        one_of(PARTS, part, "part", "the torque")
        own = {"dynamic": DYNAMIC, "other": set(self.magnitudes) - {*DYNAMIC, "gravity", "contact"}}.get(part, {part})
        return sum(share for name, share in self.shares.items() if name in own)

    @cached_property
    def duty_cycle(self) -> float:
        """The share of the time in which the torque exceeds a tenth of its peak.

        Samples within 1.6 percent of that limit, the width of a bin of the statistics, are counted in proportion.
        """
        torque = self["torque"]
        limit = float(LOADED_SHARE * torque.peak)
        return 1 - float(torque.histogram([-limit, limit])[0][0] / torque.count) if limit else 0.0

    @property
    def peak_torque(self) -> float:
        """The largest magnitude of the torque."""
        return float(self["torque"].peak)

    @property
    def rms_torque(self) -> float:
        """The root of the mean square of the torque, which heats a motor."""
        return float(self["torque"].rms)


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
    """The sum of the magnitudes of each term."""

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
class Collector:
    """Statistics of one activity, motion by motion, in bounded memory."""

    activity: str
    statistics: Statistics | None = None
    """Of each joint and quantity."""
    sums: Sums | None = None

    def add(self, torques: MotionTorques, number: int) -> None:
        """Take in the motion of this number."""
        motion = torques.motion
        parts = (getattr(torques, part) for part in PARTS)
        values = (torques.angles, motion.qd, motion.qdd, torques.total, *parts, torques.power)
        statistics = Statistics.of(np.stack(values, axis=2), np.full(len(motion), number), names=QUANTITIES)
        self.join(Collector(self.activity, statistics, Sums.of(torques)))

    def join(self, other: Collector) -> None:
        """Take in what another one has collected of later motions."""
        if self.statistics is None or self.sums is None:
            self.statistics, self.sums = other.statistics, other.sums
        elif other.statistics is not None and other.sums is not None:
            self.statistics, self.sums = self.statistics.merge(other.statistics), self.sums.plus(other.sums)

    def finish(self, joints: Sequence[str]) -> list[JointStatistics]:
        """The statistics of each joint."""
        assert self.sums is not None
        assert self.statistics is not None
        motions, duration, work, regenerated, beyond, _, speeds, terms = self.sums
        return [
            JointStatistics(
                joint,
                self.activity,
                motions,
                duration,
                (own := self.statistics[j]),
                float(speeds[j]),
                float(work[j] / motions),
                float(regenerated[j] / motions),
                {name: float(term[j] / own["torque"].count) for name, term in terms.items()},
                float(beyond[j] / own["torque"].count),
            )
            for j, joint in enumerate(joints)
        ]


def union(parts: Sequence[JointStatistics], activity: str) -> JointStatistics:
    """One joint in several activities together."""
    worst = max(parts, key=lambda part: part.peak_torque)
    samples = [int(part["torque"].count) for part in parts]
    motions = [part.motions for part in parts]
    terms = dict.fromkeys(name for part in parts for name in part.magnitudes)
    return JointStatistics(
        worst.joint,
        activity,
        sum(motions),
        sum(part.duration for part in parts),
        Statistics.union([part.statistics for part in parts]),
        worst.speed_at_peak_torque,
        _mean([part.work for part in parts], motions),
        _mean([part.regenerated for part in parts], motions),
        {name: _mean([part.magnitudes.get(name, 0.0) for part in parts], samples) for name in terms},
        _mean([part.dynamic_beyond_gravity for part in parts], samples),
    )


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return float(np.average(values, weights=weights))
