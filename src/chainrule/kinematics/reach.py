"""What a cloud and a map of a workspace have in common: farthest points, directions of approach, slabs and cells."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import MAX_STATES, Array, number, one_of, positive, rows_of
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError, short_repr
from chainrule.kinematics.poses import jacobian, pose

FLATNESS = 1e-9
"""A cloud that is thinner than this part of its size is a plane."""


class Reach(NamedTuple):
    """The farthest point in a direction: its distance (m), its position, and the posture there."""

    distance: float
    position: Array
    q: Array


class Dexterity(NamedTuple):
    """For each occupied cell: its centre (cells, 3), the samples in it, and the share of approach directions found."""

    centers: Array
    counts: NDArray[np.int64]
    share: Array


class Slab(NamedTuple):
    """A slab across an axis (0, 1 or 2): where its middle is, and how thick it is, in m."""

    axis: int
    at: float
    thickness: float


def read_slab(axis: str, at: float, thickness: float) -> Slab:
    """The slab that is meant by the arguments of `slice`."""
    one_of(("x", "y", "z"), axis, "axis", "a workspace")
    place = number(at, "slice: at", "m")
    return Slab("xyz".index(axis), place, positive(thickness, "slice: thickness", "positive, in m", unit="m"))


def read_direction(direction: Any) -> Array:
    """A direction (3) as a vector of length one."""
    d = rows_of(direction, 3, "reach: direction", "x, y, z")
    if d.shape != (3,) or not np.isfinite(d).all() or not d.any():
        raise ShapeError(f"reach: direction must be three numbers, not all zero, got {short_repr(direction)}")
    d = d / np.abs(d).max()
    return np.asarray(d / np.linalg.norm(d))


def read_side(cell: Any) -> float:
    """The side of cells, in m."""
    return positive(cell, "cell", "a positive length, in m", unit="m")


def positive_integer(value: Any, what: str) -> int:
    """A number of postures, or of starts."""
    try:
        count = operator.index(value)
    except Exception:
        count = 0
    if not 0 < count <= MAX_STATES or isinstance(value, bool):
        raise ShapeError(f"{what} must be a positive integer that memory can hold, got {short_repr(value)}")
    return count


def is_flat(bounds: Array) -> bool:
    """Whether points within these bounds (2, 3) lie in a plane across one of the axes."""
    extent = np.ptp(bounds, axis=0)
    return bool(extent.min() <= FLATNESS * extent.max())


def farthest_from(robot: Mechanism, link: str, starts: Sequence[Array], unit: Array) -> Reach:
    """The farthest point along a unit vector that a search from any of these postures finds within the limits.

    p . d is maximised with its gradient J_v^T d. With quaternions or closed loops, it is the farthest of the starts.
    """

    def position(q: Array) -> Array:
        return pose(robot, q, link)[..., :3, 3]

    def search(q: Array) -> Array:
        from scipy.optimize import minimize

        def slope(q: Array) -> Array:
            return -unit @ jacobian(robot, q, link, "world")[3:]

        limits = list(zip(robot.limits.lower, robot.limits.upper, strict=True))
        found = minimize(lambda q: -float(position(q) @ unit), q, jac=slope, bounds=limits, method="L-BFGS-B")
        return np.asarray(found.x)

    has_plain_coordinates = robot.nq == robot.nv and not robot.model.constraints
    ends = [search(q) for q in starts] if has_plain_coordinates else list(starts)
    q = max(ends, key=lambda q: float(position(q) @ unit))
    place = position(q)
    return Reach(float(place @ unit), place, q)
