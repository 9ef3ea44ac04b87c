"""Vectors to a scale: forces and moments, velocities and angular velocities, with the scale beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.figures.scene import EQUAL, Path, Stroke, circle_points
from chainrule.figures.sketch import MIN_LENGTH, Sketch
from chainrule.figures.stick import across_axis

LONGEST, WIDEST = 2.4, 1.6 * np.pi
"""The longest arrow in cm, and the widest arc in rad."""

ARC_RADIUS = 0.5
NEGLIGIBLE = 1e-9
"""Vectors smaller than this part of the largest of their kind are not drawn."""


@dataclass(frozen=True, eq=False)
class SpatialVector:
    """A vector (3,) at a point, in the base, in SI units."""

    name: str
    """Its name in LaTeX; none is written where it is empty."""
    point: Array
    value: Array
    color: str
    after: Array | None = None
    """The vector from whose tip it starts, at the same scale."""


def round_up(x: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is at least x."""
    power = 10.0 ** math.floor(math.log10(x))
    return float(min(m for m in (1, 2, 5, 10) if m * (1 + 1e-12) >= x / power) * power)


def draw_vectors(sketch: Sketch, vectors: Iterable[SpatialVector], unit: str, *, turns: bool = False) -> None:
    """Draw vectors of one unit to one scale: arrows, those of turning with two heads or, across the paper, as arcs.

    Vectors that are at one place and equal are drawn once, with a label that says so.
    """
    given = list(vectors)
    largest = max((float(np.linalg.norm(vector.value)) for vector in given), default=0.0)
    if largest <= 0:
        return
    if not np.isfinite(largest):
        raise ShapeError(f"the vectors in {unit} of this figure are too large to be drawn: look at the state")
    groups: list[tuple[SpatialVector, list[str]]] = []
    for vector in given:
        if np.linalg.norm(vector.value) <= NEGLIGIBLE * largest:
            continue
        alone = vector.after is not None or not vector.name
        names = (
            None
            if alone
            else next(
                (names for other, names in groups if other.name and _coincide(sketch, vector, other, largest)), None
            )
        )
        if names is None:
            groups.append((vector, [vector.name]))
        else:
            names.append(vector.name)
    normal = sketch.view.toward
    as_arcs = turns and sketch.view.flat and all(
        np.linalg.norm(np.cross(vector.value, normal)) <= NEGLIGIBLE * largest for vector in given
    )  # fmt: skip
    per_step = round_up(largest / (WIDEST / (np.pi / 2) if as_arcs else LONGEST))
    for vector, names in groups:
        text, stroke = (
            EQUAL.join(names),
            Stroke(vector.color, 1.4 if vector.name else 0.8, "solid" if vector.name else "dashed"),
        )
        if as_arcs:
            _draw_arc(sketch, vector, text, np.pi / 2 / per_step)
        else:
            head = "double" if turns else "arrow"
            start = vector.point if vector.after is None else vector.point + vector.after / per_step / sketch.view.scale
            sketch.vector(start, vector.value, 1.0 / per_step, stroke, text, head=head, name=text)
    _draw_scale(sketch, per_step, unit, given[0].color, as_arcs=as_arcs, head="double" if turns else "arrow")


def _coincide(sketch: Sketch, a: SpatialVector, b: SpatialVector, largest: float) -> bool:
    apart = float(np.linalg.norm(a.point - b.point)) * sketch.view.scale
    return apart < 1e-6 and float(np.linalg.norm(a.value - b.value)) <= NEGLIGIBLE * largest


def _draw_arc(sketch: Sketch, vector: SpatialVector, text: str, per_unit: float) -> None:
    """A vector across the paper as an arc in the sense of its turning, its angle to scale."""
    normal = sketch.view.toward
    sweep = float(vector.value @ normal) * per_unit
    start = across_axis(normal)[0]
    start = np.cos(2.2) * start + np.sin(2.2) * np.cross(normal, start)
    arc = sketch.turn(
        vector.point, normal, start, sweep, ARC_RADIUS, Stroke(vector.color, 1.4), name=text, value=vector.value
    )
    if abs(sweep) * ARC_RADIUS > MIN_LENGTH:
        sketch.wish(arc[[-1, len(arc) // 2, 0]], text, vector.color, rank=0)


def _draw_scale(sketch: Sketch, per_step: float, unit: str, color: str, *, as_arcs: bool, head: str) -> None:
    """The scale, below what is drawn so far: an arrow of a cm or an arc of a right angle, and what it is."""
    low, _ = sketch.box()
    at = np.array([low[0] + 0.2, low[1] - 0.25])
    if as_arcs:
        points = at + np.array([0.2, -0.35]) + ARC_RADIUS * circle_points(0.0, np.pi / 2)
    else:
        points = at + np.array([[0.0, 0.0], [1.0, 0.0]])
    sketch.items.append(Path(points, Stroke(color, 1.2), head="arrow" if as_arcs else head, name="scale"))
    right = float(points[:, 0].max()) + 0.15
    sketch.note(np.array([right, float(points[:, 1].mean())]), f"{per_step:g} {unit}")
