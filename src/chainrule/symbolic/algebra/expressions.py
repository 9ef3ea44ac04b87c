"""Expressions that users pass in: SymPy objects and numbers, never text.

SymPy's parser runs whatever Python code it is given, so that no text is handed to it.
"""

from __future__ import annotations

import re
from numbers import Number
from typing import Any

import sympy as sp

from chainrule.errors import ShapeError


def expression_or_matrix(value: Any, what: str) -> Any:
    """A SymPy expression or matrix as it is, and a number as an expression; text and other objects are refused.

    >>> expression_or_matrix(2, "the mass")
    2
    """
    if isinstance(value, (sp.Basic, sp.MatrixBase)):
        return value
    if isinstance(value, (str, bytes)):
        raise ShapeError(
            f"{what} must be a SymPy expression, got the text {value!r:.60}, which is not evaluated; make an "
            "expression of symbols, such as m*cos(q) of m, q = sympy.symbols('m q')"
        )
    number = value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value
    if isinstance(number, Number) or hasattr(type(number), "_sympy_"):  # no containers: SymPy evaluates text in them
        return sp.sympify(number, strict=True)
    raise ShapeError(f"{what} must be a SymPy expression, got {type(value).__name__}: {value!r:.60}")


LETTERS_AND_INDEX = re.compile(r"(?P<letters>[^\W\d_]+)(?P<index>\w*)")
"""The name of a coordinate, such as theta_1."""


def with_dots(coordinate: sp.Symbol, dots: str, **assumptions: bool) -> sp.Symbol:
    """The symbol of the velocity ("dot") or acceleration ("ddot") of a coordinate, which prints with dots.

    >>> with_dots(sp.Symbol("theta_1"), "ddot")
    thetaddot_1
    """
    parts = LETTERS_AND_INDEX.fullmatch(coordinate.name)
    if parts is None:
        raise ShapeError(f"a coordinate's name is letters and then an index, such as theta_1, not {coordinate.name!r}")
    return sp.Symbol(parts["letters"] + dots + parts["index"], **assumptions)


def symbol(value: Any, what: str) -> sp.Symbol:
    """A SymPy symbol, refused if it is anything else."""
    if not isinstance(value, sp.Symbol):
        raise ShapeError(f"{what} must be a SymPy symbol, got {type(value).__name__}: {value!r:.60}")
    return value


def matrix(value: Any, what: str) -> sp.Matrix:
    """A SymPy matrix from a matrix, or from nested lists of expressions and numbers."""
    if isinstance(value, sp.MatrixBase):
        return sp.Matrix(value)
    rows = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(rows, (list, tuple)):
        raise ShapeError(f"{what} must be a matrix, got {type(value).__name__}: {value!r:.60}")
    entries = [
        [expression_or_matrix(x, what) for x in row]
        if isinstance(row, (list, tuple))
        else expression_or_matrix(row, what)
        for row in rows
    ]
    try:
        return sp.Matrix(entries)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} must be a matrix with rows of equal lengths, got {value!r:.60}") from None
