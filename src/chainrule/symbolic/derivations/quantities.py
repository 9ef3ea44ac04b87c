"""Quantities of a derivation: expressions beside the numbers of the library, with their units checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.errors import ChainruleError, ShapeError
from chainrule.lazy import cached_property
from chainrule.symbolic.algebra.ring import to_sympy
from chainrule.symbolic.algebra.units import DIMENSIONLESS, Unit, UnitError, unit, unit_name, unit_of
from chainrule.symbolic.documents.blocks import Formula, TableBlock
from chainrule.symbolic.documents.printing import round_digits, superscript_powers

AGREEMENT_TOLERANCE = 1e-9
"""Relative difference by rounding between symbols and kernels."""

ZERO_TOLERANCE = 1e-14
"""Numbers below this are written as zero."""


@dataclass(frozen=True)
class Quantity:
    """A result of a derivation: its name in LaTeX, its expression, its unit, and the number of the kernels.

    The unit of a twist or wrench is that of its angular and of its linear part: "rad/s, m/s".
    """

    name: str
    expression: Any
    unit: str
    kernel: Any = None


class NumberedSymbols(ABC):
    """Symbols with a number and a unit each, at which quantities are compared with the numbers of the library."""

    @property
    @abstractmethod
    def values(self) -> Mapping[sp.Symbol, float]:
        """The number of each symbol at the sample state."""

    @property
    @abstractmethod
    def units(self) -> Mapping[sp.Symbol, str]:
        """The unit of every symbol."""

    @property
    @abstractmethod
    def is_symbolic(self) -> bool:
        """Whether all parameters with a unit are symbols, so that units can be checked."""

    @property
    @abstractmethod
    def subject(self) -> str:
        """The subject of the derivation, in words."""

    def check_units(self, quantity: Quantity) -> None:
        """Refuse terms whose unit is not the quantity's. Nothing is checked where numbers stand for parameters."""
        if not self.is_symbolic:
            return
        texts, entries = quantity.unit.split(", "), _entries(quantity.expression)
        for i, entry in enumerate(entries):
            expected = texts[i * len(texts) // len(entries)]
            found = unit_of(entry, self._powers)
            if found is not None and found != unit(expected):
                raise UnitError(f"{quantity.name} should be in {expected}, and {entry!s:.80} is in {unit_name(found)}")

    @cached_property
    def _powers(self) -> dict[sp.Symbol, Unit]:
        return {symbol: unit(text) if text != "rad" else DIMENSIONLESS for symbol, text in self.units.items()}

    def number(self, expression: Any) -> Array:
        """The numbers of an expression or matrix at the sample state."""
        matrix = expression if isinstance(expression, sp.MatrixBase) else sp.Matrix([[expression]])
        missing = sorted(str(s) for s in matrix.free_symbols - self.values.keys())
        if missing:
            raise ShapeError(
                f"a derivation shows numbers, and {', '.join(missing)} has none; name parameters by the robot's own "
                "symbols, or give numbers for them"
            )
        values = sp.lambdify(list(self.values), list(matrix), modules="numpy")(*self.values.values())
        return np.array(values, dtype=float)

    def check_number(self, name: str, expression: Any, kernel: Any) -> Array:
        """The numbers of an expression; refused if the kernel's are different."""
        value, other = self.number(expression), np.ravel(np.asarray(kernel, dtype=float))
        size = max(1.0, float(np.abs(other).max(initial=0.0)))
        if not np.abs(value - other).max(initial=0.0) <= AGREEMENT_TOLERANCE * size:
            raise ChainruleError(
                f"the symbols give {value.tolist()} for {name}, the kernels {other.tolist()}: this derivation of "
                f"{self.subject} is not to be trusted; please report it"
            )
        return value

    def numbers(self, quantities: Sequence[Quantity]) -> TableBlock:
        """A table of quantities at the sample state, from the symbols and from the kernels, with units checked."""
        rows = []
        for quantity in quantities:
            self.check_units(quantity)
            value = self.check_number(quantity.name, quantity.expression, quantity.kernel)
            kernel = np.ravel(np.asarray(quantity.kernel, dtype=float))
            unit_text = superscript_powers(quantity.unit)
            rows.append((Formula(quantity.name), number_list(value), number_list(kernel), unit_text))
        return TableBlock(("at the sample state", "from the symbols", "from the kernel", "unit"), tuple(rows))


def column(vector: Iterable[Any]) -> sp.Matrix:
    """A vector of scalars as a column of expressions."""
    return sp.Matrix([to_sympy(x) for x in vector])


def number_matrix(values: Any) -> sp.Matrix:
    """Numbers as a matrix, with rounding errors set to zero; one row of them as a column."""
    return sp.Matrix(values).applyfunc(lambda x: sp.Integer(0) if abs(x) < ZERO_TOLERANCE else x)


def vector_text(vector: Any) -> tuple[Any, ...]:
    """A vector of scalars as text: (x, y, z)."""
    x, y, z = (to_sympy(v) for v in vector)
    return ("(", _short(x), ", ", _short(y), ", ", _short(z), ")")


def number_list(values: Any) -> str:
    """Numbers for a cell of a table."""
    return ", ".join(f"{0.0 if abs(x) < ZERO_TOLERANCE else x:.6g}" for x in np.ravel(values))


def _short(x: sp.Expr) -> sp.Expr:
    return round_digits(x) if x.is_number else x


def _entries(expression: Any) -> Any:
    return list(expression) if isinstance(expression, sp.MatrixBase) else [expression]
