"""Closed forms: against kernels, against the other way of deriving them, and against the printed page."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trees import state, tree

import chainrule as cr
from chainrule.symbolic.algebra.factors import factors
from chainrule.symbolic.algebra.ring import Ring, contracted

ARMS = (
    "pendulum",
    "double_pendulum",
    "planar_2r",
    "planar_3r",
    "planar_rp",
    "cartesian_3p",
    "scara",
    "stanford",
    "puma560",
)
FLAT = ("revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "planar", "fixed")


def names(text):
    return sp.symbols(text, positive=True), *(sp.symbols(f"{base}_1:3", real=True) for base in ("q", "qdot", "qddot"))


# --- the ring ---

a, b, c = sp.symbols("a b c", real=True)
ATOMS = (
    sp.sin(a),
    sp.cos(a),
    sp.sin(b),
    sp.cos(b),
    sp.sin(a + b),
    sp.cos(2 * a - b),
    c,
    a,
    sp.Rational(1, 2),
    sp.Integer(3),
)


@example([[sp.sin(a), sp.cos(b), sp.sin(a + b), sp.Rational(1, 2)]])
@given(st.lists(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4), min_size=1, max_size=5))
@settings(deadline=None, max_examples=100)
def test_contraction_changes_the_form_and_not_the_value(products):
    expression = sp.Add(*(sp.Mul(*factors_) for factors_ in products))
    numbers = {a: 0.7, b: -1.3, c: 2.1}
    for groups in ((), ([a], [b])):
        short = contracted(expression, [a, b], groups)
        assert float(short.subs(numbers)) == pytest.approx(float(expression.subs(numbers)), abs=1e-10)
        assert sp.expand(contracted(short, [a, b], groups) - short) == 0


def test_equal_expressions_have_one_form():
    assert contracted(sp.cos(a) * sp.cos(b) - sp.sin(a) * sp.sin(b), [a, b]) == sp.cos(a + b)
    assert contracted(sp.sin(a) ** 2 + sp.cos(a) ** 2, [a]) == 1
    assert contracted(c * sp.cos(a) ** 2, [a]) == c * sp.cos(a) ** 2
    assert contracted(sp.sin(a) * sp.cos(b), [a, b], [[a], [b]]) == sp.sin(a) * sp.cos(b)
    ring = Ring([a, b])
    left = ring.of(sp.sin(2 * a))
    assert left == ring.of(2 * sp.sin(a) * sp.cos(a))
    assert left.derivative(a).sympy() == 2 * sp.cos(2 * a)


@pytest.mark.parametrize(
    "expression", [sp.exp(a), 1 / sp.cos(a), sp.sin(a * b), sp.sin(sp.sin(a)), sp.sqrt(1 + sp.cos(a))]
)
def test_what_is_no_trigonometric_polynomial_is_refused(expression):
    with pytest.raises(cr.ModelError):
        contracted(expression, [a, b])


def test_products_are_found_again():
    ring = Ring([a, b])
    whole = ring.of(sp.expand(3 * sp.sin(a) * sp.cos(b) * (c * sp.cos(a) + 2 * sp.sin(a + b))))
    found = [factor.sympy() for factor in factors(whole)]
    assert sp.sin(a) in found
    assert sp.cos(b) in found
    assert contracted(sp.Mul(*found) - whole.sympy(), [a, b]) == 0


# --- against kernels and each other ---


@pytest.mark.parametrize("parameters", ["symbolic", "numeric"])
@pytest.mark.parametrize("name", ARMS)
def test_every_term_is_the_kernels(name, parameters):
    robot = cr.load(name)
    written = robot.equations(parameters)
    rng = np.random.default_rng(0)
    q, qd, qdd = robot.random_state(rng, (3,)), *rng.normal(size=(2, 3, robot.n))
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
    assert cr.load(name).equations().disagreement() == [0] * cr.load(name).n


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


def test_the_planar_jacobian_of_the_notes_comes_out_as_printed():
    (l1, l2), q, _, _ = names("L_1 L_2")
    arm = cr.load("planar_2r").kinematic_equations()
    s1, c1, s12, c12 = sp.sin(q[0]), sp.cos(q[0]), sp.sin(q[0] + q[1]), sp.cos(q[0] + q[1])
    assert arm.J[3:5, :] == sp.Matrix([[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12]])
    assert arm.determinant == l1 * l2 * sp.sin(q[1])
    assert arm.singularities() == {sp.sin(q[1]): [sp.Eq(q[1], 0), sp.Eq(q[1], sp.pi)]}


def test_the_pose_of_the_puma_comes_out_as_in_the_notes():
    arm = cr.load("puma560").kinematic_equations()
    q = arm.q
    a2, a3, d1, d3, d4 = (
        next(s for s in arm.parameters if str(s) == name) for name in ("a_2", "a_3", "d_1", "d_3", "d_4")
    )
    reach = a2 * sp.cos(q[1]) + a3 * sp.cos(q[1] + q[2]) - d4 * sp.sin(q[1] + q[2])
    assert arm.position[0] == sp.cos(q[0]) * reach + d3 * sp.sin(q[0])  # the notes' d3 points the other way
    assert arm.position[1] == sp.sin(q[0]) * reach - d3 * sp.cos(q[0])
    assert arm.position[2] == d1 + a2 * sp.sin(q[1]) + a3 * sp.sin(q[1] + q[2]) + d4 * sp.cos(q[1] + q[2])
    elbow = a3 * sp.sin(q[2]) + d4 * sp.cos(q[2])
    assert arm.determinant == -a2 * elbow * reach * sp.sin(q[4])
    assert set(arm.singularities()) == {elbow, reach, sp.sin(q[4])}


@pytest.mark.parametrize("name", [*ARMS, "ur5"])
def test_poses_and_jacobians_are_the_kernels(name):
    robot = cr.load(name)
    rng = np.random.default_rng(1)
    q = robot.random_state(rng)
    for frame in ("world", "space", "body"):
        written = robot.kinematic_equations(frame=frame)
        values = {**written.parameters, **dict(zip(written.q, q.tolist(), strict=True))}
        T, J = (np.array(m.subs(values), dtype=float) for m in (written.T, written.J))
        assert np.abs(T - robot.pose(q)).max() < 1e-10
        assert np.abs(J - robot.jacobian(q, frame=frame)).max() < 1e-10


def test_the_determinant_of_six_joints_is_that_of_the_numbers():
    for name in ("puma560", "stanford", "ur5"):
        robot = cr.load(name)
        written = robot.kinematic_equations()
        q = robot.random_state(np.random.default_rng(2))
        values = {**written.parameters, **dict(zip(written.q, q.tolist(), strict=True))}
        number = np.linalg.det(robot.jacobian(q, frame="world"))
        assert float(written.determinant.subs(values)) == pytest.approx(number, rel=1e-9)


# --- base parameters and intermediate variables ---


@pytest.mark.parametrize("name", ["planar_2r", "planar_3r", "scara", "planar_rp", "puma560"])
def test_base_parameters_say_the_same_in_fewer_words(name):
    robot = cr.load(name)
    written = robot.equations()
    few = written.grouped()
    q, qd, qdd = robot.random_state(np.random.default_rng(0)), *np.random.default_rng(1).normal(size=(2, robot.n))
    for term, value in (("M", robot.mass_matrix(q)), ("tau", robot.inverse_dynamics(q, qd, qdd))):
        assert np.allclose(few.lambdify(term)(q, qd, qdd), value, rtol=1e-10, atol=1e-10)
    assert few.operations["total"] < written.operations["total"]
    for symbol, meaning in few.definitions.items():
        assert float(meaning.subs(written.parameters)) == pytest.approx(few.parameters[symbol], rel=1e-12)


def test_the_mass_matrix_of_three_joints_fits_a_page_in_base_parameters():
    few = cr.load("planar_3r").equations().grouped()
    assert max(len(str(entry)) for entry in few.M) < 80
    assert len(few.definitions) <= 9


@pytest.mark.parametrize("name", ["planar_3r", "puma560", "stanford", "panda"])
def test_intermediate_variables_compute_the_same(name):
    robot = cr.load(name).without_friction()
    listed = robot.equations().intermediate("mass_matrix", "gravity_torque")
    q = robot.random_state(np.random.default_rng(0))
    values = dict(robot.equations().parameters) | dict(zip(robot.equations().q, q.tolist(), strict=True))
    for symbol, expression in listed.assignments:
        values[symbol] = float(expression.subs(values))
    M = np.array([float(x.subs(values)) for x in listed.results["mass_matrix"]]).reshape(robot.n, robot.n)
    assert np.abs(M - robot.mass_matrix(q)).max() < 1e-10
    g = np.array([float(x.subs(values)) for x in listed.results["gravity_torque"]])
    assert np.abs(g - robot.gravity_torque(q)).max() < 1e-9


# --- what cannot be written ---


def test_robots_without_a_closed_form_are_refused_with_a_way_out(monkeypatch):
    with pytest.raises(cr.ModelError, match="quaternion"):
        cr.load("quadruped").equations()
    with pytest.raises(cr.ModelError, match="without_constraint"):
        cr.load("four_bar").equations()
    with monkeypatch.context() as patched:
        patched.setattr("chainrule.symbolic.closed_form.equations.READABLE", 10)
        with pytest.raises(cr.ModelError, match=r"intermediate|numeric"):
            cr.load("planar_3r").equations().C
    with pytest.raises(cr.ShapeError, match="numeric"):
        cr.load("planar_2r").equations("numbers")
    with pytest.raises(cr.UnknownNameError):
        cr.load("planar_2r").equations().term("K")
    with pytest.raises(cr.UnknownNameError):
        cr.load("planar_2r").kinematic_equations("nolink")
    with pytest.raises(cr.ShapeError, match="forward_dynamics"):
        cr.load("planar_2r").equations().intermediate("forward_dynamics")
    with pytest.raises(cr.ModelError, match="before grouped"):
        cr.load("planar_2r").equations().grouped().intermediate()
    with pytest.raises(cr.ModelError, match="no symbols"):
        cr.load("planar_2r").equations("numeric").grouped()
    with pytest.raises(cr.ModelError, match="determinant"):
        cr.load("panda").kinematic_equations().determinant
