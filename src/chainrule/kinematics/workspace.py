"""The reachable workspace, as a cloud of points from random postures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from chainrule.arguments import Array, flag, refuse_beyond_memory
from chainrule.compile.runtime.threads import run_all
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.core.tables import data_frame
from chainrule.errors import ShapeError, short_repr
from chainrule.kinematics.configurations import random_state
from chainrule.kinematics.reach import ReachSamples, positive_integer
from chainrule.kinematics.samples import BLOCK_POSTURES, measure_postures
from chainrule.kinematics.voxels import Dexterity, Voxels, is_flat
from chainrule.lazy import cached_property

if TYPE_CHECKING:
    from chainrule.kinematics.workspace_map import WorkspaceMap

NUMBERS_PER_SAMPLE = 7
"""Numbers that a cloud keeps of each sample, beside its posture: position, approach and manipulability."""


@dataclass(frozen=True, eq=False)
class Workspace(ReachSamples):
    """Points that a link or frame reaches, in the base frame, one for each sampled posture.

    `q` (N, nq) the postures, uniform within the joint limits; `position` (N, 3) in m; `approach` (N, 3) the frame's z
    axis; `manipulability` (N). A sample of the reachable set: it fills the inside well, and its surface from within.
    """

    q: Array
    position: Array
    approach: Array
    manipulability: Array

    WHOLE, ROW = "workspace", "points"
    ARRAYS = ("q", "position", "approach", "manipulability")

    def to_pandas(self) -> Any:
        """A DataFrame of pandas with a row for each posture: q by coordinates, position and approach by axes."""
        names = self.robot.coordinate_names
        columns = {f"q.{name}": self.q[:, i] for i, name in enumerate(names)}
        units = {
            f"q.{name}": unit for name, unit in zip(names, self.robot.model.layout.units_of("position"), strict=True)
        }
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

    def voxels(self, cell: float) -> Voxels:
        """The cubes of side `cell`, in m, that hold a point."""
        self._refuse_empty()
        return Voxels.of_points(self.position, self.approach, cell)

    def volume(self, cell: float = 0.05) -> float:
        """The volume, in m^3, of the cubes of side `cell`, in m, that hold a point.

        Too large by about half a cell around the surface, and too small where a cell has been missed; zero if the
        points lie in a plane along two of the axes.
        """
        voxels = self.voxels(cell)
        return 0.0 if is_flat(self.bounds) else len(voxels) * voxels.cell**3

    def dexterity(self, cell: float = 0.1) -> Dexterity:
        """From how many sides each place is reached: a share of all approach directions, in 72 patches of equal area.

        Places are cubes of side `cell` (m). Few samples in a cell find few directions: compare cells with many.
        """
        voxels = self.voxels(cell)
        return Dexterity(voxels.position, voxels.counts, voxels.share)


@overload
def workspace(
    robot: Mechanism,
    samples: int = ...,
    link: str | None = ...,
    *,
    task: str | None = ...,
    rng: np.random.Generator | int = ...,
) -> Workspace: ...
@overload
def workspace(
    robot: Mechanism,
    samples: int = ...,
    link: str | None = ...,
    *,
    task: str | None = ...,
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
    task: str | None = None,
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
    task
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
            robot, samples, link, task=task, seed=int(rng), cell=cell, cluster=cluster, workers=workers,
            progress=progress, checkpoint=checkpoint,
        )  # fmt: skip
    if not (cluster is None and workers is None and checkpoint is None):
        raise ShapeError(
            "workspace: cluster, workers and checkpoint are for postures counted in cells, since all points would not "
            "fit into memory; give the side of cells as well, such as cell=0.02 (m)"
        )
    if progress is not None:
        flag(progress, "workspace: progress")  # a cloud that fits into memory is there before a bar would be
    name = find_link(robot, link)
    count = positive_integer(samples, "workspace: samples")
    generator = _random_generator(rng)
    refuse_beyond_memory(count * (2.0 * robot.nq + NUMBERS_PER_SAMPLE), f"workspace: {count} samples")
    q = random_state(robot, generator, (count,))
    position, approach, w = np.empty((count, 3)), np.empty((count, 3)), np.empty(count)

    def fill(chunk: slice) -> None:
        measured = measure_postures(robot, q[chunk], name, task)
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
