"""Couplings between joints of an MJCF model: equality constraints, tendons, and the rotors of actuators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chainrule.errors import UnknownNameError
from chainrule.formats.mjcf.defaults import Defaults
from chainrule.formats.mjcf.document import Document
from chainrule.formats.mjcf.joints import coefficient
from chainrule.formats.mjcf.loops import LOOPS
from chainrule.formats.mjcf.settings import Settings
from chainrule.formats.xml import Node
from chainrule.model import Joint, Mimic

TARGETS = ("joint", "jointinparent", "tendon", "site", "cranksite", "body")
"""Attributes that name what an actuator acts on."""

Refs = Mapping[str, float]
"""The coordinate of each hinge and slide in the pose that the file describes, by the joint's name."""


def with_rotors(
    joints: Sequence[Joint], document: Document, defaults: Defaults, settings: Settings, notes: list[str]
) -> list[Joint]:
    """Joints with the armature and damping of their actuators, times gear^2."""
    by_name = {joint.name: joint for joint in joints}
    for entry in document.entries("actuator"):
        node = defaults.with_class(entry)
        if not any(node.get(key) for key in TARGETS):
            raise node.error(f"acts on nothing; name its {', '.join(TARGETS[:-1])} or {TARGETS[-1]}")
        armature, damping = node.number("armature", 0.0), coefficient(node, "damping")
        if not armature and not damping:
            continue
        target = node.get("joint") or node.get("jointinparent")
        if target is None:
            notes.append(f"the armature and damping of {_label(node)} do not act on a joint: they are not modelled")
            continue
        joint = _joint(by_name, target, node)
        gear = (node.numbers("gear") or [1.0])[0]
        square = gear * gear
        if not settings.is_enabled("damper"):
            damping = 0.0
        dofs = (replace(d, rotor=d.rotor + square * armature, viscous=d.viscous + square * damping) for d in joint.dofs)
        by_name[target] = replace(joint, dofs=tuple(dofs))
    return [by_name[joint.name] for joint in joints]


def with_mimics(
    joints: Sequence[Joint], refs: Refs, document: Document, nodes: Sequence[Node], notes: list[str]
) -> list[Joint]:
    """Linear equalities between two scalar joints, as joints that follow others.

    Those that close loops are read elsewhere; what is left of the equalities, and tendons, become notes.
    """
    by_name = {joint.name: joint for joint in joints}
    mimics: dict[str, Mimic] = {}
    for node in nodes:
        if node.tag in LOOPS:
            continue
        found = _mimic(node, by_name, refs) if node.tag == "joint" else None
        if found is None or not adopt_mimic(mimics, *found):
            notes.append(f"equality constraint {_label(node)} is not modelled")
    notes += [f"tendon {_label(node)} is not modelled" for node in document.entries("tendon", "spatial", "fixed")]
    notes += [f"deformable body {_label(node)} is not modelled" for node in document.entries("deformable", "flex")]
    return [replace(joint, mimic=mimics.get(joint.name)) for joint in joints]


def _mimic(node: Node, joints: Mapping[str, Joint], refs: Refs) -> tuple[str, Mimic] | None:
    """y - y0 = a0 + a1 (x - x0), solved for y; None if the constraint is of another kind."""
    follower = _joint(joints, node.text("joint1"), node).name
    polynomial = node.numbers("polycoef") or []
    a = [*polynomial, *(0.0, 1.0, 0.0, 0.0, 0.0)[len(polynomial) :]]
    if len(a) > 5:
        raise node.error(f"polycoef={node.get('polycoef')!r} should be at most 5 numbers, got {len(polynomial)}")
    if node.get("joint2") is None or any(a[2:]):
        return None
    leader = _joint(joints, node.text("joint2"), node).name
    if leader == follower:
        raise node.error(f"couples joint {leader!r} to itself; name two joints")
    for name in (follower, leader):
        if name not in refs:
            raise node.error(
                f"couples joint {name!r}, which is {joints[name].type}; only hinges and slides can be coupled"
            )
    return follower, Mimic(leader, a[1], refs[follower] + a[0] - a[1] * refs[leader])


def adopt_mimic(mimics: dict[str, Mimic], follower: str, mimic: Mimic) -> bool:
    """Add a mimic so that each follows a joint that itself follows none; False where that is impossible."""
    if mimic.joint in mimics:
        mimic = _through(mimic, mimics[mimic.joint])
    if follower in mimics or mimic.joint == follower:
        return False
    for name, other in mimics.items():
        if other.joint == follower:
            mimics[name] = _through(other, mimic)
    mimics[follower] = mimic
    return True


def _through(mimic: Mimic, leader: Mimic) -> Mimic:
    """A mimic of a joint that is itself a mimic."""
    return Mimic(leader.joint, mimic.multiplier * leader.multiplier, mimic.multiplier * leader.offset + mimic.offset)


def _joint(joints: Mapping[str, Joint], name: str, node: Node) -> Joint:
    if name not in joints:
        raise node.error(str(UnknownNameError.of("joint", name, joints, "the model")))
    return joints[name]


def _label(node: Node) -> str:
    name = node.get("name")
    return repr(name) if name else f"<{node.tag}> in line {node.element.sourceline} of {node.source}"
