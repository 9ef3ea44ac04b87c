"""Frames of links put where computing is shortest: on the axes of their joints."""

from __future__ import annotations

from dataclasses import replace

from chainrule.model.joints import JointKind, Moved, Screw
from chainrule.model.model import Model
from chainrule.model.parts import Joint, Link
from chainrule.spatial import Rotation, Scalar, Transform, Vector
from chainrule.spatial.scalar import is_zero

IDENTITY = Transform.identity()


def frames_on_axes(model: Model) -> Model:
    """The same robot with the frame of every link on the axis of its joint.

    Torques, the mass matrix and energies are the same. Poses of links and what is in their axes are not; frames on
    links stay where they are. Rotations of frames over symbols stay too, since they would make inertias longer.
    """
    moved: dict[str, Transform] = {model.links[0].name: IDENTITY}  # where the old frame is in the new one
    joints, links = [], [model.links[0]]
    for joint, link in zip(model.joints, model.links[1:], strict=True):
        point, kind, T = _on_axis(joint)
        origin = moved[joint.parent] * joint.origin
        joints.append(replace(joint, origin=origin * Transform(Rotation.identity(), point), kind=kind))
        moved[link.name] = T
        links.append(
            link if T is IDENTITY else Link(link.name, link.mass, T * link.com, link.inertia.rotate(T.rotation))
        )
    frames = tuple(replace(frame, origin=moved[frame.link] * frame.origin) for frame in model.frames)
    return replace(model, joints=tuple(joints), links=tuple(links), frames=frames)


def _on_axis(joint: Joint) -> tuple[Vector, JointKind, Transform]:
    """A point of the joint's axis, the kind of joint seen from there, and the pose of the link's frame after it."""
    inner, offset = (joint.kind.inner, joint.kind.offset) if isinstance(joint.kind, Moved) else (joint.kind, IDENTITY)
    point = Vector(0, 0, 0)
    if isinstance(inner, Screw) and inner.turns and not all(is_zero(x) for x in inner.linear):
        w, v = inner.angular, inner.linear
        square = w.dot(w)
        point = w.cross(v) / square
        advance = w * (w.dot(v) / square)
        inner = Screw(w, Vector.zero() if advance == Vector.zero() else advance, inner.name)
    elif offset is IDENTITY:
        return point, inner, IDENTITY
    R, t = offset.rotation, offset.translation - point
    if all(_is_number(x) for row in R for x in row):
        return point, inner, Transform(R, t)
    return point, Moved(inner, Transform(R, Vector(0, 0, 0))), Transform(Rotation.identity(), R.inv * t)


def _is_number(x: Scalar) -> bool:
    return isinstance(x, (int, float))
