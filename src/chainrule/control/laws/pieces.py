"""References as tables of polynomials, of which compiled code takes one row at a time."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ShapeError
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

    def at_times(self, t: Array) -> Array:
        """The rows at times (T,), each followed by how long its piece has lasted: (T, width + 1)."""
        breaks, last = np.array(self.breaks), len(self.breaks) - 1
        inside = (breaks[0] <= t) & (t <= breaks[last])
        k = np.minimum(np.searchsorted(breaks, t, side="right"), last)
        k = np.where(inside, k, np.where(t < breaks[0], 0, last + 1))
        since = np.where(inside, t - breaks[np.maximum(k, 1) - 1], 0.0 * t)
        return np.concatenate([np.array(self.rows)[k], since[:, None]], axis=-1)


MAX_TABLE = 2_000_000
"""Numbers in a table of a motion's values, 16 MB, at most."""


def pieces_of_values(signals: Callable[[Array], Array], duration: float, period: float) -> Pieces:
    """A motion as its values at multiples of a period, until its end."""
    count = int(np.ceil(duration / period * (1 - 1e-12))) + 1
    width = signals(np.zeros(1)).shape[-1]
    if count * width > MAX_TABLE:
        raise ShapeError(
            f"a motion of {duration:g} s that is no polynomial makes a table of {count} rows of {width} numbers, and "
            f"{MAX_TABLE} numbers are allowed; plan a shorter one, or take a lower rate"
        )
    t: Array = period * np.arange(count + 1, dtype=np.float64)
    rows = signals(t)
    return Pieces(t, np.concatenate([rows[:1], rows]), "values", _row)


def _row(row: Scalars, _since: Scalar) -> list[Scalar]:
    return list(row)
