"""Answers about derivations, Lagrangians and robots, in symbols and in numbers, and units of any expression."""

import numpy as np
import pytest
import sympy as sp

import chainrule as cr
from chainrule.symbolic import Lagrangian, PointMass, check_units
from chainrule.symbolic.answers.numbers import check_numbers

pytestmark = pytest.mark.interpreted

m, l, g, theta, thetadot = sp.symbols("m l g theta thetadot")
UNITS = {"m": "kg", "l": "m", "g": "m/s^2", "theta": "rad", "thetadot": "rad/s"}


def pendulum():
    return Lagrangian.of_bodies(theta, [PointMass(m, (l * sp.sin(theta), -l * sp.cos(theta)))], gravity=(0, -g))


def test_quantities_of_a_derivation_are_compared():
    derivation = cr.load("planar_2r").derivation("newton-euler")
    assert derivation.check("omega_2", r"\begin{bmatrix} 0 \\ 0 \\ \dot\theta_1 + \dot\theta_2 \end{bmatrix}")
    assert derivation.check(r"\dot{\omega}_{1}", [0, 0, sp.Symbol("ddq1")])
    found = derivation.check(
        "v_dot_1", [sp.Symbol("g") * sp.cos(sp.Symbol("q_1")), sp.Symbol("g") * sp.cos(sp.Symbol("q_1")), 0]
    )
    assert [d.kind for d in found.differences] == ["cosine for sine"]
    assert "[m/s^2]" in str(found)
    with pytest.raises(cr.ChainruleError, match="no quantity named"):
        derivation.check("omega_7", 0)
    assert derivation.with_style(shorthand=True).check("omega_1", [0, 0, sp.Symbol("dtheta_1")])


def test_terms_of_a_lagrangian_are_compared():
    system = pendulum()
    assert system.check("lagrangian", r"\frac{1}{2} m l^2 \dot\theta^2 + m g l \cos\theta")
    found = system.check("lagrangian", r"\frac{1}{2} m l^2 \dot\theta^2 - m g l \cos\theta", units=UNITS)
    assert [d.kind for d in found.differences] == ["sign"]
    assert "[N m]" in str(found)
    assert system.check("M", [[m * l**2]])
    assert not system.check("M", [[m * l]])
    assert system.derivation().check("K", m * l**2 * thetadot**2 / 2)
    with pytest.raises(cr.ChainruleError, match="no term named 'K'"):
        system.check("K", 0)


def test_units_of_a_lagrangian_are_checked():
    units = {"m": "kg", "l": "m", "g": "m/s^2"}
    report = pendulum().check_units(units)
    assert report.ok
    assert {row.unit for row in report.rows} == {"J", "N m"}
    wrong = Lagrangian([theta], m * l * thetadot**2 / 2, m * g * l * sp.sin(theta))
    assert [row.ok for row in wrong.check_units(units).rows] == [False, True, True]
    with pytest.raises(cr.ChainruleError, match="units of l are not given"):
        wrong.check_units({"m": "kg"})


def test_units_of_any_expression_are_checked():
    assert check_units(m * l**2 * thetadot**2 / 2, UNITS, "J").ok
    report = check_units(r"\frac12 m l^2 \dot\theta^2 + m g \cos\theta", UNITS)
    assert not report
    assert [row.ok for row in report.rows].count(False) == 1
    assert check_units(r"m_1 L_1^2 \ddot\theta_1", cr.load("pendulum").equations(), "N m").ok
    assert not check_units(r"m_1 L_1 \ddot\theta_1", cr.load("pendulum").equations(), "N m").ok
    assert not check_units(sp.sin(l), UNITS).ok
    with pytest.raises(cr.ChainruleError, match="not given"):
        check_units(sp.Symbol("x") * m, UNITS)


def test_a_robot_compares_terms_and_numbers():
    arm = cr.load("planar_2r")
    equations = arm.equations()
    assert arm.check(M=equations.M, g=equations.g)
    both = arm.check(M=2 * sp.Matrix(equations.M), g=equations.g)
    assert not both
    assert {d.entry[:1] for d in both.differences} == {"M"}
    q, qd, qdd = [0.4, -0.7], [1.0, 2.0], [0.5, -0.3]
    tau = arm.inverse_dynamics(q, qd, qdd)
    terms = arm.torque_terms(q, qd, qdd)
    assert arm.check(q=q, qd=qd, qdd=qdd, tau=tau.round(3))
    for term, kind in (("gravity", "missing term"), ("coriolis", "missing term"), ("inertial", "missing term")):
        found = arm.check(q=q, qd=qd, qdd=qdd, tau=tau - terms[term])
        assert [d.kind for d in found.differences] == [kind]
        assert term in str(found)
    assert "degrees" in str(arm.check(q=q, J=arm.jacobian(np.deg2rad(q))))
    assert "transpose" in str(arm.check(q=q, T=arm.pose(q).T))
    for wrong in ({}, {"nothing": 1}, {"tau": "x"}):
        with pytest.raises(cr.ChainruleError):
            arm.check(q=q, **wrong)
    with pytest.raises(cr.ChainruleError, match="one state"):
        arm.check(q=[q, q], tau=tau)


def test_numbers_are_right_to_three_digits_and_their_mistakes_named():
    right = np.array([12.3456, -0.5])
    assert check_numbers("x", right, [12.35, -0.5])
    assert not check_numbers("x", right, [12.5, -0.5])
    assert not check_numbers("x", right, [np.nan, -0.5])
    for factor, words in ((-1, "sign"), (2, "twice"), (0.5, "half"), (180 / np.pi, "degrees"), (1000, "millimetres")):
        assert words in str(check_numbers("x", right, factor * right))
        one = right.copy()
        one[0] *= factor
        assert words in str(check_numbers("x", right, one))
        assert "x[1]" in str(check_numbers("x", right, one))
    assert "metres for" not in str(check_numbers("x", right, [0.0, 0.0]))
    assert "1/1000" in str(check_numbers("x", right, right / 1000))
    with pytest.raises(cr.ChainruleError, match="shape"):
        check_numbers("x", right, [1.0])
