"""Formulas in LaTeX, read and written as MathML and plain text."""

import pytest
import sympy as sp
from lxml import etree

from chainrule.symbolic.documents.formula import FormulaError, parse
from chainrule.symbolic.documents.mathml import mathml
from chainrule.symbolic.documents.plain_text import line
from chainrule.symbolic.documents.printing import latex

pytestmark = pytest.mark.interpreted


q1, q2 = sp.symbols("q_1 q_2")


def test_mathml_and_plain_text_of_all_that_is_printed():
    cases = sp.Piecewise((q1, q1 > 0), (-q2, q1 < 0), (0, True))
    for expression in (
        cases,
        sp.sqrt(q1) / q2,
        sp.sign(q1),
        sp.Matrix([[q1, 1e-9], [sp.sin(q2) ** 2, q1 / 3]]),
        sp.pi * q1,
    ):
        etree.fromstring(mathml(latex(expression)))
        assert line(latex(expression))
    assert line(r"\frac{\mathrm{d}}{\mathrm{d} t} \frac{\partial L}{\partial \dot{q}_{1}}") == "d/dt ∂L/∂q̇₁"
    assert line(latex(sp.sin(q2) ** 2 * q1)) == "q₁ sin²(q₂)"


@pytest.mark.parametrize(
    "formula", [r"\unknown{x}", "{x", "x}", r"\left(x", r"\begin{tabular}x\end{tabular}", r"\frac{1}"]
)
def test_formulas_that_cannot_be_read_are_refused(formula):
    with pytest.raises(FormulaError):
        parse(formula)
