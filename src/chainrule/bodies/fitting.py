"""Capsules and balls around meshes: no point of the mesh is outside."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array, whole_number
from chainrule.bodies.mesh_points import outermost
from chainrule.errors import FormatError
from chainrule.formats.meshes import TriangleMesh, Triangles
from chainrule.model.geometry import Capsule
from chainrule.shapes.surfaces import rotation_along
from chainrule.spatial import Rotation, Transform, Vector


def fit_capsule(points: Array) -> tuple[Capsule, Transform]:
    """A small capsule around points (n, 3), and its place; its axis is searched for, from the principal axes on."""
    from scipy.optimize import minimize

    corners = hull_corners(points)
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    centered = corners - middle
    size, few = float(np.abs(centered).max()) or 1.0, outermost(centered)

    def around(x: Array, points: Array) -> tuple[float, Array, float, float]:
        """Radius, axis, and both ends along it, of the capsule about a line through middle + x[:3] along x[3:]."""
        axis = x[3:] / np.linalg.norm(x[3:])
        rel = points - x[:3]
        along = rel @ axis
        square = np.maximum((rel * rel).sum(axis=1) - along * along, 0.0)
        radius = float(np.sqrt(square.max()))
        cap = np.sqrt(np.maximum(radius * radius - square, 0.0))
        low, high = float((along + cap).min()), float((along - cap).max())
        return (radius, axis, low, high) if low < high else (radius, axis, (low + high) / 2, (low + high) / 2)

    def volume(x: Array) -> float:
        radius, _, low, high = around(x, few)
        return float(np.pi * radius**2 * (high - low + 4 / 3 * radius))

    _, _, axes = np.linalg.svd(centered - centered.mean(axis=0), full_matrices=False)
    starts = [np.concatenate([np.zeros(3), axis]) for axis in axes]
    steps = np.vstack([np.zeros(6), np.diag([0.1 * size] * 3 + [0.15] * 3)])
    found = [
        minimize(volume, x, method="Nelder-Mead", options={"maxfev": 300, "initial_simplex": x + steps, "fatol": 0})
        for x in starts
    ]
    best = min(found, key=lambda answer: float(answer.fun)).x
    radius, axis, low, high = around(best, centered)
    R = Rotation.of(rotation_along(axis).tolist())
    center = middle + best[:3] + axis * (low + high) / 2
    return Capsule(radius * (1 + 1e-12) + 1e-12, high - low), Transform(R, Vector(*center.tolist()))


def hull_corners(points: Array) -> Array:
    """The corners of the convex hull of points; all points where these are flat."""
    try:
        hull = TriangleMesh(points, np.empty((0, 3), dtype=np.int64)).hull()
    except FormatError:
        return points
    return np.asarray(points[np.unique(hull.triangles)])


def hull_volume(points: Array) -> float:
    """The volume of the convex hull of points, in m^3; 0 where these are flat."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return float(ConvexHull(points).volume)
    except QhullError:
        return 0.0


def cover_with_spheres(points: Array, triangles: Triangles, count: int) -> tuple[Array, Array]:
    """Centers (count, 3) and radii of balls that together cover the triangles of a mesh.

    The surface is sampled, the samples are gathered by Lloyd's k-means, and each ball holds its own, with the distance
    that a point of the surface may have from a sample added to its radius.
    """
    count = whole_number(count, "spheres", 1)
    samples, spacing = _samples(points, triangles, 200 * count)
    order = np.random.default_rng(0).permutation(len(samples))
    centers = samples[order[:1]]
    far = np.linalg.norm(samples - centers[0], axis=1)
    while len(centers) < count and far.max() > 0:  # begin with points that are far apart
        centers = np.vstack([centers, samples[int(np.argmax(far))]])
        far = np.minimum(far, np.linalg.norm(samples - centers[-1], axis=1))
    for _ in range(30):
        nearest = np.argmin(((samples[:, None] - centers[None]) ** 2).sum(axis=2), axis=1)
        centers = np.array([_middle(samples[nearest == k], centers[k]) for k in range(len(centers))])
    nearest = np.argmin(((samples[:, None] - centers[None]) ** 2).sum(axis=2), axis=1)
    radii = [np.linalg.norm(samples[nearest == k] - c, axis=1).max(initial=0.0) for k, c in enumerate(centers)]
    return centers, np.array(radii) + spacing


def _middle(points: Array, before: Array) -> Array:
    """Nearly the center of the smallest ball around points: steps towards the farthest (Badoiu and Clarkson)."""
    if not len(points):
        return before
    center = np.asarray(points.mean(axis=0))
    for k in range(1, 20):
        away = points - center
        center = center + away[int(np.argmax((away * away).sum(axis=1)))] / (k + 1)
    return center


def _samples(points: Array, triangles: Triangles, most: int) -> tuple[Array, float]:
    """Points on the triangles of a mesh, and the distance that any point of these has at most from one of them."""
    corners = points[triangles]  # (m, 3, 3)
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2
    spacing = max(float(np.sqrt(2 * area / most)), float(edges.max()) / 200)
    parts = np.maximum(np.ceil(edges / spacing).astype(int), 1)
    found = []
    for n in np.unique(parts):  # a grid of n steps on each triangle: no point is farther from it than a step
        i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1))
        inside = i + j <= n
        x, y = i[inside] / n, j[inside] / n
        weights = np.column_stack([1 - x - y, x, y])
        found.append(np.einsum("kw,mwd->mkd", weights, corners[parts == n]).reshape(-1, 3))
    return np.concatenate(found), float((edges / parts).max()) / np.sqrt(3)
