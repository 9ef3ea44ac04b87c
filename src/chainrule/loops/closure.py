"""Configurations that close every loop, by Newton's method with damping on the configuration manifold, batched."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.model import Constraint

CLOSED = 1e-8
"""A loop counts as closed when its gap is at most this, in m, and its angle at most this, in rad."""
EXACT = 1e-14
"""Residuals at which to stop looking for better."""
STEPS = 80
"""Newton steps from one start."""
RESTARTS = 8
"""Further starts, each farther from the one given, for states that the Newton steps do not close."""
LONGEST = 0.3
"""The longest step in one coordinate, in rad or m."""

Truths = NDArray[np.bool_]
Function = Callable[[Array], Array]


def gaps(constraints: Sequence[Constraint], X: Array) -> tuple[Array, Array]:
    """How far each constraint is open, in m and in rad, from the poses of second origins in first: (..., constraints).

    Angles are measured all the way round: axes that are parallel but opposed are pi apart.
    """
    lengths, angles = np.empty(X.shape[:-2]), np.zeros(X.shape[:-2])
    for k, constraint in enumerate(constraints):
        T = X[..., k, :, :]
        apart = np.linalg.norm(T[..., :3, 3], axis=-1)
        lengths[..., k] = apart if constraint.distance is None else np.abs(apart - constraint.distance)
        if constraint.kind == "hinge":
            angles[..., k] = np.arctan2(np.hypot(T[..., 0, 2], T[..., 1, 2]), T[..., 2, 2])
        elif constraint.kind == "weld":
            R = T[..., :3, :3]
            skew = (R - np.swapaxes(R, -1, -2))[..., [2, 0, 1], [1, 2, 0]]
            angles[..., k] = np.arctan2(np.linalg.norm(skew, axis=-1), np.trace(R, axis1=-2, axis2=-1) - 1)
    return lengths, angles


def closed_from(
    q: Array,
    residual: Function,
    jacobian: Function,
    integrate: Callable[[Array, Array], Array],
    is_closed: Callable[[Array], Truths],
    free: Truths,
) -> tuple[Array, Truths]:
    """From states (N, nq) to closed ones nearby, moving only the free velocities; and which of them are closed.

    Where the steps from q itself end in an open or flipped loop, other starts around it are tried.
    """
    rng = np.random.default_rng(0)
    best = _descended(q, residual, jacobian, integrate, free)
    good = is_closed(best)
    for k in range(RESTARTS):
        bad = np.flatnonzero(~good & np.isfinite(q).all(axis=-1))
        if not len(bad):
            break
        away = np.zeros((len(bad), len(free)))
        away[:, free] = rng.normal(size=(len(bad), int(free.sum()))) * 0.2 * (k + 1)
        tried = _descended(integrate(q[bad], away), residual, jacobian, integrate, free)
        fits = is_closed(tried)
        best[bad[fits]], good[bad[fits]] = tried[fits], True
    return best, good


def _descended(
    q: Array, residual: Function, jacobian: Function, integrate: Callable[[Array, Array], Array], free: Truths
) -> Array:
    """Levenberg and Marquardt's steps: Newton's where it is near, shorter where the residual would not fall."""
    q = np.array(q, dtype=float)
    phi = residual(q)
    damping = np.full(len(q), 1e-6)
    for _ in range(STEPS):
        with np.errstate(invalid="ignore"):
            going = np.flatnonzero((np.abs(phi).max(axis=-1, initial=0.0) > EXACT) & (damping < 1e8))
        if not len(going):
            break
        step = np.zeros((len(going), len(free)))
        step[:, free] = _step(jacobian(q[going])[..., free], phi[going], damping[going])
        tried = integrate(q[going], step)
        there = residual(tried)
        better = np.linalg.norm(there, axis=-1) < np.linalg.norm(phi[going], axis=-1)
        q[going[better]], phi[going[better]] = tried[better], there[better]
        damping[going] = np.where(better, damping[going] * 0.1, np.maximum(damping[going], 1e-12) * 30)
    return q


def _step(J: Array, phi: Array, damping: Array) -> Array:
    """-J^+ phi, damped in proportion to the largest singular value, no coordinate moving more than the longest step."""
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    largest = s.max(axis=-1, initial=0.0, keepdims=True)
    counts = s > 1e-9 * largest
    weights = np.where(counts, s, 0.0) / np.where(counts, s**2 + damping[:, None] * largest**2, 1.0)
    step = -np.einsum("nkj,nk,nik,ni->nj", Vt, weights, U, phi)
    return step / np.maximum(np.abs(step).max(axis=-1, initial=0.0, keepdims=True) / LONGEST, 1.0)
