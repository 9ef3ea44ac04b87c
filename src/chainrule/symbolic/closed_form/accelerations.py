"""Accelerations in closed form, M^-1 (tau - h): quotients of polynomials, without the factors that they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import sympy as sp

from chainrule.symbolic.algebra.factors import factors
from chainrule.symbolic.algebra.ring import EXPONENT_BITS, Element, prune, to_sympy
from chainrule.symbolic.closed_form.size_estimate import round_count

MAX_PRODUCTS = 2_000_000
"""Products of terms in a determinant, by a bound; a larger one is refused before it is computed."""

MAX_TERMS = 3000
"""Terms of a determinant and its cofactors; an inverse with more is refused, since no one can read it."""

MAX_FACTORED_TERMS = 60
"""Terms of a polynomial up to which its factors are looked for."""

MAX_SYMPY_TERMS = 8
"""Terms up to which SymPy looks for them: it takes seconds for more."""


class TooLongError(Exception):
    """An inverse has more terms than can be read; the message says how many."""


class InertiaBlock(NamedTuple):
    """Joints that share inertia: their indices, the determinant of their part of M, and its cofactors."""

    joints: tuple[int, ...]
    determinant: Any
    cofactors: list[list[Any]]


def inverse_in_blocks(M: Sequence[Sequence[Any]]) -> list[InertiaBlock]:
    """The inverse of a symmetric matrix over a ring, block by block along its diagonal."""
    blocks = []
    for joints in _groups(M):
        part = [[M[i][j] for j in joints] for i in joints]
        bound = _count_products(part)
        if bound > MAX_PRODUCTS:
            raise TooLongError(f"would take up to {round_count(bound)} products of terms")
        block = InertiaBlock(joints, _determinant(part), _cofactors(part))
        size = sum(_terms(x) for x in (block.determinant, *(x for row in block.cofactors for x in row)))
        if size > MAX_TERMS:
            raise TooLongError(f"would have {size} terms in the inverse of M")
        blocks.append(block)
    return blocks


def accelerations(
    blocks: Sequence[InertiaBlock], driving: Sequence[sp.Expr], shape: Callable[[sp.Expr], sp.Expr] | None = None
) -> list[sp.Expr]:
    """The accelerations of the joints, for torques that drive them: tau - h."""
    found: list[sp.Expr] = [sp.S.Zero] * len(driving)
    for block in blocks:
        below = _split(block.determinant)
        for i, row in zip(block.joints, block.cofactors, strict=True):
            entries = [prune(x) for x in row]
            bottom, tops = _cancel(below, [_split(x) if _terms(x) else [] for x in entries])
            parts = [
                _product(top, shape) * driving[j]
                for j, top, x in zip(block.joints, tops, entries, strict=True)
                if _terms(x)
            ]
            found[i] = sp.Add(*parts) / _product(bottom, shape)
    return found


def _groups(M: Sequence[Sequence[Any]]) -> list[tuple[int, ...]]:
    """Indices of rows that are tied to each other by entries that are not zero."""
    left, found = list(range(len(M))), []
    while left:
        group = [left.pop(0)]
        for i in group:
            group += [j for j in left if _terms(prune(M[i][j]))]
            left = [j for j in left if j not in group]
        found.append(tuple(sorted(group)))
    return found


def _count_products(M: Sequence[Sequence[Any]]) -> int:
    """An upper bound for the products of terms in the determinant of a matrix."""
    bound = 1
    for row in M:
        bound *= max(sum(map(_terms, row)), 1)
    return bound


def _determinant(M: Sequence[Sequence[Any]]) -> Any:
    """The determinant, by minors of its first rows, each computed once."""
    n = len(M)
    minors: dict[tuple[int, ...], Any] = {(): 1}
    for k, row in enumerate(M, 1):
        minors = {
            columns: _sum(
                (-1) ** (k - 1 - place) * (row[j] * minors[columns[:place] + columns[place + 1 :]])
                for place, j in enumerate(columns)
            )
            for columns in combinations(range(n), k)
        }
    return prune(minors[tuple(range(n))])


def _cofactors(M: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The cofactors of a symmetric matrix, those above the diagonal computed once."""
    n = len(M)
    found: list[list[Any]] = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            minor = [[x for c, x in enumerate(row) if c != j] for r, row in enumerate(M) if r != i]
            found[i][j] = found[j][i] = (-1) ** (i + j) * _determinant(minor)
    return found


def _sum(parts: Any) -> Any:
    return sum(parts, start=0)


def _terms(x: Any) -> int:
    """The number of terms of an element; one of a number that is not zero."""
    return len(x.terms) if isinstance(x, Element) else int(x != 0)


def _split(x: Any) -> list[Any]:
    """The factors of an element: its symbols, and those of the rest where that is short; a number alone."""
    if not isinstance(x, Element):
        return [x]
    ring, angles = x.ring, set(x.ring.exponentials.values())
    rows = [ring.exponents(monomial) for monomial in x.terms]
    found, shift = list[Any](), 0
    for place in set(range(ring.count)) - angles:
        power = min(row[place] for row in rows)
        shift += power << EXPONENT_BITS * place
        found += [Element(ring, {1 << EXPONENT_BITS * place: 1.0})] * power
    rest = Element(ring, {monomial - shift: c for monomial, c in x.terms.items()})
    return [*found, *(factors(rest, MAX_SYMPY_TERMS) if len(x.terms) <= MAX_FACTORED_TERMS else [rest])]


def _cancel(below: Sequence[Any], above: Sequence[list[Any]]) -> tuple[list[Any], list[list[Any]]]:
    """The factors of a denominator and of numerators, without those that all of them share."""
    bottom, tops = list(below), [list(top) for top in above]
    present = [top for top in tops if top]
    for factor in below:
        if isinstance(factor, Element) and present and all(factor in top for top in present):
            bottom.remove(factor)
            for top in present:
                top.remove(factor)
    return bottom, [top or [1] for top in tops]


def _product(parts: Sequence[Any], shape: Callable[[sp.Expr], sp.Expr] | None) -> sp.Expr:
    """The product of factors as an expression; the size of their number goes into the longest one."""
    number, others = 1.0, list[Element]()
    for x in parts:
        if isinstance(x, Element) and any(x.terms):
            others.append(x)
        else:
            number *= float(x)
    others.sort(key=_terms)
    if others and _terms(others[-1]) > 1:
        others[-1], number = others[-1] * abs(number), math.copysign(1.0, number)
    return sp.Mul(to_sympy(number), *(to_sympy(x, shape) for x in others))
