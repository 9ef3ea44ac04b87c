"""Parameters: numbers of a robot that stay open, so that one function serves a family of robots.

A parameter is named by its kind and what it belongs to: "gravity", "link:forearm", "viscous:elbow". It stands for a
few numbers, in the order and the units of `KINDS`, which take the place of the model's own. The model with other
numbers is the robot that the edit of the same effect makes (`robot.with_link`, `with_joint`, `with_payload`, ..).

How to add a kind: give it an entry in `KINDS`. Kinds are put into the model in the order of that table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from chainrule.errors import ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.model import edits
from chainrule.model.lengths import link_length, stretch_link
from chainrule.model.model import Model
from chainrule.model.parts import Dof, Frame, Joint, Link, with_both_directions
from chainrule.spatial import Inertia, Scalar, Symmetric, Transform, Vector
from chainrule.spatial.scalar import is_zero, where

Scalars = Sequence[Scalar]
Label = tuple[str, str]
"""The name and the SI unit of one number."""

BODY: tuple[Label, ...] = (
    ("mass", "kg"), *((f"com {x}", "m") for x in "xyz"),
    *((f"inertia {x}", "kg m^2") for x in ("xx", "yy", "zz", "xy", "xz", "yz")),
)  # fmt: skip
PLACE: tuple[Label, ...] = (("x", "m"), ("y", "m"), ("z", "m"))
MASS, SHAPE = "mass of link {!r}", "center of mass and inertia of link {!r}"
ANGLES: tuple[Label, ...] = (("roll", "rad"), ("pitch", "rad"), ("yaw", "rad"))


@dataclass(frozen=True)
class ParameterKind:
    """A kind of parameter: the numbers that it has for a name, and how they are put into a model."""

    form: str
    """How it is written, for messages: "link:LINK"."""
    labels: Callable[[Model, str], tuple[Label, ...]]
    """The numbers that it has for a name; an unknown name is refused."""
    put: Callable[[Model, str, Scalars], Model]
    """The model with the numbers in place."""
    parts: Callable[[Model, str], Iterable[str]]
    """What it changes, in words: two parameters that change the same cannot be open together."""
    check: str | None = None
    """What every number must be: "positive" or "not negative"; "body" for the numbers of a rigid body."""
    moves: bool = False
    """Whether it moves joints and frames, and so the closing of loops."""
    own: Callable[[Model, str], Scalars] = lambda model, name: ()
    """The numbers that the model has."""


class Parameter(NamedTuple):
    """A parameter of one model."""

    text: str
    """Its whole name, as the user writes it."""
    kind: ParameterKind
    name: str
    labels: tuple[Label, ...]


# --- bodies ---


def _link(model: Model, name: str) -> Link:
    if name not in model.index_of:
        raise UnknownNameError.of("link", name, model.index_of, f"robot {model.name!r}")
    return model.links[model.index_of[name]]


def _replace_link(model: Model, link: Link) -> Model:
    index = model.index_of[link.name]
    return replace(model, links=(*model.links[:index], link, *model.links[index + 1 :]))


def _body_labels(model: Model, name: str) -> tuple[Label, ...]:
    _link(model, name)
    return BODY


def _put_link(model: Model, name: str, numbers: Scalars) -> Model:
    return _replace_link(model, Link(name, numbers[0], Vector(*numbers[1:4]), Symmetric(*numbers[4:])))


def _mass_labels(model: Model, name: str) -> tuple[Label, ...]:
    if is_zero(_link(model, name).mass):
        raise ModelError(
            f"parameter 'mass:{name}': link {name!r} of robot {model.name!r} has no mass, whose shape another mass "
            f"could have; use 'link:{name}', with center of mass and inertia, or 'payload:{name}'"
        )
    return (("mass", "kg"),)


def _put_mass(model: Model, name: str, numbers: Scalars) -> Model:
    link = _link(model, name)
    (mass,) = numbers
    return _replace_link(model, replace(link, mass=mass, inertia=link.inertia.scale(mass / link.mass)))


def _payload_labels(model: Model, name: str) -> tuple[Label, ...]:
    model.locate(name)
    return BODY


def _put_payload(model: Model, name: str, numbers: Scalars) -> Model:
    body = Inertia.from_com(numbers[0], Vector(*numbers[1:4]), Symmetric(*numbers[4:]))
    return edits.add_payload(model, name, body)


def _own_body(model: Model, name: str) -> Scalars:
    link = _link(model, name)
    return [link.mass, *link.com, *link.inertia.entries()]


def _own_mass(model: Model, name: str) -> Scalars:
    return [_link(model, name).mass]


def _no_body(model: Model, name: str) -> Scalars:
    return [0.0] * len(BODY)


# --- lengths ---


def _length_labels(model: Model, name: str) -> tuple[Label, ...]:
    _link(model, name)
    if model.constraints:
        raise ModelError(
            f"parameter 'length:{name}': robot {model.name!r} has closed loops, which another length would open; make "
            "a robot of each length, with robot.with_link(..., length=...)"
        )
    link_length(model, name)
    return (("length", "m"),)


def _put_length(model: Model, name: str, numbers: Scalars) -> Model:
    way = link_length(model, name)
    return stretch_link(model, name, numbers[0] / float(way.norm()), way)


def _own_length(model: Model, name: str) -> Scalars:
    return [link_length(model, name).norm()]


def _length_parts(model: Model, name: str) -> Iterator[str]:
    yield SHAPE.format(name)
    yield from (f"place of joint {joint.name!r}" for joint in model.joints if joint.parent == name)
    yield from (f"place of frame {frame.name!r}" for frame in model.frames if frame.link == name)


def _class_of(model: Model, name: str) -> str:
    """ "joint" or "frame", whichever has the name."""
    joints, frames = [joint.name for joint in model.joints], [frame.name for frame in model.frames]
    if name in joints and name in frames:
        raise ModelError(f"robot {model.name!r} has a joint and a frame named {name!r}; rename one, to say which moves")
    if name not in joints and name not in frames:
        raise UnknownNameError.of("joint or frame", name, [*joints, *frames], f"robot {model.name!r}")
    return "joint" if name in joints else "frame"


def _own_place(model: Model, name: str) -> Transform:
    placed: Sequence[Joint | Frame] = model.joints if _class_of(model, name) == "joint" else model.frames
    return next(part.origin for part in placed if part.name == name)


def _own_origin(model: Model, name: str) -> Scalars:
    return [*_own_place(model, name).translation]


def _own_pose(model: Model, name: str) -> Scalars:
    T = _own_place(model, name)
    return [*T.translation, *T.rotation.rpy()]


def _place_parts(model: Model, name: str) -> Iterator[str]:
    yield f"place of {_class_of(model, name)} {name!r}"


def _origin_labels(model: Model, name: str) -> tuple[Label, ...]:
    _class_of(model, name)
    return PLACE


def _pose_labels(model: Model, name: str) -> tuple[Label, ...]:
    _class_of(model, name)
    return PLACE + ANGLES


def _put_place(model: Model, name: str, numbers: Scalars) -> Model:
    """Another place (3), or place and orientation (6), of a joint in its parent or of a frame in its link."""

    def move(T: Transform) -> Transform:
        if len(numbers) == 3:
            return Transform(T.rotation, Vector(*numbers))
        return Transform.from_xyz_rpy(numbers[:3], numbers[3:])

    if _class_of(model, name) == "joint":
        joints = (replace(j, origin=move(j.origin)) if j.name == name else j for j in model.joints)
        return replace(model, joints=tuple(joints))
    frames = (replace(f, origin=move(f.origin)) if f.name == name else f for f in model.frames)
    return replace(model, frames=tuple(frames))


# --- joints ---


def _joint_kind(number: str, effort: str, check: str | None = "not negative") -> ParameterKind:
    """A number along the degrees of freedom of one joint, or of all; its unit, with {tau} and {x} for N m and rad."""

    def labels(model: Model, name: str) -> tuple[Label, ...]:
        balls = [joint.name for joint in model.joints if is_meant(joint, name) and joint.kind.nq != joint.kind.nv]
        if balls and number in ("stiffness", "rest"):
            raise ModelError(
                f"parameter {number!r}: the spring of joint {balls[0]!r} ({number}) is one of three directions at "
                "once, and stays as it is; name other joints"
            )
        if not name:
            return tuple((v.name, _unit(effort, v.unit)) for v in model.layout.velocities)
        joint = edits.find_joint(model, name)
        if not joint.dofs:
            raise ModelError(f"parameter '{number}:{name}': joint {name!r} of robot {model.name!r} is fixed")
        parts = joint.kind.velocity_names
        return tuple(
            (f"{number} {part}".strip(), _unit(effort, u)) for part, u in zip(parts, joint.kind.units, strict=True)
        )

    def put(model: Model, name: str, numbers: Scalars) -> Model:
        left = iter(numbers)
        return replace(model, joints=tuple(change(j, left) if is_meant(j, name) else j for j in model.joints))

    def is_meant(joint: Joint, name: str) -> bool:
        return joint.name == name if name else bool(joint.dofs) and joint.mimic is None

    def change(joint: Joint, numbers: Iterator[Scalar]) -> Joint:
        return replace(joint, dofs=tuple(_with_number(dof, number, next(numbers)) for dof in joint.dofs))

    def parts(model: Model, name: str) -> Iterator[str]:
        yield from (f"{number} of joint {joint.name!r}" for joint in model.joints if is_meant(joint, name))

    def own(model: Model, name: str) -> Scalars:
        return [_number(dof, number) for joint in model.joints if is_meant(joint, name) for dof in joint.dofs]

    return ParameterKind(f"{number}:JOINT", labels, put, parts, check, own=own)


def _unit(text: str, unit: str) -> str:
    return text.format(tau="N m" if unit == "rad" else "N", x=unit)


def _number(dof: Dof, name: str) -> Scalar:
    return dof.coulomb if name == "static" and is_zero(dof.static) else getattr(dof, name)


def _with_number(dof: Dof, name: str, value: Scalar) -> Dof:
    if name == "static":  # 0 stands for the friction in motion, in each direction
        up, down = (where(value == 0, level, value) for level in (dof.coulomb, dof.coulomb_negative))
        return replace(dof, static=up, static_negative=down)
    return replace(dof, **with_both_directions({name: value}))


# --- the table ---


def _words(*parts: str) -> Callable[[Model, str], Iterable[str]]:
    """Parts that a parameter changes, with its name for {!r}."""
    return lambda model, name: [part.format(name) for part in parts]


def _gravity_labels(model: Model, name: str) -> tuple[Label, ...]:
    return tuple((axis, "m/s^2") for axis in "xyz")


def _put_gravity(model: Model, name: str, numbers: Scalars) -> Model:
    return edits.with_gravity(model, Vector(*numbers))


KINDS: Mapping[str, ParameterKind] = {
    "gravity": ParameterKind(
        "gravity", _gravity_labels, _put_gravity, _words("gravity"), own=lambda m, _: [*m.gravity]
    ),
    "length": ParameterKind(
        "length:LINK", _length_labels, _put_length, _length_parts, "positive", moves=True, own=_own_length
    ),
    "origin": ParameterKind("origin:JOINT", _origin_labels, _put_place, _place_parts, moves=True, own=_own_origin),
    "pose": ParameterKind("pose:JOINT", _pose_labels, _put_place, _place_parts, moves=True, own=_own_pose),
    "link": ParameterKind("link:LINK", _body_labels, _put_link, _words(MASS, SHAPE), "body", own=_own_body),
    "mass": ParameterKind("mass:LINK", _mass_labels, _put_mass, _words(MASS), "not negative", own=_own_mass),
    "payload": ParameterKind(
        "payload:LINK", _payload_labels, _put_payload, _words("payload of {!r}"), "body", own=_no_body
    ),
    "viscous": _joint_kind("viscous", "{tau} s/{x}"),
    "coulomb": _joint_kind("coulomb", "{tau}"),
    "static": _joint_kind("static", "{tau}"),
    "rotor": _joint_kind("rotor", "kg m^2"),
    "gear": _joint_kind("gear", "1", None),
    "stiffness": _joint_kind("stiffness", "{tau}/{x}"),
    "rest": _joint_kind("rest", "{x}", None),
}
"""Kinds of parameters by name, in the order in which they are put into a model.

- "gravity": the gravity vector, 3 numbers.
- "length:LINK": the distance from a link's own joint to the one that it carries, 1 number, as `with_link(length=...)`.
- "origin:JOINT": the place of a joint in its parent link, or of a frame in its link, 3 numbers; it keeps its axes.
- "pose:JOINT": the same with roll, pitch and yaw about fixed axes, 6 numbers, as in a URDF.
- "link:LINK": mass, center of mass (3) and inertia about it (xx, yy, zz, xy, xz, yz) of a link, 10 numbers.
- "mass:LINK": the mass of a link alone, 1 number; its center of mass stays, and its inertia grows with the mass.
- "payload:LINK": the same 10 numbers of a body welded to a link or frame, in its frame, besides what is there.
- "viscous:JOINT", "coulomb:JOINT", "static:JOINT", "rotor:JOINT", "gear:JOINT", "stiffness:JOINT", "rest:JOINT": a
  number for each degree of freedom of the joint, as in `Dof`; without ":JOINT", for each one of the robot.
"""

NAMELESS = ("gravity",)
"""Kinds that belong to no part."""
NAMED = ("length", "origin", "pose", "link", "mass", "payload")
"""Kinds that belong to one part; the others may be of all joints together."""


def find_parameters(model: Model, names: Sequence[str]) -> tuple[Parameter, ...]:
    """The parameters of these names; unknown ones, and two that change the same number, are refused."""
    found = tuple(_find(model, name) for name in names)
    changes: dict[str, str] = {}
    for parameter in found:
        for part in parameter.kind.parts(model, parameter.name):
            if part in changes:
                raise ShapeError(
                    f"parameters {changes[part]!r} and {parameter.text!r} both change the {part}; leave one out"
                    if changes[part] != parameter.text
                    else f"parameter {parameter.text!r} is named twice"
                )
            changes[part] = parameter.text
    return found


def _find(model: Model, text: str) -> Parameter:
    kind, separator, name = text.partition(":") if isinstance(text, str) else ("", "", "")
    entry = KINDS.get(kind)
    if entry is None:
        if not isinstance(text, str):
            raise ShapeError(f"a parameter is named by a string, such as 'link:NAME', not by {short_repr(text)}")
        raise UnknownNameError.of("kind of parameter", kind, [k.form for k in KINDS.values()], f"robot {model.name!r}")
    if (separator and (kind in NAMELESS or not name)) or (not name and kind in NAMED):
        raise ShapeError(f"a parameter of this kind is written {entry.form!r}, got {text!r}")
    return Parameter(text, entry, name, entry.labels(model, name))


def own_numbers(model: Model, parameter: str) -> Scalars:
    """The numbers of a parameter that the model has: a payload's are zeros, since what is there belongs to the link."""
    found = _find(model, parameter)
    return found.kind.own(model, found.name)


def parameter_length(model: Model, parameter: str) -> int:
    """The number of numbers that a parameter has; an error if there is no such parameter."""
    return len(_find(model, parameter).labels)


def put_parameters(model: Model, names: Sequence[str], values: Sequence[Scalars]) -> Model:
    """The model with the parameters' numbers in place, without geometry and named configurations."""
    order = list(KINDS.values())
    given = zip(find_parameters(model, names), values, strict=True)
    model = edits.without_annotations(model)
    for parameter, numbers in sorted(given, key=lambda pair: order.index(pair[0].kind)):
        model = parameter.kind.put(model, parameter.name, numbers)
    return model


def family(model: Model, names: Sequence[str], values: Sequence[Scalars], *, merged: bool) -> Model:
    """The model with the parameters' numbers in place; merged, its fixed joints are welded after that."""
    if not names:
        return model
    open_model = put_parameters(model, names, values)
    return edits.merge_fixed(open_model) if merged else open_model
