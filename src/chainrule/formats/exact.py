"""Rotations as files give them, with the rounding dust of sines and cosines removed."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.spatial import Rotation, Transform, Vector

DUST = 1e-14
"""An entry of a rotation this near to 0 or 1 is 0 or 1. An angle of fewer digits than a float has is used as it is."""

SHORTEST = 1e-100
"""An axis shorter than this, or longer than its inverse, has no direction that could be trusted."""


def snapped(R: Rotation) -> Rotation:
    """The rotation with its near zeros and ones made exact, so that they fold away later."""
    rows = (Vector(*(_meant(x) for x in row)) for row in R)
    return Rotation(*rows)


def _meant(x: float) -> float:
    nearest = round(x)
    return float(nearest) if abs(x - nearest) < DUST else x


def points(axis: Vector) -> bool:
    """Whether an axis has a direction: it is neither zero nor so short or long that its square is lost."""
    return SHORTEST < axis.norm() < 1 / SHORTEST


def placed(xyz: Sequence[float], rpy: Sequence[float]) -> Transform:
    """A pose from a translation and roll-pitch-yaw angles."""
    return Transform(snapped(Rotation.from_rpy(*rpy)), Vector(*xyz))
