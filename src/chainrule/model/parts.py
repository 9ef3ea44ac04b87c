"""The parts of a robot: links, the joints between them, and named frames on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from chainrule.errors import ModelError
from chainrule.model.friction import FrictionLaw
from chainrule.model.joints import Composite, Fixed, JointKind, Moved, PolynomialScrew, Screw
from chainrule.model.lifting import Lift, lift_transform, lift_vector
from chainrule.spatial import (
    Inertia,
    Scalar,
    Symmetric,
    Transform,
    Vector,
)
from chainrule.spatial.scalar import is_zero
from chainrule.spatial.vector import steiner

POINT_MASS_ROUNDING = 1e-14
"""Inertia about the center of mass, relative to that about the origin, that is left of a point mass by rounding."""

SHARE = "1/1"
"""The unit of a share, where "1" is that of an angle or a direction."""


@dataclass(frozen=True)
class Link:
    """A rigid body: mass (kg), center of mass (m, in the link frame), inertia about it (kg m^2, link axes)."""

    name: str
    mass: Scalar = 0.0
    com: Vector = field(default=Vector(0.0, 0.0, 0.0))
    inertia: Symmetric = field(default=Symmetric(0.0, 0.0, 0.0, 0.0, 0.0, 0.0))

    @property
    def spatial_inertia(self) -> Inertia:
        """Inertia about the link frame's origin."""
        return Inertia.from_com(self.mass, self.com, self.inertia)

    @staticmethod
    def from_inertia(name: str, I: Inertia) -> Link:
        """The link of an inertia about its frame's origin; what is left of a point mass by rounding is zero."""
        about = I.about_com()
        if all(isinstance(x, float | int) for x in about.entries()):
            largest = max(map(abs, I.inertia.entries()))
            if max(map(abs, about.entries())) <= POINT_MASS_ROUNDING * largest:
                about = Symmetric(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return Link(name, I.mass, I.com, about)

    def together_with(self, other: Link) -> Link:
        """The link with another one welded to it, in the same frame: Steiner's theorem about the common center."""
        m = self.mass + other.mass
        c = (self.com * self.mass + other.com * other.mass) / m if m else Vector(0.0, 0.0, 0.0)
        (a, da), (b, db) = ((link, link.com - c) for link in (self, other))
        return Link(self.name, m, c, a.inertia + steiner(da, da * a.mass) + b.inertia + steiner(db, db * b.mass))

    def map(self, f: Lift) -> Link:
        return Link(
            self.name,
            f(self.mass, "kg"),
            lift_vector(f, self.com, "m"),
            Symmetric(*(f(x, "kg*m^2") for x in self.inertia.entries())),
        )


@dataclass(frozen=True)
class Dof:
    """Properties of a joint along one of its degrees of freedom, all on the joint's side of the gear.

    Limits are in rad or m, rad/s or m/s, N m or N. Friction opposes the velocity. It is the sum of `viscous` times the
    velocity (N m s/rad or N s/m), of dry friction, and of `friction_function`, a law of the user's own.

    Dry friction is `coulomb` when the velocity is positive and `coulomb_negative` when it is negative (both as positive
    numbers). At rest it holds up to `static`, or `static_negative` in the other direction; 0 stands for the same as in
    motion. It falls to its value in motion at once, or with the Stribeck speed v_s (rad/s or m/s) as
    coulomb + (static - coulomb) exp(-(qd / v_s)^2). All of it is multiplied by
    1 + ripple sin(ripple_waves q + ripple_phase), with ripple_waves in waves a turn or rad/m.

    The rotor, with its own inertia (kg m^2), turns `gear` times as fast as the joint. A spring of `stiffness` pulls
    towards `rest`; in a ball joint it is one stiffness for all directions, and the three rests are the rotation vector
    of the orientation in which it rests. A joint whose effort limit is 0 is passive: nothing drives it.
    """

    lower: Scalar = -math.inf
    upper: Scalar = math.inf
    velocity: Scalar = math.inf
    effort: Scalar = math.inf
    viscous: Scalar = 0
    coulomb: Scalar = 0
    coulomb_negative: Scalar = 0
    static: Scalar = 0
    static_negative: Scalar = 0
    stribeck: Scalar = 0
    ripple: Scalar = 0
    ripple_waves: Scalar = 0
    ripple_phase: Scalar = 0
    rotor: Scalar = 0
    gear: Scalar = 1
    stiffness: Scalar = 0
    rest: Scalar = 0
    friction_function: FrictionLaw | None = None

    @property
    def armature(self) -> Scalar:
        """Inertia of the rotor on the joint side, gear^2 times rotor (kg m^2 or kg)."""
        return self.gear * self.gear * self.rotor

    @property
    def passive(self) -> bool:
        """Whether nothing drives it: its effort limit is 0."""
        return bool(self.effort == 0)

    @property
    def has_dry_friction(self) -> bool:
        """Whether friction holds it at rest."""
        levels = (self.coulomb, self.coulomb_negative, self.static, self.static_negative)
        jumps = self.friction_function is not None and self.friction_function.jumps
        return jumps or not all(is_zero(level) for level in levels)

    @property
    def friction_depends_on_position(self) -> bool:
        """Whether its friction is not the same everywhere."""
        return self.friction_function is not None or not is_zero(self.ripple)

    def without_friction(self) -> Dof:
        return replace(self.without_dry_friction(), viscous=0, friction_function=None)

    def without_dry_friction(self) -> Dof:
        """The same without what holds it at rest; a law of the user's own that does so is left out as a whole."""
        law = self.friction_function
        smooth = None if law is not None and law.jumps else law
        return replace(self, **dict.fromkeys(DRY_FRICTION, 0), friction_function=smooth)

    def map(self, f: Lift, unit: str) -> Dof:
        turns = unit == "rad"
        effort = "N*m" if turns else "N"
        return replace(
            self,
            viscous=f(self.viscous, f"{effort}*s/{unit}"),
            coulomb=f(self.coulomb, effort),
            coulomb_negative=f(self.coulomb_negative, effort),
            static=f(self.static, effort),
            static_negative=f(self.static_negative, effort),
            stribeck=f(self.stribeck, f"{unit}/s"),
            ripple=f(self.ripple, SHARE),
            ripple_waves=f(self.ripple_waves, f"1/{unit}"),
            ripple_phase=f(self.ripple_phase, "1"),
            rotor=f(self.rotor, "kg*m^2"),
            gear=f(self.gear, "1" if turns else "1/m"),
            stiffness=f(self.stiffness, f"{effort}/{unit}"),
            rest=f(self.rest, unit),
        )


DOF_NUMBERS = tuple(field.name for field in fields(Dof) if field.name != "friction_function")
"""The properties along a degree of freedom that are numbers."""

DRY_FRICTION = (
    "coulomb", "coulomb_negative", "static", "static_negative", "stribeck", "ripple", "ripple_waves", "ripple_phase",
)  # fmt: skip

FRICTION_NUMBERS = ("viscous", *DRY_FRICTION)


def with_both_directions(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties of joints; dry friction in the negative direction is that in the other one unless it is given."""
    completed = dict(properties)
    for name in ("coulomb", "static"):
        if name in completed:
            completed.setdefault(f"{name}_negative", completed[name])
    return completed


@dataclass(frozen=True)
class Mimic:
    """The rule of a joint that follows another: its coordinate is multiplier * (the other's) + offset."""

    joint: str
    multiplier: Scalar = 1
    offset: Scalar = 0


@dataclass(frozen=True)
class Joint:
    """A joint between a parent link and a child link: T_parent,child(q) = origin * kind.transform(q)."""

    name: str
    parent: str
    child: str
    kind: JointKind = field(default_factory=Fixed)
    origin: Transform = field(default=Transform.identity())
    dofs: tuple[Dof, ...] = ()
    mimic: Mimic | None = None
    dh: str | None = field(default=None, compare=False)
    """"standard" or "modified" if the joint is a row of a Denavit-Hartenberg table: its lengths are called a and d."""

    def __post_init__(self) -> None:
        if not self.dofs and self.kind.nv:
            object.__setattr__(self, "dofs", (Dof(),) * self.kind.nv)

    @property
    def type(self) -> str:
        return self.kind.name

    def follow(self, x: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """The coordinate of a joint that follows another one, where that is at x, and its two derivatives by x."""
        rule = self.mimic or Mimic(self.name)
        y, slope = rule.multiplier * x + rule.offset, rule.multiplier
        if isinstance(self.kind, PolynomialScrew):
            value, first, second = self.kind.curve(y)
            return value, first * slope, second * slope * slope
        return y, slope, 0

    @property
    def screws(self) -> tuple[Screw, ...]:
        """The screws whose exponentials make up the joint's motion, in its own frame, first to last."""
        inner = self.kind.inner if isinstance(self.kind, Moved) else self.kind
        if isinstance(inner, Screw):
            return (inner,)
        if isinstance(inner, Composite):
            return inner.parts
        if isinstance(inner, Fixed):
            return ()
        raise ModelError(
            f"joint {self.name!r} is {self.type}, which is no product of exponentials of fixed screws; lock it with "
            "robot.lock(...), or model it by three revolute joints"
        )

    def map(self, f: Lift) -> Joint:
        mimic = self.mimic and Mimic(self.mimic.joint, f(self.mimic.multiplier, "1"), f(self.mimic.offset, "1"))
        return replace(
            self,
            kind=self.kind.map(f),
            origin=lift_transform(f, self.origin),
            dofs=tuple(dof.map(f, unit) for dof, unit in zip(self.dofs, self.kind.units, strict=True)),
            mimic=mimic,
        )


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to a link: a tool, a sensor, a marker."""

    name: str
    link: str
    origin: Transform = field(default=Transform.identity())

    def map(self, f: Lift) -> Frame:
        return replace(self, origin=lift_transform(f, self.origin))
