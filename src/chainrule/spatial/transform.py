"""Rigid transforms T_ab: the pose of frame b in frame a."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from chainrule.errors import ShapeError, short_repr
from chainrule.spatial.arrays import ArrayOfScalars, rows
from chainrule.spatial.exact import axis_and_angle, divide
from chainrule.spatial.rotation import Rotation, sinc, sine_remainder, versine
from chainrule.spatial.scalar import Scalar, where
from chainrule.spatial.twist import Twist
from chainrule.spatial.vector import Vector, vectors


class Movable(Protocol):
    """An object with coordinates in a frame: a point, motion, force, inertia or transform."""

    def moved_by(self, T: Transform) -> Movable: ...

    def moved_back_by(self, T: Transform) -> Movable: ...


X = TypeVar("X", bound=Movable)


LAST_ROW_TOLERANCE = 1e-12
"""Distance of the last row of a homogeneous matrix from 0 0 0 1 that counts as rounding."""


@dataclass(frozen=True, slots=True)
class Transform(ArrayOfScalars):
    """T_ab: ``T_ab * x_b`` is x in a's coordinates, and ``T_ab.inv * x_a`` is x in b's.

    What x may be: a point (Vector), a Twist (by the adjoint Ad_T), a Wrench (by Ad_T^-T), an Inertia (by the
    generalized Steiner theorem), another Transform (composition, ``T_ac = T_ab * T_bc``). For NumPy, the homogeneous
    matrix (4, 4).

    >>> T = Transform.from_xyz_rpy((1, 2, 3), (0, 0, 0))
    >>> T * Vector(0, 0, 1)
    Vector(x=1, y=2, z=4)
    """

    rotation: Rotation
    translation: Vector

    def __post_init__(self) -> None:
        if not isinstance(self.rotation, Rotation):
            object.__setattr__(self, "rotation", Rotation.of(self.rotation))
        vectors(self, "translation")

    @staticmethod
    def identity() -> Transform:
        return _IDENTITY

    @staticmethod
    def from_xyz_rpy(xyz: Sequence[Scalar], rpy: Sequence[Scalar] = (0, 0, 0)) -> Transform:
        return Transform(Rotation.from_rpy(*rpy), Vector.of(xyz))

    @staticmethod
    def of(matrix: Iterable[Iterable[Scalar]]) -> Transform:
        """The transform with the three or four rows of a homogeneous matrix, whose last row is 0 0 0 1."""
        given = rows(matrix, None, "a Transform")
        if len(given) not in (3, 4) or any(_is_wrong(row) for row in given[3:]):
            raise ShapeError(f"a Transform takes 3 rows, or 4 of which the last is 0 0 0 1, got {short_repr(matrix)}")
        (a, b, c, x), (d, e, f, y), (g, h, i, z) = given[:3]
        return Transform(Rotation(Vector(a, b, c), Vector(d, e, f), Vector(g, h, i)), Vector(x, y, z))

    def rows(self) -> list[list[Scalar]]:
        """The rows of the 4-by-4 homogeneous matrix."""
        top = [[*row, p] for row, p in zip(self.rotation, self.translation, strict=True)]
        return [*top, [0, 0, 0, 1]]

    table = rows

    @staticmethod
    def exp(S: Twist) -> Transform:
        """The pose e^[S] reached by following the twist S for unit time (Lynch & Park, eq. 3.88).

        On symbols of SymPy, a unit axis times an angle gives the sine and cosine of that angle.

        >>> import sympy as sp
        >>> q, L = sp.symbols("q L")
        >>> Transform.exp(Twist.of([0, 0, q, 0, -L * q, 0])).translation
        Vector(x=-L*cos(q) + L, y=-L*sin(q), z=0)
        """
        w, v = S.angular, S.linear
        turn = axis_and_angle(w)
        if turn is not None:
            axis, angle = turn
            if angle == 0:
                return Transform(Rotation.identity(), v)
            rate = divide(v, angle)
            if rate is not None:
                return Transform.about(axis, rate, angle)
        square = w.dot(w)
        wv = w.cross(v)
        return Transform(Rotation.exp(w), v + wv * versine(square) + w.cross(wv) * sine_remainder(square))

    @staticmethod
    def about(axis: Vector, linear: Vector, angle: Scalar) -> Transform:
        """The pose e^([S] angle) for the screw S = (axis, linear) with a unit axis.

        Points turn about the line through axis x linear, and advance along it.
        """
        R, point = Rotation.about(axis, angle), axis.cross(linear)
        return Transform(R, point - R * point + axis * (axis.dot(linear) * angle))

    def log(self) -> Twist:
        """The twist S with e^[S] = T and a rotation of at most pi (Lynch & Park, eqs. 3.91-3.92)."""
        w, p = self.rotation.log(), self.translation
        square = w.dot(w)
        # 1/t^2 (1 - (t/2) cot(t/2)), written without the cotangent's pole; 1/12 + t^2/720 near zero
        near = square < 1e-4
        safe = where(near, 1.0, square)
        k = where(near, (1 + square / 60 * (1 + square / 42)) / 12, (1 - sinc(safe) / (2 * versine(safe))) / safe)
        wp = w.cross(p)
        return Twist(w, p - wp / 2 + w.cross(wp) * k)

    def inverse(self) -> Transform:
        """The transform T_ba; for a product alone, ``T.inv * x`` needs fewer operations."""
        R = self.rotation.inv
        return Transform(R, -(R * self.translation))

    @property
    def inv(self) -> Inverse:
        return Inverse(self)

    def __mul__(self, x: X) -> X:
        try:
            move = x.moved_by
        except AttributeError:
            raise _no_coordinates(x) from None
        return move(self)  # type: ignore[return-value]

    __matmul__ = __mul__

    def moved_by(self, T: Transform) -> Transform:
        return Transform(T.rotation @ self.rotation, T * self.translation)

    def moved_back_by(self, T: Transform) -> Transform:
        return Transform(T.rotation.inv @ self.rotation, T.inv * self.translation)

    def adjoint(self) -> list[list[Scalar]]:
        """The 6-by-6 matrix [Ad_T]; the transpose of its inverse moves wrenches (Lynch & Park, def. 3.20)."""
        R, pR = self.rotation, self.translation.skew() @ self.rotation
        return [*([*row, 0, 0, 0] for row in R), *([*low, *row] for low, row in zip(pR, R, strict=True))]


_IDENTITY = Transform(Rotation.identity(), Vector.zero())


@dataclass(frozen=True, slots=True)
class Inverse(ArrayOfScalars):
    """The inverse T^-1 as a factor of products. For NumPy, its homogeneous matrix (4, 4)."""

    of: Transform

    def table(self) -> list[list[Scalar]]:
        """The rows of the homogeneous matrix of T^-1."""
        return self.of.inverse().rows()

    def __mul__(self, x: X) -> X:
        try:
            move = x.moved_back_by
        except AttributeError:
            raise _no_coordinates(x) from None
        return move(self.of)  # type: ignore[return-value]

    __matmul__ = __mul__


def _is_wrong(last: Iterable[Scalar]) -> bool:
    """Whether the last row of a homogeneous matrix has other numbers than 0 0 0 1."""
    numbers = [*last]
    if not all(isinstance(x, (int, float)) for x in numbers):
        return False
    right = zip(numbers, (0, 0, 0, 1), strict=False)
    return len(numbers) != 4 or not all(abs(x - y) <= LAST_ROW_TOLERANCE for x, y in right)


def _no_coordinates(x: object) -> TypeError:
    return TypeError(
        f"a Transform moves a Vector, Twist, Wrench, Inertia or Transform, not {short_repr(x)}: say which of them the "
        "numbers are, as in T * Vector.of(p), or take the matrix, np.asarray(T)"
    )
