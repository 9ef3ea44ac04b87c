"""Numbers of expressions at random places, by which two of them are found equal or different."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.symbolic.algebra.evaluation import Evaluator

PLACES = 8
"""Random places: terms that agree at all of them are the same."""

TOLERANCE = 1e-9
"""Largest relative difference that is rounding."""

MAX_NODES = 400_000
"""Operations of an answer; a longer one is refused before anything is done with it."""

ALLOWED = (
    sp.Add, sp.Mul, sp.Pow, sp.Symbol, sp.Number, sp.NumberSymbol, sp.sin, sp.cos, sp.tan, sp.atan, sp.atan2, sp.Abs,
    sp.sign, sp.exp, sp.tanh, sp.Piecewise, sp.functions.elementary.piecewise.ExprCondPair,
    sp.core.relational.Relational, sp.logic.boolalg.BooleanAtom,
)  # fmt: skip
"""Kinds of expressions that answers are made of."""


def refuse_strange(entries: Iterable[sp.Expr]) -> int:
    """The operations of expressions; integrals, unknown functions and expressions without end are refused."""
    count = 0
    for entry in entries:
        for node in sp.preorder_traversal(entry):
            count += 1
            if count > MAX_NODES:
                raise ShapeError(f"the answer has more than {MAX_NODES} operations; simplify it, or check a part of it")
            if not isinstance(node, ALLOWED) or node.has(sp.nan, sp.zoo, sp.oo) * (not node.args):
                raise ShapeError(
                    f"the answer has {type(node).__name__} in it, {str(node)[:60]!r}, which is not compared: there may "
                    "be sums, products, powers, sines, cosines, atan2, roots and signs"
                )
            if isinstance(node, sp.Pow) and not node.exp.is_Rational:
                raise ShapeError(f"the answer has a power in it that is no number: {str(node)[:60]!r}")
    return count


class RandomValues:
    """Random numbers for symbols, and the values that expressions have with them."""

    def __init__(self, symbols: Iterable[sp.Symbol]) -> None:
        rng = np.random.default_rng(7)
        self.values: dict[sp.Symbol, Array] = {}
        for symbol in sorted(symbols, key=lambda s: s.name):
            size = rng.uniform(0.4, 1.9, PLACES)
            signs = np.where(rng.uniform(size=PLACES) < 0.5, -1.0, 1.0)
            self.values[symbol] = size if symbol.is_positive else size * signs
        self._evaluator = Evaluator(self.values)

    def __call__(self, expression: sp.Basic) -> Array:
        """The values of an expression, one for each place."""
        return self.with_size(expression)[0]

    def with_size(self, expression: sp.Basic) -> tuple[Array, Array]:
        """The values of an expression, and the sizes of what is added up in it."""
        with np.errstate(all="ignore"):
            value, size = self._evaluator(expression)
        return _column(value), _column(size)

    def of_matrix(self, matrix: sp.MatrixBase) -> Array:
        """The values of all entries of a matrix, one after the other."""
        return np.concatenate([self(entry) for entry in matrix])

    def with_others(self, expression: Any, values: Mapping[sp.Symbol, Any]) -> Array:
        """The values of an expression, or of all entries of a matrix, where some symbols have other numbers."""
        evaluator = Evaluator(self.values | dict(values))
        entries = list(expression) if isinstance(expression, sp.MatrixBase) else [expression]
        with np.errstate(all="ignore"):
            return np.concatenate([_column(evaluator(entry)[0]) for entry in entries])


def _column(values: Any) -> Array:
    return np.array(np.broadcast_to(np.asarray(values, dtype=float), (PLACES,)))


def is_zero(values: Array, size: Any) -> bool:
    """Whether values are rounding errors beside sizes."""
    with np.errstate(all="ignore"):
        return bool(np.all(np.abs(values) <= TOLERANCE * np.asarray(size)))


def constant(values: Array) -> float | None:
    """The number that all values are; None where they differ."""
    if not np.isfinite(values).all():
        return None
    middle = float(np.median(values))
    return middle if is_zero(values - middle, max(abs(middle), 1e-3)) else None
