"""The stacked matrices in symbols: those of the lecture, the numbers of the library, and the view in blocks."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import chainrule as cr
from symbolic.derivations.test_derivation import state_of, value

NAMES = ("S", "A", "A_dot", "L", "J", "inertia", "ad_V", "M", "C", "g", "V", "V_dot_0")


@pytest.mark.parametrize("name", ["planar_2r", "planar_rp", "cartesian_3p"])
def test_every_matrix_is_that_of_the_library_in_numbers(name):
    robot = cr.load(name).reference
    state = state_of(robot)
    form, numbers = robot.equations().matrix_form, robot.textbook.matrix_form(*state[:2])
    for matrix in NAMES:
        found = value(robot, getattr(form, matrix), state)
        assert_allclose(found, np.ravel(getattr(numbers, matrix)), atol=1e-12, err_msg=matrix)


def test_they_obey_the_equations_of_the_lecture():
    """Lecture 15 of SCE 594: L = (1 - A)^-1, J = L S, M = J^T I J, C = J^T I L dA/dt J - J^T ad_V^T I J."""
    e = cr.load("planar_rp").reference.equations()
    form, q, qd = e.matrix_form, sp.Matrix(e.q), sp.Matrix(e.qd)
    rate = sum((form.A.diff(x) * v for x, v in zip(q, qd, strict=True)), start=sp.zeros(12))

    def same(a, b):
        return (sp.Matrix(a) - sp.Matrix(b)).applyfunc(lambda x: sp.simplify(sp.expand_trig(x))).is_zero_matrix

    assert same((sp.eye(12) - form.A) * form.L, sp.eye(12))
    assert same(form.L * form.S, form.J)
    assert same(rate, form.A_dot)
    assert same(form.J * qd, form.V)
    J, G = form.J, form.inertia
    assert same(J.T * G * J, form.M)
    assert same(J.T * G * form.L * form.A_dot * J - J.T * form.ad_V.T * G * J, form.C)
    assert same(J.T * G * form.L * form.V_dot_0, form.g)
    assert same(form.C * qd, e.c)


def test_the_view_in_blocks_is_printed_in_every_form_and_notation():
    form = cr.load("planar_2r").reference.equations(notation="duindam", coordinates="theta").matrix_form
    assert r"\mathcal{L}" in form.document().latex()
    assert "q" not in {s.name[0] for s in form.J.free_symbols | form.C.free_symbols}
    assert form._repr_html_().count("<math") > 10
    assert form._repr_latex_().startswith("$")
    assert "2 links" in repr(form)
    house = cr.load("planar_2r").reference.equations().matrix_form
    assert "A = [0, 0; Ad_(2,1), 0]" in str(house)
    assert house.block("A", 2, 1) == house.block("L", 2, 1)


def test_what_nobody_can_read_is_refused():
    with pytest.raises(cr.ModelError, match="matrix_form"):
        _ = cr.load("puma560").equations().matrix_form
