"""Least squares over measurements of which some are wrong: Gauss-Newton, Huber's weights, then none of the outliers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.core.rank import independent_rows

X = TypeVar("X")

HUBER = 1.345
"""Standard deviations beyond which a residual counts linearly: 95% as efficient as least squares on normal noise."""
OUTLIER_PROBABILITY = 1e-5
"""A measurement that normal noise explains with no more than this probability is an outlier."""
MAX_OUTLIER_SHARE = 0.4
"""The share of measurements that are left out, at most: more of them are no exceptions."""
RANK_TOLERANCE = 1e-6
"""What is left of a column of length one where others explain it: derivatives are exact, and postures are not."""
MAX_ITERATIONS, MAX_ROUNDS = 100, 30
STEP_TOLERANCE = 1e-6
"""A step that changes residuals by less than this part of their standard deviations ends the iteration."""
MIN_DAMPING, MAX_DAMPING = 1e-12, 1e9
MIN_DEVIATION = 1e-13
"""The smallest standard deviation: rounding."""

Evaluate = Callable[[X], tuple[Array, Array]]
"""Residuals (k, m) of k measurements, and their derivatives (k, m, n) by a step."""


class LeastSquaresFit(NamedTuple, Generic[X]):
    """The best parameters, and what is known of their errors."""

    x: X
    covariance: Array
    """Of a step at x (n, n)."""
    deviations: Array
    """The standard deviation of each kind of residual."""
    residuals: Array
    """(k, m)"""
    outliers: NDArray[np.bool_]
    """(k,)"""


def independent_columns(A: Array) -> tuple[int, ...]:
    """Columns of a matrix that are no combinations of those before them."""
    return independent_rows(np.asarray(np.linalg.qr(A, mode="r")).T.copy(), tolerance=RANK_TOLERANCE)


def fit(
    evaluate: Evaluate[X],
    step: Callable[[X, Array], X],
    x: X,
    kinds: Sequence[int],
    known: Array | None = None,
) -> LeastSquaresFit[X]:
    """The parameters of least squared residuals, each kind of residual weighted by its own standard deviation.

    Huber's weights first, so that no outlier pulls far; then plain least squares without the outliers, so that standard
    deviations mean what they say. `kinds` (m,) numbers the kinds of the residuals of a measurement, such as positions
    and orientations; their standard deviations follow from the residuals unless they are known.
    """
    kind = np.asarray(kinds)
    r, _ = evaluate(x)
    sigma = _spread(r, kind) if known is None else known
    for _ in range(MAX_ROUNDS):
        x = _descend(evaluate, step, x, kind, sigma, None)
        r, _ = evaluate(x)
        new = _spread(r, kind) if known is None else known
        if np.allclose(new, sigma, rtol=0.01):
            break
        sigma = new
    kept = np.ones(len(r), dtype=bool)
    gate = scipy.special.chdtri(len(kind), OUTLIER_PROBABILITY)
    for _ in range(MAX_ROUNDS):
        squares = ((r / sigma[kind]) ** 2).sum(axis=1)
        inside = squares <= max(gate, float(np.quantile(squares, 1 - MAX_OUTLIER_SHARE)))
        x = _descend(evaluate, step, x, kind, sigma, inside)
        r, J = evaluate(x)
        new = _deviations(r, J, kind, sigma, inside) if known is None else known
        done = (inside == kept).all() and np.allclose(new, sigma, rtol=1e-4)
        sigma, kept = new, inside
        if done:
            break
    A = (J / sigma[kind][:, None])[kept].reshape(-1, J.shape[-1])
    return LeastSquaresFit(x, _covariance(A), sigma, r, ~kept)


def _descend(
    evaluate: Evaluate[X],
    step: Callable[[X, Array], X],
    x: X,
    kind: NDArray[np.intp],
    sigma: Array,
    kept: NDArray[np.bool_] | None,
) -> X:
    """Levenberg and Marquardt's method on Huber's cost, or on the squares of the kept measurements."""
    damping = 1e-6
    r, J = evaluate(x)
    cost, weights = _cost(r / sigma[kind], kept)
    for _ in range(MAX_ITERATIONS):
        root = np.sqrt(weights)[:, None] / sigma[kind]
        A, b = (root[..., None] * J).reshape(-1, J.shape[-1]), (root * r).ravel()
        lengths = np.linalg.norm(A, axis=0)
        lengths = np.where(lengths > 0, lengths, 1.0)
        A /= lengths
        H, g = A.T @ A, A.T @ b
        while True:
            dx = -np.linalg.solve(H + damping * np.eye(len(g)), g)
            trial = step(x, dx / lengths)
            r_new, J_new = evaluate(trial)
            cost_new, weights_new = _cost(r_new / sigma[kind], kept)
            if cost_new <= cost:
                break
            damping *= 10
            if damping > MAX_DAMPING or np.linalg.norm(dx) <= STEP_TOLERANCE:  # no better to rounding
                return x
        x, r, J, cost, weights = trial, r_new, J_new, cost_new, weights_new
        damping = max(damping / 10, MIN_DAMPING)
        if np.linalg.norm(dx) <= STEP_TOLERANCE:
            break
    return x


def _cost(r: Array, kept: NDArray[np.bool_] | None) -> tuple[float, Array]:
    """The cost of residuals in standard deviations (k, m), and the weight of each measurement (k,)."""
    if kept is not None:
        return float((r[kept] ** 2).sum()), kept.astype(float)
    size = np.linalg.norm(r, axis=1) / np.sqrt(r.shape[1])
    weights = np.minimum(1.0, HUBER / np.maximum(size, 1e-300))
    cost = np.where(size <= HUBER, size**2, HUBER * (2 * size - HUBER))
    return float(cost.sum() * r.shape[1]), weights


def _spread(r: Array, kind: NDArray[np.intp]) -> Array:
    """The standard deviation of each kind of residual, by the median, which no outlier moves far."""
    kinds = range(kind.max() + 1)
    return np.array([max(1.4826 * float(np.median(np.abs(r[:, kind == k]))), MIN_DEVIATION) for k in kinds])


def _deviations(r: Array, J: Array, kind: NDArray[np.intp], sigma: Array, kept: NDArray[np.bool_]) -> Array:
    """The standard deviation of each kind of residual, by the degrees of freedom that the fit leaves to it."""
    A = (J / sigma[kind][:, None])[kept]
    Q = np.linalg.qr(A.reshape(-1, A.shape[-1]))[0]
    free = 1 - (Q**2).sum(axis=1).reshape(A.shape[:2])
    squares = r[kept] ** 2
    kinds = [kind == k for k in range(kind.max() + 1)]
    return np.array([max(np.sqrt(squares[:, k].sum() / max(free[:, k].sum(), 1e-6)), MIN_DEVIATION) for k in kinds])


def _covariance(A: Array) -> Array:
    """(A^T A)^-1, by the triangle of a QR decomposition."""
    inverse = np.linalg.pinv(np.linalg.qr(A, mode="r"))
    return np.asarray(inverse @ inverse.T)
