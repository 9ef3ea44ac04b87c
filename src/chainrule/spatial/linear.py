"""Small dense symmetric systems over generic scalars, as lists of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chainrule.spatial.scalar import Scalar, is_zero, sqrt, where

NO_PIVOT = 1e300
"""What stands for the pivot of a row that others imply: its solution is as good as 0."""


class Factors:
    """A symmetric positive definite matrix as M = L D L^T, with its rows in an order that keeps empty places empty.

    With `dependent`, a row whose pivot is at most so much of its diagonal entry, or at most the number given for the
    row, counts as one that the rows eliminated before it imply, and gets the solution 0.

    >>> Factors([[4.0, 2.0], [2.0, 2.0]]).solve([8.0, 6.0])
    [1.0, 2.0]
    """

    def __init__(self, M: Sequence[Sequence[Scalar]], dependent: float | Sequence[Scalar] | None = None) -> None:
        self._order = elimination_order(M)
        least: Sequence[Scalar | None] = [None] * len(M)
        if dependent is not None:
            least = [dependent * M[i][i] for i in range(len(M))] if isinstance(dependent, float) else dependent
        rest = {i: {j: M[i][j] for j in range(len(M)) if not _is_empty(M[i][j])} for i in self._order}
        self._L: dict[int, dict[int, Scalar]] = {}
        self._inverse: dict[int, Scalar] = {}
        for i in self._order:
            row = rest.pop(i)
            self._inverse[i] = _inverse(row.pop(i, 0), least[i])
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

    def inverse(self) -> list[list[Scalar]]:
        """The inverse M^-1 = L^-T D^-1 L^-1, row by row.

        >>> Factors([[4.0, 2.0], [2.0, 2.0]]).inverse()
        [[0.5, -0.5], [-0.5, 1.0]]
        """
        n = len(self._order)
        whole: list[list[Scalar]] = [[0] * n for _ in range(n)]
        rows: dict[int, dict[int, Scalar]] = {i: {i: 1} for i in self._order}  # those of L^-1
        for place, i in enumerate(self._order):
            for k, l in self._L[i].items():
                for j, x in rows[i].items():
                    rows[k][j] = rows[k][j] - l * x if j in rows[k] else -l * x
            scaled = {j: x * self._inverse[i] for j, x in rows[i].items()}
            for j in self._order[: place + 1]:
                for k in self._order[: place + 1] if j in scaled else ():
                    if k in scaled and k <= j:
                        whole[j][k] = whole[j][k] + scaled[j] * rows[i][k]
        for j in range(n):
            for k in range(j):
                whole[k][j] = whole[j][k]
        return whole


class PseudoInverse:
    """A symmetric matrix without negative eigenvalues, of whatever rank, as M = C C^T: Cholesky with pivoting.

    At each step the row with the largest remaining diagonal entry is eliminated, found by its value and without
    branches; what remains when all diagonal entries are at most `least` counts as zero. `rank` bounds the steps. The
    solution is the shortest one of those with the smallest error, whichever rows were eliminated.

    >>> PseudoInverse([[1.0, 1.0], [1.0, 1.0]], least=1e-12).solve([2.0, 2.0])
    [1.0, 1.0]
    """

    def __init__(self, M: Sequence[Sequence[Scalar]], least: float, rank: int | None = None) -> None:
        size = len(M)
        rest = [list(row[: i + 1]) for i, row in enumerate(M)]
        self._columns: list[list[Scalar]] = []
        kept: list[Scalar] = []
        for _ in range(size if rank is None else min(rank, size)):
            pivot, column = rest[0][0], [row[0] for row in rest]
            for j in range(1, size):
                is_larger = rest[j][j] > pivot
                pivot = where(is_larger, rest[j][j], pivot)
                column = [where(is_larger, rest[max(i, j)][min(i, j)], x) for i, x in enumerate(column)]
            vanishes = pivot <= least
            factor = 1 / sqrt(where(vanishes, NO_PIVOT, pivot))
            column = [factor * x for x in column]
            rest = [[x - column[i] * column[j] for j, x in enumerate(row)] for i, row in enumerate(rest)]
            self._columns.append(column)
            kept.append(where(vanishes, 0.0, 1.0))
        gram = [[dot(a, b) for b in self._columns[: k + 1]] for k, a in enumerate(self._columns)]
        for k, keep in enumerate(kept):
            gram[k][k] = gram[k][k] + (1 - keep)
        whole = [[gram[max(k, j)][min(k, j)] for j in range(len(gram))] for k in range(len(gram))]
        self._gram = Factors(whole)

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The shortest x for which M x is next to b."""
        inner = self._gram.solve(self._gram.solve([dot(column, b) for column in self._columns]))
        return [dot([column[i] for column in self._columns], inner) for i in range(len(b))]


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
    """Inverse of a pivot; 1e-300 where it is not above `least`, if that is given; nan where it is the number zero.

    An exact 0 would be a choice in every product with it.
    """
    if least is None:
        return math.nan if is_zero(pivot) else 1 / pivot
    return 1 / where(pivot <= least, NO_PIVOT, pivot)


def solve_symmetric(M: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """Solution x of M x = b, with M symmetric and positive definite.

    >>> solve_symmetric([[4.0, 2.0], [2.0, 2.0]], [8.0, 6.0])
    [1.0, 2.0]
    """
    return Factors(M).solve(b)


def solve(A: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """Solution x of A x = b, for any square matrix that has an inverse: A = Q R by the modified Gram-Schmidt method.

    >>> [round(x, 9) for x in solve([[0.0, 2.0], [1.0, 1.0]], [2.0, 3.0])]
    [2.0, 1.0]
    """
    columns, right, R, inner = transpose(A), list(b), list[list[Scalar]](), list[Scalar]()
    for k in range(len(columns)):
        length = sqrt(dot(columns[k], columns[k]))
        unit = [x / length for x in columns[k]]
        shares = [dot(unit, column) for column in (*columns[k + 1 :], right)]
        for share, column in zip(shares, (*columns[k + 1 :], right), strict=True):
            column[:] = [x - share * u for x, u in zip(column, unit, strict=True)]
        R.append([length, *shares[:-1]])
        inner.append(shares[-1])
    x: list[Scalar] = []
    for row, value in zip(reversed(R), reversed(inner), strict=True):
        x.insert(0, (value - dot(row[1:], x)) / row[0])
    return x


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
