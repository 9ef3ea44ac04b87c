"""The visual geometry of a robot as parts: shapes and meshes of its file, or what is drawn of links without them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from chainrule.core.mechanism import Mechanism
from chainrule.errors import ChainruleError, FormatError
from chainrule.formats import packages
from chainrule.model import Model
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Role, Shape, Sphere
from chainrule.plots.skeleton import matrix
from chainrule.studio.scene import surfaces
from chainrule.studio.scene.appearance import COLLISION, SHELL, SHELL_SECOND
from chainrule.studio.scene.meshes import ColoredSurface, read_mesh
from chainrule.studio.scene.parts import Part, merge, model_parts
from chainrule.studio.scene.surfaces import Surface

STYLES = ("visual", "model", "collision")
"""What is drawn of a robot: its visual geometry, what the model itself gives, or its collision geometry."""


class Drawing(NamedTuple):
    """The parts of a robot in one style, and a sentence for each piece of geometry that could not be drawn."""

    parts: tuple[Part, ...]
    problems: tuple[str, ...] = ()


def drawing(robot: Mechanism, style: str = "visual") -> Drawing:
    """The parts of a robot in a style; links whose meshes cannot be read are drawn from the model, and all without any.

    Worked out once for a robot, and shared by all tabs that show it.
    """
    if style == "model":
        return Drawing(model_parts(robot))
    role: Role = "collision" if style == "collision" else "visual"
    return robot.remember(f"studio {role} parts", lambda: _drawing(robot, role))


def has(robot: Mechanism, role: str) -> bool:
    """Whether a robot has geometry of this role."""
    return any(geometry.role == role for geometry in robot.model.geometries)


def _drawing(robot: Mechanism, role: Role) -> Drawing:
    problems: list[str] = []
    found = list(_parts(robot.model, role, problems))
    if not found and role == "visual":
        return Drawing(model_parts(robot), tuple(problems))
    seen = {part.link for part in found}
    wanted = {robot.model.index_of.get(geometry.link) for geometry in robot.model.geometries if geometry.role == role}
    found += [part for part in model_parts(robot) if part.link in wanted - seen]
    return Drawing(tuple(merge(found)), tuple(problems))


def _parts(model: Model, role: Role, problems: list[str]) -> Iterator[Part]:
    for geometry in model.geometries:
        link = model.index_of.get(geometry.link)
        if geometry.role != role or link is None:
            continue
        try:
            pieces = _pieces(geometry.shape)
        except (ChainruleError, OSError, ValueError) as error:
            problems.append(f"{geometry.link}: {error}")
            continue
        T = matrix(geometry.origin)
        for piece in pieces:
            yield _part(link, geometry, piece._replace(surface=piece.surface.at(T)))


def _part(link: int, geometry: Geometry, piece: ColoredSurface) -> Part:
    if geometry.role == "collision":
        return Part(link, piece.surface, COLLISION, 0.45)
    if geometry.color is not None:
        red, green, blue, opacity = (float(x) for x in geometry.color)
        return Part(link, piece.surface, (round(255 * red), round(255 * green), round(255 * blue)), opacity)
    color = piece.color if piece.color is not None else SHELL if link % 2 else SHELL_SECOND
    return Part(link, piece.surface, color, piece.opacity)


def _pieces(shape: Shape) -> tuple[ColoredSurface, ...]:
    """The surfaces of a shape; none of a plane, since the scene has a ground of its own."""
    if isinstance(shape, Mesh):
        return _mesh_pieces(shape)
    surface = _surface_of(shape)
    return () if surface is None else (ColoredSurface(surface, None, 1.0),)


def _surface_of(shape: Shape) -> Surface | None:
    zero = np.zeros(3)
    if isinstance(shape, Box):
        return surfaces.box(np.array([float(x) for x in shape.size]))
    if isinstance(shape, Sphere):
        return surfaces.ball(zero, float(shape.radius))
    if isinstance(shape, Ellipsoid):
        return surfaces.ball(zero, np.array([float(x) for x in shape.radii]))
    if isinstance(shape, (Cylinder, Capsule)):
        half = np.array([0.0, 0.0, float(shape.length) / 2])
        make = surfaces.cylinder if isinstance(shape, Cylinder) else surfaces.capsule
        return make(-half, half, float(shape.radius))
    return None


def mesh_path(mesh: Mesh) -> Path:
    """The file of a mesh, found as the formats layer finds it; refused where there is none."""
    folder = None if mesh.folder is None else Path(mesh.folder)
    path = packages.resolve(mesh.path, folder)
    if path is None and mesh.path.startswith("package:///"):  # a slash too many, as in files that Pinocchio reads
        path = packages.resolve(mesh.path.replace(":///", "://", 1), folder)
    if path is None:
        raise FormatError(f"the mesh {mesh.path!r} is not found")
    return path


def _mesh_pieces(mesh: Mesh) -> tuple[ColoredSurface, ...]:
    scale = np.array([float(x) for x in mesh.scale])
    turned = bool(np.prod(scale) < 0)  # a mirrored surface is turned inside out
    found = []
    for piece in read_mesh(mesh_path(mesh)):
        triangles = piece.surface.triangles[:, ::-1] if turned else piece.surface.triangles
        found.append(piece._replace(surface=Surface(piece.surface.corners * scale, triangles)))
    return tuple(found)
