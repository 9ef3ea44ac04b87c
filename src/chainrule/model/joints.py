"""Kinds of joints: how a child moves relative to its parent. Everything special about a kind of joint is here.

A kind has its displacement T(q), the screws S(q) that span its velocities (columns, in the child's frame), their
rates, and the arithmetic of its configurations. Every coordinate is in m or rad. Velocities are the rates of the
coordinates, except for the spherical and the free joint, whose velocity is the child's angular velocity or twist, in
the child's own frame.

How to add a kind of joint:

1. Write a frozen dataclass that derives from `RealCoordinates`, and from `ConstantColumns` as well if its screws do not
   depend on q. It needs `name`, `nv` (the number of velocities) and `units` ("rad" or "m" for each of them).
2. Give it `transform(q)` and `columns(q)`: d/dt transform(q) = transform(q) [S qd]. Without `ConstantColumns` it also
   needs `columns_rate(q, qd)`, the rates of the columns. Use `chainrule.spatial`, so that every kind of scalar works.
3. If it has several coordinates, name them: `coordinate_names`. Where a velocity is no rate of a coordinate, define
   `nq`, `velocity_names`, `neutral`, `rates`, `integrate` and `difference` too, as `Spherical` does; the coordinates
   must then end in a unit quaternion.
4. If its numbers should become symbols together with those of the model, give it `map(f)`, as `Screw` does.
5. For robot files, list it with `chainrule.formats.native.register_kind`.
6. Prove it: forward dynamics of the torques of inverse dynamics must give back the acceleration.

tests/model/test_recipe_joint.py follows these steps from outside the package. Compiled kernels on disk are kept by the
text of this package and the numbers of the robot: while a kind outside of it still changes, set CHAINRULE_KERNELS=off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

from chainrule.errors import ModelError
from chainrule.lazy import cached_property
from chainrule.model.lifting import Lift, lift_transform, lift_vector
from chainrule.spatial import (
    Quaternion,
    Rotation,
    Scalar,
    Transform,
    Twist,
    Vector,
)
from chainrule.spatial.arrays import ArrayOfScalars
from chainrule.spatial.scalar import is_zero
from chainrule.spatial.vector import vectors

Scalars = Sequence[Scalar]
AXES = (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))


class JointKind(Protocol):
    """A kind of joint, as models and algorithms use it."""

    @property
    def name(self) -> str:
        """The type of the joint in files and messages."""

    @property
    def nq(self) -> int:
        """The number of coordinates."""

    @property
    def nv(self) -> int:
        """The number of velocities: the degrees of freedom."""

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each velocity times a second: "rad" or "m"."""

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The name of each coordinate below the joint's own: ("",) where there is only one."""

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """The name of each velocity below the joint's own: ("",) where there is only one."""

    def transform(self, q: Scalars) -> Transform:
        """T(q): the pose of the child in the joint's frame."""

    def columns(self, q: Scalars) -> Sequence[Twist]:
        """S(q): the screws of the velocities, in the child's frame."""

    def columns_rate(self, q: Scalars, qd: Scalars) -> Sequence[Twist]:
        """dS/dt at the velocity qd, seen in the child's frame."""

    def neutral(self) -> tuple[float, ...]:
        """The configuration at home: zeros and unit quaternions."""

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """dq/dt at the velocity v."""

    def integrate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """The configuration that the velocity v, kept for one second, leads to from q."""

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        """The velocity that leads from q0 to q1 in one second."""

    def map(self, f: Lift) -> JointKind:
        """The same kind over other scalars: f(number, unit) is called for every parameter."""


class ConstantParameters:
    """A kind without parameters, or one whose parameters stay numbers."""

    def map(self, f: Lift) -> Self:
        return self


class RealCoordinates(ConstantParameters):
    """A kind whose coordinates are plain numbers, zero at home, and whose velocities are their rates."""

    nv: int

    @property
    def nq(self) -> int:
        return self.nv

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """No name for a single coordinate; numbers from 1 for several, unless the kind has names for them."""
        return ("",) if self.nv == 1 else tuple(str(k + 1) for k in range(self.nv))

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """The names of the coordinates, whose rates the velocities are."""
        return self.coordinate_names

    def neutral(self) -> tuple[float, ...]:
        return (0.0,) * self.nv

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return list(v)

    def integrate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return [a + b for a, b in zip(q, v, strict=True)]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return [b - a for a, b in zip(q0, q1, strict=True)]


MAX_AXIS_ROUNDING = 1e-4
"""Distance of an axis' length from 1 that counts as rounding, such as that of 0.7071 for the root of a half."""


def unit_axis(axis: Vector, what: str) -> Vector:
    """The axis with length 1, but for rounding; another length is refused, which would be that of each turn of q too.

    An axis of scalars that are no plain numbers is used as given.
    """
    if not all(isinstance(x, (int, float)) for x in axis):
        return axis
    length = axis.norm()
    if not abs(length - 1) <= MAX_AXIS_ROUNDING:
        raise ModelError(
            f"{what} must have length 1, got {length:g}: q times that would be the angle or the distance; divide it by "
            "its length"
        )
    return axis if abs(length - 1) < 1e-14 else axis * (1 / length)


class ConstantColumns:
    """A kind whose screws do not depend on the configuration."""

    nv: int

    def columns_rate(self, q: Scalars, qd: Scalars) -> Sequence[Twist]:
        return [Twist.zero()] * self.nv


@dataclass(frozen=True)
class Screw(RealCoordinates, ConstantColumns, ArrayOfScalars):
    """One degree of freedom along a fixed screw axis S = (omega, v), used as given: T(q) = e^([S] q).

    Revolute, continuous, prismatic and helical joints are screws, and so are joints whose axis does not pass through
    the child's origin. For NumPy, the six numbers of S, so that `np.column_stack` makes the matrix of several.

    >>> import numpy as np
    >>> S = Screw.revolute([0, 0, 1], point=[2, 0, 0])
    >>> np.asarray(S).tolist()
    [0.0, 0.0, 1.0, 0.0, -2.0, 0.0]
    >>> S.exp(np.pi).translation.x
    4.0
    """

    angular: Vector
    linear: Vector
    name: str = "screw"

    nv = 1

    def __post_init__(self) -> None:
        vectors(self, "angular", "linear")

    @staticmethod
    def revolute(axis: Iterable[Scalar], point: Iterable[Scalar] | None = None, *, name: str = "revolute") -> Screw:
        """A turn about the axis, a unit vector, through a point (the origin if None): S = (omega, -omega x point)."""
        w = unit_axis(Vector.of(axis), "Screw.revolute: the axis")
        return Screw(w, Vector.zero() if point is None else Vector.of(point).cross(w), name)

    @staticmethod
    def prismatic(axis: Iterable[Scalar]) -> Screw:
        """A slide along the axis, a unit vector: S = (0, axis)."""
        return Screw(Vector.zero(), unit_axis(Vector.of(axis), "Screw.prismatic: the axis"), "prismatic")

    @staticmethod
    def helical(axis: Iterable[Scalar], point: Iterable[Scalar] | None, pitch: Scalar) -> Screw:
        """A turn about the axis through a point that advances along it by `pitch` meters for each radian.

        The point is the origin where it is None.
        """
        turn = Screw.revolute(axis, point)
        return Screw(turn.angular, turn.linear + turn.angular * pitch, "helical")

    @property
    def motion(self) -> Twist:
        """The screw S as a twist."""
        return Twist(self.angular, self.linear)

    def exp(self, q: Scalar) -> Transform:
        """The pose e^([S] q)."""
        return self.transform([q])

    def table(self) -> list[Scalar]:
        """The six components, angular part first."""
        return self.motion.table()

    @cached_property
    def turns(self) -> bool:
        return any(w != 0 for w in self.angular)

    @property
    def units(self) -> tuple[str, ...]:
        return ("rad",) if self.turns else ("m",)

    @cached_property
    def _has_no_linear_part(self) -> bool:
        """Whether the linear part is zero whatever the state; a scalar of many values is not."""
        return all(is_zero(x) or (x == 0) is True for x in self.linear)

    @cached_property
    def _geometry(self) -> tuple[Scalar, Vector, Vector, Vector]:
        """Length of omega, its direction, a point on the axis, and the advance along it for each unit of q."""
        w, v = self.angular, self.linear
        square = w.dot(w)
        if square == 1:  # whole numbers stay whole
            return 1, w, w.cross(v), w * w.dot(v)
        length = w.norm()
        return length, w / length, w.cross(v) / square, w * (w.dot(v) / square)

    def transform(self, q: Scalars) -> Transform:
        if not self.turns:
            return Transform(Rotation.identity(), self.linear * q[0])
        length, axis, point, advance = self._geometry
        R = Rotation.about(axis, q[0] * length)
        if self._has_no_linear_part:
            return Transform(R, Vector.zero())
        return Transform(R, point - R * point + advance * q[0])

    def columns(self, q: Scalars) -> Sequence[Twist]:
        return [self.motion]

    def map(self, f: Lift) -> Screw:
        unit = "m" if self.turns else "1"
        angular = lift_vector(f, self.angular, "1") if self.turns else self.angular
        linear = self.linear if self._has_no_linear_part else lift_vector(f, self.linear, unit)
        return Screw(angular, linear, self.name)


@dataclass(frozen=True)
class PolynomialScrew(RealCoordinates):
    """A screw whose angle or distance is a polynomial of the coordinate: T(q) = e^([S] P(q)), P(q) = sum c_k q^k.

    With `Mimic` it is a joint that follows another one by a polynomial, as the slides of a knee follow its angle.

    >>> slide = PolynomialScrew(Screw.prismatic((1, 0, 0)), (0.0, 0.1, -0.02))
    >>> round(slide.transform([0.5]).translation.x, 9)
    0.045
    """

    screw: Screw
    coefficients: tuple[Scalar, ...]
    """c_0, c_1, ..: rad or m for each power of the coordinate's unit."""
    units: tuple[str, ...] = ("rad",)

    name = "polynomial"
    nv = 1

    def curve(self, q: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """P(q), P'(q) and P''(q), by Horner's rule."""
        value: Scalar = 0
        slope: Scalar = 0
        half: Scalar = 0
        for c in reversed(self.coefficients):
            value, slope, half = value * q + c, slope * q + value, half * q + slope
        return value, slope, 2 * half

    def transform(self, q: Scalars) -> Transform:
        return self.screw.exp(self.curve(q[0])[0])

    def columns(self, q: Scalars) -> Sequence[Twist]:
        return [self.screw.motion * self.curve(q[0])[1]]

    def columns_rate(self, q: Scalars, qd: Scalars) -> Sequence[Twist]:
        return [self.screw.motion * (self.curve(q[0])[2] * qd[0])]

    def map(self, f: Lift) -> PolynomialScrew:
        made, per = "1" if self.screw.turns else "m", self.units[0] == "m"
        units = [f"{made}/m^{k}" if per and k else made for k in range(len(self.coefficients))]
        numbers = tuple(f(c, unit) for c, unit in zip(self.coefficients, units, strict=True))
        return replace(self, screw=self.screw.map(f), coefficients=numbers)


@dataclass(frozen=True)
class Fixed(RealCoordinates, ConstantColumns):
    """No motion."""

    name = "fixed"
    nv = 0
    units = ()

    def transform(self, q: Scalars) -> Transform:
        return Transform.identity()

    def columns(self, q: Scalars) -> Sequence[Twist]:
        return []


@dataclass(frozen=True)
class Composite(RealCoordinates):
    """Several screws in a row without links between them: cylindrical, universal and planar joints."""

    parts: tuple[Screw, ...]
    name: str
    names: tuple[str, ...] = ()
    """The name of each coordinate; numbers from 1 where it is empty."""

    @staticmethod
    def cylindrical(axis: Vector) -> Composite:
        """q = (angle about the axis, distance along it)."""
        return Composite((Screw.revolute(axis), Screw.prismatic(axis)), "cylindrical", ("angle", "distance"))

    @staticmethod
    def universal(first: Vector, second: Vector) -> Composite:
        """q = (angle about the first axis, fixed in the parent; angle about the second, fixed in the child)."""
        return Composite((Screw.revolute(first), Screw.revolute(second)), "universal", ("first", "second"))

    @staticmethod
    def planar(normal: Vector = Vector(0, 0, 1)) -> Composite:  # noqa: B008 (immutable)
        """q = (two distances in the plane, along the joint frame's axes; the angle about its normal)."""
        for i, axis in enumerate(AXES):
            if normal == axis:
                parts = (Screw.prismatic(AXES[i - 2]), Screw.prismatic(AXES[i - 1]), Screw.revolute(normal))
                return Composite(parts, "planar", ("xyz"[i - 2], "xyz"[i - 1], "angle"))
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

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return self.names or super().coordinate_names

    def transform(self, q: Scalars) -> Transform:
        T = Transform.identity()
        for part, x in zip(self.parts, q, strict=True):
            T = T * part.transform([x])
        return T

    def columns(self, q: Scalars) -> Sequence[Twist]:
        after = Transform.identity()
        columns = []
        for part, x in zip(reversed(self.parts), reversed(q), strict=True):
            columns.append(after.inv * Twist(part.angular, part.linear))
            after = part.transform([x]) * after
        return columns[::-1]

    def columns_rate(self, q: Scalars, qd: Scalars) -> Sequence[Twist]:
        """Rate -V x S of each screw, with V the motion of the screws after it."""
        V = Twist.zero()
        rates = []
        for S, rate in zip(reversed(self.columns(q)), reversed(qd), strict=True):
            rates.append(S.cross(V))
            V = V + S * rate
        return rates[::-1]

    def map(self, f: Lift) -> Composite:
        return replace(self, parts=tuple(part.map(f) for part in self.parts))


@dataclass(frozen=True)
class Spherical(ConstantColumns, ConstantParameters):
    """A ball joint. q: unit quaternion (x, y, z, w); velocity: the child's angular velocity in its own frame."""

    name = "spherical"
    nq = 4
    nv = 3
    units = ("rad", "rad", "rad")
    coordinate_names = ("qx", "qy", "qz", "qw")
    velocity_names = ("wx", "wy", "wz")

    def transform(self, q: Scalars) -> Transform:
        return Transform(Quaternion(*q).rotation(), Vector.zero())

    def columns(self, q: Scalars) -> Sequence[Twist]:
        return [Twist(axis, Vector.zero()) for axis in AXES]

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 1.0)

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return [*Quaternion(*q).rate(Vector(*v))]

    def integrate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return [*(Quaternion(*q).normalized() * Quaternion.exp(Vector(*v))).normalized()]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return [*(Quaternion(*q0).normalized().inv * Quaternion(*q1).normalized()).log()]


@dataclass(frozen=True)
class Free(ConstantColumns, ConstantParameters):
    """A free body. q: position (x, y, z) and quaternion (x, y, z, w); velocity: body twist (omega, v)."""

    name = "free"
    nq = 7
    nv = 6
    units = ("rad", "rad", "rad", "m", "m", "m")
    coordinate_names = ("x", "y", "z", "qx", "qy", "qz", "qw")
    velocity_names = ("wx", "wy", "wz", "vx", "vy", "vz")

    def transform(self, q: Scalars) -> Transform:
        return Transform(Quaternion(*q[3:]).rotation(), Vector(*q[:3]))

    def columns(self, q: Scalars) -> Sequence[Twist]:
        zero = Vector.zero()
        return [*(Twist(axis, zero) for axis in AXES), *(Twist(zero, axis) for axis in AXES)]

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        orientation = Quaternion(*q[3:])
        return [*(orientation.rotation() * Vector(*v[3:])), *orientation.rate(Vector(*v[:3]))]

    def integrate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        step = Transform.exp(Twist.of(v))
        rotation = Quaternion(*q[3:]).normalized() * Quaternion.exp(Vector(*v[:3]))
        return [*(self.transform(q) * step.translation), *rotation.normalized()]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return [*(self.transform(q0).inv * self.transform(q1)).log()]


@dataclass(frozen=True)
class Moved:
    """A kind whose joint frame does not coincide with the child's: T(q) = inner(q) * offset."""

    inner: JointKind
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

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return self.inner.coordinate_names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return self.inner.velocity_names

    def transform(self, q: Scalars) -> Transform:
        return self.inner.transform(q) * self.offset

    def columns(self, q: Scalars) -> Sequence[Twist]:
        return [self.offset.inv * S for S in self.inner.columns(q)]

    def columns_rate(self, q: Scalars, qd: Scalars) -> Sequence[Twist]:
        return [self.offset.inv * S for S in self.inner.columns_rate(q, qd)]

    def neutral(self) -> tuple[float, ...]:
        return self.inner.neutral()

    def rates(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return self.inner.rates(q, v)

    def integrate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return self.inner.integrate(q, v)

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        return self.inner.difference(q0, q1)

    def map(self, f: Lift) -> Moved:
        return Moved(self.inner.map(f), lift_transform(f, self.offset))
