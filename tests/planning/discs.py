"""A point among discs: a robot whose clearance can be written down."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from chainrule.planning.free_space import FreeSpace


class Discs:
    """Discs in the square from -1 to 1."""

    def __init__(self, centers, radii):
        self.centers, self.radii = np.array(centers, float), np.array(radii, float)
        self.looked_at = 0

    @staticmethod
    def random(seed, count=25):
        rng = np.random.default_rng(seed)
        return Discs(rng.uniform(-1.0, 1.0, (count, 2)), rng.uniform(0.05, 0.16, count))

    def clear(self, q):
        self.looked_at += int(np.prod(q.shape[:-1]))
        return (np.linalg.norm(q[..., None, :] - self.centers, axis=-1) - self.radii).min(axis=-1)

    def space(self, clearance=0.01):
        return FreeSpace(self.clear, clearance, lambda rng, count: rng.uniform(-1.0, 1.0, (count, 2)), np.ones(2))

    def free_points(self, rng, count, clearance=0.01):
        points = rng.uniform(-1.0, 1.0, (20 * count, 2))
        return points[self.clear(points) >= clearance][:count]


def along(points, count=2000):
    """Places on the lines between points (k, n)."""
    shares = np.linspace(0.0, 1.0, count)[:, None]
    return np.concatenate([a + shares * (b - a) for a, b in pairwise(points)])
