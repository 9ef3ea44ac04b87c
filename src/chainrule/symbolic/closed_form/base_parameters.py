"""Base parameters: the combinations of masses, lengths and inertias that the motion depends on.

The coefficient of every function of the state in M and g is a polynomial in the parameters. A maximal set of linearly
independent ones gets the names p_1, p_2, ..; all others are sums of these. In base parameters, the mass matrix of an
arm with three joints fits on a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.errors import ModelError
from chainrule.lazy import cached_property
from chainrule.symbolic.algebra.ring import EXPONENT_BITS, ROUNDING, Element, factor_coefficient
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel
from chainrule.symbolic.closed_form.terms import Terms

K = TypeVar("K")

Key = tuple[int, int, int]
"""A monomial in the parameters; a monomial in the e^(i alpha) of their angles; 0 for its cosine, 1 for its sine."""

Polynomial = dict[Key, Fraction]
"""A polynomial in the parameters, and in cosines and sines of sums of their angles: coefficients by key."""

DEPENDENCE_TOLERANCE = 1e-9
"""What is left of a polynomial of length one, if it is a combination of others up to rounding."""

WELL_APART = 1e-2
"""What is left of a polynomial, if it is clearly none. Such ones are taken first, which keeps rounding errors small."""

EXACT_DENOMINATOR = 1 << 10
"""Largest denominator of coefficients that count as exact."""


class SymbolicBaseParameters(NamedTuple):
    """Base parameters of a robot, and its mass matrix and gravity torques in them."""

    definitions: tuple[tuple[sp.Symbol, sp.Expr], ...]
    """Each symbol, and the expression in the robot's own parameters that it stands for."""
    values: dict[sp.Symbol, float]
    M: list[list[Any]]
    g: list[Any]


class TermsInBaseParameters(Terms):
    """Terms whose mass matrix and gravity torques are given in base parameters."""

    def __init__(self, symbolic: SymbolicModel, base: SymbolicBaseParameters) -> None:
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
class _ExactBasis:
    """A basis of polynomials with exact coefficients."""

    members: list[Polynomial] = field(default_factory=list)
    reduced: list[tuple[Key, Polynomial, dict[int, Fraction]]] = field(default_factory=list)
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


class _RoundedBasis:
    """A basis of polynomials with decimal coefficients, such as those of links that are turned about a slanted axis.

    Combinations are found up to rounding, by orthogonal projection.
    """

    def __init__(self, pieces: Sequence[Polynomial], weight: Callable[[int], float]) -> None:
        keys = sorted({key for piece in pieces for key in piece})
        self.places = {key: k for k, key in enumerate(keys)}
        self.weights = np.array([weight(monomial) for monomial, _, _ in keys])
        self.members: list[Polynomial] = []
        self._orthonormal = np.zeros((0, len(keys)))
        vectors = [self._vector(piece) for piece in pieces]
        chosen: list[int] = []
        for least in (WELL_APART, DEPENDENCE_TOLERANCE):
            for k, vector in enumerate(vectors):
                length = float(np.linalg.norm(vector))
                rest = self._rest(vector / length) if k not in chosen and length else np.zeros(0)
                if np.linalg.norm(rest) > least:
                    chosen.append(k)
                    self._orthonormal = np.vstack([self._orthonormal, rest / np.linalg.norm(rest)])
        order = sorted(chosen)
        self.members = [pieces[k] for k in order]
        self._columns = np.array([vectors[k] for k in order]).T

    def _vector(self, polynomial: Polynomial) -> Array:
        vector = np.zeros(len(self.places))
        for key, c in polynomial.items():
            vector[self.places[key]] = float(c) * self.weights[self.places[key]]
        return vector

    def _rest(self, vector: Array) -> Array:
        for _ in range(2):  # twice is enough for rounding errors
            vector = vector - self._orthonormal.T @ (self._orthonormal @ vector)
        return vector

    def express(self, polynomial: Polynomial) -> dict[int, float]:
        """Multiples of members that add up to the polynomial, without those that are rounding errors."""
        vector = self._vector(polynomial)
        lengths = np.linalg.norm(self._columns, axis=0)
        shares = np.linalg.lstsq(self._columns / lengths, vector, rcond=None)[0]
        largest = np.abs(shares).max(initial=0.0)
        return {k: float(x / lengths[k]) for k, x in enumerate(shares) if abs(x) > 1e-13 * largest}


def _subtract(a: dict[K, Fraction], b: dict[K, Fraction], factor: Fraction) -> dict[K, Fraction]:
    """The difference a - factor * b, without zeros."""
    result = dict(a)
    for key, c in b.items():
        total = result.get(key, Fraction(0)) - factor * c
        if total:
            result[key] = total
        else:
            result.pop(key, None)
    return result


def base_parameters(symbolic: SymbolicModel, terms: Terms) -> SymbolicBaseParameters:
    """The base parameters p_1, p_2, .. of a symbolic model, and M and g in them."""
    if not symbolic.parameters:
        raise ModelError("there are no symbols to gather: ask for robot.equations('symbolic')")
    separation = _Separation(symbolic)
    ring = symbolic.ring
    entries = [x for row in terms.M for x in row] + list(terms.g)
    found = {
        _normalize(polynomial)
        for x in entries
        if isinstance(x, Element)
        for pair in separation.pieces(x).values()
        for polynomial in pair
    }
    pieces = [dict(piece) for piece in sorted(found, key=lambda p: (len(p), p)) if piece]
    basis = _basis_of(pieces, symbolic)
    letter = free_letter(symbolic)
    names = [sp.Symbol(f"{letter}_{k}", real=True) for k in range(1, len(basis.members) + 1)]
    variables = [ring.variable(name) for name in names]

    def rewrite(x: Any) -> Any:
        if not isinstance(x, Element):
            return x
        total: Any = 0
        for rest, parts in separation.pieces(x).items():
            for polynomial, unit in zip(parts, (1.0, 1j), strict=True):
                for k, c in basis.express(polynomial).items() if polynomial else ():
                    total = total + Element(ring, {rest: unit}) * variables[k] * float(c)
        return total

    M = [[rewrite(x) for x in row] for row in terms.M]
    g = [rewrite(x) for x in terms.g]
    definitions = tuple(zip(names, map(separation.meaning, basis.members), strict=True))
    values = {name: float(meaning.subs({**symbolic.parameters})) for name, meaning in definitions}
    return SymbolicBaseParameters(definitions, values, M, g)


def free_letter(symbolic: SymbolicModel, letters: Sequence[str] = ("p", "P", "base", "combination")) -> str:
    """The first of these letters that begins no name of the parameters."""
    heads = {symbol.name.partition("_")[0] for symbol in symbolic.symbols.values()}
    return next((letter for letter in letters if letter not in heads), letters[-1])


def _basis_of(pieces: Sequence[Polynomial], symbolic: SymbolicModel) -> _ExactBasis | _RoundedBasis:
    """A maximal independent set of the polynomials, the simplest first."""
    if any(c.denominator > EXACT_DENOMINATOR for piece in pieces for c in piece.values()):
        ring, numbers = symbolic.ring, symbolic.parameters
        sizes = {k: abs(numbers[s]) for s, k in ring.digits.items() if s in numbers}

        def weight(monomial: int) -> float:
            """The size of a monomial, so that a polynomial is judged by what it contributes."""
            return math.prod(sizes[k] ** e for k, e in enumerate(ring.exponents(monomial)) if e)

        return _RoundedBasis(pieces, weight)
    basis = _ExactBasis()
    for piece in pieces:
        basis.express(piece)
    return basis


class _Separation:
    """Separates what depends on the state from what depends on the parameters, in elements of the ring."""

    def __init__(self, symbolic: SymbolicModel) -> None:
        self.ring = ring = symbolic.ring
        own = {s for s in symbolic.parameters if s != symbolic.symbols.get("g")}
        self.lengths = [k for s, k in ring.digits.items() if s in own]
        self.angles = [k for k, (s, _) in ring.frequencies.items() if s in own]

    def pieces(self, x: Element) -> dict[int, tuple[Polynomial, Polynomial]]:
        """The real and the imaginary part of what multiplies each function of the state."""
        found: dict[int, tuple[Polynomial, Polynomial]] = {}
        for monomial, coefficient in x.terms.items():
            exponents = self.ring.exponents(monomial)
            lengths, angles = (
                sum(exponents[k] << (EXPONENT_BITS * k) for k in own) for own in (self.lengths, self.angles)
            )
            sign = next((1 if exponents[k] > 0 else -1 for k in self.angles if exponents[k]), 0)
            real, imaginary = found.setdefault(monomial - lengths - angles, ({}, {}))
            c = complex(coefficient)
            # c e^(i sign a) = (Re c cos a - Im c sign sin a) + i (Im c cos a + Re c sign sin a)
            cosine, sine = (lengths, sign * angles, 0), (lengths, sign * angles, 1)
            _add_term(real, cosine, c.real)
            _add_term(imaginary, cosine, c.imag)
            _add_term(real, sine, -c.imag * sign)
            _add_term(imaginary, sine, c.real * sign)
        least = ROUNDING * max(map(abs, x.terms.values()), default=0.0)
        return {rest: (_prune(real, least), _prune(imaginary, least)) for rest, (real, imaginary) in found.items()}

    def meaning(self, polynomial: Polynomial) -> sp.Expr:
        """A polynomial as a SymPy expression."""
        by_function: dict[tuple[int, int], dict[int, float]] = {}
        for (monomial, angles, kind), c in polynomial.items():
            by_function.setdefault((angles, kind), {})[monomial] = float(c)
        empty = Element(self.ring, {})
        total = []
        for (angles, kind), terms in by_function.items():
            coefficient = factor_coefficient(empty.polynomial(terms))
            total.append(coefficient * (sp.sin if kind else sp.cos)(self._angle(angles)) if angles else coefficient)
        return sp.Add(*total)

    def _angle(self, monomial: int) -> sp.Expr:
        exponents, angles = self.ring.exponents(monomial), self.ring.angles
        return sp.Add(*(exponents[k] * angles[k] for k in self.angles))


def _prune(polynomial: Polynomial, least: float) -> Polynomial:
    """The polynomial without coefficients that are rounding errors."""
    return {key: c for key, c in polynomial.items() if abs(c) > least}


def _add_term(polynomial: Polynomial, key: Key, c: float) -> None:
    if c:
        total = polynomial.get(key, Fraction(0)) + Fraction(c)
        if total:
            polynomial[key] = total
        else:
            polynomial.pop(key, None)


def _normalize(polynomial: Polynomial) -> tuple[tuple[Key, Fraction], ...]:
    """Scale the polynomial to a first coefficient of one, so that multiples of it are equal."""
    if not polynomial:
        return ()
    scale = polynomial[min(polynomial)]
    return tuple(sorted((m, c / scale) for m, c in polynomial.items()))
