"""Edits of models: each takes a model and returns a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chainrule.errors import ModelError, ShapeError, UnknownNameError
from chainrule.model.configurations import Configuration, join
from chainrule.model.constraints import Constraint
from chainrule.model.geometry import PairChoice
from chainrule.model.joints import Fixed, Free, JointKind, Moved, Screw
from chainrule.model.layout import Layout
from chainrule.model.model import Model
from chainrule.model.parts import Dof, Frame, Joint, Link
from chainrule.model.springs import Spring
from chainrule.spatial import (
    Inertia,
    Rotation,
    Scalar,
    Symmetric,
    Transform,
    Twist,
    Vector,
)


def merge_fixed(model: Model) -> Model:
    """Weld every link on a fixed joint to its parent: inertias are summed, the link's name becomes a frame's.

    The motion stays the same; the algorithms have fewer bodies to visit. Geometry moves to the link that is left.
    """
    if all(joint.kind.nv for joint in model.joints):
        return model
    carrier: dict[str, tuple[str, Transform]] = {}
    inertia: dict[str, Inertia] = {}
    links, joints, frames = [model.links[0]], [], []
    carrier[model.links[0].name] = (model.links[0].name, Transform.identity())
    for joint, link in zip(model.joints, model.links[1:], strict=True):
        parent, offset = carrier[joint.parent]
        if joint.kind.nv:
            carrier[link.name] = (link.name, Transform.identity())
            links.append(link)
            joints.append(replace(joint, parent=parent, origin=offset * joint.origin))
        else:
            T = offset * joint.origin * joint.kind.transform([])
            carrier[link.name] = (parent, T)
            frames.append(Frame(link.name, parent, T))
            before = inertia.get(parent) or inertia_of(model, parent)
            inertia[parent] = before + T * link.spatial_inertia
    for frame in model.frames:
        parent, offset = carrier[frame.link]
        frames.append(Frame(frame.name, parent, offset * frame.origin))
    merged = [Link.from_inertia(link.name, inertia[link.name]) if link.name in inertia else link for link in links]
    geometries = [
        replace(g, link=carrier[g.link][0], origin=carrier[g.link][1] * g.origin) if carrier[g.link][0] != g.link else g
        for g in model.geometries
    ]
    return replace(model, links=tuple(merged), joints=tuple(joints), frames=tuple(frames), geometries=tuple(geometries))


def choose_pair(model: Model, choice: PairChoice) -> Model:
    """Say whether two links are checked against each other, in place of what was said before."""
    links = {choice.link_a, choice.link_b}
    kept = (other for other in model.pairs if {other.link_a, other.link_b} != links)
    return replace(model, pairs=(*kept, choice))


def without_annotations(model: Model) -> Model:
    """The model without what plays no part in its motion: geometries, configurations, pairs and notes."""
    return replace(model, geometries=(), configurations=(), pairs=(), notes=())


def inertia_of(model: Model, link: str) -> Inertia:
    """Spatial inertia of a link, by its name."""
    return model.links[model.index_of[link]].spatial_inertia


def lock(model: Model, positions: Mapping[str, Scalar | Sequence[Scalar]]) -> Model:
    """Fix joints at the given positions; joints that mimic a locked one are fixed with it."""
    by_name = {joint.name: joint for joint in model.joints}
    values: dict[str, Sequence[Scalar]] = {}
    for name, position in positions.items():
        joint = by_name.get(name) or find_joint(model, name)
        if joint.mimic:
            raise ModelError(f"joint {name!r} follows {joint.mimic.joint!r}: lock that one, and it stands still too")
        numbers = list(position) if isinstance(position, Sequence) or hasattr(position, "shape") else [position]
        if len(numbers) != joint.kind.nq:
            raise ShapeError(
                f"joint {name!r} ({joint.type}) takes {joint.kind.nq} coordinates to lock it, got {len(numbers)}"
            )
        values[name] = numbers
    for joint in model.joints:
        if joint.mimic and joint.mimic.joint in values:
            values[joint.name] = [values[joint.mimic.joint][0] * joint.mimic.multiplier + joint.mimic.offset]
    joints = [
        replace(j, kind=Fixed(), dofs=(), mimic=None, origin=j.origin * by_name[j.name].kind.transform(values[j.name]))
        if j.name in values
        else j
        for j in model.joints
    ]
    return restrict_configurations(replace(model, joints=tuple(joints)))


def restrict_configurations(model: Model) -> Model:
    """The model with its configurations reduced to the coordinates that it has."""
    if not model.configurations:
        return model
    left = frozenset(model.layout.coordinate_names)
    return replace(model, configurations=tuple(c.restrict(left) for c in model.configurations))


def add_configuration(model: Model, name: str, q: Sequence[float]) -> Model:
    """Give the configuration q a name; one that has the name already is replaced."""
    new = Configuration(name, tuple(zip(model.layout.coordinate_names, map(float, q), strict=True)))
    kept = [new if c.name == name else c for c in model.configurations]
    return rebuild(model, configurations=kept if new in kept else [*kept, new])


def find_joint(model: Model, name: str) -> Joint:
    """The joint of this name."""
    if isinstance(name, str):
        for joint in model.joints:
            if joint.name == name:
                return joint
    raise UnknownNameError.of("joint", name, (j.name for j in model.joints), f"robot {model.name!r}")


def add_payload(model: Model, carrier: str, payload: Inertia) -> Model:
    """Weld a body, given in the frame of the link or frame `carrier`, to it."""
    index, offset = model.locate(carrier)
    link = model.links[index]
    heavier = Link.from_inertia(link.name, link.spatial_inertia + offset * payload)
    return replace(model, links=(*model.links[:index], heavier, *model.links[index + 1 :]))


def add_frame(model: Model, name: str, carrier: str, origin: Transform) -> Model:
    """Name a frame at `origin` in the link or frame `carrier`."""
    index, offset = model.locate(carrier)
    frame = Frame(name, model.links[index].name, offset * origin)
    return rebuild(model, frames=(*model.frames, frame))


def add_constraint(model: Model, constraint: Constraint) -> Model:
    """Close a loop with a constraint."""
    return rebuild(model, constraints=(*model.constraints, constraint))


def remove_constraint(model: Model, name: str) -> Model:
    """Open the loop that a constraint closes."""
    names = [constraint.name for constraint in model.constraints]
    if name not in names:
        raise UnknownNameError.of("constraint", name, names, f"robot {model.name!r}")
    return replace(model, constraints=tuple(c for c in model.constraints if c.name != name))


def add_spring(model: Model, spring: Spring) -> Model:
    """Put a spring between two links."""
    return rebuild(model, springs=(*model.springs, spring))


def remove_spring(model: Model, name: str) -> Model:
    """Take off a spring between two links."""
    names = [spring.name for spring in model.springs]
    if name not in names:
        raise UnknownNameError.of("spring", name, names, f"robot {model.name!r}")
    return replace(model, springs=tuple(spring for spring in model.springs if spring.name != name))


def rebuild(model: Model, **changes: Any) -> Model:
    """Build the model again with some fields replaced: sorted, and checked."""
    m = replace(model, **changes)
    built = Model.build(
        m.name, m.links, m.joints, m.frames, m.gravity, m.end_effector, m.notes, m.constraints, m.geometries,
        m.configurations, m.springs, m.pairs,
    )  # fmt: skip
    return replace(built, problems=m.problems)


def add_prefix(model: Model, prefix: str) -> Model:
    """Put a prefix before every name, so that the robot can be joined to another.

    Configurations keep their names; those of their coordinates get the prefix.
    """
    bodies = (*model.index_of, *(frame.name for frame in model.frames))
    hinges, ties = ([part.name for part in parts] for parts in (model.joints, model.constraints))
    renamed = rename(model, *({old: prefix + old for old in group} for group in (bodies, hinges, ties)))
    renamed = replace(renamed, springs=tuple(replace(s, name=prefix + s.name) for s in renamed.springs))
    geometries = (g if g.name is None else replace(g, name=prefix + g.name) for g in renamed.geometries)
    return replace(renamed, geometries=tuple(geometries))


def rename(model: Model, bodies: Mapping[str, str], joints: Mapping[str, str], constraints: Mapping[str, str]) -> Model:
    """Other names for links and frames, for joints, and for constraints and springs: old names and new ones."""

    def body(name: str) -> str:
        return bodies.get(name, name)

    def joint(name: str) -> str:
        return joints.get(name, name)

    named = [
        replace(
            j, name=joint(j.name), parent=body(j.parent), child=body(j.child),
            mimic=None if j.mimic is None else replace(j.mimic, joint=joint(j.mimic.joint)),
        )
        for j in model.joints
    ]  # fmt: skip
    coordinates = dict(zip(model.layout.coordinate_names, Layout.of(named).coordinate_names, strict=True))
    return rebuild(
        model,
        links=[replace(link, name=body(link.name)) for link in model.links],
        joints=named,
        frames=[replace(f, name=body(f.name), link=body(f.link)) for f in model.frames],
        end_effector=None if model.end_effector is None else body(model.end_effector),
        constraints=[
            replace(c, name=constraints.get(c.name, c.name), link_a=body(c.link_a), link_b=body(c.link_b))
            for c in model.constraints
        ],
        springs=[
            replace(s, name=constraints.get(s.name, s.name), link_a=body(s.link_a), link_b=body(s.link_b))
            for s in model.springs
        ],
        geometries=[replace(g, link=body(g.link)) for g in model.geometries],
        pairs=[replace(p, link_a=body(p.link_a), link_b=body(p.link_b)) for p in model.pairs],
        configurations=[
            replace(c, positions=tuple((coordinates.get(name, name), x) for name, x in c.positions))
            for c in model.configurations
        ],
    )


def attach(model: Model, other: Model, carrier: str, origin: Transform, prefix: str = "") -> Model:
    """Bolt another robot's base to a link or frame of this one; the end-effector becomes the other's.

    In a configuration of the whole, each part takes its own of that name, or else its home, or else stays neutral.
    """
    other = add_prefix(other, prefix)
    index, offset = model.locate(carrier)
    bolt = Joint(f"{other.links[0].name}_mount", model.links[index].name, other.links[0].name, Fixed(), offset * origin)
    try:
        return rebuild(
            model,
            links=(*model.links, *other.links),
            joints=(*model.joints, bolt, *other.joints),
            frames=(*model.frames, *other.frames),
            end_effector=other.end_effector or (other.tips[0] if len(other.tips) == 1 else None),
            notes=(*model.notes, *other.notes),
            constraints=(*model.constraints, *other.constraints),
            springs=(*model.springs, *other.springs),
            geometries=(*model.geometries, *other.geometries),
            pairs=(*model.pairs, *other.pairs),
            configurations=join(model.configurations, other.configurations),
        )
    except ModelError as error:
        raise ModelError(f"{error}: keep the names of the two robots apart with prefix=...") from None


def set_base_free(model: Model) -> Model:
    """Set the base free: add a fixed link "world" with a free joint "floating_base" (underscores where taken)."""
    world = unused_name("world", [*model.index_of, *(frame.name for frame in model.frames)])
    free = Joint(unused_name("floating_base", [j.name for j in model.joints]), world, model.links[0].name, Free())
    return rebuild(model, links=(Link(world), *model.links), joints=(free, *model.joints))


def unused_name(name: str, names: Sequence[str]) -> str:
    """The name, with underscores added until it is not among `names`."""
    while name in names:
        name += "_"
    return name


def chain(model: Model, tip: str) -> Model:
    """Keep only the links between the base and the link or frame `tip`, which becomes the end-effector."""
    index, _ = model.locate(tip)
    kept = {0, *(body.index for body in model.ancestors(index))}
    names = {model.links[i].name for i in kept}
    joints = [joint for i, joint in enumerate(model.joints) if i + 1 in kept]
    followed = {joint.name for joint in joints}
    for joint in joints:
        if joint.mimic and joint.mimic.joint not in followed:
            raise ModelError(
                f"joint {joint.name!r} follows {joint.mimic.joint!r}, which is not between the base and {tip!r}; lock "
                "that one first"
            )
    for constraint in model.constraints:
        for link in (constraint.link_a, constraint.link_b):
            if model.locate(link)[0] not in kept:
                raise ModelError(
                    f"constraint {constraint.name!r} ties {link!r}, which is not between the base and {tip!r}; "
                    f"open that loop first, with robot.without_constraint({constraint.name!r})"
                )
    for spring in model.springs:
        for link in (spring.link_a, spring.link_b):
            if model.locate(link)[0] not in kept:
                raise ModelError(
                    f"spring {spring.name!r} holds {link!r}, which is not between the base and {tip!r}; take it off "
                    f"first, with robot.without_spring({spring.name!r})"
                )
    left = frozenset(Layout.of(joints).coordinate_names)
    return rebuild(
        model,
        links=[link for i, link in enumerate(model.links) if i in kept],
        joints=joints,
        frames=[frame for frame in model.frames if frame.link in names],
        end_effector=tip,
        geometries=[geometry for geometry in model.geometries if geometry.link in names],
        configurations=[configuration.restrict(left) for configuration in model.configurations],
    )


def rebase(model: Model, base: str) -> Model:
    """Make another link the base: the joints between are reversed and keep their names and coordinates.

    The new base is fixed in the world as it was at q = 0, so gravity is rotated into its axes there.
    """
    index, _ = model.locate(base)
    if base not in model.index_of:
        raise ModelError(f"{base!r} is a frame; the base must be a link, such as {model.links[index].name!r}")
    path = model.ancestors(index)
    reversed_joints = {body.joint.name: reverse(body.joint) for body in path}
    home = Transform.identity()
    for body in path:
        home = home * body.joint.origin * body.joint.kind.transform(body.joint.kind.neutral())
    return rebuild(
        model,
        joints=[reversed_joints.get(joint.name, joint) for joint in model.joints],
        gravity=home.rotation.inv * model.gravity,
        end_effector=None if model.end_effector == base else model.end_effector,
    )


def reverse(joint: Joint) -> Joint:
    """Exchange parent and child of a joint: T_cp = e^-[S]q M^-1 = M^-1 e^-[Ad_M S]q."""
    kind: JointKind = joint.kind.inner if isinstance(joint.kind, Moved) else joint.kind
    if kind.nv and not isinstance(kind, Screw):
        raise ModelError(
            f"joint {joint.name!r} is {joint.type}; the base can only be moved across fixed, revolute, prismatic and "
            "helical joints"
        )
    turned = replace(joint, parent=joint.child, child=joint.parent, dh=None)
    if isinstance(joint.kind, Moved):
        back = Screw(-kind.angular, -kind.linear, kind.name) if isinstance(kind, Screw) else kind
        return replace(turned, kind=Moved(back, joint.origin.inverse()), origin=joint.kind.offset.inverse())
    if isinstance(kind, Screw):
        S = joint.origin * Twist(-kind.angular, -kind.linear)
        kind = Screw(S.angular, S.linear, "screw" if kind.turns else "prismatic")
    return replace(turned, kind=kind, origin=joint.origin.inverse())


def scale_masses(model: Model, factor: Scalar) -> Model:
    """Multiply all masses and inertias."""

    def scale(link: Link) -> Link:
        inertia = Symmetric(*(x * factor for x in link.inertia.entries()))
        return replace(link, mass=link.mass * factor, inertia=inertia)

    return replace(model, links=tuple(scale(link) for link in model.links))


def map_dofs(model: Model, change: Callable[[Dof], Dof]) -> Model:
    """Make the same change to every degree of freedom."""
    joints = (replace(joint, dofs=tuple(change(dof) for dof in joint.dofs)) for joint in model.joints)
    return replace(model, joints=tuple(joints))


def without_friction(model: Model) -> Model:
    """The model without friction in its joints."""
    return map_dofs(model, lambda dof: dof.without_friction())


def without_dry_friction(model: Model) -> Model:
    """The model without what holds its joints at rest; laws of the user's own that do so are left out as a whole."""
    return map_dofs(model, lambda dof: dof.without_dry_friction())


def center_frames(model: Model) -> Model:
    """Place the frame of every link that moves at its center of mass, with its axes as they were.

    Joints stay where they are. The end-effector keeps its pose: where it is a link, a frame takes its place.
    """
    offset = {
        link.name: Transform(Rotation.identity(), link.com)
        for link in model.links[1:]
        if link.mass != 0 and any(x != 0 for x in link.com)
    }

    def back(link: str, T: Transform) -> Transform:
        return offset[link].inv * T if link in offset else T

    def back_point(link: str, p: Vector) -> Vector:
        return offset[link].inv * p if link in offset else p

    def joint(j: Joint) -> Joint:
        if j.child not in offset:
            return replace(j, origin=back(j.parent, j.origin))
        inner, before = (j.kind.inner, j.kind.offset) if isinstance(j.kind, Moved) else (j.kind, Transform.identity())
        return replace(j, kind=Moved(inner, before * offset[j.child]), origin=back(j.parent, j.origin))

    end_effector = model.end_effector
    tip = end_effector or (model.tips[0] if len(model.tips) == 1 else "")
    frames = [replace(f, origin=back(f.link, f.origin)) for f in model.frames]
    if tip in offset:
        end_effector = unused_name(f"{tip}_tip", [*model.index_of, *(frame.name for frame in model.frames)])
        frames.append(Frame(end_effector, tip, offset[tip].inverse()))
    return replace(
        model,
        links=tuple(replace(x, com=Vector.zero()) if x.name in offset else x for x in model.links),
        joints=tuple(joint(j) for j in model.joints),
        frames=tuple(frames),
        end_effector=end_effector,
        constraints=tuple(
            replace(c, origin_a=back(c.link_a, c.origin_a), origin_b=back(c.link_b, c.origin_b))
            for c in model.constraints
        ),
        springs=tuple(
            replace(s, point_a=back_point(s.link_a, s.point_a), point_b=back_point(s.link_b, s.point_b))
            for s in model.springs
        ),
        geometries=tuple(replace(g, origin=back(g.link, g.origin)) for g in model.geometries),
    )


def with_gravity(model: Model, gravity: Vector) -> Model:
    """Replace gravity, in m/s^2 in the base frame."""
    return replace(model, gravity=gravity)
