"""Factors of a trigonometric polynomial.

In powers of z = e^(i q) it factors like any polynomial. A factor in one angle alone is found by comparing the
coefficients of the powers of its z. SymPy factors the rest over the Gaussian numbers, if the rest is small.
"""

from __future__ import annotations

import cmath
from typing import Any

import sympy as sp

from chainrule.symbolic.algebra.ring import EXPONENT_BITS, ROUNDING, Element

MAX_SYMPY_TERMS = 24
"""Terms of a polynomial up to which SymPy factors it."""


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
    product: Any = x.ring.constant(1)
    for factor in own:
        product = product * factor
    monomial = max(x.terms, key=lambda m: abs(x.terms[m]))
    other = product.terms.get(monomial, 0)
    return x.ring.constant((x.terms[monomial] / other).real if other else 1.0)


def _by_power(x: Element, place: int) -> dict[int, dict[int, complex]]:
    """The coefficients of each power of one z, given by its digit."""
    rows: dict[int, dict[int, complex]] = {}
    for monomial, c in x.terms.items():
        power = x.ring.exponents(monomial)[place]
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
    """The factors that SymPy finds, for few terms and exact coefficients."""
    ring = x.ring
    places = [p for p in ring.exponentials.values() if any(ring.exponents(m)[p] for m in x.terms)]
    if len(places) < 1 or len(x.terms) > max_terms or not all(_is_exact(c) for c in x.terms.values()):
        return [x]
    z = {p: sp.Symbol(f"z{p}") for p in places}
    lowest = {p: min(ring.exponents(m)[p] for m in x.terms) for p in places}
    symbols = {place: symbol for symbol, place in ring.digits.items()}
    total = []
    for monomial, c in x.terms.items():
        exponents = ring.exponents(monomial)
        powers = [z[p] ** (exponents[p] - lowest[p]) for p in places]
        powers += [symbols[k] ** e for k, e in enumerate(exponents) if e and k in symbols]
        total.append(sp.Mul(sp.nsimplify(c.real) + sp.I * sp.nsimplify(complex(c).imag), *powers))
    number, parts = sp.factor_list(sp.Add(*total), gaussian=True)
    found = [ring.constant(complex(number))]
    back = {symbol: p for p, symbol in z.items()}
    for part, power in parts:
        element = _element(ring, part, back)
        found += [element] * int(power)
    return found


def _element(ring: Any, polynomial: sp.Expr, places: dict[sp.Symbol, int]) -> Element:
    total = ring.constant(0)
    for term in sp.Add.make_args(sp.expand(polynomial)):
        c, powers = term.as_coeff_Mul()
        piece = ring.constant(complex(c))
        for factor in sp.Mul.make_args(powers):
            base, exponent = factor.as_base_exp()
            if factor == sp.I:
                piece = piece * 1j
            elif base in places:
                piece = piece * Element(ring, {int(exponent) << (EXPONENT_BITS * places[base]): 1.0})
            elif base != 1:
                piece = piece * ring.variable(base) ** int(exponent)
        total = total + piece
    return total


def _is_exact(c: complex) -> bool:
    c = complex(c)
    return all(abs(part * 64 - round(part * 64)) < ROUNDING for part in (c.real, c.imag))


def _real(x: Element) -> Element | None:
    """The real multiple of x by a power of z and a number: symmetric powers, conjugate coefficients."""
    ring = x.ring
    shift = 0
    for place in ring.exponentials.values():
        powers = [ring.exponents(m)[place] for m in x.terms]
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
