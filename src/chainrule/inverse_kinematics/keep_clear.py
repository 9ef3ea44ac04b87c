"""Inverse kinematics that keeps clear of obstacles and of the robot itself.

Solutions that touch something are looked for again from other starts, as many together as there are targets left. A
redundant arm then moves what is left along the derivative of the clearance, the target kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array, number
from chainrule.bodies.distances import clearance as clearance_of
from chainrule.bodies.distances import clearance_dq, distances
from chainrule.bodies.robot_bodies import bodies_of
from chainrule.inverse_kinematics.posture import POSTURE_ITERATIONS, posture_loop
from chainrule.inverse_kinematics.request import SearchRequest
from chainrule.inverse_kinematics.result import IN_THE_WAY, InverseKinematics
from chainrule.inverse_kinematics.search import MAX_STARTS_AT_ONCE, Search

if TYPE_CHECKING:
    from chainrule.bodies.world import World
    from chainrule.core.mechanism import Mechanism

DESCENTS = 12
"""Steps along the derivative of the clearance."""
STEP = 0.3
"""The length of one, in rad or m, at first; halved where it brings nothing."""


class Room(NamedTuple):
    """The obstacles that solutions keep clear of, and the smallest distance that is asked for, in m."""

    world: World | None
    clearance: float


def read_room(world: World | None, clearance: float | None, caller: str) -> Room | None:
    """The obstacles and the distance to keep; None where nothing is said of them."""
    if world is None and clearance is None:
        return None
    return Room(world, 0.0 if clearance is None else number(clearance, f"{caller}: clearance", "m"))


def keep_clear(
    robot: Mechanism,
    search: Search,
    request: SearchRequest,
    found: InverseKinematics,
    targets: Array,
    starts: Array | None,
    room: Room,
) -> InverseKinematics:
    """The solutions with those that touch something replaced by others; `found` without regard to obstacles."""
    batch, q = np.shape(found.success), found.q.reshape(-1, found.q.shape[-1]).copy()
    rows = np.broadcast_to(targets, (*batch, targets.shape[-1])).reshape(len(q), -1)
    near = None if starts is None else np.broadcast_to(starts, found.q.shape).reshape(q.shape)
    solved = np.ravel(found.success)
    reach = clearance_of(robot, q, room.world)
    left = np.flatnonzero(solved & (reach < room.clearance))
    tried = 2
    while len(left) and tried <= request.restarts:
        count = min(MAX_STARTS_AT_ONCE, tried, request.restarts + 1 - tried)
        starts_near = None if near is None else near[left]
        others, others_solved = search.solutions(rows[left], starts_near, tried, count)
        others_reach = np.full(others_solved.shape, -np.inf)
        if others_solved.any():
            others_reach[others_solved] = clearance_of(robot, others[others_solved], room.world)
        clear = others_reach >= room.clearance
        away = -others_reach if near is None else np.abs(others - near[left]).max(axis=-1)
        chosen = np.where(clear.any(axis=0), np.where(clear, away, np.inf).argmin(axis=0), others_reach.argmax(axis=0))
        of_rows = np.arange(len(left))
        better = others_reach[chosen, of_rows] > reach[left]
        into = left[better]
        q[into], reach[into] = others[chosen, of_rows][better], others_reach[chosen, of_rows][better]
        left = left[reach[left] < room.clearance]
        tried += count
    if len(left) and request.rank.rank < request.rank.mobility and not robot.model.constraints:
        q[left], reach[left] = _move_away(robot, search, q[left], reach[left], rows[left], room)
    parameters = search.parameters(rows)
    errors, good, _ = search.measure(q, parameters)
    good &= search.within_tolerances(errors) & solved
    is_clear = reach >= room.clearance
    reason = np.where(good & ~is_clear, IN_THE_WAY, np.ravel(found.reason))
    pairs = np.full(len(q), "", dtype=object)
    touching = np.flatnonzero(good & ~is_clear)
    if len(touching):
        names = np.array([f"{a!r} and {b!r}" for a, b in bodies_of(robot).pairs_with(room.world)], dtype=object)
        pairs[touching] = names[distances(robot, q[touching], room.world).argmin(axis=-1)]
    each = {goal.link: errors[:, k].reshape(*batch, 2) for k, goal in enumerate(request.problem.goals)}
    return replace(
        found,
        q=q.reshape(found.q.shape),
        success=(good & is_clear).reshape(batch)[()],
        error=errors.max(axis=1).reshape(*batch, 2),
        errors=each,
        reason=reason.reshape(batch)[()],
        clearance=reach.reshape(batch)[()],
        in_the_way=pairs.astype(str).reshape(batch)[()],
    )


def _move_away(
    robot: Mechanism, search: Search, q: Array, reach: Array, targets: Array, room: Room
) -> tuple[Array, Array]:
    """Configurations (rows, nq) with a larger clearance and the same targets, where the arm can have them."""
    parameters, step = search.parameters(targets), np.full(len(q), STEP)
    loop = posture_loop(search.problem, robot)
    everything = np.ones(q.shape[1])
    for _ in range(DESCENTS):
        slope = clearance_dq(robot, q, room.world)
        goal = q + (step / np.maximum(np.linalg.norm(slope, axis=1), 1e-9))[:, None] * slope
        moved = q.copy()
        loop(
            moved, np.concatenate([parameters, goal, np.broadcast_to(everything, q.shape)], axis=1), POSTURE_ITERATIONS
        )
        after = replace(search, restarts=0).run(parameters, np.where(np.isfinite(moved), moved, q))
        there = np.where(after.solved, clearance_of(robot, after.q, room.world), -np.inf)
        better = there > reach
        q, reach = np.where(better[:, None], after.q, q), np.where(better, there, reach)
        step = np.where(better, step, step / 2)
        if (reach >= room.clearance).all():
            break
    return q, reach
