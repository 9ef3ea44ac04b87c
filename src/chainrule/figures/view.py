"""Views: planar robots are seen across their plane, others by one parallel projection in which little coincides."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from chainrule.arguments import Array

WIDTH, HEIGHT = 9.0, 8.0
"""The room for a robot on paper, in cm; labels and symbols need more around it."""

ELEVATIONS, AZIMUTHS = np.radians([14.0, 20.0, 26.0, 32.0]), np.radians(np.arange(0.0, 360.0, 7.5))
"""The views that are tried: the angle above the ground, and that around the upward direction."""

USUAL = np.radians([20.0, -55.0])
"""Elevation and azimuth that are taken where nothing speaks against them, as in robot.plot."""


@dataclass(frozen=True, eq=False)
class Projection:
    """A parallel projection onto paper."""

    right: Array
    up: Array
    flat: bool
    """Whether the robot moves in the plane of the paper."""
    scale: float = 1.0
    """cm on paper for a m."""

    @property
    def toward(self) -> Array:
        """The direction from the robot to the eye."""
        return np.cross(self.right, self.up)

    def directions(self, vectors: Array) -> Array:
        """Vectors (..., 3) without a length on paper: (..., 2)."""
        return np.asarray(vectors, dtype=float) @ np.stack([self.right, self.up], axis=1)

    def on_paper(self, points: Array) -> Array:
        """Points (..., 3) in m on paper, in cm: (..., 2)."""
        return self.scale * self.directions(points)

    def fit(self, points: Array) -> Projection:
        """This view at the scale at which the points (k, 3) fill the paper."""
        spans = np.ptp(self.directions(points), axis=0)
        size = float(np.maximum(spans / np.array([WIDTH, HEIGHT]), 1e-9).max())
        return replace(self, scale=1.0 / size if size > 1e-8 else 1.0)


def across(normal: int) -> Projection:
    """The view of the plane across an axis of the base, 0, 1 or 2: x or y to the right."""
    i, j = {0: (1, 2), 1: (0, 2), 2: (0, 1)}[normal]
    return Projection(np.eye(3)[i], np.eye(3)[j], flat=True)


def best_view(up: Array, directions: Array, points: Array, segments: Array) -> Projection:
    """The view, `up` upward, in which directions (k, 3), points (m, 3) and segments (s, 2, 3) are told apart best."""
    first = np.eye(3)[int(np.abs(up).argmin())]
    level = first - up * (first @ up)
    level /= np.linalg.norm(level)
    views = [
        Projection(*_axes(up, level, float(elevation), float(azimuth)), flat=False)
        for elevation in ELEVATIONS
        for azimuth in AZIMUTHS
    ]
    usual = Projection(*_axes(up, level, *map(float, USUAL)), flat=False)
    costs = [_cost(view, directions, points, segments) - 0.15 * float(view.toward @ usual.toward) for view in views]
    return views[int(np.argmin(costs))]


def _axes(up: Array, level: Array, elevation: float, azimuth: float) -> tuple[Array, Array]:
    side = np.cross(up, level)
    out = np.cos(azimuth) * level + np.sin(azimuth) * side
    toward = np.cos(elevation) * out + np.sin(elevation) * up
    right = np.cross(up, toward)
    right /= np.linalg.norm(right)
    return right, np.cross(toward, right)


def _cost(view: Projection, directions: Array, points: Array, segments: Array) -> float:
    """What is lost in a view: short directions, directions and points that nearly coincide, joints on other links."""
    seen = view.directions(directions)
    lengths = np.linalg.norm(seen, axis=1)
    lost = float((np.maximum(0.45 - lengths, 0.0) ** 2).sum()) * 8 / max(len(seen), 1)
    unit = seen / np.maximum(lengths, 1e-9)[:, None]
    i, j = np.triu_indices(len(unit), 1)
    sine = np.abs(unit[i, 0] * unit[j, 1] - unit[i, 1] * unit[j, 0])
    lost += float((np.maximum(0.35 - sine, 0.0) ** 2).sum()) * 12 / max(len(i), 1)
    places = view.directions(points)
    size = max(float(np.linalg.norm(np.ptp(places, axis=0))), 1e-9)
    i, j = np.triu_indices(len(places), 1)
    gaps = np.linalg.norm(places[i] - places[j], axis=1) / size
    lost += float((np.maximum(0.12 - gaps, 0.0) ** 2).sum()) * 60 / max(len(points), 1)
    for a, b in view.directions(segments) if len(segments) else ():
        off = _distances(places, a, b) / size
        ends = np.minimum(np.linalg.norm(places - a, axis=1), np.linalg.norm(places - b, axis=1)) / size
        lost += float((np.maximum(0.06 - off[ends > 1e-6], 0.0) ** 2).sum()) * 60 / len(points)
    return lost


def _distances(points: Array, a: Array, b: Array) -> Array:
    """The distances of points (k, 2) from a segment."""
    along = b - a
    share = np.clip((points - a) @ along / max(float(along @ along), 1e-18), 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - a - share[:, None] * along, axis=1))
