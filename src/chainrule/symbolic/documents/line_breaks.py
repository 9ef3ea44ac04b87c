"""Line breaks of equations: sums over several lines, wide matrices entry by entry."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp

from chainrule.symbolic.documents.blocks import Equation, Formula
from chainrule.symbolic.documents.formula import parse, width
from chainrule.symbolic.documents.printing import Style, arrange, latex

PAGE_LETTERS = 76.0
"""Width of a line, in letters."""

COMPONENTS = "xyz"
LETTER = re.compile(r"\\?[A-Za-z]+")


def math(piece: Any, style: Style) -> str:
    """The LaTeX of a piece of mathematics."""
    return piece.latex if isinstance(piece, Formula) else latex(piece, style)


def display(equation: Equation, style: Style, page: float = PAGE_LETTERS) -> str:
    """The LaTeX of an equation, over several lines if one would be too wide; a first side `a = b` is two of them."""
    sides = [math(side, style) for side in equation.sides]
    whole = " = ".join(sides)
    if len(sides) == 1 or width(parse(whole)) <= page:
        return whole
    name, _, begun = sides[0].partition(" = ")
    parts = [*([(Formula(begun), begun)] if begun else []), *zip(equation.sides[1:], sides[1:], strict=True)]
    lines: list[str] = []
    for k, (side, written) in enumerate(parts):
        if isinstance(side, sp.MatrixBase) and width(parse(written)) > page - 8:
            for entry_name, entry in entries(name, side):
                lines += _lines(entry_name, entry, latex(entry, style), style, page)
        else:
            lines += _lines(name if k == 0 else "", side, written, style, page)
    return "\\begin{aligned}" + " \\\\ ".join(lines) + "\\end{aligned}"


def entries(name: str, matrix: Any) -> list[tuple[str, Any]]:
    """The names and values of entries that are not zero; of a symmetric matrix, those of the upper half."""
    symmetric = matrix.rows > 1 and matrix.is_symmetric(simplify=False)
    places = [(i, j) for i in range(matrix.rows) for j in range(i if symmetric else 0, matrix.cols)]
    found = [(_entry_name(name, matrix.shape, i, j), matrix[i, j]) for i, j in places if matrix[i, j] != 0]
    return found or [(name, sp.Integer(0))]


def _entry_name(name: str, shape: tuple[int, int], i: int, j: int) -> str:
    index = f"{i + 1}{j + 1}" if max(shape) < 10 else f"{i + 1},{j + 1}"
    if shape[1] == 1:
        index = COMPONENTS[i] if shape[0] == 3 and "_" in name else str(i + 1)
    return with_index(name, index)


def with_index(name: str, index: str) -> str:
    """A name with an index; the name is in brackets if it is more than a letter.

    >>> with_index("g", "1"), with_index("f_{2}", "x")
    ('g_{1}', '\\\\left(f_{2}\\\\right)_{x}')
    """
    return f"{name}_{{{index}}}" if LETTER.fullmatch(name) else f"\\left({name}\\right)_{{{index}}}"


def summands(side: sp.Expr, style: Style, room: float) -> list[str]:
    """The LaTeX of the terms of a sum. Terms wider than the room are expanded where that helps."""
    found: list[str] = []
    for term in sp.Add.make_args(arrange(side, style)):
        written = sp.latex(term, order="none")
        sums = [factor for factor in sp.Mul.make_args(term) if isinstance(factor, sp.Add)]
        if not sums or width(parse(written)) <= room:
            found.append(written)
            continue
        widest = max(sums, key=lambda factor: len(str(factor)))
        rest = [factor for factor in sp.Mul.make_args(term) if factor is not widest]
        found += summands(sp.Add(*(sp.Mul(*rest, part) for part in widest.args)), style, room)
    return found


def _lines(head: str, side: Any, written: str, style: Style, page: float) -> list[str]:
    """The lines of a side, no wider than the page if the terms allow."""
    room = page - width(parse(head)) - 3
    if isinstance(side, (Formula, sp.MatrixBase)) or width(parse(written)) <= room:
        return [f"{head} &= {written}"]
    lines, line = [], ""
    for term in summands(side, style, room):
        signed = term if term.startswith("-") else f"+ {term}"
        if line and width(parse(f"{line} {signed}")) > room:
            lines.append(line)
            line = ""
        line = f"{line} {signed}" if line else (signed if lines else term)
    lines.append(line)
    return [f"{head} &= {lines[0]}", *(f"&\\quad {line}" for line in lines[1:])]
