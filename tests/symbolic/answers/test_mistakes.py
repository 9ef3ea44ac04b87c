"""Answers made wrong on purpose: the diagnosis names what was done to the right one."""

import functools

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr

pytestmark = pytest.mark.interpreted

PLACES = [
    (robot, term)
    for robot, terms in {
        "planar_2r": ("M", "c", "g", "tau"), "planar_rp": ("M", "c", "g", "tau"), "planar_3r": ("M", "c", "g"),
        "scara": ("M", "c", "g"), "pendulum": ("g", "tau"), "stanford": ("g",),
    }.items()
    for term in terms
]  # fmt: skip


@functools.cache
def equations(name):
    return cr.load(name).equations()


def terms_of(expression):
    return sorted(sp.Add.make_args(sp.expand(expression)), key=str)


@st.composite
def wrong_answers(draw):
    """An equation, its right term, one entry of which a term was mutated, and what was done to it."""
    robot, name = draw(st.sampled_from(PLACES))
    right = equations(robot).term(name)
    k = draw(st.sampled_from([k for k, entry in enumerate(right) if entry != 0]))
    terms = terms_of(right[k])
    term = draw(st.sampled_from(terms))
    functions = sorted(term.atoms(sp.sin, sp.cos), key=str)
    kinds = ["sign", "factor", "missing term"] + ["function"] * bool(functions)
    kind = draw(st.sampled_from(kinds))
    if kind == "sign":
        wrong = -term
    elif kind == "factor":
        wrong = draw(st.sampled_from([2, sp.Rational(1, 2), 3])) * term
    elif kind == "missing term":
        wrong = sp.S.Zero
    else:
        f = draw(st.sampled_from(functions))
        other = (sp.cos if isinstance(f, sp.sin) else sp.sin)(f.args[0])
        kind = "sine for cosine" if isinstance(f, sp.cos) else "cosine for sine"
        wrong = term.xreplace({f: other})
    answer = sp.Matrix(right)
    answer[k] = sp.expand(right[k]) - term + wrong
    return robot, name, answer, kind, k, term, wrong


@settings(max_examples=120, deadline=None, derandomize=True)
@given(wrong_answers())
def test_the_mutation_of_one_term_is_named(case):
    robot, name, answer, kind, k, term, wrong = case
    eqs = equations(robot)
    found = eqs.check(name, answer)
    assert not found
    assert len(found.differences) == 1
    (difference,) = found.differences
    i, j = divmod(k, answer.cols)
    assert difference.entry == (f"{name}[{i + 1}]" if answer.cols == 1 else f"{name}[{i + 1},{j + 1}]")
    alone = len(terms_of(eqs.term(name)[k])) == 1
    if kind == "missing term" and alone:
        assert "is zero" in difference.message
    assert difference.kind == kind
    # what it says is wrong and right explains the answer, whatever the term is called
    removed = difference.right if difference.right is not None else 0
    put = difference.given if difference.given is not None else 0
    assert sp.expand(sp.expand_trig(sp.expand(put - removed - wrong + term))) == 0


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(PLACES), st.data())
def test_an_extra_term_is_named(place, data):
    eqs = equations(place[0])
    right = eqs.term(place[1])
    k = data.draw(st.integers(0, len(right) - 1))
    m = data.draw(st.sampled_from([s for s in eqs.parameters if s.name.startswith("m_")]))
    extra = 7 * m**3 * sp.cos(eqs.q[0]) * sp.sin(eqs.q[0])
    answer = sp.Matrix(right)
    answer[k] += extra
    (difference,) = eqs.check(place[1], answer).differences
    assert difference.kind == "extra term"
    assert sp.simplify(difference.given - extra) == 0


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(PLACES), st.data())
def test_exchanged_symbols_are_named(place, data):
    eqs = equations(place[0])
    right = eqs.term(place[1])
    units = {entry.symbol: entry.unit for entry in eqs.symbols.entries}
    used = sorted(right.free_symbols & set(eqs.parameters), key=str)
    pairs = [(a, b) for a in used for b in used if str(a) < str(b) and units[a] == units[b]]
    if not pairs:
        return
    a, b = data.draw(st.sampled_from(pairs))
    answer = sp.Matrix(right.subs({a: b, b: a}, simultaneous=True))
    found = eqs.check(place[1], answer)
    assert bool(found) == (sp.expand(sp.Matrix(right) - answer) == sp.zeros(*answer.shape))
    wrong = [k for k in range(len(right)) if sp.expand(right[k] - answer[k]) != 0]
    if len(wrong) > 1:
        assert [d.kind for d in found.differences] == ["exchanged symbols"]
    assert {d.kind for d in found.differences} <= {"exchanged symbols", "symbol", "missing term", "extra term"}


@pytest.mark.parametrize(("robot", "name"), PLACES)
def test_right_answers_are_right_however_they_are_written(robot, name):
    eqs = equations(robot)
    right = eqs.term(name)
    assert eqs.check(name, right)
    assert eqs.check(name, sp.Matrix(right).applyfunc(sp.expand_trig))
    assert eqs.check(name, sp.Matrix(right).applyfunc(sp.expand))
    assert eqs.check(name, eqs.latex(name)), "the LaTeX that the library prints is read back"
    angle = sp.Symbol("theta_1", real=True)
    assert eqs.check(name, right.subs(eqs.q[0], angle))


def test_two_mistakes_in_one_entry_are_both_named():
    eqs = equations("planar_3r")
    right = sp.Matrix(eqs.g)
    first, second, *rest = terms_of(right[0])
    right[0] = -first + 2 * second + sum(rest)
    found = eqs.check("g", right)
    assert sorted(d.kind for d in found.differences) == ["factor", "sign"]


def test_mistakes_of_a_whole_matrix_are_one():
    eqs = equations("planar_2r")
    q1 = eqs.q[0]
    (only,) = eqs.check("g", -eqs.g).differences
    assert only.kind == "sign"
    assert only.entry == ""
    (only,) = eqs.check("g", eqs.g.subs(q1, q1 - sp.pi / 2)).differences
    assert only.kind == "sine for cosine"
    assert "another axis" in only.message
    (only,) = eqs.check("g", eqs.g.replace(sp.cos, sp.sin)).differences
    assert only.kind == "sine for cosine"
    J = cr.load("planar_2r").kinematic_equations()
    (only,) = J.check("J", J.J.subs(q1, q1 - sp.pi / 2)).differences
    assert only.kind == "angle"
    assert "another axis" in only.message
    (only,) = J.check("J", J.J[3:, :].col_join(J.J[:3, :])).differences
    assert only.kind == "order of rows"
    assert not eqs.check("C", 2 * sp.Matrix(eqs.C))


def test_any_coriolis_matrix_with_the_right_product_is_right():
    eqs = equations("planar_2r")
    u, v = eqs.qd
    skew = sp.Matrix([[v, -u], [0, 0]]) * eqs.symbols["m_2"] * eqs.symbols["L_1"] ** 2
    found = eqs.check("C", sp.Matrix(eqs.C) + skew)
    assert found
    assert "Christoffel" in str(found)


def test_powers_and_symbols_of_one_term_are_named_with_their_units():
    eqs = equations("planar_2r")
    m1, L1, L2 = (eqs.symbols[name] for name in ("m_1", "L_1", "L_2"))
    M = sp.Matrix(eqs.M)
    M[0, 0] = sp.expand(M[0, 0]) - m1 * L1**2 + m1 * L1
    (only,) = eqs.check("M", M).differences
    assert only.kind == "power"
    assert "[kg m]" in only.message
    assert "[kg m^2]" in only.message
    M = sp.Matrix(eqs.M)
    M[1, 1] = m1 * L2**2
    (only,) = eqs.check("M", M).differences
    assert only.kind == "symbol"
    assert only.given == m1 * L2**2


def test_an_answer_of_a_large_robot_is_checked_in_bounded_time():
    eqs = cr.load("puma560").equations()
    right = eqs.M
    wrong = sp.Matrix(right)
    wrong[0, 0] = right[0, 0] + sp.Symbol("m_2") * sp.Symbol("a_2") ** 2
    found = eqs.check("M", wrong)
    assert not found
    assert {d.entry for d in found.differences} == {"M[1,1]"}
