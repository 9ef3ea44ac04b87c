"""Edits of one part of a robot: a link, a joint, names. Each returns a new robot and leaves the old one as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chainrule.arguments import number, placement, positive, real_array, symmetric, vector, word
from chainrule.core.mechanism import Mechanism
from chainrule.core.validation import refuse_numbers
from chainrule.errors import ModelError, ShapeError, UnknownNameError, quoted, short_repr
from chainrule.formats.exact import pose
from chainrule.model import Composite, Joint, Kind, Model, Moved, Screw, edits
from chainrule.model.lengths import link_length, stretch_link
from chainrule.model.parts import DOF_NUMBERS, with_both_directions
from chainrule.robot.placing import direction
from chainrule.spatial import Transform
from chainrule.spatial.physical import objection

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

R = TypeVar("R", bound=Mechanism)


def with_link(
    robot: R,
    name: str,
    *,
    mass: float | None = None,
    com: ArrayLike | None = None,
    inertia: ArrayLike | None = None,
    length: float | None = None,
    toward: str | None = None,
) -> R:
    """A robot with one link changed. Numbers that no body can have are refused, with the reason.

    A new mass without an inertia is that of a body of the same shape: the inertia grows with it. A new length
    stretches the link along the line from its own joint to the joint that it carries: that joint, frames, center of
    mass, loop constraints and geometry move along it, and the inertia, unless given, is that of the stretched body of
    the same mass, which for a rod is m L^2/12. A longer tube is heavier too: give its mass as well.

    Parameters
    ----------
    name
        The link.
    mass
        In kg.
    com
        Center of mass (3,) in the link's frame, in m.
    inertia
        About the center of mass, in the link's axes, in kg m^2: (xx, yy, zz), (xx, yy, zz, xy, xz, yz) or 3-by-3.
    length
        Distance from the link's own joint to the one that it carries, or to its frame where it carries none, in m.
        Shapes and meshes are stretched where one of their own axes lies along the link, and only moved elsewhere.
    toward
        The joint, link or frame to which the length is measured, where the link carries several.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").with_link("link2", mass=2.0, length=1.5)
    >>> arm.pose([0.0, 0.0])[:3, 3].tolist(), arm.links["link2"].com.tolist()
    ([2.5, 0.0, 0.0], [1.5, 0.0, 0.0])
    """
    model = robot.model
    if word(name, "with_link: name") not in model.index_of:
        raise UnknownNameError.of("link", name, model.index_of, f"robot {model.name!r}")
    if toward is not None and length is None:
        raise ShapeError("with_link: toward says how the length is measured; give length=... as well")
    if length is not None:
        way = link_length(model, name, None if toward is None else word(toward, "with_link: toward"))
        new = positive(length, "with_link: length", "a positive number of metres", unit="m")
        model = stretch_link(model, name, new / float(way.norm()), way)
    index = model.index_of[name]
    link = model.links[index]
    if mass is not None:
        m = number(mass, "with_link: mass", "kg")
        if link.mass and inertia is None and m >= 0:
            link = replace(link, inertia=link.inertia.scale(m / link.mass))
        link = replace(link, mass=m)
    if com is not None:
        link = replace(link, com=vector(com, "with_link: com", "m"))
    if inertia is not None:
        link = replace(link, inertia=symmetric(inertia, "with_link: inertia"))
    wrong = objection(link.mass, link.com, link.inertia)
    if wrong and not (mass is inertia is None):  # what only a file got wrong is left as it is
        raise ModelError(
            f"with_link: link {name!r} of robot {model.name!r} {wrong}; give a mass (kg), and an inertia about the "
            "center of mass (kg m^2) that fits it"
        )
    links = (*model.links[:index], link, *model.links[index + 1 :])
    return _robot(robot, replace(model, links=links))


def with_joint(
    robot: R,
    name: str,
    *,
    axis: ArrayLike | None = None,
    origin: Any = None,
    xyz: ArrayLike | None = None,
    rpy: ArrayLike | None = None,
    **properties: Any,
) -> R:
    """A robot with one joint changed.

    Parameters
    ----------
    name
        The joint.
    axis
        Its direction in the joint's frame, "x", "-z" or three numbers; two of them for a universal joint.
    origin
        The pose of the joint's frame in the parent link.
    xyz, rpy
        The place (m) or the orientation (roll, pitch, yaw about fixed axes, rad) alone; the other stays.
    properties
        lower, upper (rad or m), velocity (rad/s or m/s), effort (N m or N), the numbers of friction as in
        `robot.with_friction`, rotor, gear, stiffness, rest: one number, or one for each degree of freedom.
        `robot.with_joint_properties` changes them for several joints.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").with_joint("joint2", lower=-1.0, upper=1.0, xyz=(0.8, 0.0, 0.0))
    >>> arm.pose([0.0, 0.0])[0, 3].round(6), arm.limits.upper.tolist()
    (np.float64(1.8), [inf, 1.0])
    """
    joint = edits.find_joint(robot.model, name)
    what = f"with_joint: joint {name!r}"
    if origin is not None and (xyz is not None or rpy is not None):
        raise ShapeError(f"{what}: give either origin, or xyz and rpy")
    if origin is not None:
        joint = replace(joint, origin=placement(origin, f"{what}: origin"))
    if xyz is not None:
        joint = replace(joint, origin=Transform(joint.origin.rotation, vector(xyz, f"{what}: xyz", "m")))
    if rpy is not None:
        turned = pose((0.0, 0.0, 0.0), [*vector(rpy, f"{what}: rpy", "rad")]).rotation
        joint = replace(joint, origin=Transform(turned, joint.origin.translation))
    if axis is not None:
        joint = replace(joint, kind=_with_axis(joint.kind, axis, what))
    joint = _with_properties(joint, properties, what)
    joints = tuple(joint if j.name == name else j for j in robot.model.joints)
    return _robot(robot, replace(robot.model, joints=joints))


def _with_axis(kind: Kind, axis: Any, what: str) -> Kind:
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


def _with_properties(joint: Joint, properties: Mapping[str, Any], what: str) -> Joint:
    """The joint with other limits, friction, rotor or spring."""
    known = DOF_NUMBERS
    for key in properties:
        if key not in known:
            raise UnknownNameError.of("property", key, ["axis", "origin", "xyz", "rpy", *known], "with_joint")
    if not properties:
        return joint
    if not joint.dofs:
        raise ModelError(f"{what} is fixed, so it has no {quoted(properties)}")
    given = with_both_directions(properties)
    columns = {key: _per_dof(value, len(joint.dofs), f"{what}: {key}") for key, value in given.items()}
    dofs = (replace(dof, **{key: x[k] for key, x in columns.items()}) for k, dof in enumerate(joint.dofs))
    return replace(joint, dofs=tuple(dofs))


def _per_dof(value: Any, count: int, what: str) -> list[Any]:
    array = real_array(value, what)
    if array.shape not in ((), (count,)):
        raise ShapeError(f"{what} must be one number{f', or {count}' if count > 1 else ''}, got shape {array.shape}")
    numbers: list[Any] = np.broadcast_to(array, (count,)).tolist()
    return numbers


def with_name(robot: R, name: str) -> R:
    """The same robot under another name."""
    label = word(name, "with_name: name")
    if not label:
        raise ShapeError("with_name: name must not be empty")
    return type(robot)(replace(robot.model, name=label))


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


def _robot(robot: R, model: Model) -> R:
    """A robot of the new model, whose numbers are checked."""
    return type(robot)(refuse_numbers(model))
