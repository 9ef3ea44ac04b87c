"""Trigonometric polynomials: one form for each, and the same value."""

import pytest
import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.symbolic.algebra.ring import Ring, contract

pytestmark = pytest.mark.interpreted


a, b, c = sp.symbols("a b c", real=True)
ATOMS = (
    sp.sin(a),
    sp.cos(a),
    sp.sin(b),
    sp.cos(b),
    sp.sin(a + b),
    sp.cos(2 * a - b),
    c,
    a,
    sp.Rational(1, 2),
    sp.Integer(3),
)


@example([[sp.sin(a), sp.cos(b), sp.sin(a + b), sp.Rational(1, 2)]])
@given(st.lists(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4), min_size=1, max_size=5))
@settings(max_examples=100)
def test_contraction_changes_the_form_and_not_the_value(products):
    expression = sp.Add(*(sp.Mul(*factors_) for factors_ in products))
    numbers = {a: 0.7, b: -1.3, c: 2.1}
    for groups in ((), ([a], [b])):
        short = contract(expression, [a, b], groups)
        assert float(short.subs(numbers)) == pytest.approx(float(expression.subs(numbers)), abs=1e-10)
        assert sp.expand(contract(short, [a, b], groups) - short) == 0


def test_equal_expressions_have_one_form():
    assert contract(sp.cos(a) * sp.cos(b) - sp.sin(a) * sp.sin(b), [a, b]) == sp.cos(a + b)
    assert contract(sp.sin(a) ** 2 + sp.cos(a) ** 2, [a]) == 1
    assert contract(c * sp.cos(a) ** 2, [a]) == c * sp.cos(a) ** 2
    assert contract(sp.sin(a) * sp.cos(b), [a, b], [[a], [b]]) == sp.sin(a) * sp.cos(b)
    ring = Ring([a, b])
    left = ring.of(sp.sin(2 * a))
    assert left == ring.of(2 * sp.sin(a) * sp.cos(a))
    assert left.derivative(a).sympy() == 2 * sp.cos(2 * a)


@pytest.mark.parametrize(
    "expression", [sp.exp(a), 1 / sp.cos(a), sp.sin(a * b), sp.sin(sp.sin(a)), sp.sqrt(1 + sp.cos(a))]
)
def test_what_is_no_trigonometric_polynomial_is_refused(expression):
    with pytest.raises(cr.ModelError):
        contract(expression, [a, b])
