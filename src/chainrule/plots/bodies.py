"""The bodies of a robot as they are drawn: its visual geometry, or bars, plates and joints made of its skeleton."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.arguments import Array, one_of
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ChainruleError
from chainrule.formats import meshes, packages
from chainrule.plots import solids
from chainrule.plots.canvas import BASE_COLOR, BODY_COLORS, JOINT_COLOR, SLIDE_COLOR, TIE_COLOR
from chainrule.plots.skeleton import JointPlace, Skeleton, TiePlace, matrix, skeleton
from chainrule.plots.solids import Solid

STYLES = ("auto", "visual", "capsules", "lines")

RADIUS = 0.018
"""Half the thickness of a bar at the base, as a part of the robot's reach."""

SLIMMING = 0.4
"""The part of its thickness that a bar loses from the base to the tip."""


@dataclass(frozen=True)
class Part:
    """A solid of one color on a link, or in the base frame where it has none."""

    link: int | None
    solid: Solid
    color: str
    role: str
    """"base", "foot", "link", "joint", "tie", "slide", "rod" or "visual"."""
    name: str


@dataclass(frozen=True)
class Bodies:
    """The parts that move along with links, and what changes its shape with the posture."""

    skeleton: Skeleton
    parts: tuple[Part, ...]
    radius: float
    style: str

    def at(self, poses: Array) -> Iterator[Part]:
        """All parts in one posture, in the base frame, for the poses (links, 4, 4) of all links."""
        for part in self.parts:
            T = poses[part.link or 0]
            yield Part(None, part.solid.at_pose(T[:3, :3], T[:3, 3]), part.color, part.role, part.name)
        thin = 0.55 * self.radius
        for joint in self.skeleton.joints:
            if joint.kind == "slides" and self.style != "visual":
                a, b = self.skeleton.slide_at(joint, poses)
                if np.linalg.norm(b - a) > 1e-9 * self.skeleton.reach:
                    yield Part(None, solids.cylinder(a, b, thin), SLIDE_COLOR, "slide", joint.name)
        for tie in self.skeleton.ties:
            if tie.kind == "distance":
                a, b = self.skeleton.tie_at(tie, poses)
                yield Part(None, solids.cylinder(a, b, thin), TIE_COLOR, "rod", tie.name)


def bodies(robot: Mechanism, style: str = "auto") -> Bodies:
    """The parts of a robot in a style: its "visual" geometry, "capsules", "lines", or "auto", what there is."""
    chosen = one_of(STYLES, style, "style of bodies", "a picture")
    return robot.remember(("bodies", chosen), lambda: _build(robot, chosen))


def _build(robot: Mechanism, style: str) -> Bodies:
    frame = skeleton(robot)
    visual, unseen = _visual_parts(robot) if style in ("auto", "visual") else ([], set())
    if style == "auto" and visual and unseen:  # the links whose meshes cannot be read, as bars among the others
        visual += [part for part in _capsule_parts(robot, frame, 1.0) if part.link in unseen]
    if visual or style == "visual":
        return Bodies(frame, tuple(visual), RADIUS * frame.reach, "visual")
    slim = 0.35 if style == "lines" else 1.0
    return Bodies(frame, tuple(_capsule_parts(robot, frame, slim)), slim * RADIUS * frame.reach, "capsules")


def _depths(robot: Mechanism) -> Array:
    """The number of moving joints between the base and each link, as a part of the longest such way."""
    depth = np.zeros(len(robot.model.links))
    for body in robot.model.bodies:
        depth[body.index] = depth[body.parent] + bool(body.joint.kind.nv)
    return depth / max(float(depth.max()), 1.0)


def _capsule_parts(robot: Mechanism, frame: Skeleton, slim: float) -> Iterator[Part]:
    depths = _depths(robot)
    radii = slim * RADIUS * frame.reach * (1 - SLIMMING * depths)
    for k, link in enumerate(frame.links):
        name, r = robot.model.links[k].name, float(radii[k])
        color = BODY_COLORS[k % len(BODY_COLORS)] if k else BASE_COLOR
        role = "link" if k else "base"
        if link.plate:
            yield Part(k, solids.plate(link.points[list(link.plate)], 0.9 * r), color, role, name)
        for a, b in link.bars:
            ends = link.points[a], link.points[b]
            bar = solids.capsule(*ends, r) if k else solids.cylinder(*ends, 1.15 * r)
            yield Part(k, bar, color, role, name)
        if k == 0 and not link.plate and _stands(frame):
            foot = link.points[_foot(link.points, robot.gravity)]
            up = -robot.gravity / np.linalg.norm(robot.gravity) if robot.gravity.any() else np.array([0.0, 0.0, 1.0])
            yield Part(0, solids.cylinder(foot, foot + 0.6 * r * up, 2.4 * r), BASE_COLOR, "foot", name)
    for joint in frame.joints:
        yield from _joint_parts(joint, float(radii[joint.child]))
    for tie in frame.ties:
        yield from _tie_parts(tie, float(radii[tie.link_a]))


def _stands(frame: Skeleton) -> bool:
    """Whether joints fasten links to the base: then it has a foot."""
    return any(joint.parent == 0 and joint.kind != "fixed" for joint in frame.joints)


def _foot(points: Array, gravity: Array) -> int:
    """The lowest of the points of the base."""
    down = gravity if gravity.any() else np.array([0.0, 0.0, -1.0])
    return int(np.argmax(points @ down))


def _joint_parts(joint: JointPlace, r: float) -> Iterator[Part]:
    if joint.kind == "turns" and joint.axis is not None:
        half = 1.55 * r * joint.axis
        pin = solids.cylinder(joint.in_child - half, joint.in_child + half, 1.4 * r)
        yield Part(joint.child, pin, JOINT_COLOR, "joint", joint.name)
    elif joint.kind == "slides" and joint.axis_in_parent is not None:
        sleeve = solids.block_along(joint.in_parent, joint.axis_in_parent, 2.8 * r, 3.6 * r)
        yield Part(joint.parent, sleeve, JOINT_COLOR, "joint", joint.name)
    elif joint.kind == "ball":
        yield Part(joint.child, solids.ball(joint.in_child, 1.65 * r), JOINT_COLOR, "joint", joint.name)


def _tie_parts(tie: TiePlace, r: float) -> Iterator[Part]:
    for link, point in ((tie.link_a, tie.in_a), (tie.link_b, tie.in_b)):
        yield Part(link, solids.ball(point, 1.5 * r), TIE_COLOR, "tie", tie.name)


def _visual_parts(robot: Mechanism) -> tuple[list[Part], set[int]]:
    """The visual geometry of a robot, as far as it can be read and drawn, and the links of which nothing can."""
    found, unseen = [], set()
    for k, geometry in enumerate(robot.model.geometries):
        if geometry.role != "visual":
            continue
        link = robot.model.index_of.get(geometry.link)
        solid = None if link is None else _solid_of(geometry.shape)
        if link is None or solid is None:
            unseen |= {link} if link is not None and type(geometry.shape).__name__ == "Mesh" else set()
            continue
        T = matrix(geometry.origin)
        color = _hex(geometry.color) if geometry.color is not None else BODY_COLORS[link % len(BODY_COLORS)]
        part = Part(link, solid.at_pose(T[:3, :3], T[:3, 3]), color, "visual", geometry.name or f"{geometry.link} {k}")
        found.append(part)
    return found, unseen - {part.link for part in found if part.link is not None}


def _hex(color: Any) -> str:
    red, green, blue = (round(255 * min(max(float(x), 0.0), 1.0)) for x in tuple(color)[:3])
    return f"#{red:02x}{green:02x}{blue:02x}"


def _solid_of(shape: Any) -> Solid | None:
    """A solid for a shape of a link's geometry; None for planes, and for meshes that cannot be read."""
    kind = type(shape).__name__
    zero = np.zeros(3)
    if kind == "Box":
        return solids.box(np.array([float(x) for x in shape.size]))
    if kind == "Sphere":
        return solids.ball(zero, float(shape.radius))
    if kind == "Ellipsoid":
        return solids.ball(zero, np.array([float(x) for x in shape.radii]))
    if kind in ("Cylinder", "Capsule"):
        half = np.array([0.0, 0.0, float(shape.length) / 2])
        make = solids.cylinder if kind == "Cylinder" else solids.capsule
        return make(-half, half, float(shape.radius))
    if kind == "Mesh":
        return _mesh_solid(shape)
    return None


def _mesh_solid(shape: Any) -> Solid | None:
    try:
        path = packages.resolve(shape.path, None if shape.folder is None else Path(shape.folder))
        if path is None:
            return None
        read = meshes.load(path)
        read = read if read.triangles.size else read.hull()
    except (ChainruleError, OSError, ValueError):
        return None
    scale = np.array([float(x) for x in shape.scale])
    triangles = read.triangles if np.prod(scale) > 0 else read.triangles[:, ::-1]
    solid = solids.mesh(read.points * scale, triangles)
    return solid if len(solid.faces) else None
