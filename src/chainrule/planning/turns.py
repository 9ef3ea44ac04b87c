"""Whole turns of joints: configurations with the same poses, and turns that the robot's own body makes impossible."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.bodies.body import Spheres
from chainrule.bodies.distances import distances
from chainrule.bodies.robot_bodies import bodies_of
from chainrule.core.derived import remember
from chainrule.kinematics.configurations import home, random_state
from chainrule.kinematics.poses import poses
from chainrule.model.geometry import Box, Capsule, Sphere
from chainrule.planning.free_space import TOLERANCE

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

TURN = 2 * np.pi
SAME_POSE = 1e-9
MOST = 64
"""Configurations with the same poses that are goals together, at most."""
ANGLES, OTHERS = 180, 720
"""Angles of a joint at which a wall is looked for, and of another joint at each of these."""
EXACT = (Box, Capsule, Sphere, Spheres)
"""Shapes whose distances are exact, where they overlap too."""


class Wall(NamedTuple):
    """An angle of a joint at which two bodies are too near to each other, whatever the other joints do."""

    coordinate: int
    angle: float
    pair: tuple[str, str]

    def divides(self, a: Array, b: Array) -> Array:
        """Whether every way from a configuration (n,) to each of others (m, n) passes it, at any of its turns: (m,)."""
        low, high = np.minimum(a, b)[..., self.coordinate], np.maximum(a, b)[..., self.coordinate]
        return np.asarray(np.ceil((low - self.angle) / TURN) * TURN + self.angle < high)


def turning(robot: Mechanism) -> tuple[int, ...]:
    """The coordinates of which a whole turn changes no pose."""
    return remember(robot, "turning coordinates", lambda: _turning(robot))


def _turning(robot: Mechanism) -> tuple[int, ...]:
    q = random_state(robot, np.random.default_rng(0))
    gaps = np.abs(np.asarray(poses(robot, q + TURN * np.eye(robot.nq))) - np.asarray(poses(robot, q)))
    return tuple(np.flatnonzero(gaps.max(axis=(1, 2, 3)) < SAME_POSE).tolist())


def equivalents(robot: Mechanism, q: Array, near: Array) -> Array:
    """Configurations (g, n) within the limits with the poses of some (k, n): those, then others near to one."""
    lower, upper = robot.limits.lower, robot.limits.upper
    shifts = np.zeros((1, robot.nq))
    for k in turning(robot):
        room = (np.array([lower[k] - q[:, k].max(), upper[k] - q[:, k].min()]) / TURN).clip(-1, 1)
        turns = np.arange(np.ceil(room[0] - TOLERANCE), np.floor(room[1] + TOLERANCE) + 1)
        shifts = np.array([s + TURN * t * np.eye(robot.nq)[k] for s, t in product(shifts, turns)])
        shifts = shifts[np.argsort(np.abs(q[0] + shifts - near).max(axis=1), kind="stable")[:MOST]]
    found = (q[:, None] + shifts).reshape(-1, robot.nq)
    inside = ((found >= lower) & (found <= upper)).all(axis=1) & (found[:, None] != q).any(axis=-1).all(axis=1)
    return np.concatenate([q, found[inside]])


def walls(robot: Mechanism, clearance: float, reach: Array) -> tuple[Wall, ...]:
    """The walls of turning coordinates, as far as pairs of bodies with at most two joints between them make them."""
    return remember(robot, f"walls at {clearance!r}", lambda: tuple(_walls(robot, clearance, reach)))


def _walls(robot: Mechanism, clearance: float, reach: Array) -> list[Wall]:
    bodies, model, q0 = bodies_of(robot), robot.model, home(robot)
    found = []
    for k, pair in enumerate(bodies.pairs):
        sides = [model.ancestors(model.index_of[bodies[name].link or ""]) for name in pair]
        between = {i for one, other in (sides, sides[::-1]) for b in one if b not in other for i, _, _ in b.dofs}
        if len(between) > 2 or not all(isinstance(bodies[name].shape, EXACT) for name in pair):
            continue
        for j in between.intersection(turning(robot)):
            angles = np.linspace(-np.pi, np.pi, ANGLES, endpoint=False)
            q = np.broadcast_to(q0, (ANGLES, 1, len(q0))).copy()
            q[:, 0, j] = angles
            margin = TOLERANCE
            for i in between - {j}:
                ends = (-np.pi, np.pi) if i in turning(robot) else (robot.limits.lower[i], robot.limits.upper[i])
                if not np.isfinite(ends).all():
                    break
                q = np.repeat(q, OTHERS, axis=1)
                q[..., i] = np.linspace(ends[0], ends[1], OTHERS)
                margin += reach[i] * (ends[1] - ends[0]) / (OTHERS - 1) / 2
            else:
                nearest = distances(robot, q)[..., k].max(axis=1)
                found += [Wall(j, float(x), pair) for x in angles[nearest + margin < clearance]]
    return found
