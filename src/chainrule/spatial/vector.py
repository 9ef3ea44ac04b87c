"""Three-vectors and 3-by-3 matrices of scalars.

Everything is immutable, and the scalar is always the right factor: ``v * s``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from chainrule.spatial.arrays import ArrayOfScalars, components, rows
from chainrule.spatial.scalar import Scalar, sqrt

if TYPE_CHECKING:
    from chainrule.spatial.transform import Transform


@dataclass(frozen=True, slots=True)
class Vector(ArrayOfScalars):
    """A vector or a point of three-space; for NumPy, an array of its three components.

    >>> Vector(1, 0, 0).cross(Vector(0, 1, 0))
    Vector(x=0, y=0, z=1)
    """

    x: Scalar
    y: Scalar
    z: Scalar

    @staticmethod
    def zero() -> Vector:
        return _ZERO

    @staticmethod
    def of(values: Iterable[Scalar]) -> Vector:
        """The vector with three components from a list or an array; a Vector as it is.

        >>> Vector.of([1, 2, 3])
        Vector(x=1, y=2, z=3)
        """
        return values if type(values) is Vector else Vector(*components(values, 3, "a Vector"))

    def table(self) -> list[Scalar]:
        """The components."""
        return [self.x, self.y, self.z]

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, s: Scalar) -> Vector:
        return Vector(self.x * s, self.y * s, self.z * s)

    def __truediv__(self, s: Scalar) -> Vector:
        return Vector(self.x / s, self.y / s, self.z / s)

    def dot(self, other: Vector) -> Scalar:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector) -> Vector:
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def norm(self) -> Scalar:
        return sqrt(self.dot(self))

    def skew(self) -> Matrix:
        """The matrix [v] with [v] w = v x w.

        >>> Vector(1, 2, 3).skew() * Vector(4, 5, 6) == Vector(1, 2, 3).cross(Vector(4, 5, 6))
        True
        """
        return Matrix(Vector(0, -self.z, self.y), Vector(self.z, 0, -self.x), Vector(-self.y, self.x, 0))

    def moved_by(self, T: Transform) -> Vector:
        """The same point in the frame that T places this one in."""
        return T.rotation * self + T.translation

    def moved_back_by(self, T: Transform) -> Vector:
        return T.rotation.inv * (self - T.translation)


_ZERO = Vector(0, 0, 0)


def vectors(owner: Any, *names: str) -> None:
    """Turn fields of a new object that are lists or arrays into vectors."""
    for name in names:
        value = getattr(owner, name)
        if type(value) is not Vector:
            object.__setattr__(owner, name, Vector.of(value))


@dataclass(frozen=True, slots=True)
class Matrix(ArrayOfScalars):
    """A 3-by-3 matrix, by rows; for NumPy, an array (3, 3)."""

    a: Vector
    b: Vector
    c: Vector

    def __post_init__(self) -> None:
        vectors(self, "a", "b", "c")

    @classmethod
    def of(cls, matrix: Iterable[Iterable[Scalar]]) -> Self:
        """The matrix with three rows from lists, an array, or a matrix of SymPy."""
        return cls(*(Vector.of(row) for row in rows(matrix, 3, f"a {cls.__name__}")))

    def table(self) -> list[list[Scalar]]:
        """The rows."""
        return [[*row] for row in self]

    @staticmethod
    def outer(v: Vector, w: Vector) -> Matrix:
        """The product v w^T."""
        return Matrix(w * v.x, w * v.y, w * v.z)

    def __iter__(self) -> Iterator[Vector]:
        return iter((self.a, self.b, self.c))

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix(self.a + other.a, self.b + other.b, self.c + other.c)

    def __sub__(self, other: Matrix) -> Matrix:
        return Matrix(self.a - other.a, self.b - other.b, self.c - other.c)

    def __mul__(self, v: Vector) -> Vector:
        return Vector(self.a.dot(v), self.b.dot(v), self.c.dot(v))

    def __matmul__(self, other: Matrix) -> Matrix:
        columns = other.transpose()
        return Matrix(columns * self.a, columns * self.b, columns * self.c)

    def transpose(self) -> Matrix:
        a, b, c = self.a, self.b, self.c
        return Matrix(Vector(a.x, b.x, c.x), Vector(a.y, b.y, c.y), Vector(a.z, b.z, c.z))

    def trace(self) -> Scalar:
        return self.a.x + self.b.y + self.c.z


@dataclass(frozen=True, slots=True)
class Symmetric(ArrayOfScalars):
    """A symmetric 3-by-3 matrix; the products carry the sign of the matrix entries. For NumPy, an array (3, 3)."""

    xx: Scalar
    yy: Scalar
    zz: Scalar
    xy: Scalar = 0
    xz: Scalar = 0
    yz: Scalar = 0

    @staticmethod
    def zero() -> Symmetric:
        return Symmetric(0, 0, 0)

    @staticmethod
    def scaled_identity(s: Scalar) -> Symmetric:
        return Symmetric(s, s, s)

    @staticmethod
    def of(matrix: Iterable[Iterable[Scalar]]) -> Symmetric:
        """A symmetric matrix from its rows; only the upper triangle is read."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = rows(matrix, 3, "a Symmetric")
        return Symmetric(xx, yy, zz, xy, xz, yz)

    def table(self) -> list[list[Scalar]]:
        """The rows."""
        return [[*row] for row in self]

    @staticmethod
    def outer(v: Vector, s: Scalar = 1) -> Symmetric:
        """The product v v^T s."""
        w = v * s
        return Symmetric(v.x * w.x, v.y * w.y, v.z * w.z, v.x * w.y, v.x * w.z, v.y * w.z)

    def __iter__(self) -> Iterator[Vector]:
        """The rows."""
        return iter(
            (Vector(self.xx, self.xy, self.xz), Vector(self.xy, self.yy, self.yz), Vector(self.xz, self.yz, self.zz))
        )

    def entries(self) -> tuple[Scalar, ...]:
        return (self.xx, self.yy, self.zz, self.xy, self.xz, self.yz)

    def __add__(self, other: Symmetric) -> Symmetric:
        return Symmetric(*(a + b for a, b in zip(self.entries(), other.entries(), strict=True)))

    def __sub__(self, other: Symmetric) -> Symmetric:
        return Symmetric(*(a - b for a, b in zip(self.entries(), other.entries(), strict=True)))

    def __mul__(self, v: Vector) -> Vector:
        return Vector(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )

    def scale(self, s: Scalar) -> Symmetric:
        """The matrix times s."""
        return Symmetric(*(a * s for a in self.entries()))

    def trace(self) -> Scalar:
        return self.xx + self.yy + self.zz

    def matrix(self) -> Matrix:
        return Matrix(*self)

    def rotate(self, R: Matrix) -> Symmetric:
        """The tensor R I R^T: the same in the axes that R turns into."""
        a, b, c = R.a, R.b, R.c
        Ia, Ib, Ic = self * a, self * b, self * c
        return Symmetric(a.dot(Ia), b.dot(Ib), c.dot(Ic), a.dot(Ib), a.dot(Ic), b.dot(Ic))

    scaled, rotated = scale, rotate


def acceleration_matrix(w: Vector, w_dot: Vector) -> Matrix:
    """Matrix K = [w_dot] + [w]^2: a point r of a turning body has the acceleration K r = w_dot x r + w x (w x r)."""
    x, y, z = w
    a, b, c = w_dot
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return Matrix(
        Vector(-(yy + zz), xy - c, xz + b), Vector(xy + c, -(xx + zz), yz - a), Vector(xz - b, yz + a, -(xx + yy))
    )


def euler_moment(I: Symmetric, w: Vector, w_dot: Vector, K: Matrix) -> Vector:
    """Moment I w_dot + w x I w of Euler's equation, written in the entries of K = acceleration_matrix(w, w_dot).

    Those have all products of velocities in them already, so that half of the products are left.
    """
    x, y, z = w
    return Vector(
        I.xx * w_dot.x + (I.zz - I.yy) * (y * z) + I.xz * K.b.x - I.xy * K.c.x + I.yz * (K.b.y - K.c.z),
        I.yy * w_dot.y + (I.xx - I.zz) * (x * z) + I.xy * K.c.y - I.yz * K.a.y + I.xz * (K.c.z - K.a.x),
        I.zz * w_dot.z + (I.yy - I.xx) * (x * y) + I.yz * K.a.z - I.xz * K.b.z + I.xy * (K.a.x - K.b.y),
    )


def steiner(p: Vector, h: Vector) -> Symmetric:
    """Matrix (p.h) 1 - (p h^T + h p^T)/2; with h = m p, the inertia of a point mass m at p (Steiner's theorem)."""
    px, py, pz = p
    hx, hy, hz = h
    xx, yy, zz = px * hx, py * hy, pz * hz
    return Symmetric(
        yy + zz, xx + zz, xx + yy,
        -(px * hy + py * hx) / 2, -(px * hz + pz * hx) / 2, -(py * hz + pz * hy) / 2,
    )  # fmt: skip
