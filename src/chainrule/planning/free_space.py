"""Free configurations, and how far straight lines from them are free.

A configuration is free if its clearance, the smallest distance of the robot's bodies from each other and from the
world, is not below what is asked. On a line between two configurations no point of the robot moves farther than
`reach` says, so that a clearance in the middle of an interval that is larger by half of that motion shows that the
whole interval is free: most of a line is decided by few clearances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array

Truths = NDArray[np.bool_]

RESOLUTION = 1e-3
"""The motion, in m, below which an interval is free if its middle is: a dip of the clearance inside is a thousand times
smaller."""
STRIDE = 0.2
"""The motion, in m, after which a line is brought back to where a demand on poses is met."""
FIRST_INTERVAL = 0.6
"""The motion, in m, of the intervals that a line is looked at in first."""
TOLERANCE = 1e-6
"""The part of a meter by which the clearance may be missed between the places that were looked at."""


@dataclass(frozen=True)
class FreeSpace:
    """The free configurations of a robot within its limits."""

    clear: Callable[[Array], Array]
    """The clearance in m (...,) of configurations (..., n)."""
    clearance: float
    """The smallest that is free, in m."""
    sample: Callable[[np.random.Generator, int], Array]
    """Random configurations (count, n) within the limits, free or not."""
    reach: Array
    """How far a point of the robot moves at most for each unit of a coordinate (n,), in m/rad or m/m."""
    project: Callable[[Array], Array] | None = None
    """Configurations (m, n) near to others that meet a demand which few random ones meet; None where there is none."""

    def stride(self, a: Array, b: Array) -> Array:
        """The next configurations from a (m, n) towards b: b, or a stride of the way where a demand is to be met."""
        if self.project is None:
            return b
        share = STRIDE / np.maximum(self.motion(a, b), STRIDE)
        return np.where(share[:, None] < 1.0, self.project(a + share[:, None] * (b - a)), b)

    def motion(self, a: Array, b: Array) -> Array:
        """The farthest that a point of the robot moves on straight lines between configurations (...,), in m."""
        return np.asarray(np.abs(b - a) @ self.reach)

    def is_free(self, q: Array) -> Truths:
        """Whether configurations (..., n) are free, but for the tolerance."""
        return np.asarray(self.clear(q) >= self.clearance - TOLERANCE)

    def lines_free(self, a: Array, b: Array) -> Truths:
        """Whether whole straight lines from free configurations a (m, n) to b are free: (m,)."""
        return np.asarray(self.advance(a, b, whole=True) >= 1.0)

    def advance(self, a: Array, b: Array, *, whole: bool = False) -> Array:
        """The share of straight lines (m,), from free configurations a (m, n) towards b, that is free.

        With `whole`, a line that is not free at all its length is given up at its first place that is not.
        """
        length = self.motion(a, b)
        step = b - a
        parts = np.maximum(np.ceil(length / FIRST_INTERVAL), 1.0).astype(int)
        line = np.repeat(np.arange(len(a)), parts)
        place = np.arange(len(line)) - np.repeat(np.cumsum(parts) - parts, parts)
        low, high = place / parts[line], (place + 1) / parts[line]
        line = np.concatenate([line, np.arange(len(a))])  # and the ends of the lines, as intervals without length
        low, high = np.concatenate([low, np.ones(len(a))]), np.concatenate([high, np.ones(len(a))])
        blocked = np.full(len(a), np.inf)
        share = np.ones(len(a))
        while len(line):
            middle = (low + high) / 2
            half = (high - low) / 2 * length[line]
            room = self.clear(a[line] + middle[:, None] * step[line]) - self.clearance
            hit, short = room < 0, half <= RESOLUTION / 2
            np.minimum.at(blocked, line[hit], middle[hit])
            np.minimum.at(share, line[hit & short], low[hit & short])
            unknown = ~short & (hit | (room < half))
            if whole:
                share[np.isfinite(blocked)] = 0.0
                unknown &= np.isinf(blocked[line])
            right = unknown & ~hit
            line = np.concatenate([line[unknown], line[right]])
            low = np.concatenate([low[unknown], middle[right]])
            high = np.concatenate([middle[unknown], high[right]])
            ahead = low < blocked[line]
            line, low, high = line[ahead], low[ahead], high[ahead]
        share = np.minimum(share, blocked)
        ends = np.flatnonzero(np.isfinite(blocked) & (share > 0))
        while len(ends):  # an interval is free by its middle: step back from an end that is not
            ends = ends[self.clear(a[ends] + share[ends, None] * step[ends]) < self.clearance]
            share[ends] = np.maximum(share[ends] - RESOLUTION / length[ends], 0.0)
            ends = ends[share[ends] > 0]
        return np.asarray(share)
