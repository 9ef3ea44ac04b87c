"""Dual numbers: rates of change of any text over scalars, also of rates of change."""

from __future__ import annotations

import math

import numpy as np
import pytest

from chainrule.spatial.dual import derivative
from chainrule.spatial.scalar import atan2, cos, exp, maximum, sin, sqrt, where

pytestmark = pytest.mark.interpreted


def text(x):
    a, b = x
    return [
        a * b - 2 / b + (3 - a) / (b - 4),
        sin(a) * cos(b) + exp(-a) * sqrt(b),
        atan2(a, b) + atan2(1.5, b) + atan2(a, 0.5),
        abs(a - 2) + maximum(a, b) + where(b > 1, a * a, b),
    ]


@pytest.mark.parametrize("direction", [(1, 0), (0, 1), (0.3, -0.7)])
def test_rates_are_those_of_differences(direction):
    x, h = np.array([0.7, 1.9]), 1e-5
    ahead, behind = (np.array(text((x + s * h * np.array(direction)).tolist())) for s in (1, -1))
    values, rates = derivative(text, x.tolist(), direction)
    np.testing.assert_allclose(values, text(x.tolist()))
    np.testing.assert_allclose(rates, (ahead - behind) / (2 * h), atol=1e-9)


def test_a_scalar_may_be_an_array_on_either_side():
    x = np.array([0.7, 0.9])
    values, rates = derivative(lambda v: [x * v[0], v[0] - x, x / v[0], where(x > 0.8, v[0], 0)], [x], [1])
    np.testing.assert_allclose(values, [x * x, 0 * x, 1 + 0 * x, [0, 0.9]])
    for rate, expected in zip(rates, (x, 1, -1 / x, [0, 1]), strict=True):
        np.testing.assert_allclose(rate, expected)


def test_derivatives_of_derivatives_keep_their_directions_apart():
    """d/dx (x d/dy (x + y)) is 1: the inner rate does not see the outer one."""
    outer = lambda x: [x[0] * derivative(lambda y: [x[0] + y[0]], [1.0], [1])[1][0]]  # noqa: E731
    assert derivative(outer, [3.0], [1])[1] == [1.0]
    second = derivative(lambda x: derivative(lambda y: [sin(y[0])], x, [1])[1], [0.4], [1])[1]
    assert math.isclose(second[0], -math.sin(0.4))


def test_what_does_not_change_stays_a_plain_number():
    values, rates = derivative(lambda x: [x[1] * 2, x[0] - x[0]], [1.0, 5.0], [1, 0])
    assert values == [10.0, 0.0]
    assert rates == [0, 0.0]
