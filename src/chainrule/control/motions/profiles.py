"""Profiles of speed along a path: x = s-dot^2 at the places of a grid, and half planes that bound it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from chainrule.arguments import Array
from chainrule.control.motions.curves import Curve
from chainrule.errors import ModelError


class HalfPlanes(NamedTuple):
    """Half planes A u + B x <= C at every place of a grid: (places, rows) each; and the largest x (places,)."""

    A: Array
    B: Array
    C: Array
    x_max: Array


def all_interval_rows(rows: HalfPlanes, grid: Array) -> tuple[Array, Array, Array]:
    """The half planes of every interval: those at its start, and those at its end, where x is x + 2 ds u."""
    step = 2 * np.diff(grid)[:, None]
    A = np.concatenate([rows.A[:-1], rows.A[1:] + step * rows.B[1:]], axis=1)
    B, C = (np.concatenate([part[:-1], part[1:]], axis=1) for part in (rows.B, rows.C))
    return A, B, C


def law_of_time(grid: Array, x: Array) -> Curve:
    """s as a function of time: constant s-double-dot in every interval."""
    speed = np.sqrt(np.maximum(x, 0.0))
    mean = (speed[1:] + speed[:-1]) / 2
    if (mean <= 0).any():
        i = int(np.argmax(mean <= 0))
        raise ModelError(
            f"plan: the robot comes to a stop {100 * grid[i] / grid[-1]:.3g} % along the path; move the way-points"
        )
    t = np.concatenate([[0.0], np.cumsum(np.diff(grid) / mean)])
    u = np.diff(x) / (2 * np.diff(grid))
    return scipy.interpolate.PPoly(np.stack([u / 2, speed[:-1], grid[:-1]]), t)
