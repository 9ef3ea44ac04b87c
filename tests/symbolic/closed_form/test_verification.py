"""Closed forms check themselves: one that disagrees with the robot's functions is not handed out."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import chainrule as cr
from chainrule.core.reading import find_link
from chainrule.errors import ChainruleError
from chainrule.symbolic.algebra.evaluation import evaluate
from chainrule.symbolic.closed_form import kinematics
from chainrule.symbolic.closed_form.equations import Equations
from chainrule.symbolic.closed_form.verification import EXPECTED
from chainrule.symbolic.source_code import exports

pytestmark = pytest.mark.interpreted


def with_wrong_number(symbolic, name):
    """A symbolic model in which one symbol has a wrong number, as if two numbers shared its name."""
    return replace(symbolic, parameters={s: v + 0.1 * (str(s) == name) for s, v in symbolic.parameters.items()})


@pytest.mark.parametrize("term", EXPECTED)
def test_a_wrong_term_is_refused(term):
    robot = cr.load("planar_2r").edit(joints={"*": {"stiffness": 3.0, "viscous": 0.1}})
    name = {"spring": "k_1", "friction": "b_1"}.get(term, "L_1")
    wrong = Equations(robot, with_wrong_number(robot.equations().symbolic, name))
    first = {"tau": "M", "h": "c", "accelerations": "c"}.get(term, term)  # of several terms, the first that is wrong
    with pytest.raises(ChainruleError, match=rf"closed form of {first} of robot 'planar_2r' gives .* report it"):
        getattr(wrong, term)


def test_wrong_kinematics_and_intermediate_variables_are_refused():
    robot = cr.load("planar_2r")
    symbolic = with_wrong_number(robot.equations().symbolic, "L_1")
    wrong = kinematics.KinematicEquations(robot, symbolic, find_link(robot), "world")
    for attribute in ("T", "J", "determinant"):
        with pytest.raises(ChainruleError, match="report it"):
            getattr(wrong, attribute)
    with pytest.raises(ChainruleError, match="report it"):
        Equations(robot, symbolic).intermediate("mass_matrix")


def test_wrong_common_subexpressions_are_refused(monkeypatch):
    real = sp.cse
    monkeypatch.setattr(exports.sp, "cse", lambda m, **o: (real(m, **o)[0], [2 * real(m, **o)[1][0]]))
    x = sp.Symbol("x")
    with pytest.raises(ChainruleError, match="source code of 'f' differs"):
        exports.export({"f": sp.Matrix([x, sp.sin(x)])}, "numpy", arguments={"q": [x]})


def test_numbers_of_expressions():
    x, y = sp.symbols("x y")
    cases = sp.Piecewise((x, x > 0), (-y, x < 0), (0, True))
    rows = [x**2 - y, x / y, sp.sqrt(y), sp.sign(x), cases, sp.Rational(1, 3) + sp.sin(x) * sp.cos(y)]
    at = {x: np.array([2.0, -1.0, 0.0]), y: np.array([3.0, 4.0, 5.0])}
    values, sizes = evaluate(rows, at, 3)
    expected = sp.lambdify([x, y], rows, "numpy")
    for k in range(3):
        np.testing.assert_allclose(values[k], [float(v) for v in expected(at[x][k], at[y][k])], rtol=1e-14)
    assert (sizes >= np.abs(values) - 1e-15).all()
