"""The reachable workspace, as a cloud of points from random postures."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import MAX_STATES, Array, number, one_of, refuse_beyond_memory, rows_of
from chainrule.core.mechanism import Mechanism
from chainrule.core.tables import data_frame
from chainrule.errors import ShapeError, short_repr
from chainrule.kinematics.configurations import random_state
from chainrule.kinematics.manipulability import manipulability
from chainrule.kinematics.poses import jacobian, pose
from chainrule.lazy import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

Indices = NDArray[np.int64]

CHUNK_POSTURES = 1 << 16
"""Postures computed at a time."""

NUMBERS_PER_SAMPLE = 7
"""Numbers that a cloud keeps of each sample, beside its posture: position, approach and manipulability."""

FLATNESS = 1e-9
"""A cloud that is thinner than this part of its size is a plane."""

BANDS = 6
"""Bands of equal area into which approach directions are sorted; each band has twice as many sectors."""


MAX_CELLS = 2.0**62
"""Cells that can be counted."""


class Reach(NamedTuple):
    """The farthest point in a direction: its distance (m), its position, and the posture there."""

    distance: float
    position: Array
    q: Array


class Dexterity(NamedTuple):
    """For each occupied cell: its centre (cells, 3), the samples in it, and the share of approach directions found."""

    centers: Array
    counts: Indices
    share: Array


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
        d = rows_of(direction, 3, "reach: direction", "x, y, z")
        if d.shape != (3,) or not np.isfinite(d).all() or not d.any():
            raise ShapeError(f"reach: direction must be three numbers, not all zero, got {short_repr(direction)}")
        count = _positive_integer(starts, "reach: starts")
        self._refuse_empty()
        d = d / np.abs(d).max()
        unit = d / np.linalg.norm(d)
        best = np.argsort(self.position @ unit)[-count:]
        candidates = [self._farther(q, unit) for q in self.q[best]]
        q = max(candidates, key=lambda q: float(self._at(q) @ unit))
        position = self._at(q)
        return Reach(float(position @ unit), position, q)

    def _at(self, q: Array) -> Array:
        return pose(self.robot, q, self.link)[..., :3, 3]

    def _farther(self, q: Array, unit: Array) -> Array:
        if self.robot.nq != self.robot.nv or self.robot.model.constraints:
            return q  # neither plain coordinates nor independent ones: the sample itself
        from scipy.optimize import minimize

        def slope(q: Array) -> Array:
            return -unit @ jacobian(self.robot, q, self.link, "world")[3:]

        limits = list(zip(self.robot.limits.lower, self.robot.limits.upper, strict=True))
        found = minimize(lambda q: -float(self._at(q) @ unit), q, jac=slope, bounds=limits, method="L-BFGS-B")
        return np.asarray(found.x)

    def slice(self, axis: str, at: float = 0.0, thickness: float = 0.05) -> Workspace:
        """The points of a slab across an axis, "x", "y" or "z", centred at a place on it, both in m."""
        one_of(("x", "y", "z"), axis, "axis", "a workspace")
        place, thick = number(at, "slice: at", "m"), number(thickness, "slice: thickness", "m")
        if thick <= 0:
            raise ShapeError(f"slice: thickness must be positive, in m, got {short_repr(thickness)}")
        return self[np.abs(self.position[:, "xyz".index(axis)] - place) <= thick / 2]

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
        extent = np.ptp(self.bounds, axis=0)
        return 0.0 if extent.min() <= FLATNESS * extent.max() else len(cells) * float(cell) ** 3

    def dexterity(self, cell: float = 0.1) -> Dexterity:
        """From how many sides each place is reached: a share of all approach directions, in 72 patches of equal area.

        Places are cubes of side `cell` (m). Few samples in a cell find few directions: compare cells with many.
        """
        cells, which = self._cells(cell)
        sectors = 2 * BANDS
        band = np.minimum(((self.approach[:, 2] + 1) / 2 * BANDS).astype(int), BANDS - 1)
        turn = np.arctan2(self.approach[:, 1], self.approach[:, 0]) / (2 * np.pi) + 0.5
        patch = band * sectors + np.minimum((turn * sectors).astype(int), sectors - 1)
        patches = BANDS * sectors
        found = np.unique(which * patches + patch) // patches
        share = np.bincount(found, minlength=len(cells)) / patches
        centers = (cells + 0.5).astype(float) * float(cell)
        return Dexterity(centers, np.bincount(which, minlength=len(cells)).astype(np.int64), share)

    def _cells(self, cell: float) -> tuple[Indices, Indices]:
        """The cells that hold a point (cells, 3), as multiples of their side, and which of them each point is in."""
        side = number(cell, "cell", "m")
        if side <= 0:
            raise ShapeError(f"cell must be a positive length, in m, got {short_repr(cell)}")
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


def workspace(
    robot: Mechanism,
    samples: int = 1_000_000,
    link: str | None = None,
    *,
    part: str | None = None,
    rng: np.random.Generator | int = 0,
) -> Workspace:
    """The reachable workspace of a link or frame, from random postures within the joint limits.

    Unlimited joints turn once, or slide +-1 m. part: which manipulability is computed along. rng: a generator, or
    a seed for one.

    >>> import chainrule as cr
    >>> cloud = cr.load("planar_2r").workspace(2000)
    >>> bool(cloud.radii[1] <= 2.0)
    True
    >>> round(cloud.reach([1, 1, 0]).distance, 6)
    2.0
    """
    name = robot.link(link)
    count = _positive_integer(samples, "workspace: samples")
    generator = _random_generator(rng)
    refuse_beyond_memory(count * (2.0 * robot.nq + NUMBERS_PER_SAMPLE), f"workspace: {count} samples")
    q = random_state(robot, generator, (count,))
    position, approach, w = np.empty((count, 3)), np.empty((count, 3)), np.empty(count)
    for start in range(0, count, CHUNK_POSTURES):
        chunk = slice(start, start + CHUNK_POSTURES)
        T = pose(robot, q[chunk], name)
        position[chunk], approach[chunk] = T[:, :3, 3], T[:, :3, 2]
        w[chunk] = manipulability(robot, q[chunk], name, part=part)
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


def _positive_integer(value: Any, what: str) -> int:
    try:
        count = operator.index(value)
    except Exception:
        count = 0
    if not 0 < count <= MAX_STATES or isinstance(value, bool):
        raise ShapeError(f"{what} must be a positive integer that memory can hold, got {short_repr(value)}")
    return count
