"""Inverse kinematics by iteration: configurations that bring links to their targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, flag, together
from chainrule.compile.backend import active
from chainrule.compile.cuda.device_arrays import device_number
from chainrule.core.at import takes_parameters, unbind
from chainrule.core.closure import closure_of
from chainrule.core.declaration import takes_dask
from chainrule.core.derived import backend_of
from chainrule.core.parameter_values import NO_PARAMETERS, ParameterValues, read_parameters, refuse_moving
from chainrule.errors import ShapeError
from chainrule.inverse_kinematics.bounds import Bounds
from chainrule.inverse_kinematics.device import solve_on_device
from chainrule.inverse_kinematics.history import IterationHistory
from chainrule.inverse_kinematics.iterate import solver
from chainrule.inverse_kinematics.keep_clear import keep_clear, read_room
from chainrule.inverse_kinematics.measure import Measure
from chainrule.inverse_kinematics.periods import periods
from chainrule.inverse_kinematics.posture import POSTURE_ITERATIONS, posture_loop
from chainrule.inverse_kinematics.request import SearchRequest, pose_dimensions, poses_in_order, read_starts
from chainrule.inverse_kinematics.result import InverseKinematics, Truths
from chainrule.inverse_kinematics.search import BestSoFar, Search
from chainrule.inverse_kinematics.seeds import seeds_of
from chainrule.inverse_kinematics.task_rank import has_singular_jacobian
from chainrule.kinematics.configurations import difference, neutral
from chainrule.model.parameters import find_parameters

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.bodies.world import World
    from chainrule.core.mechanism import Mechanism

RESTARTS_WITHOUT_LIMITS = 4
"""Restarts without limits, to find out whether the limits keep a target from being reached."""


@takes_parameters
@takes_dask(by_reference=True, target=pose_dimensions)
def inverse_kinematics(
    robot: Mechanism,
    target: ArrayLike | Mapping[str, ArrayLike],
    q0: ArrayLike | None = None,
    link: str | None = None,
    *,
    method: str = "lm",
    limits: bool = True,
    task: str | Mapping[str, str] = "pose",
    axis: ArrayLike = (0.0, 0.0, 1.0),
    order: str = "rpy",
    weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
    tolerance: float | tuple[float, float] = 1e-6,
    posture: str | ArrayLike | None = None,
    restarts: int = 100,
    max_iterations: int = 60,
    seed: int = 0,
    history: bool = False,
    device: str | None = None,
    world: World | None = None,
    clearance: float | None = None,
) -> InverseKinematics:
    """Configurations that bring a link or frame to targets, with closed loops closed.

    Forward kinematics decides about `success`: every error is within the tolerance, every joint within its limits and
    every loop closed. Where it is false, `q` is the nearest configuration found and `reason` says why. Numbers that are
    not finite concern their own row only.

    Parameters
    ----------
    target
        Poses in the base frame (..., 4, 4), batched; or pose vectors (..., 6) as `pose_vector` gives them, x, y, z in m
        and three angles in rad; or a dictionary of links and their targets, all to be reached by one configuration.
    q0
        Initial guesses (..., nq), clipped to the joint limits. Without it, iterations begin at the best of some random
        configurations.
    link
        The link or frame; the end-effector unless one is named.
    method
        "lm", Levenberg and Marquardt's method with the limits as bounds; or the steps of the textbooks, cut off at the
        limits: "newton" (as many joints as independent equations), "pseudo_inverse" and "transpose".
    limits
        Whether solutions must keep the joints' limits.
    task
        "pose"; "position", also of points (..., 3); "orientation", also of rotations (..., 3, 3); "axis", the position
        and the direction of the `axis`, with free rotation about it; "pointing", that direction alone, also of
        directions (..., 3). Or a dictionary of links and their tasks.
    axis
        The direction in the link's frame that the tasks "axis" and "pointing" align.
    order
        Of the angles of pose vectors: "rpy", roll, pitch and yaw, or three letters such as "zyz", as of `pose_vector`.
    weights
        Six numbers, three of the rotation and three of the position, in the target's axes: how much each error counts,
        where a meter counts as much as a radian. An error of weight zero is ignored.
    tolerance
        The largest error of a solution, in m and rad: one number, or two.
    posture
        A configuration (nq,) that a redundant arm approaches as far as the target allows, or "center" of the limits.
    restarts
        How many times targets that are not solved start again from random configurations. Of the solutions found
        together, the nearest to q0 is taken.
    max_iterations
        Iterations from one start.
    seed
        Chooses the random configurations.
    history
        Whether every iterate is recorded, for one target: the result's `history` has configurations, errors and steps,
        and draws them. There are no restarts then, so that what is recorded is all that was done.
    device
        "cuda" or "cuda:1" for a search on a graphics processor, for millions of targets, by the method "lm". Arrays of
        CuPy, PyTorch or JAX stay on the device, in float32 or float64; arrays of NumPy are copied there and back.
    world, clearance
        Obstacles, and the smallest distance in m, 0 where only a world is given, that the robot's bodies keep from them
        and from each other. Where no solution does, the reason is "in the way", and `in_the_way` names the bodies.

    Numbers that are bound by `robot.at({...})` are lengths, and places of joints and frames: "elbow.origin",
    "forearm.length". Their batch broadcasts with that of the targets.

    Returns
    -------
    InverseKinematics
        `q` (..., nq), `success`, `error`, `iterations` and `reason`; `rank`, how many of the task's `equations` are
        independent on this robot.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.inverse_kinematics([0.0, 1.6, 0.0], q0=[0.1, 1.0], task="position").q.round(6).tolist()
    [0.927295, 1.287002]
    >>> newton = arm.inverse_kinematics([0.0, 1.6, 0.0], [0.1, 1.0], method="newton", task="position", history=True)
    >>> len(newton.history), newton.history.error[:, 0].round(4).tolist()
    (6, [1.5714, 1.2481, 1.1011, 0.435, 0.048, 0.0012, 0.0])
    """
    caller = "inverse_kinematics"
    robot, parameters = unbind(robot)
    target = poses_in_order(target, order, caller)
    number = device_number(device, caller)
    if number is not None:
        if parameters is not None:
            raise ShapeError(
                f"{caller}: numbers bound by robot.at(...) are for searches on the CPU; leave out device=..."
            )
        only_cpu = {"history": history, "world": world is not None, "clearance": clearance is not None}
        request = _device_request(
            robot, caller, target, link, method, only_cpu, limits=limits, task=task, axis=axis, weights=weights,
            tolerance=tolerance, posture=posture, restarts=restarts, max_iterations=max_iterations, seed=seed,
        )  # fmt: skip
        return solve_on_device(robot, request, target, q0, number, caller)
    numbers = _read_places(robot, caller, parameters)
    request, targets = SearchRequest.read(
        robot, caller, target, link, method, limits=limits, task=task, axis=axis, weights=weights,
        tolerance=tolerance, posture=posture, restarts=restarts, max_iterations=max_iterations, seed=seed,
        opened=numbers.names,
    )  # fmt: skip
    if numbers.names:
        given = dict(zip(numbers.labels, numbers.arrays, strict=True))
        targets = np.concatenate(together({"target": targets, **given}, caller), axis=-1)
    starts = None if q0 is None else read_starts(robot, q0, caller)
    room = read_room(world, clearance, caller)
    if room is not None:
        if numbers.names or history:
            other = "history=..." if history else "the numbers bound by robot.at(...)"
            raise ShapeError(f"{caller}: solutions that keep clear are found without {other}; leave that out")
        found = solve(robot, request, targets, starts)
        return keep_clear(robot, search_of(robot, request), request, found, targets, starts, room)
    if not flag(history, f"{caller}: history"):
        return solve(robot, request, targets, starts)
    return _solve_with_history(robot, request, targets, starts)


def _device_request(
    robot: Mechanism, caller: str, target: Any, link: Any, method: str, only_cpu: dict[str, Any], **options: Any
) -> SearchRequest:
    """The request for a search on a device, whose targets are read there; refused where only the CPU can do it."""
    for name, value in only_cpu.items():
        if value:
            raise ShapeError(f"{caller}: {name} is for searches on the CPU; leave out {name}=... or device=...")
    anything = {name: np.eye(4) for name in target} if isinstance(target, Mapping) else np.eye(4)
    request, _ = SearchRequest.read(robot, caller, anything, link, method, **options)
    return request


def _read_places(robot: Mechanism, caller: str, parameters: Any) -> ParameterValues:
    """Places of joints and frames in place of the robot's own."""
    if parameters is None:
        return NO_PARAMETERS
    numbers = read_parameters(robot.model, caller, parameters)
    refuse_moving(robot.model, numbers, caller)
    for parameter in find_parameters(robot.model, numbers.names):
        if not parameter.kind.moves:
            raise ShapeError(f"{caller}: parameter {parameter.full_name!r} moves no link; leave it out")
    return numbers


def _solve_with_history(
    robot: Mechanism, request: SearchRequest, target: Array, start: Array | None
) -> InverseKinematics:
    """The result of one search without restarts, and all its iterates."""
    batch = target.shape[:-1] if start is None else _batch(target, start)
    if batch:
        raise ShapeError(f"inverse_kinematics: history=True records one target and one start, got a batch {batch}")
    if request.posture is not None:
        raise ShapeError("inverse_kinematics: history=True records the way to the target; leave out posture=...")
    request = replace(request, restarts=0, kept={})
    search = search_of(robot, request)
    if not np.isfinite(target).all() or (start is not None and not np.isfinite(start).all()):
        return solve(robot, request, target, start)
    if start is None:
        start = search.first_starts(target)[0]
    start = search.bounds.clip(start)
    q = search.record(target, start)
    errors = search.measure(q, search.parameters(np.tile(target, (len(q), 1)))).errors
    steps = difference(robot, q[:-1], q[1:])
    method = request.problem.method
    singular = method == NEWTON and bool(has_singular_jacobian(robot, request.problem, q[:1])[0])
    history = IterationHistory(method, q, errors.max(axis=1), steps, robot.coordinate_names, singular)
    return replace(solve(robot, replace(request, max_iterations=len(q), kept={}), target, start), history=history)


def _batch(targets: Array, starts: Array) -> tuple[int, ...]:
    """The batch dimensions of targets and starts together."""
    batch = targets.shape[:-1]
    try:
        return np.broadcast_shapes(batch, starts.shape[:-1])
    except ValueError:
        raise ShapeError(
            f"inverse_kinematics: the leading (batch) dimensions of target {batch} and q0 {starts.shape[:-1]} do not "
            "fit together"
        ) from None


def solve(robot: Mechanism, request: SearchRequest, targets: Array, starts: Array | None = None) -> InverseKinematics:
    """The result for a request, its targets (..., numbers) and starts (..., nq)."""
    search = search_of(robot, request)
    if targets.ndim == 1 and (starts is None or starts.ndim == 1) and request.posture is None:
        one = _solve_one(robot, search, targets, starts)
        if one is not None:
            return _result(robot, request, *_tell_singular_starts(robot, request, starts, one))
    batch = targets.shape[:-1]
    if starts is not None:
        batch = _batch(targets, starts)
        targets = np.broadcast_to(targets, (*batch, targets.shape[-1]))
        starts = np.broadcast_to(starts, (*batch, starts.shape[-1])).reshape(-1, starts.shape[-1])
    rows = targets.reshape(-1, targets.shape[-1])
    found: Solution | None = None
    if 0 < len(rows) <= MAX_ROWS_ONE_BY_ONE and request.posture is None:
        found = _solve_one_by_one(robot, search, rows, starts)
    found = found or _solve_rows(robot, search, rows, starts, request.posture)
    q, success, iterations, reason, errors = _tell_singular_starts(robot, request, starts, found)
    if len(batch) != 1:
        q, success, iterations, reason = (
            a.reshape((*batch, *a.shape[1:]))[()] for a in (q, success, iterations, reason)
        )
        errors = errors.reshape((*batch, *errors.shape[1:]))
    return _result(robot, request, q, success, iterations, reason, errors)


def _tell_singular_starts(
    robot: Mechanism, request: SearchRequest, starts: Array | None, found: Solution
) -> Solution:  # fmt: skip
    """The same with the reason of Newton's method where it failed for its start, from which alone it was to go."""
    q, success, iterations, reason, errors = found
    if request.problem.method != NEWTON or request.restarts or starts is None or np.all(success):
        return found
    rows = starts.reshape(-1, starts.shape[-1])
    missed = np.isfinite(rows).all(axis=-1) & (np.ravel(reason) == NOT_REACHED)
    missed[missed] = has_singular_jacobian(robot, request.problem, rows[missed])
    told = np.where(missed.reshape(np.shape(reason)), SINGULAR_START, reason)[()]
    return q, success, iterations, told, errors


def _result(
    robot: Mechanism, request: SearchRequest, q: Array, success: Any, iterations: Any, reason: Any, errors: Array
) -> InverseKinematics:
    """The result with errors (..., goals, 2) of each goal."""
    each = {goal.link: errors[..., k, :] for k, goal in enumerate(request.problem.goals)}
    error = errors.max(axis=-2) if errors.shape[-2] > 1 else errors[..., 0, :].copy()
    return InverseKinematics(q, success, error, iterations, reason, each, robot.coordinate_names, *request.rank[:2])


SOLVED, NOT_FINITE, NOT_REACHED, LIMITS, SINGULAR_START = (
    np.str_(reason) for reason in ("", "not finite", "not reached", "limits", "singular start")
)
"""Reasons of a result."""
NEWTON = "newton"
REASON_TYPE = "<U16"
MAX_ROWS_ONE_BY_ONE = 3
"""Targets that are solved sooner one after the other than together."""

Solution = tuple[Array, Any, Any, Any, Array]
"""Configurations, successes, iterations, reasons and errors of each goal."""


def _solve_one_by_one(robot: Mechanism, search: Search, targets: Array, starts: Array | None) -> Solution | None:
    """The solutions of a few rows of targets; None for what only `_solve_rows` can do."""
    each = []
    for k, target in enumerate(targets):
        one = _solve_one(robot, search, target, None if starts is None else starts[k])
        if one is None:
            return None
        each.append(one)
    q, success, iterations, reason, errors = zip(*each, strict=True)
    return np.array(q), np.array(success), np.array(iterations), np.array(reason, dtype=REASON_TYPE), np.array(errors)


def _solve_one(robot: Mechanism, search: Search, target: Array, start: Array | None) -> Solution | None:
    """The solution for one target (numbers,) and one start (nq,); None for what only `_solve_rows` can do."""
    if robot.model.constraints:
        return None
    near = search.home
    if start is not None:
        if not all(map(isfinite, start.tolist())):
            return None
        near = search.bounds.clip(start)
    if not all(map(isfinite, target.tolist())):
        return None
    work = search.take_workspace()
    q, iterations = work.iterate(target, None if start is None else near)
    q = search.shift(q, near)
    errors, inside = work.measure(q)
    search.give_back(work)
    reason, success = SOLVED, inside and search.are_within_tolerances(errors)
    if not success:
        reason = LIMITS if _reachable_without_limits(search, q[None], target[None])[0] else NOT_REACHED
    return q, np.bool_(success), np.int64(iterations), reason, errors


def _solve_rows(
    robot: Mechanism, search: Search, targets: Array, starts: Array | None, posture: Array | None
) -> Solution:
    """The solutions for rows of targets (rows, numbers)."""
    near = search.home if starts is None else search.bounds.clip(starts)
    parameters, reason = search.parameters(targets), np.zeros(len(targets), dtype=REASON_TYPE)
    finite = None
    if np.isfinite(targets).all() and (starts is None or np.isfinite(starts).all()):
        q, iterations = _search_rows(robot, search, parameters, near, starts is not None, posture)
    else:
        finite = np.isfinite(targets).all(axis=-1)
        if starts is not None:
            finite &= np.isfinite(starts).all(axis=-1)
            near = np.where(np.isfinite(starts), near, search.home)
        near = np.broadcast_to(near, (len(targets), len(search.home)))
        q, iterations = near.copy(), np.zeros(len(targets), dtype=int)
        found = _search_rows(robot, search, parameters[finite], near[finite], starts is not None, posture)
        q[finite], iterations[finite] = found
        reason[~finite] = NOT_FINITE
    closed = _close_loops(robot, search.bounds, q) if robot.model.constraints else None
    errors, good, _ = search.measure(q, parameters)
    good &= search.within_tolerances(errors)
    for condition in (finite, closed):
        if condition is not None:
            good &= condition
    if not good.all():
        failed = np.flatnonzero(~good if finite is None else ~good & finite)
        reason[failed] = NOT_REACHED
        reason[failed[_reachable_without_limits(search, q[failed], targets[failed])]] = LIMITS
    return q, good, iterations, reason, errors


def _search_rows(
    robot: Mechanism, search: Search, parameters: Array, near: Array, is_start: bool, posture: Array | None
) -> tuple[Array, Any]:
    """Configurations and iterations for rows of parameters; `near`, (nq,) or (rows, nq), may be where they start."""
    if not len(parameters):
        return np.zeros((0, len(search.home))), np.zeros(0, dtype=int)
    best = search.run(parameters, near if is_start else None)
    if posture is not None:
        _approach_posture(robot, search, best, search.targets(parameters), posture)
    q = best.q if best.q.flags.owndata else best.q.copy()
    return search.shift(q, near), best.iterations.astype(int)


def _close_loops(robot: Mechanism, bounds: Bounds, q: Array) -> Truths:
    """Move configurations (rows, nq) to closed ones where that is possible, and say which are closed."""
    closed = closure_of(robot).is_closed(q)
    left = np.flatnonzero(~closed)
    if len(left):
        states, good = closure_of(robot).close(q[left])
        good &= bounds.contain(states)
        q[left[good]], closed[left[good]] = states[good], True
    return closed


def _reachable_without_limits(search: Search, q: Array, targets: Array) -> Truths:
    """Whether targets are reached from q once there are no limits."""
    if not len(q) or not search.bounds.are_finite:
        return np.zeros(len(q), dtype=bool)
    unlimited = replace(search, bounds=Bounds.infinite(q.shape[1]), restarts=RESTARTS_WITHOUT_LIMITS)
    return unlimited.run(unlimited.parameters(targets), q).solved


def _approach_posture(robot: Mechanism, search: Search, best: BestSoFar, targets: Array, posture: Array) -> None:
    """Move solutions towards a posture, where that is possible without leaving the target."""
    counts = np.isfinite(posture)
    goal = np.where(counts, posture, 0.0)
    rows = np.flatnonzero(best.solved)
    own = search.parameters(targets[rows])
    extra = np.broadcast_to(np.concatenate([goal, counts]), (len(rows), 2 * len(posture)))
    near = np.where(counts, goal, best.q[rows])
    q = np.ascontiguousarray(search.shift(best.q[rows], near))
    before = np.linalg.norm((q - goal) * counts, axis=-1)
    posture_loop(search.problem, robot)(q, np.concatenate([own, extra], axis=1), POSTURE_ITERATIONS)
    after = replace(search, restarts=0).run(own, np.where(np.isfinite(q), q, best.q[rows]))
    nearer = after.solved & (np.linalg.norm((after.q - goal) * counts, axis=-1) <= before)
    best.q[rows[nearer]] = after.q[nearer]
    best.iterations[rows] += POSTURE_ITERATIONS + after.iterations


def search_of(robot: Mechanism, request: SearchRequest) -> Search:
    """The search for the configurations of a request."""
    compiles = active(backend_of(robot)).compiles
    if compiles not in request.kept:
        request.kept[compiles] = _new_search(robot, request)
    search: Search = request.kept[compiles]
    return search


def _new_search(robot: Mechanism, request: SearchRequest) -> Search:
    problem, bounds = request.problem, request.bounds
    measure, seeds = Measure(problem, robot), seeds_of(robot, problem, request.seed)
    return Search(
        problem, solver(problem, robot), measure, seeds, bounds.clip(neutral(robot)), bounds, periods(robot.model),
        request.tolerances, request.restarts, request.max_iterations,
    )  # fmt: skip
