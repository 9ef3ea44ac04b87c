"""Derivations in twists and wrenches, of velocities and of Jacobians: symbols as the pages print them, numbers as kernels."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.errors import ModelError
from chainrule.model import Composite, Frame, Joint, Link, Mimic, Model, Screw
from chainrule.spatial import Symmetric, Transform, Vector
from chainrule.symbolic.derivations.derivation import derivation as derive
from chainrule.symbolic.documents.blocks import Formula
from symbolic.derivations.test_derivation import named, state_of, value

ROBOTS = ["planar_2r", "planar_rp", "cartesian_3p"]
q_1, q_2, v_1, v_2 = sp.symbols("q_1 q_2 qdot_1 qdot_2", real=True)
L_1, L_2 = sp.symbols("L_1 L_2", positive=True)


def load(name):
    """A robot whose functions are not compiled: few are called, and once."""
    return cr.load(name).reference


def branched():
    """A tree with a universal joint, a slider that follows another, a fixed joint, and two tips."""

    def link(name, mass):
        return Link(name, mass, Vector(0.1, 0, 0), Symmetric(0.1, 0.2, 0.25))

    def at(x, y, z):
        return Transform.from_xyz_rpy((x, y, z))

    z, x, y = Vector(0, 0, 1), Vector(1, 0, 0), Vector(0, 1, 0)
    joints = [
        Joint("wrist", "base", "hand", Composite.universal(z, x), at(0, 0, 0.5)),
        Joint("left", "hand", "finger1", Screw.prismatic(y), at(0, 0.1, 0)),
        Joint("right", "hand", "finger2", Screw.prismatic(y), at(0, -0.1, 0), mimic=Mimic("left", -1.0)),
        Joint("pad", "finger1", "pad1", Screw.revolute(z), at(0.2, 0, 0)),
    ]
    links = [Link("base"), link("hand", 2.0), link("finger1", 1.0), link("finger2", 1.5), link("pad1", 0.5)]
    return cr.Robot(Model.build("gripper", links, joints, [Frame("nail", "pad1", at(0.1, 0, 0))])).reference


# --- twists and wrenches ---


@pytest.mark.parametrize("name", ROBOTS)
def test_every_twist_and_wrench_of_the_derivation_is_that_of_the_kernel(name):
    robot = cr.load(name)
    state = state_of(robot)
    table, found = robot.textbook.rnea_table(*state), named(derive(robot, "rnea"))
    for i in range(len(table.links)):
        for letter, column in (("V", table.V), (r"\dot{V}", table.V_dot), ("F", table.F)):
            assert_allclose(value(robot, found[f"{letter}_{{{i + 1}}}"], state), column[i], rtol=1e-10, atol=1e-10)
        assert_allclose(value(robot, found[f"T_{{{i + 1},{i}}}"], state), table.T[i].ravel(), atol=1e-12)
        assert_allclose(np.array(found[f"A_{{{i + 1}}}"], dtype=float).ravel(), table.A[i])


def test_the_recursion_of_the_planar_arm_in_symbols():
    found = named(derive(load("planar_2r"), "rnea"))
    assert list(found["V_{1}"]) == [0, 0, v_1, 0, 0, 0]
    expected = [0, 0, v_1 + v_2, L_1 * sp.sin(q_2) * v_1, L_1 * sp.cos(q_2) * v_1, 0]
    assert sp.simplify(sp.Matrix(found["V_{2}"]) - sp.Matrix(expected)) == sp.zeros(6, 1)
    g = sp.Symbol("g", positive=True)
    assert list(found[r"\dot{V}_0"]) == [0, 0, 0, 0, g, 0]
    assert found["M_{2,1}"][0, 3] == -L_1


def test_the_power_of_the_wrenches_is_that_of_the_joints_of_a_tree():
    robot = branched()
    state = state_of(robot)
    found = named(derive(robot, "rnea", parameters="numeric", state=state))
    assert r"\dot{A}_i" in found[r"\dot{V}_i"].latex  # the first axis of a universal joint moves in the link's frame
    tau = [value(robot, found[f"\\tau_{{{i + 1}}}"], state, {})[0] for i in range(robot.nv)]
    assert_allclose(tau, robot.inverse_dynamics(*state), rtol=1e-9, atol=1e-9)


# --- the closed matrix form ---


def test_the_closed_form_of_the_planar_arm_has_the_matrices_of_the_lecture():
    """Lecture 15 of SCE 594: S, A, L and dA/dt in blocks, and C of them beside Christoffel's."""
    robot = load("planar_2r")
    document = derive(robot, "closed-form")
    found = named(document)
    assert found["L"].latex == r"\begin{bmatrix} 1 & 0 \\ \mathrm{Ad}_{2,1} & 1 \end{bmatrix}"
    assert found["A"].latex == r"\begin{bmatrix} 0 & 0 \\ \mathrm{Ad}_{2,1} & 0 \end{bmatrix}"
    Ad, rate = found[r"\mathrm{Ad}_{2,1}"], found[r"\dot{\mathrm{Ad}}_{2,1}"]
    assert sp.simplify(sp.diff(Ad, q_2) * v_2 - rate) == sp.zeros(6, 6)
    m_2 = sp.Symbol("m_2", positive=True)
    h, rates = m_2 * L_1 * L_2 * sp.sin(q_2), sp.Matrix([v_1, v_2])
    C = sp.Matrix([[-2 * h * v_2, -h * v_2], [h * (v_1 - v_2), h * v_1]])
    christoffel = sp.Matrix([[-h * v_2, -h * (v_1 + v_2)], [h * v_1, 0]])
    assert sp.simplify(sp.Matrix(found["C"]) - C) == sp.zeros(2, 2)
    assert sp.simplify(sp.Matrix(found[r"C_{\Gamma}"]) - christoffel) == sp.zeros(2, 2)
    assert sp.simplify(sp.Matrix(found[r"C - C_{\Gamma}"]) * rates) == sp.zeros(2, 1)
    assert "skew-symmetric" in document.text()


def test_a_robot_with_one_coriolis_matrix_and_one_whose_screws_move():
    assert "the same one" in derive(load("pendulum"), "closed-form").text()
    rules = [
        block.sides
        for block in derive(branched(), "closed-form", parameters="numeric").blocks
        if hasattr(block, "sides")
    ]
    assert any(r"\dot{S}" in side.latex for sides in rules for side in sides if isinstance(side, Formula))


# --- velocities ---


def test_velocities_of_the_planar_arm_are_those_of_the_lecture():
    """Lecture 4 of DD2410, the planar robot: velocities in the links' axes, in the base's, and the Jacobian."""
    document = derive(load("planar_2r"), "velocities")
    found = named(document)
    s1, c1, s2, c2 = sp.sin(q_1), sp.cos(q_1), sp.sin(q_2), sp.cos(q_2)
    s12, c12, both = sp.sin(q_1 + q_2), sp.cos(q_1 + q_2), v_1 + v_2
    expected = {
        r"\omega_{1}": [0, 0, v_1],
        "v_{1}": [0, 0, 0],
        r"\omega_{2}": [0, 0, both],
        "v_{2}": [L_1 * s2 * v_1, L_1 * c2 * v_1, 0],
        r"\omega_{e}": [0, 0, both],
        "v_{e}": [L_1 * s2 * v_1, L_1 * c2 * v_1 + L_2 * both, 0],
        "{}^0 v_{e}": [-L_1 * s1 * v_1 - L_2 * s12 * both, L_1 * c1 * v_1 + L_2 * c12 * both, 0],
    }
    for name, vector in expected.items():
        assert sp.simplify(sp.Matrix(found[name]) - sp.Matrix(vector)) == sp.zeros(3, 1), name
    equation = [block for block in document.blocks if getattr(block, "sides", None)][-1]
    J = sp.Matrix([[-L_1 * s1 - L_2 * s12, -L_2 * s12], [L_1 * c1 + L_2 * c12, L_2 * c12]])
    assert sp.simplify(equation.sides[1][3:5, :] - J) == sp.zeros(2, 2)


@pytest.mark.parametrize("name", ["planar_rp", "cartesian_3p"])
def test_velocities_with_joints_that_slide(name):
    robot = cr.load(name)
    state = state_of(robot)
    document = derive(robot, "velocities")
    table, found = robot.textbook.velocity_table(*state[:2]), named(document)
    for i in range(robot.nv):
        assert_allclose(value(robot, found[f"\\omega_{{{i + 1}}}"], state), table.omega[i], atol=1e-10)
        assert_allclose(value(robot, found[f"v_{{{i + 1}}}"], state), table.v[i], atol=1e-10)
    assert "slides" in document.text()


def test_every_tip_of_a_tree_has_its_velocities():
    robot = branched()
    text = derive(robot, "velocities", parameters="numeric").text()
    assert "End-effector: finger2" in text
    assert "End-effector: pad1" in text
    assert "Any other joint" in text


# --- Jacobians ---


def test_columns_and_poses_of_the_planar_arm_by_exponentials():
    robot = load("planar_3r")
    document = derive(robot, "jacobians")
    found = named(document)
    assert list(found["S_{3}"]) == [0, 0, 1, 0, -(L_1 + L_2), 0]
    sides = {b.sides[0].latex: b.sides for b in document.blocks if len(getattr(b, "sides", ())) == 3}
    state = state_of(robot)
    q = state[0]
    for i, link in enumerate(("link1", "link2", "link3")):
        space, body = sides[f"{{}}^0 J_{{({i + 1})}}"][1], sides[f"{{}}^{i + 1} J_{{({i + 1})}}"][1]
        assert_allclose(value(robot, space, state), robot.jacobian(q, link, frame="space").ravel(), atol=1e-10)
        assert_allclose(value(robot, body, state), robot.jacobian(q, link, frame="body").ravel(), atol=1e-10)
    assert_allclose(value(robot, sides["H_{e}"][1], state), robot.pose(q).ravel(), atol=1e-10)
    assert_allclose(
        value(robot, sides["E_{3}"][1], state), robot.textbook.exponential_table(q).products[2].ravel(), atol=1e-10
    )


def test_a_coordinate_of_ones_own_is_in_the_exponentials():
    theta = sp.Symbol("theta", real=True)
    document = derive(load("pendulum"), "jacobians", symbols={"q_1": theta})
    assert r"e^{\left[S_{1}\right] \theta}" in named(document)


@pytest.mark.parametrize("method", ["velocities", "jacobians"])
def test_robots_without_masses_have_velocities(method):
    arm = cr.Robot.from_dh([(0.5, 0, 0, 0), (0.3, 0, 0.1, 0)], convention="standard", check=False).reference
    assert "link" in derive(arm, method).text().lower()
    with pytest.raises(ModelError, match="no masses"):
        derive(arm, "rnea")


@pytest.mark.parametrize("method", ["velocities", "jacobians", "rnea"])
def test_screws_off_the_origin_with_numbers_for_parameters(method):
    """Symbols are compared with kernels while the document is written."""
    assert derive(load("modern_robotics_3r"), method, parameters="numeric").title.endswith("of modern_robotics_3r")


@pytest.mark.parametrize("method", ["velocities", "jacobians", "rnea"])
def test_robots_without_such_derivations_are_refused(method):
    with pytest.raises(ModelError, match="quaternion"):
        derive(load("quadruped"), method)
    with pytest.raises(ModelError, match="loops"):
        derive(load("four_bar"), method)
    still = load("pendulum").lock({"hinge": 0.0})
    with pytest.raises(ModelError, match="no degrees of freedom"):
        derive(still, method)
