"""Kinematic equations with angles, for arms that are not square, and in all their forms."""

import numpy as np
import pytest
import sympy as sp

import chainrule as cr
from chainrule.algorithms.euler import ORDERS
from chainrule.errors import ModelError, ShapeError, UnknownNameError

pytestmark = pytest.mark.interpreted


TERMS = ("T", "position", "J", "pose_vector", "analytic_jacobian", "determinant", "manipulability")


@pytest.fixture(scope="module")
def planar():
    return cr.load("planar_2r").kinematic_equations()


@pytest.fixture(scope="module")
def wrist():
    """The three last joints of a PUMA, about z, y and z."""
    robot = cr.load("puma560")
    return robot.lock(dict.fromkeys(robot.joint_names[:3], 0.0)).reference


@pytest.mark.parametrize("order", ORDERS)
def test_angles_and_their_rates_are_those_of_the_robot_in_every_order(order, wrist):
    q = wrist.random_state(np.random.default_rng(5), (3,))
    own = wrist.kinematic_equations(order=order)
    found, expected = own.lambdify("pose_vector")(q), wrist.textbook.pose_vector(q, order=order)
    turns = (found - expected)[:, 3:] / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-10)
    np.testing.assert_allclose(found[:, :3], expected[:, :3], rtol=1e-10)
    J = own.lambdify("analytic_jacobian")(q)
    np.testing.assert_allclose(J, wrist.textbook.analytic_jacobian(q, order=order), rtol=1e-8, atol=1e-8)


def test_the_wrist_has_its_joints_as_euler_angles(wrist):
    own = wrist.kinematic_equations(order="zyz")
    q = own.q
    assert own.angle_singularity == sp.Abs(sp.sin(q[1]))
    assert own.analytic_jacobian[3, :] == sp.Matrix([[1, 0, 0]])
    assert own.analytic_jacobian[5, :] == sp.Matrix([[0, 0, 1]])
    assert own.pose_vector[4] == sp.atan2(sp.Abs(sp.sin(q[1])), sp.cos(q[1]))


def test_the_angle_of_a_planar_arm_is_the_sum_of_its_joints(planar):
    q = planar.q
    assert list(planar.pose_vector[3:]) == [0, 0, q[0] + q[1]]
    assert planar.analytic_jacobian[5, :] == sp.Matrix([[1, 1]])
    turned = cr.load("planar_2r").kinematic_equations(order="zxz")
    assert list(turned.pose_vector[3:]) == [q[0] + q[1], 0, 0]
    assert turned.angle_singularity == 0
    with pytest.raises(ModelError, match="the angles 'zxz' are singular in every configuration"):
        _ = turned.analytic_jacobian
    assert "There is none: the angles 'zxz' are singular" in str(turned)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("planar_3r", "position"), ("planar_3r", None), ("planar_2r", "pose"), ("planar_2r", None),
        ("planar_rp", None), ("scara", "position"), ("scara", "orientation"),
    ],
)  # fmt: skip
def test_manipulability_is_that_of_the_robot_whatever_the_shape_of_its_jacobian(name, part):
    robot = cr.load(name).reference
    q = robot.random_state(np.random.default_rng(6), (4,))
    own = robot.kinematic_equations()
    w = own.manipulability if part is None else own.manipulability_of(part)
    function = sp.lambdify(own.q, w.subs(own.parameters), "numpy")
    found = np.broadcast_to(function(*q.T), 4)
    np.testing.assert_allclose(found, robot.manipulability(q, task=part), rtol=1e-9)


def test_manipulability_of_three_links_is_a_root_of_squares():
    arm = cr.load("planar_3r").kinematic_equations()
    w = arm.manipulability_of("position")
    assert arm.q[0] not in w.free_symbols
    assert w.count_ops() < 40
    assert cr.load("planar_2r").kinematic_equations().manipulability == sp.sympify(
        "L_1*L_2*Abs(sin(q_2))", locals={s.name: s for s in (*arm.q, *arm.parameters)}
    )


def test_every_term_is_written_in_every_form(planar):
    robot = cr.load("planar_2r").reference
    q = robot.random_state(np.random.default_rng(7), (5,))
    shapes = {"T": (5, 4, 4), "position": (5, 3), "J": (5, 6, 2), "determinant": (5,), "manipulability": (5,)}
    for name in TERMS:
        assert planar.latex(name)
        assert planar.mathml(name, shorthand=True).startswith("<math")
        assert planar.lambdify(name)(q).shape == shapes.get(name, planar.lambdify(name)(q).shape)
    assert planar.pretty("position", shorthand=True).startswith("⎡L₁⋅c₁ + L₂⋅c₁₂⎤")
    assert planar.latex("determinant", shorthand=True) == "L_{1} L_{2} s_{2}"
    np.testing.assert_allclose(planar.lambdify()(q), robot.pose(q), atol=1e-12)
    np.testing.assert_allclose(planar.lambdify("J")(q), robot.jacobian(q), atol=1e-12)
    longer = planar.lambdify("position", {"L_1": 2.0})([0.0, 0.0])
    np.testing.assert_allclose(longer, [3.0, 0.0, 0.0])
    shared, reduced = planar.cse("J")
    back = reduced["J"].subs(list(reversed(shared)))
    assert sp.simplify(back - planar.J) == sp.zeros(6, 2)
    assert planar.operations["trigonometric"] == 4


def test_a_document_has_all_terms_and_can_be_saved(planar, tmp_path):
    page = planar.document(shorthand=True)
    text = page.text()
    for heading in ("Pose", "Jacobian", "Pose vector", "Analytic Jacobian", "Determinant", "Short names", "Parameters"):
        assert f"\n{heading}\n" in text
    assert "q₂ = π" in text
    assert page.save(tmp_path / "arm.tex").read_text().startswith("\\documentclass")
    assert "Manipulability" in str(cr.load("planar_3r").kinematic_equations("link2"))
    assert cr.load("pendulum").equations().document().title == "Equations of motion of pendulum"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.latex("mass"), UnknownNameError, "kinematic equations has no term named 'mass'"),
        (lambda x: x.lambdify("T", {"L_9": 1.0}), UnknownNameError, "kinematic equations has no parameter named 'L_9'"),
        (lambda x: x.source_code("c", "T"), ShapeError, r"a list of terms, such as \['T'\]"),
        (lambda x: x.source_code("c", ["K"]), UnknownNameError, "no term named 'K'"),
        (lambda x: x.source_code("fortran"), UnknownNameError, "no language named 'fortran'"),
        (lambda x: x.manipulability_of("some"), UnknownNameError, "no task named 'some'"),
        (lambda x: x.robot.kinematic_equations(order="zz"), UnknownNameError, "no order of angles named 'zz'"),
    ],
)
def test_what_does_not_exist_is_refused(planar, call, error, message):
    with pytest.raises(error, match=message):
        call(planar)


# --- pose vectors in symbols ---


@pytest.mark.parametrize("order", ORDERS)
def test_poses_and_vectors_in_symbols_are_those_of_numbers(order):
    at = sp.symbols("x y z a b c", real=True)
    T = cr.symbolic.pose_from_vector(at, order=order)
    numbers = [1.0, -2.0, 3.0, 0.3, 0.4, -0.5]
    values = dict(zip(at, numbers, strict=True))
    found = np.array(T.subs(values), dtype=float)
    np.testing.assert_allclose(found, cr.pose_from_vector(numbers, order=order), atol=1e-15)
    back = cr.symbolic.vector_from_pose(T, order=order)
    np.testing.assert_allclose(np.array(back.subs(values), dtype=float).ravel(), numbers, atol=1e-12)


def test_vectors_of_general_rotation_matrices_are_the_formulas_of_textbooks():
    r = sp.Matrix(3, 3, lambda i, j: sp.Symbol(f"r_{i + 1}{j + 1}", real=True))
    T = sp.Matrix(sp.BlockMatrix([[r, sp.zeros(3, 1)], [sp.Matrix([[0, 0, 0]]), sp.eye(1)]]))
    roll, pitch, yaw = cr.symbolic.vector_from_pose(T)[3:]
    assert roll == sp.atan2(r[2, 1], r[2, 2])
    assert yaw == sp.atan2(r[1, 0], r[0, 0])
    assert pitch == sp.atan2(-r[2, 0], sp.sqrt(r[0, 0] ** 2 + r[1, 0] ** 2))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: cr.symbolic.pose_from_vector([1, 2]), ShapeError, "must be 6 expressions"),
        (lambda: cr.symbolic.pose_from_vector(["a"] * 6), ShapeError, "which is not evaluated"),
        (lambda: cr.symbolic.pose_from_vector([0] * 6, order="abc"), UnknownNameError, "no order of angles"),
        (lambda: cr.symbolic.vector_from_pose(sp.eye(3)), ShapeError, "must be a 4-by-4 matrix"),
        (lambda: cr.symbolic.vector_from_pose(2 * sp.eye(4)), ShapeError, "is not a rotation matrix"),
        (lambda: cr.symbolic.vector_from_pose(sp.eye(4), order="abc"), UnknownNameError, "no order of angles"),
    ],
)
def test_symbolic_poses_that_are_none_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
