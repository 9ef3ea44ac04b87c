"""Random configurations of a tree of joints, within its limits."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array
from chainrule.model.layout import Coordinate, JointPlaces, Layout

DEFAULT_RANGES = {"rad": np.pi, "m": 1.0}
"""Where there is no limit, angles are within +-pi and lengths within +-1 m."""


def random_configurations(layout: Layout, rng: np.random.Generator, batch: tuple[int, ...]) -> Array:
    """Configurations (batch, nq), uniform within the limits; orientations are uniform."""
    q = np.empty((*batch, len(layout.coordinates)))
    for places in layout.joints:
        q[..., places.q] = _random_part(layout, places, rng, batch)
    return q


def _random_part(layout: Layout, places: JointPlaces, rng: np.random.Generator, batch: tuple[int, ...]) -> Array:
    """Random coordinates of one joint."""
    kind = places.joint.kind
    if kind.nq != kind.nv:
        quaternion = rng.normal(size=(*batch, 4))
        quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
        position = rng.uniform(-1, 1, (*batch, kind.nq - 4))
        return np.concatenate([position, quaternion], axis=-1)
    low, high = np.array([_range(coordinate) for coordinate in layout.coordinates[places.q]]).T
    q = rng.random((*batch, kind.nv))  # the numbers of rng.uniform, in a fifth of the time
    q *= high - low
    q += low
    return q


def _range(coordinate: Coordinate) -> tuple[float, float]:
    wide = DEFAULT_RANGES[coordinate.unit]
    lower, upper = coordinate.lower, coordinate.upper
    if np.isfinite(lower) and np.isfinite(upper):
        return lower, upper
    if np.isfinite(lower):
        return lower, max(lower, -wide) + 2 * wide
    if np.isfinite(upper):
        return min(upper, wide) - 2 * wide, upper
    return -wide, wide
