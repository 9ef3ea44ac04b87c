"""Robots as SDF 1.11: every pose is relative to the link before or to the joint."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from chainrule.errors import FormatError
from chainrule.formats.losses import refuse_losses
from chainrule.formats.urdf import through_origin
from chainrule.formats.urdf_geometry import words
from chainrule.lazy import module
from chainrule.model import Box, Dof, Free, Geometry, Joint, Mesh, Model, Plane, Screw, Spherical
from chainrule.model.joints import Composite, JointKind
from chainrule.spatial import Rotation, Scalar, Transform, Vector

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = module("lxml.etree")

BASE = "world"


def to_sdf(model: Model) -> str:
    """SDF text of a model, whose base becomes "world"; refused where SDF cannot express it."""
    refuse_losses(model, "sdf")
    root = etree.Element("sdf", version="1.11")
    robot = etree.SubElement(root, "model", name=model.name)
    base = model.links[0].name
    for original, link in zip(model.joints, model.links[1:], strict=True):
        joint, offset = through_origin(original)
        kind, offset = joint.kind, offset or Transform.identity()
        element = etree.SubElement(robot, "link", name=link.name)
        free = isinstance(kind, Free)
        above = "" if free else joint.name
        _pose(element, joint.origin * offset if free else offset, relative_to=above)
        inertial = etree.SubElement(element, "inertial")
        _pose(inertial, Transform(Rotation.identity(), link.com))
        _number(inertial, "mass", link.mass)
        I, matrix = link.inertia, etree.SubElement(inertial, "inertia")
        for key in ("xx", "yy", "zz", "xy", "xz", "yz"):
            _number(matrix, f"i{key}", getattr(I, key))
        if not free:
            _write_joint(robot, joint, kind, BASE if joint.parent == base else joint.parent)
        elif joint.parent != base:
            raise FormatError(f"joint {joint.name!r} is free, which SDF has between the world and a link alone")
        for k, geometry in enumerate(g for g in model.geometries if g.link == link.name):
            _write_geometry(element, geometry, f"{link.name}_{geometry.role}{k}")
    for frame in model.frames:
        on = {} if frame.link == base else {"attached_to": frame.link}
        _pose(etree.SubElement(robot, "frame", {"name": frame.name, **on}), frame.origin)
    etree.indent(root)
    return etree.tostring(root, encoding="unicode") + "\n"


def _write_joint(robot: etree._Element, joint: Joint, kind: JointKind, parent: str) -> None:
    types = {"cylindrical": None, "planar": None, "helical": "screw", "spherical": "ball"}
    type_ = types.get(kind.name, kind.name)
    screws = kind.parts if isinstance(kind, Composite) else (kind,) if isinstance(kind, Screw) else ()
    directions = [s.angular if s.turns else s.linear for s in screws]
    off = any(s.turns and s.linear != Vector.zero() for s in screws) and type_ != "screw"
    if type_ is None or off or any(abs(axis.norm() - 1) > 1e-9 for axis in directions):
        why = "with an axis beside its origin or of another length than 1" if off or type_ is not None else ""
        raise FormatError(f"joint {joint.name!r} ({kind.name}) {why} is none of SDF; save it as .toml, or lock it")
    if isinstance(kind, Spherical) and any(dof != Dof(effort=dof.effort) for dof in joint.dofs):
        raise FormatError(f"joint {joint.name!r}: a ball joint of SDF has no limits, friction or springs")
    if type_ in ("revolute", "continuous"):
        type_ = "revolute" if any(map(math.isfinite, (joint.dofs[0].lower, joint.dofs[0].upper))) else "continuous"
    element = etree.SubElement(robot, "joint", name=joint.name, type=type_)
    _pose(element, joint.origin, relative_to="__model__" if parent == BASE else parent)
    for tag, text in (("parent", parent), ("child", joint.child)):
        etree.SubElement(element, tag).text = text
    if type_ == "screw":
        (screw,) = screws
        pitch = screw.linear.dot(screw.angular)
        if (screw.linear - screw.angular * pitch).norm() > 1e-12:
            raise FormatError(f"joint {joint.name!r}: a screw of SDF has its axis through its origin")
        _number(element, "screw_thread_pitch", 2 * math.pi * pitch)
    for k, axis in enumerate(directions):
        _write_axis(element, "axis2" if k else "axis", joint, axis, joint.dofs[k])


def _write_axis(element: etree._Element, tag: str, joint: Joint, axis: Vector, dof: Dof) -> None:
    part = etree.SubElement(element, tag)
    etree.SubElement(part, "xyz").text = words(axis)
    limit, dynamics = etree.SubElement(part, "limit"), etree.SubElement(part, "dynamics")
    for key in ("lower", "upper", "effort", "velocity"):
        if math.isfinite(getattr(dof, key)):
            _number(limit, key, getattr(dof, key))
    numbers = {"damping": dof.viscous, "friction": dof.coulomb}
    for key, x in {**numbers, "spring_reference": dof.rest, "spring_stiffness": dof.stiffness}.items():
        _number(dynamics, key, x)
    if joint.mimic:
        mimic = etree.SubElement(part, "mimic", joint=joint.mimic.joint)
        for key, x in (("multiplier", joint.mimic.multiplier), ("offset", joint.mimic.offset), ("reference", 0.0)):
            _number(mimic, key, x)


def _write_geometry(link: etree._Element, geometry: Geometry, name: str) -> None:
    element, shape = etree.SubElement(link, geometry.role, name=name), geometry.shape
    _pose(element, geometry.origin)
    form = etree.SubElement(etree.SubElement(element, "geometry"), type(shape).__name__.lower())
    if isinstance(shape, Mesh):
        etree.SubElement(form, "uri").text = shape.path
        etree.SubElement(form, "scale").text = words(shape.scale)
    elif isinstance(shape, Plane):
        lengths = (x if math.isfinite(x) else 1.0 for x in (shape.length_x, shape.length_y))
        etree.SubElement(form, "size").text = words(lengths)
    elif isinstance(shape, Box):
        etree.SubElement(form, "size").text = words(shape.size)
    else:
        for key in ("radius", "length", "radii"):
            if hasattr(shape, key):
                x = getattr(shape, key)
                etree.SubElement(form, key).text = words(x if isinstance(x, Iterable) else [x])
    if geometry.color is not None and geometry.role == "visual":
        etree.SubElement(etree.SubElement(element, "material"), "diffuse").text = words(geometry.color)


def _pose(element: etree._Element, T: Transform, **relative: str) -> None:
    given = {key: name for key, name in relative.items() if name}
    etree.SubElement(element, "pose", given).text = words([*T.translation, *T.rotation.rpy()])


def _number(element: etree._Element, tag: str, x: Scalar) -> None:
    etree.SubElement(element, tag).text = repr(float(x))
