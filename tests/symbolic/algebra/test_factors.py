"""Factors of trigonometric polynomials."""

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.symbolic.algebra.factors import factors
from chainrule.symbolic.algebra.ring import Ring, contract

pytestmark = pytest.mark.interpreted


a, b, c, d = sp.symbols("a b c d", real=True)


def test_products_are_found_again():
    ring = Ring([a, b])
    whole = ring.of(sp.expand(3 * sp.sin(a) * sp.cos(b) * (c * sp.cos(a) + 2 * sp.sin(a + b))))
    found = [factor.sympy() for factor in factors(whole)]
    assert sp.sin(a) in found
    assert sp.cos(b) in found
    assert contract(sp.Mul(*found) - whole.sympy(), [a, b]) == 0


@pytest.mark.parametrize(
    "whole",
    [
        (c * sp.cos(a) + sp.sin(a) + d) * (c * d * sp.sin(a) + c**2 * sp.cos(a) - d**2),  # in one angle, of lengths
        (1 - sp.cos(a)) * (1 + sp.cos(b)) * (sp.cos(a) + sp.cos(b)),  # squares of half angles
        (1 + sp.sin(a)) * (c + sp.sin(a + b)) * c**2,
        c * d * (c + sp.sin(a)) ** 2 * (d + sp.cos(a)),
    ],
)
def test_factors_in_the_same_angle_are_found(whole):
    ring = Ring([a, b])
    element = ring.of(sp.expand(whole))
    found = [factor.sympy() for factor in factors(element)]
    wanted = [base for base, _ in (part.as_base_exp() for part in sp.Mul.make_args(whole)) if base.has(a, b)]
    for one in wanted:
        assert any(contract(one - scale * other, [a, b]) == 0 for other in found for scale in (1, -1)), (one, found)
    assert contract(sp.Mul(*found) - whole, [a, b]) == 0


TERM = st.sampled_from([1, c, sp.sin(a), sp.cos(a), sp.sin(b), c * sp.cos(b), sp.sin(a + b), d * sp.cos(a - b), d])


@given(st.lists(st.lists(st.tuples(TERM, st.integers(-3, 3)), min_size=1, max_size=3), min_size=1, max_size=3))
@settings(max_examples=60)
def test_the_product_of_the_factors_is_the_whole(parts):
    whole = sp.expand(sp.Mul(*(sp.Add(*(number * term for term, number in part)) for part in parts)))
    element = Ring([a, b]).of(whole)
    if not isinstance(element, sp.Expr) and element.prune().terms:
        product = sp.Mul(*(factor.sympy() for factor in factors(element)))
        values = {a: 0.3, b: 1.1, c: 0.7, d: 1.9}
        assert float(product.subs(values)) == pytest.approx(float(whole.subs(values)), abs=1e-9)
