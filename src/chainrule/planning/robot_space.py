"""The free configurations of a robot in a world."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.bodies.distances import clearance as clearance_of
from chainrule.bodies.robot_bodies import bodies_of
from chainrule.core.derived import remember
from chainrule.kinematics.configurations import random_state
from chainrule.kinematics.kinematics import poses
from chainrule.planning.free_space import FreeSpace
from chainrule.spatial import Vector

if TYPE_CHECKING:
    from chainrule.bodies.world import World
    from chainrule.core.mechanism import Mechanism

SAMPLES = 200
"""Configurations at which the reach of each coordinate is measured."""
MARGIN = 1.2
"""The factor on the largest reach that was met: 200 others were never beyond 1.1."""
STEP = 1e-6
FREE_TURN = np.pi
"""Where a coordinate has no limits, configurations are drawn this far on both sides of zero, in rad or m."""


def free_space(robot: Mechanism, world: World | None, clearance: float) -> FreeSpace:
    """The free configurations of a robot without quaternions."""
    lower, upper = robot.limits.lower, robot.limits.upper
    return FreeSpace(
        lambda q: clearance_of(robot, q, world),
        clearance,
        np.where(np.isfinite(lower), lower, -FREE_TURN),
        np.where(np.isfinite(upper), upper, FREE_TURN),
        remember(robot, "reach of bodies", lambda: reach_of(robot)),
    )


def reach_of(robot: Mechanism) -> Array:
    """How far a point of a robot's bodies moves at most for each unit of a coordinate (n,), in m/rad or m/m."""
    index = robot.model.index_of
    links = [index[body.link or ""] for body in bodies_of(robot)]
    corners = np.array([_corners(body.solid) for body in bodies_of(robot)])  # (bodies, 8, 3)
    q = random_state(robot, np.random.default_rng(0), (SAMPLES,))

    def places(q: Array) -> Array:
        T = np.asarray(poses(robot, q))[:, links]
        return np.asarray(np.einsum("kbij,bcj->kbci", T[..., :3, :3], corners) + T[..., None, :3, 3])

    before = places(q)
    moves = [places(q + STEP * direction) - before for direction in np.eye(robot.nv)]
    return MARGIN * np.array([np.linalg.norm(move, axis=-1).max() / STEP for move in moves])


def _corners(solid: object) -> Array:
    """The corners (8, 3) of the box around a body, in the axes of its link."""
    low = [float(solid.lowest(axis)[1]) for axis in map(Vector.of, np.eye(3).tolist())]  # type: ignore[attr-defined]
    high = [-float(solid.lowest(axis)[1]) for axis in map(Vector.of, (-np.eye(3)).tolist())]  # type: ignore[attr-defined]
    return np.array(list(product(*zip(low, high, strict=True))))
