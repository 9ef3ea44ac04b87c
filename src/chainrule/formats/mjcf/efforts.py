"""Effort limits of joints from the actuators of an MJCF model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from chainrule.formats.mjcf.defaults import Defaults, StyledNode
from chainrule.formats.mjcf.document import Document
from chainrule.formats.mjcf.joints import range_in_force
from chainrule.formats.mjcf.settings import Settings
from chainrule.model import Joint

SERVO_ATTRIBUTES = ("kp", "kv", "kd", "ki", "dampratio", "biastype", "dyntype")
"""Attributes that make the force of a <general> actuator depend on more than its control."""


def with_efforts(
    joints: Sequence[Joint], document: Document, defaults: Defaults, settings: Settings, notes: list[str]
) -> list[Joint]:
    """Joints with the largest effort that their actuators can give.

    Each actuator gives gear times its force, which lies in forcerange, and for a motor, or a general actuator with a
    fixed gain and nothing else, in gain times ctrlrange. Several on one joint add up. The joint's own actuatorfrcrange
    bounds the sum. Joints without actuators, and joints with one of unlimited force, keep the limit that they have.
    """
    scalar = {joint.name for joint in joints if joint.kind.nv == 1}
    totals: dict[str, tuple[float, float]] = {}
    for entry in document.entries("actuator"):
        node = defaults.with_class(entry)
        target = node.get("joint") or node.get("jointinparent")
        if target not in scalar:
            continue
        gear = (node.numbers("gear") or [1.0])[0]
        low, high = sorted(gear * x if gear else 0.0 for x in _forces(node, settings))
        before = totals.get(str(target), (0.0, 0.0))
        totals[str(target)] = (before[0] + low, before[1] + high)
    return [_limit(joint, totals[joint.name], notes) if joint.name in totals else joint for joint in joints]


def _forces(node: StyledNode, settings: Settings) -> tuple[float, float]:
    """Least and largest force of an actuator, before its gear."""
    low, high = -math.inf, math.inf
    gain = _plain_gain(node)
    if gain is not None and settings.is_enabled("clampctrl"):
        controls = range_in_force(node, "ctrlrange", "ctrllimited", settings)
        if controls is not None:
            low, high = sorted(gain * x for x in controls)
    if node.tag in ("dcmotor", "plugin"):
        return low, high
    forces = range_in_force(node, "forcerange", "forcelimited", settings)
    if forces is not None:
        low, high = (min(max(x, forces[0]), forces[1]) for x in (low, high))
    return low, high


def _plain_gain(node: StyledNode) -> float | None:
    """The constant that an actuator multiplies its control with, if it does nothing else."""
    if node.tag == "motor":
        return 1.0
    if node.tag != "general" or node.get("gaintype") not in (None, "fixed"):
        return None
    if any(node.get(key) not in (None, "none") for key in SERVO_ATTRIBUTES):
        return None
    return (node.numbers("gainprm") or [1.0])[0]


def _limit(joint: Joint, total: tuple[float, float], notes: list[str]) -> Joint:
    dof = joint.dofs[0]
    low, high = (min(max(x, -dof.effort), dof.effort) for x in total)
    largest = max(abs(low), abs(high))
    if math.isfinite(largest) and low != -high:
        notes.append(f"joint {joint.name!r}: its actuators give {low:g} to {high:g}; the larger counts here, both ways")
    return replace(joint, dofs=(replace(dof, effort=largest),))
