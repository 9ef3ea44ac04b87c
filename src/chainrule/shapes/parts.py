"""The parts of a robot that are drawn: the shapes and meshes of its links, or bars, plates and joints of its model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ChainruleError, FormatError, ModelWarning, warn_user
from chainrule.formats import packages
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Shape, Sphere
from chainrule.shapes import surfaces
from chainrule.shapes.meshes import Color, ColoredSurface, read_mesh
from chainrule.shapes.skeleton import JointPlace, Skeleton, at, skeleton
from chainrule.shapes.surfaces import Fineness, Surface


class Look(NamedTuple):
    """The proportions and the fineness of what is drawn; each medium has its own."""

    radius: float
    """Half the thickness of a link at the base, as a part of the robot's reach."""
    slimming: float
    """The part of its thickness that a chain loses from the base to the tip."""
    fineness: Fineness
    triangles: int
    """Triangles that are drawn of one mesh; a finer one is made coarser."""
    detail: bool = True
    """Whether edges are soft, the axes of joints have rings, and meshes are shaded smoothly between creases."""


@dataclass(frozen=True, eq=False)
class Part:
    """A surface on a link, in the link's frame."""

    link: int
    surface: Surface
    role: str
    """"base", "foot", "link", "joint", "ring", "tie", "chassis", "wheel", "slide", "rod"; "visual", "collision"."""
    name: str
    """The name of the link, joint or constraint that it stands for."""
    color: Color | None = None
    """The color that the robot's files give it; None for that of its role."""
    opacity: float = 1.0


class Drawing(NamedTuple):
    """The parts of a robot, and a sentence for each piece of geometry that could not be drawn."""

    parts: tuple[Part, ...]
    problems: tuple[str, ...] = ()
    has_geometry: bool = False
    """Whether any of the parts is geometry of the robot's files."""


def problems_in_words(problems: Sequence[str]) -> str:
    """The parts that could not be drawn, in a sentence; empty where all could."""
    if not problems:
        return ""
    rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{rest}; such links are drawn from the model"


def warn_of_problems(robot: Mechanism, problems: Sequence[str]) -> None:
    """Warn of what could not be drawn, once for a robot."""
    if problems:
        said = f"robot {robot.name!r}: {problems_in_words(problems)}"
        remember(robot, "warned of geometry", lambda: warn_user(said, ModelWarning))


class Bar(NamedTuple):
    """A bar that changes its length with the posture: a slide that has moved out, or a rod of a constraint."""

    role: str
    name: str
    radius: float
    links: tuple[int, int]
    points: tuple[Array, Array]
    """Its ends, each in the frame of its link."""

    def ends(self, poses: Array) -> Array:
        """Its ends (2, 3) in the base frame, for the poses (links, 4, 4) of all links."""
        return np.stack([at(poses[link], point) for link, point in zip(self.links, self.points, strict=True)])


def drawing(robot: Mechanism, look: Look) -> Drawing:
    """The visual geometry; where it cannot be read, links are drawn from the model, and all where there is none.

    Worked out once for a robot.
    """
    return remember(robot, ("drawing", look), lambda: _drawing(robot, look))


def _drawing(robot: Mechanism, look: Look) -> Drawing:
    problems: list[str] = []
    found = list(_geometry_parts(robot, look, problems))
    model = model_parts(robot, look)
    if not found:
        return Drawing(model, tuple(problems))
    seen = {part.link for part in found}
    wanted = {
        robot.model.index_of.get(geometry.link) for geometry in robot.model.geometries if geometry.role == "visual"
    }
    missing = [part for part in model if part.link in wanted - seen]
    return Drawing((*found, *missing), tuple(problems), bool(found))


def model_parts(robot: Mechanism, look: Look) -> tuple[Part, ...]:
    """The parts of a robot drawn from its model alone."""
    return remember(robot, ("model parts", look), lambda: tuple(_model_parts(robot, look)))


def bars(robot: Mechanism, look: Look, *, slides: bool) -> tuple[Bar, ...]:
    """The rods of constraints, and the slides of joints where nothing else shows them."""
    frame, radii = skeleton(robot), link_radii(robot, look)
    found = [
        Bar("rod", tie.name, 0.6 * float(radii[tie.link_a]), (tie.link_a, tie.link_b), (tie.in_a, tie.in_b))
        for tie in frame.ties
        if tie.kind == "distance"
    ]
    for joint in frame.joints if slides else ():
        if joint.kind == "slides":
            r = 0.6 * float(radii[joint.child])
            ends = (joint.parent, joint.child), (joint.in_parent, joint.in_child)
            found.append(Bar("slide", joint.name, r, *ends))
    return tuple(found)


def link_radii(robot: Mechanism, look: Look) -> Array:
    """Half the thickness of each link, in m: (links,); thinner from joint to joint towards the tips."""
    depth = np.zeros(len(robot.model.links))
    for body in robot.model.bodies:
        depth[body.index] = depth[body.parent] + bool(body.joint.kind.nv)
    share = depth / max(float(depth.max()), 1.0)
    return look.radius * skeleton(robot).reach * (1 - look.slimming * share)


def up_direction(robot: Mechanism) -> Array:
    """The unit vector against gravity, in base axes; z where there is no gravity."""
    g = np.asarray(robot.gravity, dtype=float)
    return -g / np.linalg.norm(g) if g.any() else np.array([0.0, 0.0, 1.0])


# --- from the model ---


def _model_parts(robot: Mechanism, look: Look) -> Iterator[Part]:
    frame, radii = skeleton(robot), link_radii(robot, look)
    chassis = {body.index for body in robot.model.bodies if body.joint.type == "planar"}
    carriers = {joint.parent for joint in frame.joints}
    for k in range(len(frame.links)):
        if k not in chassis - carriers:  # a chassis alone needs no bar to its center of mass
            yield from _link_parts(robot, look, frame, radii, k)
    for body in robot.model.bodies:
        if body.index in chassis:
            yield from _chassis_parts(body.index, body.link.name, float(radii[body.index]), look)
    for joint in frame.joints:
        yield from _joint_parts(joint, float(radii[joint.child]), look)
    for tie in frame.ties:
        for link, point in ((tie.link_a, tie.in_a), (tie.link_b, tie.in_b)):
            joint_ball = surfaces.ball(point, 1.25 * float(radii[tie.link_a]), look.fineness)
            yield Part(link, joint_ball, "tie", tie.name)


def _cylinder(look: Look, start: Array, end: Array, radius: float, bevel: float = 0.0) -> Surface:
    return surfaces.cylinder(start, end, radius, bevel * look.detail, look.fineness)


def _link_parts(robot: Mechanism, look: Look, frame: Skeleton, radii: Array, k: int) -> Iterator[Part]:
    link, r, name = frame.links[k], float(radii[k]), robot.model.links[k].name
    role = "link" if k else "base"
    if link.plate:
        yield Part(k, surfaces.plate(link.points[list(link.plate)], 0.9 * r), role, name)
    children = {tuple(joint.in_parent): joint.child for joint in frame.joints if joint.parent == k}
    for a, b in link.bars:
        ends = link.points[a], link.points[b]
        last = min(r, float(radii[children.get(tuple(ends[1]), k)]))
        bar = surfaces.capsule(*ends, r, last, look.fineness) if k else _cylinder(look, *ends, r)
        yield Part(k, bar, role, name)
    if k == 0 and not link.plate and any(joint.parent == 0 and joint.kind != "fixed" for joint in frame.joints):
        up = up_direction(robot)
        foot = link.points[int(np.argmin(link.points @ up))]
        lying = any(
            joint.axis_in_parent is not None
            and abs(joint.axis_in_parent @ up) < 0.5
            and np.allclose(joint.in_parent, foot)
            for joint in frame.joints
            if joint.parent == 0
        )
        if lying:  # a joint that turns about a level axis stands on a short column
            yield Part(0, _cylinder(look, foot - 2.6 * r * up, foot, 0.8 * r), "foot", name)
            foot = foot - 2.6 * r * up
        yield Part(0, _cylinder(look, foot, foot + 0.9 * r * up, 2.3 * r, 0.25 * r), "foot", name)


def _chassis_parts(link: int, name: str, r: float, look: Look) -> Iterator[Part]:
    """A round chassis with two wheels, for a link that drives on the ground."""
    up = np.array([0.0, 0.0, 1.0])
    yield Part(link, _cylinder(look, 0.7 * r * up, 2.6 * r * up, 5.5 * r, 0.5 * r), "chassis", name)
    for side in (-1.0, 1.0):
        wheel, half = np.array([0.0, 5.2 * side * r, 1.8 * r]), np.array([0.0, 0.5 * r, 0.0])
        yield Part(link, _cylinder(look, wheel - half, wheel + half, 1.8 * r, 0.3 * r), "wheel", name)
    nose = np.array([4.4 * r, 0.0, 2.6 * r])
    yield Part(link, _cylinder(look, nose, nose + 0.1 * r * up, 0.5 * r), "ring", name)


def _joint_parts(joint: JointPlace, r: float, look: Look) -> Iterator[Part]:
    if joint.kind == "turns" and joint.axis is not None:
        half, rim = 1.5 * r * joint.axis, 0.18 * r * joint.axis
        here = joint.in_child
        yield Part(joint.child, _cylinder(look, here - half, here + half, 1.35 * r, 0.3 * r), "joint", joint.name)
        for side in (-1, 1) if look.detail else ():
            ring = here + side * (half - 2.6 * rim)
            yield Part(joint.child, _cylinder(look, ring - rim, ring + rim, 1.38 * r), "ring", joint.name)
    elif joint.kind == "slides" and joint.axis_in_parent is not None:
        sleeve = surfaces.box(np.array([2.7 * r, 2.7 * r, 3.4 * r]))
        placed = sleeve.at(surfaces.pose_along(joint.in_parent, joint.axis_in_parent))
        yield Part(joint.parent, placed, "joint", joint.name)
    elif joint.kind == "ball":
        yield Part(joint.child, surfaces.ball(joint.in_child, 1.5 * r, look.fineness), "joint", joint.name)


# --- from the geometry of its files ---


def _geometry_parts(robot: Mechanism, look: Look, problems: list[str]) -> Iterator[Part]:
    for k, geometry in enumerate(robot.model.geometries):
        link = robot.model.index_of.get(geometry.link)
        if geometry.role != "visual" or link is None:
            continue
        try:
            pieces = _pieces(geometry.shape, look)
        except (ChainruleError, OSError, ValueError) as error:
            problems.append(f"{geometry.link}: {error}")
            continue
        T, own = np.array(geometry.origin), _own_color(geometry)
        for piece in pieces:
            color, opacity = (piece.color, piece.opacity) if own is None else own
            yield Part(link, piece.surface.at(T), "visual", geometry.name or f"{geometry.link} {k}", color, opacity)


def _own_color(geometry: Geometry) -> tuple[Color, float] | None:
    if geometry.color is None:
        return None
    red, green, blue, opacity = (min(max(float(x), 0.0), 1.0) for x in geometry.color)
    return (round(255 * red), round(255 * green), round(255 * blue)), opacity


def _pieces(shape: Shape, look: Look) -> tuple[ColoredSurface, ...]:
    """The surfaces of a shape; none of a plane, since pictures have a ground of their own."""
    if isinstance(shape, Mesh):
        scale = np.array([float(x) for x in shape.scale])
        turned = bool(np.prod(scale) < 0)  # a mirrored surface is turned inside out
        pieces = read_mesh(mesh_path(shape), look.triangles, creased=look.detail)
        return tuple(piece._replace(surface=_scale_mesh(piece.surface, scale, turned)) for piece in pieces)
    surface = surface_of(shape, look.fineness)
    return () if surface is None else (ColoredSurface(surface, None, 1.0),)


def _scale_mesh(surface: Surface, scale: Array, turned: bool) -> Surface:
    faces = surface.faces[:, [1, 0, 3, 2]] if turned else surface.faces
    return Surface(surface.corners * scale, faces, surface.convex, surface.smooth)


def surface_of(shape: Shape, fineness: Fineness) -> Surface | None:
    """The surface of a shape about its origin; None of a plane and of a mesh."""
    zero = np.zeros(3)
    if isinstance(shape, Box):
        return surfaces.box(np.array([float(x) for x in shape.size]))
    if isinstance(shape, Sphere):
        return surfaces.ball(zero, float(shape.radius), fineness)
    if isinstance(shape, Ellipsoid):
        return surfaces.ball(zero, np.array([float(x) for x in shape.radii]), fineness)
    if isinstance(shape, (Cylinder, Capsule)):
        half = np.array([0.0, 0.0, float(shape.length) / 2])
        make = surfaces.cylinder if isinstance(shape, Cylinder) else surfaces.capsule
        return make(-half, half, float(shape.radius), fineness=fineness)
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
