"""Spatial vectors of two kinds: twists and wrenches. Featherstone calls them motion and force vectors.

Angular part first, as in Lynch & Park and Featherstone. A twist and a wrench pair to a power.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from chainrule.spatial.arrays import ArrayOfScalars, components
from chainrule.spatial.scalar import Scalar
from chainrule.spatial.vector import Vector, vectors

if TYPE_CHECKING:
    from chainrule.spatial.transform import Transform


@dataclass(frozen=True, slots=True)
class Twist(ArrayOfScalars):
    """A twist V = (omega, v), in rad/s and m/s; or its rate, a screw axis, a small displacement.

    For NumPy, six numbers.

    >>> Twist.of([0, 0, 1, 0, 0, 0]).dot(Wrench.of([0, 0, 5, 0, 0, 0]))
    5
    """

    angular: Vector
    linear: Vector

    def __post_init__(self) -> None:
        vectors(self, "angular", "linear")

    @staticmethod
    def zero() -> Twist:
        return _ZERO_TWIST

    @staticmethod
    def of(values: Sequence[Scalar]) -> Twist:
        """The six numbers of a list or an array, angular part first."""
        six = components(values, 6, "a Twist")
        return Twist(Vector(*six[:3]), Vector(*six[3:]))

    def table(self) -> list[Scalar]:
        """The six components, angular part first."""
        return [*self.angular, *self.linear]

    def __iter__(self) -> Iterator[Scalar]:
        return iter((*self.angular, *self.linear))

    def __add__(self, other: Twist) -> Twist:
        if not isinstance(other, Twist):
            return NotImplemented
        return Twist(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Twist) -> Twist:
        if not isinstance(other, Twist):
            return NotImplemented
        return Twist(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self) -> Twist:
        return Twist(-self.angular, -self.linear)

    def __mul__(self, s: Scalar) -> Twist:
        return Twist(self.angular * s, self.linear * s)

    def dot(self, F: Wrench) -> Scalar:
        """The power of a wrench on a twist, in W."""
        if not isinstance(F, Wrench):
            raise TypeError(f"a Twist pairs with a Wrench, not with a {type(F).__name__}: V.dot(F) is a power")
        return self.angular.dot(F.moment) + self.linear.dot(F.force)

    @overload
    def cross(self, other: Twist) -> Twist: ...
    @overload
    def cross(self, other: Wrench) -> Wrench: ...
    def cross(self, other: Twist | Wrench) -> Twist | Wrench:
        """Rate of change of something carried along with this twist.

        Of a twist: the Lie bracket [ad_V] W. Of a wrench: V x* F = -[ad_V]^T F.
        """
        w, v = self.angular, self.linear
        if isinstance(other, Wrench):
            return Wrench(w.cross(other.moment) + v.cross(other.force), w.cross(other.force))
        return Twist(w.cross(other.angular), v.cross(other.angular) + w.cross(other.linear))

    def velocity_of(self, point: Vector) -> Vector:
        """Velocity v + omega x p of the point p of the body that moves with this twist, in m/s, in the twist's frame.

        >>> Twist.of([0, 0, 2, 0, 0, 0]).velocity_of([3, 0, 0])
        Vector(x=0, y=6, z=0)
        """
        return self.linear + self.angular.cross(Vector.of(point))

    def ad(self) -> list[list[Scalar]]:
        """[ad_V], the 6-by-6 matrix of the Lie bracket."""
        w, v = self.angular.skew(), self.linear.skew()
        return [*([*row, 0, 0, 0] for row in w), *([*low, *row] for low, row in zip(v, w, strict=True))]

    def moved_by(self, T: Transform) -> Twist:
        w = T.rotation * self.angular
        return Twist(w, T.rotation * self.linear + T.translation.cross(w))

    def moved_back_by(self, T: Transform) -> Twist:
        R = T.rotation.inv
        return Twist(R * self.angular, R * (self.linear - T.translation.cross(self.angular)))


@dataclass(frozen=True, slots=True)
class Wrench(ArrayOfScalars):
    """A wrench F = (m, f), in N m and N; or a momentum. For NumPy, six numbers."""

    moment: Vector
    force: Vector

    def __post_init__(self) -> None:
        vectors(self, "moment", "force")

    @staticmethod
    def zero() -> Wrench:
        return _ZERO_WRENCH

    @staticmethod
    def of(values: Sequence[Scalar]) -> Wrench:
        """The six numbers of a list or an array, moment part first."""
        six = components(values, 6, "a Wrench")
        return Wrench(Vector(*six[:3]), Vector(*six[3:]))

    def table(self) -> list[Scalar]:
        """The six components, moment part first."""
        return [*self.moment, *self.force]

    def __iter__(self) -> Iterator[Scalar]:
        return iter((*self.moment, *self.force))

    def __add__(self, other: Wrench) -> Wrench:
        if not isinstance(other, Wrench):
            return NotImplemented
        return Wrench(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: Wrench) -> Wrench:
        if not isinstance(other, Wrench):
            return NotImplemented
        return Wrench(self.moment - other.moment, self.force - other.force)

    def __neg__(self) -> Wrench:
        return Wrench(-self.moment, -self.force)

    def __mul__(self, s: Scalar) -> Wrench:
        return Wrench(self.moment * s, self.force * s)

    def dot(self, V: Twist) -> Scalar:
        """The power on a twist, in W."""
        if not isinstance(V, Twist):
            raise TypeError(f"a Wrench pairs with a Twist, not with a {type(V).__name__}: F.dot(V) is a power")
        return V.dot(self)

    def moved_by(self, T: Transform) -> Wrench:
        f = T.rotation * self.force
        return Wrench(T.rotation * self.moment + T.translation.cross(f), f)

    def moved_back_by(self, T: Transform) -> Wrench:
        R = T.rotation.inv
        return Wrench(R * (self.moment - T.translation.cross(self.force)), R * self.force)


_ZERO_TWIST = Twist(Vector.zero(), Vector.zero())
_ZERO_WRENCH = Wrench(Vector.zero(), Vector.zero())
