"""Small dense symmetric systems over generic scalars, as lists of rows."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.spatial.scalar import Scalar


def solve_symmetric(M: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """x with M x = b, M symmetric positive definite, by M = L D L^T without pivoting.

    >>> solve_symmetric([[4.0, 2.0], [2.0, 3.0]], [8.0, 7.0])
    [1.25, 1.5]
    """
    n = len(b)
    L: list[list[Scalar]] = [[0] * n for _ in range(n)]
    D: list[Scalar] = []
    y: list[Scalar] = []
    for i in range(n):
        scaled = [L[i][j] * D[j] for j in range(i)]
        d = M[i][i] - sum((L[i][j] * scaled[j] for j in range(i)), start=0)
        for k in range(i + 1, n):
            L[k][i] = (M[k][i] - sum((L[k][j] * scaled[j] for j in range(i)), start=0)) / d
        D.append(d)
        y.append(b[i] - sum((L[i][j] * y[j] for j in range(i)), start=0))
    x: list[Scalar] = [0] * n
    for i in reversed(range(n)):
        x[i] = y[i] / D[i] - sum((L[k][i] * x[k] for k in range(i + 1, n)), start=0)
    return x


def multiply(A: Sequence[Sequence[Scalar]], B: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """A B, skipping the entries that are structurally zero."""
    columns = len(B[0]) if B else 0
    product: list[list[Scalar]] = []
    for row in A:
        out: list[Scalar] = [0] * columns
        for a, other in zip(row, B, strict=True):
            if not _absent(a):
                out = [o if _absent(b) else o + a * b for o, b in zip(out, other, strict=True)]
        product.append(out)
    return product


def _absent(a: Scalar) -> bool:
    """An integer zero is an empty place of a matrix; a float zero is a value, which may meet a nan."""
    return type(a) is int and a == 0


def transpose(A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    return [list(column) for column in zip(*A, strict=True)]
