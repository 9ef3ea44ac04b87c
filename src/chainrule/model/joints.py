"""Kinds of joints: how a child moves relative to its parent. All that is special about a joint lives here.

A kind knows its displacement T(q), the screws S(q) that span its velocities (columns, in the child's frame), their
rate for a given velocity, and the arithmetic of its configurations. Every coordinate is in m or rad; velocities
are the rates of the coordinates, but for the spherical and the free joint, whose velocity is the child's angular
velocity or twist, in the child's own frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from chainrule.errors import ModelError
from chainrule.spatial import (
    Motion,
    Quaternion,
    Rotation,
    Scalar,
    Transform,
    Vector,
)

Scalars = Sequence[Scalar]


class Kind(Protocol):
    """What a joint kind offers."""

    @property
    def name(self) -> str: ...

    @property
    def nq(self) -> int: ...

    @property
    def nv(self) -> int: ...

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each velocity coordinate times second: "rad" or "m"."""

    def transform(self, q: Scalars) -> Transform: ...

    def columns(self, q: Scalars) -> Sequence[Motion]: ...

    def columns_rate(self, q: Scalars, qd: Scalars) -> Sequence[Motion]: ...

    def neutral(self) -> tuple[float, ...]: ...

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """dq/dt at the velocity v."""

    def integrate(self, q: Scalars, v: Scalars) -> list[Scalar]: ...

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]: ...


class _Flat:
    """A kind whose configurations are plain numbers, zero at home."""

    nv: int

    @property
    def nq(self) -> int:
        return self.nv

    def neutral(self) -> tuple[float, ...]:
        return (0.0,) * self.nv

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return list(v)

    def integrate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return [a + b for a, b in zip(q, v, strict=True)]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return [b - a for a, b in zip(q0, q1, strict=True)]


class _ConstantColumns:
    """A kind whose screws do not depend on the configuration."""

    nv: int

    def columns_rate(self, q: Scalars, qd: Scalars) -> Sequence[Motion]:
        return [Motion.zero()] * self.nv


@dataclass(frozen=True)
class Screw(_Flat, _ConstantColumns):
    """One degree of freedom along a fixed screw axis S = (omega, v), used as given: T(q) = e^[S] q.

    Revolute, continuous, prismatic and helical joints are screws, and so is any other, such as an axis that does
    not pass through the child's origin.

    >>> Screw.revolute(Vector(0, 0, 1)).transform([0.0]).rotation.a
    Vector(x=1.0, y=0.0, z=0.0)
    """

    angular: Vector
    linear: Vector
    name: str = "screw"

    nv = 1

    @staticmethod
    def revolute(axis: Vector, name: str = "revolute") -> Screw:
        return Screw(axis, Vector.zero(), name)

    @staticmethod
    def prismatic(axis: Vector) -> Screw:
        return Screw(Vector.zero(), axis, "prismatic")

    @staticmethod
    def helical(axis: Vector, pitch: Scalar) -> Screw:
        """A screw that advances by `pitch` metres a radian."""
        return Screw(axis, axis * pitch, "helical")

    @cached_property
    def turns(self) -> bool:
        return any(w != 0 for w in self.angular)

    @property
    def units(self) -> tuple[str, ...]:
        return ("rad",) if self.turns else ("m",)

    @cached_property
    def _geometry(self) -> tuple[Scalar, Vector, Vector, Vector]:
        """Length of omega, its direction, a point on the axis, and the advance along it for each unit of q."""
        w, v = self.angular, self.linear
        square = w.dot(w)
        length = 1 if square == 1 else w.norm()
        return length, w / length, w.cross(v) / square, w * (w.dot(v) / square)

    def transform(self, q: Scalars) -> Transform:
        if not self.turns:
            return Transform(Rotation.identity(), self.linear * q[0])
        length, axis, point, advance = self._geometry
        R = Rotation.about(axis, q[0] * length)
        if self.linear == Vector.zero():
            return Transform(R, Vector.zero())
        return Transform(R, point - R * point + advance * q[0])

    def columns(self, q: Scalars) -> Sequence[Motion]:
        return [Motion(self.angular, self.linear)]


@dataclass(frozen=True)
class Fixed(_Flat, _ConstantColumns):
    """No motion at all."""

    name = "fixed"
    nv = 0
    units = ()

    def transform(self, q: Scalars) -> Transform:
        return Transform.identity()

    def columns(self, q: Scalars) -> Sequence[Motion]:
        return []


@dataclass(frozen=True)
class Composite(_Flat):
    """Several screws in a row, without links between: cylindrical, universal and planar joints."""

    parts: tuple[Screw, ...]
    name: str

    @staticmethod
    def cylindrical(axis: Vector) -> Composite:
        """q = (angle about the axis, distance along it)."""
        return Composite((Screw.revolute(axis), Screw.prismatic(axis)), "cylindrical")

    @staticmethod
    def universal(first: Vector, second: Vector) -> Composite:
        """q = (angle about the first axis, fixed in the parent; angle about the second, fixed in the child)."""
        return Composite((Screw.revolute(first), Screw.revolute(second)), "universal")

    @staticmethod
    def planar(normal: Vector = Vector(0, 0, 1)) -> Composite:  # noqa: B008 (immutable)
        """q = (two distances in the plane, along the joint frame's axes; the angle about its normal)."""
        axes = [Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1)]
        for i, axis in enumerate(axes):
            if normal == axis:
                first, second = axes[i - 2], axes[i - 1]
                return Composite((Screw.prismatic(first), Screw.prismatic(second), Screw.revolute(normal)), "planar")
        raise ModelError(
            f"the normal of a planar joint must be one of the joint frame's axes (1 0 0, 0 1 0 or 0 0 1), not "
            f"{tuple(normal)}; turn the joint's origin instead"
        )

    @property
    def nv(self) -> int:  # type: ignore[override]
        return len(self.parts)

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(part.units[0] for part in self.parts)

    def transform(self, q: Scalars) -> Transform:
        T = Transform.identity()
        for part, x in zip(self.parts, q, strict=True):
            T = T * part.transform([x])
        return T

    def columns(self, q: Scalars) -> Sequence[Motion]:
        after = Transform.identity()
        columns = []
        for part, x in zip(reversed(self.parts), reversed(q), strict=True):
            columns.append(after.inv * Motion(part.angular, part.linear))
            after = part.transform([x]) * after
        return columns[::-1]

    def columns_rate(self, q: Scalars, qd: Scalars) -> Sequence[Motion]:
        """A screw is carried backwards by the motion V of the screws after it: its rate is -V x S."""
        V = Motion.zero()
        rates = []
        for S, rate in zip(reversed(self.columns(q)), reversed(qd), strict=True):
            rates.append(S.cross(V))
            V = V + S * rate
        return rates[::-1]


_AXES = (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))


@dataclass(frozen=True)
class Spherical(_ConstantColumns):
    """A ball joint. q: unit quaternion (x, y, z, w); velocity: the child's angular velocity in its own frame."""

    name = "spherical"
    nq = 4
    nv = 3
    units = ("rad", "rad", "rad")

    def transform(self, q: Scalars) -> Transform:
        return Transform(Quaternion(*q).rotation(), Vector.zero())

    def columns(self, q: Scalars) -> Sequence[Motion]:
        return [Motion(axis, Vector.zero()) for axis in _AXES]

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 1.0)

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return [*Quaternion(*q).rate(Vector(*v))]

    def integrate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return [*(Quaternion(*q).normalised() * Quaternion.exp(Vector(*v))).normalised()]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return [*(Quaternion(*q0).normalised().inv * Quaternion(*q1).normalised()).log()]


@dataclass(frozen=True)
class Free(_ConstantColumns):
    """No joint at all. q: position (x, y, z) and quaternion (x, y, z, w); velocity: body twist (omega, v)."""

    name = "free"
    nq = 7
    nv = 6
    units = ("rad", "rad", "rad", "m", "m", "m")

    def transform(self, q: Scalars) -> Transform:
        return Transform(Quaternion(*q[3:]).rotation(), Vector(*q[:3]))

    def columns(self, q: Scalars) -> Sequence[Motion]:
        zero = Vector.zero()
        return [*(Motion(axis, zero) for axis in _AXES), *(Motion(zero, axis) for axis in _AXES)]

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        orientation = Quaternion(*q[3:])
        return [*(orientation.rotation() * Vector(*v[3:])), *orientation.rate(Vector(*v[:3]))]

    def integrate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        step = Transform.exp(Motion.of(v))
        turned = Quaternion(*q[3:]).normalised() * Quaternion.exp(Vector(*v[:3]))
        return [*(self.transform(q) * step.translation), *turned.normalised()]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return [*(self.transform(q0).inv * self.transform(q1)).log()]


@dataclass(frozen=True)
class Moved:
    """Another kind, whose joint frame does not coincide with the child's: T(q) = inner(q) * offset."""

    inner: Kind
    offset: Transform

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def nq(self) -> int:
        return self.inner.nq

    @property
    def nv(self) -> int:
        return self.inner.nv

    @property
    def units(self) -> tuple[str, ...]:
        return self.inner.units

    def transform(self, q: Scalars) -> Transform:
        return self.inner.transform(q) * self.offset

    def columns(self, q: Scalars) -> Sequence[Motion]:
        return [self.offset.inv * S for S in self.inner.columns(q)]

    def columns_rate(self, q: Scalars, qd: Scalars) -> Sequence[Motion]:
        return [self.offset.inv * S for S in self.inner.columns_rate(q, qd)]

    def neutral(self) -> tuple[float, ...]:
        return self.inner.neutral()

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return self.inner.rates(q, v)

    def integrate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return self.inner.integrate(q, v)

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return self.inner.difference(q0, q1)
