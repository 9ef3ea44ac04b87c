"""Translation of SymPy expressions to CasADi graphs, which are compiled to machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import casadi
import sympy as sp

from chainrule.errors import ModelError

FUNCTIONS: dict[type, Callable[..., Any]] = {
    sp.sin: casadi.sin, sp.cos: casadi.cos, sp.tan: casadi.tan, sp.asin: casadi.asin, sp.acos: casadi.acos,
    sp.atan: casadi.atan, sp.atan2: casadi.atan2, sp.sinh: casadi.sinh, sp.cosh: casadi.cosh, sp.tanh: casadi.tanh,
    sp.exp: casadi.exp, sp.log: casadi.log, sp.Abs: casadi.fabs, sp.sign: casadi.sign,
    sp.Max: lambda *x: reduce(casadi.fmax, x), sp.Min: lambda *x: reduce(casadi.fmin, x),
    sp.Add: lambda *x: reduce(lambda a, b: a + b, x), sp.Mul: lambda *x: reduce(lambda a, b: a * b, x),
    sp.StrictLessThan: lambda a, b: a < b, sp.LessThan: lambda a, b: a <= b,
    sp.StrictGreaterThan: lambda a, b: a > b, sp.GreaterThan: lambda a, b: a >= b,
    sp.Equality: lambda a, b: a == b, sp.Unequality: lambda a, b: a != b,
    sp.And: lambda *x: reduce(casadi.logic_and, x), sp.Or: lambda *x: reduce(casadi.logic_or, x),
    sp.Not: casadi.logic_not,
}  # fmt: skip

MAX_UNROLLED_POWER = 8
"""Largest whole exponent that is computed by multiplication."""


class Translator:
    """Translates expressions from SymPy to CasADi, each subexpression once.

    >>> x = sp.Symbol("x")
    >>> Translator({x: casadi.SX.sym("x")})(x**2 + sp.sin(x))
    SX((sq(x)+sin(x)))
    """

    def __init__(self, symbols: Mapping[sp.Symbol, Any]) -> None:
        self.graphs: dict[sp.Basic, Any] = dict(symbols)

    def __call__(self, expression: sp.Basic) -> Any:
        """The CasADi graph of an expression."""
        if expression not in self.graphs:
            self.graphs[expression] = self._translate(expression)
        return self.graphs[expression]

    def _translate(self, x: sp.Basic) -> Any:
        if x.is_number:
            return casadi.SX(float(x))
        if x in (sp.true, sp.false):
            return casadi.SX(float(bool(x)))
        if isinstance(x, sp.Pow):
            return self._power(x.base, x.exp)
        if isinstance(x, sp.Piecewise):
            value = casadi.SX(float("nan"))
            for branch, condition in reversed(x.args):
                value = casadi.if_else(self(condition), self(branch), value)
            return value
        if x.func not in FUNCTIONS:
            raise ModelError(
                f"no machine code is made for {x.func.__name__}, in {x}; ask for the function with compiled=False, or "
                "write it by elementary functions"
            )
        return FUNCTIONS[x.func](*(self(argument) for argument in x.args))

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> Any:
        root = casadi.sqrt(self(base)) if exponent.is_Rational and exponent.q == 2 else self(base)
        whole = exponent.p if exponent.is_Rational and exponent.q <= 2 else 0
        if not 0 < abs(whole) <= MAX_UNROLLED_POWER:
            return self(base) ** self(exponent)
        product = _power_by_squaring(root, abs(whole))
        return product if whole > 0 else 1 / product


def _power_by_squaring(x: Any, exponent: int) -> Any:
    """A whole power by repeated squaring."""
    if exponent == 1:
        return x
    half = _power_by_squaring(x * x, exponent // 2)
    return half * x if exponent % 2 else half
