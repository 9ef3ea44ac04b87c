"""Solid bodies in space, as distances see them: what moves with a frame, and how far it reaches along a direction.

Each is written by its points and directions, so that a moved body costs a few products. Lengths in m.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, cast

from chainrule.spatial import Rotation, Scalar, Transform, Vector
from chainrule.spatial.scalar import sqrt, where

TINY = 1e-30
"""The square of a length, in m^2, below which a direction is not computed from it; larger than the least float32."""


class NumberedSolid:
    """A solid as the numbers of its fields, in order; without flat faces and straight edges, unless it says so."""

    def numbers(self) -> list[Scalar]:
        """All numbers, one after the other."""
        return [x for entry in fields(cast(Any, self)) for x in _flat(getattr(self, entry.name))]

    @classmethod
    def of(cls, numbers: Sequence[Scalar]) -> Self:
        """The solid with these numbers; where it has tuples, as many entries as there are numbers for."""
        kinds = [str(entry.type) for entry in fields(cast(Any, cls))]
        each = sum(SIZES[kind.removeprefix("tuple[").removesuffix(", ...]")] for kind in kinds if kind[:5] == "tuple")
        count = (len(numbers) - sum(SIZES.get(kind, 0) for kind in kinds)) // max(each, 1)
        rest = iter(numbers)
        return cls(*(_read(kind, count, rest) for kind in kinds))

    def directions(self) -> list[Vector]:
        """The normals of its flat faces."""
        return []

    def edges(self) -> list[Vector]:
        """The directions of its straight edges."""
        return []


SIZES = {"Scalar": 1, "Vector": 3, "Rotation": 9}
"""The count of the numbers of a field, by its type."""


def _flat(value: Any) -> list[Scalar]:
    """The numbers of a field."""
    return [x for part in value for x in _flat(part)] if isinstance(value, tuple | Vector | Rotation) else [value]


def _read(kind: str, count: int, rest: Iterator[Scalar]) -> Any:
    """A field of this type from the next numbers."""
    if kind[:5] == "tuple":
        return tuple(_read(kind.removeprefix("tuple[").removesuffix(", ...]"), count, rest) for _ in range(count))
    values = [next(rest) for _ in range(SIZES[kind])]
    if kind == "Rotation":
        return Rotation(*(Vector(*values[i : i + 3]) for i in (0, 3, 6)))
    return values[0] if kind == "Scalar" else Vector(*values)


@dataclass(frozen=True)
class Balls(NumberedSolid):
    """Balls about points: one, or a tree of them that stands for a mesh."""

    centers: tuple[Vector, ...]
    radii: tuple[Scalar, ...]
    kind: ClassVar[str] = "balls"

    def moved_by(self, T: Transform) -> Balls:
        """The body in the frame that T is the pose of its own in."""
        return Balls(tuple(T * p for p in self.centers), self.radii)

    @property
    def center(self) -> Vector:
        """A point inside."""
        return _mean(self.centers)

    def lowest(self, n: Vector) -> tuple[Vector, Scalar]:
        """The point that reaches least far along the unit vector n, and how far."""
        return _least([(p - n * r, p.dot(n) - r) for p, r in zip(self.centers, self.radii, strict=True)])


@dataclass(frozen=True)
class SolidCapsule(NumberedSolid):
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
class SolidBox(NumberedSolid):
    """A box about its center; the columns of `axes` are its edges' directions, `half` half their lengths."""

    center: Vector
    axes: Rotation
    half: Vector
    kind: ClassVar[str] = "box"

    def moved_by(self, T: Transform) -> Self:
        """The body in the frame that T is the pose of its own in."""
        return replace(self, center=T * self.center, axes=T.rotation @ self.axes)

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
class SolidCylinder(NumberedSolid):
    """A cylinder about its center, `half` its half length along the unit vector `axis`."""

    center: Vector
    axis: Vector
    radius: Scalar
    half: Scalar
    kind: ClassVar[str] = "cylinder"

    def moved_by(self, T: Transform) -> SolidCylinder:
        """The body in the frame that T is the pose of its own in."""
        return SolidCylinder(T * self.center, T.rotation * self.axis, self.radius, self.half)

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
class SolidHull(NumberedSolid):
    """All points within a margin of the convex hull of points."""

    points: tuple[Vector, ...]
    margin: Scalar
    kind: ClassVar[str] = "hull"

    def moved_by(self, T: Transform) -> SolidHull:
        """The body in the frame that T is the pose of its own in."""
        return SolidHull(tuple(T * p for p in self.points), self.margin)

    @property
    def center(self) -> Vector:
        """A point inside."""
        return _mean(self.points)

    def lowest(self, n: Vector) -> tuple[Vector, Scalar]:
        """The point that reaches least far along the unit vector n, and how far."""
        point, height = _least([(p, p.dot(n)) for p in self.points])
        return point - n * self.margin, height - self.margin


@dataclass(frozen=True)
class HalfSpace(NumberedSolid):
    """All points p with normal . p <= offset: what is under a floor."""

    normal: Vector
    offset: Scalar
    kind: ClassVar[str] = "half_space"

    def moved_by(self, T: Transform) -> HalfSpace:
        """The body in the frame that T is the pose of its own in."""
        n = T.rotation * self.normal
        return HalfSpace(n, self.offset + n.dot(T.translation))


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
