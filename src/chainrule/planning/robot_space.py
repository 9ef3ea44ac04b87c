"""The free configurations of a robot in a world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.bodies.body import CollisionBody
from chainrule.bodies.distances import clearance as clearance_of
from chainrule.bodies.distances import distances
from chainrule.bodies.robot_bodies import bodies_of
from chainrule.core.derived import remember
from chainrule.kinematics.configurations import random_state
from chainrule.kinematics.poses import poses
from chainrule.model.geometry import Box, Cylinder
from chainrule.planning.free_space import FreeSpace
from chainrule.planning.upright import Upright
from chainrule.spatial import Transform, Vector

if TYPE_CHECKING:
    from chainrule.bodies.world import World
    from chainrule.core.mechanism import Mechanism

SAMPLES = 200
"""Configurations at which the reach of each coordinate is measured."""
MARGIN = 1.2
"""The factor on the largest reach that was met: 200 others were never beyond 1.1."""
STEP = 1e-6


def free_space(robot: Mechanism, world: World | None, clearance: float, upright: Upright | None = None) -> FreeSpace:
    """The free configurations of a robot without quaternions; with `upright`, those in which an axis is so."""
    clear = _clear(robot, world, clearance)
    reach = remember(robot, "reach of bodies", lambda: reach_of(robot))

    def sample(rng: np.random.Generator, count: int) -> Array:
        return random_state(robot, rng, (count,))

    if upright is None:
        return FreeSpace(clear, clearance, sample, reach)
    demand = upright
    return FreeSpace(
        lambda q: np.minimum(clear(q), clearance + demand.room(q)),
        clearance,
        lambda rng, count: demand.project(sample(rng, count)),
        np.maximum(reach, MARGIN * demand.reach(sample(np.random.default_rng(0), SAMPLES))),
        demand.project,
    )


def _clear(robot: Mechanism, world: World | None, clearance: float) -> Callable[[Array], Array]:
    """The clearance, cylinders of the world being prisms of 16 sides around them: these cost a tenth.

    A prism is where four boxes meet, so that it is at least as far away as the farthest of these. The boxes are looked
    at in turn, where those before them are too near and a cylinder may be the reason.
    """
    cylinders = [body for body in world or () if isinstance(body.shape, Cylinder)]
    if world is None or not cylinders:
        return lambda q: clearance_of(robot, q, world)
    corner = (2**0.5 - 1) * max(float(body.shape.radius) for body in cylinders if isinstance(body.shape, Cylinder))
    turned = [
        replace(world, bodies=tuple(_box_around(body, angle) for body in world))
        for angle in np.pi / 8 * np.array([0, 2, 1, 3])
    ]

    def clear(q: Array) -> Array:
        room = np.array(clearance_of(robot, q, turned[0]))
        for other in turned[1:]:
            near = (room < clearance) & (room > clearance - corner)
            if not near.any():
                break
            room[near] = np.maximum(room[near], clearance_of(robot, q[near], other))
        return room

    return clear


def _box_around(body: CollisionBody, angle: float) -> CollisionBody:
    """A box around a cylinder, turned about its axis; any other body as it is."""
    shape = body.shape
    if not isinstance(shape, Cylinder):
        return body
    turn = Transform.from_xyz_rpy((0.0, 0.0, 0.0), (0.0, 0.0, float(angle)))
    size = Vector(2 * shape.radius, 2 * shape.radius, shape.length)
    return replace(body, shape=Box(size), origin=body.origin * turn)


def reach_of(robot: Mechanism) -> Array:
    """The farthest that a body's point moves for each unit of a coordinate (n,), in m/rad or m/m."""
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


def describe_nearest(robot: Mechanism, world: World | None, q: Array) -> tuple[str, float]:
    """The names of the two bodies that are nearest at a configuration (n,), and their signed distance in m."""
    found = distances(robot, q, world)
    nearest = int(found.argmin())
    a, b = bodies_of(robot).pairs_with(world)[nearest]
    return f"{a!r} and {b!r}", float(found[nearest])
