"""Base parameters: the combinations of masses, lengths and inertias that the motion depends on.

The coefficient of every function of the state in M and g is a polynomial in the parameters. A maximal set of linearly
independent ones gets the names p_1, p_2, ..; all others are sums of these. In base parameters, the mass matrix of an
arm with three joints fits on a page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import sympy as sp

from chainrule.errors import ModelError
from chainrule.symbolic.algebra.ring import EXPONENT_BITS, Element, Ring, factor_coefficient
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel
from chainrule.symbolic.closed_form.terms import Terms

Polynomial = dict[int, Fraction]
"""A polynomial in the parameters: coefficients by monomial."""


class BaseParameters(NamedTuple):
    """Base parameters of a robot, and its mass matrix and gravity torques in them."""

    definitions: tuple[tuple[sp.Symbol, sp.Expr], ...]
    """Each symbol, and the expression in the robot's own parameters that it stands for."""
    values: dict[sp.Symbol, float]
    M: list[list[Any]]
    g: list[Any]


class TermsInBaseParameters(Terms):
    """Terms whose mass matrix and gravity torques are given in base parameters."""

    def __init__(self, symbolic: SymbolicModel, base: BaseParameters) -> None:
        super().__init__(symbolic)
        self.base = base

    @cached_property
    def M(self) -> list[list[Any]]:
        """The mass matrix in base parameters."""
        return self.base.M

    @cached_property
    def g(self) -> list[Any]:
        """Gravity torques in base parameters."""
        return self.base.g


@dataclass
class _Basis:
    """Linearly independent polynomials, and the combinations of them that other polynomials are."""

    members: list[Polynomial] = field(default_factory=list)
    reduced: list[tuple[int, Polynomial, dict[int, Fraction]]] = field(default_factory=list)
    """Echelon form: leading monomial, polynomial, and the multiples of members that add up to it."""

    def express(self, polynomial: Polynomial) -> dict[int, Fraction]:
        """Multiples of members that add up to the polynomial, which becomes a member if there are none."""
        rest = dict(polynomial)
        multiples: dict[int, Fraction] = {}
        for leading, row, combination in self.reduced:
            factor = rest.get(leading)
            if factor:
                rest = _subtract(rest, row, factor)
                multiples = _subtract(multiples, combination, -factor)
        if not rest:
            return {k: c for k, c in multiples.items() if c}
        k = len(self.members)
        self.members.append(polynomial)
        leading = min(rest)
        scale = 1 / rest[leading]
        own = _subtract({k: Fraction(1)}, multiples, Fraction(1))
        self.reduced.append((leading, {m: c * scale for m, c in rest.items()}, {m: c * scale for m, c in own.items()}))
        return {k: Fraction(1)}


def _subtract(a: dict[int, Fraction], b: dict[int, Fraction], factor: Fraction) -> dict[int, Fraction]:
    """The difference a - factor * b, without zeros."""
    result = dict(a)
    for key, c in b.items():
        total = result.get(key, Fraction(0)) - factor * c
        if total:
            result[key] = total
        else:
            result.pop(key, None)
    return result


def base_parameters(symbolic: SymbolicModel, terms: Terms) -> BaseParameters:
    """The base parameters p_1, p_2, .. of a symbolic model, and M and g in them."""
    if not symbolic.parameters:
        raise ModelError("there are no symbols to gather: ask for robot.equations('symbolic')")
    ring = symbolic.ring
    own = [k for s, k in ring.digits.items() if s in symbolic.parameters and s != sp.Symbol("g", positive=True)]
    entries = [x for row in terms.M for x in row] + list(terms.g)
    basis = _Basis()
    pieces = {_normalize(p) for x in entries for part in _real_and_imaginary(x) for p in _pieces(part, own).values()}
    for piece in sorted(pieces, key=lambda p: (len(p), p)):
        if piece:
            basis.express(dict(piece))
    names = [sp.Symbol(f"p_{k}", real=True) for k in range(1, len(basis.members) + 1)]
    variables = [ring.variable(name) for name in names]

    def rewrite_real(x: Element) -> Any:
        total: Any = 0
        for rest, polynomial in _pieces(x, own).items():
            for k, c in basis.express(polynomial).items():
                total = total + Element(ring, {rest: 1.0}) * variables[k] * float(c)
        return total

    def rewrite(x: Any) -> Any:
        if not isinstance(x, Element):
            return x
        real, imaginary = _real_and_imaginary(x)
        return rewrite_real(real) + (rewrite_real(imaginary) * 1j if imaginary.terms else 0)

    M = [[rewrite(x) for x in row] for row in terms.M]
    g = [rewrite(x) for x in terms.g]
    empty = Element(ring, {})
    meanings = [factor_coefficient(empty.polynomial({m: float(c) for m, c in v.items()})) for v in basis.members]
    definitions = tuple(zip(names, meanings, strict=True))
    values = {name: float(meaning.subs({**symbolic.parameters})) for name, meaning in definitions}
    return BaseParameters(definitions, values, M, g)


def _pieces(x: Element, own: list[int]) -> dict[int, Polynomial]:
    """The polynomial in the parameters that multiplies each function of the state, for real coefficients."""
    found: dict[int, Polynomial] = {}
    for rest, monomial, c in _separate(x.ring, x, own):
        found.setdefault(rest, {})[monomial] = Fraction(c.real)
    return found


def _real_and_imaginary(x: Any) -> tuple[Element, ...]:
    if not isinstance(x, Element):
        return ()
    real: dict[int, complex] = {m: complex(c).real for m, c in x.terms.items() if complex(c).real}
    imaginary: dict[int, complex] = {m: complex(c).imag for m, c in x.terms.items() if complex(c).imag}
    return Element(x.ring, real), Element(x.ring, imaginary)


def _separate(ring: Ring, x: Element, own: list[int]) -> Iterator[tuple[int, int, complex]]:
    """Each term as a monomial in the state, a monomial in the parameters, and a coefficient."""
    for monomial, c in x.terms.items():
        exponents = ring.exponents(monomial)
        parameters = sum(exponents[k] << (EXPONENT_BITS * k) for k in own)
        yield monomial - parameters, parameters, c


def _normalize(polynomial: Polynomial) -> tuple[tuple[int, Fraction], ...]:
    """Scale the polynomial to a first coefficient of one, so that multiples of it are equal."""
    if not polynomial:
        return ()
    scale = polynomial[min(polynomial)]
    return tuple(sorted((m, c / scale) for m, c in polynomial.items()))
