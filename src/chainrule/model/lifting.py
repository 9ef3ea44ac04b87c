"""Lifting: the numbers of a model turned into scalars of another kind, such as symbols."""

from __future__ import annotations

from collections.abc import Callable

from chainrule.spatial import Rotation, Scalar, Transform, Vector

Lift = Callable[[Scalar, str], Scalar]
"""Turns a number of the model, given with its unit, into a scalar of another kind."""


def lift_vector(f: Lift, v: Vector, unit: str) -> Vector:
    """The vector with f applied to each component."""
    return Vector(*(f(x, unit) for x in v))


def lift_transform(f: Lift, T: Transform) -> Transform:
    """The transform with f applied to each entry of its rotation and of its translation."""
    rows = (lift_vector(f, row, "1") for row in T.rotation)
    return Transform(Rotation(*rows), lift_vector(f, T.translation, "m"))
