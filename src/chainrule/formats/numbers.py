"""Rotations as files give them: with a pi of a few digits, whose zeros and ones are meant."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.spatial import Rotation, Transform, Vector

MEANT = 1e-11
"""An entry of a rotation this near to 0 or 1 comes from an angle with 11 or more digits, and means 0 or 1."""


def snapped(R: Rotation) -> Rotation:
    """The rotation with its near zeros and ones made exact, so that they fold away later."""
    rows = (Vector(*(_meant(x) for x in row)) for row in R)
    return Rotation(*rows)


def _meant(x: float) -> float:
    nearest = round(x)
    return float(nearest) if abs(x - nearest) < MEANT else x


def placed(xyz: Sequence[float], rpy: Sequence[float]) -> Transform:
    """A pose from a translation and roll-pitch-yaw angles."""
    return Transform(snapped(Rotation.from_rpy(*rpy)), Vector(*xyz))
