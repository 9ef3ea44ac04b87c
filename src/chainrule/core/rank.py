"""Ranks of constraint Jacobians: which equations are independent, and what motions they leave."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array

NEW_PART_TOLERANCE = 1e-7
"""A row counts as independent when more than this part of its length is new."""


def independent_rows(
    A: Array, order: list[int] | None = None, tolerance: float = NEW_PART_TOLERANCE
) -> tuple[int, ...]:
    """Rows of a matrix that are independent, chosen greedily in the given order (Gram-Schmidt, each row twice)."""
    basis: list[Array] = []
    rows: list[int] = []
    lengths = np.linalg.norm(A, axis=1)
    for k in range(len(A)) if order is None else order:
        if lengths[k] <= tolerance * lengths.max(initial=0.0):
            continue
        rest = A[k] / lengths[k]
        for _ in range(2):
            for b in basis:
                rest = rest - (rest @ b) * b
        left = np.linalg.norm(rest)
        if left > tolerance:
            basis.append(rest / left)
            rows.append(k)
    return tuple(sorted(rows))


def motions(G: Array) -> Array:
    """A basis of the velocities that keep the loops closed, G v = 0: its columns."""
    _, s, Vt = np.linalg.svd(G) if len(G) else (None, np.zeros(0), np.eye(G.shape[1]))
    rank = int((s > NEW_PART_TOLERANCE * s.max(initial=0.0)).sum())
    return Vt[rank:].T
