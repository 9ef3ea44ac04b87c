"""Random shapes of every kind in random places: as chainrule's solids over arrays, and one by one for peers."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation as RandomRotation

from chainrule.algorithms.separation import separation
from chainrule.algorithms.solids import SolidCapsule, SolidHull
from chainrule.bodies.body import solid_of
from chainrule.model import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from chainrule.spatial import Rotation, Transform, Vector

KINDS = ("sphere", "capsule", "box", "cylinder", "ellipsoid", "hull", "plane")
PAIRS = [(a, b) for i, a in enumerate(KINDS) for b in KINDS[i:] if (a, b) != ("plane", "plane")]
CURVED = {"cylinder", "ellipsoid"}
HULL_POINTS = 12


class RandomShapes:
    """`count` shapes of one kind with random sizes and poses."""

    def __init__(self, kind, count, rng):
        self.kind, self.count = kind, count
        self.R = RandomRotation.random(count, random_state=rng).as_matrix()
        self.p = rng.uniform(-0.6, 0.6, (count, 3))
        self.size = rng.uniform(0.05, 0.5, (count, 3))
        self.points = rng.normal(size=(count, HULL_POINTS, 3)) * 0.3

    @property
    def solid(self):
        T = Transform(Rotation(*(Vector(*self.R[:, i].T) for i in range(3))), Vector(*self.p.T))
        r, half, _ = self.size.T
        if self.kind == "capsule":
            end = Vector(0 * half, 0 * half, half)
            return SolidCapsule.between(-end, end, r).moved_by(T)
        if self.kind == "hull":
            return SolidHull(tuple(Vector(*self.points[:, i].T) for i in range(HULL_POINTS)), 0.0).moved_by(T)
        shape = {
            "sphere": Sphere(r), "box": Box(Vector(*(2 * self.size.T))), "cylinder": Cylinder(r, 2 * half),
            "ellipsoid": Ellipsoid(Vector(*self.size.T)), "plane": Plane(), "capsule": Capsule(r, 1.0),
        }[self.kind]  # fmt: skip
        return solid_of(shape).moved_by(T)

    def distances(self, other):
        """Signed distances, nearest points and normals (count, 3) from others of another kind."""
        found = separation(self.solid, other.solid)
        vectors = [found.point_a, found.point_b, found.normal]
        whole = [np.stack([np.broadcast_to(x, (self.count,)) for x in v], axis=-1) for v in vectors]
        return np.broadcast_to(found.distance, (self.count,)), *whole

    def outline(self, k, along):
        """Points (m, 3) of one shape that reach farthest along directions (m, 3), its own or from another library."""
        local, (a, b, c) = along @ self.R[k], self.size[k]
        if self.kind == "sphere":
            points = a * local
        elif self.kind == "capsule":
            points = a * local + np.outer(np.sign(local[:, 2]), [0, 0, b])
        elif self.kind == "box":
            points = np.sign(local) * self.size[k]
        elif self.kind == "cylinder":
            flat = local[:, :2] / np.maximum(np.linalg.norm(local[:, :2], axis=1, keepdims=True), 1e-300)
            points = np.c_[a * flat, b * np.sign(local[:, 2])]
        elif self.kind == "ellipsoid":
            points = local * [a * a, b * b, c * c] / np.linalg.norm(local * self.size[k], axis=1, keepdims=True)
        else:
            points = self.points[k][np.argmax(local @ self.points[k].T, axis=1)]
        return points @ self.R[k].T + self.p[k]
