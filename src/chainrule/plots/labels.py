"""Names beside points, so placed that they do not lie on each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.text import Annotation
from mpl_toolkits.mplot3d.proj3d import proj_transform

from chainrule.arguments import Array
from chainrule.errors import visible
from chainrule.plots.canvas import LINK_COLOR, show_plainly

FONT_POINTS = 7.5
DIRECTIONS = 16
DISTANCES = (5.0, 10.0, 18.0, 28.0, 42.0, 60.0)
"""Distances from the joint at which a name is tried, in points of 1/72 inch."""


class PlacedName(Annotation):
    """A name with a thin line to a point in space, which it follows when the view is turned."""

    def __init__(self, point: Array, offset: Array, right: bool, **style: Any) -> None:
        super().__init__(
            "",
            xy=(0.0, 0.0),
            xytext=tuple(offset),
            textcoords="offset points",
            fontsize=FONT_POINTS,
            color=LINK_COLOR,
            ha="left" if right else "right",
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": LINK_COLOR, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 1},
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6},
            **style,
        )
        self.point = point

    def update_positions(self, renderer: Any) -> None:
        """Move to where the point is seen now."""
        axes: Any = self.axes
        if axes is not None:
            self.xy = tuple(seen_from(axes, self.point[None])[0])
        super().update_positions(renderer)


def seen_from(axes: Any, points: Array) -> Array:
    """Points (k, 3), or (k, 2) of plain axes, in the plane of the picture: (k, 2), in data units."""
    if getattr(axes, "name", None) != "3d":
        return points[:, :2]
    x, y, _ = proj_transform(*points.T, axes.get_proj())
    return np.stack([np.asarray(x), np.asarray(y)], axis=1)


def add_names(axes: Any, names: Sequence[str], points: Array, others: Array, clearance: float) -> list[Any]:
    """Write names beside points (k, d), off each other and off the other points (m, d) of the picture.

    clearance: the radius around the points, in m, in which no name stands.
    """
    figure = axes.get_figure()
    figure.draw_without_rendering()
    to_points = 72.0 / figure.dpi
    places = axes.transData.transform(seen_from(axes, points)) * to_points
    crowd = axes.transData.transform(seen_from(axes, others)) * to_points if len(others) else np.zeros((0, 2))
    beside = axes.transData.transform(seen_from(axes, points + _across(axes, clearance))) * to_points
    radius = float(np.median(np.linalg.norm(beside - places, axis=1)))
    taken: list[tuple[float, float, float, float]] = []
    placed: list[Any] = [None] * len(names)
    middle = crowd.mean(axis=0) if len(crowd) else places.mean(axis=0)
    inside, whole = axes.get_window_extent().extents, figure.bbox.extents
    frame = np.array([*np.maximum(inside[:2], whole[:2]), *np.minimum(inside[2:], whole[2:])]) * to_points
    for k in np.argsort(-np.linalg.norm(places - middle, axis=1)):
        width, height = 0.56 * FONT_POINTS * len(names[k]) + 3, 1.35 * FONT_POINTS
        offset, right, best = _best_offset(places[k], width, height, taken, crowd, places, middle, frame, radius)
        taken.append(best)
        label = PlacedName(points[k], offset, right, zorder=30)
        show_plainly(label, names[k])
        label.set_in_layout(False)
        label.set_gid(visible(f"name {names[k]}"))
        axes.add_artist(label)
        placed[k] = label
    return placed


def _across(axes: Any, length: float) -> Array:
    """A vector of this length that lies in the plane of the picture."""
    if getattr(axes, "name", None) != "3d":
        return np.array([length, 0.0])
    turn = np.radians(axes.azim)
    side = np.array([-np.sin(turn), np.cos(turn), 0.0])
    return length * np.roll(side, 1 + axes._vertical_axis)


def _best_offset(
    place: Array,
    width: float,
    height: float,
    taken: Sequence[tuple[float, float, float, float]],
    crowd: Array,
    places: Array,
    middle: Array,
    frame: Array,
    radius: float,
) -> tuple[Array, bool, tuple[float, float, float, float]]:
    """The offset of a name that hides least, and the box that it takes."""
    found: tuple[float, Array, bool, tuple[float, float, float, float]] | None = None
    outward = place - middle
    for distance in DISTANCES:
        for turn in np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False):
            offset = (radius + distance) * np.array([np.cos(turn), np.sin(turn)])
            right = bool(offset[0] >= -1e-9)
            x, y = place + offset
            box = (x if right else x - width, y - height / 2, x + width if right else x, y + height / 2)
            cost = distance / 4 + sum(1000 for other in taken if _overlap(box, other))
            cost += 12 * int(_inside(crowd, box).sum()) + 60 * int(_inside(places, box).sum())
            cost -= 4 * float(offset @ outward) / (float(np.linalg.norm(outward) * np.linalg.norm(offset)) + 1e-9)
            outside = max(frame[0] - box[0], frame[1] - box[1], box[2] - frame[2], box[3] - frame[3], 0.0)
            cost += 20 * outside
            if found is None or cost < found[0]:
                found = (cost, offset, right, box)
    assert found is not None
    return found[1], found[2], found[3]


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _inside(points: Array, box: tuple[float, ...]) -> Any:
    x, y = points[:, 0], points[:, 1]
    return (x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])
