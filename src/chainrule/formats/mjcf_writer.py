"""Robots as MJCF: bodies inside one another, with a hinge or slide for each screw of a joint."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from chainrule.errors import FormatError
from chainrule.formats.losses import refuse_losses
from chainrule.formats.urdf_geometry import words
from chainrule.lazy import module
from chainrule.model import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Free,
    Geometry,
    Joint,
    Link,
    Model,
    Moved,
    Screw,
    Sphere,
    Spherical,
)
from chainrule.model.layout import component
from chainrule.spatial import Rotation, Transform

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = module("lxml.etree")


MIN_INERTIA = 1e-15
"""mjMINVAL: the least inertia, in kg m^2, that MuJoCo takes for one."""


def to_mjcf(model: Model) -> str:
    """MJCF text of a model, whose base becomes "world"; refused where MJCF, or MuJoCo, cannot express it."""
    refuse_losses(model, "mjcf")
    root = etree.Element("mujoco", model=model.name)
    etree.SubElement(root, "compiler", angle="radian", inertiafromgeom="false")
    etree.SubElement(root, "option", gravity=words(model.gravity))
    bodies = {model.links[0].name: etree.SubElement(root, "worldbody")}
    actuators, equality = etree.Element("actuator"), etree.Element("equality")
    _write_places(bodies[model.links[0].name], model, model.links[0].name)
    for joint, link in zip(model.joints, model.links[1:], strict=True):
        bodies[link.name] = _write_body(bodies[joint.parent], model, joint, link)
        for name, dof in zip(_names(joint), joint.dofs, strict=False):
            if not joint.mimic and joint.kind.nq == joint.kind.nv:
                limits = {"ctrlrange": f"{-dof.effort!r} {dof.effort!r}"} if math.isfinite(dof.effort) else {}
                etree.SubElement(actuators, "motor", {"name": name, "joint": name, **limits})
        if joint.mimic:
            numbers = f"{float(joint.mimic.offset)!r} {float(joint.mimic.multiplier)!r} 0 0 0"
            etree.SubElement(equality, "joint", joint1=joint.name, joint2=joint.mimic.joint, polycoef=numbers)
    root.extend([part for part in (equality, actuators) if len(part)])
    etree.indent(root)
    return etree.tostring(root, encoding="unicode") + "\n"


def _write_body(above: etree._Element, model: Model, joint: Joint, link: Link) -> etree._Element:
    offset = joint.kind.offset if isinstance(joint.kind, Moved) else Transform.identity()
    body = etree.SubElement(above, "body", {"name": link.name, **_pose(joint.origin * offset)})
    _write_inertial(body, model, joint, link)
    kind = joint.kind.inner if isinstance(joint.kind, Moved) else joint.kind
    if isinstance(kind, Free):
        if above.tag != "worldbody" or joint.origin != Transform.identity() or joint.kind is not kind:
            raise FormatError(f"joint {joint.name!r} is free, which MJCF has in the origin of the world alone")
        etree.SubElement(body, "freejoint", name=joint.name)
    elif isinstance(kind, Spherical):
        _write_joint(body, joint, 0, joint.name, type="ball", pos=words(offset.inverse().translation))
    elif kind.nv:
        for k, (screw, name) in enumerate(zip(joint.screws, _names(joint), strict=True)):
            _write_joint(body, joint, k, name, **_axis(joint.name, screw, offset.inverse()))
    _write_places(body, model, link.name)
    return body


def _write_inertial(body: etree._Element, model: Model, joint: Joint, link: Link) -> None:
    I = link.inertia
    values, axes = np.linalg.eigh(np.array(I.matrix(), dtype=float))
    is_solid = link.mass > 0 and values[0] > MIN_INERTIA
    carries = any(other.parent == link.name and not other.kind.nv for other in model.joints)
    if joint.kind.nv and not is_solid and (link.mass or not carries):
        raise FormatError(
            f"link {link.name!r}, which joint {joint.name!r} moves, has no mass, or no inertia about some axis, and "
            f"MuJoCo takes no such body; give it a small one: robot.edit(links={{{link.name!r}: {{...}}}})"
        )
    if is_solid:
        inertia = {"fullinertia": words((I.xx, I.yy, I.zz, I.xy, I.xz, I.yz))}
    elif link.mass:
        x, y, z, w = Rotation.of((axes * np.linalg.det(axes)).tolist()).quaternion()
        inertia = {"diaginertia": words(np.maximum(values, 0.0)), "quat": words((w, x, y, z))}
    else:
        return
    etree.SubElement(body, "inertial", {"pos": words(link.com), "mass": repr(float(link.mass)), **inertia})


def _names(joint: Joint) -> list[str]:
    return [component(joint.name, part) for part in joint.kind.velocity_names]


def _axis(name: str, screw: Screw, X: Transform) -> dict[str, str]:
    """The axis of a screw that turns or slides, in the frame that X takes to."""
    w, v = screw.angular, screw.linear
    if abs((w if screw.turns else v).norm() - 1) > 1e-9 or (screw.turns and abs(w.dot(v)) > 1e-12):
        raise FormatError(f"joint {name!r} turns and slides at once, or its axis is not of unit length; MJCF has none")
    if not screw.turns:
        return {"type": "slide", "axis": words(X.rotation * v)}
    return {"type": "hinge", "axis": words(X.rotation * w), "pos": words(X * w.cross(v))}


def _write_joint(body: etree._Element, joint: Joint, k: int, name: str, **shape: str) -> None:
    dof = joint.dofs[k]
    bare = not (dof.stiffness or math.isfinite(dof.upper))
    if shape["type"] == "ball" and not (bare and all(other == dof for other in joint.dofs)):
        raise FormatError(
            f"joint {name!r}: a ball of MJCF has one damping and rotor for all directions, no spring here"
        )
    numbers = {"damping": dof.viscous, "frictionloss": dof.coulomb, "armature": dof.armature}
    numbers |= {"stiffness": dof.stiffness, "springref": dof.rest}
    given = {key: repr(float(x)) for key, x in numbers.items() if x}
    if math.isfinite(dof.lower):
        given |= {"limited": "true", "range": f"{float(dof.lower)!r} {float(dof.upper)!r}"}
    etree.SubElement(body, "joint", {"name": name, **shape, **given})


def _write_places(body: etree._Element, model: Model, link: str) -> None:
    """The frames on a link as sites, and its geometry; what is only seen touches nothing."""
    for frame in model.frames:
        if frame.link == link:
            etree.SubElement(body, "site", {"name": frame.name, **_pose(frame.origin)})
    for geometry in model.geometries:
        if geometry.link == link:
            touches = {} if geometry.role == "collision" else {"contype": "0", "conaffinity": "0"}
            color = {} if geometry.color is None else {"rgba": words(geometry.color)}
            etree.SubElement(body, "geom", {**_shape(geometry), **_pose(geometry.origin), **color, **touches})


def _shape(geometry: Geometry) -> dict[str, str]:
    shape = geometry.shape
    if isinstance(shape, Box):
        return {"type": "box", "size": words(shape.size / 2)}
    if isinstance(shape, Sphere):
        return {"type": "sphere", "size": words([shape.radius])}
    if isinstance(shape, Ellipsoid):
        return {"type": "ellipsoid", "size": words(shape.radii)}
    if isinstance(shape, (Cylinder, Capsule)):
        return {"type": type(shape).__name__.lower(), "size": words([shape.radius, shape.length / 2])}
    lengths = (getattr(shape, "length_x", math.inf), getattr(shape, "length_y", math.inf))
    return {"type": "plane", "size": words([*(x / 2 if math.isfinite(x) else 0.0 for x in lengths), 0.1])}


def _pose(T: Transform) -> dict[str, str]:
    x, y, z, w = T.rotation.quaternion()
    return {"pos": words(T.translation), "quat": words((w, x, y, z))}
