"""The parts of a robot as they are drawn from the model itself: tapered links, joints along their axes, plates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.plots import solids
from chainrule.plots.skeleton import JointPlace, Skeleton, skeleton
from chainrule.studio.scene import surfaces
from chainrule.studio.scene.appearance import ACCENT, BASE, JOINT, SHELL, SHELL_SECOND, Color
from chainrule.studio.scene.surfaces import Surface, join

RADIUS = 0.028
"""Half the thickness of a link at the base, as a part of the robot's reach."""

SLIMMING = 0.5
"""The part of its thickness that a chain loses from the base to the tip."""


@dataclass(frozen=True, eq=False)
class Part:
    """A surface of one color on a link, in the link's frame."""

    link: int
    surface: Surface
    color: Color
    opacity: float = 1.0


def model_parts(robot: Mechanism) -> tuple[Part, ...]:
    """The parts of a robot drawn from its model: one for each link and color."""
    return robot.remember("studio model parts", lambda: tuple(merge(_model_parts(robot))))


def merge(parts: Iterable[Part]) -> Iterator[Part]:
    """The same with one part for each link, color and opacity, so that the scene has few nodes."""
    groups: dict[tuple[int, Color, float], list[Surface]] = {}
    for part in parts:
        groups.setdefault((part.link, part.color, part.opacity), []).append(part.surface)
    for (link, color, opacity), found in groups.items():
        yield Part(link, join(found), color, opacity)


def link_radii(robot: Mechanism) -> Array:
    """Half the thickness of each link, in m: (links,); thinner from joint to joint towards the tips."""
    depth = np.zeros(len(robot.model.links))
    for body in robot.model.bodies:
        depth[body.index] = depth[body.parent] + bool(body.joint.kind.nv)
    share = depth / max(float(depth.max()), 1.0)
    return RADIUS * skeleton(robot).reach * (1 - SLIMMING * share)


def _model_parts(robot: Mechanism) -> Iterator[Part]:
    frame, radii = skeleton(robot), link_radii(robot)
    for k in range(len(frame.links)):
        yield from _link_parts(robot, frame, radii, k)
    yield from _chassis_parts(robot, radii)
    for joint in frame.joints:
        yield from _joint_parts(joint, float(radii[joint.child]))
    for tie in frame.ties:
        r = float(radii[tie.link_a])
        yield Part(tie.link_a, surfaces.ball(tie.in_a, 1.25 * r), JOINT)
        yield Part(tie.link_b, surfaces.ball(tie.in_b, 1.25 * r), JOINT)


def _link_parts(robot: Mechanism, frame: Skeleton, radii: Array, k: int) -> Iterator[Part]:
    link, r = frame.links[k], float(radii[k])
    color = BASE if k == 0 else SHELL if k % 2 else SHELL_SECOND
    if link.plate:
        solid = solids.plate(link.points[list(link.plate)], 0.9 * r)
        yield Part(k, surfaces.of_quads(solid.corners, solid.faces).with_flat_faces(), color)
    children = {tuple(joint.in_parent): joint.child for joint in frame.joints if joint.parent == k}
    for a, b in link.bars:
        ends = link.points[a], link.points[b]
        last = float(radii[children.get(tuple(ends[1]), k)])
        bar = surfaces.capsule(*ends, r, min(r, last)) if k else surfaces.cylinder(*ends, r)
        yield Part(k, bar, color)
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
            yield Part(0, surfaces.cylinder(foot - 2.6 * r * up, foot, 0.8 * r), BASE)
            foot = foot - 2.6 * r * up
        yield Part(0, surfaces.cylinder(foot, foot + 0.9 * r * up, 2.3 * r, 0.25 * r), BASE)


def _chassis_parts(robot: Mechanism, radii: Array) -> Iterator[Part]:
    """A round chassis with two wheels, for links that drive on the ground."""
    for body in robot.model.bodies:
        if body.joint.type == "planar":
            r, up = float(radii[body.index]), np.array([0.0, 0.0, 1.0])
            yield Part(body.index, surfaces.cylinder(0.7 * r * up, 2.6 * r * up, 5.5 * r, 0.5 * r), BASE)
            for side in (-1.0, 1.0):
                wheel = np.array([0.0, 5.2 * side * r, 1.8 * r])
                half = np.array([0.0, 0.5 * r, 0.0])
                yield Part(body.index, surfaces.cylinder(wheel - half, wheel + half, 1.8 * r, 0.3 * r), JOINT)
            nose = np.array([4.4 * r, 0.0, 2.6 * r])
            yield Part(body.index, surfaces.cylinder(nose, nose + 0.1 * r * up, 0.5 * r), ACCENT)


def _joint_parts(joint: JointPlace, r: float) -> Iterator[Part]:
    if joint.kind == "turns" and joint.axis is not None:
        half, rim = 1.5 * r * joint.axis, 0.18 * r * joint.axis
        here = joint.in_child
        yield Part(joint.child, surfaces.cylinder(here - half, here + half, 1.35 * r, 0.3 * r), JOINT)
        for side in (-1, 1):
            ring = here + side * (half - 2.6 * rim)
            yield Part(joint.child, surfaces.cylinder(ring - rim, ring + rim, 1.38 * r), ACCENT)
    elif joint.kind == "slides" and joint.axis_in_parent is not None:
        sleeve = surfaces.box(np.array([2.7 * r, 2.7 * r, 3.4 * r]))
        yield Part(joint.parent, sleeve.at(surfaces.pose_along(joint.in_parent, joint.axis_in_parent)), JOINT)
    elif joint.kind == "ball":
        yield Part(joint.child, surfaces.ball(joint.in_child, 1.5 * r), JOINT)


def up_direction(robot: Mechanism) -> Array:
    """The unit vector against gravity, in base axes; z where there is no gravity."""
    g = np.asarray(robot.gravity, dtype=float)
    return -g / np.linalg.norm(g) if g.any() else np.array([0.0, 0.0, 1.0])
