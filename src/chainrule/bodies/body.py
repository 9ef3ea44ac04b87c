"""A collision body: a solid on a link of a robot, or standing in the world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from chainrule.algorithms.solids import (
    Balls,
    HalfSpace,
    Solid,
    SolidBox,
    SolidCapsule,
    SolidCylinder,
    SolidEllipsoid,
    SolidHull,
)
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from chainrule.spatial import Transform, Vector


@dataclass(frozen=True)
class Spheres:
    """Balls that together stand for one thing: centers, and radii, in m."""

    centers: tuple[Vector, ...]
    radii: tuple[float, ...]


@dataclass(frozen=True)
class Convex:
    """All points within a margin of the convex hull of points, in m."""

    points: tuple[Vector, ...]
    margin: float = 0.0


SolidShape: TypeAlias = Box | Sphere | Cylinder | Capsule | Ellipsoid | Plane | Spheres | Convex


@dataclass(frozen=True)
class CollisionBody:
    """A solid with a name, at `origin` in the frame of its link, or in the world where it has none.

    A `Plane` is everything below it: a floor.
    """

    name: str
    shape: SolidShape
    origin: Transform = field(default=Transform.identity())
    link: str | None = None
    friction: float | None = None
    """The coefficient of dry friction, where it is known."""
    restitution: float | None = None
    """The part of the speed with which it bounces, from 0 to 1, where it is known."""

    @property
    def solid(self) -> Solid:
        """The body as distances see it, in the frame of its link."""
        return solid_of(self.shape).moved_by(self.origin)


ZERO, AXES = Vector.zero(), Transform.identity().rotation
SOLID_OF: dict[type, Callable[[Any], Solid]] = {
    Sphere: lambda shape: Balls((ZERO,), (shape.radius,)),
    Box: lambda shape: SolidBox(ZERO, AXES, shape.size * 0.5),
    Cylinder: lambda shape: SolidCylinder(ZERO, Vector(0.0, 0.0, 1.0), shape.radius, shape.length / 2),
    Ellipsoid: lambda shape: SolidEllipsoid(ZERO, AXES, shape.radii),
    Plane: lambda shape: HalfSpace(Vector(0.0, 0.0, 1.0), 0.0),
    Spheres: lambda shape: Balls(shape.centers, shape.radii),
    Convex: lambda shape: SolidHull(shape.points, shape.margin),
}
"""The solid of each shape about its own origin; that of a capsule is in `solid_of`."""


def solid_of(shape: SolidShape) -> Solid:
    """A shape about its own origin."""
    if not isinstance(shape, Capsule):
        return SOLID_OF[type(shape)](shape)
    end = Vector(0.0, 0.0, shape.length / 2)
    return SolidCapsule.between(-end, end, shape.radius)
