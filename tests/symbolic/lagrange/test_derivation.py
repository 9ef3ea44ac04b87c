"""Lagrange's equations step by step: every step is the derivative that it says, the last is the result."""

import pytest
import sympy as sp

from chainrule.symbolic import Friction, Lagrangian, PointMass, coordinates, generalized_force
from chainrule.symbolic.documents.blocks import Equation, Formula, Heading
from symbolic.lagrange.systems import arm_2r, arm_rp, gantry, m, pendulum, t, theta, x, xdot

pytestmark = pytest.mark.interpreted


SYSTEMS = {
    "particle": lambda: Lagrangian([x], m * xdot**2 / 2, m * 9.81 * x, forces="f"),
    "2R": arm_2r, "RP": arm_rp, "gantry": gantry, "pendulum": pendulum,
    "friction": lambda: pendulum(friction=[Friction(viscous=0.5, coulomb=2)]),
    "constraint": lambda: Lagrangian.of_bodies("x y", [PointMass(m, sp.symbols("x y"))], gravity=(0, -9.81),
                                               constraints=[x**2 + sp.Symbol("y") ** 2 - 1]),
    "prescribed": lambda: Lagrangian.of_bodies(theta, [PointMass(m, (sp.sin(t) + sp.cos(theta), sp.sin(theta)))]),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_step_is_the_derivative_that_it_names(name):
    system = SYSTEMS[name]()
    document = system.derivation()
    steps = {block.sides[0].latex: block.sides[-1] for block in document.blocks if is_named(block)}
    L = system.lagrangian
    assert sp.expand(steps["K"] - steps["P"] - L) == 0
    for q, qd in zip(system.q, system.qd, strict=True):
        own, rate = sp.latex(q), sp.latex(qd)
        momentum, slope = L.diff(qd), L.diff(q)
        growth = steps[rf"\frac{{\mathrm{{d}}}}{{\mathrm{{d}} t}} \, \frac{{\partial L}}{{\partial {rate}}}"]
        assert sp.simplify(steps[rf"\frac{{\partial L}}{{\partial {rate}}}"] - momentum) == 0
        assert sp.simplify(steps[rf"\frac{{\partial L}}{{\partial {own}}}"] - slope) == 0
        assert sp.simplify(growth - system.coordinates.rate(momentum)) == 0
        i = system.q.index(q)
        assert sp.simplify(growth - slope + system.friction[i] - system.tau[i]) == 0
    assert sp.simplify(steps["M"] - system.M) == sp.zeros(*system.M.shape)
    for text in (document.text(), document.latex(), document.markdown(), document.html(), document.notebook()):
        assert len(text) > 500


def is_named(block):
    return isinstance(block, Equation) and isinstance(block.sides[0], Formula)


def test_the_document_says_what_else_acts():
    assert "Friction, which resists" in SYSTEMS["friction"]().derivation().text()
    tied = SYSTEMS["constraint"]().derivation("A bead on a ring")
    assert tied.title == "A bead on a ring"
    assert "Constraints" in [block.text for block in tied.blocks if isinstance(block, Heading)]
    assert "A motion is prescribed" in SYSTEMS["prescribed"]().derivation().text()


def test_generalized_forces_take_coordinates_as_a_lagrangian_does():
    F, l = sp.symbols("F l")
    hand = (l * sp.cos(theta), l * sp.sin(theta))
    expected = [-F * l * sp.sin(theta)]
    assert generalized_force((F, 0), hand, [theta]) == expected
    assert generalized_force((F, 0), hand, "theta") == expected
    assert generalized_force((F, 0), hand, coordinates("theta")) == expected
    pushed = Lagrangian.of_bodies(theta, [PointMass(m, hand)], forces=generalized_force((F, 0), hand, theta))
    assert pushed.inputs == (F,)
