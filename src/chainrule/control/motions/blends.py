"""Smooth paths along free lines: corners are rounded as widely as is free."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.control.motions.curves import Curve, quintic
from chainrule.planning.free_space import Truths

SHARES = 0.5 ** np.arange(8.0)
"""How much of the longest possible part of its legs a corner may cut off: the first that is free is taken."""
PLACES_PER_CORNER = 33
"""Places of a rounded corner that are looked at for each of these."""
PLACES_ON_PATH = 10_000
"""Places at which a whole path is looked at in the end."""
SHORTEST = 1e-9
"""The distance of two configurations, in rad or m, below which they are one."""
BEND = 1e-6
"""The sine of half a corner's angle below which it is none."""


def blend(points: Array, cuts: Array) -> tuple[Curve, Array]:
    """A path through the first and the last of some configurations (k, n), with rounded corners, and their places.

    Each corner is cut off at a distance (k - 2,) before and after it, where straight legs go over into a polynomial of
    degree five: direction and curvature are continuous. Being a mean of the corner and of points on its legs, it leaves
    no box that these are in.
    """
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    directions = np.diff(points, axis=0) / lengths[:, None]
    knots, slopes, s, corners = [points[0]], [directions[0]], [0.0], [0.0]
    for k, cut in enumerate(cuts, start=1):
        before = float(np.linalg.norm(points[k] - cut * directions[k - 1] - knots[-1]))
        if before > 1e-9 * lengths[k - 1]:  # else the corner before ends where this one begins
            knots.append(points[k] - cut * directions[k - 1])
            slopes.append(directions[k - 1])
            s.append(s[-1] + before)
        knots.append(points[k] + cut * directions[k])
        slopes.append(directions[k])
        corners.append(s[-1] + cut)
        s.append(s[-1] + 2 * cut)
    s.append(s[-1] + float(np.linalg.norm(points[-1] - knots[-1])))
    knots.append(points[-1])
    slopes.append(directions[-1])
    return quintic(np.array(s), np.array(knots), np.array(slopes)), np.append(corners, s[-1])


def round_corners(points: Array, is_free: Callable[[Array], Truths]) -> list[tuple[Curve, Array]]:
    """Smooth paths along a way (k, n) of free lines, and the places of their corners.

    The robot stops between two paths: at corners that cannot be rounded at all. `is_free` says of configurations
    (..., n) whether they are.
    """
    points = points[np.append(True, np.linalg.norm(np.diff(points, axis=0), axis=1) > SHORTEST)]
    directions = np.diff(points, axis=0)
    directions = directions / np.linalg.norm(directions, axis=1)[:, None]
    bends = np.linalg.norm(np.diff(directions, axis=0), axis=1) > BEND
    points = points[np.concatenate([[True], bends, [True]])]
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    room = lengths / 2  # corners share the legs between them
    room[[0, -1]] = 0.95 * lengths[[0, -1]]
    longest = np.minimum(room[:-1], room[1:])
    choice = _widest(points, longest, is_free)
    for _ in range(len(SHARES) * len(longest) + 1):
        paths = []
        is_done, first = True, 0
        for last in [*np.flatnonzero(choice == len(SHARES)), len(longest)]:
            path, corners = blend(points[first : last + 2], longest[first:last] * SHARES[choice[first:last]])
            s = np.linspace(0.0, path.x[-1], PLACES_ON_PATH)
            bad = ~is_free(path(s))
            if bad.any() and len(corners) > 2:
                nearest = np.unique(np.abs(corners[None, 1:-1] - s[bad, None]).argmin(axis=1))
                choice[first + nearest] += 1
                is_done = False
            paths.append((path, corners))
            first = last + 1
        if is_done:
            break
    return paths


def _widest(points: Array, longest: Array, is_free: Callable[[Array], Truths]) -> NDArray[np.int64]:
    """The first share of the longest cut at which each corner is free; as many as there are where none is."""
    if not len(longest):
        return np.zeros(0, dtype=int)
    directions = np.diff(points, axis=0)
    directions = directions / np.linalg.norm(directions, axis=1)[:, None]
    one = quintic(np.array([0.0, 2.0]), np.array([[-1.0, 0.0], [0.0, 1.0]]), np.eye(2))  # of before and after
    weights = one(np.linspace(0.0, 2.0, PLACES_PER_CORNER))
    shape = np.einsum("wd,dkn->kwn", weights, np.stack([directions[:-1], directions[1:]]))
    cuts = longest[:, None] * SHARES
    q = points[1:-1, None, None] + cuts[:, :, None, None] * shape[:, None]
    free = np.all(is_free(q), axis=-1)
    return np.where(np.any(free, axis=1), np.argmax(free, axis=1), len(SHARES))
