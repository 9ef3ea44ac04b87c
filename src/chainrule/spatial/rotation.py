"""Rotations: matrices, exponential and logarithm, roll-pitch-yaw, and unit quaternions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chainrule.spatial.arrays import ArrayOfScalars, components
from chainrule.spatial.exact import axis_and_angle
from chainrule.spatial.scalar import (
    Scalar,
    atan2,
    cos,
    maximum,
    sin,
    sqrt,
    where,
)
from chainrule.spatial.vector import Matrix, Vector

MAX_SERIES_SQUARE = 1e-4
"""Squared angle (rad^2) below which a series replaces a quotient; its next term is then below rounding."""


def sinc(square: Scalar) -> Scalar:
    """Quotient sin(t)/t as a function of t^2, smooth at 0."""
    safe = where(square < MAX_SERIES_SQUARE, 1.0, square)
    t = sqrt(safe)
    return where(square < MAX_SERIES_SQUARE, 1 - square / 6 * (1 - square / 20 * (1 - square / 42)), sin(t) / t)


def cosine(square: Scalar) -> Scalar:
    """The cosine of t as a function of t^2, whose derivative is smooth at 0 too."""
    safe = where(square < MAX_SERIES_SQUARE, 1.0, square)
    series = 1 - square / 2 * (1 - square / 12 * (1 - square / 30))
    return where(square < MAX_SERIES_SQUARE, series, cos(sqrt(safe)))


def versine(square: Scalar) -> Scalar:
    """Quotient (1 - cos t)/t^2 as a function of t^2, smooth at 0 and free of cancellation."""
    half = sinc(square / 4)
    return half * half / 2


def sine_remainder(square: Scalar) -> Scalar:
    """Quotient (t - sin t)/t^3 as a function of t^2, smooth at 0."""
    safe = where(square < MAX_SERIES_SQUARE, 1.0, square)
    t = sqrt(safe)
    return where(square < MAX_SERIES_SQUARE, (1 - square / 20 * (1 - square / 42)) / 6, (t - sin(t)) / (safe * t))


class Rotation(Matrix):
    """A rotation matrix R_ab: its columns are the axes of b in a.

    >>> Rotation.about(Vector(0, 0, 1), 0.0) * Vector(1, 2, 3)
    Vector(x=1.0, y=2.0, z=3.0)
    """

    __slots__ = ()

    @staticmethod
    def identity() -> Rotation:
        return _IDENTITY

    @staticmethod
    def about(axis: Vector, angle: Scalar) -> Rotation:
        """The rotation about a unit axis, by Rodrigues' formula.

        Written so that the zeros and ones of a coordinate axis leave only the one sine and cosine.
        """
        x, y, z = Vector.of(axis)
        s, c = sin(angle), cos(angle)
        d = 1 - c
        return Rotation(
            Vector(x * x + c * (1 - x * x), d * (x * y) - s * z, d * (x * z) + s * y),
            Vector(d * (x * y) + s * z, y * y + c * (1 - y * y), d * (y * z) - s * x),
            Vector(d * (x * z) - s * y, d * (y * z) + s * x, z * z + c * (1 - z * z)),
        )

    @staticmethod
    def exp(w: Vector) -> Rotation:
        """The rotation e^[w] by |w| about w, for any length of w.

        >>> import sympy as sp
        >>> Rotation.exp(Vector(0, 0, sp.Symbol("q"))).a
        Vector(x=cos(q), y=-sin(q), z=0)
        """
        w = Vector.of(w)
        turn = axis_and_angle(w)
        if turn is not None:
            return Rotation.about(*turn) if turn[1] != 0 else _IDENTITY
        square = w.dot(w)
        a, b = sinc(square), versine(square)
        x, y, z = w
        return Rotation(
            Vector(1 - (y * y + z * z) * b, x * y * b - z * a, x * z * b + y * a),
            Vector(x * y * b + z * a, 1 - (x * x + z * z) * b, y * z * b - x * a),
            Vector(x * z * b - y * a, y * z * b + x * a, 1 - (x * x + y * y) * b),
        )

    def log(self) -> Vector:
        """The rotation vector w of length at most pi with e^[w] = R, accurate near 0 and near pi.

        >>> round(Rotation.about(Vector(0.6, 0.8, 0.0), 3.141592653589793).log().norm(), 12)
        3.14159265359
        """
        return self.quaternion().log()

    @staticmethod
    def from_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Rotation:
        """The rotation Rz(yaw) Ry(pitch) Rx(roll): about the fixed x, y, z axes in this order, as in URDF."""
        (sr, cr), (sp, cp), (sy, cy) = ((sin(a), cos(a)) for a in (roll, pitch, yaw))
        return Rotation(
            Vector(cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            Vector(sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            Vector(-sp, cp * sr, cp * cr),
        )

    def rpy(self) -> tuple[Scalar, Scalar, Scalar]:
        """Roll, pitch and yaw; at pitch = +-pi/2, where only their combination is defined, roll is 0.

        Near there, yaw has few digits. Roll is then that of R turned back by this yaw, so that together they give R.
        """
        c = sqrt(self.a.x * self.a.x + self.b.x * self.b.x)
        regular = c > 1e-14
        yaw = where(regular, atan2(self.b.x, self.a.x), atan2(-self.a.y, self.b.y))
        s_yaw, c_yaw = sin(yaw), cos(yaw)
        rest = atan2(self.a.z * s_yaw - self.b.z * c_yaw, self.b.y * c_yaw - self.a.y * s_yaw)
        roll = where(c > 1e-3, atan2(self.c.y, self.c.z), where(regular, rest, 0.0))
        return roll, atan2(-self.c.x, c), yaw

    def quaternion(self) -> Quaternion:
        """The unit quaternion with w >= 0, from whichever of its components is largest (Shepperd's method)."""
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = self
        candidates = (
            (1 + xx + yy + zz, Quaternion(zy - yz, xz - zx, yx - xy, 1 + xx + yy + zz)),
            (1 + xx - yy - zz, Quaternion(1 + xx - yy - zz, xy + yx, xz + zx, zy - yz)),
            (1 - xx + yy - zz, Quaternion(xy + yx, 1 - xx + yy - zz, yz + zy, xz - zx)),
            (1 - xx - yy + zz, Quaternion(xz + zx, yz + zy, 1 - xx - yy + zz, yx - xy)),
        )
        size, best = candidates[0]
        for other, q in candidates[1:]:
            larger = other > size
            best = Quaternion(*(where(larger, a, b) for a, b in zip(q, best, strict=True)))
            size = where(larger, other, size)
        sign = where(best.w < 0, -1.0, 1.0)
        return best.normalized() * sign

    def __matmul__(self, other: Matrix) -> Rotation:
        return Rotation(*super().__matmul__(other))

    @property
    def inv(self) -> Rotation:
        return Rotation(*self.transpose())


_IDENTITY = Rotation(Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))


@dataclass(frozen=True, slots=True)
class Quaternion(ArrayOfScalars):
    """A quaternion (x, y, z, w), scalar last; a unit one is a rotation. For NumPy, an array of its four components.

    >>> Quaternion.identity().rotation() * Vector(1, 2, 3)
    Vector(x=1.0, y=2.0, z=3.0)
    """

    x: Scalar
    y: Scalar
    z: Scalar
    w: Scalar

    @staticmethod
    def identity() -> Quaternion:
        return Quaternion(0.0, 0.0, 0.0, 1.0)

    @staticmethod
    def of(values: Iterable[Scalar]) -> Quaternion:
        """The quaternion (x, y, z, w) from a list or an array."""
        return Quaternion(*components(values, 4, "a Quaternion"))

    def table(self) -> list[Scalar]:
        """The components, scalar last."""
        return [self.x, self.y, self.z, self.w]

    @staticmethod
    def exp(w: Vector) -> Quaternion:
        """The rotation by |w| about w."""
        square = w.dot(w) / 4
        half = sinc(square) / 2
        return Quaternion(w.x * half, w.y * half, w.z * half, cosine(square))

    def log(self) -> Vector:
        """The rotation vector of a unit quaternion, of length at most pi."""
        sign = where(self.w < 0, -1.0, 1.0)
        v, w = self.vector * sign, self.w * sign
        square = v.dot(v)
        tiny = square < 1e-18
        s = sqrt(where(tiny, 1.0, square))
        return v * where(tiny, 2 / maximum(w, 0.5), 2 * atan2(s, w) / s)

    @property
    def vector(self) -> Vector:
        return Vector(self.x, self.y, self.z)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z, self.w))

    def __mul__(self, other: Quaternion | Scalar) -> Quaternion:
        """The product of rotations; with a scalar, every component scaled."""
        if not isinstance(other, Quaternion):
            return Quaternion(self.x * other, self.y * other, self.z * other, self.w * other)
        a, b = self.vector, other.vector
        v = b * self.w + a * other.w + a.cross(b)
        return Quaternion(v.x, v.y, v.z, self.w * other.w - a.dot(b))

    @property
    def inv(self) -> Quaternion:
        """The conjugate: the inverse of a unit quaternion."""
        return Quaternion(-self.x, -self.y, -self.z, self.w)

    def rate(self, w: Vector) -> Quaternion:
        """The rate of a quaternion that turns with the angular velocity w, given in the axes that turn."""
        return self * Quaternion(w.x / 2, w.y / 2, w.z / 2, 0)

    def square(self) -> Scalar:
        return self.x * self.x + self.y * self.y + self.z * self.z + self.w * self.w

    def normalized(self) -> Quaternion:
        """The unit quaternion in the same direction."""
        return self * (1 / sqrt(self.square()))

    def rotation(self) -> Rotation:
        """The rotation matrix; a quaternion of any length but zero counts as its unit multiple."""
        x, y, z, w = self
        s = 2 / self.square()
        return Rotation(
            Vector(1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
            Vector(s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)),
            Vector(s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)),
        )
