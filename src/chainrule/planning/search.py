"""A way through free configurations: RRT-Connect, with many lines looked at together.

Two trees of free lines grow, one from the start and one from the goals. Random configurations pull the smaller tree
towards them as far as lines are free, and its new ends pull the other tree (Kuffner and LaValle, RRT-Connect: an
efficient approach to single-query path planning, 2000).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.planning.free_space import FreeSpace

Indices = NDArray[np.int64]

FEWEST, MOST = 8, 128
"""Random configurations that pull a tree at once: few at first, when one of them may be enough."""
SHORTEST = 0.01
"""The motion, in m, below which a line adds nothing to a tree."""
MOST_STRIDES = 100
"""Strides towards one configuration, at most."""
MAX_ROUNDS = 12
"""Rounds of shortcuts, at most."""
RELAXATIONS = 40
"""Times that the corners between strides are moved, in a round."""
GAIN = 0.01
"""The share of the length that a further round of shortcuts must gain."""
LINES = 80
"""Lines between those that are looked at, at most."""
SAME = 1e-9
"""The share of a way's length below which a difference of lengths is rounding."""
PLACES = 14
"""Places on a way between which lines are looked at, about."""


class SearchResult(NamedTuple):
    """A way (k, n) through free lines, or None; and the configurations in the two trees."""

    points: Array | None
    from_start: int
    from_goal: int


class Tree:
    """Configurations, each joined to an earlier one by a free line; the roots to none."""

    def __init__(self, roots: Array) -> None:
        self._points = np.array(roots)
        self._parents = np.full(len(roots), -1)
        self.count = len(roots)

    @property
    def points(self) -> Array:
        """The configurations (count, n)."""
        return self._points[: self.count]

    def nearest(self, q: Array) -> Indices:
        """The index of the configuration of the tree that is nearest to each of q (m, n)."""
        points = self.points
        return np.asarray(((points * points).sum(axis=1) - 2 * q @ points.T).argmin(axis=1))

    def add(self, q: Array, parents: Indices) -> Indices:
        """The indices of new configurations."""
        end = self.count + len(q)
        if end > len(self._points):
            room = max(end, 2 * len(self._points)) - self.count
            self._points = np.concatenate([self.points, np.empty((room, self._points.shape[1]))])
            self._parents = np.concatenate([self._parents[: self.count], np.empty(room, dtype=int)])
        self._points[self.count : end], self._parents[self.count : end] = q, parents
        added = np.arange(self.count, end)
        self.count = end
        return added

    def extend(self, space: FreeSpace, q: Array) -> tuple[Indices, Indices]:
        """Grow towards q (m, n): the new configurations by index, and which of q they were grown towards."""
        near = self.nearest(q)
        last, rows = near.copy(), np.arange(len(q))
        for _ in range(MOST_STRIDES):
            start, goal = self.points[last[rows]], q[rows]
            end = space.stride(start, goal)
            share = space.advance(start, end)
            reached = start + share[:, None] * (end - start)
            reached[share >= 1.0] = end[share >= 1.0]
            there = (reached == goal).all(axis=1)
            nearer = space.motion(reached, goal) < space.motion(start, goal) - SHORTEST
            grown = there | (nearer & (space.motion(start, reached) > SHORTEST))
            last[rows[grown]] = self.add(reached[grown], last[rows[grown]])
            rows = rows[grown & ~there & (share >= 1.0)]
            if not len(rows):
                break
        moved = np.flatnonzero(last != near)
        return last[moved], moved

    def way(self, index: int) -> Array:
        """The configurations from a root to one of the tree."""
        found = [index]
        while self._parents[found[-1]] >= 0:
            found.append(int(self._parents[found[-1]]))
        return self.points[found[::-1]]


def search(
    space: FreeSpace,
    start: Array,
    goals: Array,
    rng: np.random.Generator,
    is_over: Callable[[int], bool],
) -> SearchResult:
    """A way from a free start (n,) to one of free goals (g, n); none when `is_over` says so of the trees' size."""
    direct = np.flatnonzero(space.lines_free(np.broadcast_to(start, goals.shape), goals))
    if direct.size:
        nearest = direct[np.linalg.norm(goals[direct] - start, axis=1).argmin()]
        return SearchResult(np.stack([start, goals[nearest]]), 1, len(goals))
    here, there = Tree(start[None]), Tree(goals)
    small, large = here, there
    count = FEWEST
    while not is_over(here.count + there.count):
        if small.count > large.count:
            small, large = large, small
        ends, _ = small.extend(space, space.sample(rng, count))
        if len(ends):
            others, towards = large.extend(space, small.points[ends])
            met = (large.points[others] == small.points[ends[towards]]).all(axis=1)
            if met.any():
                ways = [
                    np.concatenate([small.way(ends[towards[k]]), large.way(others[k])[-2::-1]])
                    for k in np.flatnonzero(met)
                ]
                way = min(ways, key=lambda points: float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()))
                return SearchResult(way if small is here else way[::-1], here.count, there.count)
        small, large = large, small
        count = min(2 * count, MOST)
    return SearchResult(None, here.count, there.count)


def shorten(space: FreeSpace, points: Array, rng: np.random.Generator) -> Array:
    """A shorter way between the same ends: the shortest over all free lines between its corners and places on it.

    All lines between the places are looked at together, and the shortest way over the free ones is kept; then again
    with other places, until that gains less than a hundredth twice.
    """
    idle = 0
    for attempt in range(MAX_ROUNDS):
        if len(points) == 2 or idle == 2:
            break
        before = _length(points)
        points = _relax(space, points)
        points = _shortest(space, points if attempt == 0 else _densify(points, rng), rng)
        idle = idle + 1 if _length(points) > (1 - GAIN) * before else 0
    return points


def _relax(space: FreeSpace, points: Array) -> Array:
    """The corners between strides moved to the middle of their neighbours, where a demand is met and lines are free."""
    if space.project is None:
        return points
    points = points.copy()
    for k in range(RELAXATIONS):
        i = np.arange(1 + k % 2, len(points) - 1, 2)
        if not len(i):
            break
        before, after = points[i - 1], points[i + 1]
        middle = space.project((before + after) / 2)
        length = space.motion(before, middle) + space.motion(middle, after)
        better = length < space.motion(before, points[i]) + space.motion(points[i], after)
        before, after, middle = before[better], after[better], middle[better]
        free = space.lines_free(before, middle) & space.lines_free(middle, after)
        points[i[better][free]] = middle[free]
    return points


def _length(points: Array) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _densify(points: Array, rng: np.random.Generator) -> Array:
    """The corners, and random places on every leg, more on longer ones and near corners."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    extra = np.maximum(np.round(PLACES * lengths / lengths.sum()).astype(int), 2)
    legs = [
        a + np.sort(np.concatenate([[0.0], np.sin(rng.uniform(0.0, np.pi / 2, k)) ** 2]))[:, None] * (b - a)
        for a, b, k in zip(points[:-1], points[1:], extra, strict=True)
    ]
    return np.concatenate([*legs, points[-1:]])


def _shortest(space: FreeSpace, points: Array, rng: np.random.Generator) -> Array:
    """The shortest way from the first point to the last over free lines between them; neighbours are joined already.

    Some of the lines are looked at, those that save much above all.
    """
    count = len(points)
    legs = np.linalg.norm(np.diff(points, axis=0), axis=1)
    place = np.append(0.0, np.cumsum(legs))
    i, j = np.triu_indices(count, 2)
    straight = np.linalg.norm(points[j] - points[i], axis=1)
    saved = place[j] - place[i] - straight
    chosen = np.argsort(-saved * rng.random(len(saved)), kind="stable")[:LINES]
    chosen = chosen[saved[chosen] > GAIN * place[-1] / 3]
    chosen = chosen[space.lines_free(points[i[chosen]], points[j[chosen]])]
    length = np.full((count, count), np.inf)
    length[np.arange(count - 1), np.arange(1, count)] = legs
    known = np.concatenate([np.flatnonzero(saved <= SAME * place[-1]), chosen])  # along one leg, or free
    length[i[known], j[known]] = straight[known]
    length += SAME * place[-1]  # of ways of one length the one with the fewest corners
    best, before = np.zeros(count), np.zeros(count, dtype=int)
    for k in range(1, count):
        total = best[:k] + length[:k, k]
        before[k] = int(total.argmin())
        best[k] = total[before[k]]
    way = [count - 1]
    while way[-1]:
        way.append(int(before[way[-1]]))
    return points[way[::-1]]
