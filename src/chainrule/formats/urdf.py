"""URDF files: reader and writer."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from chainrule.errors import FormatError, ModelWarning, quoted, warn_user
from chainrule.formats.exact import has_direction, pose
from chainrule.formats.source import FilePath, folder_of, read
from chainrule.formats.urdf_geometry import WRITABLE, geometries_of, words, write_geometry
from chainrule.formats.xml import XmlElement, parse
from chainrule.lazy import module
from chainrule.model import (
    GRAVITY,
    Composite,
    Dof,
    Fixed,
    Free,
    Joint,
    JointKind,
    Link,
    Mimic,
    Model,
    ModelProblem,
    Moved,
    Screw,
    Spherical,
)
from chainrule.model.edits import unused_name
from chainrule.model.geometry import Color
from chainrule.spatial import Rotation, Symmetric, Transform, Vector

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = module("lxml.etree")

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
ELEMENTS = {
    "robot": ("link", "joint", "material", "transmission", "gazebo"),
    "link": ("inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"),
}
ATTRIBUTES = {
    "origin": ("xyz", "rpy"),
    "mass": ("value",),
    "inertia": ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"),
    "axis": ("xyz",),
    "mimic": ("joint", "multiplier", "offset"),
    "limit": ("lower", "upper", "effort", "velocity", "passive"),
    "dynamics": ("damping", "friction"),
}
EXTENDED = ("limit", "dynamics")
"""Elements to which other programs add attributes of their own."""

REPEATED = ("link", "joint", "material", "transmission", "gazebo", "visual", "collision")
"""Elements of which there may be several."""

LEFT_OUT = "It is left out, as if absent"

WORLD = "world"
"""The name of a link that some programs know without its being listed."""

UNLIMITED = 1e300
"""Speed (m/s, rad/s) or effort (N, N m) from which on there is no limit; URDF has no infinity."""


def from_urdf(path_or_text: FilePath) -> Model:
    """The robot that a URDF file or text describes; links without <inertial> have no mass, and the notes list them."""
    content, source, path = read(path_or_text)
    return model_of(parse(content, source), folder_of(path))


def model_of(root: XmlElement, folder: str | None = None) -> Model:
    """The robot under a <robot> element; relative paths of meshes start at `folder`."""
    if root.tag != "robot":
        hint = "; it looks like MJCF: use Robot.from_mjcf" if root.tag == "mujoco" else ""
        raise FormatError(f"{root.source} is not URDF: its root element is <{root.tag}>, not <robot>{hint}")
    problems: list[ModelProblem] = []
    _note_unknown(root, problems)
    name = root.get("name") or "robot"
    links = [_link(node, problems) for node in root.children("link")]
    joints = _with_sound_mimics([_joint(node, problems) for node in root.children("joint")], problems)
    if WORLD not in {link.name for link in links} and any(joint.parent == WORLD for joint in joints):
        links.insert(0, Link(WORLD))
        added = "is not listed, but joints start from it: it is added"
        problems.append(ModelProblem(f"link {WORLD!r}", added, severity="note"))
    moved = {joint.child for joint in joints if joint.kind.nv}
    bare = (node.text("name") for node in root.children("link") if node.child("inertial") is None)
    massless = [
        ModelProblem(f"link {link!r}", "has no <inertial>: it is massless", severity="note")
        for link in bare
        if link in moved
    ]
    geometries = geometries_of(root, folder, problems)
    found = (*massless, *problems)
    model = Model.build(name, links, joints, notes=[str(problem) for problem in found], geometries=geometries)
    in_order = sorted(model.geometries, key=lambda geometry: model.index_of[geometry.link])  # as they are written back
    return replace(model, problems=found, geometries=tuple(in_order))


def _note_unknown(node: XmlElement, problems: list[ModelProblem]) -> None:
    """Note misspelled elements, unknown attributes and elements given twice; refuse xacro, which is no URDF yet."""
    known = ELEMENTS[node.tag]
    seen: set[str] = set()
    for child in node.children():
        if child.tag not in known:
            if "xacro}" in child.tag:
                raise child.error(
                    "this is xacro, from which URDF is yet to be made: use chainrule.load, or run xacro on it"
                )
            for close in get_close_matches(child.tag.lower(), known, 1, 0.75):
                problems.append(ModelProblem(child.where, f"is an unknown element; did you mean <{close}>?", LEFT_OUT))
        elif child.tag in seen and child.tag not in REPEATED:
            problems.append(
                ModelProblem(
                    child.where, f"is given twice in this {node.tag}; keep one", f"The first <{child.tag}> is used"
                )
            )
        seen.add(child.tag)
        words = ATTRIBUTES.get(child.tag, ())
        for word in child.element.attrib if words else ():
            if word not in words and (child.tag not in EXTENDED or get_close_matches(str(word).lower(), words, 1, 0.8)):
                message = f"has an unknown attribute {str(word)!r}; there are {', '.join(words)}"
                problems.append(ModelProblem(child.where, message, LEFT_OUT))


def _first(node: XmlElement, tag: str) -> XmlElement | None:
    """The first child with this tag, as other readers take it, or None."""
    return next(node.children(tag), None)


def _required_child(node: XmlElement, tag: str) -> XmlElement:
    found = _first(node, tag)
    if found is None:
        raise node.error(f"needs a <{tag}> element")
    return found


def _link(node: XmlElement, problems: list[ModelProblem]) -> Link:
    _note_unknown(node, problems)
    name = node.text("name")
    inertial = _first(node, "inertial")
    if inertial is None:
        return Link(name)
    _note_unknown(inertial, problems)
    T = _origin(inertial)
    mass = _required_child(inertial, "mass").number("value")
    matrix = _required_child(inertial, "inertia")
    entries = [matrix.number(entry, None if entry in ("ixx", "iyy", "izz") else 0.0) for entry in ATTRIBUTES["inertia"]]
    return Link(name, mass, T.translation, Symmetric(*entries).rotate(T.rotation))


def _origin(node: XmlElement) -> Transform:
    origin = _first(node, "origin")
    if origin is None:
        return pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return pose(origin.vector("xyz", 3, (0.0, 0.0, 0.0)), origin.vector("rpy", 3, (0.0, 0.0, 0.0)))


def _joint(node: XmlElement, problems: list[ModelProblem]) -> Joint:
    _note_unknown(node, problems)
    name = node.text("name")
    kind = _kind(node)
    mimic = _first(node, "mimic")
    if mimic and not kind.nv:
        message = f"is fixed, so that it cannot mimic {mimic.text('joint')!r}: that is ignored"
        problems.append(ModelProblem(f"joint {name!r}", message, severity="note"))
        mimic = None
    follows = (
        Mimic(mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)) if mimic else None
    )
    return Joint(
        name,
        _required_child(node, "parent").text("link"),
        _required_child(node, "child").text("link"),
        kind,
        _origin(node),
        _dofs(node, kind, problems),
        follows,
    )


def _with_sound_mimics(joints: Sequence[Joint], problems: list[ModelProblem]) -> list[Joint]:
    """Joints that follow one with a coordinate of its own, through others if need be; those that cannot are set free.

    A rule y = a x + b, where x = c w + d is itself a rule, is y = a c w + (a d + b).
    """
    by_name = {joint.name: joint for joint in joints}
    sound = []
    for joint in joints:
        mimic, seen = joint.mimic, {joint.name}
        wrong = None
        while mimic and wrong is None:
            source = by_name.get(mimic.joint)
            if source is None:
                close = get_close_matches(mimic.joint, by_name, 1, 0.5)
                wrong = f"mimics {mimic.joint!r}, which is no joint{f'; did you mean {close[0]!r}?' if close else ''}"
            elif source.name in seen:
                wrong = f"mimics {mimic.joint!r}, so that it follows itself"
            elif source.kind.nv != 1 or joint.kind.nv != 1:
                wrong = f"({joint.type}) mimics {source.name!r} ({source.type}), but each must have one coordinate"
            elif source.mimic is None:
                break
            else:
                seen.add(source.name)
                a, b, inner = mimic.multiplier, mimic.offset, source.mimic
                mimic = Mimic(inner.joint, a * inner.multiplier, a * inner.offset + b)
        if wrong:
            meaning = "It is taken as a joint of its own, with its own number in q"
            problems.append(ModelProblem(f"joint {joint.name!r}", wrong, meaning))
        sound.append(replace(joint, mimic=None if wrong else mimic))
    return sound


def _kind(node: XmlElement) -> JointKind:
    type_ = node.text("type")
    if type_ not in TYPES:
        raise node.error(f"unknown joint type {type_!r}; URDF has {', '.join(TYPES)}")
    simple: dict[str, JointKind] = {"fixed": Fixed(), "floating": Free(), "spherical": Spherical()}
    if type_ in simple:
        return simple[type_]
    axis = _axis(node)
    if type_ == "prismatic":
        return Screw.prismatic(axis)
    if type_ == "planar":
        return Composite.planar(axis)
    return Screw.revolute(axis, name=type_)


def _axis(node: XmlElement) -> Vector:
    element = _first(node, "axis")
    axis = Vector(*(element.vector("xyz", 3) if element else (1.0, 0.0, 0.0)))
    if not has_direction(axis):
        raise node.error("has a zero axis; give the direction it moves along, such as xyz='0 0 1'")
    length = axis.norm()
    return axis if abs(length - 1) < 1e-15 else axis / length


def _dofs(node: XmlElement, kind: JointKind, problems: list[ModelProblem]) -> tuple[Dof, ...]:
    limit, dynamics = _first(node, "limit"), _first(node, "dynamics")
    damping, friction = (dynamics.number(key, 0.0) if dynamics else 0.0 for key in ("damping", "friction"))
    element = f"joint {node.text('name')!r}"
    effort, velocity = (
        _most(limit, key, element, problems) if limit and kind.nv else math.inf for key in ("effort", "velocity")
    )
    if limit and limit.get("passive") is not None and kind.nv:
        effort = _passive_effort(limit, effort)
    lower, upper = -math.inf, math.inf
    if kind.name in ("revolute", "prismatic"):
        if limit is None or (limit.get("lower") is None and limit.get("upper") is None):
            message = f"is {kind.name} but gives no lower and upper limit: taken as unlimited"
            problems.append(ModelProblem(element, message, severity="doubt"))
        else:
            lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
    elif kind.name == "continuous" and limit and (limit.number("lower", 0.0) or limit.number("upper", 0.0)):
        message = "is continuous but gives a lower and upper limit, which URDF ignores: taken as unlimited"
        problems.append(ModelProblem(element, message, severity="note"))
    dof = Dof(lower, upper, velocity, effort, damping, friction, friction)
    return (dof,) * kind.nv


def _most(limit: XmlElement, key: str, element: str, problems: list[ModelProblem]) -> float:
    """The largest speed or effort; 0, which exporters write where they know none, is no limit."""
    value = limit.number(key, math.inf)
    if value == 0 and not (key == "effort" and limit.get("passive")):
        message = f'gives {key}="0", which exporters write for an unknown limit'
        problems.append(ModelProblem(element, message, "It is taken as no limit", severity="doubt"))
        return math.inf
    return math.inf if value >= UNLIMITED else value


def _passive_effort(limit: XmlElement, effort: float) -> float:
    """The effort of a joint that says whether it is passive, an attribute of this library."""
    value = limit.text("passive")
    if value not in ("true", "false"):
        raise limit.error(f"passive={value[:60]!r} should be 'true' or 'false'")
    return 0.0 if value == "true" else effort


def to_urdf(model: Model) -> str:
    """URDF text of a model; refused if URDF cannot express it (rotors, springs, other joints, loops).

    Frames become links without mass. So does the far side of a joint whose axis misses the child's origin, with a
    fixed joint from there to the child. A joint with limits is revolute, also where the model has it as continuous.
    Gravity and named configurations are not part of URDF.
    """
    if model.constraints:
        loops = quoted(constraint.name for constraint in model.constraints)
        raise FormatError(
            f"robot {model.name!r} has loops, closed by {loops}, which URDF cannot express; save it in chainrule's own "
            "format, or open them with robot.without_constraint(...)"
        )
    if model.springs:
        raise FormatError(
            f"robot {model.name!r} has springs between links ({quoted(spring.name for spring in model.springs)}), "
            "which URDF cannot express; save it in chainrule's own format, or take them off with "
            "robot.without_spring()"
        )
    if model.gravity != GRAVITY:
        g = ", ".join(f"{x:g}" for x in model.gravity)
        warn_user(f"robot {model.name!r}: URDF does not hold gravity, here ({g}) m/s^2", ModelWarning)
    _warn_of_shapes(model)
    links = [*model.links]
    joints: list[Joint] = []
    taken = [*model.index_of, *(frame.name for frame in model.frames)]
    joint_names = [joint.name for joint in model.joints]
    _refuse_padded([*taken, *joint_names])
    for joint in model.joints:
        plain, offset = through_origin(joint)
        if offset is not None:
            side = unused_name(f"{joint.child}_hinge", taken)
            taken.append(side)
            links.append(Link(side))
            joint_names.append(unused_name(f"{joint.name}_offset", joint_names))
            joints.append(Joint(joint_names[-1], side, joint.child, Fixed(), offset))
            plain = replace(plain, child=side)
        joints.append(plain)
    for frame in model.frames:
        links.append(Link(frame.name))
        joint_names.append(unused_name(f"{frame.name}_fixed", joint_names))
        joints.append(Joint(joint_names[-1], frame.link, frame.name, Fixed(), frame.origin))
    robot = etree.Element("robot")
    try:
        robot.set("name", model.name)
        moved = {joint.child for joint in joints if joint.kind.nv}
        materials: dict[Color, str] = {}
        for link in links:
            element = _write_link(robot, link, moved)
            for geometry in model.geometries:
                if geometry.link == link.name and isinstance(geometry.shape, WRITABLE):
                    write_geometry(element, geometry, materials)
        for joint in joints:
            _write_joint(robot, joint)
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(
            f"robot {model.name!r} has a name or a path with characters that XML does not allow; rename it"
        ) from error
    etree.indent(robot)
    return etree.tostring(robot, encoding="unicode") + "\n"


def _warn_of_shapes(model: Model) -> None:
    """Warn of geometry that URDF has no element for."""
    lost = [
        f"the {type(geometry.shape).__name__.lower()} on link {geometry.link!r}"
        for geometry in model.geometries
        if not isinstance(geometry.shape, WRITABLE)
    ]
    if lost:
        listed = ", ".join(lost[:6]) + (f", ... ({len(lost)} in all)" if len(lost) > 6 else "")
        warn_user(f"robot {model.name!r}: URDF has no such geometry, which is left out: {listed}", ModelWarning)


def _refuse_padded(names: Sequence[str]) -> None:
    """Refuse names that begin or end with blanks, which readers drop."""
    for name in names:
        if name != name.strip():
            raise FormatError(f"the name {name!r} begins or ends with a blank, which URDF does not keep; rename it")


def through_origin(joint: Joint) -> tuple[Joint, Transform | None]:
    """The joint with its frame on its axis, and the pose of the child there if it is elsewhere."""
    kind = joint.kind
    if isinstance(kind, Moved):
        return replace(joint, kind=kind.inner), kind.offset
    if isinstance(kind, Screw) and kind.turns and kind.linear != Vector.zero():
        w, v = kind.angular, kind.linear
        if abs(w.norm() - 1) < 1e-12 and abs(w.dot(v)) < 1e-12:
            point = w.cross(v)
            there = Transform(Rotation.identity(), point)
            return replace(joint, kind=Screw.revolute(w), origin=joint.origin * there), there.inverse()
    return joint, None


def _write_link(robot: etree._Element, link: Link, moved: Set[str]) -> etree._Element:
    element = etree.SubElement(robot, "link", name=link.name)
    if link.mass or any(link.inertia.entries()) or link.name in moved:
        inertial = etree.SubElement(element, "inertial")
        etree.SubElement(inertial, "origin", xyz=words(link.com))
        etree.SubElement(inertial, "mass", value=repr(float(link.mass)))
        I = link.inertia
        entries = {"ixx": I.xx, "ixy": I.xy, "ixz": I.xz, "iyy": I.yy, "iyz": I.yz, "izz": I.zz}
        etree.SubElement(inertial, "inertia", {key: repr(float(value)) for key, value in entries.items()})
    return element


def _write_joint(robot: etree._Element, joint: Joint) -> None:
    lost = _unsupported_properties(joint)
    if lost:
        raise FormatError(
            f"joint {joint.name!r} has {', '.join(lost)}, which URDF cannot express; save it in chainrule's own "
            "format, or edit the robot first"
        )
    kind = joint.kind
    type_ = {"free": "floating"}.get(kind.name, kind.name)
    if type_ in ("revolute", "continuous"):
        type_ = "revolute" if math.isfinite(joint.dofs[0].lower) else "continuous"
    element = etree.SubElement(robot, "joint", name=joint.name, type=type_)
    etree.SubElement(element, "origin", xyz=words(joint.origin.translation), rpy=words(_rpy(joint.origin.rotation)))
    etree.SubElement(element, "parent", link=joint.parent)
    etree.SubElement(element, "child", link=joint.child)
    if isinstance(kind, Screw):
        etree.SubElement(element, "axis", xyz=words(kind.angular if kind.turns else kind.linear))
    elif isinstance(kind, Composite):
        etree.SubElement(element, "axis", xyz=words(kind.parts[2].angular))
    if joint.dofs:
        _write_dof(element, joint.dofs[0])
    if joint.mimic:
        mimic = joint.mimic
        numbers = {"multiplier": repr(float(mimic.multiplier)), "offset": repr(float(mimic.offset))}
        etree.SubElement(element, "mimic", {"joint": mimic.joint, **numbers})


def _unsupported_properties(joint: Joint) -> list[str]:
    """Properties of a joint that URDF cannot express."""
    kind = joint.kind
    lost = []
    if kind.name not in {*TYPES, "free"} or (isinstance(kind, Screw) and kind.turns and kind.linear != Vector.zero()):
        lost.append(f"a {kind.name} axis")
    elif isinstance(kind, Screw) and abs((kind.angular if kind.turns else kind.linear).norm() - 1) > 1e-9:
        lost.append("an axis that is not of unit length")
    for dof in joint.dofs:
        if dof.rotor:
            lost.append("a rotor")
        if dof.stiffness:
            lost.append("a spring")
        if dof.coulomb != dof.coulomb_negative:
            lost.append("friction that differs with direction")
        if dof.static or dof.static_negative or dof.stribeck or dof.ripple or dof.friction_function is not None:
            lost.append("friction that changes with speed or position")
        if math.isfinite(dof.lower) != math.isfinite(dof.upper):
            lost.append("a limit on one side only")
        if dof != joint.dofs[0]:
            lost.append("degrees of freedom that differ")
    return list(dict.fromkeys(lost))


def _write_dof(element: etree._Element, dof: Dof) -> None:
    limits = {key: getattr(dof, key) for key in ("lower", "upper", "velocity", "effort")}
    finite = {key: repr(float(value)) for key, value in limits.items() if math.isfinite(value)}
    if finite:
        both = {
            "velocity": repr(UNLIMITED),
            "effort": repr(UNLIMITED),
        }  # other readers want them wherever there is a limit
        passive = {"passive": "true"} if dof.passive else {}
        etree.SubElement(element, "limit", {**both, **finite, **passive})
    if dof.viscous or dof.coulomb:
        etree.SubElement(element, "dynamics", damping=repr(float(dof.viscous)), friction=repr(float(dof.coulomb)))


def _rpy(R: Rotation) -> Vector:
    return Vector(*R.rpy())
