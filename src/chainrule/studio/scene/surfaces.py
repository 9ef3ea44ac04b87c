"""Surfaces of triangles for the scene: round bodies with soft edges, plates, boxes, and rotations for viser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array

AROUND = 40
"""Corners around a round surface."""

Triangles = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Surface:
    """Corners (n, 3), in m, and triangles (m, 3) of indices into them, counter-clockwise seen from outside.

    Corners that triangles share are shaded smoothly; `with_flat_faces` gives each triangle corners of its own.
    """

    corners: Array
    triangles: Triangles

    def at(self, T: Array) -> Surface:
        """This surface at a pose (4, 4)."""
        return Surface(self.corners @ T[:3, :3].T + T[:3, 3], self.triangles)

    def with_flat_faces(self) -> Surface:
        """The same with flat faces."""
        corners = self.corners[self.triangles].reshape(-1, 3)
        return Surface(corners, np.arange(len(corners)).reshape(-1, 3))


def join(surfaces: Iterable[Surface]) -> Surface:
    """Several surfaces as one."""
    surfaces = list(surfaces)
    starts = np.cumsum([0, *(len(surface.corners) for surface in surfaces)])
    triangles = [surface.triangles + start for surface, start in zip(surfaces, starts, strict=False)]
    return Surface(np.concatenate([surface.corners for surface in surfaces]), np.concatenate(triangles))


def quaternions(rotations: Array) -> Array:
    """Unit quaternions (..., 4), w first as viser has them, of rotation matrices (..., 3, 3)."""
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_quat(scalar_first=True)
    return np.asarray(flat.reshape(*rotations.shape[:-2], 4))


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


def lathe(profile: Any, around: int = AROUND) -> Surface:
    """The surface that a profile of (radius, height) sweeps about z, from below to above; closed where radii are 0."""
    rings = np.asarray(profile, dtype=float)
    turn = np.linspace(0, 2 * np.pi, around, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    corners = np.concatenate([np.concatenate([r * ring, np.full((around, 1), h)], axis=1) for r, h in rings])
    k = np.arange(around)
    after = (k + 1) % around
    triangles = []
    for i in range(len(rings) - 1):
        low, high = i * around, (i + 1) * around
        if rings[i, 0] > 0:
            triangles.append(np.stack([low + k, low + after, high + after], axis=1))
        if rings[i + 1, 0] > 0:
            triangles.append(np.stack([low + k, high + after, high + k], axis=1))
    return Surface(corners, np.concatenate(triangles))


def _arc(
    center: tuple[float, float], radius: float, first: float, last: float, count: int
) -> list[tuple[float, float]]:
    """Points of an arc in the plane of (radius, height), angles measured from the outward direction."""
    return [
        (center[0] + radius * float(np.cos(a)), center[1] + radius * float(np.sin(a)))
        for a in np.linspace(first, last, count)
    ]


def cylinder(start: Array, end: Array, radius: float, bevel: float = 0.0) -> Surface:
    """A cylinder from one point to another, with edges rounded by `bevel` (m); sharp ones have corners of their own."""
    along = np.asarray(end) - start
    length = float(np.linalg.norm(along))
    T = pose_along(np.asarray(start), along)
    soft = min(bevel, 0.45 * length, 0.9 * radius)
    if soft <= 0:
        caps = [lathe([(0, 0), (radius, 0)]), lathe([(radius, length), (0, length)])]
        return join([lathe([(radius, 0), (radius, length)]), *caps]).at(T)
    quarter = np.pi / 2
    profile = [(0.0, 0.0), *_arc((radius - soft, soft), soft, -quarter, 0, 5)]
    profile += [*_arc((radius - soft, length - soft), soft, 0, quarter, 5), (0.0, length)]
    return lathe(profile).at(T)


def capsule(start: Array, end: Array, radius: float, end_radius: float | None = None) -> Surface:
    """A bar with round ends from one point to another, which may taper to `end_radius`."""
    along = np.asarray(end) - start
    length = float(np.linalg.norm(along))
    last = radius if end_radius is None else end_radius
    # the side touches both balls where their normals make this angle with the plane across
    lean = float(np.arcsin(np.clip((radius - last) / length, -1, 1))) if length > 0 else 0.0
    quarter = np.pi / 2
    profile = [*_arc((0.0, 0.0), radius, -quarter, lean, 10), *_arc((0.0, length), last, lean, quarter, 10)]
    profile[0], profile[-1] = (0.0, -radius), (0.0, length + last)
    return lathe(profile).at(pose_along(np.asarray(start), along))


def ball(center: Array, radii: float | Array = 1.0) -> Surface:
    """A ball, or an ellipsoid with three radii along the axes."""
    profile = _arc((0.0, 0.0), 1.0, -np.pi / 2, np.pi / 2, 21)
    profile[0], profile[-1] = (0.0, -1.0), (0.0, 1.0)
    unit = lathe(profile)
    return Surface(unit.corners * radii + center, unit.triangles)


def box(size: Array) -> Surface:
    """A box about its center, with flat faces."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return of_quads(signs * np.asarray(size) / 2, quads).with_flat_faces()


def of_quads(corners: Array, quads: Triangles) -> Surface:
    """A surface of faces with four corners; a triangle has its last corner twice."""
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    kept = (triangles[:, 0] != triangles[:, 1]) & (triangles[:, 1] != triangles[:, 2])
    return Surface(np.asarray(corners), triangles[kept & (triangles[:, 2] != triangles[:, 0])])
