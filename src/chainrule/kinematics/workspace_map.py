"""The reachable workspace as cells that were reached: of any number of postures, in memory that is bounded."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from chainrule.arguments import Array, npz_path
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.core.tables import data_frame
from chainrule.core.validation import refuse_impossible_values
from chainrule.errors import FormatError, ShapeError, short_repr
from chainrule.formats.arrays import load_arrays, reading, save_arrays
from chainrule.formats.native import model_of, to_json
from chainrule.kinematics.cell_table import EXTREMES, CellRecords
from chainrule.kinematics.reach import ReachSamples, positive_integer
from chainrule.kinematics.voxels import MASK_BYTES, Dexterity, Voxels, is_flat, read_side

FORMAT = "chainrule workspace map 1"
NPZ_RULE = "a workspace map is kept in .npz"

MULTIPLE_TOLERANCE = 1e-9
"""How far a side may be from a whole multiple of another, relative to it."""


@dataclass(frozen=True, eq=False)
class WorkspaceMap(ReachSamples, Voxels):
    """Cells that a link or frame reaches, in the base frame: cubes of side `cell`, in m, that hold a sampled point.

    `places` (cells, 3) are the cells as multiples of their side, sorted by x, y and z; `counts` (cells) the postures in
    each; `manipulability` (cells) the largest in each, and `q` (cells, nq) the posture that has it; `directions`
    (cells, 9) the bits of the approach directions found. `bounds` (2, 3), `radii` and `extremes` are those of all
    postures, exactly, as in a cloud; of a part of the map, bounds and radii are those of its cells.
    """

    manipulability: Array
    q: Array
    bounds: Array
    """The lowest and the highest x, y and z: (2, 3), in m."""
    radii: tuple[float, float]
    """The least and the largest distance from the base's origin, in m."""
    extreme_q: Array

    WHOLE, ROW = "map", "cells"
    ARRAYS = ("places", "counts", "manipulability", "q", "directions")

    def __repr__(self) -> str:
        return (
            f"<WorkspaceMap of {self.robot.name!r}: {self.samples:,} postures of {self.link!r} in {len(self):,} cells "
            f"of {self.cell:g} m>"
        )

    @property
    def samples(self) -> int:
        """Postures in the cells."""
        return int(self.counts.sum())

    @property
    def extremes(self) -> dict[str, Array]:
        """The postures on the bounds ("x low", .. "z high"), and the "nearest" to the base and the "farthest"."""
        return dict(zip(EXTREMES, self.extreme_q, strict=True))

    def to_pandas(self) -> Any:
        """A DataFrame of pandas with a row for each cell: center, count, share of directions, the best posture."""
        columns: dict[str, Any] = {f"position.{axis}": self.position[:, k] for k, axis in enumerate("xyz")}
        units = dict.fromkeys(columns, "m") | {"count": "", "share": "", "manipulability": ""}
        columns |= {"count": self.counts, "share": self.share, "manipulability": self.manipulability}
        names = [f"q.{name}" for name in self.robot.coordinate_names]
        columns |= dict(zip(names, self.q.T, strict=True))
        return data_frame(columns, units | dict(zip(names, self.robot.model.layout.units_of("position"), strict=True)))

    def __getitem__(self, chosen: Any) -> Self:
        """The cells that an index, a slice or a mask of (cells) chooses."""
        part = super().__getitem__(chosen)
        return replace(part, bounds=part._bounds_of_cells(), radii=part._radii_of_cells()) if len(part) else part

    def _depth(self) -> float:
        return self.cell

    def _extreme_postures(self) -> Array:
        return self.extreme_q

    def _bounds_of_cells(self) -> Array:
        """The bounds of the cells, within those of the map that they are a part of."""
        low, high = self.bounds
        ends = np.array([self.places.min(axis=0), self.places.max(axis=0) + 1]) * self.cell
        return np.array([np.maximum(ends[0], low), np.minimum(ends[1], high)])

    def _radii_of_cells(self) -> tuple[float, float]:
        """The distances of the nearest and the farthest point of any cell, within those of the whole map."""
        center, half = np.abs(self.position), self.cell / 2
        near = np.linalg.norm(np.maximum(center - half, 0), axis=1).min()
        far = np.linalg.norm(center + half, axis=1).max()
        return max(float(near), self.radii[0]), min(float(far), self.radii[1])

    def volume(self, cell: float | None = None) -> float:
        """The volume of the cells, in m^3, or of those of another side, a multiple of the map's own.

        Too large by about half a cell around the surface, and too small where a cell has been missed; zero if the
        points lie in a plane along two of the axes.
        """
        cells = self._in_cells_of(cell)
        self._refuse_empty()
        return 0.0 if is_flat(self.bounds) else len(cells) * cells.cell**3

    def dexterity(self, cell: float | None = None) -> Dexterity:
        """From how many sides each cell is reached: a share of all approach directions, in 72 patches of equal area.

        In cells of another side where that is given, a multiple of the map's own. Few samples in a cell find few
        directions: compare cells with many.
        """
        cells = self._in_cells_of(cell)
        self._refuse_empty()
        return Dexterity(cells.position, cells.counts, cells.share)

    def coarser(self, factor: int) -> WorkspaceMap:
        """The map of cells that are this many times as long, which is the one that sampling in them would have made."""
        times = positive_integer(factor, "coarser: factor")
        places, which = np.unique(self.places // times, axis=0, return_inverse=True)
        order = np.lexsort((-self.places[:, 2], -self.places[:, 1], -self.places[:, 0], self.manipulability, which))
        ends = np.searchsorted(which[order], np.arange(len(places)), side="right")
        starts, best = np.concatenate([[0], ends[:-1]]), order[ends - 1]
        if not len(places):
            return replace(self, cell=self.cell * times)
        return replace(
            self,
            cell=self.cell * times,
            places=places.astype(np.int32),
            counts=np.add.reduceat(self.counts[order], starts),
            manipulability=self.manipulability[best],
            q=self.q[best],
            directions=np.bitwise_or.reduceat(self.directions[order], starts, axis=0),
        )

    def _in_cells_of(self, cell: float | None) -> WorkspaceMap:
        """This map in cells of another side."""
        if cell is None:
            return self
        times = read_side(cell) / self.cell
        if round(times) < 1 or abs(times - round(times)) > MULTIPLE_TOLERANCE * times:
            raise ShapeError(f"cell must be a whole multiple of the map's own, {self.cell:g} m, got {short_repr(cell)}")
        return self.coarser(round(times))

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to an .npz file, the robot included."""
        facts = {"format": FORMAT, "link": self.link, "cell": self.cell, "robot": json.loads(to_json(self.robot.model))}
        arrays = {name: getattr(self, name) for name in _array_shapes(self.robot.nq)}
        save_arrays(npz_path(path, NPZ_RULE), {"facts": np.array(json.dumps(facts)), **arrays})

    @staticmethod
    def load(path: str | PathLike[str], robot: Mechanism | None = None) -> WorkspaceMap:
        """The map in a file that `save` wrote; its robot is the one it was saved with, unless another is given."""
        place = npz_path(path, NPZ_RULE)
        with reading(path, "a map"):
            return _read(place, robot)


def map_of(robot: Mechanism, link: str, side: float, cells: CellRecords) -> WorkspaceMap:
    """The map of a table's cells."""
    near, far = np.sqrt(cells.extremes[6:])
    return WorkspaceMap(
        robot, link, cells.manipulability, cells.q, cells.extremes[:6].reshape(2, 3), (float(near), float(far)),
        cells.extreme_q, cell=side, places=cells.places, counts=cells.counts, directions=cells.directions,
    )  # fmt: skip


def _array_shapes(nq: int) -> dict[str, tuple[type, tuple[int, ...]]]:
    """The arrays of a file: their types, and their shapes, in which -1 is the number of cells."""
    return {
        "places": (np.int32, (-1, 3)), "counts": (np.int64, (-1,)), "manipulability": (np.float64, (-1,)),
        "q": (np.float64, (-1, nq)), "directions": (np.uint8, (-1, MASK_BYTES)), "bounds": (np.float64, (2, 3)),
        "radii": (np.float64, (2,)), "extreme_q": (np.float64, (len(EXTREMES), nq)),
    }  # fmt: skip


def _read(path: Path, robot: Mechanism | None) -> WorkspaceMap:
    from chainrule.robot.robot import Robot

    stored = load_arrays(path, ("facts", *_array_shapes(0)))
    facts = json.loads(str(stored["facts"]))
    if facts["format"] != FORMAT:
        raise FormatError(f"the file should say format {FORMAT!r}, and says {short_repr(facts['format'])}")
    if robot is None:
        robot = Robot(refuse_impossible_values(model_of(facts["robot"], "the map's robot")))
    shapes = _array_shapes(robot.nq)
    arrays: dict[str, Any] = {name: stored[name] for name in shapes}
    count = len(arrays["counts"])
    for name, (type_, shape) in shapes.items():
        expected = tuple(count if n < 0 else n for n in shape)
        if arrays[name].dtype != type_ or arrays[name].shape != expected:
            raise FormatError(
                f"{name} should be {expected} numbers of {np.dtype(type_)} for robot {robot.name!r}, and is "
                f"{arrays[name].shape} of {arrays[name].dtype}; was it saved for another robot?"
            )
    near, far = arrays.pop("radii").tolist()
    return WorkspaceMap(
        robot, find_link(robot, facts["link"]), cell=read_side(facts["cell"]), radii=(near, far), **arrays
    )
