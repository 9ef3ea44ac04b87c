"""MJCF joints: their kinds, their frames, and their properties along each degree of freedom."""

from __future__ import annotations

import math
from dataclasses import dataclass

from chainrule.formats.mjcf.document import word
from chainrule.formats.mjcf.settings import Settings, direction
from chainrule.formats.xml import Node
from chainrule.model import (
    Dof,
    Fixed,
    Free,
    Kind,
    Moved,
    Screw,
    Spherical,
)
from chainrule.spatial import Rotation, Transform, Vector

TYPES = ("hinge", "slide", "ball", "free")


@dataclass(frozen=True)
class BodyJoint:
    """A joint before it has a place in the tree: T(q) = before * kind.transform(q), in the body's frame."""

    kind: Kind
    before: Transform
    dofs: tuple[Dof, ...]
    notes: tuple[str, ...] = ()
    ref: float = 0.0
    """The coordinate in the pose that the file describes."""


WELDED = BodyJoint(Fixed(), Transform.identity(), ())


def joint_of(node: Node, T: Transform, settings: Settings) -> BodyJoint:
    """The joint that an element inside frames T of a body describes.

    MuJoCo's coordinate equals ref in the pose of the file: T(q) = e^[S](q - ref) = e^-[S]ref e^[S]q.
    """
    if node.tag == "freejoint":
        return BodyJoint(Free(), Transform.identity(), (), _alignment_notes(node, settings))
    type_ = word(node, "type", TYPES, "hinge")
    anchor = T * Vector(*node.vector("pos", 3, (0.0, 0.0, 0.0)))
    if type_ == "free":
        dof = _dof(node, type_, settings)
        turned = "its armature and dry friction act along the body's axes here, along the world's in MuJoCo"
        notes = (turned,) if dof.rotor or dof.coulomb else ()
        return BodyJoint(Free(), Transform.identity(), (dof,) * 6, notes + _alignment_notes(node, settings))
    if type_ == "ball":
        kind: Kind = Spherical()
        before = Transform(Rotation.identity(), anchor)
        if anchor != Vector.zero():
            kind = Moved(kind, before.inverse())
        limited = _limits(node, type_, settings) != (-math.inf, math.inf)
        notes = ("the limit on its angle is not modelled",) if limited else ()
        return BodyJoint(kind, before, (_dof(node, type_, settings),) * 3, notes)
    axis = T.rotation * direction(node, "axis", Vector(*node.vector("axis", 3, (0.0, 0.0, 1.0))))
    screw = Screw.prismatic(axis) if type_ == "slide" else Screw.revolute(axis, anchor)
    ref = _position(node, "ref", type_, settings)
    before = screw.transform([-ref]) if ref else Transform.identity()
    return BodyJoint(screw, before, (_dof(node, type_, settings),), _effort_notes(node, settings), ref)


def _alignment_notes(node: Node, settings: Settings) -> tuple[str, ...]:
    align = word(node, "align", ("true", "false", "auto"), "auto")
    if align == "true" or (align == "auto" and settings.align_free):
        return (
            "MuJoCo moves a body that carries no other to its centre of mass (align); here its frame stays in place",
        )
    return ()


def _position(node: Node, attribute: str, type_: str, settings: Settings) -> float:
    value = node.number(attribute, 0.0)
    return value if type_ == "slide" else settings.radians(value)


def _dof(node: Node, type_: str, settings: Settings) -> Dof:
    lower, upper = _limits(node, type_, settings)
    scalar = type_ in ("hinge", "slide")
    stiffness = coefficient(node, "stiffness")
    if stiffness and type_ == "free":
        raise node.error("a free joint with a spring is not supported; set stiffness='0', or use slides and a ball")
    if any(x > 0 for x in node.vector("springdamper", 2, (0.0, 0.0))):
        raise node.error(
            "springdamper asks for a spring that depends on the whole model's inertia, which is not computed here; "
            "give stiffness and damping instead"
        )
    if stiffness and node.number("springyield", 0.0) > 0:
        raise node.error("has a spring that yields (springyield), which is not supported; remove it for an elastic one")
    friction = node.number("frictionloss", 0.0) if settings.is_enabled("frictionloss", "constraint") else 0.0
    return Dof(
        lower=lower if scalar else -math.inf,
        upper=upper if scalar else math.inf,
        effort=max((abs(x) for x in _efforts(node, settings)), default=math.inf) if scalar else math.inf,
        viscous=coefficient(node, "damping") if settings.is_enabled("damper") else 0.0,
        coulomb=friction,
        coulomb_negative=friction,
        rotor=node.number("armature", 0.0),
        stiffness=stiffness if settings.is_enabled("spring") else 0.0,
        rest=_position(node, "springref", type_, settings) if scalar else 0.0,  # a ball rests as it is drawn
    )


def coefficient(node: Node, attribute: str) -> float:
    """The linear coefficient of a force, which may be a polynomial in MuJoCo."""
    numbers = node.numbers(attribute) or [0.0]
    if len(numbers) > 3:
        raise node.error(f"{attribute}={node.get(attribute)!r} should be at most 3 numbers, got {len(numbers)}")
    if any(numbers[1:]):
        raise node.error(
            f"{attribute}={node.get(attribute)!r} is not linear, which is not supported; keep its first number"
        )
    return numbers[0]


def _limits(node: Node, type_: str, settings: Settings) -> tuple[float, float]:
    if type_ == "free":
        return -math.inf, math.inf
    low, high = range_in_force(node, "range", "limited", settings) or (-math.inf, math.inf)
    if not settings.is_enabled("limit", "constraint"):
        return -math.inf, math.inf
    if type_ == "ball" and low not in (0.0, -math.inf):
        raise node.error("a ball joint limits its angle from zero: the first number of range should be 0")
    return (low, high) if type_ == "slide" else (settings.radians(low), settings.radians(high))


def _efforts(node: Node, settings: Settings) -> tuple[float, ...]:
    return range_in_force(node, "actuatorfrcrange", "actuatorfrclimited", settings) or ()


def _effort_notes(node: Node, settings: Settings) -> tuple[str, ...]:
    low, high = _efforts(node, settings) or (0.0, 0.0)
    if low == -high:
        return ()
    return (f"its efforts are limited to {low:g} and {high:g}; the larger counts here, both ways",)


def range_in_force(node: Node, attribute: str, switch: str, settings: Settings) -> tuple[float, float] | None:
    """The range of an attribute, or None where it is absent or switched off."""
    low, high = node.vector(attribute, 2, (0.0, 0.0))
    limited = word(node, switch, ("true", "false", "auto"), "auto")
    if limited == "auto" and not settings.auto_limits and node.get(attribute) is not None:
        raise node.error(f"has {attribute} but not {switch}, while the compiler says autolimits='false'; set {switch}")
    if limited == "false" or (limited == "auto" and low == high == 0):
        return None
    if not low < high:
        raise node.error(f"{attribute}={node.get(attribute)!r} should be a smaller number and a larger one")
    return low, high
