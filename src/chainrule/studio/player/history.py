"""What was seen of a motion that goes on: a ring of samples, so that memory stays the same however long it runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array


class RecentSamples:
    """The last samples of a motion: a time and a row of numbers each. The oldest are forgotten when it is full.

    >>> history = RecentSamples(width=1, capacity=3)
    >>> for k in range(5):
    ...     history.append(0.1 * k, [k])
    >>> history.times.round(1).tolist(), history.rows[:, 0].tolist()
    ([0.2, 0.3, 0.4], [2.0, 3.0, 4.0])
    """

    def __init__(self, width: int, capacity: int) -> None:
        self.capacity = capacity
        self._times, self._rows = np.empty(capacity), np.empty((capacity, width))
        self._first = self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """The memory that it takes, full or not."""
        return self._times.nbytes + self._rows.nbytes

    def append(self, time: float, row: Array | list[float]) -> None:
        """Add a sample, later than those before it."""
        if self._count == self.capacity:
            self._first = (self._first + 1) % self.capacity
            self._count -= 1
        place = (self._first + self._count) % self.capacity
        self._times[place], self._rows[place] = time, row
        self._count += 1

    def _places(self) -> NDArray[np.int_]:
        return (self._first + np.arange(self._count)) % self.capacity

    @property
    def times(self) -> Array:
        """Times (T,), oldest first."""
        return self._times[self._places()]

    @property
    def rows(self) -> Array:
        """Rows (T, width), oldest first."""
        return self._rows[self._places()]

    @property
    def first(self) -> float:
        """The time of the oldest sample."""
        return float(self._times[self._first])

    @property
    def last(self) -> float:
        """The time of the newest sample."""
        return float(self._times[(self._first + self._count - 1) % self.capacity])

    def at(self, time: float) -> tuple[float, Array]:
        """The newest sample that is not later than a time, or the oldest one."""
        k = max(int(np.searchsorted(self.times, time + 1e-12, side="right")) - 1, 0)
        place = (self._first + k) % self.capacity
        return float(self._times[place]), self._rows[place].copy()

    def forget_after(self, time: float) -> None:
        """Forget the samples after a time; the oldest one stays."""
        self._count = max(int(np.searchsorted(self.times, time + 1e-12, side="right")), 1)

    def drop_newest(self) -> None:
        """Forget the newest sample."""
        self._count -= 1
