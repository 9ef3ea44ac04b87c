"""Expressions of SymPy as graphs of CasADi, with the same values."""

import casadi
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from chainrule.symbolic.algebra.translation import Translator

pytestmark = pytest.mark.interpreted


few = settings(max_examples=15)
SEEDS = st.integers(0, 10_000)
x, y = sp.symbols("x y")


@given(SEEDS)
@few
def test_translated_expressions_have_the_same_values(seed):
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(0.2, 0.9, 2)
    pieces = [
        x**3, x**-2, sp.sqrt(x), x**sp.Rational(-3, 2), x**y, sp.exp(x) + sp.log(y), sp.tan(x), sp.asin(x), sp.acos(x),
        sp.atan(x), sp.atan2(x, y), sp.sinh(x), sp.cosh(x), sp.tanh(x), sp.Abs(-x), sp.sign(x - y), sp.Max(x, y, 0.5),
        sp.Min(x, y), sp.Piecewise((x, x < y), (y, sp.And(x > y, y < 0.5)), (1, True)), sp.pi * x, x**12,
    ]  # fmt: skip
    symbols = {x: casadi.SX.sym("x"), y: casadi.SX.sym("y")}
    translate = Translator(symbols)
    graph = casadi.Function("f", list(symbols.values()), [casadi.vertcat(*map(translate, pieces))])
    expected = [float(piece.subs({x: u, y: v}).evalf()) for piece in pieces]
    assert_allclose(np.array(graph(u, v)).ravel(), expected, rtol=1e-12)
