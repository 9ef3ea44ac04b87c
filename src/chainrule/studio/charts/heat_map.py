"""The mass matrix as a heat map with numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainrule.arguments import Array
from chainrule.robot.robot import Robot
from chainrule.studio.charts.style import DUST, in_frame, number, safe

MAX_NUMBERS = 8
"""Joints up to which the cells have numbers."""

MAX_CELLS = 40
"""Joints up to which there is a cell for each entry."""

POSITIVE, NEGATIVE = "232,106,38", "58,120,226"
"""Red, green and blue of entries by their sign."""

COLORINGS = ("value", "coupling")


def coupling(M: Array) -> Array:
    """M_ij / sqrt(M_ii M_jj): 1 on the diagonal, between -1 and 1 elsewhere, whatever the units; 0 where M_ii is.

    >>> coupling(np.array([[4.0, 2.0], [2.0, 1.0]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    size = np.sqrt(np.maximum(np.diag(M), 0.0))
    both = np.outer(size, size)
    return np.divide(M, both, out=np.zeros_like(M), where=both > 0)


def entry_units(robot: Robot) -> list[list[str]]:
    """The unit of each entry of the mass matrix: "kg m^2", "kg m" or "kg"."""
    words = {2: "kg m²", 1: "kg m", 0: "kg"}
    turning = [v.unit == "rad" for v in robot.model.layout.velocities]
    return [[words[a + b] for b in turning] for a in turning]


def heat_map(names: Sequence[str], M: Array, by: str = "value") -> str:
    """The matrix as a table whose cells are colored by their value or by the coupling of their joints."""
    n = len(names)
    if n > MAX_CELLS:
        return in_frame(f'<div class="dim">{n} joints: a map of {n} by {n} cells is too fine to be read here.</div>')
    shades = _shades(M, by)
    digits = 0 if n > MAX_NUMBERS else 3 if n <= 5 else 2
    head = "".join(f'<th title="{safe(name)}">{j + 1}</th>' for j, name in enumerate(names))
    rows = []
    for i, name in enumerate(names):
        cells = "".join(_cell(float(M[i, j]), float(shades[i, j]), digits) for j in range(n))
        rows.append(f'<tr><th title="{safe(name)}">{i + 1}</th>{cells}</tr>')
    body = f'<table class="heat"><thead><tr><th></th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return in_frame(body)


def _shades(M: Array, by: str) -> Array:
    if by == "coupling":
        return coupling(M)
    largest = np.abs(M).max(initial=0.0)
    return M / largest if largest > 0 else np.zeros_like(M)


def _cell(value: float, shade: float, digits: int) -> str:
    alpha = 0.9 * min(abs(shade), 1.0) ** 0.6
    color = POSITIVE if shade > 0 else NEGATIVE
    text = number(value, digits) if digits else ""
    ink = ";color:#fff" if alpha > 0.62 else ""
    shown = f"background:rgba({color},{alpha:.2f})" if abs(value) >= DUST else ""
    return f'<td style="{shown}{ink}">{text}</td>'
