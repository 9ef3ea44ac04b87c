"""Tasks: which part of a frame's motion counts, and what singular values of its Jacobian say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.errors import UnknownNameError

Truths = NDArray[np.bool_]

PARTS = {"all": (0, 1, 2, 3, 4, 5), "rotational": (0, 1, 2), "translational": (3, 4, 5)}
"""The rows of a world Jacobian, (omega, v), that each part of a motion has."""

RANK = 1e-9
"""A singular value counts when it is more than so much of the largest."""


def rows_of_part(part: str) -> tuple[int, ...]:
    """The rows of a part, by its name."""
    if part not in PARTS:
        raise UnknownNameError.of("part of a motion", part, PARTS, "chainrule")
    return PARTS[part]


def decomposed(J: Array) -> tuple[Array, Array, Array]:
    """U (..., m, m), s (..., min(m, n)) and V^T (..., n, n) with J = U s V^T; nan where J is not finite."""
    whole = np.asarray(np.isfinite(J).all(axis=(-2, -1)))
    U, s, Vt = np.linalg.svd(np.where(whole[..., None, None], J, 0.0).astype(float, copy=False))
    if not whole.all():
        s = np.where(whole[..., None], s, np.nan)
    return U, s, Vt


def rank_of(J: Array) -> Array:
    """The number of singular values that count: (...)."""
    _, s, _ = decomposed(J)
    return (s > RANK * s[..., :1]).sum(axis=-1)


def inverted(s: Array, damping: float = 0.0) -> Array:
    """s / (s^2 + damping^2) of each singular value; without damping, 1/s, or 0 for those that do not count."""
    if damping:
        return s / (s * s + damping * damping)
    counts = ~(s <= RANK * s[..., :1])
    return np.where(counts, 1.0 / np.where(counts, s, 1.0), 0.0)


def pseudo_inverse(J: Array, damping: float = 0.0) -> Array:
    """J^+ (..., n, m), damped: J^T (J J^T + damping^2)^-1."""
    U, s, Vt = decomposed(J)
    k = s.shape[-1]
    return (np.swapaxes(Vt[..., :k, :], -1, -2) * inverted(s, damping)[..., None, :]) @ np.swapaxes(
        U[..., :, :k], -1, -2
    )


def padded(s: Array, length: int) -> Array:
    """Singular values with zeros up to a length: (..., length)."""
    return np.concatenate([s, np.zeros((*s.shape[:-1], length - s.shape[-1]))], axis=-1)
