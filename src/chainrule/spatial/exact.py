"""Turns in symbols and exact numbers: an axis of length one and an angle, without roots and series."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from chainrule.spatial.scalar import Scalar
from chainrule.spatial.vector import Vector

MAX_OPERATIONS = 300
"""Operations in a squared length beyond which no root is looked for."""


def axis_and_angle(w: Vector) -> tuple[Vector, Scalar] | None:
    """A unit axis n and an angle t with w = n t, where w is in SymPy's symbols and t needs no root of them.

    For w = n q with n of length one, t is q. None for other scalars, for floats, and where w has no such angle.

    >>> import sympy as sp
    >>> q, r = sp.symbols("q r")
    >>> axis_and_angle(Vector(sp.Rational(3, 5) * q, 0, sp.Rational(4, 5) * q))
    (Vector(x=3/5, y=0, z=4/5), q)
    >>> axis_and_angle(Vector(q, r, 0)) is None
    True
    """
    if not any(_is_sympy(x) for x in w):
        return None
    sp = import_module("sympy")
    square = sp.sympify(w.dot(w))
    if square == 0:
        return Vector(0, 0, 0), 0
    if square.count_ops() > MAX_OPERATIONS or (square.is_number and square.has(sp.Float)):
        return None
    # sine and cosine of either root lead to the same rotation, so that a symbol may count as positive
    angle = sp.powdenest(sp.sqrt(sp.trigsimp(sp.factor(square))), force=True)
    if any(not power.exp.is_Integer and power.free_symbols for power in angle.atoms(sp.Pow)):
        return None
    axis = divide(w, angle)
    return None if axis is None else (axis, angle)


def divide(v: Vector, t: Any) -> Vector | None:
    """The vector v / t where t cancels out of the denominators, None where it does not."""
    sp = import_module("sympy")
    quotients = [sp.cancel(x / t) if x != 0 else 0 for x in v]
    remaining = {s for x in quotients for s in sp.denom(sp.sympify(x)).free_symbols}
    return None if remaining & t.free_symbols else Vector(*quotients)


def _is_sympy(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "sympy"
