"""Square roots and quotients of trigonometric polynomials, and the angle of a pair of them, as SymPy expressions."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

import sympy as sp

from chainrule.symbolic.algebra.factors import factors
from chainrule.symbolic.algebra.ring import ROUNDING, Element, exact, prune, to_sympy

MAX_EXPANDED_TERMS = 60
"""Terms of a polynomial up to which its factors are looked for."""

MAX_SYMPY_TERMS = 8
"""Terms up to which SymPy looks for them: it takes seconds for more."""


def count_terms(x: Any) -> int:
    """The number of terms of an element; one of a number."""
    return len(x.terms) if isinstance(x, Element) else 1


def is_zero_polynomial(x: Any) -> bool:
    """Whether an element or a number is zero, up to rounding beside one."""
    return not x.prune(1.0).terms if isinstance(x, Element) else abs(x) <= ROUNDING


def as_product(x: Any) -> sp.Expr:
    """An element or number as a product of factors, where it has any."""
    pruned = prune(x)
    if not 1 < count_terms(pruned) <= MAX_EXPANDED_TERMS:
        return to_sympy(pruned)
    found = factors(pruned, MAX_SYMPY_TERMS)
    sums = [factor for factor in found if count_terms(factor) > 1]
    return to_sympy(pruned) if len(found) == len(sums) + 1 == 2 else sp.Mul(*map(to_sympy, found))


def root_of_squares(parts: Sequence[Any]) -> sp.Expr:
    """sqrt(a^2 + b^2 + ..), of the squares as they stand, or of the sum multiplied out if that is half as long."""
    if len(parts) == 1:
        return (
            sp.Abs(sp.Mul(*map(to_sympy, factors(parts[0])))) if isinstance(parts[0], Element) else abs(exact(*parts))
        )
    total = sum((prune(x * x) for x in parts), start=0)
    squares = sp.sqrt(sp.Add(*(as_product(x) ** 2 for x in parts)))
    if count_terms(total) > MAX_EXPANDED_TERMS:
        return squares
    multiplied = sp.sqrt(as_product(total))
    return multiplied if 2 * multiplied.count_ops() <= squares.count_ops() else squares


def quotient(top: Any, bottom: Any) -> sp.Expr:
    """The quotient of two elements or numbers, without the factors that they share."""
    if is_zero_polynomial(top):
        return sp.S.Zero
    if not isinstance(bottom, Element):
        return to_sympy(prune(top * (1 / bottom)))
    if not isinstance(top, Element):
        return exact(top) / as_product(bottom)
    ratio = _constant_ratio(top, bottom)
    if ratio is not None:
        return exact(ratio)
    if max(len(top.terms), len(bottom.terms)) > MAX_EXPANDED_TERMS:
        return to_sympy(top) / to_sympy(bottom)
    above, below = factors(top, MAX_SYMPY_TERMS), factors(bottom, MAX_SYMPY_TERMS)
    for factor in list(below):
        if factor in above:
            above.remove(factor)
            below.remove(factor)
    return sp.Mul(*map(to_sympy, above)) / sp.Mul(*map(to_sympy, below))


def _constant_ratio(top: Element, bottom: Element) -> float | None:
    """The number top / bottom, if it is one."""
    monomial = max(bottom.terms, key=lambda m: abs(bottom.terms[m]))
    ratio = complex(top.terms.get(monomial, 0.0) / bottom.terms[monomial]).real
    return ratio if ratio and top == bottom * ratio else None


def angle(y: Any, x: Any) -> sp.Expr:
    """The angle atan2(y, x); a sum of angles up to full turns where y is its sine and x its cosine.

    >>> from chainrule.symbolic.algebra.ring import Ring
    >>> a, b = sp.symbols("a b", real=True)
    >>> ring = Ring([a, b])
    >>> angle(ring.of(sp.sin(a + b)), ring.of(sp.cos(a + b))), angle(ring.of(2 * sp.sin(a)), ring.of(sp.cos(a)))
    (a + b, atan2(2*sin(a), cos(a)))
    """
    pair = [prune(part) for part in (y, x)]
    ring = next((part.ring for part in pair if isinstance(part, Element)), None)
    if ring is None:
        return _number_of_angle(math.atan2(*pair))
    z = (pair[1] + 1j * pair[0]).prune(1.0)
    if len(z.terms) == 1:
        ((monomial, c),) = z.terms.items()
        exponents = ring.exponents(monomial)
        turning = {place: exponents[place] for place in ring.angles if exponents[place]}
        others = [e for place, e in enumerate(exponents) if e and place not in ring.angles]
        if not others and abs(abs(c) - 1) < 1e-12:
            whole = [multiple * ring.angles[place] for place, multiple in turning.items()]
            return sp.Add(*whole, _number_of_angle(cmath.phase(c)))
    return sp.atan2(*(as_product(part) for part in pair))


def _number_of_angle(value: float) -> sp.Expr:
    """An angle as a multiple of pi if it is a simple one."""
    return exact(value / math.pi) * sp.pi if exact(value / math.pi).is_Rational else sp.Float(value, 16)
