"""Factors of trigonometric polynomials."""

import pytest
import sympy as sp

from chainrule.symbolic.algebra.factors import factors
from chainrule.symbolic.algebra.ring import Ring, contract

pytestmark = pytest.mark.interpreted


a, b, c = sp.symbols("a b c", real=True)


def test_products_are_found_again():
    ring = Ring([a, b])
    whole = ring.of(sp.expand(3 * sp.sin(a) * sp.cos(b) * (c * sp.cos(a) + 2 * sp.sin(a + b))))
    found = [factor.sympy() for factor in factors(whole)]
    assert sp.sin(a) in found
    assert sp.cos(b) in found
    assert contract(sp.Mul(*found) - whole.sympy(), [a, b]) == 0
