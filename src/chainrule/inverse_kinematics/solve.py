"""Inverse kinematics from beginning to end: arguments, search, and the check of what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, real_array, rows_of
from chainrule.core.mechanism import kernels_enabled
from chainrule.errors import ModelError, ShapeError
from chainrule.inverse_kinematics.iterate import kept, solver
from chainrule.inverse_kinematics.periods import unwound
from chainrule.inverse_kinematics.posture import STEPS, settler
from chainrule.inverse_kinematics.request import Asked, asked, whole_number
from chainrule.inverse_kinematics.result import InverseKinematics, Truths, measured_errors
from chainrule.inverse_kinematics.search import Found, Search
from chainrule.inverse_kinematics.seeds import Seeds

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

WITHOUT_LIMITS = 4
"""Starts without limits, to tell whether it was they that kept a target from being reached."""


def inverse_kinematics(
    robot: Robot,
    target: Any,
    q0: Any,
    link: Any,
    method: str,
    limits: bool,
    task: Any,
    axis: Any,
    weights: Any,
    tolerance: Any,
    posture: Any,
    restarts: int,
    max_iterations: int,
    seed: int,
) -> InverseKinematics:
    """See `Robot.inverse_kinematics`."""
    where = "inverse_kinematics"
    wanted = asked(robot, where, target, link, task, axis, weights, tolerance, method)
    starts = None if q0 is None else starts_of(robot, q0, where)
    batch = wanted.targets.shape[:-1]
    if starts is not None:
        try:
            batch = np.broadcast_shapes(batch, starts.shape[:-1])
        except ValueError:
            raise ShapeError(
                f"{where}: the leading (batch) dimensions of target {batch} and q0 {starts.shape[:-1]} do not fit "
                "together"
            ) from None
        starts = np.broadcast_to(starts, (*batch, robot.nq)).reshape(-1, robot.nq)
    targets = np.ascontiguousarray(np.broadcast_to(wanted.targets, (*batch, wanted.targets.shape[-1])))
    targets = targets.reshape(-1, targets.shape[-1])
    search = prepared(
        robot,
        wanted,
        limits,
        whole_number(restarts, f"{where}: restarts", 0),
        whole_number(max_iterations, f"{where}: max_iterations", 1),
        whole_number(seed, f"{where}: seed", 0),
    )
    q, iterations, reason, errors = _solved(robot, search, targets, starts, _posture(robot, posture, where))
    error = np.max(list(errors.values()), axis=0)
    q, success, error, iterations, reason = (
        a.reshape((*batch, *a.shape[1:]))[()] for a in (q, reason == "", error, iterations, reason)
    )
    each = {name: e.reshape((*batch, 2)) for name, e in errors.items()}
    return InverseKinematics(q, success, error, iterations, reason, each)


def _solved(
    robot: Robot, search: Search, targets: Array, starts: Array | None, posture: Array | None
) -> tuple[Array, Any, Any, dict[str, Array]]:
    """Configurations, iterations, reasons and errors for rows of targets."""
    rows = len(targets)
    finite = np.isfinite(targets).all(axis=-1)
    if starts is not None:
        finite &= np.isfinite(starts).all(axis=-1)
        near = np.where(np.isfinite(starts), np.clip(starts, search.lower, search.upper), search.home)
    else:
        near = np.tile(search.home, (rows, 1))
    q, iterations, reason = near.copy(), np.zeros(rows, dtype=int), np.full(rows, "", dtype="<U16")
    reason[~finite] = "not finite"
    some = np.flatnonzero(finite)
    if len(some):
        found = search.found(targets[some], None if starts is None else near[some])
        if posture is not None:
            _settle(robot, search, found, targets[some], posture)
        q[some] = unwound(robot.model, found.q, near[some], search.lower, search.upper)
        iterations[some] = found.iterations
    errors = measured(robot, search, q, targets)
    good = finite & within(search, q)
    for error in errors.values():
        with np.errstate(invalid="ignore"):
            good &= (error <= search.tolerances).all(axis=-1)
    failed = np.flatnonzero(finite & ~good)
    reason[failed] = "not reached"
    reason[failed[_stopped_by_limits(search, q[failed], targets[failed])]] = "limits"
    return q, iterations, reason, errors


def measured(robot: Robot, search: Search, q: Array, targets: Array) -> dict[str, Array]:
    """Errors (rows, 2) of each link, by forward kinematics."""
    errors, at = {}, 0
    for goal in search.problem.goals:
        errors[goal.link] = measured_errors(goal, robot.pose(q, goal.link), targets[:, at : at + goal.size])
        at += goal.size
    return errors


def within(search: Search, q: Array) -> Truths:
    """Which configurations keep the limits."""
    return np.asarray(((q >= search.lower) & (q <= search.upper)).all(axis=-1))


def _stopped_by_limits(search: Search, q: Array, targets: Array) -> Truths:
    """Which targets are reached as soon as the limits are lifted."""
    if not len(q) or not (np.isfinite(search.lower) | np.isfinite(search.upper)).any():
        return np.zeros(len(q), dtype=bool)
    endless = np.full(len(search.lower), np.inf)
    lifted = replace(search, lower=-endless, upper=endless, restarts=WITHOUT_LIMITS)
    stopped: Truths = lifted.found(targets, q).miss <= 1
    return stopped


def _settle(robot: Robot, search: Search, found: Found, targets: Array, posture: Array) -> None:
    """Move what is solved towards a posture, where that can be done without leaving the target."""
    counts = np.isfinite(posture)
    goal = np.where(counts, posture, 0.0)
    rows = np.flatnonzero(found.miss <= 1)
    own = search.parameters(targets[rows])
    extra = np.broadcast_to(np.concatenate([goal, counts]), (len(rows), 2 * robot.nq))
    near = np.where(counts, goal, found.q[rows])
    q = np.ascontiguousarray(unwound(robot.model, found.q[rows], near, search.lower, search.upper))
    before = np.linalg.norm((q - goal) * counts, axis=-1)
    settler(search.problem, print_of(robot))(q, np.concatenate([own, extra], axis=1), STEPS)
    after = replace(search, restarts=0).found(targets[rows], np.where(np.isfinite(q), q, found.q[rows]))
    nearer = (after.miss <= 1) & (np.linalg.norm((after.q - goal) * counts, axis=-1) <= before)
    found.q[rows[nearer]] = after.q[nearer]
    found.iterations[rows] += STEPS + after.iterations


def prepared(robot: Robot, wanted: Asked, limits: Any, restarts: int, most: int, seed: int) -> Search:
    """The search for the configurations of a call."""
    if not isinstance(limits, (bool, np.bool_)):
        raise ShapeError(f"inverse_kinematics: limits must be True or False, got {limits!r:.60}")
    problem, print_ = wanted.problem, print_of(robot)
    lower, upper = bounds(robot, bool(limits))
    make = robot._random_open

    def seeds() -> Seeds:
        return Seeds(problem.goals, lambda rng, count: make(rng, (count,)), robot.pose, seed)

    chosen: Seeds = seeds() if print_ is None else kept((print_, problem.goals, "seeds", seed), seeds)
    home = np.clip(robot.neutral(), lower, upper)
    return Search(problem, solver(problem, print_), chosen, home, lower, upper, wanted.tolerances, restarts, most)


def print_of(robot: Robot) -> str | None:
    """What compiled code of a robot is known by; none on the reference path."""
    return robot._merged_print if robot._compiled and kernels_enabled() else None


def bounds(robot: Robot, limits: bool) -> tuple[Array, Array]:
    """Lower and upper limits of every coordinate of q (nq,), infinite for quaternions."""
    lower, upper = np.full(robot.nq, -np.inf), np.full(robot.nq, np.inf)
    if limits:
        i = j = 0
        for joint in robot.model.moving:
            nq, nv = joint.kind.nq, joint.kind.nv
            if nq == nv:
                lower[i : i + nq], upper[i : i + nq] = robot.limits.lower[j : j + nv], robot.limits.upper[j : j + nv]
            i, j = i + nq, j + nv
        crossed = np.flatnonzero(lower > upper)
        if len(crossed):
            raise ModelError(
                f"robot {robot.name!r}: the lower limit of coordinate {crossed[0]} is above its upper one; with "
                "limits=False they do not count"
            )
    return lower, upper


def starts_of(robot: Robot, q0: Any, where: str) -> Array:
    """The configurations (..., nq) to start from."""
    starts = rows_of(q0, robot.nq, f"{where}: q0", robot._coordinates).astype(float)
    robot._refuse_zero_quaternions(starts, f"{where}: q0")
    return starts


def _posture(robot: Robot, posture: Any, where: str) -> Array | None:
    """The posture to come near, not a number for what does not count."""
    if posture is None:
        return None
    if isinstance(posture, str):
        if posture != "center":
            raise ShapeError(f"{where}: posture must be 'center' or a configuration, got {posture!r}")
        lower, upper = bounds(robot, True)
        with np.errstate(invalid="ignore"):
            middle: Array = (lower + upper) / 2
        return np.where(np.isfinite(middle), middle, np.nan)
    array = real_array(posture, f"{where}: posture").astype(float)
    if array.shape != (robot.nq,):
        raise ShapeError(f"{where}: posture must have {robot.nq} numbers, got shape {array.shape}")
    return array
