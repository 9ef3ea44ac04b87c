"""Geoms of an MJCF model as geometry of links.

A geom that takes part in no contact (contype and conaffinity both 0) is visual, any other is collision. Mesh geoms
stand where the file puts them, in the axes of the mesh file; MuJoCo moves them to the mesh's center of mass instead.
"""

from __future__ import annotations

from chainrule.errors import FormatError
from chainrule.formats.mjcf.defaults import Defaults, StyledNode
from chainrule.formats.mjcf.document import Document, word
from chainrule.formats.mjcf.geoms import SIZES, WEIGHTLESS, Geoms
from chainrule.formats.mjcf.inertia import PosedNode
from chainrule.formats.mjcf.settings import Settings, quaternion
from chainrule.formats.xml import Node
from chainrule.model import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere
from chainrule.model.geometry import Color, objection
from chainrule.spatial import Quaternion, Transform, Vector


class Appearance:
    """The geoms of a document as geometry; what cannot be kept is counted, and told in one note each."""

    def __init__(self, document: Document, defaults: Defaults, settings: Settings, geoms: Geoms) -> None:
        self._document = document
        self._settings = settings
        self._geoms = geoms
        self._materials = {
            node.get("name"): node for node in map(defaults.with_class, document.entries("asset", "material"))
        }
        self._left_out: dict[str, list[str]] = {}

    def of(self, link: str, geom: PosedNode) -> list[Geometry]:
        """The geometry of one geom, in frames T of a body; none where it cannot be kept."""
        node, T = geom
        try:
            found = self._shape(node)
        except FormatError as error:
            self._leave_out(node, str(error))
            return []
        if found is None:
            return []
        origin, shape = found
        contacts = node.number("contype", 1.0) or node.number("conaffinity", 1.0)
        role, name = ("collision" if contacts else "visual"), node.get("name") or None
        return [Geometry(link, shape, T * origin, role, self._color(node), name)]  # type: ignore[arg-type]

    def notes(self) -> list[str]:
        """A note for each reason why geoms are not kept."""
        return [
            f"{len(geoms)} geom{'s' if len(geoms) > 1 else ''} ({', '.join(geoms[:3])}{', ...' * (len(geoms) > 3)}) "
            f"left out of the geometry: {reason}"
            for reason, geoms in self._left_out.items()
        ]

    def _leave_out(self, node: Node, reason: str) -> None:
        name = node.get("name")
        label = repr(name) if name else f"in line {node.element.sourceline}"
        self._left_out.setdefault(reason, []).append(label)

    def _shape(self, node: Node) -> tuple[Transform, Shape] | None:
        """The pose of the shape in the frame of the geom's parent, and the shape."""
        type_ = word(node, "type", (*SIZES, *WEIGHTLESS, "mesh", "sdf"), "sphere")
        if type_ == "plane":
            x, y = [*(node.numbers("size") or []), 0.0, 0.0][:2]
            return self._settings.pose(node), Plane(*(2 * half if half > 0 else float("inf") for half in (x, y)))
        if type_ == "mesh":
            return self._mesh(node)
        if node.get("mesh") is not None:
            self._leave_out(node, "shapes fitted to a mesh are not computed here")
            return None
        if type_ not in SIZES:
            self._leave_out(node, f"a geom of the type {type_!r} is no shape here")
            return None
        T, size = self._geoms.extent(node, type_)
        return T, _primitive(type_, [float(x) for x in size])

    def _mesh(self, node: Node) -> tuple[Transform, Shape] | None:
        asset = self._geoms.asset(node)
        if asset.get("file") is None:
            self._leave_out(node, "meshes without a file of their own are not kept")
            return None
        scale = Vector(*asset.vector("scale", 3, (1.0, 1.0, 1.0)))
        moved = _reference(asset, scale)
        if moved is None:
            self._leave_out(node, "a mesh that is turned (refquat) and then scaled by different factors is not kept")
            return None
        folder, path = self._geoms.place(asset)
        mesh = Mesh(path, scale, None if folder is None else str(folder.absolute()))
        wrong = objection(mesh)
        if wrong:
            raise asset.error(wrong)
        return self._settings.pose(node) * moved, mesh

    def _color(self, node: Node) -> Color | None:
        """The geom's own color, or that of its material."""
        for holder in (node, self._materials.get(node.get("material"))):
            numbers = None if holder is None else holder.numbers("rgba")
            if numbers is not None and len(numbers) == 4:
                red, green, blue, opacity = (min(max(x, 0.0), 1.0) for x in numbers)
                return red, green, blue, opacity
        return None


def _reference(asset: StyledNode, scale: Vector) -> Transform | None:
    """The pose of the file's scaled axes in those of the mesh: vertices are S R^T (v - p), with refpos p, refquat R."""
    p = Vector(*asset.vector("refpos", 3, (0.0, 0.0, 0.0)))
    turn = quaternion(asset, "refquat") if asset.get("refquat") is not None else Quaternion.identity()
    back = turn.rotation().inv
    even = scale.x == scale.y == scale.z
    if not even and back != Transform.identity().rotation:
        return None
    return Transform(back, -(back * Vector(p.x * scale.x, p.y * scale.y, p.z * scale.z)))


def _primitive(type_: str, size: list[float]) -> Shape:
    """A primitive; MJCF's sizes are radii and half lengths."""
    if type_ == "sphere":
        return Sphere(size[0])
    if type_ == "box":
        return Box(Vector(*size) * 2.0)
    if type_ == "ellipsoid":
        return Ellipsoid(Vector(*size))
    return (Capsule if type_ == "capsule" else Cylinder)(size[0], 2 * size[1])
