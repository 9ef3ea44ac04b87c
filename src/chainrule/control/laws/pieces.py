"""References as tables of polynomials, of which compiled code takes one row at a time."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence

import numpy as np

from chainrule.arguments import Array
from chainrule.spatial import Scalar

Scalars = Sequence[Scalar]


class Pieces:
    """A reference as polynomials of the time since each piece began, with the rest before and after as pieces.

    `signals(row, dt)` computes the signals of a target from the row of a piece, over generic scalars.
    """

    def __init__(
        self, breaks: Array, rows: Array, key: str, signals: Callable[[Scalars, Scalar], list[Scalar]]
    ) -> None:
        self.breaks, self.key, self.signals = breaks.tolist(), (key, rows.shape[-1]), signals
        self.rows = [np.ascontiguousarray(row) for row in rows]
        """The rest before, the pieces, and the rest after."""
        self.width = rows.shape[-1]

    def at(self, t: float) -> tuple[Array, float]:
        """The row of the piece at a time, and how long the piece has lasted, in s."""
        breaks = self.breaks
        if breaks[0] <= t <= breaks[-1]:
            k = min(bisect_right(breaks, t), len(breaks) - 1)
            return self.rows[k], t - breaks[k - 1]
        return self.rows[0 if t < breaks[0] else -1], t if math.isnan(t) else 0.0  # a time that is no number gives none
