"""A collision body: a solid on a link of a robot, or standing in the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

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
from chainrule.errors import ShapeError
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


def solid_of(shape: SolidShape) -> Solid:
    """A shape about its own origin."""
    zero, T = Vector.zero(), Transform.identity()
    if isinstance(shape, Sphere):
        return Balls((zero,), (shape.radius,))
    if isinstance(shape, Capsule):
        if shape.length == 0:
            return Balls((zero,), (shape.radius,))
        end = Vector(0.0, 0.0, shape.length / 2)
        return SolidCapsule.between(-end, end, shape.radius)
    if isinstance(shape, Box):
        return SolidBox(zero, T.rotation, shape.size * 0.5)
    if isinstance(shape, Cylinder):
        return SolidCylinder(zero, Vector(0.0, 0.0, 1.0), shape.radius, shape.length / 2)
    if isinstance(shape, Ellipsoid):
        return SolidEllipsoid(zero, T.rotation, shape.radii)
    if isinstance(shape, Plane):
        return HalfSpace(Vector(0.0, 0.0, 1.0), 0.0)
    if isinstance(shape, Spheres):
        return Balls(shape.centers, shape.radii)
    if isinstance(shape, Convex):
        return SolidHull(shape.points, shape.margin)
    raise ShapeError(f"a {type(shape).__name__} is no solid")
