"""Tapes that give the same numbers everywhere: sine and cosine in arithmetic, and no fused operations."""

import numpy as np
import pytest

from chainrule.compile.interpreter import evaluate
from chainrule.compile.portable import Reproducible, with_portable_trigonometry
from chainrule.compile.program import trace_function
from chainrule.compile.ufunc import compile_ufunc


def both(x):
    return [x[0].sin(), x[0].cos()]


@pytest.mark.parametrize("span", [0.01, 1.0, 10.0, 1e3, 1e6, 1e8])
def test_sine_and_cosine_are_right_to_the_last_bit(span):
    rng = np.random.default_rng(0)
    quarters = np.pi / 2 * np.rint(rng.uniform(-span, span, (2000, 1)) / (np.pi / 2))
    x = np.concatenate([rng.uniform(-span, span, (2000, 1)), quarters])
    tape = with_portable_trigonometry(trace_function(both, [1]))
    assert not {"sin", "cos"} & set(tape.counts())
    found = evaluate(tape, [x], (2,))
    assert np.abs(found - np.concatenate([np.sin(x), np.cos(x)], axis=-1)).max() < 1.2e-16
    compiled = compile_ufunc(trace_function(Reproducible(both), [1]), "both", "test")
    assert np.array_equal(compiled(x), found)


def test_what_is_no_angle_has_no_sine():
    tape = with_portable_trigonometry(trace_function(both, [1]))
    assert np.isnan(evaluate(tape, [np.array([[np.nan], [np.inf]])], (2,))).all()


def test_no_two_operations_are_fused():
    def residual(x):  # zero, unless one of the products is fused with the difference
        a, b, c = x
        return [a * b - c]

    rng = np.random.default_rng(1)
    x = rng.normal(size=(1000, 3))
    x[:, 2] = x[:, 0] * x[:, 1]
    assert not compile_ufunc(trace_function(Reproducible(residual), [3]), "residual", "test")(x).any()
