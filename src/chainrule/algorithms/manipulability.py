"""Manipulability: how far from singular a Jacobian is, as a volume."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.jacobians import jacobian
from chainrule.model import Model
from chainrule.spatial import Scalar
from chainrule.spatial.linear import dot, transpose
from chainrule.spatial.scalar import sqrt, where

Scalars = Sequence[Scalar]


def manipulability(model: Model, q: Scalars, name: str, axes: Sequence[int], columns: bool) -> Scalar:
    """Volume sqrt(det(J J^T)) for some rows of the world Jacobian, or sqrt(det(J^T J)) for its columns."""
    J = [list(S) for S in jacobian(model, q, name, "world")]
    rows = [row for i, row in enumerate(transpose(J)) if i in axes]
    return volume(transpose(rows) if columns else rows)


def volume(vectors: Sequence[Scalars]) -> Scalar:
    """Volume of the parallelepiped that vectors span, by the modified Gram-Schmidt process.

    It is the product of the singular values of the matrix with these rows.

    >>> volume([[2.0, 0.0], [5.0, 3.0]])
    6.0
    """
    w: Scalar = 1
    rest = [list(v) for v in vectors]
    while rest:
        v, *rest = rest
        square = dot(v, v)
        w = w * sqrt(square)
        inverse = 1 / where(square > 0, square, 1.0)
        rest = [[x - y * s for x, y in zip(u, v, strict=True)] for u in rest for s in [dot(u, v) * inverse]]
    return w
