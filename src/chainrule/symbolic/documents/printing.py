"""Printing of expressions as in a textbook: order of factors and terms, short numbers, c_12 for cos(q_1 + q_2)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from chainrule.symbolic.algebra.expressions import expression_or_matrix
from chainrule.symbolic.documents.mathml import mathml as mathml_of

NUMBER, MASS, LENGTH, GRAVITY, COORDINATE, TRIGONOMETRIC, RATE, ACCELERATION = range(8)
"""The order of factors in a product: 2 m l g q cos(q) qd qdd."""

HEADS = {"m": MASS, "I": MASS, "J": MASS, "g": GRAVITY, "q": COORDINATE, "qdot": RATE, "qddot": ACCELERATION}
COORDINATE_NAME = re.compile(r"[^\W\d_]+_?(\d+)")
OWN_COORDINATE_NAME = re.compile(r"q_(\d+)")


@dataclass(frozen=True)
class Style:
    """Style of expressions: whether c_12 and s_12 stand for cosines and sines, and the number of digits.

    `reserved` are names of parameters, which no cosine or sine gets. `coordinates` are those whose cosines and sines
    are shortened; q_1, q_2 and so on by default.
    """

    shorthand: bool = False
    digits: int = 6
    reserved: frozenset[str] = frozenset()
    coordinates: tuple[sp.Symbol, ...] | None = None


PLAIN = Style()


def latex(expression: Any, style: Style = PLAIN) -> str:
    r"""The LaTeX of an expression or matrix.

    >>> q, m, g = sp.symbols("q_1 m_1 g")
    >>> latex(g * sp.cos(q) * 2.50 * m)
    '2.5 m_{1} g \\cos{\\left(q_{1} \\right)}'
    >>> latex(g * sp.cos(q) * m, Style(shorthand=True))
    'm_{1} g c_{1}'
    """
    return str(sp.latex(arrange(expression, style), order="none"))


def mathml(expression: Any, style: Style = PLAIN) -> str:
    """The presentation MathML of an expression or matrix."""
    return mathml_of(latex(expression, style))


def pretty(expression: Any, style: Style = PLAIN) -> str:
    """The Unicode text of an expression or matrix, over several lines if needed."""
    return str(sp.pretty(arrange(expression, style), order="none", use_unicode=True, wrap_line=False))


def arrange(expression: Any, style: Style = PLAIN) -> Any:
    """Arrange the factors and terms of an expression in a textbook's order, for printing only."""
    if isinstance(expression, sp.MatrixBase):
        return sp.Matrix(expression.rows, expression.cols, [arrange(x, style) for x in expression])
    whole = expression_or_matrix(expression, "what is printed")
    short = abbreviate(whole, style.coordinates, style.reserved) if style.shorthand else whole
    return _arrange(short, style.digits)


def abbreviate(expression: Any, coordinates: Iterable[sp.Symbol] | None = None, reserved: Iterable[str] = ()) -> Any:
    """Write c_12 for cos(q_1 + q_2) and s_1 for sin(q_1), of these coordinates or of all that are called q.

    Coordinates of other names are shortened too where they are given and their indices differ: c_1 for cos(theta_1).

    >>> a, b = sp.symbols("q_1 q_2")
    >>> abbreviate(sp.cos(a + b) * sp.sin(a - b) + sp.cos(2 * a))
    c_12*s_1-2 + cos(2*q_1)
    """
    names = _short_names(expression, coordinates, reserved)
    return expression.xreplace({function: short for short, function in names.items()})


def definitions(
    expressions: Iterable[Any], reserved: Iterable[str] = (), coordinates: Iterable[sp.Symbol] | None = None
) -> list[tuple[sp.Symbol, sp.Expr]]:
    """The short names in these expressions and what they stand for, simplest first."""
    found: dict[sp.Symbol, sp.Expr] = {}
    own = None if coordinates is None else tuple(coordinates)
    for expression in expressions:
        found |= _short_names(expression, own, reserved)
    return sorted(found.items(), key=lambda pair: (len(pair[0].name), pair[0].name[1:], pair[0].name))


def _short_names(
    whole: Any, coordinates: Iterable[sp.Symbol] | None, reserved: Iterable[str]
) -> dict[sp.Symbol, sp.Expr]:
    taken = {symbol.name for symbol in whole.free_symbols} | set(reserved)
    index_of = _index_by_coordinate(whole.free_symbols if coordinates is None else coordinates, coordinates is None)
    names = {}
    for function in whole.atoms(sp.sin, sp.cos):
        name = _indices(function.args[0], index_of)
        if name is None:
            continue
        letters = ("s", "S", "sin") if isinstance(function, sp.sin) else ("c", "C", "cos")
        free = next((short for letter in letters if (short := f"{letter}_{name}") not in taken), None)
        if free is not None:
            names[sp.Symbol(free, real=True)] = function
    return names


def _index_by_coordinate(symbols: Iterable[sp.Symbol], only_own: bool) -> dict[sp.Expr, int]:
    """The index at the end of each coordinate's name; none where two coordinates have the same."""
    pattern = OWN_COORDINATE_NAME if only_own else COORDINATE_NAME
    found = {symbol: int(match[1]) for symbol in symbols if (match := pattern.fullmatch(symbol.name))}
    return found if len({*found.values()}) == len(found) else {}


def _indices(angle: sp.Expr, index_of: Mapping[sp.Expr, int]) -> str | None:
    """The indices of a sum of coordinates, 12 for q_1 + q_2 and 1-2 for q_1 - q_2; None for other sums."""
    terms = [term.as_coeff_Mul() for term in sp.Add.make_args(angle)]
    if any(symbol not in index_of or sign not in (1, -1) for sign, symbol in terms):
        return None
    name = ""
    for sign, symbol in sorted(terms, key=lambda term: index_of[term[1]]):
        comma = "," if name and index_of[symbol] > 9 else ""
        name += f"{'-' if sign < 0 else comma}{index_of[symbol]}"
    return name or None


def _arrange(x: sp.Basic, digits: int) -> sp.Basic:
    if isinstance(x, sp.Float):
        return round_digits(x, digits)
    if not x.args:
        return x
    args = [_arrange(arg, digits) for arg in x.args]
    if isinstance(x, sp.Mul):
        return _product(args)
    if isinstance(x, sp.Add):
        return sp.Add._from_args(sorted((a for a in args if a != 0), key=_term_key))
    if isinstance(x, sp.Pow):
        return args[0] if args[1] == 1 else sp.Pow(*args, evaluate=False)
    return x.func(*args, evaluate=False) if isinstance(x, (sp.sin, sp.cos)) else x.func(*args)


def round_digits(x: Any, digits: int = 6) -> sp.Expr:
    """Round a number to this many digits, without zeros at the end."""
    text = f"{float(x):.{digits}g}"
    value = float(text)
    if not math.isfinite(value):
        return sp.Float(value)
    return sp.Integer(int(value)) if value == int(value) and abs(value) < 1e15 else sp.Float(text)


def superscript_powers(unit: str) -> str:
    """Write the powers in a unit as superscripts.

    >>> superscript_powers("kg m^2")
    'kg m²'
    """
    return unit.replace("^2", "²").replace("^3", "³")


def _product(factors: list[sp.Basic]) -> sp.Basic:
    number: sp.Expr = sp.Integer(1)
    rest: list[sp.Basic] = []
    for factor in factors:
        for part in sp.Mul.make_args(factor):
            if part.is_Number:
                number = number * part
            else:
                rest.append(part)
    if number == 0 or not rest:
        return number
    rest.sort(key=_factor_key)
    ordered = rest if number == 1 else [number, *rest]
    return ordered[0] if len(ordered) == 1 else sp.Mul._from_args(ordered)


def _rank(x: sp.Basic) -> int:
    """The place of a factor in a product, by its kind."""
    if isinstance(x, sp.Symbol):
        head = x.name.partition("_")[0]
        return TRIGONOMETRIC if head in "cCsS" and x.name[2:3].isdigit() else HEADS.get(head, LENGTH)
    if isinstance(x, (sp.sin, sp.cos)):
        return TRIGONOMETRIC
    return max((_rank(arg) for arg in x.args), default=NUMBER)


def _factor_key(x: sp.Basic) -> tuple[Any, ...]:
    base = x.base if isinstance(x, sp.Pow) else x
    return _rank(x), isinstance(base, sp.Add), str(base)


def _term_key(x: sp.Basic) -> tuple[Any, ...]:
    """Sorts accelerations before velocities before other terms, and constants before sines and cosines."""
    moving = min((_order_of_motion(symbol) for symbol in x.free_symbols), default=2)
    factors = sp.Mul.make_args(x)
    angles = [f for f in factors if _rank(f) == TRIGONOMETRIC]
    rates = sorted(name for f in factors for name in _rates(f))
    return moving, rates, len(angles), sum(len(str(a)) for a in angles), str(x).lstrip("-")


def _rates(factor: sp.Basic) -> list[str]:
    """The velocities or accelerations of a factor: a square has two, a sum only its first."""
    if isinstance(factor, sp.Pow):
        return _rates(factor.base) * (int(factor.exp) if factor.exp.is_Integer and factor.exp > 0 else 1)
    return sorted(s.name for s in factor.free_symbols if _order_of_motion(s) < 2)[:1]


def _order_of_motion(symbol: sp.Symbol) -> int:
    """0 for an acceleration, 1 for a velocity, 2 for any other symbol: thetaddot_1, thetadot_1, theta_1."""
    head = symbol.name.partition("_")[0].rstrip("0123456789")
    if len(head) == len("dot") or not head.endswith("dot"):
        return 2
    return 0 if head.endswith("ddot") and len(head) > len("ddot") else 1
