"""The derivation of accelerations: symbols as the pages print them, numbers as kernels, sliding joints and trees."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

from chainrule.errors import ModelError
from symbolic.derivations.test_derivation import named, state_of, value
from symbolic.derivations.test_recursions import branched, load

pytestmark = pytest.mark.interpreted

q_1, q_2, v_1, v_2, a_1, a_2 = sp.symbols("q_1 q_2 qdot_1 qdot_2 qddot_1 qddot_2", real=True)
L_1, L_2 = sp.symbols("L_1 L_2", positive=True)
s_2, c_2 = sp.sin(q_2), sp.cos(q_2)


def same(found, expected):
    return sp.simplify(sp.Matrix(found) - sp.Matrix(expected)) == sp.zeros(*sp.Matrix(expected).shape)


@pytest.mark.parametrize("name", ["planar_2r", "planar_rp", "cartesian_3p"])
def test_every_acceleration_of_the_derivation_is_that_of_the_kernel(name):
    robot = load(name)
    state = state_of(robot)
    found, kernel = named(robot.derivation("accelerations")), robot.accelerations(*state, frame="body")
    for i in range(1, len(kernel)):
        ours = [value(robot, found[rf"\dot{{{letter}}}_{{{i}}}"], state) for letter in (r"\omega", "v")]
        assert_allclose(np.ravel(ours), kernel[i], rtol=1e-10, atol=1e-10)
    tip = robot.acceleration(*state)
    ours = [value(robot, found[rf"{{}}^0 \dot{{{letter}}}_{{e}}"], state) for letter in (r"\omega", "v")]
    assert_allclose(np.ravel(ours), tip, rtol=1e-10, atol=1e-10)


def test_the_planar_arm_has_the_accelerations_that_are_found_by_hand():
    found = named(load("planar_2r").derivation("accelerations"))
    assert same(found[r"\dot{\omega}_{2}"], [0, 0, a_1 + a_2])
    inner = [L_1 * a_1 * s_2 - L_1 * v_1**2 * c_2, L_1 * a_1 * c_2 + L_1 * v_1**2 * s_2, 0]
    assert same(found[r"\dot{v}_{2}"], inner)
    outer = [inner[0] - L_2 * (v_1 + v_2) ** 2, inner[1] + L_2 * (a_1 + a_2), 0]
    assert same(found[r"\dot{v}_{C2}"], outer)
    assert same(found[r"\dot{R}_{2}^T"], v_2 * sp.Matrix([[-s_2, c_2, 0], [-c_2, -s_2, 0], [0, 0, 0]]))
    tip = sp.Matrix([L_1 * sp.cos(q_1) + L_2 * sp.cos(q_1 + q_2), L_1 * sp.sin(q_1) + L_2 * sp.sin(q_1 + q_2), 0])
    for _ in range(2):
        tip = sum((tip.diff(x) * rate for x, rate in ((q_1, v_1), (q_2, v_2), (v_1, a_1), (v_2, a_2))), sp.zeros(3, 1))
    assert same(found[r"{}^0 \dot{v}_{e}"], tip)


def test_a_sliding_joint_has_the_terms_of_coriolis_and_of_sliding():
    """A slider at q_2 on an arm that turns: q_2'' - q_2 q_1'^2 outwards, q_2 q_1'' + 2 q_2' q_1' across."""
    robot = load("planar_rp")
    found = named(robot.derivation("accelerations"))
    coriolis, relative = found[r"2 \omega_{1} \times \dot{P}_{2}"], found[r"\ddot{P}_{2}"]
    slide = sp.Matrix(found["P_{2}"]).diff(q_2)
    assert same(relative, slide * a_2)
    assert same(coriolis, 2 * sp.Matrix([0, 0, v_1]).cross(slide) * v_2)
    along, across = slide, sp.Matrix([0, 0, 1]).cross(slide)
    own = sp.Matrix(found["R_{2}"]) * sp.Matrix(found[r"\dot{v}_{2}"])
    assert same([own.dot(along)], [a_2 - q_2 * v_1**2])
    assert same([own.dot(across)], [q_2 * a_1 + 2 * v_1 * v_2])
    assert r"2 \omega_i \times \hat{z}_i \dot{q}_i" in robot.derivation("accelerations").latex()


def test_a_tree_with_a_universal_joint_and_a_mimic_joint():
    robot = branched()
    state = state_of(robot)
    document = robot.derivation("accelerations", parameters="numeric", state=state)
    found, kernel = named(document), robot.accelerations(*state, frame="body")
    for i in range(1, len(kernel)):
        ours = [value(robot, found[rf"\dot{{{letter}}}_{{{i}}}"], state, {}) for letter in (r"\omega", "v")]
        assert_allclose(np.ravel(ours), kernel[i], rtol=1e-10, atol=1e-10)
    for index, (_, link) in enumerate(list(robot.links.items())[1:], 1):
        at_center = robot.acceleration(*state, link.name, frame="body", point=link.com)[3:]
        assert_allclose(value(robot, found[rf"\dot{{v}}_{{C{index}}}"], state, {}), at_center, rtol=1e-9, atol=1e-9)
    assert r"\left(\omega_J, v_J\right)" in document.latex()


def test_a_robot_that_is_too_large_is_refused_with_advice():
    with pytest.raises(ModelError, match=r"too large.*lock"):
        load("panda").derivation("accelerations")
