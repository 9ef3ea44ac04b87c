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
from chainrule.kinematics.samples import PostureMeasures
from chainrule.kinematics.voxels import FLATNESS, MASK_BYTES, PATCHES, Indices, VoxelBox, approach_patches

MAX_TABLE_BYTES = 400_000_000
"""Memory that the cells of one table may take."""

MAX_BOX_CELLS = 1 << 26
"""Cells of the box around all points, occupied or not: each takes four bytes."""

POINTS_PER_CELL = 30
"""Points in each of the coarse cells by which the number of fine ones is estimated, if the points filled their box."""

EXTREMES = ("x low", "y low", "z low", "x high", "y high", "z high", "nearest", "farthest")
"""The postures that are kept beside the cells: those on the bounds, and those nearest to the base and farthest."""

SIGNS = np.array([1, 1, 1, -1, -1, -1, 1, -1.0])
"""An extreme is the least of the value times its sign."""

NO_POSTURE = np.iinfo(np.int64).max

_BITS = (1 << (np.arange(PATCHES) % 8)).astype(np.uint8)


class CellRecords(NamedTuple):
    """The contents of a table, as they are sent between processes."""

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

    def add(self, measured: PostureMeasures, q: Array, first: int) -> None:
        """Count the points of postures (N, nq), whose numbers begin with `first` and are larger than all before."""
        p, w = measured.position, measured.manipulability
        low, high = p.min(axis=1), p.max(axis=1)
        if not (np.isfinite([*low, *high]).all() and np.isfinite(w.max())):
            raise ModelError("workspace: a random posture has a position or a manipulability that is not finite")
        self._add_extremes(p, low, high, q, first)
        slots = self._find(np.floor(p / self.side), np.floor(low / self.side), np.floor(high / self.side))
        np.add.at(self._counts, slots, 1)
        self._add_best(slots, w, q, first)
        self._add_directions(slots, approach_patches(measured.approach))

    def _add_extremes(self, p: Array, low: Array, high: Array, q: Array, first: int) -> None:
        squares = p[0] * p[0]
        squares += p[1] * p[1]
        squares += p[2] * p[2]
        found = np.array([*low, *high, squares.min(), squares.max()])
        if (SIGNS * found < SIGNS * self._extremes).any():
            rows = np.array([*p.argmin(axis=1), *p.argmax(axis=1), squares.argmin(), squares.argmax()])
            self._keep_extremes(found, q[rows], first + rows)

    def _keep_extremes(self, values: Array, q: Array, numbers: Indices) -> None:
        new, old = SIGNS * values, SIGNS * self._extremes
        better = (new < old) | ((new == old) & (numbers < self._extreme_numbers))
        self._extremes[better], self._extreme_q[better] = values[better], q[better]
        self._extreme_numbers[better] = numbers[better]

    def _add_best(self, slots: Indices, w: Array, q: Array, first: int) -> None:
        better = np.flatnonzero(w > self._best.take(slots))[::-1]
        cells, values = slots[better], w[better]
        np.maximum.at(self._best, cells, values)
        is_best = values == self._best[cells]
        better, cells = better[is_best], cells[is_best]  # from the last to the first, which of equals is the one kept
        self._q[cells], self._numbers[cells] = q[better], first + better

    def _add_directions(self, slots: Indices, patches: Indices) -> None:
        bytes_ = self._directions.reshape(-1)
        places, bits = slots * MASK_BYTES + (patches >> 3), _BITS.take(patches)
        missing = np.flatnonzero((bytes_.take(places) & bits) == 0)
        while len(missing):  # of several bits for one byte, each round sets one
            places, bits = places[missing], bits[missing]
            bytes_[places] |= bits
            missing = np.flatnonzero((bytes_[places] & bits) == 0)

    def merge(self, cells: CellRecords) -> None:
        """Count the cells of another table of the same side and robot."""
        if not len(cells.counts):
            return
        self._keep_extremes(cells.extremes, cells.extreme_q, cells.extreme_numbers)
        places = cells.places.T.astype(float)
        slots = self._find(places, places.min(axis=1), places.max(axis=1))
        self._counts[slots] += cells.counts
        self._directions[slots] |= cells.directions
        best = self._best[slots]
        equal = (cells.manipulability == best) & (cells.numbers < self._numbers[slots])
        better = np.flatnonzero((cells.manipulability > best) | equal)
        at = slots[better]
        self._best[at], self._q[at] = cells.manipulability[better], cells.q[better]
        self._numbers[at] = cells.numbers[better]

    def cells(self, *, sort: bool = True) -> CellRecords:
        """The contents, sorted by x, y and z, or in the order in which cells were found."""
        rows: Any = slice(self.size)
        if sort:
            rows = np.lexsort(self._places[rows].T[::-1])
        return CellRecords(
            self._places[rows], self._counts[rows], self._best[rows], self._q[rows], self._numbers[rows],
            self._directions[rows], self._extremes, self._extreme_q, self._extreme_numbers,
        )  # fmt: skip

    # --- which cell is where ---

    def _find(self, places: Array, low: Array, high: Array) -> Indices:
        """The slots of cells (3, N) between the lowest and the highest, which are made where they are new."""
        if (low < self._low).any() or (high >= self._low + self._shape).any():
            self._widen(low, high)
        keys = self._keys(places)
        slots = self._slots.take(keys)
        if slots.min() < 0:
            new = np.flatnonzero(slots < 0)
            fresh = keys[new]
            self._slots[fresh] = new  # of several points in a cell, the last one stays
            fresh = fresh[self._slots[fresh] == new]
            added = self._extend(len(fresh))
            self._slots[fresh] = np.arange(added.start, added.stop)
            self._places[added] = VoxelBox(self._low, tuple(self._shape)).places(fresh)
            slots = self._slots.take(keys)
        return slots.astype(np.int64)

    def _keys(self, places: Array) -> Indices:
        """Numbers of cells in the box."""
        _, wide, deep = self._shape.astype(float)
        x, y, z = self._low.astype(float)
        keys = places[0] * wide
        keys += places[1]
        keys *= deep
        keys += places[2]
        keys -= (x * wide + y) * deep + z
        return keys.astype(np.int64)

    def _widen(self, low: Array, high: Array) -> None:
        """Make the box large enough for cells from low to high, with some room for more."""
        if self.size:
            low, high = np.minimum(low, self._low), np.maximum(high, self._low + self._shape - 1)
        room = np.ceil((high - low) / 16)
        if np.prod(high - low + 2 * room + 1) > MAX_BOX_CELLS:
            room = np.zeros(3)
        away = max(np.abs(low).max(), np.abs(high).max()) / MAX_BOX_CELLS
        excess = max(float(np.prod(high - low + 1)) / MAX_BOX_CELLS, float(away) ** 3)
        if excess > 1:
            self._refuse(excess)
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


class Filling:
    """The density of points (3, N) in their box, by which the cells of many more such points are estimated."""

    def __init__(self, position: Array) -> None:
        low = position.min(axis=1, keepdims=True)
        self.extent = np.ptp(position, axis=1)
        wide = self.extent[self.extent > FLATNESS * self.extent.max()]
        points = max(position.shape[1] / POINTS_PER_CELL, 1.0)
        self.coarse = float(np.prod(wide / wide.max()) / points) ** (1 / len(wide)) * wide.max() if len(wide) else 1.0
        places = np.floor((position - low) / self.coarse)
        self.occupied = len(np.unique(places, axis=1).T)

    def cells(self, side: float) -> float:
        """Cells that the points will occupy, at most about."""
        return float(self.occupied * np.prod(np.maximum(np.minimum(self.coarse, self.extent + side) / side, 1.0)))

    def box(self, side: float) -> float:
        """Cells of the box around the points."""
        return float(np.prod(self.extent / side + 3))


def refuse_too_many_cells(position: Array, side: float, nq: int) -> float:
    """Cells that points like these (3, N) will occupy, refused where they are too many, with a side that fits."""
    filling, most, fitting = Filling(position), most_cells(nq), side
    with np.errstate(over="ignore"):
        while (excess := max(filling.cells(fitting) / most, filling.box(fitting) / MAX_BOX_CELLS)) > 1:
            fitting *= max(1.02, min(excess, 1e9) ** (1 / 3))
    if fitting > side:
        raise too_many_cells(side, fitting, most)
    return filling.cells(side)
