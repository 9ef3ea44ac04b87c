"""Sketch: things in space, drawn on paper; labels are placed when all lines are there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chainrule.arguments import Array
from chainrule.figures.placement import Wish, place
from chainrule.figures.scene import Disc, Item, Label, Path, Scene, Stroke, circle_points, label_size
from chainrule.figures.view import Projection
from chainrule.plots.canvas import AXIS_COLORS, BLACK, LIMIT_COLOR
from chainrule.symbolic.documents.blocks import Formula

FONT_POINTS, NOTE_POINTS = 9.0, 8.0
MIN_LENGTH = 0.05
"""Arrows shorter than this on paper, in cm, are not drawn as such."""


class Sketch:
    """Items on paper, and the labels that they still need. Positions are in m, in the base; sizes of symbols in cm."""

    def __init__(self, view: Projection) -> None:
        self.view = view
        self.items: list[Item] = []
        self.wishes: list[tuple[int, Wish]] = []

    # --- lines ---

    def line(
        self, points: Array, stroke: Stroke, *, head: str = "", name: str = "", value: Array | None = None
    ) -> Array:
        """A line through points (k, 3); how it lies on paper."""
        on_paper = self.view.on_paper(points)
        self.items.append(Path(on_paper, stroke, head=head, name=name, value=value))
        return on_paper

    def area(self, points: Array, stroke: Stroke | None, fill: str | None) -> None:
        """The area within points (k, 3)."""
        self.items.append(Path(self.view.on_paper(points), stroke, fill, closed=True))

    def disc(self, point: Array, radius: float, stroke: Stroke | None, fill: str | None) -> None:
        """A disc of a radius in cm."""
        self.items.append(Disc(self.view.on_paper(point), radius, stroke, fill))

    def vector(
        self,
        start: Array,
        vector: Array,
        per_unit: float,
        stroke: Stroke,
        text: str,
        *,
        head: str = "arrow",
        name: str = "",
    ) -> None:
        """A vector (3,) as an arrow to a scale, in cm on paper for its unit, with its label beside the tip.

        One that is nearly along the view is a circle with a dot, or with a cross where it points away; one that is too
        short to be seen has no label.
        """
        tip = start + vector * per_unit / self.view.scale
        ends = self.view.on_paper(np.stack([start, tip]))
        length, whole = float(np.linalg.norm(ends[1] - ends[0])), float(np.linalg.norm(vector)) * per_unit
        self.items.append(Path(ends, stroke, head=head if length > MIN_LENGTH else "", name=name, value=vector))
        if whole <= MIN_LENGTH or not text:
            return
        if length <= 2 * MIN_LENGTH and length < 0.2 * whole:
            self.end_on(ends[0], vector, stroke)
        along = (ends[1] - ends[0]) / max(length, 1e-9)
        self.wish(np.stack([ends[1], 0.35 * ends[0] + 0.65 * ends[1]]), text, stroke.color, away=along, rank=0)

    def end_on(self, center: Array, vector: Array, stroke: Stroke) -> None:
        """A vector along the view, at a point of the paper: a circle with a dot, with a cross where it points away."""
        self.items.append(Disc(center, 0.12, Stroke(stroke.color, 1.0), "#ffffff"))
        if float(vector @ self.view.toward) > 0:
            self.items.append(Disc(center, 0.035, None, stroke.color))
            return
        half = 0.12 * np.sqrt(0.5)
        for side in (1.0, -1.0):
            ends = center + half * np.array([[-1.0, -side], [1.0, side]])
            self.items.append(Path(ends, Stroke(stroke.color, 0.8)))

    def turn(
        self, center: Array, axis: Array, start: Array, sweep: float, radius: float, stroke: Stroke, *,
        head: str = "arrow", name: str = "", value: Array | None = None,
    ) -> Array:  # fmt: skip
        """An arc around an axis, from a direction across it, over a sweep in rad, of a radius in cm; how it lies."""
        side = np.cross(axis, start)
        steps = circle_points(0.0, sweep)
        points = center + radius / self.view.scale * (steps[:, :1] * start + steps[:, 1:] * side)
        return self.line(points, stroke, head=head, name=name, value=value)

    def measure(self, start: Array, end: Array, off: Array, text: str, stroke: Stroke, *, name: str = "") -> None:
        """A length between two points, drawn beside them, `off` (2,) in cm on paper, with an arrow at each end."""
        ends = self.view.on_paper(np.stack([start, end]))
        if np.any(off):
            for point in ends:
                self.items.append(Path(np.stack([point, point + 1.25 * off]), Stroke(stroke.color, 0.4)))
        head = "both" if np.linalg.norm(ends[1] - ends[0]) > 0.3 else ""
        value = np.asarray(end - start, dtype=float)
        self.items.append(Path(ends + off, stroke, head=head, name=name, value=value))
        self.wish(ends.mean(axis=0)[None] + off, text, stroke.color, away=_unit(off))

    # --- labels ---

    def wish(
        self, anchors: Array, text: str | Formula, color: str = BLACK, *, away: Array | None = None, rank: int = 1,
        size: float = FONT_POINTS,
    ) -> None:  # fmt: skip
        """A label beside points (k, 2) of the paper; a string is LaTeX. Those of a lower rank are placed first."""
        formula = text if isinstance(text, Formula) else Formula(text)
        self.wishes.append((rank, Wish(np.atleast_2d(anchors), formula, color, size, away)))

    def name(self, point: Array, text: str, color: str = BLACK, *, rank: int = 1) -> None:
        """A label beside a point (3,) in space."""
        self.wish(self.view.on_paper(point)[None], text, color, rank=rank)

    def note(self, at: Array, text: str) -> None:
        """Plain text that begins at a point (2,) of the paper."""
        half = label_size(text, NOTE_POINTS)[0] / 2
        self.items.append(Label(at + np.array([half, 0.0]), text, LIMIT_COLOR, NOTE_POINTS))

    def frame(
        self, T: Array, length: float, text: str | None, letters: str | None = None, *, color: str | None = None
    ) -> None:
        """The axes of a frame, in cm, its name at the origin, and the letters x, y and z with an index where wanted.

        They have colors of their own, or all the same.
        """
        origin = self.view.on_paper(T[:3, 3])
        outward = np.zeros(2)
        for k, (letter, own) in enumerate(AXIS_COLORS.items()):
            along = self.view.directions(T[:3, k])
            outward = outward + along
            if np.linalg.norm(along) < 0.08:
                continue
            ends = np.stack([origin, origin + length * along])
            self.items.append(Path(ends, Stroke(color or own, 1.1), head="arrow", name=f"{letter}_{letters or ''}"))
            if letters is not None:
                self.wish(ends[1:], f"{letter}_{{{letters}}}", color or own, away=_unit(along), rank=1)
        if text:
            self.wish(origin[None], text, BLACK, away=_unit(-outward), rank=2)

    # --- the whole ---

    def box(self) -> Array:
        """The corners (low, high) of what is drawn so far, in cm: (2, 2)."""
        return Scene(tuple(self.items)).box

    def place_labels(self) -> None:
        """Place the labels that are wished for so far."""
        self.items += place([wish for _, wish in sorted(self.wishes, key=lambda pair: pair[0])], self.items)
        self.wishes = []

    def scene(self) -> Scene:
        """The scene, with labels in their places."""
        self.place_labels()
        return Scene(tuple(self.items))


def _unit(v: Array) -> Array | None:
    size = float(np.linalg.norm(v))
    return None if size < 1e-9 else np.asarray(v / size)


def unit(v: Iterable[float]) -> Array:
    """A vector of length 1; zero stays zero."""
    found = np.asarray(list(v), dtype=float)
    return found / max(float(np.linalg.norm(found)), 1e-300)
