"""h and the accelerations M^-1 (tau - h) in closed form."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import chainrule as cr
from chainrule.symbolic.closed_form import matrices

from .robots import ARMS, random_tree

SHORT = [name for name in ARMS if name not in ("puma560", "stanford")]


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("parameters", ["symbolic", "numeric"])
def test_they_are_the_kernels(name, parameters):
    robot = cr.load(name)
    written = robot.equations(parameters)
    rng = np.random.default_rng(3)
    q, qd, tau = robot.random_state(rng, (4,)), *rng.normal(size=(2, 4, robot.nv))
    assert np.allclose(written.lambdify("h")(q, qd), robot.bias(q, qd), rtol=1e-9, atol=1e-9)
    found = written.lambdify("accelerations")(q, qd, tau)
    assert np.allclose(found, robot.forward_dynamics(q, qd, tau), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_of_random_trees_with_wrenches_they_are_the_kernels(seed):
    robot = random_tree(seed)
    robot = robot.with_end_effector(robot.model.tips[-1])
    links = robot.link_names[1:]
    written = robot.equations("numeric", tip_wrench=True, external=True)
    rng = np.random.default_rng(seed)
    q, qd, tau = rng.normal(size=(3, robot.nv))
    wrenches = rng.normal(size=(1 + len(links), 6))
    acting = {"tip_wrench": wrenches[0], "external": dict(zip(links, wrenches[1:], strict=True))}
    for name, state, expected in (
        ("accelerations", (q, qd, tau), robot.forward_dynamics(q, qd, tau, **acting)),
        ("tau", (q, qd, tau), robot.inverse_dynamics(q, qd, tau, **acting)),
    ):
        found = written.lambdify(name)(*state, wrench=wrenches.ravel())
        assert np.allclose(found, expected, rtol=1e-7, atol=1e-7), name


def test_the_planar_arm_of_the_notes_written_out_by_hand():
    m1, m2, L1, L2, g = sp.symbols("m_1 m_2 L_1 L_2 g", positive=True)
    q1, q2, v1, v2, t1, t2 = sp.symbols("q_1 q_2 qdot_1 qdot_2 tau_1 tau_2", real=True)
    c2, s2 = sp.cos(q2), sp.sin(q2)
    a, b, d = m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * c2 + L2**2), m2 * (L1 * L2 * c2 + L2**2), m2 * L2**2
    h1 = -m2 * L1 * L2 * s2 * (2 * v1 * v2 + v2**2) + (m1 + m2) * L1 * g * sp.cos(q1) + m2 * g * L2 * sp.cos(q1 + q2)
    h2 = m2 * L1 * L2 * v1**2 * s2 + m2 * g * L2 * sp.cos(q1 + q2)
    below = m2 * L1**2 * L2**2 * (m1 + m2 * s2**2)
    by_hand = [(d * (t1 - h1) - b * (t2 - h2)) / below, (a * (t2 - h2) - b * (t1 - h1)) / below]
    arm = cr.load("planar_2r").equations()
    assert [sp.expand(x - y) for x, y in zip(arm.h, (h1, h2), strict=True)] == [0, 0]
    for found, expected in zip(arm.accelerations, by_hand, strict=True):
        assert sp.simplify(sp.expand_trig(found - expected)) == 0
        assert m2 not in sp.denom(arm.accelerations[0]).free_symbols - {m2}  # shared factors are gone
    assert sp.denom(arm.accelerations[0]).subs({L1: 1, L2: 1, m1: 1, m2: 0}) == 1


def test_joints_without_shared_inertia_are_solved_one_by_one():
    lift = cr.load("scara").without_friction().equations()
    vertical = [i for i in range(4) if lift.M[i, i].free_symbols == lift.M[2, 2].free_symbols]
    assert vertical == [2]
    assert sum(str(s).startswith("tau_") for s in lift.accelerations[2].free_symbols) == 1


def test_springs_friction_and_rotors_are_in_them():
    robot = cr.load("planar_rp").edit(
        joints={"*": {"viscous": 0.3, "coulomb": 0.2, "stiffness": 2.0, "rotor": 0.1, "gear": 2.0}}
    )
    q, qd, tau = [0.3, 0.5], [0.7, -0.4], [1.0, 2.0]
    for written in (robot.equations(), robot.equations().in_base_parameters()):
        assert np.allclose(written.lambdify("accelerations")(q, qd, tau), robot.forward_dynamics(q, qd, tau))
        assert np.allclose(written.lambdify("h")(q, qd), robot.bias(q, qd))


def test_they_are_printed_and_written_in_every_form():
    arm = cr.load("pendulum").equations()
    assert "ddot" not in str(arm.accelerations)
    assert "tau_1" in str(arm.accelerations)
    assert r"\frac{" in arm.latex("accelerations")
    assert "mfrac" in arm.mathml("accelerations")
    assert "τ₁" in arm.pretty("accelerations")
    document = arm.document(terms=["h", "accelerations"])
    assert "q̈ = M⁻¹ (τ \u2212 h)" in document.text()
    assert r"\ddot{q}" in document.latex()
    assert document.html().count("<math") > 2
    code = arm.source_code("c", ["accelerations"])
    assert "const double tau[1]" in code
    assert "forward_dynamics[0]" in str(arm.intermediate("forward_dynamics"))
    with pytest.raises(cr.UnknownNameError, match="accelerations"):
        arm.document(terms=["acceleration"])
    with pytest.raises(cr.ShapeError, match="list"):
        arm.document(terms="h")


def test_a_long_inverse_is_refused_at_once_with_a_way_out():
    for name in ("puma560", "stanford"):
        with pytest.raises(cr.ModelError, match=r'intermediate\("forward_dynamics"\)'):
            cr.load(name).equations("numeric").accelerations


def test_a_singular_mass_matrix_has_none():
    robot = cr.load("planar_2r").edit(links={"link2": {"mass": 0.0}})
    with pytest.raises(cr.ModelError, match="singular"):
        robot.equations().accelerations


def test_wrenches_have_readable_names_and_are_refused_by_reason():
    arm = cr.load("planar_2r")
    written = arm.equations(tip_wrench=[0, 0, 1, 2, 0, 0], external=["link1"], frame="body")
    assert [str(x) for x in written.wrench] == [
        "m_z", "f_x", "m_e1x", "m_e1y", "m_e1z", "f_e1x", "f_e1y", "f_e1z"
    ]  # fmt: skip
    assert written.symbols.entry("f_e1y").meaning == "force on link link1 along y, body axes"
    assert "W" in written.document().text()
    assert arm.equations(tip_wrench="space").wrenches[0].frame == "space"
    assert arm.equations(tip_wrench=False, external=None).external == sp.zeros(2, 1)
    for options, error, words in (
        ({"tip_wrench": "hand"}, cr.UnknownNameError, "hand"), ({"tip_wrench": [1, 2, 3]}, cr.ShapeError, "6"),
        ({"external": ["nolink"]}, cr.UnknownNameError, "nolink"), ({"external": 3.0}, cr.ShapeError, "external"),
        ({"tip_wrench": "body", "frame": "world"}, cr.ShapeError, "contradict"),
        ({"external": {"link1": [np.nan] * 6}}, cr.ShapeError, "finite"),
        ({"external": True, "frame": "hand"}, cr.UnknownNameError, "hand"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            arm.equations(**options)
    with pytest.raises(cr.ShapeError, match="m_z"):
        _ = arm.equations(symbols={"L_1": "m_z"}, tip_wrench=True).symbols


def test_the_limits_of_the_inverse_hold(monkeypatch):
    monkeypatch.setattr("chainrule.symbolic.closed_form.accelerations.MAX_TERMS", 3)
    with pytest.raises(cr.ModelError, match="terms in the inverse"):
        cr.load("planar_2r").equations().accelerations
    assert matrices.MAX_MATRIX_TERMS > 3
