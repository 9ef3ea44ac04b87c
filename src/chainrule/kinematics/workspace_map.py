"""The reachable workspace as cells that were reached: of any number of postures, in memory that is bounded."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, npz_path
from chainrule.core.mechanism import Mechanism
from chainrule.core.tables import data_frame
from chainrule.core.validation import refuse_numbers
from chainrule.errors import ChainruleError, FormatError, ShapeError, short_repr
from chainrule.formats.native import model_of, to_json
from chainrule.formats.source import replace_file
from chainrule.kinematics.cell_table import EXTREMES, MASK_BYTES, Cells
from chainrule.kinematics.reach import (
    Dexterity,
    Reach,
    farthest_from,
    is_flat,
    positive_integer,
    read_direction,
    read_side,
    read_slab,
)
from chainrule.kinematics.samples import PATCHES, Indices

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

FORMAT = "chainrule workspace map 1"
NPZ_RULE = "a workspace map is kept in .npz"

MULTIPLE_TOLERANCE = 1e-9
"""How far a side may be from a whole multiple of another, relative to it."""


@dataclass(frozen=True, eq=False)
class WorkspaceMap:
    """Cells that a link or frame reaches, in the base frame: cubes of side `cell`, in m, that hold a sampled point.

    `places` (cells, 3) are the cells as multiples of their side, sorted by x, y and z; `counts` (cells) the postures in
    each; `manipulability` (cells) the largest in each, and `q` (cells, nq) the posture that has it; `directions`
    (cells, 9) the bits of the approach directions found. `bounds` (2, 3), `radii` and `extremes` are those of all
    postures, exactly, as in a cloud; of a part of the map, bounds and radii are those of its cells.
    """

    robot: Mechanism
    link: str
    cell: float
    places: NDArray[np.int32]
    counts: Indices
    manipulability: Array
    q: Array
    directions: NDArray[np.uint8]
    bounds: Array
    """The lowest and the highest x, y and z: (2, 3), in m."""
    radii: tuple[float, float]
    """The least and the largest distance from the base's origin, in m."""
    extreme_q: Array

    @classmethod
    def of(cls, robot: Mechanism, link: str, side: float, cells: Cells) -> WorkspaceMap:
        """The map of a table's cells."""
        near, far = np.sqrt(cells.extremes[6:])
        return cls(
            robot, link, side, cells.places, cells.counts, cells.manipulability, cells.q, cells.directions,
            cells.extremes[:6].reshape(2, 3), (float(near), float(far)), cells.extreme_q,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.places)

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
    def position(self) -> Array:
        """The centers of the cells: (cells, 3), in m."""
        return np.asarray((self.places + 0.5) * self.cell)

    @property
    def share(self) -> Array:
        """The share of approach directions from which each cell was reached: (cells,)."""
        return np.asarray(np.bitwise_count(self.directions).sum(axis=1) / PATCHES)

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
        return data_frame(columns, units | dict(zip(names, self.robot.layout.units_of("position"), strict=True)))

    def reach(self, direction: Any, *, starts: int = 8) -> Reach:
        """The farthest point of the frame along a direction (3), measured as p . d from the base's origin, in m.

        From the best postures of the farthest cells, p . d is maximised within the joint limits, as by a cloud. With
        quaternions or closed loops, it is the farthest of the postures that are kept.
        """
        unit = read_direction(direction)
        count = positive_integer(starts, "reach: starts")
        self._refuse_empty()
        best = np.argsort(self.position @ unit, kind="stable")[-count:]
        return farthest_from(self.robot, self.link, [*self.q[best], *self.extreme_q], unit)

    def slice(self, axis: str, at: float = 0.0, thickness: float = 0.05) -> WorkspaceMap:
        """The cells that a slab across an axis, "x", "y" or "z", cuts: centered at a place on it, both in m."""
        slab = read_slab(axis, at, thickness)
        return self[np.abs(self.position[:, slab.axis] - slab.at) <= (slab.thickness + self.cell) / 2]

    def __getitem__(self, chosen: Any) -> WorkspaceMap:
        """The cells that an index, a slice or a mask of (cells) chooses."""
        try:
            index = np.atleast_1d(np.arange(len(self))[chosen])
        except Exception as error:
            raise ShapeError(f"a map of {len(self)} cells has no {short_repr(chosen)}: {error}") from None
        names = ("places", "counts", "manipulability", "q", "directions")
        part = replace(self, **{name: getattr(self, name)[index] for name in names})
        return replace(part, bounds=part._bounds_of_cells(), radii=part._radii_of_cells()) if len(part) else part

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
            places=places,
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

    def _refuse_empty(self) -> None:
        if not len(self):
            raise ShapeError("this map has no cells: the slice lies outside of it")

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        color: str = "manipulability",
        points: int = 60_000,
        colour: str | None = None,
        ax: Any = None,
        limits: ArrayLike | None = None,
        view: str | Sequence[float] | None = None,
        size: Sequence[float] | None = None,
    ) -> Figure:
        """Draw the centers of cells, and sections; in a notebook, with plt.show(), or to a file.

        Parameters
        ----------
        path
            A .png, .pdf or .svg file to write.
        color
            "manipulability", the largest in the cell; "payload" (kg) in that posture; or "dexterity"; `colour` is the
            same.
        points
            Cells that are drawn, at most.
        ax
            Axes to draw on: the cells alone on those with projection="3d", the vertical section on plain ones.
        limits, view, size
            Fixed limits (low, high) in m for x, y and z; elevation and azimuth in degrees; inches of the figure.
        """
        from chainrule.plots.workspace import figure

        chosen = color if colour is None else colour
        return figure(self, path, chosen, points, ax=ax, limits=limits, view=view, size=size)

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to an .npz file, the robot included."""
        place = npz_path(path, NPZ_RULE)
        facts = {"format": FORMAT, "link": self.link, "cell": self.cell, "robot": json.loads(to_json(self.robot.model))}
        arrays: Any = {name: getattr(self, name) for name in _array_shapes(self.robot.nq)}

        def write(part: Path) -> None:
            with part.open("wb") as file:
                np.savez_compressed(file, facts=np.array(json.dumps(facts)), **arrays)

        try:
            replace_file(place, write)
        except OSError as error:
            raise FormatError(f"{str(path)!r} cannot be written: {error.strerror or error}") from error

    @staticmethod
    def load(path: str | PathLike[str], robot: Mechanism | None = None) -> WorkspaceMap:
        """The map in a file that `save` wrote; its robot is the one it was saved with, unless another is given."""
        place = npz_path(path, NPZ_RULE)
        if not place.is_file():
            raise FormatError(f"there is no file {str(path)!r}")
        try:
            return _read(place, robot)
        except ChainruleError:
            raise
        except (MemoryError, RecursionError) as error:
            raise FormatError(f"{str(path)!r} announces more than fits into memory") from error
        except Exception as error:  # what NumPy and zipfile raise for damaged files is not documented
            what = " ".join(str(error).split())[:200]
            raise FormatError(
                f"{str(path)!r} is no map that chainrule wrote, or it is damaged: {type(error).__name__}: {what}"
            ) from error


def _array_shapes(nq: int) -> dict[str, tuple[type, tuple[int, ...]]]:
    """The arrays of a file: their types, and their shapes, in which -1 is the number of cells."""
    return {
        "places": (np.int32, (-1, 3)), "counts": (np.int64, (-1,)), "manipulability": (np.float64, (-1,)),
        "q": (np.float64, (-1, nq)), "directions": (np.uint8, (-1, MASK_BYTES)), "bounds": (np.float64, (2, 3)),
        "radii": (np.float64, (2,)), "extreme_q": (np.float64, (len(EXTREMES), nq)),
    }  # fmt: skip


def _read(path: Path, robot: Mechanism | None) -> WorkspaceMap:
    from chainrule.robot.robot import Robot

    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about headers that are damaged and refused
        with np.load(file, allow_pickle=False) as stored:
            facts = json.loads(str(stored["facts"]))
            if facts["format"] != FORMAT:
                raise FormatError(f"the file should say format {FORMAT!r}, and says {short_repr(facts['format'])}")
            if robot is None:
                robot = Robot(refuse_numbers(model_of(facts["robot"], "the map's robot")))
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
    return WorkspaceMap(robot, robot.link(facts["link"]), read_side(facts["cell"]), radii=(near, far), **arrays)
