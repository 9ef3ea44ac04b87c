"""What a cloud and a map of a workspace have in common: rows with positions and postures, slabs, farthest points."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from chainrule import lazy
from chainrule.arguments import MAX_STATES, Array, number, one_of, positive, rows_of
from chainrule.core.mechanism import Mechanism
from chainrule.display.text import Advised, text_of_arrays
from chainrule.errors import ShapeError, short_repr
from chainrule.kinematics.poses import jacobian, pose

if TYPE_CHECKING:
    from chainrule.plots import workspace as workspace_plots


class Reach(NamedTuple):
    """The farthest point in a direction: its distance (m), its position, and the posture there."""

    distance: float
    position: Array
    q: Array

    def __repr__(self) -> str:
        return text_of_arrays(self)


@dataclass(frozen=True, eq=False)
class ReachSamples(Advised):
    """Places that a link or frame reaches, in the base frame: rows with a position and a posture each."""

    robot: Mechanism
    link: str

    WHOLE: ClassVar[str]
    """What all rows together are called, in messages."""
    ROW: ClassVar[str]
    """What a row is called, in the plural."""
    ARRAYS: ClassVar[tuple[str, ...]]
    """The arrays with an entry for each row."""

    if TYPE_CHECKING:

        @property
        def position(self) -> Array:
            """(N, 3), in m."""

        @property
        def q(self) -> Array:
            """Postures (N, nq)."""

        plot = workspace_plots.plot
    else:
        plot = lazy.method("chainrule.plots.workspace", "plot")

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, chosen: Any) -> Self:
        """The rows that an index, a slice or a mask of (N) chooses."""
        try:
            index = np.atleast_1d(np.arange(len(self))[chosen])
        except Exception as error:
            message = f"a {self.WHOLE} of {len(self)} {self.ROW} has no {short_repr(chosen)}: {error}"
            raise ShapeError(message) from None
        return replace(self, **{name: getattr(self, name)[index] for name in self.ARRAYS})

    def slice(self, axis: str, at: float = 0.0, thickness: float = 0.05) -> Self:
        """The points in, or the cells cut by, a slab across an axis, "x", "y" or "z": its middle and thickness in m."""
        one_of(("x", "y", "z"), axis, "axis", "a workspace")
        middle = number(at, "slice: at", "m")
        thick = positive(thickness, "slice: thickness", "positive, in m", unit="m")
        return self[np.abs(self.position[:, "xyz".index(axis)] - middle) <= (thick + self._depth()) / 2]

    def reach(self, direction: Any, *, starts: int = 8) -> Reach:
        """The farthest point of the frame along a direction (3), measured as p . d from the base's origin, in m.

        From the postures of the farthest rows, p . d is maximised within the joint limits with its gradient J_v^T d.
        With quaternions or closed loops, it is the farthest of these postures.
        """
        unit = _read_direction(direction)
        count = positive_integer(starts, "reach: starts")
        self._refuse_empty()
        best = np.argsort(self.position @ unit, kind="stable")[-count:]
        return _farthest_from(self.robot, self.link, [*self.q[best], *self._extreme_postures()], unit)

    def _depth(self) -> float:
        """The extent of a row around its position, in m."""
        return 0.0

    def _extreme_postures(self) -> Array:
        """Postures on the bounds that are no row's (k, nq)."""
        return self.q[:0]

    def _refuse_empty(self) -> None:
        if not len(self):
            raise ShapeError(f"this {self.WHOLE} has no {self.ROW}: the slice lies outside of it, or is too thin")


def _read_direction(direction: Any) -> Array:
    """A direction (3) as a vector of length one."""
    d = rows_of(direction, 3, "reach: direction", "x, y, z")
    if d.shape != (3,) or not np.isfinite(d).all() or not d.any():
        raise ShapeError(f"reach: direction must be three numbers, not all zero, got {short_repr(direction)}")
    d = d / np.abs(d).max()
    return np.asarray(d / np.linalg.norm(d))


def positive_integer(value: Any, what: str) -> int:
    """A number of postures, or of starts."""
    try:
        count = operator.index(value)
    except Exception:
        count = 0
    if not 0 < count <= MAX_STATES or isinstance(value, bool):
        raise ShapeError(f"{what} must be a positive integer that memory can hold, got {short_repr(value)}")
    return count


def _farthest_from(robot: Mechanism, link: str, starts: Sequence[Array], unit: Array) -> Reach:
    """The farthest point along a unit vector that a search from any of these postures finds within the limits."""

    def position(q: Array) -> Array:
        return pose(robot, q, link)[..., :3, 3]

    def search(q: Array) -> Array:
        from scipy.optimize import minimize

        def slope(q: Array) -> Array:
            return -unit @ jacobian(robot, q, link)[3:]

        limits = list(zip(robot.limits.lower, robot.limits.upper, strict=True))
        found = minimize(lambda q: -float(position(q) @ unit), q, jac=slope, bounds=limits, method="L-BFGS-B")
        return np.asarray(found.x)

    has_plain_coordinates = robot.nq == robot.nv and not robot.model.constraints
    ends = [search(q) for q in starts] if has_plain_coordinates else list(starts)
    q = max(ends, key=lambda q: float(position(q) @ unit))
    place = position(q)
    return Reach(float(place @ unit), place, q)
