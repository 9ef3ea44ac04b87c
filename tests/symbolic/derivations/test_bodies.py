"""Derivations about one rigid body: expressions that are integrals over a box, and the numbers of robots."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.model import Link
from chainrule.spatial import Symmetric, Vector
from chainrule.symbolic.derivations.bodies.derivation import METHODS
from chainrule.symbolic.derivations.bodies.problem import BodyProblem
from chainrule.symbolic.documents.blocks import TableBlock
from symbolic.derivations.test_derivation import named

pytestmark = pytest.mark.interpreted

COM, I = (0.1, -0.2, 0.05), (0.2, 0.3, 0.4, 0.01, 0.02, -0.03)


def vector(letter):
    return sp.Matrix([sp.Symbol(f"{letter}_{axis}", real=True) for axis in "xyz"])


omega, v, omegadot, vdot, q = (vector(letter) for letter in ("omega", "v", "omegadot", "vdot", "q"))
rho, a, b, c, d = sp.symbols("rho a b c d", positive=True)
BOX = cr.rigid_body(density=rho, shape="box", size=(a, b, c), xyz=(d, 0, 0))
"""A box in symbols, away from the origin, over which SymPy integrates."""


def over_the_box(integrand):
    """The integral of a matrix over the box, by SymPy."""
    x, y, z = sp.symbols("x y z", real=True)
    limits = ((x, d - a / 2, d + a / 2), (y, -b / 2, b / 2), (z, -c / 2, c / 2))
    return sp.Matrix(integrand(sp.Matrix([x, y, z]))).applyfunc(lambda entry: sp.integrate(rho * entry, *limits))


def rows(document):
    """The rows of the tables of numbers: symbols, kernel, unit, by name."""
    tables = [x for x in document.blocks if isinstance(x, TableBlock) and "from the kernel" in x.header]
    return {row[0].latex: row[1:] for table in tables for row in table.rows}


def numbers(text):
    return [float(x) for x in text.split(", ")]


def test_newton_and_euler_are_the_integrals_over_a_box():
    found = named(BOX.derivation("newton-euler"))

    def acceleration(p):
        return vdot + omegadot.cross(p) + omega.cross(v + omega.cross(p))

    force, moment = over_the_box(acceleration), over_the_box(lambda p: p.cross(acceleration(p)))
    assert (found["f"] - force).expand() == sp.zeros(3, 1)
    assert (found["n"] - moment).expand() == sp.zeros(3, 1)


def test_in_principal_axes_eulers_equation_is_that_of_the_slides():
    found = named(cr.rigid_body(2.0, inertia=(0.1, 0.2, 0.25)).derivation())
    moments = sp.symbols("I_xx I_yy I_zz", positive=True)
    expected = sp.diag(*moments) * omegadot + omega.cross(sp.diag(*moments) * omega)
    assert (found["n"] - expected).expand() == sp.zeros(3, 1)
    m = sp.Symbol("m", positive=True)
    assert (found["f"] - m * (vdot + omega.cross(v))).expand() == sp.zeros(3, 1)


def test_newton_and_euler_end_at_the_inverse_dynamics_of_a_robot_that_floats():
    body = cr.rigid_body(2.0, COM, I)
    motion = {"omega": [0.3, -0.2, 1.0], "v": [0.5, 0.0, -1.0], "omegadot": [1.0, 2.0, -3.0], "vdot": [0.1, 0.2, 0.3]}
    given = {f"{letter}_{axis}": x for letter, row in motion.items() for axis, x in zip("xyz", row, strict=True)}
    shown = rows(body.derivation("newton-euler", numbers=given))
    floating = cr.build().free("free").link("body", body).gravity((0, 0, 0)).robot().reference
    V, A = [*motion["omega"], *motion["v"]], [*motion["omegadot"], *motion["vdot"]]
    expected = floating.inverse_dynamics(floating.neutral(), V, A)
    assert_allclose(numbers(shown["n"][0]) + numbers(shown["f"][0]), expected, rtol=1e-5)


def test_steiners_theorem_is_the_integral_over_a_box():
    found = named(BOX.derivation("steiner"))["I_q"]
    expected = over_the_box(lambda p: (p - q).dot(p - q) * sp.eye(3) - (p - q) * (p - q).T)
    assert (found - expected).expand() == sp.zeros(3, 3)
    shown = rows(cr.rigid_body(2.0, COM, I).derivation("steiner", numbers={"q_x": 1.0}))
    point = (1.0, -0.2, 0.5)
    assert_allclose(numbers(shown["I_q"][0]), cr.rigid_body(2.0, COM, I).about(point).ravel(), rtol=1e-5)


def test_the_inertia_in_other_axes_is_turned_by_the_rotation():
    document = cr.rigid_body(2.0, COM, I).derivation("rotation", numbers={"phi": 0.1, "theta": 0.2, "psi": 0.9})
    x, y, z = (np.eye(3) for _ in range(3))
    x[1:, 1:] = [[np.cos(0.1), -np.sin(0.1)], [np.sin(0.1), np.cos(0.1)]]
    y[::2, ::2] = [[np.cos(0.2), np.sin(0.2)], [-np.sin(0.2), np.cos(0.2)]]
    z[:2, :2] = [[np.cos(0.9), -np.sin(0.9)], [np.sin(0.9), np.cos(0.9)]]
    R, inertia = z @ y @ x, cr.rigid_body(2.0, COM, I).inertia
    assert_allclose(numbers(rows(document)["I' = R I R^T"][0]), (R @ inertia @ R.T).ravel(), atol=1e-6)
    xx, yy, xy, psi = (sp.Symbol(name, real=True, positive=name[2:] in ("xx", "yy") or None)
                       for name in ("I_xx", "I_yy", "I_xy", "psi"))  # fmt: skip
    turned = named(document)[r"I'_{\psi}"][0, 0]
    assert sp.simplify(turned - xx * sp.cos(psi) ** 2 - yy * sp.sin(psi) ** 2 + xy * sp.sin(2 * psi)) == 0


def test_the_transport_theorem_is_the_derivative_of_the_turned_vector():
    document = cr.rigid_body(2.0, COM, I).derivation("transport")
    t = sp.Symbol("t")
    angles = [sp.Function(name)(t) for name in ("phi", "theta", "psi")]
    R = sp.rot_ccw_axis3(angles[2]) * sp.rot_ccw_axis2(angles[1]) * sp.rot_ccw_axis1(angles[0])
    A = sp.Matrix([sp.Function(f"A_{axis}")(t) for axis in "xyz"])
    start = dict(zip((*angles, *A), (0.3, -0.4, 0.7, 0.4, -0.1, 0.2), strict=True))
    rates = dict(zip(start, (1.0, -0.5, 2.0, -0.3, 0.5, 0.1), strict=True))
    derivative = (R * A).diff(t).subs({x.diff(t): rate for x, rate in rates.items()}).subs(start)
    name = r"\left(\mathrm{d} A / \mathrm{d} t\right)_{\mathrm{inertial}}"
    assert_allclose(numbers(rows(document)[name][0]), np.array(derivative, dtype=float).ravel(), rtol=1e-5)
    Omega, (theta, psi) = named(document)[r"\Omega"], sp.symbols("theta psi", real=True)
    phidot, thetadot, psidot = sp.symbols("phidot thetadot psidot", real=True)
    assert sp.simplify(Omega[0] - phidot * sp.cos(psi) * sp.cos(theta) + thetadot * sp.sin(psi)) == 0
    assert sp.simplify(Omega[2] - psidot + phidot * sp.sin(theta)) == 0
    full = sp.Matrix([[0.2, 0.01, 0.02], [0.01, 0.3, -0.03], [0.02, -0.03, 0.4]])
    w, alpha = sp.Matrix([0.5, -1.0, 2.0]), sp.Matrix([0.2, 0.4, -1.0])
    torque = np.array(full * alpha + w.cross(full * w), dtype=float).ravel()
    assert_allclose(numbers(rows(document)[r"\sum \tau"][0]), torque, rtol=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("body", [cr.rigid_body(2.0, COM, I), cr.rigid_body(1.0), BOX], ids=["full", "point", "box"])
def test_symbols_and_numbers_agree_and_units_are_checked(method, body):
    document = body.derivation(method)
    shown = rows(document)
    assert shown
    for left, right, _ in shown.values():
        assert_allclose(numbers(left), numbers(right), rtol=1e-5, atol=1e-9)
    assert "\\begin{document}" in document.latex()
    assert "<math" in document.html()


def test_a_body_with_a_wrong_expression_is_refused():
    problem = BodyProblem.of(Link("body", 2.0, Vector(0.1, 0.0, 0.0), Symmetric(1.0, 1.0, 1.0)), None)
    with pytest.raises(cr.ChainruleError, match="this rigid body is not to be trusted"):
        problem.check_number("m", problem.link.mass, [2.1])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "stein"}, UnknownNameError, "did you mean 'steiner'"),
        ({"numbers": {"omega": 1.0}}, UnknownNameError, "no symbol named 'omega'; did you mean 'omega_"),
        ({"numbers": [1.0]}, ShapeError, "numbers must be a dictionary"),
        ({"numbers": {"omega_x": "fast"}}, ShapeError, "derivation: omega_x must be real numbers"),
    ],
)
def test_wrong_arguments_say_what_is_expected(options, error, message):
    with pytest.raises(error, match=message):
        cr.rigid_body(2.0, COM, I).derivation(**options)


def test_a_symbol_of_the_body_that_the_sample_motion_has_is_refused():
    with pytest.raises(ShapeError, match=r"has the symbol 'v_x'.*body\.subs"):
        cr.rigid_body(sp.Symbol("v_x")).derivation()
