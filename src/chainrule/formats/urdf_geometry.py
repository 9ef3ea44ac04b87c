"""Visual and collision geometry of URDF files: reader and writer.

Dynamics ignores geometry, so nothing that is wrong with it stops a robot from loading: the shape is left out, with a
note. Textures are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from chainrule.errors import FormatError
from chainrule.formats.exact import pose
from chainrule.formats.xml import XmlElement
from chainrule.lazy import module
from chainrule.model import Box, Capsule, Cylinder, Geometry, Mesh, ModelProblem, Shape, Sphere
from chainrule.model.geometry import ROLES, Color, objection
from chainrule.spatial import Transform, Vector

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = module("lxml.etree")

LEFT_OUT = "It is left out; dynamics does not need it"
WRITABLE = (Box, Cylinder, Capsule, Sphere, Mesh)
"""Shapes that URDF has."""


def geometries_of(root: XmlElement, folder: str | None, problems: list[ModelProblem]) -> list[Geometry]:
    """The geometry of all links under a <robot> element, in the file's order; what is wrong with it becomes a note.

    Paths of meshes stay as they are written; relative ones start at `folder`.
    """
    colors = _named_colors(root, problems)
    found = []
    for link in root.children("link"):
        for node in link.children(*ROLES):
            try:
                geometry = _geometry(node, link.text("name"), folder)
            except FormatError as error:
                element = f"link {link.get('name')!r}"
                problems.append(
                    ModelProblem(element, f"has geometry that cannot be read ({error})", LEFT_OUT, severity="note")
                )
                continue
            found.append(replace(geometry, color=_color(node, colors, problems)) if node.tag == "visual" else geometry)
    return found


def _geometry(node: XmlElement, link: str, folder: str | None) -> Geometry:
    holder = next(node.children("geometry"), None)
    element = None if holder is None else next(holder.children(), None)
    if element is None:
        raise node.error("needs a <geometry> element with a shape in it")
    shape = _shape(element, folder)
    wrong = objection(shape)
    if wrong:
        raise element.error(wrong)
    role = "visual" if node.tag == "visual" else "collision"
    return Geometry(link, shape, _origin(node), role, name=(node.get("name") or "").strip() or None)  # type: ignore[arg-type]


def _shape(node: XmlElement, folder: str | None) -> Shape:
    if node.tag == "box":
        return Box(Vector(*node.vector("size", 3)))
    if node.tag == "sphere":
        return Sphere(node.number("radius"))
    if node.tag == "cylinder":
        return Cylinder(node.number("radius"), node.number("length"))
    if node.tag == "capsule":
        return Capsule(node.number("radius"), node.number("length"))
    if node.tag == "mesh":
        scale = node.numbers("scale") or [1.0]
        return Mesh(node.text("filename"), Vector(*(scale * 3 if len(scale) == 1 else node.vector("scale", 3))), folder)
    raise node.error("is no shape of URDF, which has box, sphere, cylinder, capsule and mesh")


def _origin(node: XmlElement) -> Transform:
    origin = next(node.children("origin"), None)
    zeros = (0.0, 0.0, 0.0)
    return pose(*((origin.vector(key, 3, zeros) if origin else zeros) for key in ("xyz", "rpy")))


def _named_colors(root: XmlElement, problems: list[ModelProblem]) -> dict[str, Color]:
    """Colors of materials with a name: those of the robot, and those that a link defines first."""
    own = [*root.children("material")]
    visuals = (visual for link in root.children("link") for visual in link.children("visual"))
    inner = (node for visual in visuals for node in visual.children("material"))
    colors: dict[str, Color] = {}
    for node in (*own, *inner):
        name = (node.get("name") or "").strip()
        if name and name not in colors:
            color = _own_color(node, problems if node in own else [])
            if color is not None:
                colors[name] = color
    return colors


def _color(node: XmlElement, colors: Mapping[str, Color], problems: list[ModelProblem]) -> Color | None:
    """The color of a visual: that of its own material, or of the material that it names."""
    material = next(node.children("material"), None)
    if material is None:
        return None
    return _own_color(material, problems) or colors.get((material.get("name") or "").strip())


def _own_color(material: XmlElement, problems: list[ModelProblem]) -> Color | None:
    node = next(material.children("color"), None)
    if node is None:
        return None
    try:
        red, green, blue, opacity = node.vector("rgba", 4)
        if not all(0 <= x <= 1 for x in (red, green, blue, opacity)):
            raise node.error(f"rgba={node.get('rgba')!r} should be four numbers between 0 and 1")
    except FormatError as error:
        problems.append(ModelProblem(node.where, f"cannot be read ({error})", LEFT_OUT, severity="note"))
        return None
    return red, green, blue, opacity


# --- writing -------------------------------------------------------------------------------------------------------


def write_geometry(link: etree._Element, geometry: Geometry, materials: dict[Color, str]) -> None:
    """Add a <visual> or <collision> to a link; `materials` has the name of each color so far."""
    element = etree.SubElement(link, geometry.role)
    if geometry.name is not None:
        element.set("name", geometry.name)
    xyz, rpy = geometry.origin.translation, geometry.origin.rotation.rpy()
    etree.SubElement(element, "origin", xyz=words(xyz), rpy=words(rpy))
    _write_shape(etree.SubElement(element, "geometry"), geometry.shape)
    if geometry.color is not None and geometry.role == "visual":
        name = materials.setdefault(geometry.color, f"color{len(materials) + 1}")
        material = etree.SubElement(element, "material", name=name)
        etree.SubElement(material, "color", rgba=words(geometry.color))


def _write_shape(holder: etree._Element, shape: Shape) -> None:
    if isinstance(shape, Box):
        etree.SubElement(holder, "box", size=words(shape.size))
    elif isinstance(shape, Sphere):
        etree.SubElement(holder, "sphere", radius=repr(float(shape.radius)))
    elif isinstance(shape, Mesh):
        etree.SubElement(holder, "mesh", filename=shape.path, scale=words(shape.scale))
    elif isinstance(shape, (Cylinder, Capsule)):
        numbers = {"radius": repr(float(shape.radius)), "length": repr(float(shape.length))}
        etree.SubElement(holder, type(shape).__name__.lower(), numbers)


def words(numbers: Iterable[float]) -> str:
    """Numbers as an attribute has them, exactly."""
    return " ".join(repr(float(x)) for x in numbers)
