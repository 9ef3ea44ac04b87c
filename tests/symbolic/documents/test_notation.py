"""Notations of textbooks: the formulas of the pages, one alphabet throughout, and the numbers unchanged."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import chainrule as cr
from chainrule.symbolic.derivations.derivation import METHODS
from chainrule.symbolic.documents.blocks import Equation, Formula
from chainrule.symbolic.documents.notation import NOTATIONS, Notation

ARM = cr.load("planar_2r").reference


@pytest.mark.parametrize(
    ("name", "formula", "expected"),
    [
        ("craig", r"R_i^T \omega_p + \hat{z}_i \dot{q}_i", r"{}^{i}_{p} R \, {}^{p}\omega_{p} + {}^{i}\hat{Z}_{i} \dot{q}_i"),
        ("craig", r"R_k f_k", r"{}^{i}_{k} R \, {}^{k}f_{k}"),
        ("craig", r"P_{Ci} \times F_{2}", r"{}^{i}P_{Ci} \times {}^{2}F_{2}"),
        ("craig", r"\omega_J + f_{\mathrm{ext},i} + m_i", r"\omega_J + f_{\mathrm{ext},i} + m_i"),
        ("craig", r"M \ddot{q} + C \dot{q} + g", r"M \ddot{q} + V + G"),
        ("lynch-park", r"\mathrm{ad}_{V_i}^T G_i V_i", r"\left[\mathrm{ad}_{\mathcal{V}_{i}}\right]^T \mathcal{G}_{i} \mathcal{V}_{i}"),
        ("lynch-park", r"F_{\mathrm{tip}}", r"\mathcal{F}_{\mathrm{tip}}"),
        ("duindam", r"\mathrm{Ad}_{T_{i,p}} V_p + A_i \dot{q}_i", r"\mathrm{Ad}_{H_{p}^{i}} \mathcal{V}_{p}^{p,s} + \mathcal{S}_{i}^{i,p} \dot{q}_i"),
        ("duindam", r"F_i^T A_i", r"\left(\mathcal{W}_{p}^{i,i}\right)^T \mathcal{S}_{i}^{i,p}"),
        ("duindam", r"\mathrm{Ad}_{2,1}", r"\mathrm{Ad}_{H_{1}^{2}}"),
        ("chainrule", r"R_i^T \omega_p", r"R_i^T \omega_p"),
    ],
)  # fmt: skip
def test_formulas_are_those_of_the_page(name, formula, expected):
    assert Notation(name, {"1": "0", "2": "1"}, has_twists=True).latex(formula) == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_derivation_has_one_alphabet_and_the_same_expressions(notation, method):
    written = ARM.derivation(method, notation=notation, coordinates="theta", tip_wrench=True)
    plain = ARM.derivation(method, tip_wrench=True)
    assert len(written.blocks) == len(plain.blocks)
    own = dict(zip(plain_symbols("q"), plain_symbols("theta"), strict=True))
    for block, other in zip(written.blocks, plain.blocks, strict=True):
        if isinstance(block, Equation):
            for side, house in zip(block.sides, other.sides, strict=True):
                if isinstance(side, Formula):
                    assert "q" not in side.latex.replace(r"\qquad", "").replace(r"\quad", "").replace(r"\sqrt", "")
                elif isinstance(house, (sp.Expr, sp.MatrixBase)):
                    difference = sp.Matrix([side - house.xreplace(own)]).expand()
                    assert difference.is_zero_matrix
    assert written.html().count("<math") == plain.html().count("<math")
    assert written.text()
    assert "begin{document}" in written.latex()


def plain_symbols(letter):
    return [sp.Symbol(f"{letter}{dots}_{k}", real=True) for dots in ("", "dot", "ddot") for k in (1, 2)]


def test_the_recursion_of_the_slides_of_each_author():
    craig = ARM.derivation("newton-euler", notation="craig", coordinates="theta").latex()
    assert r"{}^{i}_{p} R \, {}^{p}\omega_{p} + {}^{i}\hat{Z}_{i} \dot{\theta}_i" in craig
    assert r"{}^{i}F_{i} + \sum_k \, {}^{i}_{k} R \, {}^{k}f_{k}" in craig
    lynch = ARM.derivation("rnea", notation="lynch-park", coordinates="theta").latex()
    assert r"\left[\mathrm{Ad}_{T_{i,p}}\right] \mathcal{V}_{p} + \mathcal{A}_{i} \dot{\theta}_i" in lynch
    duindam = ARM.derivation("closed-form", notation="duindam").latex()
    assert r"\mathcal{L} \left(\dot{\mathcal{A}} \mathcal{V} + \mathcal{S} \ddot{q}" in duindam


def test_equations_have_the_letters_that_are_asked_for():
    e = ARM.equations(notation="craig", coordinates="theta")
    theta = sp.symbols("theta_1:3", real=True)
    m_2, L_1, L_2 = sp.symbols("m_2 L_1 L_2", positive=True)
    assert e.M[0, 1] == m_2 * (L_1 * L_2 * sp.cos(theta[1]) + L_2**2)
    assert not {s.name for s in e.accelerations.free_symbols} & {"q_1", "q_2", "qdot_1", "qdot_2"}
    assert "τ = M θ̈ + V + G" in e.document().text()
    assert "c₁₂" in e.document(shorthand=True).text()
    pose = ARM.kinematic_equations(notation="craig", coordinates="theta")
    assert pose.position[1] == L_1 * sp.sin(theta[0]) + L_2 * sp.sin(theta[0] + theta[1])
    assert "ₑ⁰T" in pose.document().text()
    assert "Hₑ⁰" in ARM.kinematic_equations(notation="duindam").document().text()
    mixed = ARM.equations(coordinates="theta", symbols={"q_2": "phi"})
    assert [s.name for s in mixed.qd] == ["thetadot_1", "phidot"]


def test_answers_are_compared_by_the_house_names_in_every_notation():
    document = ARM.derivation("newton-euler", notation="craig", coordinates="theta")
    rates = sp.symbols("thetadot_1:3")
    assert document.check("omega_2", [0, 0, rates[0] + rates[1]])
    assert not document.check("omega_2", [0, 0, rates[0] - rates[1]])


def test_plain_symbols_are_those_of_a_user():
    m_2, L_2 = sp.symbols("m_2 L_2")
    e = ARM.equations(positive=False, tip_wrench=True)
    assert e.M[1, 1] - m_2 * L_2**2 == 0
    assert all(not s.is_positive and s.is_real is None for s in e.tau.free_symbols | e.accelerations.free_symbols)
    assert np.allclose(e.lambdify("M")([0.1, 0.2]), ARM.mass_matrix([0.1, 0.2]))
    assert ARM.equations().M[1, 1].free_symbols == set(sp.symbols("m_2 L_2", positive=True))
    assert ARM.kinematic_equations(positive=False).position[0].free_symbols == set(sp.symbols("L_1 L_2 q_1 q_2"))
    assert ARM.derivation("rnea", positive=False).text()


def test_a_letter_of_a_table_keeps_its_meaning_beside_coordinates_of_the_same_name():
    table = [(0, 0, 0.3, 0.4, 0), (0.2, 0, 0, 0.5, 1)]
    robot = cr.Robot.from_dh([row[:4] for row in table], convention="standard", types="RP", check=False)
    names = [s.name for s in robot.kinematic_equations(coordinates="theta").parameters]
    assert "theta_2" not in names
    assert any(name.startswith("theta_2") for name in names)


def test_what_is_no_notation_is_refused():
    with pytest.raises(cr.UnknownNameError, match="craig"):
        ARM.equations(notation="graig")
    with pytest.raises(cr.UnknownNameError, match="craig"):
        ARM.derivation("rnea", notation="graig")
    for letter in ("", "2q", "th eta", r"\theta", 3):
        with pytest.raises(cr.ShapeError, match="letter"):
            ARM.equations(coordinates=letter)
