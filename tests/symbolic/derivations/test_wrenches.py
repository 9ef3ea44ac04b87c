"""Wrenches at the tip and on links in derivations and in the DAE, against the functions in numbers."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.symbolic.derivations.derivation import METHODS
from chainrule.symbolic.derivations.derivation import derivation as derive
from symbolic.closed_form.robots import random_tree
from symbolic.derivations.test_derivation import named, state_of, value

WRENCH = ("m_x", "m_y", "m_z", "f_x", "f_y", "f_z")
DYNAMIC = [name for name, method in METHODS.items() if method.has_masses]


def wrench_values(text, numbers):
    return {sp.Symbol(name.format(text), real=True): x for name, x in zip(
        ("m_{}x", "m_{}y", "m_{}z", "f_{}x", "f_{}y", "f_{}z"), numbers, strict=True)}  # fmt: skip


@pytest.mark.parametrize("frame", ["world", "body", "space"])
@pytest.mark.parametrize("name", ["planar_2r", "planar_rp", "cartesian_3p"])
def test_every_backward_step_has_them(name, frame):
    robot = cr.load(name).reference
    state, rng = state_of(robot), np.random.default_rng(8)
    link = robot.link_names[1]
    tip, on_link = rng.normal(size=(2, 6))
    loads = {"tip_wrench": tip, "external": {link: on_link}, "frame": frame}
    numbers = robot.equations().parameters | wrench_values("", tip) | wrench_values("e1", on_link)
    twists, vectors = robot.textbook.rnea_table(*state, **loads), robot.textbook.newton_euler_table(*state, **loads)
    rnea = named(derive(robot, "rnea", tip_wrench=True, external=[link], frame=frame))
    newton = named(derive(robot, "newton-euler", tip_wrench=True, external=[link], frame=frame))
    for i in range(robot.nv):
        assert_allclose(value(robot, rnea[f"F_{{{i + 1}}}"], state, numbers), twists.F[i], atol=1e-9)
        assert_allclose(value(robot, newton[f"f_{{{i + 1}}}"], state, numbers), vectors.f[i], atol=1e-9)
        assert_allclose(value(robot, newton[f"n_{{{i + 1}}}"], state, numbers), vectors.n[i], atol=1e-9)
    found = [value(robot, rnea[f"\\tau_{{{i + 1}}}"], state, numbers)[0] for i in range(robot.nv)]
    assert_allclose(found, robot.inverse_dynamics(*state, **loads), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [1, 3])
def test_trees_are_derived_with_wrenches_on_all_links_and_numbers_that_agree(seed, method):
    """A derivation compares all of its numbers with the kernels, and is refused where they differ."""
    robot = random_tree(seed)
    robot = robot.with_end_effector(robot.model.tips[0]).reference
    document = derive(robot, method, parameters="numeric", tip_wrench=True, external=True, frame="body")
    text = document.text()
    assert "Wrenches of the sample state" in text
    assert document.html().count("<math") > 10
    assert "begin{document}" in document.latex()


def test_the_wrench_of_the_tip_goes_through_the_planar_arm_as_by_hand():
    """F_2 = G_2 V_dot_2 - .. + Ad^T F_tip: a force (f_x, f_y) in the frame of the tip, L_2 from joint 2."""
    L_2, m_z, f_x, f_y = sp.Symbol("L_2", positive=True), *sp.symbols("m_z f_x f_y", real=True)
    options = {"tip_wrench": [0, 0, 1, 2, 3, 0], "frame": "body"}
    loaded = named(derive(cr.load("planar_2r").reference, "rnea", **options))
    free = named(derive(cr.load("planar_2r").reference, "rnea"))
    difference = sp.expand(sp.Matrix(loaded["F_{2}"]) - sp.Matrix(free["F_{2}"]))
    assert list(difference) == [0, 0, m_z + L_2 * f_y, f_x, f_y, 0]


@pytest.mark.parametrize("method", DYNAMIC)
def test_six_numbers_are_those_of_the_sample_state(method):
    robot = cr.load("pendulum").reference
    state = ([0.3], [0.5], [-0.2])
    force = [0, 0, 0, 2.5, 0, 0]
    text = derive(robot, method, state=state, tip_wrench=force).text()
    expected = robot.inverse_dynamics(*map(np.array, state), tip_wrench=force)[0]
    assert f"{expected:.6g}" in text
    assert "fₓ" in text
    assert "f_y" not in text


def test_the_dae_has_them_on_its_right_side():
    robot = cr.load("planar_rp").reference
    state, rng = state_of(robot), np.random.default_rng(9)
    tip, on_link = rng.normal(size=(2, 6))
    dae = robot.textbook.dae_equations(tip_wrench=True, external=["link1"], frame="body")
    numbers = robot.equations().parameters | wrench_values("", tip) | wrench_values("e1", on_link)
    h = value(robot, dae.reduced.h, state, numbers)
    loads = {"tip_wrench": tip, "external": {"link1": on_link}, "frame": "body"}
    assert_allclose(h, robot.bias(*state[:2], **loads), atol=1e-9)
    assert {"m_x", "f_e1z"} <= set(dae.symbols)
    assert not set(WRENCH) & {str(s) for s in robot.textbook.dae_equations().rhs.free_symbols}
