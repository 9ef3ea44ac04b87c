"""A second robot beside the one shown: it takes the posture of the first by the names of the coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.robot.comparison import Comparison
from chainrule.robot.robot import Robot
from chainrule.studio.scene.robot import DrawnRobot
from chainrule.studio.scene.view import drawn_points, first_camera
from chainrule.studio.scene.visuals import drawing

if TYPE_CHECKING:
    from viser import SceneApi

GAP = 0.15
"""Room between the two, as a part of the width of the larger."""


def same_posture(robot: Mechanism, q: Array, other: Robot) -> Array:
    """The configuration of another robot with the same values of coordinates of the same name; the rest is at home."""
    values = dict(zip(robot.coordinate_names, q, strict=True))
    return np.array([values.get(name, x) for name, x in zip(other.coordinate_names, other.home(), strict=True)])


def sideways(robot: Mechanism, points: Array, others: Array) -> Array:
    """Displacement of a second robot, to the right in the first view, by which points of both are apart."""
    camera = first_camera(robot, points)
    across = np.cross(camera.look_at - camera.position, camera.up)
    across /= np.linalg.norm(across)
    first, second = points @ across, others @ across
    gap = GAP * max(float(np.ptp(first)), float(np.ptp(second)), 0.1 * float(np.ptp(points)))
    return (float(first.max()) - float(second.min()) + gap) * across


def differing_links(comparison: Comparison, robot: Mechanism) -> list[str]:
    """Links of a robot that differ from the other's, themselves or by the joint that carries them."""
    elements = {difference.element for difference in comparison}
    return [
        body.link.name
        for body in robot.model.bodies
        if f"link {body.link.name!r}" in elements or f"joint {body.joint.name!r}" in elements
    ]


class Beside:
    """The second robot in the scene."""

    def __init__(self, scene: SceneApi, robot: Robot, q: Array, other: Robot) -> None:
        self.robot = other
        poses = np.asarray(other.poses(same_posture(robot, q, other)))
        points = drawn_points(robot, drawing(robot).parts, np.asarray(robot.poses(q)))
        own = drawn_points(other, drawing(other).parts, poses)
        self.displacement = sideways(robot, points, own)
        """From the base of the first to that of the second, in m."""
        self.points = np.concatenate([points, own + self.displacement])
        """Points of both, for the camera."""
        self.drawn = DrawnRobot(scene, other, "/beside")
        self.drawn.root.position = self.displacement
        self.drawn.move(poses)

    def follow(self, robot: Mechanism, q: Array) -> None:
        """Take the posture of the first robot."""
        self.drawn.move(np.asarray(self.robot.poses(same_posture(robot, q, self.robot))))

    def remove(self) -> None:
        """Remove it from the scene."""
        self.drawn.remove()
