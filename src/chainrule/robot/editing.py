"""`robot.edit`: other numbers of a robot; and other names. Each returns a new robot; the old one stays as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from chainrule.arguments import (
    number,
    placement,
    positive,
    real_array,
    refuse_nonfinite,
    symmetric,
    vector,
    word,
)
from chainrule.calls import explains_arguments
from chainrule.core.closure import closure_of
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import edited_model
from chainrule.core.reading import read_argument
from chainrule.core.validation import refuse_impossible_values
from chainrule.errors import (
    ModelError,
    ModelWarning,
    ShapeError,
    UnknownNameError,
    quoted,
    short_repr,
    warn_user,
)
from chainrule.formats.exact import pose
from chainrule.model import Composite, Joint, JointKind, Model, Moved, Screw, edits
from chainrule.model.lengths import link_length, stretch_link
from chainrule.model.parameters import KINDS
from chainrule.model.parts import DOF_NUMBERS, with_both_directions
from chainrule.robot.edits import friction_function, unit_of_number
from chainrule.robot.placing import direction
from chainrule.spatial import Transform
from chainrule.spatial.physical import objection

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

R = TypeVar("R", bound=Mechanism)


EVERY = "*"


@explains_arguments
def edit(
    robot: R,
    parameters: Mapping[str, ArrayLike] | None = None,
    *,
    links: Mapping[str, Mapping[str, Any]] | None = None,
    joints: Mapping[str, Mapping[str, Any]] | None = None,
    gravity: ArrayLike | None = None,
    configurations: Mapping[str, ArrayLike] | None = None,
    name: str | None = None,
) -> R:
    """A robot with other numbers. Those that no robot can have are refused, with the reason.

    Parts are named; a name with * or ? stands for all parts that it matches, of joints those with coordinates of their
    own. Edits are made in the order in which they are listed here and given.

    Parameters
    ----------
    parameters
        Numbers of the robot in the words of `robot.at`: "link2.mass", "link2.com.x", "elbow.viscous", "elbow.origin.z",
        "gravity.z", "hand.payload.mass"; and others of joints, such as "elbow.upper".
    links
        For each link any of: mass (kg), com (3,) in the link's frame (m), inertia about it in the link's axes (kg m^2):
        (xx, yy, zz), (xx, yy, zz, xy, xz, yz) or 3-by-3; length (m), and toward, the joint, link or frame to which it
        is measured where the link carries several. A new mass without an inertia is that of a body of the same shape:
        the inertia grows with it. A new length stretches the link along the line from its own joint to the joint that
        it carries, or to its frame where it carries none: that joint, frames, center of mass, loop constraints and
        geometry move along it, and the inertia, unless given, is that of the stretched body of the same mass, which for
        a rod is m L^2/12. A longer tube is heavier too: give its mass as well. One of several numbers has its name
        behind a dot, as in `parameters`: "com.x", "inertia.xx", "payload.mass".
    joints
        For each joint any of: axis, its direction in the joint's frame, "x", "-z" or three numbers (two of them for a
        universal joint); origin, the pose of the joint's frame in the parent link, or xyz (m) or rpy (rad, about fixed
        axes) alone; lower and upper (rad or m), velocity (rad/s or m/s) and effort (N m or N; 0 where nothing drives
        it); viscous (N m s/rad or N s/m), coulomb and coulomb_negative, static and static_negative (N m or N),
        stribeck (rad/s or m/s), ripple, ripple_waves, ripple_phase, friction_function; rotor (kg m^2) and gear;
        stiffness (N m/rad or N/m) and rest (rad or m). Each is one number, or one for each degree of freedom of the
        joints that are meant. Friction is viscous qd + dry friction + friction_function(q, qd). Dry friction is coulomb
        in motion, and holds up to static at rest, 0 for the same; with a Stribeck speed v_s it is
        coulomb + (static - coulomb) exp(-(qd / v_s)^2), and all of it is multiplied by
        1 + ripple sin(ripple_waves q + ripple_phase). Unless coulomb_negative or static_negative is given, both
        directions are alike. friction_function(q, qd) of one joint is plain arithmetic with functions of NumPy; it is
        traced once, here, and cannot be saved to a file; None takes it away.
    gravity
        The gravity vector in base axes, in m/s^2.
    configurations
        Configurations q (nq,) by name; one that has the name already is replaced. "home" is what `robot.home()`
        returns. One outside the limits, or with open loops, is kept with a warning.
    name
        The name of the robot.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").edit(links={"link2": {"mass": 2.0, "length": 1.5}}, gravity=(0, 0, -1.62))
    >>> arm.pose([0.0, 0.0])[:3, 3].tolist(), arm.links["link2"].com.tolist()
    ([2.5, 0.0, 0.0], [1.5, 0.0, 0.0])
    >>> arm.edit({"link2.com.x": 0.5, "gravity.z": -9.81}).links["link2"].com.tolist()
    [0.5, 0.0, 0.0]
    >>> arm = arm.edit(joints={"*": {"viscous": 0.1}, "joint2": {"coulomb": 0.5, "upper": 1.0}})
    >>> arm.friction_torque([1.0, 1.0]).round(3).tolist(), arm.limits.upper.tolist()
    ([0.1, 0.6], [inf, 1.0])
    >>> own = arm.without_friction().edit(joints={"joint2": {"friction_function": lambda q, qd: 0.3 * qd**3}})
    >>> own.friction_torque([1.0, 2.0], [0.0, 0.0]).round(4).tolist()
    [0.0, 2.4]
    """
    parameters, of_joints = _of_joints(robot.model, parameters)
    model = robot.model if parameters is None else edited_model(robot.model, "edit", parameters)
    for joint, numbers in of_joints.items():
        model = _edit_joints(model, joint, numbers)
    for pattern, numbers in _read(links, "links"):
        whole, single = _split(numbers)
        for link in _matching(pattern, model.index_of, "link", model):
            model = _edit_link(model, link, whole)
            model = edited_model(model, "edit", {f"{link}.{key}": value for key, value in single.items()})
    for pattern, numbers in _read(joints, "joints"):
        whole, single = _split(numbers)
        model = _edit_joints(model, pattern, whole)
        for joint in _chosen_joints(pattern, model) if single else ():
            model = edited_model(model, "edit", {f"{joint}.{key}": value for key, value in single.items()})
    if gravity is not None:
        model = edits.with_gravity(model, vector(gravity, "edit: gravity", "m/s^2"))
    if name is not None:
        if not word(name, "edit: name"):
            raise ShapeError("edit: name must not be empty")
        model = replace(model, name=name)
    edited = type(robot)(refuse_impossible_values(model))
    if configurations is not None and not isinstance(configurations, Mapping):
        raise ShapeError(
            f"edit: configurations must be a dictionary of names and configurations, got {short_repr(configurations)}"
        )
    for label, q in ({} if configurations is None else configurations).items():
        edited = add_configuration(edited, word(label, "edit: configurations"), q)
    return edited


def _of_joints(model: Model, parameters: Any) -> tuple[Any, dict[str, dict[str, Any]]]:
    """Numbers in the words of `robot.at`, and by joint those that only an edit changes, such as limits."""
    if not isinstance(parameters, Mapping):
        return parameters, {}
    known, rest, found = {joint.name for joint in model.joints}, dict(parameters), dict[str, dict[str, Any]]()
    for name, value in parameters.items():
        joint, _, number = name.rpartition(".") if isinstance(name, str) else ("", "", "")
        if joint in known and number in DOF_NUMBERS and number not in KINDS:
            found.setdefault(joint, {})[number] = value
            del rest[name]
    return rest, found


def _read(given: Any, what: str) -> list[tuple[str, dict[str, Any]]]:
    """New numbers by the names of parts."""
    if given is None:
        return []
    if not isinstance(given, Mapping) or not all(isinstance(numbers, Mapping) for numbers in given.values()):
        raise ShapeError(
            f"edit: {what} must be a dictionary of names and new numbers, such as {{'name': {{...}}}}, got "
            f"{short_repr(given)}"
        )
    return [(word(pattern, f"edit: a name in {what}"), dict(numbers)) for pattern, numbers in given.items()]


def _split(numbers: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Numbers of a part that are edited as a whole, and single ones of several, whose names have a dot."""
    single = {key: value for key, value in numbers.items() if isinstance(key, str) and "." in key}
    return {key: value for key, value in numbers.items() if key not in single}, single


def _matching(pattern: str, names: Iterable[str], what: str, model: Model) -> list[str]:
    """The names that a pattern stands for; a name stands for itself."""
    known = list(names)
    found = [pattern] if pattern in known else [name for name in known if fnmatchcase(name, pattern)]
    if not found and not (pattern == EVERY and not known):
        raise UnknownNameError.of(what, pattern, known, f"robot {model.name!r}")
    return found


# --- links ---

LINK_NUMBERS = ("mass", "com", "inertia", "length", "toward")


def _edit_link(model: Model, name: str, numbers: Mapping[str, Any]) -> Model:
    """The model with other numbers of one link."""
    for key in numbers:
        if key not in LINK_NUMBERS:
            raise UnknownNameError.of("number", key, LINK_NUMBERS, f"edit: link {name!r}")
    what = f"edit: link {name!r}"
    mass, com, inertia, length, toward = (numbers.get(key) for key in LINK_NUMBERS)
    if toward is not None and length is None:
        raise ShapeError(f"{what}: toward says how the length is measured; give a length as well")
    if length is not None:
        way = link_length(model, name, None if toward is None else word(toward, f"{what}: toward"))
        new = positive(length, f"{what}: length", "a positive number of meters", unit="m")
        model = stretch_link(model, name, new / float(way.norm()), way)
    index = model.index_of[name]
    link = model.links[index]
    if mass is not None:
        m = number(mass, f"{what}: mass", "kg")
        if link.mass and inertia is None and m >= 0:
            link = replace(link, inertia=link.inertia.scale(m / link.mass))
        link = replace(link, mass=m)
    if com is not None:
        link = replace(link, com=vector(com, f"{what}: com", "m"))
    if inertia is not None:
        link = replace(link, inertia=symmetric(inertia, f"{what}: inertia"))
    wrong = objection(link.mass, link.com, link.inertia)
    if wrong and not (mass is inertia is None):  # what only a file got wrong is left as it is
        raise ModelError(
            f"edit: link {name!r} of robot {model.name!r} {wrong}; give a mass (kg), and an inertia about the center "
            "of mass (kg m^2) that fits it"
        )
    return replace(model, links=(*model.links[:index], link, *model.links[index + 1 :]))


# --- joints ---

PLACES = ("axis", "origin", "xyz", "rpy")
LAW = "friction_function"


def _edit_joints(model: Model, pattern: str, numbers: dict[str, Any]) -> Model:
    """The model with other numbers of the joints that a pattern stands for."""
    known = [joint.name for joint in model.joints]
    chosen = _chosen_joints(pattern, model)
    parts = [joint for joint in model.joints if joint.name in chosen]
    what = f"edit: joint {pattern!r}"
    for key in numbers:
        if key not in (*PLACES, LAW, *DOF_NUMBERS):
            raise UnknownNameError.of("number", key, [*PLACES, LAW, *DOF_NUMBERS], what)
    properties = {key: value for key, value in numbers.items() if key in DOF_NUMBERS}
    if (properties or LAW in numbers) and pattern in known and not parts[0].dofs:
        raise ModelError(f"{what} is fixed, so it has no {quoted({**properties, **numbers})}")
    units = [unit for joint in parts for unit in joint.kind.units[: len(joint.dofs)]]
    columns = {
        key: _column(value, f"{what}: {key}", [unit_of_number(key, unit == "rad") for unit in units])
        for key, value in with_both_directions(properties).items()
    }
    edited: dict[str, Joint] = {}
    start = 0
    for joint in parts:
        dofs = tuple(
            replace(dof, **{key: cast(Any, column[start + k]) for key, column in columns.items()})
            for k, dof in enumerate(joint.dofs)
        )
        start += len(joint.dofs)
        if LAW in numbers:
            law = friction_function(numbers[LAW], f"edit: friction_function of joint {joint.name!r}")
            dofs = tuple(replace(dof, friction_function=law) for dof in dofs)
        place = {key: value for key, value in numbers.items() if key in PLACES}
        edited[joint.name] = _move_joint(replace(joint, dofs=dofs), f"edit: joint {joint.name!r}", **place)
    return replace(model, joints=tuple(edited.get(joint.name, joint) for joint in model.joints))


def _chosen_joints(pattern: str, model: Model) -> list[str]:
    """The joints that a pattern stands for: fixed ones by their names alone."""
    known = [joint.name for joint in model.joints]
    return [pattern] if pattern in known else _matching(pattern, model.layout.joint_names, "joint", model)


def _column(value: Any, what: str, units: Sequence[str | None]) -> list[float]:
    """A number for each degree of freedom; limits may be infinite."""
    own = [(f"number {k + 1}", unit) for k, unit in enumerate(units) if unit]
    array = real_array(value, what, units[0] if units and len(set(units)) == 1 else own or None)
    if array.shape not in ((), (len(units),)):
        several = f", or {len(units)}" if len(units) > 1 else ""
        raise ShapeError(f"{what} must be one number{several}, got shape {array.shape}")
    numbers: list[float] = np.broadcast_to(array, (len(units),)).tolist()
    return numbers


def _move_joint(
    joint: Joint, what: str, *, axis: Any = None, origin: Any = None, xyz: Any = None, rpy: Any = None
) -> Joint:
    """The joint along another axis, or at another place."""
    if origin is not None and (xyz is not None or rpy is not None):
        raise ShapeError(f"{what}: give either origin, or xyz and rpy")
    if origin is not None:
        joint = replace(joint, origin=placement(origin, f"{what}: origin"))
    if xyz is not None:
        joint = replace(joint, origin=Transform(joint.origin.rotation, vector(xyz, f"{what}: xyz", "m")))
    if rpy is not None:
        turned = pose((0.0, 0.0, 0.0), [*vector(rpy, f"{what}: rpy", "rad")]).rotation
        joint = replace(joint, origin=Transform(turned, joint.origin.translation))
    return joint if axis is None else replace(joint, kind=_with_axis(joint.kind, axis, what))


def _with_axis(kind: JointKind, axis: Any, what: str) -> JointKind:
    """The same kind of joint along another axis; pitch and the point on the axis stay."""
    if isinstance(kind, Moved):
        return Moved(_with_axis(kind.inner, axis, what), kind.offset)
    if isinstance(kind, Composite) and kind.name == "universal":
        both = [] if isinstance(axis, str) or not isinstance(axis, (Sequence, np.ndarray)) else list(axis)
        if len(both) != 2:
            raise ShapeError(
                f"{what} is universal and has two axes: axis must be two directions, got {short_repr(axis)}"
            )
        return Composite.universal(*(direction(one, f"{what}: axis") for one in both))
    if isinstance(kind, Composite) and kind.name in ("planar", "cylindrical"):
        make = Composite.planar if kind.name == "planar" else Composite.cylindrical
        return make(direction(axis, f"{what}: axis"))
    if not isinstance(kind, Screw):
        raise ModelError(f"{what} is {kind.name} and has no axis; change its origin, with rpy=...")
    u = direction(axis, f"{what}: axis")
    if not kind.turns:
        return replace(kind, linear=u)
    w = kind.angular
    pitch = w.dot(kind.linear) / w.dot(w)
    if not any(kind.linear):
        return replace(kind, angular=u)
    point = w.cross(kind.linear) / w.dot(w)
    return replace(kind, angular=u, linear=point.cross(u) + u * pitch)


# --- configurations and names ---


def add_configuration(robot: R, label: str, q: ArrayLike) -> R:
    """A robot with a configuration (nq,) of this name; outside the limits, or with open loops, with a warning."""
    what = f"edit: configuration {label!r}"
    array = read_argument(robot, what, "q", q)
    if array.ndim != 1:
        raise ShapeError(f"{what} must be one configuration, of shape ({robot.nq},), got {array.shape}")
    refuse_nonfinite(array, what)
    wrong = [
        f"{c.name!r} is {x:g} {c.unit}, outside its limits {c.lower:g} to {c.upper:g}"
        for c, x in zip(robot.model.layout.coordinates, array, strict=True)
        if not c.lower <= x <= c.upper
    ]
    if robot.model.constraints and not closure_of(robot).is_closed(array):
        wrong.append(f"{closure_of(robot).describe_gap(array)}, robot.loops.close(q) closes it")
    if wrong:
        warn_user(f"robot {robot.name!r}, configuration {label!r}: {'; '.join(wrong)}", ModelWarning)
    return type(robot)(edits.add_configuration(robot.model, label, array.tolist()))


@explains_arguments
def rename(
    robot: R,
    names: Mapping[str, str] | Callable[[str], str] | None = None,
    *,
    links: Mapping[str, str] | None = None,
    joints: Mapping[str, str] | None = None,
) -> R:
    """Other names for links, joints, frames, constraints and springs; whatever refers to them follows.

    Parameters
    ----------
    names
        Old names and new ones, or a function that is called with each name. All change at once, so that two names
        can be exchanged.
    links, joints
        The same for links and frames only, and for joints only: needed where a link and a joint have the same name.

    Examples
    --------

    >>> import chainrule as cr
    >>> cr.load("planar_2r").rename({"joint2": "elbow", "link2": "forearm"}).joint_names
    ('joint1', 'elbow')
    """
    model = robot.model
    bodies = [*model.index_of, *(frame.name for frame in model.frames)]
    hinges = [joint.name for joint in model.joints]
    ties = [*(constraint.name for constraint in model.constraints), *(spring.name for spring in model.springs)]
    if callable(names):
        body, hinge, tie = ({old: _change_name(names, old) for old in group} for group in (bodies, hinges, ties))
    else:
        given = _names(names, "names")
        for old in given:
            owners = [what for what, group in (("a link", bodies), ("a joint", hinges)) if old in group]
            if not owners and old not in ties:
                raise UnknownNameError.of(
                    "link, joint or frame", old, [*bodies, *hinges, *ties], f"robot {model.name!r}"
                )
            if len(owners) > 1:
                raise ModelError(
                    f"rename: {old!r} is a link and a joint of robot {model.name!r}; say which, with links={{...}} or "
                    "joints={...}"
                )
        body, hinge, tie = (
            {old: new for old, new in given.items() if old in group} for group in (bodies, hinges, ties)
        )
    for extra, known, into, what in ((links, bodies, body, "link or frame"), (joints, hinges, hinge, "joint")):
        for old, new in _names(extra, what).items():
            if old not in known:
                raise UnknownNameError.of(what, old, known, f"robot {model.name!r}")
            into[old] = new
    for old, new in (*body.items(), *hinge.items(), *tie.items()):
        if not isinstance(new, str) or not new:
            raise ShapeError(
                f"rename: the new name of {old!r} must be a string that is not empty, got {short_repr(new)}"
            )
    return type(robot)(edits.rename(model, body, hinge, tie))


def _change_name(change: Callable[[str], str], old: str) -> str:
    """The new name that a user's function gives."""
    try:
        return change(old)
    except Exception as error:
        raise ModelError(f"rename: the function of names fails for {old!r}: {error}") from error


def _names(value: Any, what: str) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ShapeError(f"rename: {what} must be a dictionary of old and new names, got {short_repr(value)}")
    return dict(value)
