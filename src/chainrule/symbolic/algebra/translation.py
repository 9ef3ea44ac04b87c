"""A tape as an expression of SymPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from chainrule.compile.graph import ARITHMETIC
from chainrule.compile.tape import CONDITIONS, Tape
from chainrule.symbolic.algebra.ring import exact

RELATIONS = {"lt": sp.Lt, "le": sp.Le, "eq": sp.Eq, "ne": sp.Ne}
LOGIC = {"and": sp.And, "or": sp.Or, "not": sp.Not}


def expression_of(tape: Tape, arguments: Sequence[Sequence[Any]]) -> sp.Expr:
    """The expression of the first result of a tape, for lists of expressions.

    >>> from chainrule.compile.traced_function import TracedFunction
    >>> import numpy as np
    >>> law = TracedFunction.of(lambda x: [np.tanh(x[0] / 2) + np.sign(x[0])], [1])
    >>> expression_of(law.tape, [[sp.Symbol("y", real=True)]])
    tanh(y/2) + sign(y)
    """
    return tape.walk(lambda k, entry: arguments[k][entry], exact, _perform)[0]


def _perform(operation: str, operands: list[Any]) -> Any:
    if operation in CONDITIONS:
        return _condition(operation, operands)
    if operation == "choose":
        return sp.Piecewise((operands[1], _is_true(operands[0])), (0, True))
    if operation == "sub" and _is_sign(*operands):
        return sp.sign(_is_true(operands[0]).gts)
    return (ARITHMETIC.get(operation) or getattr(sp, operation))(*operands)


def _condition(operation: str, operands: list[Any]) -> sp.Expr:
    """1 where a condition holds, else 0."""
    if operation in RELATIONS:
        return sp.Piecewise((1, RELATIONS[operation](*operands)), (0, True))
    return sp.Piecewise((1, LOGIC[operation](*map(_is_true, operands))), (0, True))


def _is_true(x: Any) -> Any:
    """The condition that a value is not 0; of one that says whether a condition holds, that condition."""
    return x.args[0].cond if isinstance(x, sp.Piecewise) and x.args[0].expr == 1 else sp.Ne(x, 0)


def _is_sign(a: Any, b: Any) -> bool:
    """Whether the difference of two values is that of x > 0 and x < 0."""
    first, second = _is_true(a), _is_true(b)
    if not isinstance(first, sp.core.relational._Inequality) or not isinstance(second, sp.core.relational._Inequality):
        return False
    return first.is_Relational and first.lts == 0 == second.gts and first.gts == second.lts
