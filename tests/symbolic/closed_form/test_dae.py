"""The parent-child DAE in symbols: the numbers of robot.dae, and M and h where it is reduced."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.symbolic.derivations.derivation import derivation as derive
from chainrule.symbolic.documents.blocks import Equation, Formula

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("name", ["planar_2r", "planar_rp"])
def test_with_numbers_it_is_the_system_of_the_robot(name):
    robot = cr.load(name).without_friction().reference
    q, qd, tau = np.array([0.3, 0.4]), np.array([1.0, -0.5]), np.array([2.0, 1.0])
    symbols, numbers = robot.textbook.dae_equations(), robot.textbook.dae(q, qd, tau)
    values = dict(symbols.symbolic.parameters)
    values |= dict(zip([*symbols.symbolic.q, *symbols.symbolic.qd, *symbols.tau], [*q, *qd, *tau], strict=True))
    matrix, rhs = (np.array(m.subs(values), dtype=float) for m in (symbols.matrix, symbols.rhs))
    assert_allclose(matrix, numbers.matrix.toarray(), atol=1e-12)
    assert_allclose(rhs.ravel(), numbers.rhs, atol=1e-12)
    assert [b.name for b in symbols.columns] == [b.name for b in numbers.columns]
    solution = np.linalg.solve(matrix, rhs.ravel())
    assert_allclose(solution[-2:], robot.forward_dynamics(q, qd, tau), atol=1e-10)
    block = symbols.block("joint joint2", "dV link1") if name == "planar_2r" else sp.eye(1)
    assert block == sp.eye(1) or block[4, 2] == -sp.Symbol("L_1", positive=True) * sp.cos(symbols.symbolic.q[1])


def test_reduced_it_is_the_mass_matrix_of_the_notes():
    arm = cr.load("planar_2r").reference
    found, closed = arm.textbook.dae_equations(), arm.equations()
    steps = found.reduced
    assert sp.simplify(steps.M - closed.M) == sp.zeros(2, 2)
    assert sp.simplify(steps.L * (sp.eye(12) - steps.A)) == sp.eye(12)
    assert sp.simplify(steps.J - steps.L * steps.S) == sp.zeros(12, 2)
    h = closed.tau.subs(dict.fromkeys(closed.qdd, 0))
    assert sp.simplify(steps.h - h) == sp.zeros(2, 1)
    assert repr(found) == "<DAE of 'planar_2r' in symbols: 26 equations, 72 entries>"
    assert sp.Eq(sp.Symbol("W_2mz", real=True), sp.Symbol("tau_2", real=True)) in found.equations


def test_rotors_and_springs_are_in_the_reduced_equations():
    arm = cr.load("pendulum").edit(
        joints={"*": {"rotor": 0.1, "gear": 2.0, "stiffness": 3.0, "rest": 0.2, "viscous": 0.5}}
    )
    steps = arm.reference.textbook.dae_equations("numeric").reduced  # checked against mass_matrix and bias
    assert float(steps.M[0]) == pytest.approx(1.0 + 2.0**2 * 0.1)
    document = derive(arm.reference, "dae", parameters="numeric")
    formulas = [
        side.latex for b in document.blocks if isinstance(b, Equation) for side in b.sides if isinstance(side, Formula)
    ]
    assert "J^T G J + M_r" in formulas
    assert any("tau_s" in formula for formula in formulas)


def test_the_derivation_shows_index_and_elimination():
    text = str(cr.load("planar_rp").reference.derivation("dae"))
    assert "From the DAE to the ODE" in text
    assert "index 2" in text
    assert "of index 1" in text
    assert "torque joint2" in text


def test_what_it_cannot_do_is_refused():
    with pytest.raises(cr.ModelError, match="a DAE in symbols is written for 1 to 4"):
        cr.load("puma560").textbook.dae_equations()
    with pytest.raises(cr.ModelError, match="has loops"):
        cr.load("four_bar").textbook.dae_equations()
    with pytest.raises(cr.UnknownNameError, match="no block named 'joint 2'"):
        cr.load("pendulum").textbook.dae_equations().block("joint 2", "nothing")
