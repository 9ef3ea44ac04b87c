"""Translation of SymPy expressions to CasADi graphs, which are compiled to machine code, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import casadi
import sympy as sp

from chainrule.errors import ModelError
from chainrule.symbolic.algebra.ring import exact

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


def _operations() -> dict[int, Callable[..., Any]]:
    """CasADi's operations in SymPy."""
    one_or_zero: Callable[[Any], Any] = lambda condition: sp.Piecewise((1, condition), (0, True))  # noqa: E731
    return {
        casadi.OP_ADD: lambda a, b: a + b, casadi.OP_SUB: lambda a, b: a - b, casadi.OP_MUL: lambda a, b: a * b,
        casadi.OP_DIV: lambda a, b: a / b, casadi.OP_NEG: lambda a: -a, casadi.OP_SQ: lambda a: a**2,
        casadi.OP_TWICE: lambda a: 2 * a, casadi.OP_INV: lambda a: 1 / a, casadi.OP_POW: lambda a, b: a**b,
        casadi.OP_CONSTPOW: lambda a, b: a**b, casadi.OP_SQRT: sp.sqrt, casadi.OP_SIN: sp.sin, casadi.OP_COS: sp.cos,
        casadi.OP_TAN: sp.tan, casadi.OP_ATAN: sp.atan, casadi.OP_EXP: sp.exp, casadi.OP_LOG: sp.log,
        casadi.OP_TANH: sp.tanh, casadi.OP_SINH: sp.sinh, casadi.OP_COSH: sp.cosh, casadi.OP_FABS: sp.Abs,
        casadi.OP_SIGN: sp.sign, casadi.OP_ASSIGN: lambda a: a, casadi.OP_LT: lambda a, b: one_or_zero(a < b),
        casadi.OP_LE: lambda a, b: one_or_zero(a <= b), casadi.OP_NOT: lambda a: 1 - a,
        casadi.OP_IF_ELSE_ZERO: lambda condition, a: condition * a,
    }  # fmt: skip


def expression_of_graph(function: Any, arguments: Sequence[Any]) -> sp.Expr:
    """The SymPy expression of a CasADi function of scalars with one result.

    >>> x, y = casadi.SX.sym("x"), sp.Symbol("y")
    >>> expression_of_graph(casadi.Function("f", [x], [casadi.tanh(x / 2) + 1]), [y])
    tanh(y/2) + 1
    """
    operations, work, result = _operations(), {}, sp.S.Zero
    for k in range(function.n_instructions()):
        code, into, of = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if code == casadi.OP_INPUT:
            work[into[0]] = arguments[of[0]]
        elif code == casadi.OP_CONST:
            work[into[0]] = exact(function.instruction_constant(k))
        elif code == casadi.OP_OUTPUT:
            result = work[of[0]]
        elif code in operations:
            work[into[0]] = operations[code](*(work[i] for i in of))
        else:
            raise ModelError("a function of CasADi has an operation for which there is no formula")
    return result


def _power_by_squaring(x: Any, exponent: int) -> Any:
    """A whole power by repeated squaring."""
    if exponent == 1:
        return x
    half = _power_by_squaring(x * x, exponent // 2)
    return half * x if exponent % 2 else half
