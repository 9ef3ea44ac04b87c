"""Paths of poses: each configuration found from the one before, the whole path as one compiled loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import ACCELERATION_UNITS, TWIST_UNITS, Array, real_array, refuse_nonfinite, rows_of
from chainrule.compile.backend import LoopShape, OutlinedCall, Traceable, active
from chainrule.core.closure import closure_of
from chainrule.core.derived import backend_of, merged_fingerprint
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError, quoted
from chainrule.inverse_kinematics.goals import Goal
from chainrule.inverse_kinematics.iterate import iteration_cost
from chainrule.inverse_kinematics.measure import Measure
from chainrule.inverse_kinematics.methods import SUMMARY_SIZE, SearchProblem, iteration, unknown_summary
from chainrule.inverse_kinematics.request import SearchRequest, poses_in_order, read_starts
from chainrule.inverse_kinematics.result import ROUNDING, Truths
from chainrule.inverse_kinematics.search import iteration_parameters
from chainrule.inverse_kinematics.solve import solve
from chainrule.kinematics.configurations import difference
from chainrule.kinematics.differential import resolved_acceleration, resolved_rate
from chainrule.kinematics.poses import jacobian_dot
from chainrule.kinematics.tasks import jacobian_rows, pseudo_inverse, rows_of_task
from chainrule.lazy import cached_property
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]

ITERATIONS_PER_POSE = 12
"""Iterations for each pose of a path."""
SPLINE_DEGREE = 5
"""The degree of the curve through configurations whose derivatives are velocities and accelerations."""
MIN_SPLINE_POSES = 3
"""Poses without which such a curve has no acceleration."""
DAMPING_SHARE_ON_PATHS = 0.01
"""The ratio of damping and cost at the beginning, near the configuration before."""


@dataclass(frozen=True, eq=False, repr=False)
class FollowedPath(Shown):
    """Configurations along a path of poses."""

    q: Array
    """Configurations (..., T, nq), in rad and m."""
    success: Truths
    """Whether each pose is reached within the tolerance and the limits: (..., T)."""
    error: Array
    """Remaining errors of position and orientation, in m and rad: (..., T, 2)."""
    steps: Array
    """Displacement of each degree of freedom from one pose to the next: (..., T - 1, n)."""
    times: Array | None
    """The time of each pose (T,), in s, if given."""
    speed_limits: Array
    """Speed limits of the joints (n,), in rad/s and m/s."""
    velocity_names: tuple[str, ...]
    """The name of each degree of freedom."""
    resolved: tuple[Array, Array] | None = None
    """Joint velocities and accelerations (..., T, n) that make those of the link, where these were given."""

    @cached_property
    def qd(self) -> Array:
        """Joint velocities (..., T, n), in rad/s and m/s.

        Those that make the velocity of the link, the smallest of a redundant arm; or, where poses alone were given, the
        derivative of the smooth curve through q, a spline of fifth degree.
        """
        return self._derivative(1) if self.resolved is None else self.resolved[0]

    @cached_property
    def qdd(self) -> Array:
        """Joint accelerations (..., T, n), in rad/s^2 and m/s^2: the rates of `qd`."""
        return self._derivative(2) if self.resolved is None else self.resolved[1]

    def _derivative(self, order: int) -> Array:
        if self.times is None:
            raise ShapeError("follow: without times=... there are no velocities; give the time of each pose")
        if self.q.shape[-1] != len(self.velocity_names):
            raise ShapeError(
                "follow: the numbers of q are not those of qd (quaternions), so that velocities do not come from poses "
                "alone; give the motion of the link, such as cr.plan_pose(...), or velocities and accelerations"
            )
        if len(self.times) < MIN_SPLINE_POSES:
            raise ShapeError(
                f"follow: velocities and accelerations by a curve through q need at least {MIN_SPLINE_POSES} poses, "
                f"got {len(self.times)}; give the motion of the link, such as cr.plan_pose(...)"
            )
        from scipy.interpolate import make_interp_spline

        curve = make_interp_spline(self.times, self.q, k=min(SPLINE_DEGREE, len(self.times) - 1), axis=-2)
        return np.asarray(curve.derivative(order)(self.times))

    @property
    def largest_step(self) -> float:
        """The largest displacement of any joint between two poses, in rad or m."""
        return float(np.abs(self.steps).max(initial=0.0))

    @cached_property
    def speeds(self) -> Array:
        """Mean speeds between the poses (..., T - 1, n), in rad/s and m/s."""
        if self.times is None:
            raise ShapeError("follow: without times=... there are no speeds; give the time of each pose")
        return self.steps / np.diff(self.times)[:, None]

    @cached_property
    def too_fast(self) -> Truths:
        """Whether a mean speed exceeds the joint's limit: (..., T - 1, n)."""
        fast: Truths = np.abs(self.speeds) > self.speed_limits
        return fast

    def _view(self) -> Iterator[str | Table]:
        lines = [
            f"{int(self.success.sum())} of {self.success.size} poses reached, largest step {self.largest_step:.3g}"
        ]
        if self.times is not None and self.too_fast.any():
            fast = np.asarray(self.too_fast.reshape(-1, len(self.velocity_names)).any(axis=0))
            names = [name for name, exceeds in zip(self.velocity_names, fast, strict=True) if exceeds]
            lines.append(f"speed limits exceeded by {quoted(names)}")
        yield "; ".join(lines)
        millimeters, turned = 1e3 * self.error[..., 0].max(initial=0.0), np.degrees(self.error[..., 1].max(initial=0.0))
        millimeters, turned = (0.0 if x < ROUNDING else x for x in (millimeters, turned))
        yield f"largest errors: {millimeters:.3g} mm, {turned:.3g} deg"
        n = len(self.velocity_names)
        steps = np.abs(self.steps).reshape(-1, n).max(axis=0, initial=0.0)
        header, columns = ["joint", "largest step"], [self.velocity_names, steps.tolist()]
        if self.times is not None:
            header += ["largest speed", "limit"]
            speeds = np.abs(self.speeds).reshape(-1, n).max(axis=0, initial=0.0)
            columns += [speeds.tolist(), self.speed_limits.tolist()]
        yield Table(header, [*zip(*columns, strict=True)])


def follow(
    robot: Mechanism,
    poses: ArrayLike | Callable[[Array], tuple[Array, Array, Array]],
    q0: ArrayLike | None = None,
    link: str | None = None,
    *,
    times: ArrayLike | None = None,
    velocities: ArrayLike | None = None,
    accelerations: ArrayLike | None = None,
    limits: bool = True,
    task: str = "pose",
    axis: ArrayLike = (0.0, 0.0, 1.0),
    order: str = "rpy",
    weights: ArrayLike | None = None,
    tolerance: float | tuple[float, float] = 1e-6,
    seed: int = 0,
) -> FollowedPath:
    """Configurations along a path of poses, each found from the one before, on the same branch; with times, qd and qdd.

    Poses that are not reached are marked, and the path goes on from the nearest configuration found.

    Parameters
    ----------
    poses
        A path of T poses in the base frame (..., T, 4, 4); or of what else the task takes. Or a motion of the link,
        such as `cr.plan_pose` gives: a function from times to poses, velocities and accelerations.
    q0
        The configuration (..., nq) at the beginning. Without it, the path begins at a configuration for its first
        pose.
    link
        The link or frame; the end-effector unless one is named.
    times
        The time of each pose (T,), in s: gives the mean speeds between the poses, to be compared with the joints'
        limits, and `qd` and `qdd`.
    velocities, accelerations
        Those of the link at each pose (..., T, 6), in the frame "world" as of `velocity` and `acceleration`, both or
        none. With a motion they come from it; from poses alone, `qd` and `qdd` are derivatives of a spline through q.
    limits, task, axis, order, weights, tolerance
        As in `inverse_kinematics`.
    seed
        Chooses the random configurations from which the first pose is tried.

    Returns
    -------
    FollowedPath
        `q` (..., T, nq), `success`, `error`, `steps`, and with times also `qd`, `qdd`, `speeds` and `too_fast`.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> motion = cr.plan_pose(arm.pose([[0.3, 0.9], [0.8, 1.2]]), times=1.0)
    >>> path = arm.ik.follow(motion, [0.3, 0.9], times=[0.0, 0.5, 1.0], task="position")
    >>> path.q.shape, path.qd.shape, path.qdd.shape
    ((3, 2), (3, 2), (3, 2))
    """
    if callable(poses):
        poses, velocities, accelerations = _sample_motion(poses, times, velocities, accelerations)
    if isinstance(poses, Mapping):
        raise ShapeError("follow: poses must be the path of one link, an array; name the link with link=...")
    poses = poses_in_order(poses, order, "follow")
    request, targets = SearchRequest.read(
        robot, "follow", poses, link, limits=limits, task=task, axis=axis, weights=weights, tolerance=tolerance,
        seed=seed,
    )  # fmt: skip
    if targets.ndim < 2 or not targets.shape[-2]:
        raise ShapeError(
            f"follow: poses must be a path (..., T, 4, 4) of at least one, got {targets.shape[:-1]} of them"
        )
    refuse_nonfinite(targets, "follow: poses")
    batch, count, nq = targets.shape[:-2], targets.shape[-2], robot.nq
    when = _read_times(times, count)
    if q0 is None:
        start = solve(robot, request, targets[..., 0, :]).q
    else:
        start = read_starts(robot, q0, "follow")
        refuse_nonfinite(start, "follow: q0")
    try:
        start = np.broadcast_to(request.bounds.clip(start), (*batch, nq)).reshape(-1, nq)
    except ValueError:
        raise ShapeError(f"follow: q0 {start.shape} does not fit the batch {batch} of paths") from None
    rows = targets.reshape(-1, count, targets.shape[-1])
    parameters = iteration_parameters(request.bounds, request.tolerances, rows[:, 0])
    q = path_loop(request.problem, robot)(start, parameters, rows)
    flat, aims = q.reshape(-1, nq), rows.reshape(-1, rows.shape[-1])
    bounds, tolerances = request.bounds, request.tolerances
    errors, inside, _ = Measure(request.problem, robot)(flat, iteration_parameters(bounds, tolerances, aims))
    error = errors[:, 0]
    success = (error <= tolerances).all(axis=-1) & inside
    if robot.model.constraints:
        success &= closure_of(robot).is_closed(flat)
    q = q.reshape((*batch, count, nq))
    steps = difference(robot, q[..., :-1, :], q[..., 1:, :])
    shape = (*batch, count)
    rates = _read_rates(velocities, accelerations, when, shape)
    return FollowedPath(
        q, success.reshape(shape), error.reshape((*shape, 2)), steps, when, robot.limits.velocity,
        robot.velocity_names, None if rates is None else _resolve(robot, request.problem.goals[0], q, *rates),
    )  # fmt: skip


PRESCRIBING = ("pose", "position", "orientation")
"""Tasks that prescribe whole rows of the Jacobian; others prescribe less."""


def _sample_motion(motion: Callable[..., Any], times: Any, velocities: Any, accelerations: Any) -> tuple[Any, Any, Any]:
    """Poses, velocities and accelerations of a motion at the given times."""
    if velocities is not None or accelerations is not None:
        raise ShapeError("follow: a motion has its own velocities and accelerations; leave them out, or give poses")
    if times is None:
        raise ShapeError("follow: give times=..., at which the motion is followed, in s")
    try:
        T, V, A = motion(real_array(times, "follow: times", "s").astype(float))
    except Exception as error:  # whatever a user's function raises
        raise ShapeError(
            f"follow: a motion gives poses, velocities and accelerations for times, as cr.plan_pose does: {error}"
        ) from error
    return T, V, A


def _read_rates(
    velocities: Any, accelerations: Any, times: Array | None, shape: tuple[int, ...]
) -> tuple[Array, Array] | None:
    """Velocities and accelerations of the link (..., T, 6), checked; None where none were given."""
    if velocities is None and accelerations is None:
        return None
    if velocities is None or accelerations is None or times is None:
        raise ShapeError("follow: velocities=..., accelerations=... and times=... go together")
    found = []
    for what, value, units in (
        ("velocities", velocities, TWIST_UNITS),
        ("accelerations", accelerations, ACCELERATION_UNITS),
    ):
        array = rows_of(value, 6, f"follow: {what}", "angular and linear", units).astype(float)
        if array.shape != (*shape, 6):
            raise ShapeError(f"follow: {what} must be one for each pose, {(*shape, 6)}, got shape {array.shape}")
        refuse_nonfinite(array, f"follow: {what}")
        found.append(array)
    return found[0], found[1]


def _resolve(robot: Mechanism, goal: Goal, q: Array, V: Array, A: Array) -> tuple[Array, Array]:
    """Joint velocities and accelerations for those of the link.

    The velocities are J^+ V, and the accelerations their rates: besides J^+ (A - dJ/dt qd), in the null space
    (dJ/dt)^T (J^+)^T qd, from the rate of J^+.
    """
    if goal.task not in PRESCRIBING or not all(goal.weights):
        raise ShapeError(
            "follow: velocities of the link tell those of the joints for the tasks 'pose', 'position' and "
            "'orientation' without weights of zero; give poses alone, motion(t)[0], for others"
        )
    rows = list(rows_of_task(goal.task))
    qd = resolved_rate(robot, q, V[..., rows], goal.link, task=goal.task)
    if robot.model.constraints:
        return qd, resolved_acceleration(robot, q, qd, A[..., rows], goal.link, task=goal.task)
    J = jacobian_rows(robot, q, goal.link, goal.task)
    Jd = jacobian_dot(robot, q, qd, goal.link)[..., rows, :]
    z = np.swapaxes(Jd, -1, -2) @ (np.swapaxes(pseudo_inverse(J), -1, -2) @ qd[..., None])
    return qd, resolved_acceleration(robot, q, qd, A[..., rows], goal.link, task=goal.task, null_acceleration=z[..., 0])


def _read_times(times: ArrayLike | None, count: int) -> Array | None:
    if times is None:
        return None
    array = real_array(times, "follow: times", "s").astype(float)
    if array.shape != (count,):
        raise ShapeError(f"follow: times must be one for each of the {count} poses, got shape {array.shape}")
    refuse_nonfinite(array, "follow: times")
    if (np.diff(array) <= 0).any():
        raise ShapeError("follow: times must increase from pose to pose")
    return array


Track = Callable[[Array, Array, Array], Array]
"""From starts (rows, nq), parameters (rows, count) and targets (rows, T, numbers), configurations (rows, T, nq)."""


def next_configuration(problem: SearchProblem, iterate: Callable[[Scalars], Scalars], q: Scalars) -> Scalars:
    """The configuration for the next pose, from that of the one before."""
    unknown = [0.0] * (problem.state_size - problem.model.nq - SUMMARY_SIZE)
    state: Scalars = [*q, *unknown_summary(DAMPING_SHARE_ON_PATHS), *unknown]
    for _ in range(ITERATIONS_PER_POSE):
        state = iterate(state)
    return state[: problem.model.nq]


def path_loop(problem: SearchProblem, robot: Mechanism) -> Track:
    """The loop over the poses of a path, compiled or interpreted as the robot is."""
    nq, own = problem.model.nq, problem.parameter_size - problem.target_size

    def text(call: OutlinedCall, parameters: Scalars, q: Scalars, signals: Scalars) -> list[Scalar]:
        given = [*parameters, *signals[: problem.target_size]]

        def iterate(state: Scalars) -> Scalars:
            return call("iteration", lambda s, p: iteration(problem, s, p), state, given)

        after = next_configuration(problem, iterate, q)
        return [*after, *after]

    backend = active(backend_of(robot))
    key = (merged_fingerprint(robot), problem.goals, "path") if backend.compiles else None
    source = Traceable(text, key, problem.model.name, "path", iteration_cost(problem))
    loop = backend.scan(source, LoopShape(own, nq, problem.target_size, nq))

    def track(start: Array, parameters: Array, targets: Array) -> Array:
        rows, count, _ = targets.shape
        q = np.empty((rows, count, nq))
        signals = np.repeat(targets, 3, axis=1)  # the three stages of a step see the same pose
        loop(np.array(start, order="C"), parameters[:, :own], count, signals, q)
        return q

    return track
