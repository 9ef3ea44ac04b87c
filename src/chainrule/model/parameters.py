"""Parameters: quantities of a robot that stay open, so that one function serves many robots.

A parameter is named by what it belongs to and its kind: "gravity", "forearm.mass", "elbow.viscous". It stands for one
number or a few, in the order and the units of `KINDS`, which take the place of the model's own. The model with other
values is the robot that the edit of the same effect makes (`robot.edit`, `robot.with_payload`).

How to add a kind: give it an entry in `KINDS`. Kinds are put into the model in the order of that table.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import NamedTuple

from chainrule.errors import MAX_COMPARED, ChainruleError, ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.model import edits
from chainrule.model.joints import JointKind, Moved, Screw
from chainrule.model.lengths import link_length, stretch_link
from chainrule.model.model import Model
from chainrule.model.parts import DOF_NUMBERS, Dof, Frame, Joint, Link, with_both_directions
from chainrule.spatial import Inertia, Rotation, Scalar, Symmetric, Transform, Vector
from chainrule.spatial.scalar import is_zero, where

Scalars = Sequence[Scalar]
Label = tuple[str, str]
"""The name and the SI unit of one component."""

BODY: tuple[Label, ...] = (
    ("mass", "kg"), *((f"com.{x}", "m") for x in "xyz"),
    *((f"inertia.{x}", "kg m^2") for x in ("xx", "yy", "zz", "xy", "xz", "yz")),
)  # fmt: skip
PLACE: tuple[Label, ...] = (("x", "m"), ("y", "m"), ("z", "m"))
MASS, COM, INERTIA = "mass of link {!r}", "center of mass of link {!r}", "inertia of link {!r}"
ANGLES: tuple[Label, ...] = (("roll", "rad"), ("pitch", "rad"), ("yaw", "rad"))


@dataclass(frozen=True)
class ParameterKind:
    """A kind of parameter: the components that it has for a name, and how their values are put into a model."""

    form: str
    """How it is written, for messages: "LINK.mass"."""
    labels: Callable[[Model, str], tuple[Label, ...]]
    """The components that it has for a name; an unknown name is refused."""
    put: Callable[[Model, str, Scalars], Model]
    """The model with the values in place."""
    parts: Callable[[Model, str], Iterable[str]]
    """What it changes, in words: two parameters that change the same cannot be open together."""
    check: str | None = None
    """What every component must be: "positive" or "not negative"; "body" for those of a rigid body."""
    moves: bool = False
    """Whether it moves joints and frames, and so the closing of loops."""
    own: Callable[[Model, str], Scalars] = lambda model, name: ()
    """The values that the model has."""


class Parameter(NamedTuple):
    """A parameter of one model."""

    full_name: str
    """Its whole name, as the user writes it."""
    kind: ParameterKind
    name: str
    labels: tuple[Label, ...]
    which: int | None = None
    """Which of the kind's components it is; None for all of them."""


# --- bodies ---


def _link(model: Model, name: str) -> Link:
    if name not in model.index_of:
        raise UnknownNameError.of("link", name, model.index_of, f"robot {model.name!r}")
    return model.links[model.index_of[name]]


def _replace_link(model: Model, link: Link) -> Model:
    index = model.index_of[link.name]
    return replace(model, links=(*model.links[:index], link, *model.links[index + 1 :]))


def _words(*parts: str) -> Callable[[Model, str], Iterable[str]]:
    """Parts that a parameter changes, with its name for {!r}."""
    return lambda model, name: [part.format(name) for part in parts]


def _of_link(
    form: str,
    labels: tuple[Label, ...],
    parts: Sequence[str],
    put: Callable[[Link, Scalars], Link],
    own: Callable[[Link], Scalars],
    check: str | None = None,
) -> ParameterKind:
    """Numbers of a link: how they are put into it, and those that it has."""

    def find(model: Model, name: str) -> tuple[Label, ...]:
        _link(model, name)
        return labels

    def put_into(model: Model, name: str, values: Scalars) -> Model:
        return _replace_link(model, put(_link(model, name), values))

    return ParameterKind(form, find, put_into, _words(*parts), check, own=lambda model, name: own(_link(model, name)))


def _mass_labels(model: Model, name: str) -> tuple[Label, ...]:
    if is_zero(_link(model, name).mass):
        raise ModelError(
            f"parameter '{name}.mass': link {name!r} of robot {model.name!r} has no mass, whose shape another mass "
            f"could have; use '{name}.inertial', with center of mass and inertia, or '{name}.payload'"
        )
    return (("mass", "kg"),)


def _payload_labels(model: Model, name: str) -> tuple[Label, ...]:
    model.locate(name)
    return BODY


def _put_payload(model: Model, name: str, values: Scalars) -> Model:
    body = Inertia.from_com(values[0], Vector(*values[1:4]), Symmetric(*values[4:]))
    return edits.add_payload(model, name, body)


# --- lengths ---


def _length_labels(model: Model, name: str) -> tuple[Label, ...]:
    _link(model, name)
    if model.constraints:
        raise ModelError(
            f"parameter '{name}.length': robot {model.name!r} has closed loops, which another length would open; make "
            "a robot of each length, with robot.edit(links=...)"
        )
    link_length(model, name)
    return (("length", "m"),)


def _put_length(model: Model, name: str, values: Scalars) -> Model:
    way = link_length(model, name)
    return stretch_link(model, name, values[0] / float(way.norm()), way)


def _own_length(model: Model, name: str) -> Scalars:
    return [link_length(model, name).norm()]


def _length_parts(model: Model, name: str) -> Iterator[str]:
    yield from (COM.format(name), INERTIA.format(name))
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


def _of_place(form: str, labels: tuple[Label, ...]) -> ParameterKind:
    """The place of a joint in its parent or of a frame in its link, or place and orientation."""

    def find(model: Model, name: str) -> tuple[Label, ...]:
        _class_of(model, name)
        return labels

    def parts(model: Model, name: str) -> list[str]:
        return [f"place of {_class_of(model, name)} {name!r}"]

    def own(model: Model, name: str) -> Scalars:
        T = _own_place(model, name)
        return [*T.translation, *T.rotation.rpy()][: len(labels)]

    return ParameterKind(form, find, _put_place, parts, moves=True, own=own)


def _put_place(model: Model, name: str, values: Scalars) -> Model:
    """Another place (3), or place and orientation (6), of a joint in its parent or of a frame in its link."""

    def move(T: Transform) -> Transform:
        if len(values) == 3:
            return Transform(T.rotation, Vector(*values))
        return Transform.from_xyz_rpy(values[:3], values[3:])

    return _move(model, name, move)


def _put_turn(model: Model, name: str, values: Scalars) -> Model:
    """Another orientation of a joint in its parent or of a frame in its link: a turn about its own axes."""
    return _move(model, name, lambda T: Transform(T.rotation @ Rotation.exp(Vector(*values)), T.translation))


def _move(model: Model, name: str, move: Callable[[Transform], Transform]) -> Model:
    if _class_of(model, name) == "joint":
        joints = (replace(j, origin=move(j.origin)) if j.name == name else j for j in model.joints)
        return replace(model, joints=tuple(joints))
    frames = (replace(f, origin=move(f.origin)) if f.name == name else f for f in model.frames)
    return replace(model, frames=tuple(frames))


def _screw(kind: JointKind) -> JointKind:
    """The kind in its own frame."""
    return kind.inner if isinstance(kind, Moved) else kind


def _offset_labels(model: Model, name: str) -> tuple[Label, ...]:
    kind = edits.find_joint(model, name).kind
    if not isinstance(_screw(kind), Screw):
        raise ModelError(
            f"parameter '{name}.offset': joint {name!r} of robot {model.name!r} is {kind.name}, and an offset is that "
            "of a joint that turns about or slides along one axis"
        )
    followers = [joint.name for joint in model.joints if joint.mimic and joint.mimic.joint == name]
    if followers:
        raise ModelError(
            f"parameter '{name}.offset': joint {followers[0]!r} of robot {model.name!r} follows joint {name!r}, and "
            "would not follow its offset"
        )
    return (("offset", kind.units[0]),)


def _put_offset(model: Model, name: str, values: Scalars) -> Model:
    """The joint at q = 0 stands where it stood at q = offset: e^([S] (q + offset)), for what its reading leaves out."""

    def with_offset(joint: Joint) -> Joint:
        return replace(joint, origin=joint.origin * _screw(joint.kind).transform(values))

    return replace(model, joints=tuple(with_offset(j) if j.name == name else j for j in model.joints))


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
            raise ModelError(f"parameter '{name}.{number}': joint {name!r} of robot {model.name!r} is fixed")
        parts = joint.kind.velocity_names
        return tuple((part or number, _unit(effort, u)) for part, u in zip(parts, joint.kind.units, strict=True))

    def put(model: Model, name: str, values: Scalars) -> Model:
        left = iter(values)
        return replace(model, joints=tuple(change(j, left) if is_meant(j, name) else j for j in model.joints))

    def is_meant(joint: Joint, name: str) -> bool:
        return joint.name == name if name else bool(joint.dofs) and joint.mimic is None

    def change(joint: Joint, values: Iterator[Scalar]) -> Joint:
        return replace(joint, dofs=tuple(_with_number(dof, number, next(values)) for dof in joint.dofs))

    def parts(model: Model, name: str) -> Iterator[str]:
        yield from (f"{number} of joint {joint.name!r}" for joint in model.joints if is_meant(joint, name))

    def own(model: Model, name: str) -> Scalars:
        return [_number(dof, number) for joint in model.joints if is_meant(joint, name) for dof in joint.dofs]

    return ParameterKind(f"JOINT.{number}", labels, put, parts, check, own=own)


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


KINDS: Mapping[str, ParameterKind] = {
    "gravity": ParameterKind(
        "gravity", lambda m, _: tuple((axis, "m/s^2") for axis in "xyz"),
        lambda m, _, x: edits.with_gravity(m, Vector(*x)), _words("gravity"), own=lambda m, _: [*m.gravity],
    ),
    "length": ParameterKind(
        "LINK.length", _length_labels, _put_length, _length_parts, "positive", moves=True, own=_own_length
    ),
    "origin": _of_place("JOINT.origin", PLACE),
    "pose": _of_place("JOINT.pose", PLACE + ANGLES),
    "turn": replace(
        _of_place("JOINT.turn", tuple((f"r{x}", "rad") for x in "xyz")), put=_put_turn,
        parts=lambda m, name: [f"turn of {_class_of(m, name)} {name!r}"], own=lambda m, _: [0.0] * 3,
    ),
    "offset": ParameterKind(
        "JOINT.offset", _offset_labels, _put_offset, _words("zero of joint {!r}"), moves=True, own=lambda m, _: [0.0]
    ),
    "inertial": _of_link(
        "LINK.inertial", BODY, (MASS, COM, INERTIA),
        lambda link, x: Link(link.name, x[0], Vector(*x[1:4]), Symmetric(*x[4:])),
        lambda link: [link.mass, *link.com, *link.inertia.entries()], "body",
    ),
    "mass": replace(
        _of_link(
            "LINK.mass", (), (MASS,),
            lambda link, x: replace(link, mass=x[0], inertia=link.inertia.scale(x[0] / link.mass)),
            lambda link: [link.mass], "not negative",
        ), labels=_mass_labels,
    ),
    "com": _of_link(
        "LINK.com", PLACE, (COM,), lambda link, x: replace(link, com=Vector(*x)), lambda link: [*link.com]
    ),
    "inertia": _of_link(
        "LINK.inertia", tuple((label.removeprefix("inertia."), unit) for label, unit in BODY[4:]), (INERTIA,),
        lambda link, x: replace(link, inertia=Symmetric(*x)), lambda link: link.inertia.entries(),
    ),
    "payload": ParameterKind(
        "LINK.payload", _payload_labels, _put_payload, _words("payload of {!r}"), "body",
        own=lambda m, _: [0.0] * len(BODY),
    ),
    "viscous": _joint_kind("viscous", "{tau} s/{x}"),
    "coulomb": _joint_kind("coulomb", "{tau}"),
    "static": _joint_kind("static", "{tau}"),
    "rotor": _joint_kind("rotor", "kg m^2"),
    "gear": _joint_kind("gear", "1", None),
    "stiffness": _joint_kind("stiffness", "{tau}/{x}"),
    "rest": _joint_kind("rest", "{x}", None),
}  # fmt: skip
"""Kinds of parameters by name, in the order in which they are put into a model.

- "gravity": the gravity vector, 3 numbers.
- "LINK.length": the distance from a link's own joint to the one that it carries, 1 number.
- "JOINT.origin": the place of a joint in its parent link, or of a frame in its link, 3 numbers; it keeps its axes.
- "JOINT.pose": the same with roll, pitch and yaw about fixed axes, 6 numbers, as in a URDF.
- "JOINT.turn": a turn of a joint or frame about its own axes besides what is there, a rotation vector, 3 numbers.
- "JOINT.offset": what the reading q of a joint of one coordinate leaves out, which stands at q + offset, 1 number. It
  is added to what is there; limits and rests of springs stay those of the reading.
- "LINK.inertial": mass, center of mass (3) and inertia about it (xx, yy, zz, xy, xz, yz) of a link, 10 numbers.
- "LINK.mass": the mass of a link alone, 1 number; its center of mass stays, and its inertia grows with the mass.
- "LINK.com", "LINK.inertia": the center of mass (3) or the inertia about it (6) alone.
- "LINK.payload": the 10 numbers of a body welded to a link or frame, in its frame, besides what is there.
- "JOINT.viscous", "JOINT.coulomb", "JOINT.static", "JOINT.rotor", "JOINT.gear", "JOINT.stiffness", "JOINT.rest": a
  number for each degree of freedom of the joint, as in `Dof`; "*.viscous", for each one of the robot.

One number of several has its own name behind a dot: "gravity.z", "LINK.com.x", "LINK.payload.mass", "JOINT.origin.z".
"""

EVERY = "*"
"""The name that stands for all joints with coordinates of their own."""
OF_ALL = ("viscous", "coulomb", "static", "rotor", "gear", "stiffness", "rest")
"""Kinds that may be of all joints together."""
FORMS = tuple(kind.form for kind in KINDS.values())
"""How parameters are written, for messages."""


def find_parameters(model: Model, names: Sequence[str]) -> tuple[Parameter, ...]:
    """The parameters of these names; unknown ones, and two that change the same number, are refused."""
    found = tuple(_find(model, name) for name in names)
    changes: dict[str, list[Parameter]] = {}
    for parameter in found:
        for part in parameter.kind.parts(model, parameter.name):
            for other in changes.setdefault(part, []):
                if other.full_name == parameter.full_name:
                    raise ShapeError(f"parameter {parameter.full_name!r} is named twice")
                whole = other.kind is not parameter.kind or None in (other.which, parameter.which)
                if whole or other.which == parameter.which:
                    raise ShapeError(
                        f"parameters {other.full_name!r} and {parameter.full_name!r} both change the {part}; leave one "
                        "out"
                    )
            changes[part].append(parameter)
    return found


def _find(model: Model, text: str) -> Parameter:
    """The parameter "PART.KIND" or "PART.KIND.NUMBER"; names of parts may have dots themselves."""
    if not isinstance(text, str):
        raise ShapeError(f"a parameter is named by a string, such as 'forearm.mass', not by {short_repr(text)}")
    words = text.split(".")
    if words[0] == "gravity":
        return _parameter(model, text, KINDS["gravity"], "", ".".join(words[1:]))
    known = {*model.index_of, *(frame.name for frame in model.frames), *(j.name for j in model.joints), EVERY}
    ways = [(".".join(words[:i]), words[i], ".".join(words[i + 1 :])) for i in range(1, len(words))]
    ways = [way for way in ways if way[1] in KINDS and way[1] != "gravity"]
    if not ways:
        part, _, number = text.rpartition(".")
        if number in DOF_NUMBERS and any(part == joint.name for joint in model.joints):
            raise UnknownNameError(
                f"{text!r} of robot {model.name!r} is a number that stays as it is; "
                f"robot.edit({{{text!r}: ...}}) makes a robot with another one"
            )
        near = get_close_matches(text[:MAX_COMPARED], parameter_names(model), n=1, cutoff=0.7)
        raise UnknownNameError.of("parameter", text, near or FORMS, f"robot {model.name!r}")
    name, kind, number = next((way for way in ways if way[0] in known), ways[0])
    if not name or (name == EVERY and kind not in OF_ALL):
        raise ShapeError(f"a parameter of this kind is written {KINDS[kind].form!r}, got {text!r}")
    return _parameter(model, text, KINDS[kind], "" if name == EVERY else name, number)


def _parameter(model: Model, text: str, kind: ParameterKind, name: str, number: str) -> Parameter:
    labels = kind.labels(model, name)
    if not number:
        return Parameter(text, kind, name, labels, None)
    known = [label for label, _ in labels]
    if number not in known:
        raise UnknownNameError.of("number", number, known, f"parameter {text.removesuffix('.' + number)!r}")
    index = known.index(number)
    return Parameter(text, kind, name, (labels[index],), index)


def parameter_names(model: Model) -> list[str]:
    """Names of all parameters of a model, single numbers of several too, in the order of the kinds."""
    parts = {
        "gravity": [""],
        "LINK": [*model.index_of, *(frame.name for frame in model.frames)],
        "JOINT": [*(joint.name for joint in model.joints if joint.dofs), EVERY],
    }
    names = []
    for key, kind in KINDS.items():
        for part in parts[kind.form.partition(".")[0]]:
            whole = f"{part}.{key}" if part else key
            with contextlib.suppress(ChainruleError):  # not every link or joint has each kind
                labels = _find(model, whole).labels
                names += [whole, *(f"{whole}.{label}" for label, _ in labels if len(labels) > 1 and part != EVERY)]
    return names


def is_parameter(name: str) -> bool:
    """Whether a name is written as that of a parameter."""
    return name.partition(".")[0] == "gravity" or any(word in KINDS for word in name.split(".")[1:])


def own_values(model: Model, parameter: str) -> Scalars:
    """The values of a parameter that the model has: a payload's are zeros, since what is there belongs to the link."""
    found = _find(model, parameter)
    own = found.kind.own(model, found.name)
    return own if found.which is None else [own[found.which]]


def parameter_length(model: Model, parameter: str) -> int:
    """The number of components of a parameter; an error if there is no such parameter."""
    return len(_find(model, parameter).labels)


def put_parameters(model: Model, names: Sequence[str], values: Sequence[Scalars]) -> Model:
    """The model with the parameters' values in place, without geometry and named configurations."""
    return put_values(edits.without_annotations(model), names, values)


def put_values(model: Model, names: Sequence[str], values: Sequence[Scalars]) -> Model:
    """The model with the parameters' values in place, and all else as it was."""
    order = list(KINDS.values())
    by_kind: dict[tuple[int, str], list[Scalar]] = {}
    for parameter, given in zip(find_parameters(model, names), values, strict=True):
        key = (order.index(parameter.kind), parameter.name)
        if parameter.which is None:
            by_kind[key] = list(given)
        else:
            by_kind.setdefault(key, list(parameter.kind.own(model, parameter.name)))[parameter.which] = given[0]
    for kind, name in sorted(by_kind):
        model = order[kind].put(model, name, by_kind[kind, name])
    return model


def with_parameters(model: Model, names: Sequence[str], values: Sequence[Scalars], *, merged: bool) -> Model:
    """The model with the parameters' values in place; merged, its fixed joints are welded after that."""
    if not names:
        return model
    open_model = put_parameters(model, names, values)
    return edits.merge_fixed(open_model) if merged else open_model
