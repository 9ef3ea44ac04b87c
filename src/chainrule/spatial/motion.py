"""Spatial vectors: motions (twists and their rates) and forces (wrenches, momenta), two different things.

Angular part first, as in Lynch & Park and Featherstone. A motion and a force pair to a power.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from chainrule.spatial.scalar import Scalar
from chainrule.spatial.vector import Vector

if TYPE_CHECKING:
    from chainrule.spatial.transform import Transform


@dataclass(frozen=True, slots=True)
class Motion:
    """A twist V = (omega, v), in rad/s and m/s; or its rate, a screw axis, a small displacement.

    >>> Motion.of([0, 0, 1, 0, 0, 0]).dot(Force.of([0, 0, 5, 0, 0, 0]))
    5
    """

    angular: Vector
    linear: Vector

    @staticmethod
    def zero() -> Motion:
        return _NO_MOTION

    @staticmethod
    def of(components: Sequence[Scalar]) -> Motion:
        return Motion(Vector.of(components[:3]), Vector.of(components[3:]))

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
class Force:
    """A wrench F = (m, f), in N m and N; or a momentum."""

    moment: Vector
    force: Vector

    @staticmethod
    def zero() -> Force:
        return _NO_FORCE

    @staticmethod
    def of(components: Sequence[Scalar]) -> Force:
        return Force(Vector.of(components[:3]), Vector.of(components[3:]))

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
