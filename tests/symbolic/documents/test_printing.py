"""Printing of expressions: the order of a textbook, short names, short numbers."""

import numpy as np
import pytest
import sympy as sp

import chainrule as cr
from chainrule.symbolic.closed_form.equations import equations
from chainrule.symbolic.derivations.derivation import derivation as derive
from chainrule.symbolic.documents.printing import (
    Style,
    abbreviate,
    arrange,
    definitions,
    latex,
    pretty,
    round_digits,
)

pytestmark = pytest.mark.interpreted


q1, q2, q12 = sp.symbols("q_1 q_2 q_12")


def test_factors_and_terms_come_in_the_order_of_a_textbook():
    m, L, g, qd, qdd = sp.symbols("m_2 L_1 g qdot_1 qddot_1")
    assert latex(g * sp.cos(q1) * L * m * 2) == r"2 m_{2} L_{1} g \cos{\left(q_{1} \right)}"
    assert (
        latex(g * m + m * qd**2 * L + m * qdd * L)
        == r"m_{2} L_{1} \ddot{q}_{1} + m_{2} L_{1} \dot{q}_{1}^{2} + m_{2} g"
    )
    assert latex(-m * L / 2) == r"- \frac{m_{2} L_{1}}{2}"
    assert pretty(m * g) == "m₂⋅g"


def test_arranging_changes_no_value():
    rng = np.random.default_rng(5)
    scara = equations(cr.load("scara"))
    for entry in (*scara.M, *scara.c, *scara.tau):
        numbers = {s: rng.normal() for s in entry.free_symbols}
        assert float(arrange(entry, Style(digits=17)).subs(numbers)) == pytest.approx(
            float(entry.subs(numbers)), rel=1e-12
        )


def test_short_names_stand_for_sums_of_coordinates_only():
    assert str(abbreviate(sp.cos(q1 + q2))) == "c_12"
    assert str(abbreviate(sp.sin(q1 - q2) * sp.cos(2 * q1))) == "s_1-2*cos(2*q_1)"
    assert latex(sp.cos(q1 + q12), Style(shorthand=True)) == "c_{1,12}"
    assert str(abbreviate(sp.Symbol("c_1") * sp.cos(q1))) == "C_1*c_1"
    assert abbreviate(sp.cos(q1) * sp.cos(q2), [q1]) == sp.Symbol("c_1", real=True) * sp.cos(q2)
    assert definitions([sp.Matrix([sp.cos(q1)])]) == [(sp.Symbol("c_1", real=True), sp.cos(q1))]
    document = derive(cr.load("planar_2r"), "lagrange").with_style(shorthand=True)
    assert "c_{12}" in document.latex()
    assert "\\cos" not in document.latex()


def test_decimals_are_short():
    assert latex(sp.Float(0.1) + sp.Float(0.2)) == "0.3"
    assert latex(sp.Float(2.0) * q1) == "2 q_{1}"
    assert latex(sp.Float(1) / 3, Style(digits=3)) == "0.333"
    assert round_digits(1e20) == sp.Float("1e+20")
