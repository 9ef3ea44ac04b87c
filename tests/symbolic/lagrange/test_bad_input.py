"""What energies, bodies, constraints and questions cannot be, and what is said then."""

import pytest
import sympy as sp
from sympy import cos, sin
from sympy.physics.mechanics import dynamicsymbols

import chainrule as cr
from chainrule.errors import ModelError, ShapeError, UnknownNameError
from chainrule.symbolic.lagrange.bodies import Friction, PointMass, RigidBody
from chainrule.symbolic.lagrange.lagrangian import Lagrangian

from .systems import held_bob, pendulum, rotated

m, k, l, b, tau, x, y, theta = sp.symbols("m k l b tau x y theta")
xdot, ydot, thetadot, xddot = sp.symbols("xdot ydot thetadot xddot")
K = m * xdot**2 / 2

BAD = {
    "cubic kinetic energy": (lambda: Lagrangian(x, m * xdot**3), ModelError, "not quadratic.*xdot"),
    "kinetic energy of a root": (lambda: Lagrangian(x, sp.sqrt(1 + xdot**2)), ModelError, "not quadratic"),
    "a forgotten square": (lambda: Lagrangian(x, K + m * xdot), ModelError, "was a square forgotten"),
    "a velocity not listed": (lambda: Lagrangian(x, K + m * ydot**2), ModelError, "ydot, the velocity of y.*add y"),
    "a function not listed": (
        lambda: Lagrangian(x, K + m * dynamicsymbols("y").diff() ** 2), ModelError, "which is not among the coordinates"),
    "a coordinate never used": (lambda: Lagrangian([x, y], K), ModelError, "coordinate y is never used"),
    "dependent coordinates": (
        lambda: Lagrangian([x, y], m * (xdot + 2 * ydot) ** 2), ModelError, "xdot = 1, ydot = -1/2"),
    "negative energy": (lambda: Lagrangian(x, -K), ModelError, "check its signs"),
    "potential of a velocity": (lambda: Lagrangian(x, K, b * xdot), ModelError, "friction="),
    "an acceleration": (lambda: Lagrangian(x, K * (1 + xddot)), ModelError, "an acceleration, xddot"),
    "nonholonomic constraint": (lambda: Lagrangian(x, K, constraints=[xdot]), ModelError, "holonomic"),
    "a constraint on nothing": (lambda: Lagrangian(x, K, constraints=[l - 1]), ModelError, "contains no coordinate"),
    "a constraint that is true": (lambda: Lagrangian(x, K, constraints=[sp.true]), ModelError, "always True"),
    "redundant constraints": (
        lambda: Lagrangian([x, y], K + m * ydot**2, constraints=[x - y, 2 * y - 2 * x]), ModelError,
        "constraint 2.*redundant.*constraint.s. 1"),
    "redundant where they hold": (
        lambda: Lagrangian([x, y, theta], K + m * ydot**2 + m * thetadot**2,
            constraints=[x - cos(theta), y - sin(theta), x**2 + y**2 - 1]), ModelError, "constraint 3.*redundant"),
    "too many constraints": (lambda: Lagrangian(x, K, constraints=[x, x - 1]), ModelError, "2 constraints on 1"),
    "a text": (lambda: Lagrangian(x, "m*xdot**2"), ShapeError, "must be a SymPy expression"),
    "nothing": (lambda: Lagrangian(x, None), ShapeError, "the kinetic energy must be"),
    "a matrix": (lambda: Lagrangian(x, sp.Matrix([K])), ShapeError, "must be one SymPy expression"),
    "infinity": (lambda: Lagrangian(x, sp.oo), ShapeError, "finite"),
    "no coordinates": (lambda: Lagrangian([], K), ShapeError, "at least one"),
    "a coordinate twice": (lambda: Lagrangian([x, x], K), ModelError, "two quantities"),
    "time as a coordinate": (lambda: Lagrangian("t", K), ModelError, "which is time"),
    "a coordinate that is a number": (lambda: Lagrangian([3], K), ShapeError, "a coordinate is a symbol"),
    "a name that is none": (lambda: Lagrangian("x+y", K), ShapeError, "letters and then an index"),
    "two symbols of one name": (
        lambda: Lagrangian(x, K + sp.Symbol("m", positive=True) * xdot**2), ModelError, "two symbols called m"),
    "a force's name that is taken": (lambda: Lagrangian(x, K, tau * x), ModelError, "another letter"),
    "too few forces": (lambda: Lagrangian([x, y], K + m * ydot**2, forces=[b]), ShapeError, "one entry for each"),
    "a force on another": (lambda: Lagrangian(x, K, forces={"y": b}), UnknownNameError, "no coordinate named 'y'"),
    "a place of one number": (lambda: Lagrangian.of_bodies(x, [PointMass(m, (x,))]), ShapeError, "position must be three"),
    "a place that is none": (lambda: Lagrangian.of_bodies(x, [PointMass(m, 3)]), ShapeError, "position must be three"),
    "a body that is none": (lambda: Lagrangian.of_bodies(x, [m]), ShapeError, "a body is a PointMass"),
    "a negative mass": (lambda: Lagrangian.of_bodies(x, [PointMass(-1, (x, 0))]), ModelError, "must not be negative"),
    "a rotation that is none": (
        lambda: Lagrangian.of_bodies(theta, [RigidBody(m, (1, 1, 1), (0, 0, 0), 2 * rotated(theta))]), ModelError,
        "orthonormal"),
    "an inertia that is none": (
        lambda: Lagrangian.of_bodies(theta, [RigidBody(m, (1, 1), (0, 0, 0), rotated(theta))]), ShapeError, "inertia must"),
    "a skew inertia": (
        lambda: Lagrangian.of_bodies(
            theta, [RigidBody(m, [[1, 1, 0], [0, 1, 0], [0, 0, 1]], (0, 0, 0), rotated(theta))]), ModelError, "symmetric"),
    "an unknown function": (lambda: pendulum().function("mass"), UnknownNameError, "mass_matrix"),
    "a missing parameter": (lambda: pendulum().function("mass_matrix", {"m": 1}), ShapeError, "'g', 'l'"),
    "an unknown parameter": (
        lambda: pendulum().function("mass_matrix", {"m": 1, "g": 1, "L": 1}), UnknownNameError, "no parameter named 'L'"),
    "multipliers of nothing": (lambda: pendulum().function("multipliers"), ModelError, "no constraints"),
    "a state too long": (
        lambda: pendulum().function("mass_matrix", {"m": 1, "g": 1, "l": 1})([1, 2]), ShapeError, "q must have 1 numbers"),
    "no machine code": (
        lambda: Lagrangian(x, K, sp.erf(x) * x).function("potential_energy"), ModelError, "compiled=False"),
    "linear where it does not rest": (
        lambda: pendulum(forces=0).linearize([1]), ModelError, "out of balance by"),
    "linear with dry friction": (
        lambda: pendulum(friction=[Friction(coulomb=1)]).linearize([0]), ModelError, "jumps at rest"),
    "linear off the constraint": (lambda: held_bob().linearize([0, 0]), ModelError, "fails there"),
    "an unknown input": (lambda: pendulum().equilibria({"u": 1}), UnknownNameError, "no input named 'u'"),
    "equilibria without a closed form": (
        lambda: Lagrangian(x, K, k * x**2 + sp.sin(x)).equilibria(), ModelError, "nsolve"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_says_what_is_wrong_and_what_to_do(case):
    call, error, message = BAD[case]
    with pytest.raises(error, match=f"(?s){message}") as caught:
        call()
    assert isinstance(caught.value, cr.ChainruleError)
