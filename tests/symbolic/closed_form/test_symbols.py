"""Users' own symbols: given by name, found by name, replaced by name, and refused where they clash."""

import numpy as np
import pytest
import sympy as sp

import chainrule as cr
from chainrule.errors import ModelError, ShapeError, UnknownNameError

pytestmark = pytest.mark.interpreted


THETA, A, G = sp.Symbol("theta"), sp.Symbol("a"), sp.Symbol("g")
CHOSEN = {"q_1": THETA, "L_1": A}
STATE = ([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])


@pytest.fixture(scope="module")
def robot():
    return cr.load("planar_2r").with_payload(1.0)


@pytest.fixture(scope="module")
def own(robot):
    return robot.equations(symbols=CHOSEN)


def test_equations_are_in_the_users_symbols(own, robot):
    assert own.g.free_symbols >= {THETA, A}
    assert own.g[0].subs({THETA: 0, A: 3}).has(A) is False  # the very symbols, whatever their assumptions
    assert [str(s) for s in (*own.q, *own.qd, *own.qdd)] == [
        "theta", "q_2", "thetadot", "qdot_2", "thetaddot", "qddot_2"
    ]  # fmt: skip
    np.testing.assert_allclose(own.lambdify()(*STATE), robot.inverse_dynamics(*STATE), rtol=1e-12)
    assert own.disagreement() == [0, 0]


def test_every_form_is_in_the_users_symbols(own, robot):
    assert r"\theta" in own.latex()
    assert r"\dot{\theta}" in own.latex("c")
    assert "θ̈" in own.pretty()
    assert "θ" in str(own)
    assert "L_1" not in str(own)
    assert "q₁" not in str(own)
    for language in ("c", "numpy", "octave", "julia", "modelica"):
        code = own.source_code(language, ["tau"])
        assert "L_1" not in code
        assert "a = " in code.replace(":=", "=")
    space = {}
    exec(own.source_code("numpy", ["tau"]), space)
    np.testing.assert_allclose(space["planar_2r_tau"](*map(np.array, STATE)), robot.inverse_dynamics(*STATE))
    assert {A, THETA} & own.intermediate("mass_matrix").results["mass_matrix"].free_symbols
    grouped = own.in_base_parameters()
    assert THETA in grouped.g.free_symbols
    assert any(A in x.free_symbols for x in grouped.definitions.values())


@pytest.mark.parametrize("method", ["newton-euler", "lagrange", "closed-form"])
def test_derivations_are_in_the_users_symbols(robot, method):
    text = robot.derivation(method, symbols=CHOSEN).latex()
    assert r"\theta" in text
    assert "L_{1}" not in text
    assert "q_{1}" not in text.replace(r"\dot{q}_{1}", "")
    if method == "lagrange":
        assert r"\frac{\partial L}{\partial \dot{\theta}}" in text


def test_kinematic_equations_are_in_the_users_symbols(robot):
    closed = robot.kinematic_equations(symbols={"q_1": THETA, "q_2": "phi", "L_1": A})
    assert str(closed.position[0]) == "L_2*cos(phi + theta) + a*cos(theta)"


def test_cosines_of_indexed_coordinates_are_shortened(robot):
    arms = robot.equations(symbols={"q_1": "theta_1", "q_2": "theta_2"})
    assert "c_{12}" in arms.latex("g", shorthand=True)
    assert r"\theta" not in arms.latex("g", shorthand=True)
    mixed = robot.equations(symbols={"q_1": "theta_1", "q_2": "phi_1"})
    assert "c_{1}" not in mixed.latex("g", shorthand=True)  # which of the two would it be?


def test_symbols_are_found_by_name(own):
    table = own.symbols
    assert table["L_1"] is A
    assert table["a"] is A
    assert table["q_1"] is THETA
    assert list(table)[:3] == ["q_1", "qdot_1", "qddot_1"]
    assert len(table) == len(list(table)) == 11
    entry = table.entry("L_2")
    assert (entry.meaning, entry.unit, entry.value) == ("length of link 2", "m", 1.0)
    assert "L_1 " in repr(table)
    assert "length of link 1" in repr(table)
    assert "<table" in table._repr_html_()
    with pytest.raises(UnknownNameError, match="no symbol named 'L_3'; did you mean 'L_2'"):
        table["L_3"]
    assert table.get("L_3") is None
    assert "L_3" not in table
    assert "p_1" in own.in_base_parameters().symbols
    assert own.in_base_parameters().symbols["q_1"] is THETA


def test_every_symbol_has_a_meaning_and_the_unit_of_its_quantity():
    arm = cr.load("puma560").edit(joints={"joint1": {"stiffness": 2.0, "rest": 0.1}}).equations()
    assert {"b_1", "f_1n", "J_2", "k_1", "q_01", "I_2xx", "m_3", "l_c2x", "d_1"} <= set(arm.symbols)
    assert all(entry.meaning and entry.unit for entry in arm.symbols.entries)
    slide = cr.load("planar_rp").edit(joints={"joint2": {"viscous": 0.1, "rotor": 0.2}}).equations().symbols
    assert (slide.entry("b_2").unit, slide.entry("J_2").unit) == ("N s/m", "kg")


def test_numbers_and_symbols_are_put_in_by_name(own, robot):
    heavy = own.subs({"m_1": 2, sp.Symbol("a"): 0.5, G: 9.81})
    assert not heavy.tau.free_symbols & {A, *own.symbols.values()} - {*own.q, *own.qd, *own.qdd, own.symbols["m_2"],
                                                                     own.symbols["L_2"]}  # fmt: skip
    assert heavy.g[1] == own.g[1].subs(own.symbols["g"], sp.Rational(981, 100)) or "9.81" in str(heavy.g[1])
    assert own.subs("m_2", "M").symbols["m_2"].name == "M"
    assert own.subs([("m_1", 3.0), ("m_2", 4.0)]).lambdify("M")([0.0, 0.0])[1, 1] == pytest.approx(4.0)
    both = robot.equations({"L_1": "L", "L_2": "L"}).subs("L", 2.0)
    assert both.lambdify("M")([0.0, 0.0])[1, 1] == pytest.approx(8.0)  # both lengths
    assert robot.kinematic_equations().symbolic.symbols["L_1"].name == "L_1"


def test_matrices_take_names_and_symbols_with_other_assumptions(own):
    for g in (G, "g", sp.Symbol("g", real=True)):
        assert not own.g.subs(g, 9.81).has(own.symbols["g"])
        assert not own.g.subs({g: 9.81}).has(own.symbols["g"])
    assert own.M.subs("g", 9.81) == own.M  # there is a g, in other terms
    assert own.g.subs([("m_1", 1), ("m_2", 1)]).free_symbols == {THETA, A, own.symbols["g"], own.symbols["L_2"],
                                                                 own.q[1]}  # fmt: skip
    assert own.g.subs("L_1", 2) == own.g.subs(A, 2)
    assert (own.M * own.M).subs("a", 1).has(A) is False
    with pytest.raises(UnknownNameError, match="no symbol named 'gg'"):
        own.g.subs("gg", 1)
    with pytest.raises(UnknownNameError, match="this matrix has no symbol named 'gg'"):
        (own.M * own.M).subs("gg", 1)
    with pytest.raises(ShapeError, match="an old and a new symbol"):
        own.g.subs("g")


@pytest.mark.parametrize(
    ("old", "new", "error", "match"),
    [
        ({"m_9": 1.0}, None, UnknownNameError, "no symbol named 'm_9'; did you mean"),
        ("m_1", A * 2, ShapeError, r"'m_1' can be replaced by a number or a symbol, not by the expression 2\*a"),
        ("q_2", 0.0, ShapeError, "'q_2' is a coordinate.*robot.lock"),
        ("m_1", float("nan"), ShapeError, "'m_1' must be a finite number"),
        ("m_1", None, ShapeError, "an old and a new symbol"),
        ({3: 1.0}, None, ShapeError, "named by text or is a SymPy symbol"),
    ],
)
def test_what_cannot_be_put_in_is_refused(own, old, new, error, match):
    with pytest.raises(error, match=match):
        own.subs(old, new)


def test_names_with_two_meanings_are_refused(robot):
    swapped = robot.equations({"m_1": "m_2", "m_2": "m_1"})
    with pytest.raises(ShapeError, match="'m_1' has two meanings here"):
        swapped.subs("m_1", 3.0)
    assert swapped.subs(swapped.symbols["m_1"], 3.0).symbols.get("m_2").name == "m_1"
    with pytest.raises(ModelError, match=r"equations.subs\(...\).in_base_parameters"):
        robot.equations().in_base_parameters().subs("g", 1.0)


@pytest.mark.parametrize(
    ("symbols", "match"),
    [
        ({"L_1": 2 * A}, r"symbols\['L_1'\] must be a SymPy symbol or a name, got Mul"),
        ({"q_1": sp.Function("theta")(sp.Symbol("t"))}, r"symbols\['q_1'\] must be a SymPy symbol"),
        ({"L_1": 2.0}, r"symbols\['L_1'\] must be a SymPy symbol"),
        ({"q_1": THETA, "q_2": THETA}, "'q_1' and 'q_2' cannot both be called 'theta'"),
        ({"q_1": "g"}, "'q_1' and 'g' cannot both be called 'g': at least one of them is a coordinate"),
        ({"L_1": "thetadot", "q_1": THETA}, "'qdot_1' and 'L_1' cannot both be called 'thetadot'"),
        ({"L_1": "m_1"}, "'L_1' and 'm_1' cannot both be called 'm_1': one is in m and the other in kg"),
        ({"L_1": A, "L_2": sp.Symbol("a", positive=True)}, "two symbols with different assumptions"),
        ({"q_1": sp.Symbol("x", positive=True)}, "x is assumed to be positive, and 'q_1' takes every real value"),
        ({"q_1": sp.Symbol("x", real=False)}, "x is assumed to be not real"),
        ({"L_1": sp.Symbol("x", negative=True)}, "x is assumed to be negative, and the parameter 'L_1' is 1.0"),
        ({"L_1": sp.Symbol("x y")}, "letters, digits and underscores, got 'x y'"),
        ({"L_1": r"\ell"}, "letters, digits and underscores"),
        ({"q_1": "_"}, "letters and then an index"),
        ({"L_1": A, sp.Symbol("L_1"): A}, "'L_1' is twice in symbols"),
        ({1: A}, "keys of symbols are names or symbols, got 1"),
        ([("L_1", A)], "symbols must be a dictionary"),
    ],
)
def test_symbols_that_clash_or_are_none_are_refused(robot, symbols, match):
    with pytest.raises(ShapeError, match=match):
        robot.equations(symbols=symbols)


def test_symbols_of_what_is_not_there_are_refused(robot):
    with pytest.raises(UnknownNameError, match="no parameter named 'L_7'"):
        robot.equations(symbols={"L_7": A})
    with pytest.raises(ShapeError, match="'L_1' has no symbol where parameters are 'numeric'"):
        robot.equations("numeric", symbols={"L_1": A})
    with pytest.raises(ShapeError, match="'m_1' is in parameters and in symbols"):
        robot.equations({"m_1": 2.0}, symbols={"m_1": A})
    assert THETA in robot.equations("numeric", symbols={"q_1": THETA}).g.free_symbols


def test_a_name_that_python_and_c_cannot_write(robot):
    greek = robot.equations(symbols={"L_1": sp.Symbol("λ"), "q_1": "θ"})
    np.testing.assert_allclose(greek.lambdify()(*STATE), robot.inverse_dynamics(*STATE), rtol=1e-12)
    assert greek.source_code("c", ["g"]).isascii()
