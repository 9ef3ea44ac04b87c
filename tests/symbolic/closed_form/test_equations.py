"""Closed forms: against kernels, against the other way of deriving them, and against the printed page."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import sympy as sp
from tiers import with_slow
from trees import state, tree

import chainrule as cr

from .robots import ARMS, names

FLAT = ("revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "planar", "fixed")


# --- against kernels and each other ---


LONG_EQUATIONS = [("puma560", "symbolic"), ("puma560", "numeric"), ("stanford", "symbolic")]


@pytest.mark.parametrize(("name", "parameters"), with_slow(product(ARMS, ["symbolic", "numeric"]), *LONG_EQUATIONS))
def test_every_term_is_the_kernels(name, parameters):
    robot = cr.load(name)
    written = robot.equations(parameters)
    rng = np.random.default_rng(0)
    q, qd, qdd = robot.random_state(rng, (3,)), *rng.normal(size=(2, 3, robot.nv))
    terms = robot.torque_terms(q, qd, qdd)
    expected = {
        "M": robot.mass_matrix(q), "g": robot.gravity_torque(q), "centrifugal": terms["centrifugal"],
        "coriolis": terms["coriolis"], "c": terms["centrifugal"] + terms["coriolis"],
        "friction": robot.friction_torque(qd), "spring": robot.spring_torque(q),
        "tau": robot.inverse_dynamics(q, qd, qdd),
    }  # fmt: skip
    for term, value in expected.items():
        assert np.abs(written.lambdify(term)(q, qd, qdd) - value).max() < 1e-10 * (1 + np.abs(value).max()), term
    C = written.lambdify("C")(q, qd)
    assert np.abs((C @ qd[..., None])[..., 0] - expected["c"]).max() < 1e-10


@pytest.mark.parametrize("name", ARMS)
def test_lagrange_and_newton_and_euler_agree_exactly(name):
    assert cr.load(name).equations().disagreement() == [0] * cr.load(name).nv


@pytest.mark.parametrize("seed", range(3))
def test_any_tree_of_plain_joints_can_be_written(seed):
    robot = tree(seed, FLAT[:5], mimic=False).without_friction()
    written = robot.equations("numeric")
    q, qd, qdd = state(robot, seed)
    assert np.allclose(written.lambdify()(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), rtol=1e-8, atol=1e-8)


def test_what_rounding_leaves_is_not_written():
    assert cr.load("puma560").lock({"joint5": 0.3}).equations().g[0] == 0


def test_parameters_may_be_given_by_name():
    robot = cr.load("planar_2r")
    written = robot.equations({"m_1": 2.0, "L_2": "L_1", "g": 9.81})
    assert {str(s) for s in written.parameters} == {"m_2", "L_1"}
    (_, m2, L1), q, _, _ = names("m_1 m_2 L_1")
    assert (
        written.M[0, 1] == m2 * L1**2 * (sp.cos(q[1]) + 1)
        or sp.expand(written.M[0, 1] - m2 * L1**2 * (sp.cos(q[1]) + 1)) == 0
    )
    renamed = robot.equations({"L_2": "reach"})
    assert np.allclose(renamed.lambdify("M")([0.0, 0.0]), robot.mass_matrix([0.0, 0.0]))
    for wrong in (np.nan, "L_1 +", "q_1", "__import__('os')", None):
        with pytest.raises(cr.ShapeError, match="L_2"):
            robot.equations({"L_2": wrong})
    with pytest.raises(cr.UnknownNameError, match="m_2"):
        robot.equations({"m_3": 1.0})
    moved = robot.equations().lambdify("M", {"m_2": 3.0})([0.0, 0.0])
    assert moved.tolist() == [[13.0, 6.0], [6.0, 3.0]]
    with pytest.raises(cr.UnknownNameError):
        robot.equations().lambdify("M", {"mass": 3.0})


# --- the printed page ---


def test_the_planar_arm_of_the_notes_comes_out_as_printed():
    (m1, m2, L1, L2, g), q, qd, qdd = names("m_1 m_2 L_1 L_2 g")
    arm = cr.load("planar_2r").equations()
    assert arm.M[0, 0] == m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * sp.cos(q[1]) + L2**2)
    assert arm.M[0, 1] == arm.M[1, 0] == m2 * (L1 * L2 * sp.cos(q[1]) + L2**2)
    assert arm.M[1, 1] == m2 * L2**2
    assert sp.expand(arm.c[0] + m2 * L1 * L2 * sp.sin(q[1]) * (2 * qd[0] * qd[1] + qd[1] ** 2)) == 0
    assert arm.c[1] == m2 * L1 * L2 * qd[0] ** 2 * sp.sin(q[1])
    assert arm.g[0] == (m1 + m2) * L1 * g * sp.cos(q[0]) + m2 * g * L2 * sp.cos(q[0] + q[1])
    assert arm.g[1] == m2 * g * L2 * sp.cos(q[0] + q[1])
    assert sp.expand(arm.tau[1] - (arm.M[1, 0] * qdd[0] + arm.M[1, 1] * qdd[1] + arm.c[1] + arm.g[1])) == 0


# --- what cannot be written ---


def test_robots_without_a_closed_form_are_refused_with_a_way_out(monkeypatch):
    with pytest.raises(cr.ModelError, match="quaternion"):
        cr.load("quadruped").equations()
    with pytest.raises(cr.ModelError, match="without_constraint"):
        cr.load("four_bar").equations()
    with monkeypatch.context() as patched:
        patched.setattr("chainrule.symbolic.closed_form.matrices.MAX_MATRIX_TERMS", 10)
        with pytest.raises(cr.ModelError, match=r"intermediate|numeric"):
            cr.load("planar_3r").equations().C
    with pytest.raises(cr.ShapeError, match="numeric"):
        cr.load("planar_2r").equations("numbers")
    with pytest.raises(cr.UnknownNameError):
        cr.load("planar_2r").equations().term("K")
    with pytest.raises(cr.UnknownNameError):
        cr.load("planar_2r").kinematic_equations("nolink")
    with pytest.raises(cr.ShapeError, match="static_torque"):
        cr.load("planar_2r").equations().intermediate("static_torque")
    with pytest.raises(cr.ModelError, match="before in_base_parameters"):
        cr.load("planar_2r").equations().in_base_parameters().intermediate()
    with pytest.raises(cr.ModelError, match="no symbols"):
        cr.load("planar_2r").equations("numeric").in_base_parameters()
    with pytest.raises(cr.ModelError, match="determinant"):
        cr.load("panda").kinematic_equations().determinant
