"""Wrenches on links, gravity and a payload as they are drawn."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from chainrule.arguments import Array
from chainrule.core.derived import has_moving_mass
from chainrule.robot.robot import Robot
from chainrule.shapes.skeleton import skeleton

ARC_POINTS = 25

FORCE_LENGTH = 0.5
"""The length of a force as large as the robot's weight on Earth, as a part of its reach."""

FIRST_PUSH = 0.3
"""The first push on a link, as a part of the robot's weight."""

DENSITY = 1500.0
"""Of a payload as it is drawn, in kg/m^3."""

MAX_ARC = np.radians(300.0)


def meters_per_newton(robot: Robot) -> float:
    """The length that a force of 1 N is drawn as, in m."""
    weight = 9.81 * robot.mass if has_moving_mass(robot) and robot.mass > 0 else 10.0
    return FORCE_LENGTH * skeleton(robot).reach / weight


def first_push(robot: Robot) -> Array:
    """A force against gravity with which a push begins, in N: (3,)."""
    if has_moving_mass(robot) and robot.gravity.any():
        return -FIRST_PUSH * robot.mass * robot.gravity
    return np.array([0.0, 0.0, FIRST_PUSH * FORCE_LENGTH * skeleton(robot).reach / meters_per_newton(robot)])


def force_paths(robot: Robot, wrenches: Mapping[str, Array], poses: Array) -> Array:
    """Straight paths of the forces on links, from the origin of each link's frame: (links, 2, 3)."""
    paths = np.repeat(poses[:, None, :3, 3], 2, axis=1)
    for name, wrench in wrenches.items():
        if name in robot.link_names:
            paths[robot.link_names.index(name), 1] += meters_per_newton(robot) * wrench[3:]
    return paths


def moment_paths(robot: Robot, wrenches: Mapping[str, Array], poses: Array) -> Array:
    """Arcs of the moments on links, about the origin of each link's frame: (links, ARC_POINTS, 3)."""
    reach = skeleton(robot).reach
    paths = np.repeat(poses[:, None, :3, 3], ARC_POINTS, axis=1)
    largest = FORCE_LENGTH * reach / meters_per_newton(robot) * reach
    for name, wrench in wrenches.items():
        size = float(np.linalg.norm(wrench[:3]))
        if name in robot.link_names and size > 0:
            along = wrench[:3] / size
            out = np.cross(along, np.eye(3)[int(np.abs(along).argmin())])
            out /= np.linalg.norm(out)
            angle = np.linspace(0, MAX_ARC * min(size / (0.2 * largest), 1.0), ARC_POINTS)[:, None]
            arc = np.cos(angle) * out + np.sin(angle) * np.cross(along, out)
            paths[robot.link_names.index(name)] += 0.13 * reach * arc
    return paths


def payload_radius(mass: float) -> float:
    """The radius of a ball of a mass, in m."""
    return float((3 * max(mass, 0.0) / (4 * np.pi * DENSITY)) ** (1 / 3))
