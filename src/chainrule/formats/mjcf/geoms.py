"""Masses and inertias of MJCF geoms, which give a body its inertia when it has no <inertial>."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np

from chainrule.errors import FormatError, UnknownNameError
from chainrule.formats.meshes import Mesh, load, mesh_inertia
from chainrule.formats.mjcf.defaults import Defaults, StyledNode
from chainrule.formats.mjcf.document import Document, flag, word
from chainrule.formats.mjcf.settings import MIN_SQUARE, Settings, quaternion, rotation_from_z_to
from chainrule.formats.source import may_read
from chainrule.formats.xml import Node
from chainrule.spatial import Inertia, Quaternion, Transform, Vector
from chainrule.spatial.shapes import box, capsule, cylinder, ellipsoid, sphere

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
"""The number of sizes of each primitive."""

MIN_SIZE = 1e-60
"""Size (m) below which, and above whose inverse, a float cannot hold the volume."""

SEGMENTS = ("capsule", "cylinder", "box", "ellipsoid")
"""Shapes that can be given by the two ends of their axis."""

SITE_SIZE = 0.005
"""MuJoCo's default size (m) of a site."""

WEIGHTLESS = ("plane", "hfield")

DEFAULT_DENSITY = 1000.0
"""MuJoCo's default density (kg/m^3), that of water."""

_REMEDY = "give its body an <inertial>"


class Geoms:
    """Inertias of the geoms of a document; a mesh file is read when it is first needed."""

    def __init__(self, document: Document, defaults: Defaults, settings: Settings) -> None:
        self._document = document
        self._settings = settings
        self._assets: dict[str, StyledNode] = {}
        self._meshes: dict[tuple[str, str], Inertia] = {}
        for node in document.entries("asset", "mesh"):
            asset = defaults.with_class(node)
            name = asset.get("name") or PurePosixPath(PureWindowsPath(asset.get("file") or "").as_posix()).stem
            if not name:
                raise node.error("has neither a name nor a file to be named after")
            if name in self._assets:
                raise node.error(f"there are two meshes named {name!r}; give each a name of its own")
            self._assets[name] = asset

    def counts(self, geom: Node) -> bool:
        """Whether this geom is in the compiler's range of groups, and so has mass."""
        low, high = self._settings.geom_groups
        return low <= geom.number("group", 0.0) <= high

    def inertia(self, geom: Node) -> Inertia:
        """Inertia of a geom about the origin of the frame that contains it."""
        type_ = word(geom, "type", (*SIZES, *WEIGHTLESS, "mesh", "sdf"), "sphere")
        mass = None if geom.get("mass") is None else geom.number("mass")
        density = geom.number("density", DEFAULT_DENSITY)
        if density < 0 or (mass is not None and mass < 0):
            raise geom.error("has a negative mass or density")
        if type_ in WEIGHTLESS or mass == 0 or (mass is None and density == 0):
            return Inertia.zero()
        if type_ == "mesh":
            T, unit = self._settings.pose(geom), self._mesh(geom)
        else:
            T, unit = self._primitive(geom, type_)
        factor = density if mass is None else mass / unit.mass
        return T * Inertia(unit.mass * factor, unit.moment * factor, unit.inertia.scale(factor))

    def _primitive(self, geom: Node, type_: str) -> tuple[Transform, Inertia]:
        """The pose of the shape, and its inertia at density one."""
        if type_ == "sdf":
            raise geom.error(f"is a signed distance field, whose inertia is not computed here; {_REMEDY}")
        if geom.get("mesh") is not None:
            raise geom.error(f"is a {type_} fitted to a mesh, which is not done here; {_REMEDY}, or write type='mesh'")
        if flag(geom, "shellinertia"):
            raise geom.error(f"is a hollow {type_} (shellinertia), whose inertia is not computed here; {_REMEDY}")
        T, size = self.extent(geom, type_)
        return T, _unit(type_, size)

    def extent(self, geom: Node, type_: str) -> tuple[Transform, Sequence[float]]:
        """The pose of a primitive, and its sizes: radii and half lengths."""
        size = geom.numbers("size") or []
        if len(size) > 3:
            raise geom.error(f"size={geom.get('size')!r} should be at most 3 numbers, got {len(size)}")
        if geom.get("fromto") is None:
            return self._settings.pose(geom), _check_size(geom, type_, size)
        T, half = segment_frame(geom)
        sizes = [*size[:1], half] if SIZES[type_] == 2 else [*size[:1], *size[:1], half]
        return T, _check_size(geom, type_, sizes)

    def asset(self, geom: Node) -> StyledNode:
        """The <mesh> that a geom names."""
        name = geom.text("mesh")
        if name not in self._assets:
            raise geom.error(str(UnknownNameError.of("mesh", name, self._assets, "the model's <asset>")))
        return self._assets[name]

    def _mesh(self, geom: Node) -> Inertia:
        """The mesh of a geom at density one, about the origin of its vertices."""
        name, asset = geom.text("mesh"), self.asset(geom)
        mode = word(asset, "inertia", ("legacy", "exact", "convex", "shell"), "legacy")
        if flag(geom, "shellinertia"):
            raise geom.error("is a mesh, for which shellinertia is given as inertia='shell' of the <mesh> asset")
        if mode == "convex" and asset.number("maxhullvert", -1.0) > 0:
            raise asset.error(f"limits the vertices of its hull (maxhullvert), which is not done here; {_REMEDY}")
        if (name, mode) not in self._meshes:
            mesh = self._vertices(asset, geom)
            try:
                self._meshes[name, mode] = mesh_inertia(mesh, mode)
            except FormatError as error:
                raise asset.error(f"{error}; repair the mesh, or for geom {_label(geom)} {_REMEDY}") from error
        return self._meshes[name, mode]

    def _vertices(self, asset: StyledNode, geom: Node) -> Mesh:
        """The mesh as the model places it: moved by refpos and refquat, then scaled."""
        mesh = self._read_asset(asset, geom)
        refpos = asset.vector("refpos", 3, (0.0, 0.0, 0.0))
        turn = quaternion(asset, "refquat") if asset.get("refquat") is not None else Quaternion.identity()
        scale = np.array(asset.vector("scale", 3, (1.0, 1.0, 1.0)))
        R = np.array([list(row) for row in turn.rotation()], dtype=float)
        points = (mesh.points - refpos) @ R * scale
        return Mesh(points, mesh.triangles[:, ::-1]) if scale.prod() < 0 else replace(mesh, points=points)

    def _read_asset(self, asset: StyledNode, geom: Node) -> Mesh:
        if asset.get("builtin") is not None or (asset.get("vertex") is None and asset.get("file") is None):
            raise asset.error(f"is made by MuJoCo, not read from a file; for geom {_label(geom)} {_REMEDY}")
        if asset.get("file") is None:
            points = np.array(asset.numbers("vertex"), dtype=float)
            faces = np.array(asset.numbers("face") or [], dtype=float)
            indices = np.arange(points.size // 3)
            if points.size % 3 or faces.size % 3 or not np.isin(faces, indices).all():
                raise asset.error(
                    "vertex should be x y z for each vertex, and face three indices of them for each triangle"
                )
            return Mesh(points.reshape(-1, 3), faces.reshape(-1, 3).astype(np.int64))
        folder, file = self.place(asset)
        path = self._document.path_of(asset, file) if folder is None else folder / file
        try:
            return load(path)
        except FormatError as error:
            raise geom.error(
                f"needs its mesh file {path} for the inertia of its body, and that cannot be used: {error}. "
                f"Put the file there, or {_REMEDY}"
            ) from error

    def place(self, asset: StyledNode) -> tuple[Path | None, str]:
        """The folder at which the path of a mesh starts, None for a model given as text, and the path.

        That is the path in the compiler's meshdir, from the folder of the main file, or, as in MuJoCo, the plain path
        from the folder of the file that has the <mesh>, if it is there only.
        """
        file = asset.text("file")
        if self._settings.strip_paths:
            file = PureWindowsPath(file).name
        inner = (Path(self._settings.mesh_folder or self._settings.asset_folder or "") / file).as_posix()
        folder, own = self._document.folder, self._document.folder_of(asset)
        if folder is None or own is None or (folder / inner).is_file() or not may_read(own / file):
            return folder, inner
        return (own, file) if (own / file).is_file() else (folder, inner)


def refuse_shape(node: Node) -> None:
    """An error for a geom or site whose shape MuJoCo refuses, whether or not it has mass."""
    others = ("mesh",) if node.tag == "site" else (*WEIGHTLESS, "mesh", "sdf")
    type_ = word(node, "type", (*SIZES, *others), "sphere")
    segment = node.get("fromto") is not None
    if segment and type_ not in SEGMENTS:
        raise node.error(f"has fromto, which only {', '.join(SEGMENTS[:-1])} and {SEGMENTS[-1]} can have")
    if segment and any(node.vector("pos", 3, (0.0, 0.0, 0.0))):
        raise node.error("gives both pos and fromto; keep one")
    if type_ in SIZES and node.get("mesh") is None:
        size = node.numbers("size") or []
        if node.tag == "site":
            size = [*size, *[SITE_SIZE] * 3][:3]
        _check_size(node, type_, [*size[:1], 1.0, 1.0] if segment and size else size)


def segment_frame(node: Node) -> tuple[Transform, float]:
    """The frame in the middle of fromto's two points with z from the second to the first, and half the distance."""
    numbers = node.vector("fromto", 6)
    start, end = Vector(*numbers[:3]), Vector(*numbers[3:])
    along = start - end
    length = along.norm()
    if not MIN_SQUARE < length * length < math.inf:
        raise node.error("fromto gives the same point twice, or points that are too far apart")
    return Transform(rotation_from_z_to(along / length), (start + end) / 2), length / 2


def _check_size(geom: Node, type_: str, size: Sequence[float]) -> Sequence[float]:
    count = SIZES[type_]
    if len(size) < count or not all(MIN_SIZE < x < 1 / MIN_SIZE for x in size[:count]):
        raise geom.error(
            f"a {type_} needs {count} positive size{'s' if count > 1 else ''}, got size={geom.get('size')!r}"
        )
    return size[:count]


def _unit(type_: str, size: Sequence[float]) -> Inertia:
    """A primitive of density one; MJCF's sizes are radii and half lengths."""
    if type_ == "box":
        x, y, z = size
        return box(8 * x * y * z, 2 * x, 2 * y, 2 * z)
    if type_ == "ellipsoid":
        x, y, z = size
        return ellipsoid(math.pi * 4 / 3 * x * y * z, x, y, z)
    r = size[0]
    ball = math.pi * 4 / 3 * r**3
    if type_ == "sphere":
        return sphere(ball, r)
    length = 2 * size[1]
    tube = math.pi * r * r * length
    return cylinder(tube, r, length) if type_ == "cylinder" else capsule(tube + ball, r, length)


def _label(geom: Node) -> str:
    name = geom.get("name")
    return repr(name) if name else f"in line {geom.element.sourceline}"
