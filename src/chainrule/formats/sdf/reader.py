"""SDF models: links and joints of a robot, with the meaning that the SDFormat specification gives them.

The base of the model is the link "world". A model that no joint ties to the world is fixed where the file puts it, as
the base of a URDF is; load it with floating_base=True to set it free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from chainrule.errors import FormatError, quoted
from chainrule.formats.exact import has_direction, snap
from chainrule.formats.sdf.scopes import MODEL, Scope, Surroundings, choose_model, end_name, version_of
from chainrule.formats.sdf.shapes import geometries_of
from chainrule.formats.sdf.values import UNLIMITED, flag, number, numbers, raw_pose, vector
from chainrule.formats.source import FilePath, read
from chainrule.formats.xml import XmlElement, parse
from chainrule.model import (
    GRAVITY,
    Composite,
    Constraint,
    Dof,
    Fixed,
    Frame,
    Joint,
    JointKind,
    Link,
    Mimic,
    Model,
    Moved,
    Screw,
    Spherical,
)
from chainrule.model.edits import unused_name
from chainrule.model.geometry import Geometry
from chainrule.spatial import Rotation, Symmetric, Transform, Vector

TYPES = ("revolute", "continuous", "prismatic", "fixed", "ball", "universal", "revolute2", "screw")
WORLD = "world"
ELEMENTS = {
    "model": (
        "link", "joint", "frame", "model", "include", "pose", "static", "self_collide", "allow_auto_disable", "plugin",
        "gripper", "enable_wind",
    ),
    "link": (
        "inertial", "pose", "collision", "visual", "gravity", "self_collide", "kinematic", "enable_wind", "sensor",
        "must_be_base_link", "velocity_decay", "projector", "audio_source", "audio_sink", "battery", "light", "plugin",
        "particle_emitter",
    ),
    "joint": (
        "parent", "child", "axis", "axis2", "pose", "gearbox_ratio", "gearbox_reference_body", "thread_pitch",
        "screw_thread_pitch", "physics", "sensor", "plugin", "mimic",
    ),
    "axis": ("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame", "initial_position"),
    "limit": ("lower", "upper", "effort", "velocity", "stiffness", "dissipation"),
    "dynamics": ("damping", "friction", "spring_reference", "spring_stiffness"),
    "inertial": ("mass", "pose", "inertia", "density", "fluid_added_mass", "auto_inertia_params", "frame"),
    "inertia": ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"),
}  # fmt: skip
"""Children of each element; others that look like one of them are misspelled."""

LOOPS = {"fixed": "weld", "ball": "point", "revolute": "hinge", "continuous": "hinge"}
"""Joints that can close a loop, and the constraints that they become."""


def from_sdf(path_or_text: FilePath, search_paths: Sequence[Path] = (), model: str | None = None) -> Model:
    """The robot that an SDF file or text describes; its base is the link "world".

    search_paths: folders in which model:// addresses are looked for first. model: the name of the model, where a world
    has several.
    """
    content, source, path = read(path_or_text)
    root = parse(content, source)
    if root.tag != "sdf":
        raise FormatError(f"{source} is not SDF: its root element is <{root.tag}>, not <sdf>")
    notes: list[str] = []
    around = Surroundings(path, version_of(root), tuple(search_paths))
    scope, place, holder = choose_model(root, around, model, notes)
    gravity = vector(holder, "gravity", GRAVITY) if holder.tag == "world" else GRAVITY
    reader = _Reader(scope, place, notes)
    return reader.model(gravity)


@dataclass
class _Reader:
    """Gathers links, joints, frames and geometry of a model and of those inside it."""

    scope: Scope
    place: Transform
    notes: list[str]
    links: dict[str, Link] = field(default_factory=dict)
    places: dict[str, Transform] = field(default_factory=dict)
    joints: list[Joint] = field(default_factory=list)
    above: dict[str, str] = field(default_factory=dict)
    """The link from which each link is moved."""
    carriers: set[str] = field(default_factory=set)
    """The links that move others."""
    frames: list[Frame] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    geometries: list[Geometry] = field(default_factory=list)

    def model(self, gravity: Vector) -> Model:
        scopes = [*self._with_places(self.scope, self.place)]
        for scope, X in scopes:
            _refuse_misspelled(scope.node)
            for node in scope.node.children("link"):
                self._link(scope, node, X)
        if not self.links:
            raise self.scope.node.error("has no links; a robot needs at least one")
        for scope, X in scopes:
            for node in scope.node.children("joint"):
                self._joint(scope, node, X)
        for scope, X in scopes:
            self._frames(scope, X)
        self._mount()
        links = [Link(WORLD), *self.links.values()]
        return Model.build(
            self.scope.name, links, self.joints, self.frames, gravity, notes=self.notes,
            constraints=self.constraints, geometries=self.geometries,
        )  # fmt: skip

    def _with_places(self, scope: Scope, X: Transform) -> list[tuple[Scope, Transform]]:
        """A model and those inside it, each with its pose in the world."""
        found = [(scope, X)]
        for name, inner in scope.nested.items():
            found += self._with_places(inner, X * scope.pose_of(name, inner.node))
        return found

    def _link(self, scope: Scope, node: XmlElement, X: Transform) -> None:
        _refuse_misspelled(node)
        name = scope.prefix + node.text("name")
        if name in self.links or name == WORLD:
            raise node.error("has a name that another link, or the world, has; rename it")
        X_link = scope.pose_of(node.text("name"), node)
        self.places[name] = X * X_link
        self.links[name] = self._inertia(node, name, scope, X_link)
        if not flag(node, "gravity", True):
            self.notes.append(f"link {name!r} has gravity switched off in the file; here it has its weight")
        if flag(node, "kinematic"):
            self.notes.append(
                f"link {name!r} is kinematic in the file, moved by no force; here it moves as a body does"
            )
        decay = node.child("velocity_decay")
        if decay is not None and any(number(decay, key, 0.0) for key in ("linear", "angular")):
            self.notes.append(f"the velocity_decay of link {name!r} is not modelled")
        self.geometries += geometries_of(scope, node, name, X_link, self.notes)

    def _inertia(self, node: XmlElement, name: str, scope: Scope, X_link: Transform) -> Link:
        """The body; SDF gives one without <inertial>, or without a mass or an inertia in it, 1 kg and 1 kg m^2."""
        inertial = node.child("inertial")
        if inertial is None:
            if not scope.is_static:
                self.notes.append(
                    f"link {name!r} has no <inertial>: SDF gives it a mass of 1 kg and moments of 1 kg m^2"
                )
            return Link(name, 1.0, Vector(0.0, 0.0, 0.0), Symmetric(1.0, 1.0, 1.0))
        _refuse_misspelled(inertial)
        if (inertial.get("auto") or "false").lower() in ("true", "1"):
            raise inertial.error("is to be computed from shapes (auto), which is not supported; write mass and inertia")
        if inertial.child("fluid_added_mass") is not None:
            self.notes.append(f"the fluid_added_mass of link {name!r} is not modelled")
        pose = inertial.child("pose")
        base = "" if pose is None else (pose.get("relative_to") or "").strip()
        T = raw_pose(inertial)
        if base:
            T = X_link.inverse() * scope.pose_of(base, inertial) * T
        mass = number(inertial, "mass", 1.0)
        matrix = inertial.child("inertia")
        if inertial.child("mass") is None or matrix is None:
            self.notes.append(f"link {name!r} has an <inertial> without mass or inertia: SDF takes 1 kg, or 1 kg m^2")
        if matrix is None:
            return Link(name, mass, T.translation, Symmetric(1.0, 1.0, 1.0))
        _refuse_misspelled(matrix)
        diagonal = [number(matrix, key, 1.0) for key in ("ixx", "iyy", "izz")]
        products = [number(matrix, key, 0.0) for key in ("ixy", "ixz", "iyz")]
        return Link(name, mass, T.translation, Symmetric(*diagonal, *products).rotate(T.rotation))

    def _joint(self, scope: Scope, node: XmlElement, X: Transform) -> None:
        _refuse_misspelled(node)
        type_ = node.text("type")
        name = scope.prefix + node.text("name")
        if type_ == "gearbox":
            self.notes.append(f"joint {name!r} is a gearbox, which couples two others: it is not modelled")
            return
        if type_ not in TYPES:
            raise node.error(f"unknown joint type {type_!r}; SDF has {', '.join(TYPES)} and gearbox")
        parent, child = (self._end(scope, node, tag) for tag in ("parent", "child"))
        if child == WORLD:
            raise node.error("has the world as its child; make it the parent")
        if parent == child:
            raise node.error(f"joins link {child!r} to itself; name two links")
        X_joint = X * scope.joint_pose(node)
        before = _without_rounding(self._place(parent).inverse() * X_joint)
        after = _without_rounding(X_joint.inverse() * self.places[child])
        axes = [element for tag in ("axis", "axis2") if (element := node.child(tag)) is not None]
        for element in axes:
            _refuse_misspelled(element, "axis")
        if scope.is_static:
            type_, axes = "fixed", []
        if self._closes_loop(parent, child):
            self._close(node, type_, name, parent, child, before, after, scope, axes)
            return
        kind = _kind(node, type_, [_axis(scope, node, element) for element in axes])
        dofs = _dofs(node, type_, kind, axes, name, self.notes)
        if after != Transform.identity() and kind.nv:
            kind = Moved(kind, after)
        elif not kind.nv:
            before = _without_rounding(before * after)
        mimic = _mimic(node, axes, scope.prefix) if kind.nv == 1 else None
        self.joints.append(Joint(name, parent, child, kind, before, dofs, mimic))
        self.above[child] = parent
        self.carriers.add(parent)

    def _end(self, scope: Scope, node: XmlElement, tag: str) -> str:
        """The link that a joint names, by itself or by a frame on it."""
        name = end_name(node, tag)
        if name == WORLD:
            return WORLD
        inside, link = scope.link_of(name, node)
        return inside.prefix + link

    def _place(self, link: str) -> Transform:
        return Transform.identity() if link == WORLD else self.places[link]

    def _closes_loop(self, parent: str, child: str) -> bool:
        """Whether another joint moves the child already, or the child carries the parent."""
        if child in self.above:
            return True
        while parent in self.above and child in self.carriers:
            parent = self.above[parent]
            if parent == child:
                return True
        return False

    def _close(
        self, node: XmlElement, type_: str, name: str, parent: str, child: str, before: Transform, after: Transform,
        scope: Scope, axes: list[XmlElement],
    ) -> None:  # fmt: skip
        """A joint to a link that another joint moves already: it closes a loop."""
        if type_ not in LOOPS:
            self.notes.append(
                f"joint {name!r} ({type_}) closes a loop, as another joint moves link {child!r}: it is not modelled; "
                f"those that can be are {', '.join(LOOPS)}"
            )
            return
        turn = Transform.identity()
        if LOOPS[type_] == "hinge":
            turn = Transform(_z_to(_axis(scope, node, axes[0]) if axes else Vector(0.0, 0.0, 1.0)), Vector.zero())
        origin_b = after.inverse() * turn
        self.constraints.append(Constraint(name, LOOPS[type_], parent, child, before * turn, origin_b))
        for dof in _dofs(node, type_, Screw.revolute(Vector(0.0, 0.0, 1.0)), axes, name, [])[:1]:
            if dof != Dof():
                self.notes.append(f"joint {name!r} closes a loop: its limits, friction and spring are not modelled")

    def _frames(self, scope: Scope, X: Transform) -> None:
        taken = {WORLD, *self.links}
        for node in scope.node.children("frame"):
            inside, link = scope.link_of(node.text("name"), node)
            carrier = inside.prefix + link
            name = scope.prefix + node.text("name")
            T = self.places[carrier].inverse() * X * scope.pose_of(node.text("name"), node)
            self.frames.append(Frame(name if name not in taken else f"frame/{name}", carrier, _without_rounding(T)))

    def _mount(self) -> None:
        """Fix to the world what no joint moves."""
        roots = [name for name in self.links if name not in self.above]
        tied = WORLD in self.carriers
        if not self.scope.is_static and (len(roots) > 1 or (roots and tied)):
            self.notes.append(
                f"the links {quoted(roots)} are not joined to the rest: they are fixed where the file puts them"
            )
        names = [joint.name for joint in self.joints]
        for root in roots:
            names.append(unused_name(f"{root}_fixed", names))
            self.joints.append(Joint(names[-1], WORLD, root, Fixed(), _without_rounding(self.places[root])))


def _refuse_misspelled(node: XmlElement, as_tag: str | None = None) -> None:
    """Refuse children whose names are nearly those of SDF, which a reader would otherwise skip in silence."""
    known = ELEMENTS[as_tag or node.tag]
    for child in node.children():
        if child.tag not in known:
            for close in get_close_matches(child.tag.lower(), known, 1, 0.8):
                raise child.error(f"unknown element; did you mean <{close}>?")


def _kind(node: XmlElement, type_: str, axes: list[Vector]) -> JointKind:
    if type_ == "fixed":
        return Fixed()
    if type_ == "ball":
        return Spherical()
    if not axes:
        raise node.error(f"is {type_} and needs an <axis>")
    if type_ in ("universal", "revolute2"):
        if len(axes) < 2:
            raise node.error(f"is {type_} and needs an <axis2>")
        return Composite.universal(*axes)
    if type_ == "prismatic":
        return Screw.prismatic(axes[0])
    if type_ == "screw":
        return Screw.helical(axes[0], None, _pitch(node))
    return Screw.revolute(axes[0], name=type_)


def _pitch(node: XmlElement) -> float:
    """The advance of a screw, in m/rad: from m/revolution, right-handed, or from the old rad/m, left-handed."""
    new, old = node.child("screw_thread_pitch"), node.child("thread_pitch")
    if new is not None:
        return numbers(new, 1)[0] / (2 * math.pi)
    if old is None:
        raise node.error("is a screw and needs its <screw_thread_pitch>, in m for each revolution")
    turns = numbers(old, 1)[0]
    if not turns:
        raise old.error("is 0 rad/m, an infinite advance; give the radians for each meter")
    return -1 / turns


def _axis(scope: Scope, joint: XmlElement, element: XmlElement) -> Vector:
    """The direction of an axis in the joint's frame.

    Up to SDF 1.4 it is given in the model's axes, in 1.5 and 1.6 if use_parent_model_frame says so, since then in those
    of the frame that expressed_in names.
    """
    xyz = element.child("xyz")
    axis = Vector(0.0, 0.0, 1.0) if xyz is None else Vector(*numbers(xyz, 3))
    if not has_direction(axis):
        raise element.error("has a zero axis; give the direction it moves along, such as 0 0 1")
    frame = "" if xyz is None else (xyz.get("expressed_in") or "").strip()
    if not frame and (scope.around.version <= (1, 4) or flag(element, "use_parent_model_frame")):
        frame = MODEL
    if frame:
        R = scope.joint_pose(joint).rotation.inv @ scope.pose_of(frame, element).rotation
        axis = snap(R) * axis
    length = axis.norm()
    return axis if abs(length - 1) < 1e-15 else axis / length


def _dofs(
    node: XmlElement, type_: str, kind: JointKind, axes: list[XmlElement], name: str, notes: list[str]
) -> tuple[Dof, ...]:
    """Properties along each degree of freedom; a ball joint has none but its friction."""
    if not kind.nv:
        return ()
    if type_ == "ball":
        if axes:
            notes.append(f"joint {name!r} is a ball joint: its <axis> is ignored")
        return (Dof(),) * 3
    found = []
    for element in axes[: kind.nv]:
        limit, dynamics = element.child("limit"), element.child("dynamics")
        for part in (limit, dynamics):
            if part is not None:
                _refuse_misspelled(part)
        dof = Dof()
        if limit is not None:
            lower, upper = (number(limit, key, s * math.inf, finite=False) for key, s in (("lower", -1), ("upper", 1)))
            if type_ == "continuous":
                lower, upper = -math.inf, math.inf
            effort, velocity = (number(limit, key, math.inf, finite=False) for key in ("effort", "velocity"))
            dof = replace(
                dof,
                lower=-math.inf if lower <= -UNLIMITED else lower,
                upper=math.inf if upper >= UNLIMITED else upper,
                effort=math.inf if effort < 0 or effort >= UNLIMITED else effort,
                velocity=math.inf if velocity < 0 or velocity >= UNLIMITED else velocity,
            )
        if dynamics is not None:
            friction = number(dynamics, "friction", 0.0)
            dof = replace(
                dof,
                viscous=number(dynamics, "damping", 0.0),
                coulomb=friction,
                coulomb_negative=friction,
                stiffness=number(dynamics, "spring_stiffness", 0.0),
                rest=number(dynamics, "spring_reference", 0.0),
            )
        if number(element, "initial_position", 0.0):
            notes.append(f"the initial_position of joint {name!r} is not used: q = 0 is the pose of the file")
        found.append(dof)
    rotor, gear = (_drake_number(node, key, default) for key, default in (("rotor_inertia", 0.0), ("gear_ratio", 1.0)))
    if rotor and len(found) == 1:
        found[0] = replace(found[0], rotor=rotor, gear=gear)
    return tuple(found)


def _drake_number(node: XmlElement, key: str, default: float) -> float:
    """A number that Drake adds to SDF, in its own namespace."""
    for child in node.children():
        if child.tag.endswith(f"}}{key}") and "drake" in child.tag:
            return numbers(child, 1)[0]
    return default


def _mimic(node: XmlElement, axes: list[XmlElement], prefix: str) -> Mimic | None:
    """The joint that an axis follows: multiplier * (leader - reference) + offset."""
    for child in node.children():
        if child.tag.endswith("}mimic") and "drake" in child.tag:
            multiplier, offset = child.number("multiplier", 1.0), child.number("offset", 0.0)
            return Mimic(prefix + child.text("joint"), multiplier, offset)
    element = axes[0].child("mimic") if axes else None
    if element is None:
        return None
    if (element.get("axis") or "axis") != "axis":
        raise element.error("follows the second axis of a joint, which is not supported")
    multiplier, offset, reference = (
        number(element, key, default) for key, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
    )
    return Mimic(prefix + element.text("joint"), multiplier, offset - multiplier * reference)


def _z_to(axis: Vector) -> Rotation:
    """A rotation whose z axis is the given direction."""
    other = Vector(1.0, 0.0, 0.0) if abs(axis.x) < 0.9 else Vector(0.0, 1.0, 0.0)
    y = axis.cross(other)
    y = y / y.norm()
    x = y.cross(axis)
    columns = (x, y, axis)
    return snap(Rotation(*(Vector(*(column[i] for column in map(tuple, columns))) for i in range(3))))


def _without_rounding(T: Transform) -> Transform:
    """The transform with the rounding errors of products of exact ones removed."""
    near = (round(x, 15) if abs(x) < 1e-14 else x for x in T.translation)
    return Transform(snap(T.rotation), Vector(*(x + 0.0 for x in near)))
