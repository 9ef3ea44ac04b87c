"""Gravity against dynamics: does the torque of gravity exceed all dynamic terms together, and up to which pace?

Inertial, centrifugal and Coriolis torques of a motion that is played k times as fast are k^2 times as large, that of
gravity stays. So the pace at which they are equal is the root of their ratio, without another simulation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.arguments import one_of
from chainrule.display.text import Shown
from chainrule.study.statistics import JointStatistics

MEASURES = {"peak": "peaks", "rms": "root mean squares"}

SLOWEST_PACE = 0.01
"""Where only a slower pace would do, gravity is said not to act."""

NEGLIGIBLE_NM = 1e-9
"""Dynamic torques up to this one are rounding: gravity is not compared with them."""


@dataclass(frozen=True, eq=False)
class GravityComparison:
    """Gravity and dynamics of one joint in one activity."""

    joint: str
    activity: str
    gravity: float
    dynamic: float
    unit: str = "N m"
    """N where the joint slides."""

    @property
    def holds(self) -> bool:
        """Whether gravity exceeds the dynamic terms."""
        return self.gravity > self.dynamic or self.dynamic <= NEGLIGIBLE_NM

    @property
    def critical_pace(self) -> float:
        """The factor of speed at which both would be equal: infinite for a joint that does not move."""
        return float(np.sqrt(self.gravity / self.dynamic)) if self.dynamic > NEGLIGIBLE_NM else np.inf


@dataclass(frozen=True, eq=False, repr=False)
class GravityFinding(Shown):
    """Whether gravity exceeds all dynamic terms together in every joint and activity."""

    measure: str
    comparisons: tuple[GravityComparison, ...]
    """Of every joint in every activity, the lowest critical pace first."""

    @staticmethod
    def of(cells: Sequence[JointStatistics], measure: str = "peak", sliding: Collection[str] = ()) -> GravityFinding:
        """The finding by peaks or by root mean squares; some of the joints slide."""
        one_of(MEASURES, measure, "measure", "finding")
        compared = (
            GravityComparison(
                c.joint,
                c.activity,
                getattr(c["gravity"], measure),
                getattr(c["dynamic"], measure),
                "N" if c.joint in sliding else "N m",
            )
            for c in cells
        )
        return GravityFinding(measure, tuple(sorted(compared, key=lambda c: c.critical_pace)))

    @property
    def holds(self) -> bool:
        """Whether there is no exception."""
        return all(c.holds for c in self.comparisons)

    @property
    def exceptions(self) -> tuple[GravityComparison, ...]:
        """Joints in activities where the dynamic terms are larger, the largest excess first."""
        return tuple(c for c in self.comparisons if not c.holds)

    @property
    def critical_pace(self) -> float:
        """The factor of speed up to which it holds everywhere: below one where there are exceptions."""
        return self.comparisons[0].critical_pace

    def share_at(self, pace: float) -> float:
        """The share of joints in activities where it holds when all motions are played at this pace."""
        return float(np.mean([c.critical_pace > pace for c in self.comparisons]))

    def _view(self) -> Iterator[str]:
        yield self.sentence()

    def sentence(self, joints: Mapping[str, str] | None = None, activities: Mapping[str, str] | None = None) -> str:
        """The finding in words, with other names of joints and activities where some are given."""
        first, count = self.comparisons[0], len(self.comparisons)
        joint = repr(first.joint) if joints is None else joints[first.joint]
        activity = repr(first.activity) if activities is None else repr(activities[first.activity])
        place = f"{joint} in {activity}"
        if self.holds:
            compared = "one pair" if count == 1 else f"{count} pairs"
            limit = (
                f"It would cease to at {_factor(self.critical_pace)} times the pace, first in {place}."
                if np.isfinite(self.critical_pace)
                else "There are no dynamic terms, at any pace."
            )
            return (
                f"Gravity exceeds all dynamic terms together in every joint and activity ({compared} compared by their "
                f"{MEASURES[self.measure]}). {limit}"
            )
        held = count - len(self.exceptions)
        limit = (
            f"It would hold everywhere below {_factor(self.critical_pace)} times the pace."
            if self.critical_pace >= SLOWEST_PACE
            else "Gravity hardly acts on this joint, so that it holds at no pace."
        )
        return (
            f"Gravity exceeds all dynamic terms together in {held} of {count} pairs of joint and activity, compared by "
            f"their {MEASURES[self.measure]}, not in all. The largest exception is {place}: {first.dynamic:.3g} "
            f"{first.unit} against {_torque(first.gravity, first.dynamic)} {first.unit} of gravity. {limit}"
        )


def _torque(gravity: float, dynamic: float) -> str:
    """Gravity beside a dynamic torque: rounding is no torque."""
    return f"{gravity:.3g}" if gravity > 1e-6 * dynamic else "0"


def _factor(pace: float) -> str:
    """A factor with enough digits to be told from one."""
    return f"{pace:.2g}" if abs(pace - 1) > 0.05 else f"{pace:.4g}"
