"""Joints with a spring between motor and link: a motor that carries a rotor, and a spring that carries the link.

The motor's joint keeps its name, its limits, its friction and its rotor; the spring's joint turns about the same axis,
so that the link stands where both together turn it. As in Spong's model (1987), the rotor has inertia about its own
axis alone; its mass is part of the link before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from chainrule.model.edits import map_dofs, rebuild
from chainrule.model.joints import Moved
from chainrule.model.model import Model
from chainrule.model.parts import Dof, Joint, Link
from chainrule.spatial import Scalar, Symmetric, Transform, Vector

SPRING, ROTOR = "_spring", "_rotor"
"""What is added to a joint's name for that of its spring, and of the link between."""


class Elasticity(NamedTuple):
    """A spring between motor and link, in N m/rad and N m s/rad, and the rotor's inertia on the joint's side."""

    stiffness: Scalar
    damping: Scalar
    rotor: Scalar


class ElasticJoint(NamedTuple):
    """A joint with a spring: the places of both coordinates in q and in qd."""

    motor: Joint
    spring: Joint
    in_q: tuple[int, int]
    in_v: tuple[int, int]


def elastic_joints(model: Model) -> tuple[ElasticJoint, ...]:
    """The joints with a spring between motor and link."""
    places, above = model.layout.by_joint, {joint.child: joint for joint in model.joints}
    pairs = []
    for spring in model.joints:
        motor = above.get(spring.parent)
        if motor is not None and spring.name == motor.name + SPRING and motor.child == motor.name + ROTOR:
            a, b = places[motor.name], places[spring.name]
            pairs.append(ElasticJoint(motor, spring, (a.q.start, b.q.start), (a.v.start, b.v.start)))
    return tuple(pairs)


def with_elastic_joints(model: Model, springs: Mapping[str, Elasticity]) -> Model:
    """The model with a spring, and a rotor, between the motor and the link of some joints."""
    links, joints = [model.links[0]], []
    for joint, link in zip(model.joints, model.links[1:], strict=True):
        if joint.name in springs:
            stiffness, damping, rotor = springs[joint.name]
            between, (dof,) = joint.name + ROTOR, joint.dofs
            turns = joint.kind.inner if isinstance(joint.kind, Moved) else joint.kind  # its offset comes once
            joints.append(replace(joint, child=between, kind=turns, dofs=(replace(dof, rotor=rotor, gear=1),)))
            own = Dof(effort=0, stiffness=stiffness, viscous=damping)
            joints.append(Joint(joint.name + SPRING, between, link.name, joint.kind, Transform.identity(), (own,)))
            links += [Link(between, 0, Vector.zero(), Symmetric.zero()), link]
        else:
            joints.append(joint)
            links.append(link)
    return rebuild(model, links=links, joints=joints)


def without_elastic_joints(model: Model) -> Model:
    """The model without springs between motors and links: rotors turn with their links."""
    pairs = elastic_joints(model)
    between = {pair.motor.child for pair in pairs}
    spring = {pair.motor.name: pair.spring for pair in pairs}
    gone = {pair.spring.name for pair in pairs}
    joints = [
        replace(j, child=spring[j.name].child, kind=spring[j.name].kind) if j.name in spring else j
        for j in model.joints
        if j.name not in gone
    ]
    links = [link for link in model.links if link.name not in between]
    left = [c.restrict(set(model.layout.coordinate_names) - gone) for c in model.configurations]
    return rebuild(model, links=links, joints=joints, configurations=left)


def bare_links(model: Model) -> Model:
    """The model without elastic joints, rotors and friction: what the springs move."""
    return map_dofs(without_elastic_joints(model), lambda dof: replace(dof.without_friction(), rotor=0))
