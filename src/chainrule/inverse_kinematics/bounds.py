"""Bounds of q: the joints' limits, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ModelError
from chainrule.inverse_kinematics.result import Truths

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism


class Bounds(NamedTuple):
    """The least and the greatest value of each coordinate of q (nq,), infinite where there is none."""

    lower: Array
    upper: Array

    @staticmethod
    def of_limits(robot: Mechanism) -> Bounds:
        """The joints' limits; quaternions have none."""
        layout = robot.model.layout
        bounds = Bounds(np.array(layout.lower, dtype=float), np.array(layout.upper, dtype=float))
        crossed = np.flatnonzero(bounds.lower > bounds.upper)
        if len(crossed):
            name = layout.coordinate_names[crossed[0]]
            raise ModelError(
                f"robot {robot.model.name!r}: the lower limit of coordinate {crossed[0]} ({name!r}) is above its upper "
                "one; with limits=False they do not count"
            )
        return bounds

    @staticmethod
    def infinite(nq: int) -> Bounds:
        """No bounds at all."""
        return Bounds(np.full(nq, -np.inf), np.full(nq, np.inf))

    @property
    def are_finite(self) -> bool:
        """Whether there is any bound."""
        return bool((np.isfinite(self.lower) | np.isfinite(self.upper)).any())

    @property
    def center(self) -> Array:
        """The middle of each coordinate's range (nq,); nan where the range has no middle."""
        with np.errstate(invalid="ignore"):
            middle: Array = (self.lower + self.upper) / 2
        return np.where(np.isfinite(middle), middle, np.nan)

    def clip(self, q: Array) -> Array:
        """The nearest configurations (..., nq) within the bounds."""
        return np.minimum(np.maximum(q, self.lower), self.upper)

    def contain(self, q: Array) -> Truths:
        """Whether configurations (..., nq) are within the bounds: (...)."""
        return np.asarray(((q >= self.lower) & (q <= self.upper)).all(axis=-1))
