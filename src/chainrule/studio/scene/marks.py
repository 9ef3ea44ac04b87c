"""Marks on a robot: frames, screw axes, centers of mass, inertia. Each is fixed to a link, and moves with its node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.model import Link
from chainrule.shapes import surfaces
from chainrule.shapes.skeleton import skeleton
from chainrule.shapes.surfaces import Surface

AXIS_LENGTH = 0.075
"""Length of the axes of frames, as a part of the robot's reach."""

SCREW_LENGTH = 0.30
"""Length of the arrows along screw axes, as a part of the robot's reach."""

COM_RADIUS = 0.022
"""Radius of the ball at the center of mass of the heaviest link, as a part of the robot's reach."""

SMALLEST_COM = 0.35
"""Radius of the smallest ball, as a part of the largest."""


class FrameMark(NamedTuple):
    """A frame on a link: its name, and its pose (4, 4) in the link."""

    link: int
    name: str
    pose: Array


class AxisMark(NamedTuple):
    """The screw axis of a joint, as an arrow (2, 3) in the frame of a link."""

    link: int
    name: str
    ends: Array
    turns: bool


class MassMark(NamedTuple):
    """The center of mass of a link (3,), in its frame, the radius of the ball that shows it, and its mass."""

    link: int
    center: Array
    radius: float
    mass: float


class InertiaMark(NamedTuple):
    """The solid of uniform density with the mass and the inertia of a link: half axes (3,), and pose in the link."""

    link: int
    half_axes: Array
    pose: Array


def frames(robot: Mechanism) -> tuple[FrameMark, ...]:
    """The frames of all links, and the named frames on them."""
    own = [FrameMark(k, name, np.eye(4)) for k, name in enumerate(robot.link_names)]
    named = [
        FrameMark(robot.model.index_of[frame.link], frame.name, np.array(frame.origin)) for frame in robot.model.frames
    ]
    return (*own, *named)


def axes(robot: Mechanism) -> tuple[AxisMark, ...]:
    """The screw axes of all joints with one degree of freedom, in the direction of positive motion."""
    return tuple(_axes(robot))


def _axes(robot: Mechanism) -> Iterator[AxisMark]:
    frame = skeleton(robot)
    half = SCREW_LENGTH / 2 * frame.reach
    for joint in frame.joints:
        if joint.axis is not None:
            ends = joint.in_child + np.outer([-half, half], joint.axis)
            yield AxisMark(joint.child, joint.name, ends, joint.kind == "turns")


def masses(robot: Mechanism) -> tuple[MassMark, ...]:
    """The centers of mass of all links that have mass; the radii grow with the cube root of the mass, as balls do."""
    links = [(k, link) for k, link in enumerate(robot.model.links) if float(link.mass) > 0]
    heaviest = max((float(link.mass) for _, link in links), default=1.0)
    largest = COM_RADIUS * skeleton(robot).reach
    return tuple(
        MassMark(
            k,
            np.array([float(x) for x in link.com]),
            largest * max(SMALLEST_COM, (float(link.mass) / heaviest) ** (1 / 3)),
            float(link.mass),
        )
        for k, link in links
    )


def inertias(robot: Mechanism, solid: str = "ellipsoid") -> tuple[InertiaMark, ...]:
    """The "ellipsoid" or "box" of uniform density with the mass and the inertia of each link that has both."""
    least = 1e-3 * skeleton(robot).reach
    found = []
    for k, link in enumerate(robot.model.links):
        moments, turn = principal_inertia(link)
        if float(link.mass) > 0 and moments.max() > 0:
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = turn, [float(x) for x in link.com]
            half_axes = equivalent_half_axes(float(link.mass), moments, solid)
            found.append(InertiaMark(k, np.maximum(half_axes, least), pose))
    return tuple(found)


def principal_inertia(link: Link) -> tuple[Array, Array]:
    """Principal moments of inertia of a link about its center of mass (3,), and the rotation to their axes (3, 3)."""
    moments, turn = np.linalg.eigh(np.array([[float(x) for x in row] for row in link.inertia.table()]))
    return moments, turn if np.linalg.det(turn) > 0 else -turn


def equivalent_half_axes(mass: float, moments: Array, solid: str) -> Array:
    """Half axes (3,), in m, of the solid with this mass and these principal moments; 0 where no solid has them.

    An ellipsoid with the half axes a, b, c has I_x = m (b^2 + c^2) / 5, and a box m (b^2 + c^2) / 3.
    """
    factor = 5.0 if solid == "ellipsoid" else 3.0
    return np.sqrt(np.maximum(factor / mass * (moments.sum() / 2 - moments), 0.0))


def quartered_ball(center: Array, radius: float) -> tuple[Surface, Surface]:
    """The drawing office's sign for a center of mass: a ball whose eighths are light and dark in turn."""
    whole = surfaces.ball(np.zeros(3), radius)
    middles = whole.corners[whole.triangles].mean(axis=1)
    dark = np.prod(np.sign(middles), axis=1) > 0
    light, rest = (surfaces.of_triangles(whole.corners + center, whole.triangles[side]) for side in (~dark, dark))
    return light, rest


def unit_solid(solid: str) -> Surface:
    """The ellipsoid or box whose half axes are 1."""
    return surfaces.ball(np.zeros(3), 1.0) if solid == "ellipsoid" else surfaces.box(np.full(3, 2.0))
