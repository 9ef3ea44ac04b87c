"""Voxels: cubic cells that hold points of a workspace, their number, and the directions they were approached from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, positive, refuse_nonfinite, rows_of
from chainrule.display.text import text_of_arrays
from chainrule.errors import ShapeError

Indices = NDArray[np.int64]

BANDS = 6
"""Bands of equal area into which approach directions are sorted; each band has twice as many sectors."""

PATCHES = 2 * BANDS * BANDS
"""Patches of equal area on the sphere of approach directions."""

MASK_BYTES = PATCHES // 8
"""Bytes of the bits that say which patches of approach directions were found."""

MAX_CELLS = 2.0**62
"""Cells that can be numbered."""

FLATNESS = 1e-9
"""A cloud that is thinner than this part of its size is a plane."""


class VoxelBox(NamedTuple):
    """A box of cells, numbered along z, then y, then x."""

    low: NDArray[np.int64]
    """The first cell, as a multiple of the side: (3,)."""
    shape: tuple[int, ...]

    @classmethod
    def around(cls, places: Indices) -> VoxelBox:
        """The box around cells (N, 3)."""
        low = places.min(axis=0)
        return cls(low, tuple((places.max(axis=0) - low + 1).tolist()))

    def numbers(self, places: Indices) -> Indices:
        """The numbers of cells (N, 3) of the box."""
        return np.ravel_multi_index(tuple((places - self.low).T), self.shape).astype(np.int64)

    def places(self, numbers: Indices) -> Indices:
        """The cells with these numbers: (..., 3)."""
        return np.stack(np.unravel_index(numbers, self.shape), axis=-1) + self.low


class Dexterity(NamedTuple):
    """For each occupied cell: its center (cells, 3), the samples in it, and the share of approach directions found."""

    centers: Array
    counts: NDArray[np.int64]
    share: Array

    def __repr__(self) -> str:
        return text_of_arrays(self)


@dataclass(frozen=True, eq=False, kw_only=True)
class Voxels:
    """Cubes of side `cell`, in m, that hold a point, sorted by x, y and z."""

    cell: float
    places: NDArray[np.int32] | Indices
    """The cells as multiples of their side: (cells, 3)."""
    counts: Indices
    """Points in each: (cells,)."""
    directions: NDArray[np.uint8]
    """Bits of the approach directions found: (cells, 9)."""

    @staticmethod
    def of_points(position: Array, approach: Array, cell: float) -> Voxels:
        """The cells that hold points (N, 3), which were approached along unit vectors (N, 3)."""
        side = read_side(cell)
        position = rows_of(position, 3, "of_points: position", "coordinates")
        approach = rows_of(approach, 3, "of_points: approach", "coordinates")
        extent = np.ptp(position, axis=0)
        if np.prod(extent / side + 2) > MAX_CELLS or np.abs(position).max() / side > MAX_CELLS:
            raise ShapeError(f"cell {cell!r} is too small for a cloud of this size, in m; take a larger one")
        places = np.floor(position / side).astype(np.int64)
        box = VoxelBox.around(places)
        occupied, which = np.unique(box.numbers(places), return_inverse=True)
        found = np.zeros((len(occupied), PATCHES), dtype=bool)
        found.reshape(-1)[which * PATCHES + approach_patches(approach.T)] = True
        counts = np.bincount(which, minlength=len(occupied)).astype(np.int64)
        bits = np.packbits(found, axis=1, bitorder="little")
        return Voxels(cell=side, places=box.places(occupied), counts=counts, directions=bits)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def position(self) -> Array:
        """The centers of the cells: (cells, 3), in m."""
        return np.asarray((self.places + 0.5) * self.cell)

    @property
    def share(self) -> Array:
        """The share of approach directions from which each cell was reached: (cells,)."""
        return np.asarray(np.bitwise_count(self.directions).sum(axis=1) / PATCHES)

    def find(self, points: Array) -> Indices:
        """The row of the cell that each point (N, 3) is in; -1 where no cell holds it."""
        array = rows_of(points, 3, "find: points", "x, y, z", "m")
        if array.ndim != 2:
            raise ShapeError(f"find: points must have the shape (N, 3), got {array.shape}")
        refuse_nonfinite(array, "find: points")
        places, mine = np.floor(array / self.cell).astype(np.int64), self.places.astype(np.int64)
        if not len(mine):
            return np.full(len(places), -1)
        box = VoxelBox.around(mine)
        numbers = box.numbers(mine)
        order = numbers.argsort()
        nearby = box.numbers(np.clip(places, box.low, box.low + box.shape - 1))
        rows = order[np.minimum(np.searchsorted(numbers[order], nearby), len(order) - 1)]
        return np.where((mine[rows] == places).all(axis=1), rows, -1)


def approach_patches(approach: Array) -> Indices:
    """The patch of each approach direction, (3, N): a number from 0 to 71."""
    sectors = 2 * BANDS
    band = np.minimum(((approach[2] + 1) / 2 * BANDS).astype(np.int64), BANDS - 1)
    turn = np.arctan2(approach[1], approach[0])
    turn /= 2 * np.pi
    turn += 0.5
    turn *= sectors
    return np.asarray(band * sectors + np.minimum(turn.astype(np.int64), sectors - 1))


def read_side(cell: float) -> float:
    """The side of cells, in m."""
    return positive(cell, "cell", "a positive length, in m", unit="m")


def is_flat(bounds: Array) -> bool:
    """Whether points within these bounds (2, 3) lie in a plane across one of the axes."""
    extent = np.ptp(bounds, axis=0)
    return bool(extent.min() <= FLATNESS * extent.max())
