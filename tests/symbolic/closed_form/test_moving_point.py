"""A point that moves in a link's frame, in symbols: derivatives of its position, and the terms of the robot."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.errors import ChainruleError

pytestmark = pytest.mark.interpreted

t = sp.Symbol("t")


def at_instant(expression, functions):
    """Derivatives of functions of time as the symbols of rates, by the functions' names."""
    for f, (x, x_dot, x_ddot) in functions.items():
        expression = expression.subs(f.diff(t, 2), x_ddot).subs(f.diff(t), x_dot).subs(f, x)
    return expression


def test_the_total_is_the_derivative_of_the_position_of_the_point():
    """P = (x, y) in link 2 of a planar arm: its position, written by hand, differentiated twice by SymPy."""
    equations = cr.load("planar_2r").kinematic_equations("link2")
    names = ("q_1", "q_2", "x", "y")
    symbols = {name: sp.symbols(f"{name} {name[0]}dot{name[1:]} {name[0]}ddot{name[1:]}", real=True) for name in names}
    f = {name: sp.Function(name)(t) for name in names}
    L = sp.Symbol("L_1", positive=True)
    angle = f["q_1"] + f["q_2"]
    position = sp.Matrix([
        L * sp.cos(f["q_1"]) + f["x"] * sp.cos(angle) - f["y"] * sp.sin(angle),
        L * sp.sin(f["q_1"]) + f["x"] * sp.sin(angle) + f["y"] * sp.cos(angle),
        0,
    ])  # fmt: skip
    functions = {f[name]: symbols[name] for name in names}
    P, V, A = ((symbols["x"][k], symbols["y"][k], 0) for k in range(3))
    found = equations.acceleration_terms(P, point_velocity=V, point_acceleration=A)
    expected = at_instant(position.diff(t, 2), functions)
    assert sp.simplify(sp.Matrix(found.total) - expected) == sp.zeros(3, 1)
    speed = equations.velocity_terms(P, point_velocity=V)
    assert sp.simplify(sp.Matrix(speed.total) - at_instant(position.diff(t), functions)) == sp.zeros(3, 1)
    w = symbols["q_1"][1] + symbols["q_2"][1]
    R = sp.rot_ccw_axis3(symbols["q_1"][0] + symbols["q_2"][0])
    coriolis = 2 * sp.Matrix([0, 0, w]).cross(R * sp.Matrix(V))
    assert sp.simplify(sp.Matrix(found.coriolis) - coriolis) == sp.zeros(3, 1)


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize(("name", "link", "point"), [("planar_rp", "link1", "link2"), ("scara", "inner_arm", "quill")])
def test_the_terms_of_a_link_further_out_are_those_of_the_robot(name, link, point, frame):
    robot = cr.load(name).reference
    rng = np.random.default_rng(5)
    q, qd, qdd = robot.random_state(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    equations = robot.kinematic_equations(link)
    values = dict(equations.parameters)
    for letter, part in zip(("q", "qdot", "qddot"), (q, qd, qdd), strict=True):
        values |= {sp.Symbol(f"{letter}_{i + 1}", real=True): x for i, x in enumerate(part)}
    pairs = [
        (equations.velocity_terms(point, frame=frame), robot.textbook.velocity_terms(q, qd, link, point, frame=frame)),
        (
            equations.acceleration_terms(point, frame=frame, gravity=True),
            robot.textbook.acceleration_terms(q, qd, qdd, link, point, frame=frame, gravity=True),
        ),
    ]
    for found, expected in pairs:
        assert list(found.terms) == list(expected.terms)
        for term in (*expected.terms, "total"):
            ours = np.array(sp.Matrix(getattr(found, term)).subs(values).evalf(), dtype=float).ravel()
            assert_allclose(ours, getattr(expected, term), rtol=1e-9, atol=1e-9)


def test_they_print_as_equations():
    terms = cr.load("planar_2r").kinematic_equations("link1").acceleration_terms("tip")
    text = str(terms)
    assert "The acceleration of the origin of tip in the frame of link1" in text
    assert "R V_Q" in text
    assert "<math" in terms._repr_html_()
    assert "\\Omega" in terms.document().latex()
    assert repr(terms).startswith("<The acceleration of the origin of tip in the frame of link1 in symbols: origin,")
    assert terms.total.subs({"L_1": 1, "L_2": 1}).free_symbols < terms.total.free_symbols


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.velocity_terms("base"), "'link1' does not carry 'base'"),
        (lambda e: e.velocity_terms("tip", point_velocity=(1, 0, 0)), "leave out point_velocity"),
        (lambda e: e.acceleration_terms((1, 2)), "point must have 3 entries"),
        (lambda e: e.acceleration_terms(("a", 0, 0)), "got the text 'a'"),
        (lambda e: e.acceleration_terms(frame="space"), "no frame of an acceleration named 'space'"),
        (lambda e: e.velocity_terms("tp"), "did you mean 'tip'"),
        (lambda e: e.velocity_terms().to_pandas(), "terms are in symbols"),
    ],
)
def test_wrong_arguments_say_what_to_do(call, message):
    with pytest.raises(ChainruleError, match=message):
        call(cr.load("planar_2r").kinematic_equations("link1"))
