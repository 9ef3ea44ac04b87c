"""Pose vectors in symbols: the position and three angles of a pose, their rates, and the pose of a vector.

With i, j, k the axes of an order, m the one that is neither i nor j, and e the sign of the permutation (i, j, m), the
first angle has the sine and cosine y/s and x/s, where (y, x) = (R_ji, -e R_mi) and s the sine of the second angle if
k is i again, and (y, x) = (-e R_jm, R_mm) and s its cosine if i, j, k differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from chainrule.algorithms.euler import ORDERS, axes_of, rotation
from chainrule.arguments import one_of
from chainrule.errors import ModelError, ShapeError
from chainrule.spatial import Transform, Vector
from chainrule.symbolic.algebra.expressions import expression_or_matrix, matrix
from chainrule.symbolic.algebra.quotients import (
    MAX_EXPANDED_TERMS,
    angle,
    count_terms,
    is_zero_polynomial,
    quotient,
    root_of_squares,
)
from chainrule.symbolic.algebra.ring import Ring, prune, to_sympy
from chainrule.symbolic.algebra.textbook import angles_among

Rows = Sequence[Sequence[Any]]


def pose_from_vector(x: Any, *, order: str = "rpy") -> sp.ImmutableMatrix:
    """The 4-by-4 pose of a pose vector (x, y, z, and three angles) in symbols.

    >>> a, b, c = sp.symbols("a b c", real=True)
    >>> pose_from_vector([0, 0, 0, a, b, c], order="zyz")[:3, 2].T
    Matrix([[sin(b)*cos(a), sin(a)*sin(b), cos(b)]])
    """
    one_of(ORDERS, order, "order of angles", "pose_from_vector")
    entries = list(x) if isinstance(x, (list, tuple, sp.MatrixBase)) else [x]
    if len(entries) != 6:
        raise ShapeError(f"pose_from_vector: x must be 6 expressions, (x, y, z, and three angles), got {len(entries)}")
    known = [expression_or_matrix(entry, "pose_from_vector: x") for entry in entries]
    rows = Transform(rotation(known[3:], order), Vector(*known[:3])).rows()
    return sp.ImmutableMatrix(rows)


def vector_from_pose(T: Any, *, order: str = "rpy") -> sp.ImmutableMatrix:
    """The pose vector (x, y, z, and three angles) of a 4-by-4 pose in symbols: 6 by 1.

    Angles are those of chainrule.vector_from_pose, up to full turns. They hold where the second angle is not at the
    ends of its range; if it is there always, as that of a planar arm in the order "zyz", the third angle is 0.

    >>> a = sp.Symbol("a", real=True)
    >>> vector_from_pose(pose_from_vector([1, 2, 3, 0, 0, a])).T
    Matrix([[1, 2, 3, 0, 0, a]])
    """
    one_of(ORDERS, order, "order of angles", "vector_from_pose")
    whole = matrix(T, "vector_from_pose: T")
    if whole.shape != (4, 4):
        raise ShapeError(f"vector_from_pose: T must be a 4-by-4 matrix, got shape {whole.shape}")
    turning = angles_among(sorted(whole.free_symbols, key=str), whole)
    ring = Ring(turning)
    R = [[ring.of(whole[i, j]) for j in range(3)] for i in range(3)]
    if whole[:3, :3].free_symbols <= set(turning) and not _is_orthonormal(R):
        raise ShapeError("vector_from_pose: T is no pose: its upper left 3-by-3 block is not a rotation matrix")
    return sp.ImmutableMatrix([*whole[:3, 3], *Orientation(R, order).angles()])


def _is_orthonormal(R: Rows) -> bool:
    products = ((i, j, sum(R[i][k] * R[j][k] for k in range(3))) for i in range(3) for j in range(i + 1))
    return all(is_zero_polynomial(x - (i == j)) for i, j, x in products)


@dataclass(frozen=True)
class Orientation:
    """The rows of a rotation matrix, elements of a ring or numbers, and the order of its three angles."""

    R: Rows
    order: str

    @property
    def _moving(self) -> str:
        """The order of axes that turn along."""
        return "zyx" if self.order == "rpy" else self.order

    @property
    def _again(self) -> bool:
        """Whether the first axis comes again."""
        return self._moving[0] == self._moving[2]

    def _in_order(self, values: Sequence[Any]) -> list[Any]:
        return list(values)[::-1] if self.order == "rpy" else list(values)

    @property
    def _first(self) -> tuple[Any, Any]:
        """The first angle's sine and cosine, times s."""
        r, (i, j, m, e) = self.R, axes_of(self._moving)
        return (r[j][i], -e * r[m][i]) if self._again else (-e * r[j][m], r[m][m])

    @property
    def is_singular(self) -> bool:
        """Whether the angles are not unique whatever the configuration."""
        return all(map(is_zero_polynomial, self._first))

    @property
    def sine(self) -> sp.Expr:
        """The sine of the second angle, if the first axis comes again, or its cosine: zero at singular angles."""
        return root_of_squares(self._first)

    def angles(self) -> list[sp.Expr]:
        """The three angles."""
        r, (i, j, m, e) = self.R, axes_of(self._moving)
        s = self.sine
        along = to_sympy(r[i][i] if self._again else e * r[i][m])
        second = sp.atan2(s, along) if self._again else sp.atan2(along, s)
        if self.is_singular:
            return self._in_order([angle(e * r[m][j], r[j][j]), second, sp.S.Zero])
        last = (r[i][j], e * r[i][m]) if self._again else (-e * r[i][j], r[i][i])
        return self._in_order([angle(*self._first), second, angle(*last)])

    def rates(self, w: Sequence[Any]) -> list[sp.Expr]:
        """The rates of the three angles for an angular velocity w in base axes; refused where all are singular."""
        if self.is_singular:
            raise ModelError(
                f"the angles {self.order!r} are singular in every configuration, so that they have no rates and no "
                "analytic Jacobian; take another order of angles"
            )
        r, (i, j, m, e) = self.R, axes_of(self._moving)
        y, x = self._first
        square = prune(y * y + x * x)
        along_j, along_m = prune(x * w[j] + e * (y * w[m])), prune(x * w[m] - e * (y * w[j]))
        second = to_sympy(along_j) / self.sine
        last = -e * along_m if self._again else along_m
        turned = r[i][i] if self._again else r[i][m]
        third = quotient(last, square)
        over_square = prune(w[i] * square - turned * last)
        if count_terms(over_square) <= MAX_EXPANDED_TERMS:
            first = quotient(over_square, square)
        else:
            first = to_sympy(w[i]) - to_sympy(turned) * third
        return self._in_order([first, second, third])
