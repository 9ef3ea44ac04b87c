"""A link along a path of poses: each configuration found from the one before, the whole path as one compiled loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, real_array, refuse_nonfinite
from chainrule.compile.load import engine
from chainrule.compile.program import Outliner
from chainrule.compile.rollout import Rollout
from chainrule.errors import ShapeError, shown
from chainrule.functions.reference import scalars_of
from chainrule.inverse_kinematics.iterate import LARGEST, kept
from chainrule.inverse_kinematics.methods import FAR, SUMMARY, Problem, iteration
from chainrule.inverse_kinematics.request import asked
from chainrule.inverse_kinematics.result import Truths
from chainrule.inverse_kinematics.solve import measured, prepared, print_of, starts_of, within
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

Scalars = Sequence[Scalar]

ITERATIONS = 12
"""Iterations for each pose of a path."""


@dataclass(frozen=True, eq=False)
class FollowedPath:
    """Configurations along a path of poses."""

    q: Array
    """(..., T, nq), in rad and m."""
    success: Truths
    """Whether each pose is reached within the tolerance and the limits: (..., T)."""
    error: Array
    """What is left of the error: m and rad, (..., T, 2)."""
    steps: Array
    """How far each velocity coordinate moves between one pose and the next: (..., T - 1, n)."""
    times: Array | None
    """When each pose is due (T,), in s, if that was given."""
    speed_limits: Array
    """The joints' own (n,), in rad/s and m/s."""
    velocity_names: tuple[str, ...]
    """The joint that each velocity coordinate belongs to."""

    @property
    def largest_step(self) -> float:
        """The farthest that any joint moves between two poses, in rad or m."""
        return float(np.abs(self.steps).max(initial=0.0))

    @cached_property
    def speeds(self) -> Array:
        """Mean speeds between the poses (..., T - 1, n), in rad/s and m/s."""
        if self.times is None:
            raise ShapeError("follow: without times=... there are no speeds; give the time of each pose")
        return self.steps / np.diff(self.times)[:, None]

    @cached_property
    def too_fast(self) -> Truths:
        """Where a mean speed exceeds the joint's limit: (..., T - 1, n)."""
        fast: Truths = np.abs(self.speeds) > self.speed_limits
        return fast

    def __str__(self) -> str:
        lines = [
            f"{int(self.success.sum())} of {self.success.size} poses reached, largest step {self.largest_step:.3g}"
        ]
        if self.times is not None and self.too_fast.any():
            fast = np.asarray(self.too_fast.reshape(-1, len(self.velocity_names)).any(axis=0))
            joints = [name for name, exceeds in zip(self.velocity_names, fast, strict=True) if exceeds]
            lines.append(f"speed limits exceeded by {shown(dict.fromkeys(joints))}")
        return "; ".join(lines)


def follow(
    robot: Robot,
    poses: Any,
    q0: Any,
    link: str | None,
    times: Any,
    limits: bool,
    task: str,
    axis: Any,
    weights: Any,
    tolerance: Any,
    seed: int,
) -> FollowedPath:
    """See `Robot.follow`."""
    if isinstance(poses, Mapping):
        raise ShapeError("follow: poses must be the path of one link, an array; name the link with link=...")
    wanted = asked(robot, "follow", poses, link, task, axis, weights, tolerance, "lm")
    targets = wanted.targets
    if targets.ndim < 2 or not targets.shape[-2]:
        raise ShapeError(
            f"follow: poses must be a path (..., T, 4, 4) of at least one, got {targets.shape[:-1]} of them"
        )
    refuse_nonfinite(targets, "follow: poses")
    search = prepared(robot, wanted, limits, 0, ITERATIONS, seed)
    batch, count = targets.shape[:-2], targets.shape[-2]
    when = _times(times, count)
    start = _first(robot, poses, q0, link, limits, task, axis, weights, tolerance, seed)
    try:
        start = np.broadcast_to(np.clip(start, search.lower, search.upper), (*batch, robot.nq)).reshape(-1, robot.nq)
    except ValueError:
        raise ShapeError(f"follow: q0 {start.shape} does not fit the batch {batch} of paths") from None
    rows = targets.reshape(-1, count, targets.shape[-1])
    q = tracker(search.problem, print_of(robot))(start, search.parameters(rows[:, 0]), rows)
    flat, aims = q.reshape(-1, robot.nq), rows.reshape(-1, rows.shape[-1])
    error = np.max(list(measured(robot, search, flat, aims).values()), axis=0)
    success = (error <= search.tolerances).all(axis=-1) & within(search, flat)
    q = q.reshape((*batch, count, robot.nq))
    moved = robot.difference(q[..., :-1, :], q[..., 1:, :])
    shape = (*batch, count)
    return FollowedPath(
        q, success.reshape(shape), error.reshape((*shape, 2)), moved, when, robot.limits.velocity,
        tuple(joint.name for joint in robot.model.moving for _ in range(joint.kind.nv)),
    )  # fmt: skip


def _first(robot: Robot, poses: Any, q0: Any, link: Any, limits: bool, *rest: Any) -> Array:
    """The start: the one given, or a configuration for the first pose."""
    if q0 is not None:
        start = starts_of(robot, q0, "follow")
        refuse_nonfinite(start, "follow: q0")
        return start
    task, axis, weights, tolerance, seed = rest
    array = np.asarray(poses)
    first = array[..., 0, :] if array.shape[-2:] != (4, 4) and task in ("position", "pointing") else array[..., 0, :, :]
    return robot.inverse_kinematics(
        first, None, link, limits=limits, task=task, axis=axis, weights=weights, tolerance=tolerance, seed=seed
    ).q


def _times(times: Any, count: int) -> Array | None:
    if times is None:
        return None
    array = real_array(times, "follow: times").astype(float)
    if array.shape != (count,):
        raise ShapeError(f"follow: times must be one for each of the {count} poses, got shape {array.shape}")
    refuse_nonfinite(array, "follow: times")
    if (np.diff(array) <= 0).any():
        raise ShapeError("follow: times must increase from pose to pose")
    return array


Track = Callable[[Array, Array, Array], Array]
"""From starts (rows, nq), parameters (rows, count) and targets (rows, T, numbers), configurations (rows, T, nq)."""


def tracked(problem: Problem, iterate: Callable[[Scalars], list[Scalar]], q: Scalars) -> list[Scalar]:
    """The configuration for the next pose, from that of the one before."""
    unknown = [0.0] * (problem.state - problem.model.nq - SUMMARY)
    state: list[Scalar] = [*q, FAR, FAR, 0.01, 0.0, *unknown]
    for _ in range(ITERATIONS):
        state = iterate(state)
    return state[: problem.model.nq]


class _Compiled:
    def __init__(self, problem: Problem) -> None:
        own = problem.parameters - problem.targets
        outliner = Outliner((own, problem.model.nq, 3 * problem.targets))
        parameters, q, signals = outliner.inputs
        given = [*parameters, *signals[: problem.targets]]

        def iterate(state: Scalars) -> list[Scalar]:
            return outliner.call("iteration", lambda s, p: iteration(problem, s, p), state, given)

        after = tracked(problem, iterate, q)
        self.rollout = Rollout(
            outliner.finished([*after, *after]), problem.model.nq, engine.vector_bits() // 64, problem.model.name
        )

    def __call__(self, start: Array, parameters: Array, targets: Array) -> Array:
        rows, count, numbers = targets.shape
        signals = np.repeat(targets, 3, axis=1)  # the three stages of a step see the same pose
        q = np.empty((rows, count, start.shape[1]))
        own = np.ascontiguousarray(parameters[:, :-numbers])
        self.rollout(np.array(start, order="C"), own, signals, count, 1, q)
        return q


class _Inline:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def __call__(self, start: Array, parameters: Array, targets: Array) -> Array:
        q = np.empty((len(start), targets.shape[1], start.shape[1]))
        own, at = scalars_of(parameters[:, : -targets.shape[2]]), scalars_of(np.array(start))
        with np.errstate(all="ignore"):
            for k in range(targets.shape[1]):
                given = [*own, *scalars_of(targets[:, k])]
                at = tracked(self.problem, lambda state, given=given: iteration(self.problem, state, given), at)  # type: ignore[misc]
                for i, value in enumerate(at):
                    q[:, k, i] = value
        return q


def tracker(problem: Problem, print_: str | None) -> Track:
    """What follows a path, compiled or inline."""
    if print_ is None or problem.n > LARGEST:
        return _Inline(problem)
    built: _Compiled = kept((print_, problem.goals, "path"), lambda: _Compiled(problem))
    return built
