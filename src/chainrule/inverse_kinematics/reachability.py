"""Which places of a volume a robot reaches with given orientations: inverse kinematics of any number of targets.

Targets are made where they are solved, in blocks of a fixed size, and of each only one bit comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import (
    Array,
    number,
    pose_matrices,
    real_array,
    refuse_improper_rotations,
    refuse_nonfinite,
    rows_of,
)
from chainrule.core.mechanism import Mechanism
from chainrule.core.tables import data_frame
from chainrule.errors import ShapeError, short_repr
from chainrule.inverse_kinematics.solve import inverse_kinematics
from chainrule.kinematics.voxels import Indices, VoxelBox, read_side

BLOCK_TARGETS = 1 << 13
"""Targets that are solved together; a multiple of eight, whose bits are whole bytes."""

MAX_TARGETS = 8_000_000_000
"""Targets of a map: their bits take a gigabyte."""

CELLS_AT_A_TIME = 1 << 20
"""Cells whose bits are spread out together; a multiple of eight."""


@dataclass(frozen=True)
class Volume:
    """Cells of a box, and the rotations that each is to be reached with; None where only the position counts."""

    middle: Array
    cell: float
    shape: tuple[int, int, int]
    rotations: Array | None

    @property
    def orientations(self) -> int:
        """Targets in each cell."""
        return 1 if self.rotations is None else len(self.rotations)

    @property
    def targets(self) -> int:
        """Targets in all: the orientations of the first cell, then those of the next one along z, y and x."""
        return int(np.prod(self.shape, dtype=object)) * self.orientations

    def coordinates(self, axis: int) -> Array:
        """The centers of cells along an axis, in m."""
        n = self.shape[axis]
        return np.asarray(self.middle[axis] + (np.arange(n) - (n - 1) / 2) * self.cell)

    def centers(self, cells: Indices) -> Array:
        """The centers of cells by their numbers: (..., 3)."""
        places = VoxelBox(np.zeros(3, dtype=np.int64), self.shape).places(cells)
        return np.stack([self.coordinates(k)[places[..., k]] for k in range(3)], axis=-1)

    def block(self, first: int) -> Array:
        """The targets of the block that begins with this one: points (n, 3) or poses (n, 4, 4)."""
        numbers = np.arange(first, min(first + BLOCK_TARGETS, self.targets))
        points = self.centers(numbers // self.orientations)
        if self.rotations is None:
            return points
        T = np.zeros((len(numbers), 4, 4))
        T[:, :3, :3] = self.rotations[numbers % self.orientations]
        T[:, :3, 3], T[:, 3, 3] = points, 1.0
        return T


@dataclass(frozen=True, eq=False)
class Reachability:
    """Cells of a box, and with which orientations the inverse kinematics has reached their centers.

    `shape` is the number of cells along x, y and z, `share` (shape) the share of the orientations that were reached in
    each, `by_orientation` the share of the cells that were reached with each. `reasons` counts why targets failed: one
    that is "not reached" was not found in the restarts, which nearly always means that it cannot be.
    """

    robot: Mechanism
    link: str
    volume: Volume
    bits: NDArray[np.uint8]
    """A bit for each target, in their order."""
    reasons: Mapping[str, int]

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.shape))
        return (
            f"<Reachability of {self.robot.name!r}: {size} cells of {self.volume.cell:g} m, "
            f"{self.volume.orientations} orientations, {100 * self.success_rate:.1f}% reached>"
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cells along x, y and z."""
        return self.volume.shape

    @property
    def targets(self) -> int:
        """Targets in all."""
        return self.volume.targets

    @property
    def success_rate(self) -> float:
        """The share of all targets that were reached."""
        return float(self.by_orientation.mean())

    def _by_cell(self) -> Iterator[tuple[slice, NDArray[np.uint8]]]:
        """Cells and their bits (cells, orientations), some at a time."""
        k, cells = self.volume.orientations, self.targets // self.volume.orientations
        for first in range(0, cells, CELLS_AT_A_TIME):
            chosen = slice(first, min(first + CELLS_AT_A_TIME, cells))
            bits = np.unpackbits(self.bits[first * k // 8 :], count=(chosen.stop - first) * k)
            yield chosen, bits.reshape(-1, k)

    @property
    def share(self) -> Array:
        """The share of the orientations that were reached in each cell: (x, y, z)."""
        share = np.empty(self.targets // self.volume.orientations)
        for cells, bits in self._by_cell():
            share[cells] = bits.mean(axis=1)
        return share.reshape(self.shape)

    @property
    def by_orientation(self) -> Array:
        """The share of the cells that were reached with each orientation: (orientations,)."""
        counts = sum(bits.sum(axis=0, dtype=np.int64) for _, bits in self._by_cell())
        return np.asarray(counts / (self.targets // self.volume.orientations))

    def coordinates(self) -> tuple[Array, Array, Array]:
        """The centers of the cells along x, y and z, in m."""
        x, y, z = (self.volume.coordinates(axis) for axis in range(3))
        return x, y, z

    def reached_volume(self, share: float = 1.0) -> float:
        """The volume, in m^3, of the cells that were reached with at least this share of the orientations."""
        least = number(share, "reached_volume: share")
        if not 0 < least <= 1:
            raise ShapeError(f"reached_volume: share must be above 0 and at most 1, got {short_repr(share)}")
        return float((self.share >= least - 1e-12).sum()) * self.volume.cell**3

    def to_pandas(self) -> Any:
        """A DataFrame of pandas with a row for each cell: its center, and the share that was reached."""
        position = self.volume.centers(np.arange(self.targets // self.volume.orientations))
        columns = {f"position.{axis}": position[:, k] for k, axis in enumerate("xyz")}
        return data_frame(columns | {"share": self.share.ravel()}, dict.fromkeys(columns, "m") | {"share": ""})


@dataclass(frozen=True)
class Solver:
    """A robot, a link and the options of its inverse kinematics."""

    robot: Mechanism
    link: str
    options: Mapping[str, Any] = field(default_factory=dict)


def solve_blocks(solver: Solver, volume: Volume, blocks: range) -> tuple[NDArray[np.uint8], Counter[str]]:
    """The bits of the targets of some blocks, and why others failed."""
    solved: list[NDArray[np.uint8]] = []
    reasons: Counter[str] = Counter()
    for block in blocks:
        targets = volume.block(block * BLOCK_TARGETS)
        answer = inverse_kinematics(solver.robot, targets, link=solver.link, **solver.options)
        solved.append(np.packbits(answer.success))
        reasons.update(answer.reason[~answer.success].tolist())
    return np.concatenate(solved), reasons


def read_volume(low: Any, high: Any, cell: Any, orientations: Any) -> Volume:
    """The cells and rotations that are meant."""
    corners = []
    for name, value in (("low", low), ("high", high)):
        corner = rows_of(value, 3, f"reachability: {name}", "x, y, z", "m")
        if corner.shape != (3,):
            raise ShapeError(f"reachability: {name} must be a point (x, y, z), in m, got shape {corner.shape}")
        refuse_nonfinite(corner, f"reachability: {name}")
        corners.append(corner.astype(float))
    side, extent = read_side(cell), corners[1] - corners[0]
    if (extent < 0).any():
        raise ShapeError(
            f"reachability: high must not be below low, got {corners[0].tolist()} and {corners[1].tolist()}"
        )
    rotations = read_rotations(orientations)
    each = 1 if rotations is None else len(rotations)
    counts = np.maximum(np.ceil(extent / side - 1e-9), 1)
    if np.prod(counts) * each > MAX_TARGETS:
        fitting = side * float(np.prod(counts) * each / MAX_TARGETS) ** (1 / 3)
        raise ShapeError(
            f"reachability: {np.prod(counts):.3g} cells with {each} orientations are more than {MAX_TARGETS:,} targets"
            f"; take cells of about {fitting:.2g} m or more"
        )
    x, y, z = counts.astype(int).tolist()
    return Volume((corners[0] + corners[1]) / 2, side, (x, y, z), rotations)


def read_rotations(orientations: Any) -> Array | None:
    """Rotations (K, 3, 3) from matrices (3, 3) or (K, 3, 3), or from what `pose_matrices` knows; None for none."""
    if orientations is None:
        return None
    what = "reachability: orientations"
    R = real_array(pose_matrices(orientations, what), what).astype(float)
    if R.shape[-2:] == (4, 4):
        R = R[..., :3, :3]
    if R.shape[-2:] != (3, 3) or R.ndim > 3 or not R.size:
        raise ShapeError(f"{what} must be rotation matrices (3, 3) or (K, 3, 3), or Rotations of SciPy, got {R.shape}")
    refuse_nonfinite(R, what)
    refuse_improper_rotations(R, what)
    return R.reshape(-1, 3, 3)
