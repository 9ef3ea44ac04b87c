"""Surfaces of which pictures are made: cylinders, capsules, balls, boxes, plates, joined and placed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array

Faces = NDArray[np.int64]


class Fineness(NamedTuple):
    """Corners around a round surface, and along a quarter of its outline."""

    around: int
    arc: int


COARSE, FINE = Fineness(14, 4), Fineness(40, 10)
"""For Matplotlib, which sorts faces one by one, and for a page, which shades them smoothly."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Corners (n, 3), in m, and faces (m, 4) of indices into them, counter-clockwise seen from outside.

    A triangle has its last corner twice.
    """

    corners: Array
    faces: Faces
    convex: bool = True
    smooth: bool = True
    """Whether faces that share corners are shaded as one; each is flat otherwise."""

    def at(self, T: Array) -> Surface:
        """This surface at a pose (4, 4)."""
        return replace(self, corners=self.corners @ T[:3, :3].T + T[:3, 3])

    def scale_by(self, scale: Any) -> Surface:
        """This surface with its coordinates multiplied by a number, or by one for each axis."""
        return replace(self, corners=self.corners * scale)

    @property
    def triangles(self) -> Faces:
        """The faces as triangles (m, 3)."""
        halves = np.concatenate([self.faces[:, [0, 1, 2]], self.faces[:, [0, 2, 3]]])
        a, b, c = halves.T
        return halves[(a != b) & (b != c) & (c != a)]

    def for_shading(self) -> Surface:
        """The same with corners of its own for each triangle where faces are flat."""
        if self.smooth:
            return self
        corners = self.corners[self.triangles].reshape(-1, 3)
        return of_triangles(corners, np.arange(len(corners)).reshape(-1, 3))


def of_triangles(corners: Array, triangles: Faces) -> Surface:
    """The surface of triangles (m, 3)."""
    return Surface(corners, triangles[:, [0, 1, 2, 2]], convex=False)


def join(surfaces: Iterable[Surface], *, convex: bool = False) -> Surface:
    """Several surfaces as one."""
    surfaces = list(surfaces)
    starts = np.cumsum([0, *(len(surface.corners) for surface in surfaces)])
    faces = [surface.faces + start for surface, start in zip(surfaces, starts, strict=False)]
    return Surface(np.concatenate([surface.corners for surface in surfaces]), np.concatenate(faces), convex)


def rotation_along(direction: Array) -> Array:
    """A rotation (3, 3) whose z axis has the direction given; the identity for a direction of no length."""
    length = float(np.linalg.norm(direction))
    if not length > 0:
        return np.eye(3)
    z = np.asarray(direction) / length
    x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def pose_along(start: Array, direction: Array) -> Array:
    """A pose (4, 4) at a point, with its z axis in the direction given."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation_along(direction), start
    return T


def quads(polygon: Faces) -> Faces:
    """A convex polygon, given by its corners in order, as faces: (m, 4)."""
    rest = polygon[1:] if len(polygon) % 2 == 0 else np.append(polygon[1:], polygon[-1])
    starts = range(0, len(rest) - 2, 2)
    return np.array([[polygon[0], *rest[i : i + 3]] for i in starts], dtype=np.int64).reshape(-1, 4)


def _rings(profile: Any, around: int) -> tuple[Array, Array]:
    """The rings that points (radius, height) sweep about z, (k, 2), and the corners of all: (k around, 3)."""
    rings = np.asarray(profile, dtype=float)
    turn = np.linspace(0, 2 * np.pi, around, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return rings, np.concatenate([np.concatenate([r * ring, np.full((around, 1), h)], axis=1) for r, h in rings])


def lathe(profile: Any, around: int = FINE.around) -> Surface:
    """The surface that a profile of (radius, height) sweeps about z, from below to above; closed where radii are 0."""
    rings, corners = _rings(profile, around)
    k = np.arange(around)
    after = (k + 1) % around
    faces = []
    for i in range(len(rings) - 1):
        low, high = i * around, (i + 1) * around
        if rings[i, 0] > 0:
            last = high + k if rings[i + 1, 0] > 0 else high + after
            faces.append(np.stack([low + k, low + after, high + after, last], axis=1))
        elif rings[i + 1, 0] > 0:
            faces.append(np.stack([low + k, high + after, high + k, high + k], axis=1))
    return Surface(corners, np.concatenate(faces))


def disk(radius: float, height: float, around: int, *, upward: bool) -> Surface:
    """A flat disk about z, seen from above or from below."""
    _, corners = _rings([(radius, height)], around)
    polygon = np.arange(around)
    return Surface(corners, quads(polygon if upward else polygon[::-1]))


def _arc(
    center: tuple[float, float], radius: float, first: float, last: float, count: int
) -> list[tuple[float, float]]:
    """Points of an arc in the plane of (radius, height), angles measured from the outward direction."""
    return [
        (center[0] + radius * float(np.cos(a)), center[1] + radius * float(np.sin(a)))
        for a in np.linspace(first, last, count)
    ]


def cylinder(start: Array, end: Array, radius: float, bevel: float = 0.0, fineness: Fineness = FINE) -> Surface:
    """A cylinder from one point to another, with edges rounded by `bevel` (m); sharp ones have corners of their own."""
    along = np.asarray(end) - start
    length = float(np.linalg.norm(along))
    T = pose_along(np.asarray(start), along)
    soft, around = min(bevel, 0.45 * length, 0.9 * radius), fineness.around
    if soft <= 0:
        caps = [disk(radius, 0.0, around, upward=False), disk(radius, length, around, upward=True)]
        return join([lathe([(radius, 0), (radius, length)], around), *caps], convex=True).at(T)
    quarter = np.pi / 2
    profile = [(0.0, 0.0), *_arc((radius - soft, soft), soft, -quarter, 0, 5)]
    profile += [*_arc((radius - soft, length - soft), soft, 0, quarter, 5), (0.0, length)]
    return lathe(profile, around).at(T)


def capsule(
    start: Array, end: Array, radius: float, end_radius: float | None = None, fineness: Fineness = FINE
) -> Surface:
    """A bar with round ends from one point to another, which may taper to `end_radius`."""
    along = np.asarray(end) - start
    length = float(np.linalg.norm(along))
    last = radius if end_radius is None else end_radius
    # the side touches both balls where their normals make this angle with the plane across
    lean = float(np.arcsin(np.clip((radius - last) / length, -1, 1))) if length > 0 else 0.0
    quarter, arc = np.pi / 2, fineness.arc
    profile = [*_arc((0.0, 0.0), radius, -quarter, lean, arc), *_arc((0.0, length), last, lean, quarter, arc)]
    profile[0], profile[-1] = (0.0, -radius), (0.0, length + last)
    return lathe(profile, fineness.around).at(pose_along(np.asarray(start), along))


def ball(center: Array, radii: float | Array = 1.0, fineness: Fineness = FINE) -> Surface:
    """A ball, or an ellipsoid with three radii along the axes."""
    profile = _arc((0.0, 0.0), 1.0, -np.pi / 2, np.pi / 2, 2 * fineness.arc + 1)
    profile[0], profile[-1] = (0.0, -1.0), (0.0, 1.0)
    unit = lathe(profile, fineness.around)
    return replace(unit, corners=unit.corners * radii + center)


def box(size: Array) -> Surface:
    """A box about its center."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    faces = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return Surface(signs * np.asarray(size) / 2, faces, smooth=False)


def plate(corners: Array, thickness: float) -> Surface:
    """A plate of this thickness through the corners of a convex polygon, in order around it."""
    middle = corners.mean(axis=0)
    _, _, axes = np.linalg.svd(corners - middle)
    around = np.cross(corners - middle, np.roll(corners, -1, axis=0) - middle).sum(axis=0)
    n, k = thickness / 2 * axes[2] * (1.0 if around @ axes[2] >= 0 else -1.0), len(corners)
    outward = corners - middle
    lengths = np.linalg.norm(outward, axis=1, keepdims=True)
    wide = corners + thickness * outward / np.where(lengths > 0, lengths, 1.0)
    i = np.arange(k)
    sides = np.stack([i, (i + 1) % k, (i + 1) % k + k, i + k], axis=1)
    faces = np.concatenate([sides, quads(i[::-1]), quads(i + k)])
    return Surface(np.concatenate([wide - n, wide + n]), faces, smooth=False)
