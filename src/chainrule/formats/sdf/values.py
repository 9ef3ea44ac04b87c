"""Values of SDF elements: SDF writes them as text between tags, where URDF and MJCF write attributes."""

from __future__ import annotations

import math

from chainrule.formats.exact import has_direction, snap
from chainrule.formats.xml import XmlElement
from chainrule.spatial import Quaternion, Rotation, Transform, Vector

UNLIMITED = 1e16
"""Size of a limit from which on SDF means that there is none."""


def text(node: XmlElement) -> str:
    """The text of an element."""
    return (node.element.text or "").strip()


def child_text(node: XmlElement, tag: str, default: str = "") -> str:
    """The text of a child element."""
    child = node.child(tag)
    return default if child is None else text(child)


def numbers(node: XmlElement, length: int, *, finite: bool = True) -> list[float]:
    """The numbers in an element, exactly `length` of them."""
    words = text(node).split()
    try:
        if any("_" in word or not word.isascii() for word in words):  # which float() takes for digits
            raise ValueError
        values = [float(word) for word in words]
    except ValueError:
        raise node.error(f"{text(node)[:60]!r} should be numbers separated by spaces") from None
    if len(values) != length:
        raise node.error(f"{text(node)[:60]!r} should be {length} number{'s' * (length > 1)}, got {len(values)}")
    if any(math.isnan(x) or (finite and math.isinf(x)) for x in values):
        raise node.error(f"{text(node)[:60]!r} is not finite")
    return values


def number(node: XmlElement, tag: str, default: float, *, finite: bool = True) -> float:
    """The number in a child element."""
    child = node.child(tag)
    return default if child is None else numbers(child, 1, finite=finite)[0]


def flag(node: XmlElement, tag: str, default: bool = False) -> bool:
    """The truth value in a child element."""
    child = node.child(tag)
    if child is None:
        return default
    word = text(child).lower()
    if word not in ("true", "false", "1", "0"):
        raise child.error(f"{text(child)[:60]!r} should be true or false")
    return word in ("true", "1")


def vector(node: XmlElement, tag: str, default: Vector) -> Vector:
    """The three numbers in a child element."""
    child = node.child(tag)
    return default if child is None else Vector(*numbers(child, 3))


def raw_pose(node: XmlElement) -> Transform:
    """The numbers of the <pose> in an element, whatever they are relative to.

    Angles are roll, pitch and yaw in rad, or in degrees with degrees="true"; with rotation_format="quat_xyzw" there
    is a quaternion instead.
    """
    child = node.child("pose")
    if child is None or not text(child):
        return Transform.identity()
    form = child.get("rotation_format") or "euler_rpy"
    if form == "quat_xyzw":
        *place, x, y, z, w = numbers(child, 7)
        turn = Quaternion(x, y, z, w)
        if not has_direction(Vector(x, y, z)) and not w:
            raise child.error("has a zero quaternion, which is no orientation; 0 0 0 1 turns nothing")
        return Transform(snap(turn.normalized().rotation()), Vector(*place))
    if form != "euler_rpy":
        raise child.error(f"rotation_format={form!r} should be euler_rpy or quat_xyzw")
    *place, roll, pitch, yaw = numbers(child, 6)
    unit = math.pi / 180 if (child.get("degrees") or "false").lower() in ("true", "1") else 1.0
    return Transform(snap(Rotation.from_rpy(roll * unit, pitch * unit, yaw * unit)), Vector(*place))
