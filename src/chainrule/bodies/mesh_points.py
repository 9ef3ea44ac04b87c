"""Meshes as points and triangles, for the bodies that stand for them."""

from __future__ import annotations

from os import PathLike
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chainrule.arguments import Array, file_path, real_array, refuse_nonfinite
from chainrule.errors import ShapeError
from chainrule.formats.meshes import TriangleMesh
from chainrule.model.geometry import Mesh
from chainrule.shapes.meshes import MAX_TRIANGLES_READ, read_mesh
from chainrule.shapes.parts import mesh_path

MeshSource: TypeAlias = "str | PathLike[str] | tuple[ArrayLike, ArrayLike]"
Triangles = NDArray[np.int64]

MAX_HULL_POINTS = 64
"""Points of a convex hull that distances are computed with: each is looked at in every step."""


def mesh_of(source: MeshSource, what: str) -> tuple[Array, Triangles]:
    """The points (n, 3) and triangles (m, 3) of a mesh, from a file or as given."""
    if not isinstance(source, tuple):
        surfaces = [piece.surface for piece in read_mesh(file_path(source, what), MAX_TRIANGLES_READ)]
        starts = np.cumsum([0, *(len(s.corners) for s in surfaces)])
        faces = [start + s.faces[:, :3] for start, s in zip(starts, surfaces, strict=False)]
        return np.concatenate([s.corners for s in surfaces]), np.concatenate(faces).astype(np.int64)
    if len(source) != 2:
        raise ShapeError(f"{what}: a mesh is a file, or (points, triangles), got {len(source)} things")
    points = np.asarray(real_array(source[0], f"{what}: points", "m"), dtype=float)
    triangles = np.asarray(source[1])
    if points.ndim != 2 or points.shape[1:] != (3,) or len(points) < 4:
        raise ShapeError(f"{what}: its points must be an array (n, 3) of at least 4, got shape {points.shape}")
    refuse_nonfinite(points, f"{what}: points")
    is_index = triangles.ndim == 2 and triangles.shape[1:] == (3,) and triangles.dtype.kind in "iu"
    if not is_index or not len(triangles) or triangles.min() < 0 or triangles.max() >= len(points):
        raise ShapeError(f"{what}: its triangles must be an array (m, 3) of indices of its {len(points)} points")
    return points, triangles.astype(np.int64)


def points_of(shape: Mesh) -> tuple[Array, Triangles]:
    """The points and triangles of a robot's mesh, in the frame of its geometry."""
    points, triangles = mesh_of(mesh_path(shape), shape.path)
    return points * np.array([float(x) for x in shape.scale]), triangles


def hull_points(points: Array) -> tuple[Array, float]:
    """Corners of the convex hull of points, and a margin around them within which all points are.

    The margin is 0 but for hulls with more than `MAX_HULL_POINTS` corners, of which the outermost are kept.
    """
    hull = TriangleMesh(points, np.empty((0, 3), dtype=np.int64)).hull()  # refuses flat ones
    corners = points[np.unique(hull.triangles)]
    if len(corners) <= MAX_HULL_POINTS:
        return corners, 0.0
    kept = outermost(corners)
    return kept, max(distance_to_hull(kept, corner) for corner in corners)


def outermost(points: Array) -> Array:
    """The points that are farthest along directions spread over the sphere, at most `MAX_HULL_POINTS`."""
    k = np.arange(MAX_HULL_POINTS) + 0.5
    z, turn = 1 - 2 * k / MAX_HULL_POINTS, np.pi * (1 + 5**0.5) * k  # by the golden angle
    across = np.sqrt(1 - z * z)
    directions = np.column_stack([across * np.cos(turn), across * np.sin(turn), z])
    return np.asarray(points[np.unique(np.argmax(points @ directions.T, axis=0))])


def distance_to_hull(corners: Array, point: Array) -> float:
    """The distance of a point from the convex hull of others, or a little more: to a point that is in the hull."""
    from scipy.optimize import nnls

    size = float(np.ptp(corners, axis=0).max())
    system = np.vstack([(corners - point).T / size, np.full(len(corners), 1e3)])
    weights, _ = nnls(system, np.array([0.0, 0.0, 0.0, 1e3]))
    return float(np.linalg.norm(weights @ corners / weights.sum() - point))
