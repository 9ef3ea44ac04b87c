"""States that a study keeps for the sizing of drives: some evenly spread in time, and the extreme ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.study.motions import Motion, evenly
from chainrule.study.torques import MotionTorques

STATES_PER_ACTIVITY = 4000
"""States that are kept of an activity, about, besides the extreme ones."""

MOTIONS_PER_ACTIVITY = 200
"""Motions of an activity of which evenly spread states are kept."""

MOST_EXTREME = 20
"""Motions that are kept for each extreme: those that go farthest."""


@dataclass(frozen=True, eq=False)
class MotionExtremes:
    """The largest and the least torque, speed, acceleration and power of each joint in a motion (8 n,)."""

    values: Array
    """With the sign by which the larger one is the more extreme; -inf where others go farther."""
    places: NDArray[np.intp]
    """Of their samples."""

    @staticmethod
    def of(torques: MotionTorques) -> MotionExtremes:
        """Those of a motion."""
        values, places = [], []
        for array in (torques.total, torques.motion.qd, torques.motion.qdd, torques.power):
            for signed, at in ((1, array.argmax(axis=0)), (-1, array.argmin(axis=0))):
                values.append(signed * array[at, np.arange(array.shape[1])])
                places.append(at)
        return MotionExtremes(np.concatenate(values), np.concatenate(places))


@dataclass(eq=False)
class KeptStates:
    """States of one activity, motion by motion, in bounded memory."""

    every_motion: int = 1
    """The distance of the motions of which evenly spread states are kept."""
    every_state: int = 1
    """The distance of these states."""
    motions: dict[int, Motion] = field(default_factory=dict)
    """With few samples each, by number."""
    extremes: dict[int, MotionExtremes] = field(default_factory=dict)
    """Of the motions, their places being those among the few samples."""
    room: int = 2 * MOST_EXTREME
    """Motions beyond which it is time to drop some."""

    @staticmethod
    def of(motions: int, samples: int) -> KeptStates:
        """An empty one for an activity of so many motions with so many samples together."""
        every_motion = -(-motions // MOTIONS_PER_ACTIVITY)
        return KeptStates(every_motion, max(1, samples // every_motion // STATES_PER_ACTIVITY))

    def empty(self) -> KeptStates:
        """An empty one with the same distances."""
        return KeptStates(self.every_motion, self.every_state)

    def add(self, torques: MotionTorques, number: int) -> None:
        """Take in the motion of this number."""
        even = np.zeros(len(torques.motion), dtype=bool)
        if number % self.every_motion == 0:
            even[evenly(self.every_state, number // self.every_motion)] = True
        self._keep(number, torques.motion, even, MotionExtremes.of(torques))
        self._drop_in_time()

    def join(self, other: KeptStates) -> None:
        """Take in what another one has kept of later motions."""
        self.motions |= other.motions
        self.extremes |= other.extremes
        self._drop_in_time()

    def drop_lesser(self) -> None:
        """Forget extremes that enough other motions exceed."""
        if len(self.extremes) > MOST_EXTREME:
            values = np.stack([one.values for one in self.extremes.values()])
            farthest = np.argsort(-values, axis=0, kind="stable")[:MOST_EXTREME]
            stays = np.zeros(values.shape, dtype=bool)
            np.put_along_axis(stays, farthest, True, axis=0)
            for (number, one), row in zip(list(self.extremes.items()), stays, strict=True):
                motion = self.motions[number]
                assert motion.even is not None
                self._keep(number, motion, motion.even, replace(one, values=np.where(row, one.values, -np.inf)))
        self.room = 2 * max(MOST_EXTREME, len(self.extremes))

    def _drop_in_time(self) -> None:
        if len(self.extremes) > self.room:
            self.drop_lesser()

    def _keep(self, number: int, motion: Motion, even: NDArray[np.bool_], extremes: MotionExtremes) -> None:
        """Keep the samples of a motion that are evenly spread or extreme, and nothing of one that has none."""
        counts = np.isfinite(extremes.values)
        chosen = even.copy()
        chosen[extremes.places[counts]] = True
        places = np.flatnonzero(chosen)
        if len(places):
            self.motions[number] = motion.at(places, even[places])
            among = np.where(counts, np.searchsorted(places, extremes.places), 0)
            self.extremes[number] = replace(extremes, places=among)
        else:
            self.motions.pop(number, None)
            self.extremes.pop(number, None)
