"""Graphs of arithmetic: values known once, numbers folded, and products of derivatives."""

import math
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from chainrule.compile import autodiff
from chainrule.compile.graph import Graph
from chainrule.compile.tape import OPERATIONS
from chainrule.compile.traced_function import TracedFunction
from chainrule.spatial import scalar

OPERATORS = (
    operator.add, operator.sub, operator.mul, lambda x, y: x / (y * y + 1.0), lambda x, y: -x,
    lambda x, y: scalar.sin(x), lambda x, y: scalar.cos(y),
)  # fmt: skip


def compute(text, numbers):
    """A text on nodes, replayed on numbers."""
    graph = Graph()
    (x,) = graph.inputs([len(numbers)])
    return TracedFunction(graph.tape([len(numbers)], text(*x)))(numbers)


@given(st.lists(st.floats(0.3, 1.5), min_size=3, max_size=3), st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_random_arithmetic_is_that_of_numbers(numbers, random):
    def text(a, b, c):
        values = [a, b, c, 0.0, 1.0, -1.0, 2.0, 0.5]
        for _ in range(30):
            x, y = random.choice(values), random.choice(values)
            values.append(OPERATORS[random.randrange(len(OPERATORS))](x, y))
        return values[-5:]

    state = random.getstate()
    found = compute(text, numbers)
    random.setstate(state)
    assert_allclose(found, text(*numbers), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (lambda a, b: [a + 0, 0 * b + a, a * 1, a - 0.0, a / 1, 0 - (-a), (a + b) - b, (a - b) + b], 0),
        (lambda a, b: [a * b, b * a, -a * -b], 1),
        (lambda a, b: [a - a, a / a, 0 / b, a * 0 + 1], 0),
        (lambda a, b: [2 * (3 * a), (a * 2) * 3, a + 5 * a], 1),
        (lambda a, b: [scalar.sin(a) * scalar.sin(a) + scalar.cos(a) * scalar.cos(a)], 0),
        (lambda a, b: [a * (1 / b), a / b], 1),
        (lambda a, b: [(a / b) * b, (a * b) / b], 0),
        (lambda a, b: [a + -b, a - b], 1),
        (lambda a, b: [scalar.where(a < b, 0, 0), scalar.where(a < b, a, a)], 0),
    ],
)
def test_a_value_is_computed_once_and_nothing_in_vain(text, count):
    graph = Graph()
    (x,) = graph.inputs([2])
    tape = graph.tape([2], text(*x))
    assert sum(n for name, n in tape.counts().items() if name not in ("input", "constant")) == count
    assert_allclose(TracedFunction(tape)([0.3, 0.7]), [float(v) for v in text(0.3, 0.7)], rtol=1e-14)


def test_numpy_works_on_nodes():
    def text(*x):
        values = np.array(x, dtype=object)
        return [*np.sin(values), np.tanh(values[0]), np.arctan2(values[0], values[1]), np.exp(values) @ values,
                np.float64(2.0) * values[0], np.arcsin(values[0]), np.abs(values[1]), values[0] ** 2.5]  # fmt: skip

    numbers = [0.3, -0.7]
    expected = [*np.sin(numbers), np.tanh(0.3), np.arctan2(0.3, -0.7), np.exp(numbers) @ numbers, 0.6, np.arcsin(0.3),
                0.7, 0.3**2.5]  # fmt: skip
    assert_allclose(compute(text, numbers), expected, rtol=1e-14)


def test_what_is_no_arithmetic_is_refused():
    graph = Graph()
    ((a,),) = graph.inputs([1])
    with pytest.raises(TypeError, match="no truth value"):
        bool(a < 1)
    with pytest.raises(TypeError, match="has no number"):
        float(a)
    with pytest.raises(TypeError):
        a + "b"
    with pytest.raises(AttributeError, match="has no 'gamma'"):
        a.gamma
    with pytest.raises(TypeError, match="a number or a symbol, got str"):
        graph.tape([1], ["b"])
    ((b,),) = Graph().inputs([1])
    with pytest.raises(ValueError, match="symbols of another function"):
        graph.tape([1], [a * b])


def everywhere(*x):
    """All operations with a derivative."""
    a, b, c = x
    graph = a.graph
    yield from (
        a + b,
        a - c,
        a * b,
        a / b,
        -a,
        a.sqrt(),
        abs(a - 2),
        a.sin() * b,
        (a * b).cos(),
        a**b,
        a**2.5,
        a**3,
        2.0**a,
    )
    yield from (
        graph.unary(name, a * c) for name in ("tan", "exp", "log", "tanh", "sinh", "cosh", "asin", "acos", "atan")
    )
    yield graph.binary("atan2", a, b * c)
    yield scalar.where(a < b, a * c, b * b)
    yield scalar.where(a > b, a * c, b * b)


def test_products_are_those_of_the_jacobian():
    rng = np.random.default_rng(1)
    x = rng.uniform(0.3, 0.9, 3)

    def values(*x):
        return list(everywhere(*x))

    h = 1e-6
    columns = [np.subtract(compute(values, x + d), compute(values, x - d)) / (2 * h) for d in np.eye(3) * h]
    J = np.array(columns, dtype=float).T
    v, w = rng.normal(size=3), rng.normal(size=len(J))
    forward = compute(lambda *x: autodiff.jvp(x[0].graph, values(*x), x, list(v)), x)
    backward = compute(lambda *x: autodiff.vjp(x[0].graph, values(*x), x, list(w)), x)
    assert_allclose(forward, J @ v, rtol=1e-7, atol=1e-8)
    assert_allclose(backward, w @ J, rtol=1e-7, atol=1e-8)


def test_products_have_products():
    def text(a, b):
        f = [a.sin() * b * b + a / b]
        gradient = autodiff.vjp(a.graph, f, (a, b), [1.0])
        return autodiff.jvp(a.graph, gradient, (a, b), [0.5, -2.0])

    a, b = 0.4, 1.3
    H = np.array(
        [[-math.sin(a) * b * b, 2 * b * math.cos(a) - 1 / b**2],
         [2 * b * math.cos(a) - 1 / b**2, 2 * math.sin(a) + 2 * a / b**3]]
    )  # fmt: skip
    assert_allclose(compute(text, [a, b]), H @ [0.5, -2.0], rtol=1e-13)


def test_every_operation_has_a_slope_or_is_flat():
    assert {*autodiff.PARTIALS, *autodiff.FLAT_OPERATIONS, "choose"} == {*OPERATIONS, "input", "constant"}
