"""Cubic cells that hold points of a workspace, counted as the points come: memory grows with the cells, not the points.

All of it is counts, bits, largest and smallest values, with the lowest number of a posture where values are equal. So
tables can be merged in any order, and the result is the same to the last bit however the postures were divided.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.errors import ModelError, ShapeError
from chainrule.kinematics.samples import PATCHES, Indices, Measured, approach_patches

MAX_TABLE_BYTES = 400_000_000
"""Memory that the cells of one table may take."""

MAX_BOX_CELLS = 1 << 26
"""Cells of the box around all points, occupied or not: each takes four bytes."""

MASK_BYTES = PATCHES // 8
"""Bytes of the bits that say which patches of approach directions were found."""

POINTS_PER_CELL = 30
"""Points in each of the coarse cells by which the number of fine ones is estimated, if the points filled their box."""

EXTREMES = ("x low", "y low", "z low", "x high", "y high", "z high", "nearest", "farthest")
"""The postures that are kept beside the cells: those on the bounds, and those nearest to the base and farthest."""

SIGNS = np.array([1, 1, 1, -1, -1, -1, 1, -1.0])
"""An extreme is the least of the value times its sign."""

NO_POSTURE = np.iinfo(np.int64).max

_BITS = (1 << (np.arange(PATCHES) % 8)).astype(np.uint8)


class Cells(NamedTuple):
    """The contents of a table, sorted by cell: what is sent between processes."""

    places: NDArray[np.int32]
    """Cells that hold a point, as multiples of their side: (cells, 3)."""
    counts: Indices
    """Points in each."""
    manipulability: Array
    """The largest in each."""
    q: Array
    """The posture with the largest manipulability: (cells, nq)."""
    numbers: Indices
    """The number of that posture."""
    directions: NDArray[np.uint8]
    """Bits of the approach directions found: (cells, 9)."""
    extremes: Array
    """Values of EXTREMES, the last two squared distances: (8,)."""
    extreme_q: Array
    """Their postures: (8, nq)."""
    extreme_numbers: Indices
    """The numbers of those postures: (8,)."""


def most_cells(nq: int) -> int:
    """Cells that a table of postures with nq coordinates may have."""
    return MAX_TABLE_BYTES // bytes_per_cell(nq)


def bytes_per_cell(nq: int) -> int:
    """Bytes that each occupied cell takes."""
    return 3 * 4 + 8 + 8 + 8 * nq + 8 + MASK_BYTES


class CellTable:
    """Cells of a side, in m, that grow in number as points come."""

    def __init__(self, side: float, nq: int) -> None:
        self.side, self.nq = side, nq
        self.most = most_cells(nq)
        self.size = 0
        self._low = np.zeros(3, dtype=np.int64)
        self._shape = np.zeros(3, dtype=np.int64)
        self._slots = np.zeros(0, dtype=np.int32)
        self._places = np.zeros((0, 3), dtype=np.int32)
        self._counts, self._numbers = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._best, self._q = np.zeros(0), np.zeros((0, nq))
        self._directions = np.zeros((0, MASK_BYTES), dtype=np.uint8)
        self._extremes, self._extreme_q = SIGNS * math.inf, np.zeros((len(EXTREMES), nq))
        self._extreme_numbers = np.full(len(EXTREMES), NO_POSTURE)

    def add(self, measured: Measured, q: Array, first: int) -> None:
        """Count the points of postures (N, nq), whose numbers begin with `first` and are larger than all before."""
        self._add_extremes(measured, q, first)
        slots = self._find(np.floor(measured.position / self.side))
        np.add.at(self._counts, slots, 1)
        self._add_best(slots, measured.manipulability, q, first)
        self._add_directions(slots, approach_patches(measured.approach))

    def _add_extremes(self, measured: Measured, q: Array, first: int) -> None:
        p = measured.position
        squares = p[0] * p[0] + p[1] * p[1] + p[2] * p[2]
        rows = np.array([*p.argmin(axis=1), *p.argmax(axis=1), squares.argmin(), squares.argmax()])
        found = np.array([*p[[0, 1, 2, 0, 1, 2], rows[:6]], *squares[rows[6:]]])
        if not (np.isfinite(found).all() and np.isfinite(measured.manipulability.max())):
            raise ModelError("workspace: a random posture has a position or a manipulability that is not finite")
        self._keep_extremes(found, q[rows], first + rows)

    def _keep_extremes(self, values: Array, q: Array, numbers: Indices) -> None:
        new, old = SIGNS * values, SIGNS * self._extremes
        better = (new < old) | ((new == old) & (numbers < self._extreme_numbers))
        self._extremes[better], self._extreme_q[better] = values[better], q[better]
        self._extreme_numbers[better] = numbers[better]

    def _add_best(self, slots: Indices, w: Array, q: Array, first: int) -> None:
        better = np.flatnonzero(w > self._best.take(slots))[::-1]
        better = better[np.argsort(w[better], kind="stable")]  # the last of a cell is its best, and the first of equals
        cells = slots[better]
        self._best[cells], self._q[cells], self._numbers[cells] = w[better], q[better], first + better

    def _add_directions(self, slots: Indices, patches: Indices) -> None:
        bytes_ = self._directions.reshape(-1)
        places, bits = slots * MASK_BYTES + (patches >> 3), _BITS.take(patches)
        missing = np.flatnonzero((bytes_.take(places) & bits) == 0)
        while len(missing):  # of several bits for one byte, each round sets one
            places, bits = places[missing], bits[missing]
            bytes_[places] |= bits
            missing = np.flatnonzero((bytes_[places] & bits) == 0)

    def merge(self, cells: Cells) -> None:
        """Count the cells of another table of the same side and robot."""
        if not len(cells.counts):
            return
        self._keep_extremes(cells.extremes, cells.extreme_q, cells.extreme_numbers)
        slots = self._find(cells.places.T.astype(float))
        self._counts[slots] += cells.counts
        self._directions[slots] |= cells.directions
        best = self._best[slots]
        equal = (cells.manipulability == best) & (cells.numbers < self._numbers[slots])
        better = np.flatnonzero((cells.manipulability > best) | equal)
        at = slots[better]
        self._best[at], self._q[at] = cells.manipulability[better], cells.q[better]
        self._numbers[at] = cells.numbers[better]

    def cells(self) -> Cells:
        """What the table holds, sorted by x, y and z."""
        order = np.argsort(self._keys(self._places[: self.size].T.astype(float)))
        return Cells(
            self._places[order], self._counts[order], self._best[order], self._q[order], self._numbers[order],
            self._directions[order], self._extremes, self._extreme_q, self._extreme_numbers,
        )  # fmt: skip

    # --- which cell is where ---

    def _find(self, places: Array) -> Indices:
        """The slots of cells (3, N), which are made where they are new."""
        low, high = places.min(axis=1), places.max(axis=1)
        if (low < self._low).any() or (high >= self._low + self._shape).any():
            self._widen(low, high)
        keys = self._keys(places)
        slots = self._slots.take(keys)
        new = slots < 0
        if new.any():
            fresh = np.unique(keys[new])
            added = self._extend(len(fresh))
            self._slots[fresh] = np.arange(added.start, added.stop)
            self._places[added] = np.stack(np.unravel_index(fresh, tuple(self._shape)), axis=-1) + self._low
            slots = self._slots.take(keys)
        return slots.astype(np.int64)

    def _keys(self, places: Array) -> Indices:
        """Numbers of cells in the box."""
        x, y, z = places - self._low[:, None]
        return np.asarray(((x * self._shape[1] + y) * self._shape[2] + z).astype(np.int64))

    def _widen(self, low: Array, high: Array) -> None:
        """Make the box large enough for cells from low to high, with some room for more."""
        if self.size:
            low, high = np.minimum(low, self._low), np.maximum(high, self._low + self._shape - 1)
        room = np.ceil((high - low) / 16)
        if np.prod(high - low + 2 * room + 1) > MAX_BOX_CELLS:
            room = np.zeros(3)
        if np.prod(high - low + 1) > MAX_BOX_CELLS or max(np.abs(low).max(), np.abs(high).max()) > MAX_BOX_CELLS:
            self._refuse(float(np.prod(high - low + 1)) / MAX_BOX_CELLS)
        start = (low - room).astype(np.int64)
        shape = (high + room).astype(np.int64) + 1 - start
        slots = np.full(tuple(shape), -1, dtype=np.int32)
        at = self._low - start
        inside = tuple(slice(a, a + n) for a, n in zip(at, self._shape, strict=True))
        if self.size:
            slots[inside] = self._slots.reshape(tuple(self._shape))
        self._low, self._shape, self._slots = start, shape, slots.reshape(-1)

    def _extend(self, count: int) -> slice:
        """The slots of further cells, for which there is room then."""
        added = slice(self.size, self.size + count)
        self.size = added.stop
        if self.size > self.most:
            self._refuse(2.0)
        if self.size <= len(self._counts):
            return added
        room = min(self.most, max(self.size * 3 // 2, 1024))

        def longer(array: NDArray[Any], fill: float) -> NDArray[Any]:
            rest = np.full((room - len(array), *array.shape[1:]), fill, dtype=array.dtype)
            return np.concatenate([array, rest])

        self._places, self._counts, self._q = longer(self._places, 0), longer(self._counts, 0), longer(self._q, 0)
        self._best, self._numbers = longer(self._best, -1), longer(self._numbers, NO_POSTURE)
        self._directions = longer(self._directions, 0)
        return added

    def _refuse(self, excess: float) -> NoReturn:
        raise too_many_cells(self.side, self.side * max(excess, 1.0) ** (1 / 3), self.most)


def too_many_cells(side: float, fitting: float, most: int) -> ShapeError:
    """The error for cells that are too small, which names a side that fits."""
    digits = 1 - math.floor(math.log10(fitting))
    rounded = math.ceil(fitting * 10.0**digits) / 10.0**digits
    return ShapeError(
        f"workspace: cells of {side:g} m would be more than {most:,}, which is what memory is kept for; take "
        f"cell={rounded:g} or more"
    )


def expected_cells(position: Array, side: float) -> tuple[float, float]:
    """How many cells many more points like these (3, N) would occupy, at most about, and the cells of their box."""
    extent = np.ptp(position, axis=1)
    coarse = max(side, float(np.prod(extent + side) * POINTS_PER_CELL / position.shape[1]) ** (1 / 3))
    occupied = len(np.unique(np.floor(position / coarse), axis=1).T)
    fine = np.minimum(coarse, extent + side) / side
    return occupied * float(np.prod(fine)), float(np.prod(extent / side + 3))


def refuse_too_many_cells(position: Array, side: float, nq: int) -> float:
    """Cells that points like these (3, N) will occupy, refused where they are too many, with a side that fits."""
    most, fitting = most_cells(nq), side
    while True:
        cells, box = expected_cells(position, fitting)
        excess = max(cells / most, box / MAX_BOX_CELLS)
        if excess <= 1:
            break
        fitting *= max(1.02, excess ** (1 / 3))
    if fitting > side:
        raise too_many_cells(side, fitting, most)
    return cells
