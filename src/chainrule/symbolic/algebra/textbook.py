"""Expressions as a textbook writes them: a canonical form, and then terms collected by their common factors.

Trigonometric polynomials are contracted by `ring`. SymPy simplifies all other expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import sympy as sp

from chainrule.errors import ModelError
from chainrule.symbolic.algebra.ring import Ring, factor_coefficient, with_distinct_order

MAX_EXACT_INTEGER = 2**50
"""Largest whole number that is exact as a coefficient of the ring."""


def angles_among(symbols: Iterable[sp.Symbol], expressions: Iterable[sp.Expr]) -> list[sp.Symbol]:
    """The symbols that occur in sines or cosines of the expressions."""
    turned: set[sp.Symbol] = set()
    for expression in expressions:
        for function in expression.atoms(sp.sin, sp.cos):
            turned |= function.free_symbols
    return [symbol for symbol in symbols if symbol in turned]


def canonical(expression: sp.Expr, angles: Sequence[sp.Symbol]) -> sp.Expr:
    """A sum of products with sines and cosines of sums of these angles; SymPy's simplification of other expressions.

    >>> a, b, m = sp.symbols("a b m")
    >>> canonical(m * (sp.cos(a) * sp.cos(b) - sp.sin(a) * sp.sin(b)) / 3, [a, b])
    m*cos(a + b)/3
    """
    if expression.is_Atom:
        return expression
    substituted, meaning, all_angles = _substitute_constants(expression, angles)
    expanded = sp.expand(substituted)
    numbers = [number for term in sp.Add.make_args(expanded) if (number := term.as_coeff_Mul()[0]).is_Rational]
    denominator = sp.ilcm(1, 1, *(number.q for number in numbers))
    if any(abs(denominator * number) > MAX_EXACT_INTEGER for number in numbers):
        return sp.simplify(expression)
    try:
        contraction = Ring(all_angles).of(sp.expand(denominator * expanded)).sympy(lambda coefficient: coefficient)
    except ModelError:
        return sp.simplify(expression)
    return _without_squares(sp.expand(contraction.xreplace(meaning) / denominator))


Meaning = dict[sp.Dummy, sp.Expr]


def _substitute_constants(expression: sp.Expr, angles: Sequence[sp.Symbol]) -> tuple[sp.Expr, Meaning, list[sp.Symbol]]:
    """The expression with symbols for numbers and shifts that the ring cannot represent exactly.

    These are roots and constants such as pi, and the constant phi of cos(q + phi), which becomes an angle. Also
    returned are the meaning of the new symbols, and all angles.
    """
    shifts: dict[sp.Expr, sp.Dummy] = {}
    replaced: dict[sp.Expr, sp.Expr] = {}
    functions = sorted(expression.atoms(sp.sin, sp.cos), key=lambda f: not f.free_symbols & set(angles))
    for function in functions:
        shift, moving = function.args[0].as_independent(*angles, as_Add=True)
        if shift != 0 and (moving != 0 or shift in shifts):
            replaced[function] = function.func(moving + shifts.setdefault(shift, sp.Dummy()))
    whole = expression.xreplace(replaced)
    roots = {x: sp.Dummy() for x in whole.atoms(sp.NumberSymbol, sp.Pow, sp.Function) if x.is_number}
    roots = {x: stand_in for x, stand_in in roots.items() if not x.is_Rational}
    meaning = {stand_in: x for x, stand_in in (*shifts.items(), *roots.items())}
    return whole.xreplace(roots), meaning, [*angles, *shifts.values()]


def _without_squares(expression: sp.Expr) -> sp.Expr:
    """Apply sin^2 + cos^2 = 1 to constant angles as well, where the result is shorter."""
    for sine in sorted(expression.atoms(sp.sin), key=str):
        cosine = sp.cos(sine.args[0])
        if not expression.has(cosine):
            continue
        for square, other in ((sine, cosine), (cosine, sine)):
            shorter = sp.expand(expression.replace(lambda x, s=square: _is_power(x, s), _powers_of(other)))
            if len(sp.Add.make_args(shorter)) < len(sp.Add.make_args(expression)):
                expression = shorter
    return expression


def _is_power(x: sp.Expr, base: sp.Expr) -> bool:
    return bool(x.is_Pow and x.base == base and x.exp.is_Integer and x.exp >= 2)


def _powers_of(other: sp.Expr) -> Callable[[sp.Expr], sp.Expr]:
    return lambda power: (1 - other**2) ** (power.exp // 2) * power.base ** (power.exp % 2)


# --- collecting terms ---


def by_inertia(expression: sp.Expr, inertias: Iterable[sp.Symbol]) -> sp.Expr:
    """Collect an entry of a mass matrix by masses and moments of inertia.

    >>> m, a, b, q = sp.symbols("m a b q")
    >>> by_inertia(m * a**2 + 2 * m * a * b * sp.cos(q) + m * b**2, [m])
    m*(a**2 + 2*a*b*cos(q) + b**2)
    """
    return _gather(expression, set(inertias), _as_power)


def by_function(expression: sp.Expr, coordinates: Sequence[sp.Symbol]) -> sp.Expr:
    """Collect a gravity term by its sines and cosines, and factor their coefficients.

    >>> m, M, g, q = sp.symbols("m M g q")
    >>> by_function(m * g * sp.cos(q) + M * g * sp.cos(q), [q])
    g*(M + m)*cos(q)
    """

    def shape(coefficient: sp.Expr) -> sp.Expr:
        product = factor_coefficient(coefficient)
        return sp.collect(coefficient, coordinates, factor_coefficient) if isinstance(product, sp.Add) else product

    return _gather(expression, set(coordinates), shape, functions=True)


def by_velocity(expression: sp.Expr, coordinates: Sequence[sp.Symbol], velocities: Sequence[sp.Symbol]) -> sp.Expr:
    """Collect centrifugal and Coriolis terms by coefficients or by products of velocities, whichever is shorter.

    >>> m, q, u, v = sp.symbols("m q u v")
    >>> by_velocity(-2 * m * sp.sin(q) * u * v - m * sp.sin(q) * v**2, [q], [u, v])
    -m*(2*u*v + v**2)*sin(q)
    """
    moving = set(velocities)
    products: dict[sp.Expr, sp.Expr] = {}
    shared: dict[sp.Expr, sp.Expr] = {}
    for term in sp.Add.make_args(expression):
        rest, velocity = term.as_independent(*moving, as_Add=False)
        number, bare = rest.as_coeff_Mul()
        products[velocity] = products.get(velocity, 0) + rest
        shared[bare] = shared.get(bare, 0) + number * velocity
    if len(shared) < len(products):
        return sp.Add(*(bare * _with_sign_in_front(velocity) for bare, velocity in shared.items()))
    return sp.Add(*(by_function(rest, coordinates) * velocity for velocity, rest in products.items()))


def _with_sign_in_front(expression: sp.Expr) -> sp.Expr:
    """Write -a - b as -(a + b), with the common numerical factor in front."""
    content, rest = expression.primitive()
    if rest.could_extract_minus_sign():
        content, rest = -content, -rest
    return sp.Mul(content, rest, evaluate=False) if isinstance(rest, sp.Add) else content * rest


def _gather(
    expression: sp.Expr, around: set[sp.Symbol], shape: Callable[[sp.Expr], sp.Expr], *, functions: bool = False
) -> sp.Expr:
    """Collect terms with the same factors in the symbols `around`, or with the same functions of them."""
    groups: dict[sp.Expr, sp.Expr] = {}
    for term in sp.Add.make_args(expression):
        factors = sp.Mul.make_args(term)
        key = sp.Mul(*(f for f in factors if f.free_symbols & around and not (functions and f.is_polynomial(*around))))
        groups[key] = groups.get(key, 0) + term / key
    return sp.Add(*(key * shape(coefficient) for key, coefficient in groups.items()))


def _as_power(expression: sp.Expr) -> sp.Expr:
    """Write a sum as (a + b)^2 if it is a square."""
    if not isinstance(expression, sp.Add) or expression.has(sp.Float):
        return expression
    number, factors = sp.factor_list(expression)
    sums = [(base, power) for base, power in factors if isinstance(base, sp.Add)]
    return (
        with_distinct_order(sp.factor, expression) if number.is_number and [p for _, p in sums] == [2] else expression
    )


def inertias_in(kinetic: sp.Expr, moving: Iterable[sp.Symbol]) -> list[sp.Symbol]:
    """The symbols in which a kinetic energy is linear: masses and moments of inertia."""
    constants = sorted(kinetic.free_symbols - set(moving), key=str)
    return [s for s in constants if sp.expand(kinetic.diff(s)).free_symbols.isdisjoint({s})]
