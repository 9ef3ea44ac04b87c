"""Straight-line code made shorter: like terms merged, common factors taken out, single uses written in place."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.compile.program import trace_function
from chainrule.compile.tape import Instruction, Tape
from chainrule.errors import ShapeError
from chainrule.symbolic.closed_form.assignments import StraightLineProgram

pytestmark = pytest.mark.interpreted


A, B, C, D = SYMBOLS = sp.symbols("a b c d")


def lines_of(make, count=4):
    lines = StraightLineProgram.of(trace_function(lambda x: make(*x), [count]))
    lines.shorten()
    return lines


def shown(make):
    assignments, results = lines_of(make).write(SYMBOLS, "x")
    return [f"{name} = {value}" for name, value in assignments] + [str(x) for x in results]


def test_like_terms_are_merged():
    assert shown(lambda a, b, c, d: [0.25 * a + (0.25 * a + (a + b))]) == ["3*a/2 + b"]
    assert shown(lambda a, b, c, d: [(a + b) - (b - a)]) == ["2*a"]
    assert shown(lambda a, b, c, d: [a * b - b * a + c]) == ["c"]


def test_common_factors_are_taken_out():
    assert shown(lambda a, b, c, d: [a * b + (c + a * d)]) == ["a*(b + d) + c"]
    assert shown(lambda a, b, c, d: [a * (b * c) + (a * b) * d]) == ["a*b*(c + d)"]
    assert shown(lambda a, b, c, d: [3 * a + 3 * b]) == ["3*(a + b)"]


def test_what_is_used_twice_is_named_and_what_is_used_once_is_not():
    assert shown(lambda a, b, c, d: [(a + b) * c, (a + b) * d]) == ["x_1 = a + b", "c*x_1", "d*x_1"]
    assert shown(lambda a, b, c, d: [np.sin(a + b) / c]) == ["sin(a + b)/c"]


def test_operations_are_counted_once():
    counts = lines_of(lambda a, b, c, d: [np.cos(a) * b + c, np.cos(a) * d, -a]).count_operations()
    assert counts == {"additions": 2, "multiplications": 2, "trigonometric": 1, "total": 5}


OPERATIONS = st.lists(st.tuples(st.sampled_from("+-*n2s"), st.integers(0, 30), st.integers(0, 30)), max_size=25)


@given(OPERATIONS)
@settings(max_examples=60)
def test_any_arithmetic_keeps_its_value(operations):
    def build(*inputs):
        values = list(inputs)
        for name, i, j in operations:
            a, b = values[i % len(values)], values[j % len(values)]
            one = {"+": a + b, "-": a - b, "*": a * b, "n": -a, "2": 0.5 * a, "s": np.sin(a)}[name]
            values.append(one)
        return values[-3:]

    lines = lines_of(build)
    assignments, results = lines.write(SYMBOLS, "x")
    numbers = [0.3, -0.7, 1.1, 0.4]
    known = dict(zip(SYMBOLS, numbers, strict=True))
    for name, value in assignments:
        known[name] = value.subs(known)
    expected = [float(x) for x in build(*numbers)]
    np.testing.assert_allclose([float(x.subs(known)) for x in results], expected, rtol=1e-9, atol=1e-9)


def test_what_has_no_formula_is_refused():
    tape = Tape((1,), (Instruction("input"), Instruction("abs", (0,))), (1,))
    with pytest.raises(ShapeError, match="the operation 'abs'"):
        StraightLineProgram.of(tape)


PEERS = {
    ("planar_2r", "symbolic"): (14, 36), ("planar_2r", "numeric"): (4, 27), ("planar_rp", "symbolic"): (7, 25),
    ("planar_rp", "numeric"): (2, 17), ("planar_3r", "symbolic"): (56, 86), ("planar_3r", "numeric"): (20, 99),
    ("spatial_3r", "symbolic"): (155, 244), ("spatial_3r", "numeric"): (57, 423), ("scara", "symbolic"): (40, 79),
    ("scara", "numeric"): (5, 29),
}  # fmt: skip
"""Operations of the mass matrix and of the torques: the fewest of Kane's method and Robotics Toolbox, as measured by
benchmarks/equations.py."""


@pytest.mark.parametrize(("name", "parameters"), PEERS)
def test_no_peer_has_fewer_operations(name, parameters):
    robot = (
        cr.load("puma560" if name == "spatial_3r" else name)
        .without_friction()
        .edit(joints={"*": {"rotor": 0}})
        .without_spring()
    )
    if name == "spatial_3r":
        robot = robot.lock({"joint4": 0.0, "joint5": 0.0, "joint6": 0.0})
    equations = robot.equations(parameters)
    for term, function, most in zip(("M", "tau"), ("mass_matrix", "inverse_dynamics"), PEERS[name, parameters],
                                    strict=True):  # fmt: skip
        listed = equations.intermediate(function).operations["total"]
        closed = equations.cse(term)
        written = [e for _, e in closed[0]] + list(closed[1][term])
        assert min(listed, cr.symbolic.closed_form.forms.count_operations(written)["total"]) <= most


def test_a_long_chain_of_lines_needs_no_deep_recursion():
    def build(a, b, c, d):
        x = a
        for _ in range(2000):
            x = b + x * np.sin(x)  # used twice, and so a line of its own
        return [x]

    assignments, _ = lines_of(build).write(SYMBOLS, "x")
    assert len(assignments) >= 1999
