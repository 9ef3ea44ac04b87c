"""The reachable workspace, as a cloud of points from random postures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from chainrule.arguments import Array, flag, refuse_beyond_memory
from chainrule.compile.load.threads import run_all
from chainrule.core.mechanism import Mechanism
from chainrule.core.tables import data_frame
from chainrule.errors import ShapeError, short_repr
from chainrule.kinematics.configurations import random_state
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
from chainrule.kinematics.samples import BLOCK_POSTURES, PATCHES, Indices, approach_patches, measure_postures
from chainrule.lazy import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from chainrule.kinematics.workspace_map import WorkspaceMap

NUMBERS_PER_SAMPLE = 7
"""Numbers that a cloud keeps of each sample, beside its posture: position, approach and manipulability."""

MAX_CELLS = 2.0**62
"""Cells that can be counted."""


@dataclass(frozen=True, eq=False)
class Workspace:
    """Points that a link or frame reaches, in the base frame, one for each sampled posture.

    `q` (N, nq) the postures, uniform within the joint limits; `position` (N, 3) in m; `approach` (N, 3) the frame's z
    axis; `manipulability` (N). A sample of the reachable set: it fills the inside well, and its surface from within.
    """

    robot: Mechanism
    link: str
    q: Array
    position: Array
    approach: Array
    manipulability: Array

    def __len__(self) -> int:
        return len(self.position)

    def to_pandas(self) -> Any:
        """A DataFrame of pandas with a row for each posture: q by coordinates, position and approach by axes."""
        names = self.robot.coordinate_names
        columns = {f"q.{name}": self.q[:, i] for i, name in enumerate(names)}
        units = {f"q.{name}": unit for name, unit in zip(names, self.robot.layout.units_of("position"), strict=True)}
        for k, axis in enumerate("xyz"):
            columns |= {f"position.{axis}": self.position[:, k], f"approach.{axis}": self.approach[:, k]}
            units |= {f"position.{axis}": "m", f"approach.{axis}": ""}
        return data_frame(columns | {"manipulability": self.manipulability}, units | {"manipulability": ""})

    def __repr__(self) -> str:
        return f"<Workspace of {self.robot.name!r}: {len(self)} positions of {self.link!r}>"

    @cached_property
    def bounds(self) -> Array:
        """The lowest and the highest x, y and z: (2, 3), in m."""
        self._refuse_empty()
        return np.array([self.position.min(axis=0), self.position.max(axis=0)])

    @cached_property
    def radii(self) -> tuple[float, float]:
        """The least and the largest distance from the base's origin, in m."""
        self._refuse_empty()
        distance = np.linalg.norm(self.position, axis=1)
        return float(distance.min()), float(distance.max())

    def reach(self, direction: Any, *, starts: int = 8) -> Reach:
        """The farthest point of the frame along a direction (3), measured as p . d from the base's origin, in m.

        From the farthest samples, p . d is maximised within the joint limits with its gradient J_v^T d.
        """
        unit = read_direction(direction)
        count = positive_integer(starts, "reach: starts")
        self._refuse_empty()
        best = np.argsort(self.position @ unit)[-count:]
        return farthest_from(self.robot, self.link, [*self.q[best]], unit)

    def slice(self, axis: str, at: float = 0.0, thickness: float = 0.05) -> Workspace:
        """The points of a slab across an axis, "x", "y" or "z", centred at a place on it, both in m."""
        slab = read_slab(axis, at, thickness)
        return self[np.abs(self.position[:, slab.axis] - slab.at) <= slab.thickness / 2]

    def __getitem__(self, chosen: Any) -> Workspace:
        """The points that an index, a slice or a mask of (N) chooses."""
        try:
            index = np.atleast_1d(np.arange(len(self))[chosen])
        except Exception as error:
            raise ShapeError(f"a workspace of {len(self)} points has no {short_repr(chosen)}: {error}") from None
        names = ("q", "position", "approach", "manipulability")
        return replace(self, **{name: getattr(self, name)[index] for name in names})

    def volume(self, cell: float = 0.05) -> float:
        """The volume, in m^3, of the cubes of side `cell`, in m, that hold a point.

        Too large by about half a cell around the surface, and too small where a cell has been missed; zero if the
        points lie in a plane along two of the axes.
        """
        cells, _ = self._cells(cell)
        return 0.0 if is_flat(self.bounds) else len(cells) * float(cell) ** 3

    def dexterity(self, cell: float = 0.1) -> Dexterity:
        """From how many sides each place is reached: a share of all approach directions, in 72 patches of equal area.

        Places are cubes of side `cell` (m). Few samples in a cell find few directions: compare cells with many.
        """
        cells, which = self._cells(cell)
        found = np.unique(which * PATCHES + approach_patches(self.approach.T)) // PATCHES
        share = np.bincount(found, minlength=len(cells)) / PATCHES
        centers = (cells + 0.5).astype(float) * float(cell)
        return Dexterity(centers, np.bincount(which, minlength=len(cells)).astype(np.int64), share)

    def _cells(self, cell: float) -> tuple[Indices, Indices]:
        """The cells that hold a point (cells, 3), as multiples of their side, and which of them each point is in."""
        side = read_side(cell)
        self._refuse_empty()
        if np.prod(np.ptp(self.bounds, axis=0) / side + 2) > MAX_CELLS or np.abs(self.bounds).max() / side > MAX_CELLS:
            raise ShapeError(f"cell {cell!r} is too small for a cloud of this size, in m; take a larger one")
        places = np.floor(self.position / side).astype(np.int64)
        low = places.min(axis=0)
        shape = tuple(places.max(axis=0) - low + 1)
        occupied, which = np.unique(np.ravel_multi_index(tuple((places - low).T), shape), return_inverse=True)
        return np.stack(np.unravel_index(occupied, shape), axis=-1) + low, which

    def _refuse_empty(self) -> None:
        if not len(self):
            raise ShapeError("this workspace has no points: the slice lies outside of it, or is too thin")

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
        """Draw the cloud and its sections; in a notebook, with plt.show(), or to a file.

        Parameters
        ----------
        path
            A .png, .pdf or .svg file to write.
        color
            "manipulability", "payload" (kg) or "dexterity"; `colour` is the same.
        points
            Points that are drawn, at most.
        ax
            Axes to draw on: the cloud alone on those with projection="3d", the vertical section on plain ones.
        limits, view, size
            Fixed limits (low, high) in m for x, y and z; elevation and azimuth in degrees; inches of the figure.
        """
        from chainrule.plots.workspace import figure

        chosen = color if colour is None else colour
        return figure(self, path, chosen, points, ax=ax, limits=limits, view=view, size=size)


@overload
def workspace(
    robot: Mechanism,
    samples: int = ...,
    link: str | None = ...,
    *,
    part: str | None = ...,
    rng: np.random.Generator | int = ...,
) -> Workspace: ...
@overload
def workspace(
    robot: Mechanism,
    samples: int = ...,
    link: str | None = ...,
    *,
    part: str | None = ...,
    rng: int = ...,
    cell: float,
    cluster: Any = ...,
    workers: int | None = ...,
    progress: bool | None = ...,
    checkpoint: str | PathLike[str] | None = ...,
) -> WorkspaceMap: ...


def workspace(
    robot: Mechanism,
    samples: int = 1_000_000,
    link: str | None = None,
    *,
    part: str | None = None,
    rng: np.random.Generator | int = 0,
    cell: float | None = None,
    cluster: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Workspace | WorkspaceMap:
    """The reachable workspace of a link or frame, from random postures within the joint limits.

    Unlimited joints turn once, or slide +-1 m. All points are kept, or with `cell` the cells that they lie in, in
    memory that does not grow with their number.

    Parameters
    ----------
    samples
        The number of postures.
    link
        The link or frame; the end-effector unless one is named.
    part
        Which manipulability is computed along, as in `manipulability`.
    rng
        A random generator or a seed; with `cell` a seed, of which each block of postures has a generator of its own.
    cell
        The side of cells, in m: what comes is a WorkspaceMap, the same however the postures are divided among
        processes and machines.
    cluster, workers
        For a map, the address of a Dask scheduler ("tcp://host:8786") or a Client or Cluster of Dask; or a number of
        processes on this machine. Without them, the threads of this process, or the Dask client that is in use.
    progress
        For a map, whether a bar is shown; on a terminal, after a second, unless given.
    checkpoint
        For a map, an .npz file that keeps what has been counted, every half minute and where the work is broken off:
        the same call again goes on from there.

    Returns
    -------
    Workspace or WorkspaceMap
        Both have bounds, radii, reach, slice, volume, dexterity, to_pandas and plot.

    Examples
    --------
    >>> import chainrule as cr
    >>> cloud = cr.load("planar_2r").workspace(2000)
    >>> bool(cloud.radii[1] <= 2.0)
    True
    >>> round(cloud.reach([1, 1, 0]).distance, 6)
    2.0
    >>> cr.load("planar_2r").workspace(2000, cell=0.5)
    <WorkspaceMap of 'planar_2r': 2,000 postures of 'tip' in 60 cells of 0.5 m>
    """
    if cell is not None:
        from chainrule.cluster.reach import map_workspace

        if not isinstance(rng, (int, np.integer)):
            raise ShapeError(
                "workspace: with cell, rng is a seed, a whole number of at least 0, of which each block of postures "
                f"makes its own generator; got {short_repr(rng)}"
            )
        return map_workspace(
            robot, samples, link, part=part, seed=int(rng), cell=cell, cluster=cluster, workers=workers,
            progress=progress, checkpoint=checkpoint,
        )  # fmt: skip
    if not (cluster is None and workers is None and checkpoint is None):
        raise ShapeError(
            "workspace: cluster, workers and checkpoint are for postures counted in cells, since all points would not "
            "fit into memory; give the side of cells as well, such as cell=0.02 (m)"
        )
    if progress is not None:
        flag(progress, "workspace: progress")  # a cloud that fits into memory is there before a bar would be
    name = robot.link(link)
    count = positive_integer(samples, "workspace: samples")
    generator = _random_generator(rng)
    refuse_beyond_memory(count * (2.0 * robot.nq + NUMBERS_PER_SAMPLE), f"workspace: {count} samples")
    q = random_state(robot, generator, (count,))
    position, approach, w = np.empty((count, 3)), np.empty((count, 3)), np.empty(count)

    def fill(chunk: slice) -> None:
        measured = measure_postures(robot, q[chunk], name, part)
        position[chunk], approach[chunk] = measured.position.T, measured.approach.T
        w[chunk] = measured.manipulability

    fill(slice(0, BLOCK_POSTURES))
    starts = range(BLOCK_POSTURES, count, BLOCK_POSTURES)  # after the first, which compiles
    run_all([partial(fill, slice(start, start + BLOCK_POSTURES)) for start in starts])
    return Workspace(robot, name, q, position, approach, w)


def _random_generator(rng: Any) -> np.random.Generator:
    """A generator, or one for a seed; NumPy would go through a list that holds itself for ever."""
    seeds = rng if isinstance(rng, (list, tuple)) else [rng]
    known = (int, np.integer, np.random.Generator, np.random.BitGenerator, np.random.SeedSequence)
    try:
        if rng is None or all(isinstance(seed, known) for seed in seeds):
            return np.random.default_rng(rng)
    except (TypeError, ValueError):
        pass
    raise ShapeError(
        f"workspace: rng must be a random generator or a seed, a whole number of at least 0, got {short_repr(rng)}"
    )
