"""The kinds of exercises, and how one is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import number
from chainrule.calls import explains_arguments
from chainrule.errors import ArgumentError, ShapeError, UnknownNameError
from chainrule.exercises import dynamics, kinematics
from chainrule.exercises.exercise import Exercise, Problem
from chainrule.robot.library import load
from chainrule.robot.robot import Robot


class Kind(NamedTuple):
    """A kind of exercise: its title, the function that makes its problem, and the robot that it is about by default."""

    title: str
    problem: Callable[[Any, np.random.Generator], Problem]
    robot: str | None = "planar_2r"


KINDS: dict[str, Kind] = {
    "pose": Kind("Forward kinematics", kinematics.pose),
    "velocities": Kind("Velocities from link to link", kinematics.velocities),
    "jacobian": Kind("The Jacobian", kinematics.jacobian),
    "singularities": Kind("Manipulability and singularities", kinematics.singularities),
    "inverse-kinematics": Kind("Inverse kinematics", kinematics.inverse_kinematics),
    "differential-drive": Kind("A base on two wheels", kinematics.differential_drive, None),
    "statics": Kind("Statics", dynamics.statics),
    "inertia": Kind("Inertia of a compound body", dynamics.inertia, None),
    "lagrange": Kind("Lagrange's equations", dynamics.lagrange),
    "newton-euler": Kind("The Newton-Euler equations", dynamics.newton_euler),
    "rnea": Kind("The recursion in twists and wrenches", dynamics.rnea),
    "matrix-form": Kind("Forward dynamics in matrix form", dynamics.matrix_form),
}
"""Kinds of exercises, by the name that users give."""


@explains_arguments
def exercise(kind: str | None = None, robot: Any = None, *, seed: int = 0) -> Exercise:
    """A problem sheet with numbers and its solution; the same seed makes the same sheet.

    Parameters
    ----------
    kind
        "pose", "velocities", "jacobian", "singularities", "inverse-kinematics", "differential-drive", "statics",
        "inertia", "lagrange", "newton-euler", "rnea" or "matrix-form".
    robot
        A robot, or what `cr.load` takes; a planar arm by default. "inertia" and "differential-drive" have none.
    seed
        Of the random numbers.

    >>> import chainrule as cr
    >>> sheet = cr.exercise("newton-euler", "planar_2r", seed=7)
    >>> sheet
    <Exercise 'The Newton-Euler equations: planar_2r', seed 7: omega, v_dot_com, F, N, f, n, tau>
    >>> bool(sheet.check(tau=sheet.answers["tau"]))
    True
    """
    if kind is None:
        raise ArgumentError(f"exercise takes the kind of problem; there are: {', '.join(KINDS)}")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UnknownNameError.of("kind", kind, KINDS, "an exercise")
    if number(seed, "exercise: seed") != int(seed) or seed < 0:
        raise ShapeError(f"exercise: seed must be a whole number from 0, got {seed!r:.60}")
    chosen = KINDS[kind]
    rng = np.random.default_rng(int(seed))
    if chosen.robot is None:
        if robot is not None:
            raise ArgumentError(f"the exercise {kind!r} is about no robot; leave it out")
        return Exercise(kind, chosen.title, int(seed), chosen.problem(None, rng))
    if robot is None:
        robot = chosen.robot
    one = robot if isinstance(robot, Robot) else load(robot)
    return Exercise(kind, f"{chosen.title}: {one.name}", int(seed), chosen.problem(one, rng))
