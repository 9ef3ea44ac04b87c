"""Statistics of joints in activities: what a motor has to deliver, and which terms it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from chainrule.arguments import Array
from chainrule.study.distributions import Distribution
from chainrule.study.torques import MotionTorques

QUANTITIES = ("angle", "speed", "acceleration", "torque", "gravity", "dynamic", "power")
"""What is collected of every joint: `dynamic` is the sum of inertial, centrifugal and Coriolis torques."""

LOADED_SHARE = 0.1
"""A joint counts as loaded while its torque exceeds this share of its peak in the activity."""


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
    """Negative work of a motion, in J, as a positive number: what the joint is driven with and a drive could take back."""
    duty_cycle: float
    """The share of the time in which the torque exceeds a tenth of its peak."""
    shares: Mapping[str, float]
    """The share of each term in the sum of the mean magnitudes of all terms."""
    dynamic_beyond_gravity: float
    """The share of the time in which the dynamic torque exceeds that of gravity."""

    def __getitem__(self, quantity: str) -> Distribution:
        return self.distributions[quantity]

    @property
    def peak_torque(self) -> float:
        """The largest magnitude of the torque."""
        return self["torque"].peak

    @property
    def rms_torque(self) -> float:
        """The root of the mean square of the torque, which heats a motor."""
        return self["torque"].rms


@dataclass
class Collector:
    """Samples of one activity, motion by motion."""

    activity: str
    samples: dict[str, list[Array]] = field(default_factory=lambda: {name: [] for name in QUANTITIES})
    terms: dict[str, Array] = field(default_factory=dict)
    beyond: Array | float = 0.0
    work: Array | float = 0.0
    regenerated: Array | float = 0.0
    duration: float = 0.0
    motions: int = 0

    def add(self, torques: MotionTorques) -> None:
        """Take in one motion."""
        motion = torques.motion
        angles = motion.q if motion.q.shape == motion.qd.shape else _angles(torques)
        values = (angles, motion.qd, motion.qdd, torques.total, torques.gravity, torques.dynamic, torques.power)
        for name, array in zip(QUANTITIES, values, strict=True):
            self.samples[name].append(array.astype(np.float32))
        for name, term in torques.terms.items():
            if name != "total":
                self.terms[name] = self.terms.get(name, 0.0) + np.abs(term).sum(axis=0)
        self.beyond = self.beyond + (np.abs(torques.dynamic) > np.abs(torques.gravity)).sum(axis=0)
        self.work = self.work + np.trapezoid(np.maximum(torques.power, 0), motion.t, axis=0)
        self.regenerated = self.regenerated - np.trapezoid(np.minimum(torques.power, 0), motion.t, axis=0)
        self.duration += motion.duration
        self.motions += 1

    def finish(self, joints: Sequence[str]) -> list[JointStatistics]:
        """The statistics of each joint; the samples are given up."""
        columns = {name: np.ascontiguousarray(np.concatenate(parts).T) for name, parts in self.samples.items()}
        self.samples.clear()
        torque = np.abs(columns["torque"])
        peaks = torque.argmax(axis=1)
        rows = np.arange(len(joints))
        speeds = np.abs(columns["speed"][rows, peaks])
        loaded = (torque > LOADED_SHARE * torque[rows, peaks][:, None]).mean(axis=1)
        count = torque.shape[1]
        sums = sum(self.terms.values())
        return [
            JointStatistics(
                joint,
                self.activity,
                self.motions,
                self.duration,
                {name: Distribution.of(column[j]) for name, column in columns.items()},
                float(speeds[j]),
                float(self.work[j] / self.motions),
                float(self.regenerated[j] / self.motions),
                float(loaded[j]),
                {name: float(term[j] / sums[j]) if sums[j] else 0.0 for name, term in self.terms.items()},
                float(self.beyond[j] / count),
            )
            for j, joint in enumerate(joints)
        ]


def _angles(torques: MotionTorques) -> Array:
    """Displacements from the neutral configuration, of a robot with quaternions in q."""
    robot = torques.subject.robot
    return robot.difference(robot.neutral(), torques.motion.q)


def union(parts: Sequence[JointStatistics], activity: str) -> JointStatistics:
    """One joint in several activities together."""
    counts = np.array([part["torque"].count for part in parts], dtype=float)
    motions = np.array([part.motions for part in parts])
    worst = max(parts, key=lambda part: part.peak_torque)
    terms = sorted({name for part in parts for name in part.shares})
    mean = lambda values, weights: float(np.average(values, weights=weights))  # noqa: E731
    shares = {name: mean([part.shares.get(name, 0.0) for part in parts], counts) for name in terms}
    return JointStatistics(
        worst.joint,
        activity,
        int(motions.sum()),
        sum(part.duration for part in parts),
        {name: Distribution.union([part[name] for part in parts]) for name in QUANTITIES},
        worst.speed_at_peak_torque,
        mean([part.work for part in parts], motions),
        mean([part.regenerated for part in parts], motions),
        mean([part.duty_cycle for part in parts], counts),
        shares,
        mean([part.dynamic_beyond_gravity for part in parts], counts),
    )
