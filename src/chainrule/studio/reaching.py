"""Reaching: the end-effector dragged to a target, and one plain line that says how far it gets and why not further."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.reading import find_link
from chainrule.inverse_kinematics.result import InverseKinematics
from chainrule.robot.robot import Robot
from chainrule.shapes.skeleton import LOOSE_KINDS, skeleton

ITERATIONS = 20
"""Iterations for one update of the page: they take about a millisecond, from a start that is near."""

MAX_ROUNDS = 50
"""Rounds of these iterations while each brings the link nearer to its target."""

CLOSE_ENOUGH = 1e-4
"""Errors of a target that is reached, in m and rad."""

AT_LIMIT = 1e-3
"""A joint nearer than this to its limit, in rad or m, is at it."""

STUCK = 0.98
"""Further iterations that leave more than this part of the error lead nowhere."""

TASKS = {"Position and orientation": "pose", "Position": "position", "Orientation": "orientation"}


class ReachResult(NamedTuple):
    """A configuration for a target, whether it reaches it, and what there is to say about it."""

    q: Array
    success: bool
    message: str


def natural_task(robot: Robot, link: str | None = None) -> str:
    """The task of a gizmo: poses for robots that can reach any near pose, positions for others."""
    return "pose" if robot.analysis.task_rank(link) == 6 else "position"


class Reaching:
    """Inverse kinematics of a robot for targets near its present configuration.

    A base that floats or drives stays where it is if it is held: then the robot with this joint locked is solved, and
    the target is seen from the base.
    """

    def __init__(self, robot: Robot, link: str | None = None, *, hold_base: bool = True) -> None:
        self.robot, self.link = robot, find_link(robot, link)
        loose = [body for body in robot.model.bodies if body.joint.type in LOOSE_KINDS and body.joint.mimic is None]
        self._base = loose[0].index if hold_base and len(loose) == 1 and loose[0].parent == 0 else None
        self._solved, self._places = robot, np.arange(robot.nq)
        if self._base is not None:
            places = robot.model.layout.by_joint[loose[0].joint.name]
            self._neutral = robot.neutral()
            self._solved = robot.lock({loose[0].joint.name: self._neutral[places.q].tolist()})
            rest = [c.index for c in robot.model.layout.coordinates if c.joint != loose[0].joint.name]
            self._places = np.array(rest, dtype=int)

    def reach(self, q: Array, target: Array, task: str = "pose") -> ReachResult:
        """The configuration near q that brings the link to the target pose (4, 4), or as near as it gets."""
        normal = skeleton(self.robot).normal
        T = np.array(target, dtype=float)
        if normal is not None:  # nothing moves across the plane
            T[normal, 3] = np.asarray(self.robot.pose(q, self.link))[normal, 3]
        seen = T if self._base is None else self._from_base(q, T)
        goal = {"pose": seen, "position": seen[:3, 3], "orientation": seen[:3, :3]}[task]
        found = self._solve(q[self._places], goal, task)
        stuck = False
        for _ in range(MAX_ROUNDS):  # the mouse may stand still: no next movement would go on from here
            if found.success or stuck:
                break
            again = self._solve(found.q, goal, task)
            stuck, found = bool(again.error.max() > STUCK * found.error.max()), again
        new = np.array(q, dtype=float)
        new[self._places] = found.q
        message = "" if found.success else self._explain(new, found, task, stuck)
        return ReachResult(new, bool(found.success), message)

    def _solve(self, q: Array, goal: Array, task: str) -> InverseKinematics:
        return self._solved.inverse_kinematics(
            goal, q, self.link, task=task, restarts=0, max_iterations=ITERATIONS, tolerance=CLOSE_ENOUGH
        )

    def _from_base(self, q: Array, target: Array) -> Array:
        """The target as it is seen while the base is at its neutral place."""
        base = self.robot.link_names[self._base or 0]
        now, neutral = self.robot.pose(q, base), self.robot.pose(self._neutral, base)
        return np.asarray(neutral @ np.linalg.solve(now, target))

    def _explain(self, q: Array, found: InverseKinematics, task: str, stuck: bool) -> str:
        distance, angle = (float(x) for x in np.ravel(found.error))
        short = f"{_millimeters(distance)} short" if task != "orientation" else f"{np.degrees(angle):.1f}° short"
        if task == "pose" and distance < CLOSE_ENOUGH:
            short = f"{np.degrees(angle):.1f}° short"
        if not stuck:
            return f"Did not converge yet: {short}. It goes on with the next movement."
        limits = limits_reached(self.robot, q)
        if limits:
            names = ", ".join(limits[:3]) + (" and others" if len(limits) > 3 else "")
            return f"Out of reach: {short}, with {names} at the limit."
        return f"Out of reach: {short}."


def limits_reached(robot: Robot, q: Array) -> list[str]:
    """The names of coordinates that are at a limit, or beyond it."""
    return [
        coordinate.name
        for coordinate, value in zip(robot.model.layout.coordinates, q, strict=True)
        if not float(coordinate.lower) + AT_LIMIT < value < float(coordinate.upper) - AT_LIMIT
    ]


def _millimeters(distance: float) -> str:
    return f"{1e3 * distance:.0f} mm" if distance < 1 else f"{distance:.2f} m"
