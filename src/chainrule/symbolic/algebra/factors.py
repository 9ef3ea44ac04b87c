"""Factors of a trigonometric polynomial.

In powers of z = e^(i q) it factors like any polynomial. A factor in one angle alone is found by comparing the
coefficients of the powers of its z. SymPy factors the rest, if it is small, in the tangents of half angles.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Collection, Sequence
from itertools import product
from typing import Any

import sympy as sp

from chainrule.symbolic.algebra.ring import EXPONENT_BITS, ROUNDING, Element, Ring

MAX_SYMPY_TERMS = 24
"""Terms of a polynomial up to which SymPy factors it."""

MAX_CELLS = 10_000
"""Powers of tangents that such a polynomial may have, for each product of lengths."""


def factors(x: Element, max_sympy_terms: int = MAX_SYMPY_TERMS) -> list[Element]:
    """Real trigonometric polynomials whose product is x up to rounding; [x] if there are no factors."""
    found, rest = [], x.prune()
    for place in x.ring.exponentials.values():
        for root in (1.0, 1j):  # z^2 = 1 where the sine vanishes, z^2 = -1 where the cosine does
            while len(rest.terms) > 1 and _vanishes(rest, place, root) and _vanishes(rest, place, -root):
                found.append(
                    Element(
                        x.ring,
                        {1 << (EXPONENT_BITS * place): 1.0, -(1 << (EXPONENT_BITS * place)): -(root * root).real},
                    )
                )
                rest = _divide(rest, place, (root * root).real)
        separate, others = _separate_angle(rest, place)
        if separate is not None and len(others.terms) > 0:
            found.append(separate)
            rest = others
    candidates = [*found, *_by_sympy(rest, max_sympy_terms)]
    real = [_real(factor) for factor in candidates]
    if any(factor is None for factor in real):
        return [x]
    own = [-factor if factor.sympy().could_extract_minus_sign() else factor for factor in real if factor is not None]
    return [factor for factor in own if _varies(factor)] + [_constant(x, own)]


def _varies(x: Element) -> bool:
    """Whether the polynomial is more than a number."""
    return len(x.terms) > 1 or any(any(x.ring.exponents(m)) for m in x.terms)


def _constant(x: Element, own: list[Element]) -> Element:
    """The number by which x exceeds the product of the factors."""
    whole: Any = x.ring.constant(1)
    for factor in own:
        whole = whole * factor
    monomial = max(x.terms, key=lambda m: abs(x.terms[m]))
    other = whole.terms.get(monomial, 0)
    return x.ring.constant((x.terms[monomial] / other).real if other else 1.0)


def _by_power(x: Element, place: int) -> dict[int, dict[int, complex]]:
    """The coefficients of each power of one z, given by its digit."""
    rows: dict[int, dict[int, complex]] = {}
    for monomial, c in x.terms.items():
        power = x.ring.exponent(monomial, place)
        rows.setdefault(power, {})[monomial - (power << (EXPONENT_BITS * place))] = c
    return rows


def _vanishes(x: Element, place: int, z: complex) -> bool:
    """Whether the polynomial is zero at a number z."""
    total: dict[int, complex] = {}
    for power, row in _by_power(x, place).items():
        for monomial, c in row.items():
            total[monomial] = total.get(monomial, 0) + c * z**power
    largest = max(map(abs, x.terms.values()))
    return all(abs(c) < 1e3 * ROUNDING * largest for c in total.values())


def _divide(x: Element, place: int, square: float) -> Element:
    """The quotient of x and z - square / z, which divides x."""
    rows = _by_power(x, place)
    result: dict[int, complex] = {}
    for power in range(max(rows), min(rows), -1):
        for monomial, c in list(rows.get(power, {}).items()):
            result[monomial + ((power - 1) << (EXPONENT_BITS * place))] = c
            below = rows.setdefault(power - 2, {})
            below[monomial] = below.get(monomial, 0) + square * c
    return Element(x.ring, result).prune()


def _separate_angle(x: Element, place: int) -> tuple[Element | None, Element]:
    """A factor in one angle alone and the other factor, if the coefficients of all powers of z are proportional."""
    rows = _by_power(x, place)
    if len(rows) < 2:
        return None, x
    first = rows[max(rows)]
    pivot = max(first, key=lambda m: abs(first[m]))
    scales: dict[int, complex] = {}
    for power, row in rows.items():
        scale = row.get(pivot, 0) / first[pivot]
        if row.keys() != first.keys() or any(
            abs(row[m] - scale * c) > 1e3 * ROUNDING * abs(c) for m, c in first.items()
        ):
            return None, x
        scales[power] = scale
    separate = Element(x.ring, {power << (EXPONENT_BITS * place): scale for power, scale in scales.items()})
    return separate, Element(x.ring, dict(first))


def _by_sympy(x: Element, max_terms: int) -> list[Element]:
    """The factors that SymPy finds, for few terms and exact coefficients.

    In t = tan(q/2) the polynomial is one over the whole numbers: z = (1 + i t) / (1 - i t), and x (1 + t^2)^K has
    degree 2 K. SymPy takes minutes over the Gaussian numbers for what takes it hundredths of a second there.
    """
    ring, real = x.ring, _real(x) if len(x.terms) <= max_terms else None
    if real is None or not all(_is_exact(c) for c in real.terms.values()):
        return [x]
    rows = {monomial: ring.exponents(monomial) for monomial in real.terms}
    K = {p: max(row[p] for row in rows.values()) for p in ring.exponentials.values()}
    K = {p: k for p, k in K.items() if k}
    if not K or math.prod(2 * k + 1 for k in K.values()) > MAX_CELLS:
        return [x]
    others = [k for k in range(ring.count) if k not in K and any(row[k] for row in rows.values())]
    lowest = [min(row[k] for row in rows.values()) for k in others]
    total: dict[tuple[int, ...], complex] = {}
    for monomial, row in rows.items():
        powers = [_product((1, 1j), K[p] + row[p], (1, -1j), K[p] - row[p]) for p in K]
        rest = tuple(row[k] - low for k, low in zip(others, lowest, strict=True))
        for places in product(*map(range, map(len, powers))):
            c = 64 * real.terms[monomial] * math.prod(row[m] for row, m in zip(powers, places, strict=True))
            total[(*places, *rest)] = total.get((*places, *rest), 0) + c
    generators = sp.symbols(f"x:{len(K) + len(others)}")
    whole = sp.Poly.from_dict({key: round(c.real) for key, c in total.items()}, *generators, domain=sp.ZZ)
    even, odd = list[sp.Poly](), sp.Poly(1, *generators, domain=sp.ZZ)
    for part, power in whole.factor_list()[1]:
        is_odd = any(part.degree(i) % 2 for i in range(len(K)))
        even += [part**2] * (power // 2) if is_odd else [part] * power
        odd *= part ** (power % 2) if is_odd else 1
    found = [_from_tangents(ring, part, K, others) for part in (*even, odd)]
    found.append(Element(ring, {sum(low << EXPONENT_BITS * k for k, low in zip(others, lowest, strict=True)): 1.0}))
    for i, p in enumerate(K):  # of degree less than 2 K: zero where t is infinite
        missing = 2 * K[p] - whole.degree(i) - odd.degree(i) % 2
        found += [Element(ring, {1 << EXPONENT_BITS * p: 1.0, 0: 2.0, -(1 << EXPONENT_BITS * p): 1.0})] * (missing // 2)
    return found


def _product(first: Sequence[complex], m: int, second: Sequence[complex], n: int) -> list[complex]:
    """The coefficients of a^m b^n, of polynomials in one variable, lowest powers first."""
    found: list[complex] = [1]
    for factor in (*[first] * m, *[second] * n):
        found = [
            sum(factor[j] * found[k - j] for j in range(len(factor)) if 0 <= k - j < len(found))
            for k in range(len(found) + len(factor) - 1)
        ]
    return found


def _from_tangents(ring: Ring, part: sp.Poly, angles: Collection[int], others: Sequence[int]) -> Element:
    """A polynomial in tangents of half angles, times an even power of each cosine: t = -i (z - 1) / (z + 1)."""
    degrees = [part.degree(i) + part.degree(i) % 2 for i in range(len(angles))]
    terms: dict[int, complex] = {}
    for exponents, c in part.terms():
        rest = sum(e << EXPONENT_BITS * k for k, e in zip(others, exponents[len(angles) :], strict=True))
        powers = [_product((1j, -1j), m, (1, 1), N - m) for m, N in zip(exponents, degrees, strict=False)]
        for places in product(*map(range, map(len, powers))):
            shift = sum((k - N // 2) << EXPONENT_BITS * p for k, N, p in zip(places, degrees, angles, strict=True))
            value = int(c) * math.prod(row[k] for row, k in zip(powers, places, strict=True))
            terms[rest + shift] = terms.get(rest + shift, 0) + value
    return Element(ring, {m: value for m, value in terms.items() if value})


def _is_exact(c: complex) -> bool:
    c = complex(c)
    return all(abs(part * 64 - round(part * 64)) < ROUNDING for part in (c.real, c.imag))


def _real(x: Element) -> Element | None:
    """The real multiple of x by a power of z and a number: symmetric powers, conjugate coefficients."""
    ring = x.ring
    shift = 0
    for place in ring.exponentials.values():
        powers = [ring.exponent(m, place) for m in x.terms]
        if (min(powers) + max(powers)) % 2:
            return None
        shift += (min(powers) + max(powers)) // 2 << (EXPONENT_BITS * place)
    centered = {m - shift: complex(c) for m, c in x.terms.items()}
    digits = [ring.exponentials[a] for a in ring.exponentials]

    def mirror(monomial: int) -> int:
        exponents = ring.exponents(monomial)
        return monomial - sum(2 * exponents[k] << (EXPONENT_BITS * k) for k in digits)

    monomial = max(centered, key=lambda m: (abs(centered[m]), m))
    other = centered.get(mirror(monomial))
    if other is None:
        return None
    unit = cmath.sqrt(other.conjugate() / centered[monomial])
    unit /= abs(unit)
    scale = (0.5 if any(mirror(m) != m for m in centered) else 1.0) / min(map(abs, centered.values()))
    scaled = {m: c * unit * scale for m, c in centered.items()}
    for m, c in scaled.items():
        if abs(scaled.get(mirror(m), 0) - c.conjugate()) > 1e3 * ROUNDING * abs(c):
            return None
    cleaned = {
        m: complex(round(c.real * 1e12) / 1e12, round(c.imag * 1e12) / 1e12) if _is_exact(c) else c
        for m, c in scaled.items()
    }
    return Element(ring, {m: c if c.imag else c.real for m, c in cleaned.items()})
