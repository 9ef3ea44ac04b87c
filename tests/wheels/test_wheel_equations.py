"""Equations of wheeled bases in symbols: those of the lectures, and the numbers of the bases."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.errors import ChainruleError, UnknownNameError
from chainrule.wheels import Car, DifferentialDrive, Omnidirectional, Unicycle
from chainrule.wheels.equations import with_check

pytestmark = pytest.mark.interpreted

BASES = {
    "unicycle": Unicycle(),
    "drive": DifferentialDrive(radius=0.03, separation=0.24),
    "car": Car(wheelbase=2.5),
    "mecanum": Omnidirectional.mecanum(radius=0.1, length=0.6, width=0.4),
    "three": Omnidirectional.three_wheels(radius=0.1, distance=0.3),
    "odd": Omnidirectional(0.1, np.array([[0.3, 0.1, 0.2, 0], [-0.2, 0.3, 2.0, 0.3], [0.1, -0.4, -1.9, 0]])),
}
theta, r, b, w_1, w_2 = sp.symbols("theta r b w_1 w_2")


def plain(matrix):
    """A matrix with symbols that have no assumptions."""
    return sp.Matrix(matrix).xreplace({s: sp.Symbol(s.name) for s in matrix.free_symbols})


def numbers(matrix, values):
    return np.array(plain(matrix).subs(values).evalf(), dtype=float)


@pytest.mark.parametrize("name", BASES)
def test_with_numbers_they_are_the_base(name):
    base, equations = BASES[name], BASES[name].equations()
    rng = np.random.default_rng(4)
    u = rng.uniform(0.1, 1.0, len(equations.controls))
    if isinstance(base, Omnidirectional):
        u = base.wheel_speeds(rng.normal(size=3))
    values = {s.name: x for s, x in equations.parameters.items()}
    values |= {s.name: x for s, x in zip(equations.controls, u, strict=True)} | {"theta": -1.1}
    assert_allclose(numbers(equations.twist, values).ravel(), base.twist(u), atol=1e-12)
    rates = base.pose_rates([0.0, 0.0, -1.1], u)
    assert_allclose(numbers(equations.pose_rates, values).ravel(), rates, atol=1e-12)
    velocities = [x for s, x in zip(equations.controls, u, strict=True) if s in equations.rates]
    A = numbers(equations.constraints, values)
    assert_allclose(A @ [*rates, *velocities], 0.0, atol=1e-12)
    assert np.linalg.matrix_rank(A) == len(A)


def test_the_differential_drive_of_the_lecture():
    equations = BASES["drive"].equations()
    v, omega = r * (w_1 + w_2) / 2, (r * w_2 - r * w_1) / (2 * b)
    expected = sp.Matrix([[sp.cos(theta), 0], [sp.sin(theta), 0], [0, 1]])
    assert plain(equations.velocity_map) == expected
    assert sp.simplify(plain(equations.pose_rates) - expected * sp.Matrix([v, omega])) == sp.zeros(3, 1)
    assert list(equations.parameters.values()) == [0.03, 0.12]


def test_a_mecanum_base_has_the_matrix_of_the_textbook():
    """Lynch & Park, eq. 13.10: vx, vy and omega of four wheels, in our order, front left and then clockwise."""
    w = sp.symbols("w_1:5")
    twist = plain(BASES["mecanum"].equations().twist)
    l, width = sp.symbols("l w")
    expected = [
        r * sum(w) / 4,
        r * (-w[0] + w[1] - w[2] + w[3]) / 4,
        r * (-w[0] + w[1] + w[2] - w[3]) / (4 * (l + width)),
    ]
    assert sp.simplify(twist - sp.Matrix(expected)) == sp.zeros(3, 1)


def test_three_wheels_around_the_middle_share_their_distance():
    equations = BASES["three"].equations()
    assert [s.name for s in equations.parameters] == ["r", "d"]
    w, d = sp.symbols("w_1:4"), sp.Symbol("d")
    assert sp.simplify(plain(equations.twist)[2] + r * sum(w) / (3 * d)) == 0


def test_numbers_in_place_of_symbols():
    drive = BASES["drive"].equations().subs({"r": 0.5})
    assert [s.name for s in drive.parameters] == ["b"]
    assert sp.simplify(plain(drive.twist)[0] - (w_1 + w_2) / 4) == 0
    with pytest.raises(UnknownNameError, match="differential drive has no parameter named 'R'"):
        BASES["drive"].equations().subs({"R": 1.0})
    with pytest.raises(ChainruleError, match="not evaluated"):
        BASES["drive"].equations().subs({"r": "1"})


def test_they_print_as_equations():
    equations = BASES["car"].equations()
    assert str(equations).startswith("The kinematics of a car")
    assert "<math" in equations._repr_html_()
    assert "\\tan" in equations.document().latex()
    assert repr(equations) == "<Equations of a car: controls v, delta>"


def test_equations_of_another_base_are_refused():
    other = DifferentialDrive(radius=0.04, separation=0.24)
    with pytest.raises(ChainruleError, match="not those of the base in numbers"):
        with_check(BASES["drive"].equations(), other.twist, [0.4, 0.3])
    with pytest.raises(NotImplementedError):
        cr.wheels.Base().equations()
