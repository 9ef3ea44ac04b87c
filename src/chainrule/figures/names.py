"""The symbols of a robot in its figures: those of its equations, for coordinates, masses, and ways along links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.model import Body, Model
from chainrule.symbolic.algebra.ring import to_sympy
from chainrule.symbolic.closed_form.choices import Choices
from chainrule.symbolic.closed_form.namer import Namer, Names
from chainrule.symbolic.documents.formula import parse, width
from chainrule.symbolic.documents.printing import latex

MAX_LETTERS = 12.0
"""The width of a label, in letters; a longer one names its symbols only."""

Point = tuple[Array, tuple[Any, ...]]
"""A point of a link, in numbers and in symbols."""


@dataclass(frozen=True, eq=False)
class FigureNames:
    """The names of a model without fixed joints, in LaTeX."""

    model: Model
    names: Names
    points: tuple[tuple[Point, ...], ...]
    """The points of each link that have symbols: its joints, frames and center of mass."""

    @staticmethod
    def of(model: Model, symbols: Mapping[Any, Any] | Choices | None = None) -> FigureNames:
        """The names of a model; `symbols` are those of the user, by the names that they replace."""
        choices = symbols if isinstance(symbols, Choices) else Choices.of("symbolic", symbols)
        names = Namer(model, choices).name_all()
        return FigureNames(model, names, tuple(_points(model, names.model, k) for k in range(len(model.links))))

    def coordinate(self, body: Body) -> str | None:
        """The coordinates of a joint; None where it has none of its own."""
        if body.joint.mimic is not None or not body.joint.kind.nv:
            return None
        first, count = body.first_v, body.joint.kind.nv
        texts = [latex(symbol) for symbol in self.names.q[first : first + count]]
        return texts[0] if count == 1 else rf"{texts[0]}, \ldots, {texts[-1]}"

    def mass(self, k: int) -> str | None:
        """The mass of a link; None where it has none."""
        mass = to_sympy(self.names.model.links[k].mass)
        return None if mass == 0 else latex(mass)

    def gravity(self) -> str:
        """Gravity: the name of its size, or that of the vector."""
        parts = [to_sympy(x) for x in self.names.model.gravity]
        present = [part for part in parts if part != 0]
        return latex(_size(present[0])) if len(present) == 1 else "g"

    def way(self, k: int, start: Array, end: Array) -> str | None:
        """The way between two points of a link: its length, or its components along the axes of the link."""
        ends = [self._symbols(k, point) for point in (start, end)]
        if ends[0] is None or ends[1] is None:
            return None
        parts = [sp.expand(to_sympy(b - a)) for a, b in zip(*ends, strict=True)]
        texts = list(dict.fromkeys(latex(_size(part)) for part in parts if part != 0))
        whole = ", ".join(texts)
        if not texts or width(parse(whole)) <= MAX_LETTERS:
            return whole or None
        lengths = {entry.symbol for entry in self.names.table.entries if entry.unit == "m" and entry.value is not None}
        used = sorted({symbol for part in parts for symbol in part.free_symbols} & lengths, key=str)
        return ", ".join(latex(symbol) for symbol in used) or None

    def _symbols(self, k: int, point: Array) -> tuple[Any, ...] | None:
        """The symbols of a point of a link."""
        if not np.any(point):
            return (0, 0, 0)
        for numbers, symbols in self.points[k]:
            if np.linalg.norm(numbers - point) < 1e-9 * max(1.0, float(np.linalg.norm(point))):
                return symbols
        return None


def _size(part: sp.Expr) -> sp.Expr:
    return -part if part.could_extract_minus_sign() else part


def _points(model: Model, symbolic: Model, k: int) -> tuple[Point, ...]:
    """The points of a link in numbers, and the same in symbols."""
    found: list[tuple[Any, Any]] = []
    for number, symbol in zip(model.bodies, symbolic.bodies, strict=True):
        if number.index == k:
            found.append((_on_child(number, number), _on_child(number, symbol)))
        if number.parent == k:
            found.append((_on_parent(number, number), _on_parent(number, symbol)))
    for frame, named in zip(model.frames, symbolic.frames, strict=True):
        if frame.link == model.links[k].name:
            found.append((frame.origin.translation, named.origin.translation))
    found.append((model.links[k].com, symbolic.links[k].com))
    return tuple((np.array([float(x) for x in numbers]), tuple(symbols)) for numbers, symbols in found)


def _on_child(numbers: Body, body: Body) -> Any:
    """The point of a joint in the frame of its link, as in `shapes.skeleton`: of an axis off the frame, its foot."""
    kind, own = body.joint.kind, numbers.joint.kind
    if own.nv == 1:
        w = own.columns(own.neutral())[0].angular
        if any(float(x) for x in w):
            screw = kind.columns([0] * kind.nq)[0]
            foot = screw.angular.cross(screw.linear)
            size = float(w.dot(w))
            return foot if size == 1.0 else foot / size
    zero = kind.transform([0] * kind.nq if kind.nq == kind.nv else own.neutral())
    return zero.inverse().translation if own.nv else (0, 0, 0)


def _on_parent(numbers: Body, body: Body) -> Any:
    """The same point in the frame of the parent."""
    from chainrule.spatial import Vector

    kind = body.joint.kind
    zero = kind.transform([0] * kind.nq if kind.nq == kind.nv else numbers.joint.kind.neutral())
    return body.joint.origin * (zero * Vector(*_on_child(numbers, body)))
