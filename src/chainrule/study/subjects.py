"""Subjects of a study: a human arm by body mass, height, sex and side, a population of them, or any robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chainrule.robot.bodies import RigidBody

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Subject:
    """Whose motion is studied: a robot, and how it follows from the one that its kernel is made for."""

    name: str
    robot: Robot
    """With everything that it always carries: an exoskeleton, a tool."""
    base: Robot
    """A robot with the same joints, whose lengths are those of `robot` divided by the scale."""
    scale: float = 1.0

    @staticmethod
    def of(robot: Robot) -> Subject:
        """A robot as it is."""
        return Subject(robot.name, robot, robot)

    def carrying(self, bodies: Mapping[str, RigidBody]) -> Subject:
        """The subject with a body fixed to each of the links named, given in the frame of the link."""
        robot = self.robot
        for link, body in bodies.items():
            robot = robot.with_payload(body.mass, body.com, body.inertia, link=link)
        return replace(self, robot=robot)
