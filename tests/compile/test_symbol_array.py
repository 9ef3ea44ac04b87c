"""Functions in NumPy's style, traced as they are: the same numbers as NumPy's, or a refusal."""

import functools
import math

import numpy as np
import pytest
from numpy import clip, zeros
from numpy.testing import assert_allclose

from chainrule.compile.symbol_array import SymbolArray, array_of, with_symbols
from chainrule.compile.traced_function import TracedFunction

pytestmark = pytest.mark.interpreted

K = np.array([[3.0, -1.0, 0.5], [0.2, 2.0, 0.0], [0.0, 0.4, 1.0]])
TABLE = np.array([-1.0, -0.2, 0.3, 0.9])
STATES = [np.array(x) for x in ([0.3, -0.7, 1.2], [-1.5, 0.25, 0.0], [0.5, 0.5, -0.5], [2.0, -3.0, 0.1])]


def helper(x):
    return np.clip([x[0], x[1]], -0.2, 0.4)


def filled(x):
    out = np.zeros(4)
    out[:2] = x[:2] ** 2
    out[2] = x[2]
    out[-1] += np.pi
    return out


def in_place(x):
    y = x.copy()
    y += 1.0
    y *= K[0]
    y[1] = 0.5
    np.divide(1.0, x, out=y, where=x > 0.4)
    return y


def rotation(x):
    c, s = np.cos(x[0]), np.sin(x[0])
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return R @ x + R.T @ np.array([1.0, x[1], 2.0])


def loops(x):
    total = 0.0
    for k, value in enumerate(x):
        total += k * np.tanh(value)
    return total


WORKS = {
    "arithmetic": lambda x: 2 * x + x / 3 - x**2 + 1.5**x - (-x) + abs(x) + (+x),
    "powers": lambda x: np.array([np.abs(x[0]) ** 1.5, (x[1] ** 2 + 1) ** -0.5, (x[2] - 9) ** -2, np.float64(2) ** x[0]]),
    "matrices": lambda x: K @ x + x @ K + np.dot(K, x) + x.dot(K) + K.dot(x) + np.matmul(K, x) * (x @ x),
    "products": lambda x: [*np.cross(x, K[0]), np.inner(x, K[1]), *np.outer(x, x).ravel(), *np.kron(x, [1.0, 2.0])],
    "einsum": lambda x: np.einsum("ij,j->i", K, x),
    "indexing": lambda x: np.array([x[-1], *x[1:], *x[::-1], *x[[0, 2]], *x[None, :][0], x.reshape(3, 1)[1, 0]]),
    "assembling": lambda x: np.concatenate([x, [1.0], np.hstack([x[0], x]), np.stack([x[0], 2.0]), np.append(x, 1)]),
    "stacking": lambda x: np.vstack([x, K[0]]) + np.column_stack([x, x]).sum() + np.stack([x, x], axis=0)[1],
    "np.array": lambda x: np.sin(np.array([x[0], 0.5, 1])),
    "np.asarray": lambda x: np.clip(np.asarray(x, dtype=float), -0.3, 0.3) + np.atleast_1d(x[0]),
    "np.zeros": filled,
    "np.full and eye": lambda x: np.full(3, x[0]) + np.eye(3) @ x + np.ones(3) * x + np.diag(x) @ K[0] + np.ones_like(x),
    "in place": in_place,
    "sums": lambda x: [np.sum(x), x.sum(), np.mean(x), np.prod(x), np.var(x), np.std(x), np.trace(np.outer(x, x))],
    "sums along axes": lambda x: np.sum(np.outer(x, x), axis=0) + np.mean(K * x, axis=1) + (K * x).sum(axis=1, initial=1),
    "running sums": lambda x: np.concatenate([np.cumsum(x), np.diff(x), np.add.outer(x, [1, 2]).ravel()]),
    "trigonometry": lambda x: np.sin(x) + np.cos(x) + np.tan(x) + np.arctan(x) + np.arctan2(x, K[0]) + np.hypot(x, 1.0),
    "inverse trigonometry": lambda x: np.arcsin(np.tanh(x)) + np.arccos(np.tanh(x)),
    "hyperbolic": lambda x: np.sinh(x) + np.cosh(x) + np.tanh(x),
    "exponentials": lambda x: np.exp(x) + np.log(np.abs(x) + 1) + np.sqrt(np.abs(x)) + np.exp2(x) + np.log10(x * x + 1)
    + np.log2(x * x + 1),
    "units": lambda x: np.deg2rad(x) + np.degrees(x) + np.radians(x) + np.rad2deg(x),
    "simple": lambda x: np.square(x) + np.reciprocal(x + 9) + np.negative(x) + np.add(x, 1) + np.power(x, 3) + np.fabs(x),
    "signs": lambda x: np.sign(x) * 2 + np.abs(x) + np.heaviside(x, 0.5) + np.sign(x[0]),
    "choices": lambda x: np.where(x > 0.2, x, -2 * x) + np.where(x[0] < x[1], 1.0, x) + np.where(x == 0, 5, 0),
    "logic": lambda x: np.where((x > -1) & (x < 1) | ~(x >= -2), x, 0) + np.where(np.logical_and(x > 0, x != 0.5), 1, 0)
    + np.where(np.logical_or(x[0] > 0, x <= 0), 1, 0) + np.where(np.logical_not(x > 0), 1, 0),
    "all and any": lambda x: np.where(np.all(x > -1), 1.0, 2.0) + np.where(np.any(x > 1), 3.0, x) + ((x > 0) ^ (x < 1)) * 2.0,
    "select": lambda x: np.select([x > 1, x > 0], [1.0, x], default=-x),
    "limits": lambda x: np.clip(x, -0.3, 0.4) + np.clip(x, None, 0.2) + x.clip(K[0], 9) + np.clip(x[0], -x[1], 5.0),
    "larger and smaller": lambda x: np.maximum(x, 0) + np.minimum(0.1, x) + np.fmax(x, K[0]) + np.fmin(x, x[0]),
    "largest and smallest": lambda x: [np.max(x), np.min(x), x.max(), x.min(), np.amax(x), np.max([x[0], 0.1]), np.ptp(x)],
    "of lists": lambda x: [*np.maximum([x[0], x[1]], 0.1), np.linalg.norm([x[0], 1.0]), *np.sin([x[0], 0.3])],
    "norms": lambda x: [np.linalg.norm(x), np.linalg.norm(x, 1), np.linalg.norm(x, np.inf),
                        *np.linalg.norm(K + x, axis=1), np.linalg.norm(K * x)],
    "systems of equations": lambda x: np.linalg.solve(K + np.outer(x, x), x) + np.linalg.inv(K + np.diag(x * x)) @ K[0],
    "interpolation": lambda x: [np.interp(x[0], TABLE, [0.0, 1.0, -1.0, 4.0]), np.interp(x[1], TABLE, TABLE**2, -7, 8)],
    "polynomials": lambda x: np.polyval([1.0, -2.0, 0.5], x),
    "matrix of arrays": rotation,
    "a loop": loops,
    "names without np": lambda x: clip(x, -0.1, 0.2) + zeros(3),
    "a function beside it": helper,
    "nested conditions": lambda x: np.where(x > 0, np.where(x > 1, 1.0, x), np.minimum(x, -0.5)) * (x > -2) * 3.0,
    "np.float64": lambda x: np.float64(2.0) * x[0] + x[1] * np.float64(3.0) - np.float64(1.0),
    "blocks": lambda x: np.block([[np.diag(x), K], [K, K]]),
    "np.vectorize": np.vectorize(lambda value: 2.0 * value),
    "partial": functools.partial(lambda x, gain: gain * np.clip([x[0], 1.0], -1, 1), gain=3.0),
    "shapes": lambda x: np.transpose(np.tile(x, (2, 1))).ravel() * np.size(x) + np.shape(x)[0] + len(x) + x.ndim,
}  # fmt: skip


def flat(values):
    return (
        [x for part in values for x in flat(part)] if isinstance(values, (list, tuple)) else np.ravel(values).tolist()
    )


def traced(function, size=3):
    symbolic = with_symbols(function)
    return TracedFunction.of(lambda x: array_of(flat(symbolic(array_of(x)))).tolist(), [size])


@pytest.mark.parametrize("name", WORKS)
def test_numpys_functions_trace_as_they_are(name):
    found = traced(WORKS[name])
    for x in STATES:
        with np.errstate(all="ignore"):
            expected = flat(WORKS[name](x.copy()))
        assert_allclose(np.array(found(x)), expected, rtol=1e-13, atol=1e-14)


NEEDS_THE_COPY = {
    "np.array", "np.asarray", "np.zeros", "largest and smallest", "of lists", "a function beside it", "partial",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in WORKS if name not in NEEDS_THE_COPY])
def test_most_of_it_works_where_numpy_is_used_out_of_reach(name):
    found = TracedFunction.of(lambda x: array_of(flat(WORKS[name](array_of(x)))).tolist(), [3])
    for x in STATES:
        with np.errstate(all="ignore"):
            assert_allclose(np.array(found(x)), flat(WORKS[name](x.copy())), rtol=1e-13, atol=1e-14)


REFUSED = {
    "if": (lambda x: x if x[0] > 0 else -x, "no truth value"),
    "max": (max, "no truth value; np.where .* np.maximum in place of max"),
    "and": (lambda x: (x[0] > 0 and x[1] > 0) * 1.0, "no truth value"),
    "float": (lambda x: float(x[0]), r"without float\(\.\.\)"),
    "int": (lambda x: int(x[0]), "int"),
    "math": (lambda x: math.sin(x[0]), "and the module math"),
    "mask": (lambda x: x[x > 0], "arrays used as indices"),
    "sort": (np.sort, "no truth value"),
    "argmax": (lambda x: x[np.argmax(x)], "no truth value"),
    "floor": (np.floor, "has no 'floor'"),
    "remainder": (lambda x: x % 1.0, "np.remainder has no form"),
    "round": (np.round, "has no 'rint'"),
    "nan_to_num": (np.nan_to_num, "np.nan_to_num has no form"),
    "isnan": (np.isnan, "has no 'isnan'"),
    "count": (lambda x: np.sum(x > 0), "the sum of two conditions"),
    "sum of conditions": (lambda x: (x[0] > 0) + (x[1] > 0), "the sum of two conditions"),
    "where without out": (lambda x: np.sqrt(x, where=x > 0), "with out="),
    "at": (lambda x: np.add.at(x, [0], 1), "without .at"),
    "integers": (lambda x: x.astype(int), "stand for floats"),
    "a long table": (lambda x: np.interp(x[0], np.arange(900.0), np.arange(900.0)), "a table of at most"),
    "complex": (lambda x: 1j * x[0], "complex"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_values_is_refused(name):
    function, words = REFUSED[name]
    with pytest.raises((TypeError, AttributeError, IndexError), match=words):
        traced(function)


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), (None, 1.0)])
def test_a_nan_stays_a_nan(bounds):
    nan = np.array([np.nan, 0.5, 3.0])
    found = traced(lambda x: [*np.clip(x, *bounds), *np.maximum(x, x[1]), *np.minimum(x[1], x)])
    with np.errstate(all="ignore"):
        expected = [*np.clip(nan, *bounds), *np.maximum(nan, nan[1]), *np.minimum(nan[1], nan)]
    assert_allclose(np.array(found(nan)), expected)


def test_a_copy_with_symbols_leaves_the_function_alone():
    seen = []

    def law(x, gain=2.0, *, shift=1.0):
        seen.append(type(np.zeros(2)))
        return gain * helper(x) + shift

    law.note = "kept"
    copy = with_symbols(law)
    assert copy.note == "kept"
    assert copy(np.ones(2)).tolist() == law(np.ones(2)).tolist() == [1.8, 1.8]
    assert seen == [SymbolArray, np.ndarray]
    assert with_symbols(math.sin) is math.sin


class Law:
    """A law as an object, with a method that calls another."""

    def __init__(self, gain):
        self.gain = gain

    def __call__(self, x):
        return self.gain * np.clip(np.array([x[0], x[1]]), -1, 1)


def test_objects_and_methods_are_functions_too():
    law = Law(3.0)
    for function in (law, law.__call__):
        assert_allclose(np.array(traced(function, 2)([0.5, 7.0])), [1.5, 3.0])


def test_a_recursive_function_in_a_closure_is_copied_once():
    def power(x, n):
        return np.clip([x], -9, 9)[0] * power(x, n - 1) if n else 1.0

    assert_allclose(np.array(traced(lambda x: power(x[0], 3), 1)([2.0])), [8.0])
