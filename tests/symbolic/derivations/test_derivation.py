"""Derivations: the symbols of the textbook, the numbers of the kernels, and the right units."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose
from tiers import with_slow

import chainrule as cr
from chainrule.errors import ChainruleError, ModelError, ShapeError, UnknownNameError
from chainrule.model import Joint, Link, Model, Screw
from chainrule.spatial import Symmetric, Vector
from chainrule.symbolic.algebra.units import UnitError, unit, unit_of
from chainrule.symbolic.closed_form.equations import equations
from chainrule.symbolic.derivations.derivation import METHODS
from chainrule.symbolic.derivations.derivation import derivation as derive
from chainrule.symbolic.derivations.latex_names import link_quantity
from chainrule.symbolic.derivations.problem import DerivationProblem, Quantity
from chainrule.symbolic.derivations.unit_check import check_in_other_units
from chainrule.symbolic.documents.blocks import Equation, Formula, TableBlock

DYNAMIC = [name for name, method in METHODS.items() if method.has_masses]
ROBOTS = ["pendulum", "planar_2r", "planar_rp", "cartesian_3p", "scara"]


def named(document):
    """The right side of every equation, by its left side in LaTeX."""
    equations_ = [block for block in document.blocks if isinstance(block, Equation)]
    return {e.sides[0].latex: e.sides[-1] for e in equations_ if isinstance(e.sides[0], Formula)}


def value(robot, expression, state, parameters=None):
    """An expression of the state's symbols as a number."""
    numbers = dict(equations(robot).parameters if parameters is None else parameters)
    for letter, part in zip(("q", "qdot", "qddot"), state, strict=True):
        numbers |= {sp.Symbol(f"{letter}_{i + 1}", real=True): x for i, x in enumerate(part)}
    return np.array(sp.Matrix([expression]).subs(numbers).evalf(20), dtype=float).ravel()


def state_of(robot, seed=3):
    rng = np.random.default_rng(seed)
    return robot.random_state(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


@pytest.mark.parametrize("name", ROBOTS)
def test_every_vector_of_the_newton_euler_derivation_is_that_of_the_kernel(name):
    robot = cr.load(name)
    state = state_of(robot)
    table, found = robot.textbook.newton_euler_table(*state), named(derive(robot, "newton-euler"))
    for i in range(len(table.links)):
        for column in table.units:
            expected = getattr(table, column)[i]
            assert_allclose(value(robot, found[link_quantity(column, i + 1)], state), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("method", DYNAMIC)
@pytest.mark.parametrize("name", ROBOTS)
def test_the_equations_that_a_derivation_ends_with_are_the_kernels(name, method):
    robot = cr.load(name)
    q, qd, qdd = state_of(robot, 4)
    found = named(derive(robot, method))
    assert_allclose(value(robot, found["M"], (q, qd, qdd)), robot.mass_matrix(q).ravel(), rtol=1e-10, atol=1e-10)
    if "g" in found:
        assert_allclose(value(robot, found["g"], (q, qd, qdd)), robot.gravity_torque(q), rtol=1e-10, atol=1e-10)
    if method not in ("closed-form", "dae"):  # those end with M, C, g and M, h
        tau = [value(robot, found[f"\\tau_{{{i + 1}}}"], (q, qd, qdd))[0] for i in range(robot.nv)]
        assert_allclose(tau, robot.inverse_dynamics(q, qd, qdd), rtol=1e-10, atol=1e-10)


def test_lagranges_steps_are_the_derivatives_of_the_energies():
    robot = cr.load("planar_2r")
    found = named(derive(robot, "lagrange"))
    q, qd = sp.symbols("q_1:3", real=True), sp.symbols("qdot_1:3", real=True)
    L = found["K"] - found["P"]
    for i in range(2):
        for name, by in ((r"\dot{q}", qd), ("q", q)):
            written = found[f"\\frac{{\\partial L}}{{\\partial {name}_{{{i + 1}}}}}"]
            assert sp.simplify(written - sp.diff(L, by[i])) == 0
    assert sp.simplify(found["K"] - found["K_{1}"] - found["K_{2}"]) == 0


def test_the_planar_arm_of_the_notes_has_the_vectors_of_the_notes():
    found = named(derive(cr.load("planar_2r"), "newton-euler"))
    one, two = sp.symbols("qdot_1 qdot_2", real=True)
    assert list(found[r"\omega_{2}"]) == [0, 0, one + two]
    L1, g = sp.symbols("L_1 g", positive=True)
    angle = sp.Symbol("q_1", real=True)
    expected = [-L1 * one**2 + g * sp.sin(angle), L1 * sp.Symbol("qddot_1", real=True) + g * sp.cos(angle), 0]
    assert sp.simplify(sp.Matrix(found[r"\dot{v}_{C1}"]) - sp.Matrix(expected)) == sp.zeros(3, 1)


@pytest.mark.parametrize("method", DYNAMIC)
def test_numbers_from_symbols_and_kernels_stand_side_by_side(method):
    robot = cr.load("planar_rp")
    document = derive(robot, method, state=([0.4, 0.7], [1.0, -0.5], [0.2, 0.3]))
    tables = [b for b in document.blocks if isinstance(b, TableBlock) and "from the kernel" in b.header]
    rows = [row for table in tables for row in table.rows]
    assert rows
    assert all(row[1] == row[2] for row in rows)
    shown = {row[0].latex: row for row in rows}
    tau = robot.inverse_dynamics([0.4, 0.7], [1.0, -0.5], [0.2, 0.3])
    assert float(shown[r"\tau_{1}"][1]) == pytest.approx(tau[0], rel=1e-5)


def test_units_are_those_of_turning_and_sliding_joints():
    rows = {
        row[0].latex: row[3]
        for block in derive(cr.load("planar_rp"), "newton-euler").blocks
        if isinstance(block, TableBlock) and "from the kernel" in block.header
        for row in block.rows
    }
    expected = {
        r"\tau_{1}": "N m",
        r"\tau_{2}": "N",
        "M_{11}": "kg m²",
        "M_{12}": "kg m",
        "M_{22}": "kg",
        "n_{1}": "N m",
    }
    assert {name: rows[name] for name in expected} == expected
    assert rows[r"\dot{\omega}_{2}"] == "rad/s²"


def test_a_term_of_the_wrong_unit_is_found():
    m, l, q = sp.symbols("m l q")
    units = {m: unit("kg"), l: unit("m"), q: unit("rad")}
    assert unit_of(m * l**2 * sp.sin(q) + m * l**2, units) == unit("kg m^2")
    with pytest.raises(UnitError, match="differ in units"):
        unit_of(m * l**2 + m * l, units)
    with pytest.raises(UnitError, match="only angles"):
        unit_of(sp.cos(l), units)
    with pytest.raises(UnitError, match="not known"):
        unit_of(sp.Symbol("other"), units)
    problem = DerivationProblem.of(cr.load("planar_2r"), "symbolic")
    with pytest.raises(UnitError, match="should be in N"):
        problem.check_units(Quantity("F", equations(cr.load("planar_2r")).g[0], "N"))


def test_a_robot_measured_in_pounds_and_feet_is_the_same_robot(monkeypatch):
    problem = DerivationProblem.of(cr.load("stanford"), "numeric")
    check_in_other_units(problem)
    monkeypatch.setitem(check_in_other_units.__globals__["UNITS"], "F", "N m")
    with pytest.raises(UnitError, match="F is not in N m"):
        check_in_other_units(problem)


def test_symbols_that_are_not_the_kernels_are_refused():
    problem = DerivationProblem.of(cr.load("pendulum"), "symbolic")
    with pytest.raises(ChainruleError, match="not to be trusted"):
        problem.check_number("g", problem.equations.g, [1e-3])


@pytest.mark.parametrize("method", with_slow(DYNAMIC, "newton-euler", "rnea", "closed-form"))
def test_screws_off_the_origin_and_numeric_parameters(method):
    robot = cr.load("modern_robotics_3r")
    state = state_of(robot)
    document = derive(robot, method, parameters="numeric", state=state)
    M = value(robot, named(document)["M"], state, {})
    assert_allclose(M, robot.mass_matrix(state[0]).ravel(), rtol=1e-10, atol=1e-10)
    assert "pounds, feet" in document.text()


def test_friction_and_springs_are_in_the_result():
    links = [Link("base"), Link("arm", 2.0, Vector(0.5, 0, 0), Symmetric(0.1, 0.1, 0.1))]
    dof = (
        cr.load("puma560")
        .model.joints[0]
        .dofs[0]
        .__class__(viscous=0.3, coulomb=0.2, coulomb_negative=0.4, stiffness=5.0)
    )
    joint = Joint("hinge", "base", "arm", Screw.revolute(Vector(0, 0, 1)), dofs=(dof,))
    robot = cr.Robot(Model.build("spring", links, [joint], gravity=Vector(0, -9.81, 0)))
    found = named(derive(robot, "lagrange"))
    assert r"\tau_s" in found
    for rate in (-1.5, 1.5):
        state = ([0.3], [rate], [0.1])
        assert_allclose(value(robot, found[r"\tau_f"], state), robot.friction_torque([rate]), rtol=1e-12)


# --- bad input ---


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"method": "newton"}, UnknownNameError, "did you mean 'newton-euler'"),
        (
            {"method": "?"},
            UnknownNameError,
            "'newton-euler', 'rnea', 'lagrange', 'closed-form', 'dae', 'velocities', 'acc",
        ),
        ({"parameters": "both"}, ShapeError, "'symbolic', 'numeric'"),
        ({"state": [0.1, 0.2]}, ShapeError, r"\(q, qd, qdd\)"),
        ({"state": ([0.1], [0, 0], [0, 0])}, ShapeError, "q must have 2 numbers"),
        ({"state": ([0, np.nan], [0, 0], [0, 0])}, ShapeError, "finite"),
        ({"state": (np.zeros((3, 2)), [0, 0], [0, 0])}, ShapeError, "one state"),
    ],
)
def test_wrong_arguments_say_what_is_expected(arguments, error, message):
    with pytest.raises(error, match=message):
        derive(cr.load("planar_2r"), **arguments)


def test_robots_without_such_equations_are_refused_with_what_to_do():
    with pytest.raises(ModelError, match="quaternion"):
        derive(cr.load("quadruped"))
    with pytest.raises(ModelError, match="loops"):
        derive(cr.load("four_bar"))
    with pytest.raises(ModelError, match=r"too large.*numeric.*lock.*intermediate"):
        derive(cr.load("puma560"), "newton-euler", parameters="numeric")
