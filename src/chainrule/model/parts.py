"""The parts of a robot: links, the joints between them, and named frames on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from chainrule.model.joints import Composite, Fixed, Kind, Moved, Screw
from chainrule.spatial import (
    Inertia,
    Rotation,
    Scalar,
    Symmetric,
    Transform,
    Vector,
)

Lift = Callable[[Scalar, str], Scalar]
"""Turns a number of the model, given with its unit, into another kind of scalar."""


def lift_vector(f: Lift, v: Vector, unit: str) -> Vector:
    return Vector(*(f(x, unit) for x in v))


def lift_transform(f: Lift, T: Transform) -> Transform:
    rows = (lift_vector(f, row, "1") for row in T.rotation)
    return Transform(Rotation(*rows), lift_vector(f, T.translation, "m"))


@dataclass(frozen=True)
class Link:
    """A rigid body: mass (kg), centre of mass (m, in the link frame), inertia about it (kg m^2, link axes)."""

    name: str
    mass: Scalar = 0.0
    com: Vector = field(default=Vector(0.0, 0.0, 0.0))
    inertia: Symmetric = field(default=Symmetric(0.0, 0.0, 0.0, 0.0, 0.0, 0.0))

    @property
    def spatial_inertia(self) -> Inertia:
        """About the link frame's origin."""
        return Inertia.from_com(self.mass, self.com, self.inertia)

    @staticmethod
    def from_inertia(name: str, I: Inertia) -> Link:
        return Link(name, I.mass, I.com, I.about_com())

    def map(self, f: Lift) -> Link:
        return Link(
            self.name,
            f(self.mass, "kg"),
            lift_vector(f, self.com, "m"),
            Symmetric(*(f(x, "kg*m^2") for x in self.inertia.entries())),
        )


@dataclass(frozen=True)
class Dof:
    """What a joint does along one of its degrees of freedom, all on the joint's side of the gear.

    Limits are in rad or m, rad/s or m/s, N m or N. Friction opposes the velocity: `viscous` times it (N m s/rad or
    N s/m), plus `coulomb` when it is positive and `coulomb_negative` when it is negative (both given as positive
    numbers). The rotor's own inertia (kg m^2) turns `gear` times as fast as the joint. A spring of `stiffness`
    pulls towards `rest`.
    """

    lower: Scalar = -math.inf
    upper: Scalar = math.inf
    velocity: Scalar = math.inf
    effort: Scalar = math.inf
    viscous: Scalar = 0
    coulomb: Scalar = 0
    coulomb_negative: Scalar = 0
    rotor: Scalar = 0
    gear: Scalar = 1
    stiffness: Scalar = 0
    rest: Scalar = 0

    @property
    def armature(self) -> Scalar:
        """The rotor's inertia as the joint feels it, gear^2 times rotor (kg m^2 or kg)."""
        return self.gear * self.gear * self.rotor

    def without_friction(self) -> Dof:
        return replace(self, viscous=0, coulomb=0, coulomb_negative=0)

    def map(self, f: Lift, unit: str) -> Dof:
        turns = unit == "rad"
        effort = "N*m" if turns else "N"
        return replace(
            self,
            viscous=f(self.viscous, f"{effort}*s/{unit}"),
            coulomb=f(self.coulomb, effort),
            coulomb_negative=f(self.coulomb_negative, effort),
            rotor=f(self.rotor, "kg*m^2"),
            gear=f(self.gear, "1" if turns else "1/m"),
            stiffness=f(self.stiffness, f"{effort}/{unit}"),
            rest=f(self.rest, unit),
        )


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: its coordinate is multiplier * (the other's) + offset."""

    joint: str
    multiplier: Scalar = 1
    offset: Scalar = 0


@dataclass(frozen=True)
class Joint:
    """Connects a parent link to a child link: T_parent,child(q) = origin * kind.transform(q)."""

    name: str
    parent: str
    child: str
    kind: Kind = field(default_factory=Fixed)
    origin: Transform = field(default=Transform.identity())
    dofs: tuple[Dof, ...] = ()
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        if not self.dofs and self.kind.nv:
            object.__setattr__(self, "dofs", (Dof(),) * self.kind.nv)

    @property
    def type(self) -> str:
        return self.kind.name

    def map(self, f: Lift) -> Joint:
        mimic = self.mimic and Mimic(self.mimic.joint, f(self.mimic.multiplier, "1"), f(self.mimic.offset, "1"))
        return replace(
            self,
            kind=_lift_kind(f, self.kind),
            origin=lift_transform(f, self.origin),
            dofs=tuple(dof.map(f, unit) for dof, unit in zip(self.dofs, self.kind.units, strict=True)),
            mimic=mimic,
        )


def _lift_kind(f: Lift, kind: Kind) -> Kind:
    if isinstance(kind, Screw):
        unit = "m" if kind.turns else "1"
        angular = lift_vector(f, kind.angular, "1") if kind.turns else kind.angular
        linear = kind.linear if kind.linear == Vector.zero() else lift_vector(f, kind.linear, unit)
        return Screw(angular, linear, kind.name)
    if isinstance(kind, Composite):
        parts = (_lift_kind(f, part) for part in kind.parts)
        return Composite(tuple(part for part in parts if isinstance(part, Screw)), kind.name)
    if isinstance(kind, Moved):
        return Moved(_lift_kind(f, kind.inner), lift_transform(f, kind.offset))
    return kind


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to a link: a tool, a sensor, a marker."""

    name: str
    link: str
    origin: Transform = field(default=Transform.identity())

    def map(self, f: Lift) -> Frame:
        return replace(self, origin=lift_transform(f, self.origin))
