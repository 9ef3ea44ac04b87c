"""Spatial vectors: motions (twists and their rates) and forces (wrenches, momenta), two different things.

Angular part first, as in Lynch & Park and Featherstone. A motion and a force pair to a power.
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
class Motion(ArrayOfScalars):
    """A twist V = (omega, v), in rad/s and m/s; or its rate, a screw axis, a small displacement.

    For NumPy, six numbers.

    >>> Motion.of([0, 0, 1, 0, 0, 0]).dot(Force.of([0, 0, 5, 0, 0, 0]))
    5
    """

    angular: Vector
    linear: Vector

    def __post_init__(self) -> None:
        vectors(self, "angular", "linear")

    @staticmethod
    def zero() -> Motion:
        return _NO_MOTION

    @staticmethod
    def of(values: Sequence[Scalar]) -> Motion:
        """The six numbers of a list or an array, angular part first."""
        six = components(values, 6, "a Motion")
        return Motion(Vector(*six[:3]), Vector(*six[3:]))

    def table(self) -> list[Scalar]:
        """The six components, angular part first."""
        return [*self.angular, *self.linear]

    def __iter__(self) -> Iterator[Scalar]:
        return iter((*self.angular, *self.linear))

    def __add__(self, other: Motion) -> Motion:
        if not isinstance(other, Motion):
            return NotImplemented
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Motion) -> Motion:
        if not isinstance(other, Motion):
            return NotImplemented
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self) -> Motion:
        return Motion(-self.angular, -self.linear)

    def __mul__(self, s: Scalar) -> Motion:
        return Motion(self.angular * s, self.linear * s)

    def dot(self, F: Force) -> Scalar:
        """The power of a wrench on a twist, in W."""
        if not isinstance(F, Force):
            raise TypeError(f"a Motion pairs with a Force, not with a {type(F).__name__}: V.dot(F) is a power")
        return self.angular.dot(F.moment) + self.linear.dot(F.force)

    @overload
    def cross(self, other: Motion) -> Motion: ...
    @overload
    def cross(self, other: Force) -> Force: ...
    def cross(self, other: Motion | Force) -> Motion | Force:
        """Rate of change of something carried along with this twist.

        Of a motion: the Lie bracket [ad_V] W. Of a force: V x* F = -[ad_V]^T F.
        """
        w, v = self.angular, self.linear
        if isinstance(other, Force):
            return Force(w.cross(other.moment) + v.cross(other.force), w.cross(other.force))
        return Motion(w.cross(other.angular), v.cross(other.angular) + w.cross(other.linear))

    def velocity_of(self, point: Vector) -> Vector:
        """Velocity v + omega x p of the point p of the body that moves with this twist, in m/s, in the twist's frame.

        >>> Motion.of([0, 0, 2, 0, 0, 0]).velocity_of([3, 0, 0])
        Vector(x=0, y=6, z=0)
        """
        return self.linear + self.angular.cross(Vector.of(point))

    def ad(self) -> list[list[Scalar]]:
        """[ad_V], the 6-by-6 matrix of the Lie bracket."""
        w, v = self.angular.skew(), self.linear.skew()
        return [*([*row, 0, 0, 0] for row in w), *([*low, *row] for low, row in zip(v, w, strict=True))]

    def moved_by(self, T: Transform) -> Motion:
        w = T.rotation * self.angular
        return Motion(w, T.rotation * self.linear + T.translation.cross(w))

    def moved_back_by(self, T: Transform) -> Motion:
        R = T.rotation.inv
        return Motion(R * self.angular, R * (self.linear - T.translation.cross(self.angular)))


@dataclass(frozen=True, slots=True)
class Force(ArrayOfScalars):
    """A wrench F = (m, f), in N m and N; or a momentum. For NumPy, six numbers."""

    moment: Vector
    force: Vector

    def __post_init__(self) -> None:
        vectors(self, "moment", "force")

    @staticmethod
    def zero() -> Force:
        return _NO_FORCE

    @staticmethod
    def of(values: Sequence[Scalar]) -> Force:
        """The six numbers of a list or an array, moment part first."""
        six = components(values, 6, "a Force")
        return Force(Vector(*six[:3]), Vector(*six[3:]))

    def table(self) -> list[Scalar]:
        """The six components, moment part first."""
        return [*self.moment, *self.force]

    def __iter__(self) -> Iterator[Scalar]:
        return iter((*self.moment, *self.force))

    def __add__(self, other: Force) -> Force:
        if not isinstance(other, Force):
            return NotImplemented
        return Force(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: Force) -> Force:
        if not isinstance(other, Force):
            return NotImplemented
        return Force(self.moment - other.moment, self.force - other.force)

    def __neg__(self) -> Force:
        return Force(-self.moment, -self.force)

    def __mul__(self, s: Scalar) -> Force:
        return Force(self.moment * s, self.force * s)

    def dot(self, V: Motion) -> Scalar:
        """The power on a twist, in W."""
        if not isinstance(V, Motion):
            raise TypeError(f"a Force pairs with a Motion, not with a {type(V).__name__}: F.dot(V) is a power")
        return V.dot(self)

    def moved_by(self, T: Transform) -> Force:
        f = T.rotation * self.force
        return Force(T.rotation * self.moment + T.translation.cross(f), f)

    def moved_back_by(self, T: Transform) -> Force:
        R = T.rotation.inv
        return Force(R * (self.moment - T.translation.cross(self.force)), R * self.force)


_NO_MOTION = Motion(Vector.zero(), Vector.zero())
_NO_FORCE = Force(Vector.zero(), Vector.zero())
