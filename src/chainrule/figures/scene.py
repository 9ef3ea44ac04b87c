# ruff: noqa: RUF001 (mathematical letters)
"""Scenes: what a figure is made of, on paper, whatever writes it.

A scene has three primitives: paths (lines, arrows, arcs and areas), discs, and labels. Lengths are in cm, x to the
right and y upward. Later items lie on earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias
from unicodedata import combining

import numpy as np

from chainrule.arguments import Array
from chainrule.symbolic.documents.blocks import Formula
from chainrule.symbolic.documents.plain_text import LOWER, UPPER, line

POINT = 2.54 / 72
"""A point of typography, in cm."""

LETTER_WIDTH, LINE_HEIGHT = 0.58, 1.05
"""The mean width of a letter and the height of a line, as parts of the size of the font."""

SMALL = frozenset(map(chr, (*LOWER.values(), *UPPER.values())))
WIDE, NARROW = frozenset("mMwWωΩ×=+−"), frozenset("(),.|il")
"""Letters of scripts, wide ones and narrow ones."""

DASHES = {"solid": (), "dashed": (3.0, 2.0), "dotted": (0.8, 1.6), "dashdot": (6.0, 2.0, 1.0, 2.0)}
"""Kinds of lines -> lengths of strokes and gaps, in points."""

HEADS = ("", "arrow", "double", "both")
"""What a path ends with: nothing, an arrowhead, two of them, or one at each end."""

EQUAL = " = "
"""What stands between the names of vectors that are equal, and drawn once."""

MARGIN = 0.22
"""The room around a scene, in cm."""


@dataclass(frozen=True)
class Stroke:
    """The look of a line: its color as "#RRGGBB", its width in points, its kind in `DASHES`."""

    color: str = "#000000"
    width: float = 0.8
    dash: str = "solid"


@dataclass(frozen=True, eq=False)
class Path:
    """A line through points (k, 2), an arrow or an arc along them, or the area within them."""

    points: Array
    stroke: Stroke | None = None
    fill: str | None = None
    closed: bool = False
    head: str = ""
    name: str = ""
    """What it stands for, such as "f_1"; names of vectors are those of the table with their numbers."""
    value: Array | None = None
    """The vector that an arrow stands for, in the axes of the base, in SI units; None where it is no vector."""


@dataclass(frozen=True, eq=False)
class Disc:
    """A disc around a center (2,)."""

    center: Array
    radius: float
    stroke: Stroke | None = None
    fill: str | None = None


@dataclass(frozen=True, eq=False)
class Label:
    """A text with its middle at a point (2,): a formula, or a name that is shown letter by letter."""

    center: Array
    text: Formula | str
    color: str = "#000000"
    size: float = 9.0

    @property
    def half(self) -> Array:
        """Half its width and height, in cm, estimated."""
        return label_size(self.text, self.size) / 2


Item: TypeAlias = Path | Disc | Label


def label_size(text: Formula | str, size: float) -> Array:
    """Width and height of a label in cm, estimated."""
    shown = text if isinstance(text, str) else line(text.latex)
    letters = sum(_width(letter) for letter in shown)
    lines = 1.15 if SMALL & set(shown) else 1.0
    return np.array([LETTER_WIDTH * letters, LINE_HEIGHT * lines]) * size * POINT


def _width(letter: str) -> float:
    if combining(letter) or letter == "_":
        return 0.0
    return 0.75 if letter in SMALL else 1.4 if letter in WIDE else 0.65 if letter in NARROW else 1.0


@dataclass(frozen=True, eq=False)
class Scene:
    """The items of a figure, from the first that is drawn to the last."""

    items: tuple[Item, ...]

    @property
    def box(self) -> Array:
        """The corners (low, high) of the paper that it needs, in cm: (2, 2)."""
        corners = [corners_of(item) for item in self.items] or [np.zeros((1, 2))]
        points = np.concatenate(corners)
        return np.stack([points.min(axis=0) - MARGIN, points.max(axis=0) + MARGIN])

    @property
    def paths(self) -> tuple[Path, ...]:
        """The lines, arrows and areas."""
        return tuple(item for item in self.items if isinstance(item, Path))

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels."""
        return tuple(item for item in self.items if isinstance(item, Label))

    def vectors(self) -> dict[str, Path]:
        """The arrows that stand for vectors, by name."""
        named = [path for path in self.paths if path.value is not None and path.name]
        return {name: path for path in named for name in path.name.split(EQUAL)}


def corners_of(item: Item) -> Array:
    """Points (k, 2) that an item reaches to."""
    if isinstance(item, Path):
        return item.points
    half = item.half if isinstance(item, Label) else np.full(2, item.radius)
    return np.stack([item.center - half, item.center + half])


def circle_points(start: float, sweep: float, steps_per_turn: int = 72) -> Array:
    """Points (k, 2) on the unit circle, from an angle on, over a sweep, in rad."""
    count = max(2, round(abs(sweep) / (2 * np.pi) * steps_per_turn) + 1)
    angles = start + np.linspace(0.0, sweep, count)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def samples(items: Sequence[Item], step: float = 0.07) -> Array:
    """Points (k, 2) on the lines and discs of a scene, no farther apart than a step, in cm."""
    found = [np.zeros((0, 2))]
    for item in items:
        if isinstance(item, Label):
            continue
        points = (
            item.points if isinstance(item, Path) else item.center + item.radius * circle_points(0.0, 2 * np.pi, 12)
        )
        if isinstance(item, Path) and item.closed:
            points = np.concatenate([points, points[:1]])
        for a, b in pairwise(points):
            count = max(2, int(np.linalg.norm(b - a) / step) + 1)
            found.append(a + np.linspace(0.0, 1.0, count)[:, None] * (b - a))
    return np.concatenate(found)
