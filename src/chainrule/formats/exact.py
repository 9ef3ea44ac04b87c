"""Numbers and rotations from files, with the errors of rounding removed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chainrule.spatial import Rotation, Transform, Vector

ROUNDING_TOLERANCE = 1e-14
"""Distance from 0 or 1 up to which an entry of a rotation is rounded to it."""

ROUNDING_STEPS = 4
"""Distances between neighboring floating-point numbers up to which a difference counts as rounding."""

MIN_AXIS_LENGTH = 1e-100
"""Length below which, and above whose inverse, the direction of an axis is not trusted."""


def snap(R: Rotation) -> Rotation:
    """The rotation with its entries near 0 and 1 made exact, so that they fold away later."""
    rows = (Vector(*(_snap_entry(x) for x in row)) for row in R)
    return Rotation(*rows)


def _snap_entry(x: float) -> float:
    if not math.isfinite(x):  # refused with the name of what has it, when the robot is checked
        return x
    nearest = round(x)
    return float(nearest) if abs(x - nearest) < ROUNDING_TOLERANCE else x


def without_rounding(x: float, size: float = 0.0) -> float:
    """The decimal number with up to 14 digits that x is but for rounding, or x itself if there is none.

    `size` is that of the numbers whose sum or difference x is; their rounding is larger than that of x.

    >>> without_rounding(0.1 + 0.05), without_rounding(10.1 - 10.0, 10.1), without_rounding(1 / 3)
    (0.15, 0.1, 0.3333333333333333)
    """
    scale = max(abs(x), abs(size))
    if not math.isfinite(scale) or not scale:
        return x
    nearest = round(x, 13 - math.floor(math.log10(scale)))
    return nearest + 0.0 if abs(nearest - x) <= ROUNDING_STEPS * math.ulp(scale) else x


def has_direction(axis: Vector) -> bool:
    """Whether an axis has a direction: it is neither zero nor so short or long that its square is lost."""
    return MIN_AXIS_LENGTH < axis.norm() < 1 / MIN_AXIS_LENGTH


def pose(xyz: Sequence[float], rpy: Sequence[float]) -> Transform:
    """A pose from a translation and roll-pitch-yaw angles."""
    return Transform(snap(Rotation.from_rpy(*rpy)), Vector(*xyz))
