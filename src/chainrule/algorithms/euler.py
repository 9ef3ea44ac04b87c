"""Three angles for an orientation, in any order of axes, and their rates.

An order such as "zyz" names the axes in turn, each an axis of the frame after the turns before: R = Rz(a) Ry(b) Rz(c).
"rpy" is roll, pitch and yaw about the fixed x, y and z axes, which are the angles of "zyx" read backwards.

With i, j, k the axes of an order, m the one that is neither i nor j, and e = +-1 the sign of the permutation (i, j, m):
if i, j, k differ, R_ik = e sin b, and the angles are not unique at cos b = 0; if k is i again, R_ii = cos b, and they
are not unique at sin b = 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.spatial import Rotation, Scalar, Vector
from chainrule.spatial.scalar import atan2, cos, sin, sqrt, where

ORDERS = ("rpy", "xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")
MIN_SINE = 1e-9
"""Sine or cosine of the second angle below which the first and the third angle count as about the same axis."""


def axes_of(order: str) -> tuple[int, int, int, int]:
    """Axes i, j and m and the sign e of an order of moving axes."""
    i, j = "xyz".index(order[0]), "xyz".index(order[1])
    return i, j, 3 - i - j, 1 if (j - i) % 3 == 1 else -1


def angles(R: Rotation, order: str) -> list[Scalar]:
    """The three angles; where two of them turn about one axis, the one about the last axis of the order is 0.

    >>> [round(a, 3) for a in angles(Rotation.from_rpy(0.1, 0.2, 0.3), "rpy")]
    [0.1, 0.2, 0.3]
    """
    if order == "rpy":
        return angles(R, "zyx")[::-1]
    i, j, m, e = axes_of(order)
    r = [list(row) for row in R]
    if order[2] == order[0]:
        s = sqrt(r[j][i] * r[j][i] + r[m][i] * r[m][i])
        second = atan2(s, r[i][i])
        first, third = atan2(r[j][i], -e * r[m][i]), atan2(r[i][j], e * r[i][m])
    else:
        s = sqrt(r[i][i] * r[i][i] + r[i][j] * r[i][j])
        second = atan2(e * r[i][m], s)
        first, third = atan2(-e * r[j][m], r[m][m]), atan2(-e * r[i][j], r[i][i])
    regular = s > MIN_SINE
    return [where(regular, first, atan2(e * r[m][j], r[j][j])), second, where(regular, third, 0.0)]


def rates(w: Vector, at: Sequence[Scalar], order: str) -> list[Scalar]:
    """Rates of the three angles for an angular velocity w in base axes.

    w = e_i a' + R_i(a) e_j b' + R_i(a) R_j(b) e_k c'; seen by an observer who has turned by the first angle,
    u = R_i(-a) w, only the last term is left to divide by.
    """
    if order == "rpy":
        return rates(w, at[::-1], "zyx")[::-1]
    i, j, m, e = axes_of(order)
    x = list(w)
    s, c = sin(at[0]), cos(at[0])
    along_j, along_m = c * x[j] + e * s * x[m], c * x[m] - e * s * x[j]
    sb, cb = sin(at[1]), cos(at[1])
    if order[2] == order[0]:
        third = -e * along_m / sb
        return [x[i] - cb * third, along_j, third]
    third = along_m / cb
    return [x[i] - e * sb * third, along_j, third]
