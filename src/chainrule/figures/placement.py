"""Labels beside what they name: off lines, off each other, and near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array
from chainrule.figures.scene import Item, Label, Path, Stroke, samples
from chainrule.symbolic.documents.blocks import Formula

DIRECTIONS = 24
DISTANCES = (0.07, 0.16, 0.28, 0.45, 0.7, 1.0, 1.4)
"""Gaps between a label and the point that it names which are tried, in cm."""

LEADER_FROM = 0.4
"""The gap from which on a thin line leads from a label to its point, in cm."""


CELL = 0.04
"""The cells in which lines are counted, in cm."""


@dataclass(frozen=True, eq=False)
class Wish:
    """A label, and the points (k, 2) beside any of which it may stand; `away` is the direction that it should take."""

    anchors: Array
    text: Formula | str
    color: str
    size: float
    away: Array | None = None


class Crowd:
    """Points (k, 2) on the lines of a scene, counted in cells, so that those in a box are four lookups."""

    def __init__(self, points: Array) -> None:
        self.points = points
        self.low = points.min(axis=0, initial=0.0) - CELL
        cells = ((points - self.low) / CELL).astype(int)
        counts = np.zeros(cells.max(axis=0, initial=0) + 2)
        np.add.at(counts, (cells[:, 0] + 1, cells[:, 1] + 1), 1.0)
        self.sums = counts.cumsum(axis=0).cumsum(axis=1)

    def inside(self, centers: Array, half: Array) -> Array:
        """The number of points in a box around each of the centers (..., 2), to the nearest cell."""
        most = np.array(self.sums.shape) - 1
        i, j = np.moveaxis(np.clip(np.rint((centers - half - self.low) / CELL).astype(int), 0, most), -1, 0)
        k, m = np.moveaxis(np.clip(np.rint((centers + half - self.low) / CELL).astype(int), 0, most), -1, 0)
        return np.asarray(self.sums[k, m] - self.sums[i, m] - self.sums[k, j] + self.sums[i, j])


def place(wishes: Sequence[Wish], items: Sequence[Item]) -> list[Item]:
    """Labels for all wishes, in their order, the first with the best places; thin lines where they stand far off."""
    crowd = Crowd(samples(items))
    boxes = np.array([_box(item) for item in items if isinstance(item, Label)]).reshape(-1, 4)
    turn = np.linspace(0.0, 2 * np.pi, DIRECTIONS, endpoint=False)
    directions = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    found: list[Item] = []
    for wish in wishes:
        half = Label(wish.anchors[0], wish.text, wish.color, wish.size).half
        gaps = np.array(DISTANCES)
        reach = np.minimum(  # from the middle of a box to its edge
            half[0] / np.maximum(np.abs(directions[:, 0]), 1e-9), half[1] / np.maximum(np.abs(directions[:, 1]), 1e-9)
        )
        offsets = (gaps[:, None] + reach)[..., None] * directions
        centers = wish.anchors[:, None, None, :] + offsets
        cost = np.broadcast_to(9.0 * gaps[:, None], centers.shape[:-1]).copy()
        cost += 0.4 * np.arange(len(wish.anchors))[:, None, None]
        if wish.away is not None:
            cost += 1.2 * (1.0 - directions @ wish.away)
        cost += 4.0 * crowd.inside(centers, half + 0.03)
        cost += 200.0 * _overlaps(boxes, centers, half + 0.02)
        best = np.unravel_index(int(cost.argmin()), cost.shape)
        center, gap = centers[best], gaps[best[1]]
        if gap >= LEADER_FROM:
            anchor = wish.anchors[best[0]]
            ends = np.stack([anchor + 0.05 * directions[best[2]], center - reach[best[2]] * directions[best[2]]])
            found.append(Path(ends, Stroke(wish.color, 0.4)))
            crowd = Crowd(np.concatenate([crowd.points, samples(found[-1:])]))
        label = Label(center, wish.text, wish.color, wish.size)
        found.append(label)
        boxes = np.concatenate([boxes, _box(label)[None]])
    return found


def _box(label: Label) -> Array:
    return np.concatenate([label.center - label.half, label.center + label.half])


def _overlaps(boxes: Array, centers: Array, half: Array) -> Array:
    """The number of boxes (k, 4) that overlap a box around each of the centers (..., 2)."""
    if not len(boxes):
        return np.zeros(centers.shape[:-1])
    low, high = centers[..., None, :] - half, centers[..., None, :] + half
    hit = ((low < boxes[:, 2:]) & (high > boxes[:, :2])).all(axis=-1)
    return np.asarray(hit.sum(axis=-1), dtype=float)
