"""Small dense symmetric systems over generic scalars, as lists of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chainrule.spatial.scalar import Scalar, is_zero, where


class Factors:
    """A symmetric positive definite matrix as M = L D L^T, with its rows in an order that keeps empty places empty.

    With `dependent`, a row whose pivot is at most so much of its diagonal entry counts as one that the rows eliminated
    before it imply, and gets the solution 0.

    >>> Factors([[4.0, 2.0], [2.0, 2.0]]).solve([8.0, 6.0])
    [1.0, 2.0]
    """

    def __init__(self, M: Sequence[Sequence[Scalar]], dependent: float | None = None) -> None:
        self._order = elimination_order(M)
        rest = {i: {j: M[i][j] for j in range(len(M)) if not _is_empty(M[i][j])} for i in self._order}
        self._L: dict[int, dict[int, Scalar]] = {}
        self._inverse: dict[int, Scalar] = {}
        for i in self._order:
            row = rest.pop(i)
            self._inverse[i] = _inverse(row.pop(i, 0), None if dependent is None else dependent * M[i][i])
            self._L[i] = {k: x * self._inverse[i] for k, x in row.items()}
            for k, l in self._L[i].items():
                del rest[k][i]
                for j, x in row.items():
                    rest[k][j] = rest[k][j] - l * x if j in rest[k] else -l * x

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution x of M x = b."""
        x = list(b)
        for i in self._order:
            if not _is_empty(x[i]):
                for k, l in self._L[i].items():
                    x[k] = x[k] - l * x[i]
        for i in reversed(self._order):
            x[i] = x[i] * self._inverse[i]
            for k, l in self._L[i].items():
                if not _is_empty(x[k]):
                    x[i] = x[i] - l * x[k]
        return x


def elimination_order(M: Sequence[Sequence[Scalar]]) -> list[int]:
    """Order of the rows, those with the fewest entries first, fill-in counted: in a mass matrix, the tips first."""
    beside = {i: {j for j, x in enumerate(row) if j != i and not _is_empty(x)} for i, row in enumerate(M)}
    order: list[int] = []
    while beside:
        i = min(beside, key=lambda i: (len(beside[i]), -i))
        order.append(i)
        around = beside.pop(i)
        for k in around:
            beside[k] = (beside[k] | around) - {i, k}
    return order


def _inverse(pivot: Scalar, least: Scalar | None) -> Scalar:
    """Inverse of a pivot; 0 where it is not above `least`, if that is given; nan where it is the number zero."""
    if least is None:
        return math.nan if is_zero(pivot) else 1 / pivot
    vanishes = pivot <= least
    return where(vanishes, 0.0, 1 / where(vanishes, 1.0, pivot))


def solve_symmetric(M: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """Solution x of M x = b, with M symmetric and positive definite.

    >>> solve_symmetric([[4.0, 2.0], [2.0, 2.0]], [8.0, 6.0])
    [1.0, 2.0]
    """
    return Factors(M).solve(b)


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Product a . b, skipping the entries that are structurally zero."""
    total: Scalar = 0
    for x, y in zip(a, b, strict=True):
        if not (_is_empty(x) or _is_empty(y)):
            total = total + x * y
    return total


def multiply(A: Sequence[Sequence[Scalar]], B: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """Product A B, skipping the entries that are structurally zero."""
    columns = len(B[0]) if B else 0
    product: list[list[Scalar]] = []
    for row in A:
        out: list[Scalar] = [0] * columns
        for a, other in zip(row, B, strict=True):
            if not _is_empty(a):
                out = [o if _is_empty(b) else o + a * b for o, b in zip(out, other, strict=True)]
        product.append(out)
    return product


def _is_empty(a: Scalar) -> bool:
    """Whether this is an empty place of a matrix, an integer zero; a float zero is a value, which may meet a nan."""
    return type(a) is int and a == 0


def transpose(A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    return [list(column) for column in zip(*A, strict=True)]
