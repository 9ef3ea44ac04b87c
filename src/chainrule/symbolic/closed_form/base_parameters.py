"""Base parameters: masses, lengths and inertias gathered into the combinations that the motion can tell apart.

Before every function of the state in M and g stands a polynomial in the parameters. The few that are linearly
independent get names, and the others are sums of them: a three-joint arm's mass matrix then fits a page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from chainrule.errors import ModelError
from chainrule.symbolic.algebra.naming import SymbolicModel
from chainrule.symbolic.algebra.ring import BITS, Element, Ring, factored
from chainrule.symbolic.closed_form.equations import Equations, Terms
from chainrule.symbolic.closed_form.intermediate import Intermediate

Vector = dict[int, Fraction]
"""A polynomial in the parameters: coefficients by monomial."""


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(Equations):
    """Equations of motion in base parameters; `definitions` says what these are."""

    base: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()
    terms: Terms | None = None

    @property
    def definitions(self) -> dict[sp.Symbol, sp.Expr]:
        """What each base parameter is made of, in the robot's own symbols."""
        return dict(self.base)

    def intermediate(self, *functions: str) -> Intermediate:
        """Not of these: the algorithms know masses and lengths, not what they are gathered into."""
        raise ModelError("intermediate variables are made of the robot's own parameters: take them before grouped()")

    @property
    def elements(self) -> Terms:
        """The terms in canonical form."""
        assert self.terms is not None
        return self.terms


class _Terms(Terms):
    """Terms whose mass matrix and gravity torques are given."""

    def __init__(self, symbolic: SymbolicModel, M: list[list[Any]], g: list[Any]) -> None:
        super().__init__(symbolic)
        self._M, self._g = M, g

    @cached_property
    def M(self) -> list[list[Any]]:
        """As given."""
        return self._M

    @cached_property
    def g(self) -> list[Any]:
        """As given."""
        return self._g


@dataclass
class _Basis:
    """Independent polynomials, and how others are made of them."""

    members: list[Vector] = field(default_factory=list)
    reduced: list[tuple[int, Vector, dict[int, Fraction]]] = field(default_factory=list)
    """Echelon form: the leading monomial, the polynomial, and the members it is a sum of."""

    def express(self, polynomial: Vector) -> dict[int, Fraction]:
        """Multiples of members that add up to it; it becomes a member itself if there are none."""
        rest = dict(polynomial)
        made: dict[int, Fraction] = {}
        for leading, row, combination in self.reduced:
            factor = rest.get(leading)
            if factor:
                rest = _less(rest, row, factor)
                made = _less(made, combination, -factor)
        if not rest:
            return {k: c for k, c in made.items() if c}
        k = len(self.members)
        self.members.append(polynomial)
        leading = min(rest)
        scale = 1 / rest[leading]
        own = _less({k: Fraction(1)}, made, Fraction(1))
        self.reduced.append((leading, {m: c * scale for m, c in rest.items()}, {m: c * scale for m, c in own.items()}))
        return {k: Fraction(1)}


def _less(a: dict[int, Fraction], b: dict[int, Fraction], factor: Fraction) -> dict[int, Fraction]:
    result = dict(a)
    for key, c in b.items():
        total = result.get(key, Fraction(0)) - factor * c
        if total:
            result[key] = total
        else:
            result.pop(key, None)
    return result


def grouped(equations: Equations) -> Grouped:
    """The equations in base parameters p_1, p_2, .."""
    symbolic, terms = equations.symbolic, equations.elements
    if not symbolic.parameters:
        raise ModelError("there are no symbols to gather: ask for robot.equations('symbolic')")
    ring = symbolic.ring
    own = [k for s, k in ring.digits.items() if s in symbolic.parameters and s != sp.Symbol("g", positive=True)]
    entries = [x for row in terms.M for x in row] + list(terms.g)
    basis = _Basis()
    pieces = {_frozen(p) for x in entries for part in _real_and_imaginary(x) for p in _pieces(part, own).values()}
    for piece in sorted(pieces, key=lambda p: (len(p), p)):
        if piece:
            basis.express(dict(piece))
    names = [sp.Symbol(f"p_{k}", real=True) for k in range(1, len(basis.members) + 1)]
    variables = [ring.variable(name) for name in names]

    def rewritten(x: Any) -> Any:
        if not isinstance(x, Element):
            return x
        total: Any = 0
        for rest, polynomial in _pieces(x, own).items():
            for k, c in basis.express(polynomial).items():
                total = total + Element(ring, {rest: 1.0}) * variables[k] * float(c)
        return total

    def whole(x: Any) -> Any:
        if not isinstance(x, Element):
            return x
        real, imaginary = _real_and_imaginary(x)
        return rewritten(real) + (rewritten(imaginary) * 1j if imaginary.terms else 0)

    M = [[whole(x) for x in row] for row in terms.M]
    g = [whole(x) for x in terms.g]
    empty = Element(ring, {})
    meanings = [factored(empty.polynomial({m: float(c) for m, c in v.items()})) for v in basis.members]
    values = {**symbolic.parameters}
    numbers = {name: float(meaning.subs(values)) for name, meaning in zip(names, meanings, strict=True)}
    named = replace(symbolic, parameters={**numbers, **_others(symbolic, equations)})
    pairs = tuple(zip(names, meanings, strict=True))
    return Grouped(equations.robot, named, equations.simplify, pairs, _Terms(symbolic, M, g))


def _others(symbolic: SymbolicModel, equations: Equations) -> dict[sp.Symbol, float]:
    """Parameters that stay: gravity, friction, springs."""
    kept = equations.spring.free_symbols | equations.friction.free_symbols | {sp.Symbol("g", positive=True)}
    return {s: value for s, value in symbolic.parameters.items() if s in kept}


def _pieces(x: Element, own: list[int]) -> dict[int, Vector]:
    """The polynomials in the parameters that stand before each function of the state, coefficients being real."""
    found: dict[int, Vector] = {}
    for rest, monomial, c in _apart(x.ring, x, own):
        found.setdefault(rest, {})[monomial] = Fraction(c.real)
    return found


def _real_and_imaginary(x: Any) -> tuple[Element, ...]:
    if not isinstance(x, Element):
        return ()
    real: dict[int, complex] = {m: complex(c).real for m, c in x.terms.items() if complex(c).real}
    imaginary: dict[int, complex] = {m: complex(c).imag for m, c in x.terms.items() if complex(c).imag}
    return Element(x.ring, real), Element(x.ring, imaginary)


def _apart(ring: Ring, x: Element, own: list[int]) -> Iterator[tuple[int, int, complex]]:
    for monomial, c in x.terms.items():
        exponents = ring.exponents(monomial)
        parameters = sum(exponents[k] << (BITS * k) for k in own)
        yield monomial - parameters, parameters, c


def _frozen(polynomial: Vector) -> tuple[tuple[int, Fraction], ...]:
    """Up to a factor, so that multiples of one polynomial are the same."""
    if not polynomial:
        return ()
    scale = polynomial[min(polynomial)]
    return tuple(sorted((m, c / scale) for m, c in polynomial.items()))
