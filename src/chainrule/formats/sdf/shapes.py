"""Visual and collision geometry of SDF links."""

from __future__ import annotations

import math
from collections.abc import Iterator

from chainrule.errors import FormatError
from chainrule.formats.exact import has_direction
from chainrule.formats.sdf.scopes import Scope
from chainrule.formats.sdf.values import child_text, number, numbers, raw_pose, vector
from chainrule.formats.source import folder_of
from chainrule.formats.xml import XmlElement
from chainrule.model.geometry import (
    Box,
    Capsule,
    Color,
    Cylinder,
    Ellipsoid,
    Geometry,
    Mesh,
    Plane,
    Role,
    Shape,
    Sphere,
    objection,
)
from chainrule.spatial import Rotation, Transform, Vector

ONES = Vector(1.0, 1.0, 1.0)


def geometries_of(scope: Scope, link: XmlElement, name: str, X_link: Transform, notes: list[str]) -> Iterator[Geometry]:
    """The shapes on a link, in its frame; a shape that cannot be kept becomes a note."""
    for node in link.children("visual", "collision"):
        try:
            found = _geometry(scope, node, name, X_link)
        except FormatError as error:
            found = f"cannot be read ({error})"
        if isinstance(found, Geometry):
            yield found
        elif found:
            notes.append(f"the geometry of {node.tag} {node.get('name')!r} on link {name!r} {found}: it is left out")


def _geometry(scope: Scope, node: XmlElement, name: str, X_link: Transform) -> Geometry | str | None:
    """A shape, or why there is none as the end of a sentence; None for an empty one."""
    holder = node.child("geometry")
    found = None if holder is None else next((child for child in holder.children() if child.tag != "empty"), None)
    if found is None:
        return None
    shape, turn = _shape(found, scope)
    wrong = f"is a {found.tag}" if shape is None else objection(shape)
    if shape is None or wrong:
        return wrong
    role: Role = "visual" if node.tag == "visual" else "collision"
    return Geometry(name, shape, _pose_in_link(scope, node, X_link) * turn, role, _color(node), node.get("name"))


def _pose_in_link(scope: Scope, node: XmlElement, X_link: Transform) -> Transform:
    pose = node.child("pose")
    base = "" if pose is None else (pose.get("relative_to") or "").strip()
    if not base:
        return raw_pose(node)
    return X_link.inverse() * scope.pose_of(base, node) * raw_pose(node)


def _shape(node: XmlElement, scope: Scope) -> tuple[Shape | None, Transform]:
    """A shape, and its own turn: that of a plane, whose normal may point anywhere."""
    turn = Transform.identity()
    if node.tag == "box":
        return Box(vector(node, "size", ONES)), turn
    if node.tag == "sphere":
        return Sphere(number(node, "radius", 1.0)), turn
    if node.tag in ("cylinder", "capsule"):
        kind = Cylinder if node.tag == "cylinder" else Capsule
        return kind(number(node, "radius", 0.5), number(node, "length", 1.0)), turn
    if node.tag == "ellipsoid":
        return Ellipsoid(vector(node, "radii", ONES)), turn
    if node.tag == "plane":
        size = node.child("size")
        lengths = numbers(size, 2) if size is not None else (1.0, 1.0)
        return Plane(*lengths), Transform(_turn_to(vector(node, "normal", Vector(0.0, 0.0, 1.0))), Vector.zero())
    if node.tag == "mesh":
        uri = child_text(node, "uri")
        return (Mesh(uri, vector(node, "scale", ONES), folder_of(scope.around.path)) if uri else None), turn
    return None, turn


def _turn_to(normal: Vector) -> Rotation:
    """A rotation that turns z to the normal."""
    if not has_direction(normal):
        return Rotation.identity()
    n = normal / normal.norm()
    axis = Vector(0.0, 0.0, 1.0).cross(n)
    if not has_direction(axis):
        return Rotation.identity() if n.z > 0 else Rotation.about(Vector(1.0, 0.0, 0.0), math.pi)
    return Rotation.about(axis / axis.norm(), math.atan2(axis.norm(), n.z))


def _color(node: XmlElement) -> Color | None:
    material = node.child("material")
    diffuse = None if material is None else material.child("diffuse")
    if diffuse is None:
        return None
    words = (diffuse.element.text or "").split()
    values = numbers(diffuse, len(words) if len(words) in (3, 4) else 4)
    r, g, b, a = (min(max(x, 0.0), 1.0) for x in (*values, 1.0)[:4])
    return r, g, b, a
