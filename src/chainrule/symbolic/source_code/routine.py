"""A function to be written as source code, and the parts that all languages share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp


@dataclass(frozen=True)
class Assignment:
    """A named value: a parameter of the robot, or a common subexpression."""

    name: str
    value: sp.Expr | float


@dataclass(frozen=True)
class Routine:
    """A function that fills a matrix: its name, its arguments, its assignments in order, and the matrix."""

    name: str
    arguments: Mapping[str, int]
    """Argument -> its length."""
    places: Mapping[sp.Symbol, tuple[str, int]]
    """Symbol -> the argument that contains it, and its index there from 0."""
    names: Mapping[sp.Symbol, str]
    """Symbol -> the name of its assignment."""
    assignments: Sequence[Assignment]
    matrix: sp.Matrix

    def symbols(self, place: str, first: int) -> dict[sp.Symbol, sp.Symbol]:
        """The name of every symbol in the text. `place` is how entry {i} of {x} is written, `first` the first index."""
        found = {s: sp.Symbol(place.format(x=x, i=i + first), real=True) for s, (x, i) in self.places.items()}
        return found | {s: sp.Symbol(name, real=True) for s, name in self.names.items()}

    @property
    def is_column(self) -> bool:
        """Whether the matrix is a vector."""
        return self.matrix.cols == 1

    @property
    def entries(self) -> list[tuple[int, int, sp.Expr]]:
        """Row, column and expression of each entry of the matrix, by rows."""
        M = self.matrix
        return [(i, j, M[i, j]) for i in range(M.rows) for j in range(M.cols)]

    @property
    def unused_arguments(self) -> list[str]:
        """Arguments that no expression contains."""
        found = set(self.matrix.free_symbols)
        for assignment in self.assignments:
            found |= getattr(assignment.value, "free_symbols", set())
        used = {x for s, (x, _) in self.places.items() if s in found}
        return [x for x in self.arguments if x not in used]


ELEMENTWISE = re.compile(r"\.([*/^])(?!\.)")
"""Operators on arrays in Octave and Julia; the routines compute with numbers."""


class ExpressionWriter:
    """Writes the expressions of one routine with a printer of SymPy.

    `place` is how entry {i} of the argument {x} is written, and `first` the index of the first entry.
    """

    def __init__(self, printer: Any, routine: Routine, place: str, first: int) -> None:
        self.printer, self.symbols = printer, routine.symbols(place, first)

    def __call__(self, expression: sp.Expr | float) -> str:
        """The text of an expression or of a number."""
        if isinstance(expression, float):
            return repr(expression)
        text = str(self.printer.doprint(expression.xreplace(self.symbols)))
        return ELEMENTWISE.sub(r"\1", text)
