"""Solids that pictures are made of: capsules, cylinders, boxes, balls, plates and meshes, as corners and faces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array

AROUND = 14
"""Corners around a round solid."""

MAX_TRIANGLES = 1500
"""Triangles drawn of one mesh; a finer one is drawn coarser."""


@dataclass(frozen=True)
class Solid:
    """Corners (n, 3), in m, and faces (m, 4) of indices into them, counter-clockwise seen from outside.

    A triangle has its last corner twice: with four corners each, faces are one array.
    """

    corners: Array
    faces: NDArray[np.int64]
    convex: bool = True

    def at_pose(self, R: Array, p: Array) -> Solid:
        """This solid turned by R and moved by p."""
        return Solid(self.corners @ R.T + p, self.faces, self.convex)


def quads(polygon: NDArray[np.int64]) -> NDArray[np.int64]:
    """A convex polygon, given by its corners in order, as quadrilaterals: (m, 4)."""
    rest = polygon[1:] if len(polygon) % 2 == 0 else np.append(polygon[1:], polygon[-1])
    starts = range(0, len(rest) - 2, 2)
    return np.array([[polygon[0], *rest[i : i + 3]] for i in starts], dtype=np.int64).reshape(-1, 4)


def _frame_along(direction: Array) -> Array:
    """A rotation whose z axis has the direction given."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _solid_of_circles(radii: Array, heights: Array) -> Solid:
    """The solid with circles of these radii at these heights along z, from below to above."""
    turn = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn), np.zeros(AROUND)], axis=1)
    corners = np.concatenate([r * ring + [0, 0, h] for r, h in zip(radii, heights, strict=True)])
    k = np.arange(AROUND)
    after = (k + 1) % AROUND
    sides = []
    for i in range(len(radii) - 1):
        low, high = i * AROUND, (i + 1) * AROUND
        sides.append(np.stack([low + k, low + after, high + after, high + k], axis=1))
    ends = [quads(k[::-1]), quads((len(radii) - 1) * AROUND + k)]
    return Solid(corners, np.concatenate([*sides, *ends]))


def cylinder(a: Array, b: Array, radius: float) -> Solid:
    """A cylinder with flat ends, from one point to another."""
    along = b - a
    length = float(np.linalg.norm(along))
    R = _frame_along(along) if length > 0 else np.eye(3)
    return _solid_of_circles(np.array([radius, radius]), np.array([0.0, length])).at_pose(R, a)


def capsule(a: Array, b: Array, radius: float, end_radius: float | None = None) -> Solid:
    """A bar with round ends, from one point to another; `end_radius` is that of the second end."""
    along = b - a
    length = float(np.linalg.norm(along))
    R = _frame_along(along) if length > 0 else np.eye(3)
    last = radius if end_radius is None else end_radius
    lift = np.linspace(0.12, np.pi / 2, 4)
    radii = np.concatenate([radius * np.sin(lift), last * np.sin(lift[::-1])])
    heights = np.concatenate([-radius * np.cos(lift), length + last * np.cos(lift[::-1])])
    return _solid_of_circles(radii, heights).at_pose(R, a)


def ball(center: Array, radii: float | Array) -> Solid:
    """A ball, or an ellipsoid with three radii along the axes."""
    lift = np.linspace(0.12, np.pi - 0.12, 8)
    unit = _solid_of_circles(np.sin(lift), -np.cos(lift))
    return Solid(unit.corners * radii + center, unit.faces)


def box(size: Array, R: Array | None = None, center: Array | None = None) -> Solid:
    """A box with the sides of `size`, about its center."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    faces = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    solid = Solid(signs * np.asarray(size) / 2, faces)
    return solid.at_pose(np.eye(3) if R is None else R, np.zeros(3) if center is None else center)


def block_along(center: Array, axis: Array, width: float, length: float) -> Solid:
    """A block with a square section, along an axis, about its center."""
    return box(np.array([width, width, length]), _frame_along(axis), center)


def plate(corners: Array, thickness: float) -> Solid:
    """A plate of this thickness through the corners of a convex polygon, in order around it."""
    middle = corners.mean(axis=0)
    _, _, axes = np.linalg.svd(corners - middle)
    around = np.cross(corners - middle, np.roll(corners, -1, axis=0) - middle).sum(axis=0)
    n, k = thickness / 2 * axes[2] * (1.0 if around @ axes[2] >= 0 else -1.0), len(corners)
    outward = corners - middle
    lengths = np.linalg.norm(outward, axis=1, keepdims=True)
    wide = corners + thickness * outward / np.where(lengths > 0, lengths, 1.0)
    points = np.concatenate([wide - n, wide + n])
    i = np.arange(k)
    sides = np.stack([i, (i + 1) % k, (i + 1) % k + k, i + k], axis=1)
    return Solid(points, np.concatenate([sides, quads(i[::-1]), quads(i + k)]))


def mesh(points: Array, triangles: NDArray[np.int64]) -> Solid:
    """A mesh of triangles; a fine one is made coarser."""
    points, triangles = coarsen(points, triangles, MAX_TRIANGLES)
    return Solid(points, triangles[:, [0, 1, 2, 2]], convex=False)


def coarsen(points: Array, triangles: NDArray[np.int64], most: int) -> tuple[Array, NDArray[np.int64]]:
    """Corners and at most about so many triangles of a mesh: corners are moved to ever coarser grids."""
    cells = int(48 * (most / MAX_TRIANGLES) ** 0.5)
    while len(triangles) > most and cells > 3:
        points, triangles = _coarser(points, triangles, cells)
        cells = int(cells / 1.5)
    return points, triangles


def _coarser(points: Array, triangles: NDArray[np.int64], cells: int) -> tuple[Array, NDArray[np.int64]]:
    """Corners that share a cell of a grid become one, their mean; triangles that vanish are left out."""
    low, size = points.min(axis=0), max(float(np.ptp(points, axis=0).max()), 1e-12)
    keys = np.floor((points - low) / size * cells).astype(np.int64)
    _, which, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    sums = np.zeros((len(counts), 3))
    np.add.at(sums, which, points)
    new = which[triangles]
    real = (new[:, 0] != new[:, 1]) & (new[:, 1] != new[:, 2]) & (new[:, 0] != new[:, 2])
    new = new[real]
    _, first = np.unique(np.sort(new, axis=1), axis=0, return_index=True)
    return sums / counts[:, None], new[np.sort(first)]


@cache
def light() -> Any:
    """The direction from which the light comes: from above, in front and the left."""
    toward = np.array([-0.45, -0.65, 1.0])
    return toward / np.linalg.norm(toward)


def shade(polygons: Array, color: Array) -> Array:
    """The colors (m, 4) of polygons (m, k, 3), lighter where they face the light."""
    normal = np.cross(polygons[:, 1] - polygons[:, 0], polygons[:, 2] - polygons[:, 0])
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    facing = (normal / np.where(size > 0, size, 1.0)) @ light()
    strength = 0.72 + 0.28 * facing
    shaded = np.empty((len(polygons), 4))
    shaded[:, :3] = np.clip(color[:3] * strength[:, None] + 0.10 * np.maximum(facing, 0)[:, None] ** 4, 0, 1)
    shaded[:, 3] = color[3]
    return shaded
