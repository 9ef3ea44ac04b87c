"""Quintic smoothing splines: positions from noisy samples, with velocities and accelerations that can be trusted.

The spline f minimizes the sum of w (y - f(t))^2 plus a penalty on the integral of the squared third derivative. Of a
sine of angular frequency omega it keeps the share 1 / (1 + (omega / omega_c)^6): a low-pass of third order without lag,
whose cut-off omega_c is half the amplitude. Woltring (1986) has this for human motion.

Time is counted in samples here, so that the numbers of the banded equations are near one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.optimize import minimize_scalar

from chainrule.arguments import Array

DEGREE = 5
PENALIZED_DERIVATIVE = 3

LOWEST_CUTOFF = 0.03
"""The lowest cut-off, in rad for each knot, at which equations are still solved well: knots are thinned below it."""
HIGHEST_CUTOFF = 2.8
"""The highest cut-off that is tried, in rad a sample: near the pi of Nyquist, where all noise is kept."""
KNOT_STEP = 4
"""The factor by which knots are thinned."""
MIN_KNOTS = 8

PROBES = 16
"""Random vectors with which the trace of a large matrix is estimated."""
EXACT_TRACE_SIZE = 300
"""Coefficients up to which that trace is computed exactly."""

WINDOW = 8192
"""Samples of a stretch in which the cut-off is looked for; of longer motions, WINDOWS stretches."""
WINDOWS = 3


@dataclass(frozen=True)
class FittedSpline:
    """A spline that was fitted, and its cut-off in rad a sample."""

    spline: Any
    cutoff: float

    def derivatives(self, x: Array) -> tuple[Array, Array, Array]:
        """Values, first and second derivatives at places x, in samples."""
        return tuple(np.asarray(self.spline(x, nu=order)) for order in range(3))  # type: ignore[return-value]


class SplineEquations:
    """The banded equations of a smoothing spline for one set of places and weights."""

    def __init__(self, x: Array, weights: Array, knot_every: int) -> None:
        inner = x[::knot_every]
        if inner[-1] < x[-1]:
            inner = np.append(inner[:-1] if x[-1] - inner[-1] < knot_every / 2 else inner, x[-1])
        self.knots = np.concatenate([np.repeat(inner[0], DEGREE), inner, np.repeat(inner[-1], DEGREE)])
        self.weights = weights
        self.B = BSpline.design_matrix(x, self.knots, DEGREE).tocsr()
        self.gram = _bands(self.B.T @ self.B.multiply(weights[:, None]).tocsr())
        self.penalty = _bands(_penalty(self.knots, inner))
        self.size = self.B.shape[1]
        rng = np.random.default_rng(0)
        self.probes = np.eye(self.size) if self.is_small else rng.choice([-1.0, 1.0], (self.size, PROBES))
        self.gram_probes = _apply(self.gram, self.probes)

    @property
    def is_small(self) -> bool:
        """Whether the trace of the smoother is computed exactly."""
        return self.size <= EXACT_TRACE_SIZE

    def solve(self, y: Array, cutoff: float) -> tuple[Array, float]:
        """The coefficients for one cut-off, and how many parameters they amount to: the trace of the smoother."""
        stiffness = cutoff ** (-2.0 * PENALIZED_DERIVATIVE)
        factor = cholesky_banded(self.gram + stiffness * self.penalty, lower=True)
        right = np.concatenate([(self.B.T @ (self.weights * y))[:, None], self.gram_probes], axis=1)
        solved = cho_solve_banded((factor, True), right)
        trace = float((self.probes * solved[:, 1:]).sum()) / (1 if self.is_small else PROBES)
        return solved[:, 0], trace

    def residuals(self, y: Array, coefficients: Array) -> Array:
        """The weighted differences between samples and spline."""
        return np.asarray(np.sqrt(self.weights) * (y - self.B @ coefficients))


def fit(x: Array, y: Array, weights: Array, cutoff: float | None = None, noise: float | None = None) -> FittedSpline:
    """A smoothing spline of samples y at places x, counted in samples, with weights of 0 where there is none.

    Its cut-off is given, in rad a sample; or such that the residual is the noise that is given (a standard deviation);
    or chosen by generalized cross-validation (Craven and Wahba, 1979), which takes the noise to be white.
    """
    if cutoff is None:
        cutoff = float(np.median([_choose(*part, noise) for part in _stretches(x, y, weights)]))
    every = 1
    while cutoff * every < LOWEST_CUTOFF and len(x) / (every * KNOT_STEP) >= MIN_KNOTS:
        every *= KNOT_STEP
    equations = SplineEquations(x, weights, every)
    coefficients, _ = equations.solve(y, cutoff)
    return FittedSpline(BSpline(equations.knots, coefficients, DEGREE), cutoff)


def _stretches(x: Array, y: Array, weights: Array) -> list[tuple[Array, Array, Array]]:
    """The samples, or of long motions some stretches of them."""
    if len(x) <= WINDOWS * WINDOW:
        return [(x, y, weights)]
    starts = np.linspace(0, len(x) - WINDOW, WINDOWS).astype(int)
    return [(x[i : i + WINDOW] - x[i], y[i : i + WINDOW], weights[i : i + WINDOW]) for i in starts]


def _choose(x: Array, y: Array, weights: Array, noise: float | None) -> float:
    """The cut-off of one stretch, in rad a sample; knots are thinned until it is no longer at the low end."""
    every, upper = 1, HIGHEST_CUTOFF
    while True:
        equations, lower = SplineEquations(x, weights, every), LOWEST_CUTOFF / every
        count = float((weights > 0).sum())

        def score(log_cutoff: float, equations: SplineEquations = equations, count: float = count) -> float:
            coefficients, trace = equations.solve(y, float(np.exp(log_cutoff)))
            mean_square = float((equations.residuals(y, coefficients) ** 2).sum()) / count
            freedom = max(1.0 - trace / count, 1e-9)
            if noise is not None:  # the residual of a fit with `trace` parameters to noise of this size
                return abs(np.log(max(mean_square, 1e-300) / (noise * noise * freedom)))
            return float(np.log(max(mean_square, 1e-300)) - 2 * np.log(freedom))

        grid = np.linspace(np.log(lower), np.log(upper), 12)
        values = [score(place) for place in grid]
        best = int(np.argmin(values))
        is_lowest = best == 0 and len(x) / (every * KNOT_STEP) >= MIN_KNOTS
        if not is_lowest:
            ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
            return float(np.exp(minimize_scalar(score, bounds=ends, method="bounded", options={"xatol": 0.02}).x))
        every, upper = every * KNOT_STEP, float(np.exp(grid[1]))


def _penalty(knots: Array, inner: Array) -> Any:
    """The matrix of the integral of the squared third derivative, a spline of degree two, by Gauss's three points."""
    from scipy.sparse import diags_array

    places, shares = np.polynomial.legendre.leggauss(3)
    widths = np.diff(inner)
    x = (inner[:-1, None] + widths[:, None] * (places + 1) / 2).ravel()
    weights = (widths[:, None] * shares / 2).ravel()
    D: Any = diags_array(np.ones(len(knots) - DEGREE - 1), format="csr")
    for degree in range(DEGREE, DEGREE - PENALIZED_DERIVATIVE, -1):
        first = DEGREE - degree + 1
        span = knots[first + degree : len(knots) - first] - knots[first : len(knots) - first - degree]
        D = diags_array(degree / span, format="csr") @ (D[1:] - D[:-1])
    rest = DEGREE - PENALIZED_DERIVATIVE
    N = BSpline.design_matrix(x, knots[PENALIZED_DERIVATIVE:-PENALIZED_DERIVATIVE], rest).tocsr() @ D
    return N.T @ N.multiply(weights[:, None]).tocsr()


def _bands(A: Any) -> Array:
    """The lower bands of a symmetric sparse matrix, a row for each, as LAPACK has them."""
    bands = np.zeros((DEGREE + 1, A.shape[0]))
    for k in range(DEGREE + 1):
        diagonal = A.diagonal(-k)
        bands[k, : len(diagonal)] = diagonal
    return bands


def _apply(bands: Array, X: Array) -> Array:
    """A symmetric banded matrix times a matrix."""
    Y = bands[0][:, None] * X
    for k in range(1, len(bands)):
        band = bands[k][: len(X) - k, None]
        Y[k:] += band * X[:-k]
        Y[:-k] += band * X[k:]
    return np.asarray(Y)
