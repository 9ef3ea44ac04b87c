"""Three angles for an orientation, in any order of axes, and their rates.

An order such as "zyz" names the axes in turn, each an axis of the frame after the turns before: R = Rz(a) Ry(b) Rz(c).
"rpy" is roll, pitch and yaw about the fixed x, y and z axes, which are the angles of "zyx" read backwards.

With i, j, k the axes of an order, m the one that is neither i nor j, and e = +-1 the sign of the permutation (i, j, m):
if i, j, k differ, R_ik = e sin b, and the angles are not unique at cos b = 0; if k is i again, R_ii = cos b, and they
are not unique at sin b = 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from chainrule.spatial import Rotation, Scalar, Vector
from chainrule.spatial.scalar import atan2, cos, sin, sqrt, where

ORDERS = ("rpy", "xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")
AXES = {"x": Vector(1, 0, 0), "y": Vector(0, 1, 0), "z": Vector(0, 0, 1)}
MIN_SINE = 1e-9
"""Sine or cosine of the second angle below which the first and the third angle count as about the same axis."""


def axes_of(order: str) -> tuple[int, int, int, int]:
    """Axes i, j and m and the sign e of an order of moving axes."""
    i, j = "xyz".index(order[0]), "xyz".index(order[1])
    return i, j, 3 - i - j, 1 if (j - i) % 3 == 1 else -1


def rotation(at: Sequence[Scalar], order: str) -> Rotation:
    """The rotation by three angles: R_i(a) R_j(b) R_k(c), or roll, pitch and yaw about fixed axes.

    >>> rotation((0.1, 0.2, 0.3), "rpy") == Rotation.from_rpy(0.1, 0.2, 0.3)
    True
    """
    if order == "rpy":
        return Rotation.from_rpy(*at)
    first, second, third = (Rotation.about(AXES[axis], angle) for axis, angle in zip(order, at, strict=True))
    return first @ second @ third


def angles(R: Rotation, order: str) -> list[Scalar]:
    """The three angles; where two of them turn about one axis, the one about the last axis of the order is 0.

    Close to there the first angle has few digits. The third is that of R turned back by the first, so that together
    they give R.

    >>> [round(a, 3) for a in angles(Rotation.from_rpy(0.1, 0.2, 0.3), "rpy")]
    [0.1, 0.2, 0.3]
    """
    if order == "rpy":
        return angles(R, "zyx")[::-1]
    i, j, m, e = axes_of(order)
    r = [list(row) for row in R]
    again = order[2] == order[0]
    if again:
        s = sqrt(r[j][i] * r[j][i] + r[m][i] * r[m][i])
        second, sine, cosine = atan2(s, r[i][i]), r[j][i], -e * r[m][i]
    else:
        s = sqrt(r[i][i] * r[i][i] + r[i][j] * r[i][j])
        second, sine, cosine = atan2(e * r[i][m], s), -e * r[j][m], r[m][m]
    singular = s <= MIN_SINE
    size = where(singular, 1.0, s)
    sa, ca = sine / size, cosine / size
    row = [ca * r[j][k] + e * sa * r[m][k] for k in range(3)]  # row j of R_i(-a) R, the same as of R_k(c)
    third = atan2(-e * row[m] if again else e * row[i], row[j])
    return [
        where(singular, atan2(e * r[m][j], r[j][j]), atan2(sine, cosine)),
        second,
        where(singular, 0.0, third),
    ]


def rates(w: Vector, at: Sequence[Scalar], order: str) -> list[Scalar]:
    """Rates of the three angles for an angular velocity w in base axes.

    w = e_i a' + R_i(a) e_j b' + R_i(a) R_j(b) e_k c'; seen by an observer who has turned by the first angle,
    u = R_i(-a) w, only the last term is left to divide by. Where that vanishes, the angles are not
    differentiable, and the rates of the first and the third are infinite.
    """
    if order == "rpy":
        return rates(w, at[::-1], "zyx")[::-1]
    i, j, m, e = axes_of(order)
    x = list(w)
    s, c = sin(at[0]), cos(at[0])
    along_j, along_m = c * x[j] + e * s * x[m], c * x[m] - e * s * x[j]
    sb, cb = sin(at[1]), cos(at[1])
    again = order[2] == order[0]
    divisor = -e * sb if again else cb
    singular = divisor * divisor <= MIN_SINE * MIN_SINE
    third = along_m / where(singular, 1.0, divisor)
    first = x[i] - (cb if again else e * sb) * third
    return [where(singular, math.inf, first), along_j, where(singular, math.inf, third)]
