"""Numbers of expressions: a walk over the tree, without code that is written and run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.errors import ModelError

Pair = tuple[Any, Any]
"""Values of an expression, one for each state, and the size of its largest terms."""

COMPARISONS = {sp.StrictGreaterThan: np.greater, sp.StrictLessThan: np.less, sp.GreaterThan: np.greater_equal,
               sp.LessThan: np.less_equal}  # fmt: skip


SMOOTH_FUNCTIONS = {
    sp.exp: np.exp, sp.tanh: np.tanh, sp.sinh: np.sinh, sp.cosh: np.cosh, sp.tan: np.tan, sp.log: np.log,
    sp.atan: np.arctan, sp.Abs: np.abs,
}  # fmt: skip
"""Functions in laws of friction."""


class Evaluator:
    """Values of expressions for given numbers of their symbols, each subexpression once.

    The size of an expression is the sum of its terms with all signs positive: rounding errors are a small multiple of
    it, however much the terms cancel.

    >>> x = sp.Symbol("x")
    >>> Evaluator({x: np.array([3.0])})(x**2 - 9)
    (array([0.]), array([18.]))
    """

    def __init__(self, values: Mapping[sp.Symbol, Any]) -> None:
        self.known: dict[sp.Basic, Pair] = {}
        for symbol, value in values.items():
            self.assign(symbol, (value, abs(value)))

    def assign(self, symbol: sp.Symbol, pair: Pair) -> None:
        """Give a symbol its value and its size."""
        self.known[symbol] = pair

    def __call__(self, x: sp.Basic) -> Pair:
        """The value and the size of an expression."""
        if x not in self.known:
            self.known[x] = self._evaluate(x)
        return self.known[x]

    def _evaluate(self, x: sp.Basic) -> Pair:
        if x.is_number:
            value = float(x)
            return value, abs(value)
        if x.is_Symbol:
            raise ModelError(f"the symbol {x} has no number")
        if isinstance(x, sp.Add):
            values, sizes = zip(*map(self, x.args), strict=True)
            return sum(values), sum(sizes)
        if isinstance(x, sp.Mul):
            value, size = self(x.args[0])
            for factor in x.args[1:]:
                v, s = self(factor)
                value, size = value * v, size * s
            return value, size
        if isinstance(x, sp.Pow):
            return self._power(x)
        if isinstance(x, (sp.sin, sp.cos)):
            value = (np.sin if isinstance(x, sp.sin) else np.cos)(self(x.args[0])[0])
            return value, 1.0
        if isinstance(x, sp.sign):
            return np.sign(self(x.args[0])[0]), 1.0
        if x.func in SMOOTH_FUNCTIONS:
            value = SMOOTH_FUNCTIONS[x.func](self(x.args[0])[0])
            return value, np.abs(value)
        if isinstance(x, sp.Abs):
            value, size = self(x.args[0])
            return np.abs(value), size
        if isinstance(x, sp.atan2):
            return np.arctan2(*(self(arg)[0] for arg in x.args)), np.pi
        if isinstance(x, sp.Piecewise):
            return self._cases(x)
        raise ModelError(f"the number of {x.func.__name__} in {x!s:.60} cannot be found")

    def _power(self, x: sp.Pow) -> Pair:
        base, size = self(x.base)
        exponent = float(x.exp)
        value = np.asarray(base, dtype=float) ** exponent
        if exponent > 0:
            return value, size**exponent
        return value, np.abs(value) * (size / np.abs(base)) ** abs(exponent)

    def _cases(self, x: sp.Piecewise) -> Pair:
        value: Any = np.nan
        size: Any = 0.0
        for branch, condition in reversed(x.args):
            v, s = self(branch)
            holds = bool(condition) if condition in (sp.true, sp.false) else self._compare(condition)
            value, size = np.where(holds, v, value), np.maximum(size, s)
        return value, size

    def _compare(self, condition: sp.Basic) -> Any:
        if condition.func not in COMPARISONS:
            raise ModelError(f"the case {condition!s:.60} cannot be decided")
        left, right = (self(side)[0] for side in condition.args)
        return COMPARISONS[condition.func](left, right)


def evaluate(expressions: Iterable[sp.Basic], values: Mapping[sp.Symbol, Any], states: int) -> tuple[Array, Array]:
    """Values and sizes of expressions: (states, count) each. Numbers of symbols are one, or one for each state."""
    evaluator = Evaluator(values)
    with np.errstate(all="ignore"):
        return stack([evaluator(x) for x in expressions], states)


def stack(pairs: Iterable[Pair], states: int) -> tuple[Array, Array]:
    """Values and sizes as arrays (states, count)."""
    columns = [(np.broadcast_to(v, (states,)), np.broadcast_to(s, (states,))) for v, s in pairs]
    values, sizes = (np.array([pair[k] for pair in columns], dtype=float).reshape(-1, states).T for k in (0, 1))
    return values, sizes
