"""Places and directions as builders of robots take them: a pose, or xyz and rpy, and axes by letter."""

from __future__ import annotations

import math
from typing import Any

from chainrule.arguments import flag, placement, unit_vectors, vector
from chainrule.errors import ShapeError, short_repr
from chainrule.formats.exact import pose
from chainrule.spatial import Transform, Vector

LETTERS = {
    "x": Vector(1.0, 0.0, 0.0),
    "y": Vector(0.0, 1.0, 0.0),
    "z": Vector(0.0, 0.0, 1.0),
    "-x": Vector(-1.0, 0.0, 0.0),
    "-y": Vector(0.0, -1.0, 0.0),
    "-z": Vector(0.0, 0.0, -1.0),
}


def place(origin: Any, xyz: Any, rpy: Any, *, degrees: bool, what: str) -> Transform:
    """A pose from a transform, or from a place (m) and roll, pitch, yaw about fixed axes (rad, or degrees)."""
    if origin is not None:
        if xyz is not None or rpy is not None:
            raise ShapeError(f"{what}: give either origin, or xyz and rpy")
        return placement(origin, f"{what}: origin")
    in_degrees = flag(degrees, f"{what}: degrees")
    where = (0.0, 0.0, 0.0) if xyz is None else tuple(vector(xyz, f"{what}: xyz", "m"))
    angles = (0.0, 0.0, 0.0) if rpy is None else tuple(vector(rpy, f"{what}: rpy", "deg" if in_degrees else "rad"))
    turned = [math.radians(a) if in_degrees else a for a in angles]
    return pose([float(x) for x in where], [float(a) for a in turned])


def direction(axis: Any, what: str) -> Vector:
    """A direction of length one from a letter, "x" or "-z", or from three numbers; zeros and ones stay exact."""
    if isinstance(axis, str):
        if axis not in LETTERS:
            raise ShapeError(f"{what} must be one of {', '.join(LETTERS)}, or three numbers, got {short_repr(axis)}")
        return LETTERS[axis]
    u = unit_vectors(axis, 3, what, "x, y, z")
    if u.shape != (3,):
        raise ShapeError(f"{what} must be three numbers (x, y, z), got shape {u.shape}")
    return Vector(*(float(round(x)) if abs(x - round(x)) < 1e-15 else float(x) for x in u))
