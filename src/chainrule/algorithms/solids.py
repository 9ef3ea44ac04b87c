"""Solid bodies in space, as distances see them: what moves with a frame, and how far it reaches along a direction.

Each is written by its points and directions, so that a moved body costs a few products. Lengths in m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from chainrule.spatial import Rotation, Scalar, Transform, Vector
from chainrule.spatial.scalar import sqrt, where

TINY = 1e-30
"""The square of a length, in m^2, below which a direction is not computed from it; larger than the least float32."""


class Rounded:
    """A solid without flat faces and straight edges, unless it says so."""

    def directions(self) -> list[Vector]:
        """The normals of its flat faces."""
        return []

    def edges(self) -> list[Vector]:
        """The directions of its straight edges."""
        return []


@dataclass(frozen=True)
class Balls(Rounded):
    """Balls about points: one, or a tree of them that stands for a mesh."""

    centers: tuple[Vector, ...]
    radii: tuple[Scalar, ...]
    kind: ClassVar[str] = "balls"

    def moved_by(self, T: Transform) -> Balls:
        """The body in the frame that T is the pose of its own in."""
        return Balls(tuple(T * p for p in self.centers), self.radii)

    def numbers(self) -> list[Scalar]:
        """Center and radius of each."""
        return [x for p, r in zip(self.centers, self.radii, strict=True) for x in (*p, r)]

    @classmethod
    def of(cls, x: Sequence[Scalar]) -> Balls:
        """The body with these numbers."""
        return cls(tuple(Vector(*x[i : i + 3]) for i in range(0, len(x), 4)), tuple(x[3::4]))

    @property
    def center(self) -> Vector:
        """A point inside."""
        return _mean(self.centers)

    def lowest(self, n: Vector) -> tuple[Vector, Scalar]:
        """The point that reaches least far along the unit vector n, and how far."""
        return _least([(p - n * r, p.dot(n) - r) for p, r in zip(self.centers, self.radii, strict=True)])


@dataclass(frozen=True)
class SolidCapsule(Rounded):
    """A capsule: all points within `radius` of a line from a point along a vector.

    `square` is that of the line's length, and `inverse` is 1 over it, or 0 for a line of no length.
    """

    start: Vector
    along: Vector
    radius: Scalar
    square: Scalar
    inverse: Scalar
    kind: ClassVar[str] = "capsule"

    @classmethod
    def between(cls, a: Vector, b: Vector, radius: Scalar) -> SolidCapsule:
        """The capsule with the centers of its ends."""
        square = (b - a).dot(b - a)
        return cls(a, b - a, radius, square, where(square > TINY, 1 / where(square > TINY, square, 1.0), 0.0))

    def moved_by(self, T: Transform) -> SolidCapsule:
        """The body in the frame that T is the pose of its own in."""
        return SolidCapsule(T * self.start, T.rotation * self.along, self.radius, self.square, self.inverse)

    def numbers(self) -> list[Scalar]:
        """Both ends and the radius."""
        return [*self.start, *(self.start + self.along), self.radius]

    @classmethod
    def of(cls, x: Sequence[Scalar]) -> SolidCapsule:
        """The body with these numbers."""
        return cls.between(Vector(*x[:3]), Vector(*x[3:6]), x[6])

    @property
    def center(self) -> Vector:
        """A point inside."""
        return self.start + self.along * 0.5

    def lowest(self, n: Vector) -> tuple[Vector, Scalar]:
        """The point that reaches least far along the unit vector n, and how far."""
        rise = self.along.dot(n)
        point = choose(rise < 0, self.start + self.along, self.start)
        return point - n * self.radius, self.start.dot(n) + where(rise < 0, rise, 0.0) - self.radius

    def edges(self) -> list[Vector]:
        """The directions of its straight edges."""
        return [self.along]


@dataclass(frozen=True)
class SolidBox:
    """A box about its center; the columns of `axes` are its edges' directions, `half` half their lengths."""

    center: Vector
    axes: Rotation
    half: Vector
    kind: ClassVar[str] = "box"

    def moved_by(self, T: Transform) -> Self:
        """The body in the frame that T is the pose of its own in."""
        return replace(self, center=T * self.center, axes=T.rotation @ self.axes)

    def numbers(self) -> list[Scalar]:
        """Center, axes by rows, half lengths."""
        return [*self.center, *(x for row in self.axes for x in row), *self.half]

    @classmethod
    def of(cls, x: Sequence[Scalar]) -> Self:
        """The body with these numbers."""
        return cls(Vector(*x[:3]), Rotation(*(Vector(*x[i : i + 3]) for i in (3, 6, 9))), Vector(*x[12:15]))

    def local(self, p: Vector) -> Vector:
        """A point in the axes of the box, about its center."""
        return self.axes.inv * (p - self.center)

    def lowest(self, n: Vector) -> tuple[Vector, Scalar]:
        """The point that reaches least far along the unit vector n, and how far."""
        along = self.axes.inv * n
        corner = Vector(*(where(x > 0, -h, h) for x, h in zip(along, self.half, strict=True)))
        return self.center + self.axes * corner, self.center.dot(n) + corner.dot(along)

    def directions(self) -> list[Vector]:
        """The normals of its flat faces."""
        return list(self.axes.transpose())

    edges = directions


class SolidEllipsoid(SolidBox):
    """An ellipsoid; the columns of `axes` are the directions of its half axes `half`."""

    kind: ClassVar[str] = "ellipsoid"

    def lowest(self, n: Vector) -> tuple[Vector, Scalar]:
        """The point that reaches least far along the unit vector n, and how far."""
        scaled = Vector(*(x * r for x, r in zip(self.axes.inv * n, self.half, strict=True)))
        size = length(scaled)
        tip = Vector(*(x * r / size for x, r in zip(scaled, self.half, strict=True)))
        return self.center - self.axes * tip, self.center.dot(n) - size

    def edges(self) -> list[Vector]:
        """Its straight edges: none."""
        return []


@dataclass(frozen=True)
class SolidCylinder:
    """A cylinder about its center, `half` its half length along the unit vector `axis`."""

    center: Vector
    axis: Vector
    radius: Scalar
    half: Scalar
    kind: ClassVar[str] = "cylinder"

    def moved_by(self, T: Transform) -> SolidCylinder:
        """The body in the frame that T is the pose of its own in."""
        return SolidCylinder(T * self.center, T.rotation * self.axis, self.radius, self.half)

    def numbers(self) -> list[Scalar]:
        """Center, axis, radius and half length."""
        return [*self.center, *self.axis, self.radius, self.half]

    @classmethod
    def of(cls, x: Sequence[Scalar]) -> SolidCylinder:
        """The body with these numbers."""
        return cls(Vector(*x[:3]), Vector(*x[3:6]), x[6], x[7])

    def lowest(self, n: Vector) -> tuple[Vector, Scalar]:
        """The point that reaches least far along the unit vector n, and how far."""
        u = n.dot(self.axis)
        across = n - self.axis * u
        d2 = across.dot(across)
        size = sqrt(where(d2 > 1e-12, d2, 1e-12))  # along the axis, what is left of n is rounding
        end = where(u > 0, -self.half, self.half)
        point = self.center + self.axis * end - across * (self.radius / size)
        return point, self.center.dot(n) + end * u - self.radius * size

    def directions(self) -> list[Vector]:
        """The normals of its flat faces, which are the directions of its edges."""
        return [self.axis]

    edges = directions


@dataclass(frozen=True)
class SolidHull(Rounded):
    """All points within a margin of the convex hull of points."""

    points: tuple[Vector, ...]
    margin: Scalar
    kind: ClassVar[str] = "hull"

    def moved_by(self, T: Transform) -> SolidHull:
        """The body in the frame that T is the pose of its own in."""
        return SolidHull(tuple(T * p for p in self.points), self.margin)

    def numbers(self) -> list[Scalar]:
        """The points, and the margin."""
        return [*(x for p in self.points for x in p), self.margin]

    @classmethod
    def of(cls, x: Sequence[Scalar]) -> SolidHull:
        """The body with these numbers."""
        return cls(tuple(Vector(*x[i : i + 3]) for i in range(0, len(x) - 1, 3)), x[-1])

    @property
    def center(self) -> Vector:
        """A point inside."""
        return _mean(self.points)

    def lowest(self, n: Vector) -> tuple[Vector, Scalar]:
        """The point that reaches least far along the unit vector n, and how far."""
        point, height = _least([(p, p.dot(n)) for p in self.points])
        return point - n * self.margin, height - self.margin


@dataclass(frozen=True)
class HalfSpace:
    """All points p with normal . p <= offset: what is under a floor."""

    normal: Vector
    offset: Scalar
    kind: ClassVar[str] = "half_space"

    def moved_by(self, T: Transform) -> HalfSpace:
        """The body in the frame that T is the pose of its own in."""
        n = T.rotation * self.normal
        return HalfSpace(n, self.offset + n.dot(T.translation))

    def numbers(self) -> list[Scalar]:
        """The normal, and how far the plane is from the origin along it."""
        return [*self.normal, self.offset]

    @classmethod
    def of(cls, x: Sequence[Scalar]) -> HalfSpace:
        """The body with these numbers."""
        return cls(Vector(*x[:3]), x[3])


ConvexSolid = Balls | SolidCapsule | SolidBox | SolidCylinder | SolidEllipsoid | SolidHull
Solid = ConvexSolid | HalfSpace
SOLIDS: dict[str, type[Solid]] = {
    kind.kind: kind for kind in (Balls, SolidCapsule, SolidBox, SolidCylinder, SolidEllipsoid, SolidHull, HalfSpace)
}
"""The kinds of solids by name."""


def layout(solids: Sequence[Solid]) -> str:
    """Kinds and lengths of solids, in a word: what a kernel is compiled for, whatever their numbers."""
    return " ".join(f"{solid.kind}:{len(solid.numbers())}" for solid in solids)


def layout_length(word: str) -> int:
    """The count of the numbers of all solids of a layout."""
    return sum(int(part.partition(":")[2]) for part in word.split())


def solids_of(word: str, numbers: Sequence[Scalar]) -> list[Solid]:
    """The solids of a layout, from their numbers in order."""
    found: list[Solid] = []
    start = 0
    for part in word.split():
        kind, _, count = part.partition(":")
        found.append(SOLIDS[kind].of(numbers[start : start + int(count)]))
        start += int(count)
    return found


def length(v: Vector) -> Scalar:
    """The length of a vector, never zero, so that one may divide by it."""
    d2 = v.dot(v)
    return sqrt(where(d2 > TINY, d2, TINY))


def _least(pairs: Sequence[tuple[Vector, Scalar]]) -> tuple[Vector, Scalar]:
    (point, height), *others = pairs
    for other, x in others:
        lower = x < height
        point, height = choose(lower, other, point), where(lower, x, height)
    return point, height


def choose(condition: Scalar, v: Vector, w: Vector) -> Vector:
    """The vector v where a condition holds, else w."""
    return Vector(*(where(condition, x, y) for x, y in zip(v, w, strict=True)))


def _mean(points: Sequence[Vector]) -> Vector:
    total = points[0]
    for p in points[1:]:
        total = total + p
    return total * (1 / len(points))
