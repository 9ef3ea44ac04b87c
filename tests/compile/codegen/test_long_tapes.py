"""Long tapes: short parts, and values that go to scratch memory where registers run out; programs that copy nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.compile.codegen import vectorize
from chainrule.compile.codegen.vectorize import Lanes
from chainrule.compile.program import Location, Outliner, trace_function
from chainrule.compile.scan import CompiledScan
from chainrule.compile.trace import trace
from chainrule.compile.ufunc import compile_ufunc
from chainrule.core.derived import merged_model
from chainrule.functions.reference import evaluate


@pytest.mark.parametrize("waiting", [1, 3, 28])
def test_values_that_wait_in_scratch_memory_change_no_number(waiting, monkeypatch):
    robot = cr.load("puma560")
    tape = trace(merged_model(robot), "coriolis_matrix")
    monkeypatch.setattr(vectorize, "LONG_TAPE", 100)
    monkeypatch.setattr(vectorize, "LONG_TAPE_PART_INSTRUCTIONS", 50)
    monkeypatch.setattr(vectorize, "MAX_LIVE_VALUES", waiting)
    q, qd = np.random.default_rng(0).normal(size=(2, 9, 6))
    found = compile_ufunc(tape, "coriolis_matrix", "a test")(q, qd)
    expected = evaluate(merged_model(robot), "coriolis_matrix", (q, qd))
    assert_allclose(found.reshape(9, 6, 6), expected, rtol=1e-12, atol=1e-12)


def test_a_value_of_many_outputs_stays_in_scratch_memory_to_the_end(monkeypatch):
    monkeypatch.setattr(vectorize, "LONG_TAPE", 10)
    monkeypatch.setattr(vectorize, "LONG_TAPE_PART_INSTRUCTIONS", 7)
    monkeypatch.setattr(vectorize, "MAX_LIVE_VALUES", 2)

    def text(x):
        total = x[0] * x[1]
        powers = [total]
        for _ in range(20):
            powers.append(powers[-1] * x[0] + total)
        return [*powers, *[total] * (vectorize.MAX_PLACES + 1)]

    x = np.array([[0.5, 2.0], [0.25, 3.0]])
    found = compile_ufunc(trace_function(text, [2]), "powers", "a test")(x)
    assert_allclose(found, np.array(text(x.T)).T, rtol=1e-15)


def program():
    """A state (a, b) that takes two steps of a function of (b, a), (p) and (a + b): one list of it lies nowhere yet."""
    outliner = Outliner((1, 2, 0))
    p, state, _ = outliner.inputs

    def rate(x, p, s):
        return [p[0] * x[0] - s[0], p[0] * x[1]]

    for _ in range(2):
        state = outliner.call("rate", rate, state, p, [state[0] + state[1]])
    return outliner.program([*state, state[0] * state[1]])


def test_arguments_of_a_call_are_read_where_they_lie():
    first, second, last = program().segments
    assert first.arguments == (Location(1, 0), Location(0, 0), Location(None, 0))
    assert second.arguments == (Location(3, 0), Location(0, 0), Location(None, 0))
    assert len(first.tape.outputs) == len(second.tape.outputs) == 1
    assert last.calls is None


def test_a_call_whose_arguments_all_lie_somewhere_has_no_code_before_it():
    outliner = Outliner((1, 2, 0))
    p, state, _ = outliner.inputs
    after = outliner.call("scale", lambda x, p: [p[0] * x[0], p[0] * x[1]], state, p)
    made = outliner.program([*after, after[0]])
    assert made.segments[0].tape.outputs == ()
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    CompiledScan(made, 1, Lanes(64, 2), "scale", "a test")(rows, np.full((2, 1), 0.5), 2)
    assert rows.tolist() == [[0.25, 0.5], [0.75, 1.0]]


@pytest.mark.parametrize("width", [1, 2])
def test_a_program_with_calls(width):
    rows = np.array([[1.0, 2.0], [-0.5, 0.25], [3.0, 0.0]])
    expected = rows.copy()
    for _ in range(2):
        expected = np.stack([0.5 * expected[:, 0] - expected.sum(axis=1), 0.5 * expected[:, 1]], axis=1)
    CompiledScan(program(), 1, Lanes(64, width), "steps", "a test")(rows, np.full((3, 1), 0.5), 1)
    assert_allclose(rows, expected, rtol=1e-15)
