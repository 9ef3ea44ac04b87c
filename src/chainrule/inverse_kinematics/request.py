"""Requests: the arguments of inverse kinematics, checked, as goals of links and the numbers of their targets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.algorithms.euler import ORDERS
from chainrule.arguments import (
    Array,
    flag,
    is_rotation,
    one_of,
    pose_matrices,
    real_array,
    refuse_improper_rotations,
    refuse_nonfinite,
    rows_of,
    whole_number,
)
from chainrule.core.closure import closure_of
from chainrule.core.derived import merged_model, remember
from chainrule.core.plausibility import warn_of_degrees
from chainrule.core.reading import find_link, read_argument, read_joints
from chainrule.errors import ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.inverse_kinematics.bounds import Bounds
from chainrule.inverse_kinematics.goals import TASKS, Goal
from chainrule.inverse_kinematics.methods import METHODS, SearchProblem
from chainrule.inverse_kinematics.rigid import numbers_of_one, orthonormalize, pose_numbers
from chainrule.inverse_kinematics.task_rank import TaskRank, task_rank
from chainrule.kinematics.pose_vectors import pose_from_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

MAX_RESTARTS, MAX_ITERATIONS, MAX_SEED = 1_000_000, 1_000_000, 2**53
"""The largest numbers that a request may have: what goes beyond would not end."""
MAX_TOLERANCE = 1e100
"""The largest tolerance, in m and rad, whose square is a number."""


POSE_VECTOR_UNITS = (("x", "m"), ("y", "m"), ("z", "m"), ("roll", "rad"), ("pitch", "rad"), ("yaw", "rad"))
"""The name and the unit of each number of a pose vector."""
MAX_ANGLE = 2 * math.pi
"""The largest angle of a pose vector, in rad: one beyond a whole turn is one in degrees."""
POINT = "; three numbers are a point: task='position'"


class Tolerances(NamedTuple):
    """The largest errors of a solution."""

    distance: float
    """In m."""
    angle: float
    """In rad."""


@dataclass(frozen=True, eq=False)
class SearchRequest:
    """A request for configurations but for its targets: what is to be reached, how closely, how long to search."""

    problem: SearchProblem
    tolerances: Tolerances
    bounds: Bounds
    """The range of each coordinate of q."""
    rank: TaskRank
    """The equations of the goals, and how many of them are independent."""
    posture: Array | None = None
    """The configuration to approach (nq,), nan for coordinates that do not count; None if there is none."""
    restarts: int = 100
    max_iterations: int = 60
    """Iterations from one start."""
    seed: int = 0
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What follows from the request alone, and is computed once."""

    @staticmethod
    def read(
        robot: Mechanism,
        caller: str,
        target: Any,
        link: Any = None,
        method: str = "lm",
        *,
        limits: Any = True,
        task: Any = "pose",
        axis: ArrayLike = (0.0, 0.0, 1.0),
        weights: Any = None,
        tolerance: Any = 1e-6,
        posture: Any = None,
        restarts: Any = 100,
        max_iterations: Any = 60,
        seed: Any = 0,
        opened: tuple[str, ...] = (),
    ) -> tuple[SearchRequest, Array]:
        """The request for arguments as users give them, checked, and its targets (..., numbers).

        The targets have the numbers of all goals side by side. Requests with plain options are read once.

        Parameters
        ----------
        robot
            The robot whose links have targets.
        caller
            The name with which errors begin.
        target, link, method, limits, task, axis, weights, tolerance, posture, restarts, max_iterations, seed
            As in `inverse_kinematics`.
        opened
            Parameters of the robot, whose numbers follow those of the targets.
        """
        options = (
            link, method, limits, task, axis, weights, tolerance, posture, restarts, max_iterations, seed, opened,
        )  # fmt: skip
        known: dict[Any, SearchRequest] = remember(robot, "requests of inverse kinematics", dict)
        key = None if isinstance(target, Mapping) else _key(options)
        if key in known:
            request = known[key]
            return request, target_numbers(request.problem.goals[0], target, f"{caller}: target")
        request, targets = _read(robot, caller, target, *options)
        if key is not None:
            if len(known) >= MAX_KNOWN_REQUESTS:
                known.clear()
            known[key] = request
        return request, targets


PLAIN_OPTIONS = frozenset({str, int, float, bool, type(None), tuple})
"""Classes of options, and of the entries of tuples, whose equal values mean the same if they are of one class."""
MAX_KNOWN_REQUESTS = 64
"""Requests of one robot that stay at hand."""


def _key(options: tuple[Any, ...]) -> Any:
    """A key by which a request is known, or None where an option is no plain number, word or tuple of them."""
    kinds: list[Any] = []
    for option in options:
        kind = type(option)
        if kind is tuple:
            kinds += map(type, option)
        kinds.append(kind)
    return (options, tuple(kinds)) if PLAIN_OPTIONS.issuperset(kinds) else None


def _read(
    robot: Mechanism, caller: str, target: Any, link: Any, method: str, limits: Any, task: Any, axis: ArrayLike,
    weights: Any, tolerance: Any, posture: Any, restarts: Any, max_iterations: Any, seed: Any,
    opened: tuple[str, ...],
) -> tuple[SearchRequest, Array]:  # fmt: skip
    """A request that is not known yet, and its targets."""
    model = merged_model(robot)
    one_of(METHODS, method, "method", caller)
    by_link = _targets_by_link(robot, caller, target, link)
    _refuse_other_links(by_link, {"task": task, "weights": weights}, caller)
    goals, arrays = [], []
    for name, value in by_link.items():
        goal = Goal(name, _task(task, name, caller), _axis(axis, caller), _weights(weights, name, caller))
        _refuse_meaningless(goal, caller)
        what = f"{caller}: target" if len(by_link) == 1 else f"{caller}: target[{name!r}]"
        goals.append(goal)
        arrays.append(target_numbers(goal, value, what))
    batch = _batch([array.shape[:-1] for array in arrays], list(by_link), caller)
    targets = np.concatenate([np.broadcast_to(a, (*batch, a.shape[-1])) for a in arrays], axis=-1)
    whole = robot.model if opened else None
    problem = SearchProblem(model, _normalize_weights(goals), method, closure_of(robot).rows, whole, opened)
    _refuse_immobile(problem, caller)
    bounds = Bounds.of_limits(robot) if flag(limits, f"{caller}: limits") else Bounds.infinite(model.nq)
    rank = task_rank(robot, problem)
    if method == "newton" and rank.rank != rank.mobility:
        movers = "degrees of freedom" if problem.rows else "joints"
        raise ShapeError(
            f"{caller}: Newton's method needs as many {movers} as independent equations, and {rank.mobility} "
            f"{movers} meet {rank.rank} of them; use method='pseudo_inverse' or 'lm', which take the smallest step"
        )
    request = SearchRequest(
        problem,
        _tolerances(tolerance, caller),
        bounds,
        rank,
        _posture(robot, posture, caller),
        whole_number(restarts, f"{caller}: restarts", 0, MAX_RESTARTS),
        whole_number(max_iterations, f"{caller}: max_iterations", 1, MAX_ITERATIONS),
        whole_number(seed, f"{caller}: seed", 0, MAX_SEED),
    )
    return request, targets


def read_starts(robot: Mechanism, q0: ArrayLike, caller: str) -> Array:
    """The configurations (..., nq) to start from."""
    starts = read_argument(robot, caller, "q0", q0)
    warn_of_degrees(robot, starts, caller)
    return starts.astype(float)


def _targets_by_link(robot: Mechanism, caller: str, target: Any, link: Any) -> dict[str, Any]:
    if isinstance(target, Mapping):
        if link is not None:
            raise ShapeError(f"{caller}: a dictionary of targets names its links; leave out link=...")
        if not target:
            raise ShapeError(f"{caller}: target is an empty dictionary; give at least one link and its pose")
        for name in target:
            robot.model.locate(name)
        return dict(target)
    return {find_link(robot, link): target}


def _refuse_other_links(by_link: Mapping[str, Any], options: dict[str, Any], caller: str) -> None:
    for what, option in options.items():
        for name in option if isinstance(option, Mapping) else ():
            if name not in by_link:
                raise UnknownNameError.of(f"target for the {what}", name, by_link, caller)


def _normalize_weights(goals: list[Goal]) -> tuple[Goal, ...]:
    """Goals with weights of which the largest is one, since only the ratios of weights matter."""
    largest = max(w for goal in goals for w in _weights_in_use(goal))
    return tuple(replace(goal, weights=tuple(w / largest for w in goal.weights)) for goal in goals)


def _task(task: Any, link: str, caller: str) -> str:
    if isinstance(task, Mapping):
        if link not in task:
            raise ShapeError(f"{caller}: task is a dictionary without an entry for {link!r}")
        task = task[link]
    if not isinstance(task, str) or task not in TASKS:
        raise UnknownNameError.of("task", task, TASKS, caller)
    return str(task)


def _axis(axis: ArrayLike, caller: str) -> tuple[float, float, float]:
    array = real_array(axis, f"{caller}: axis").astype(float)
    length = float(np.linalg.norm(array)) if array.shape == (3,) else 0.0
    if not 0 < length < np.inf:
        raise ShapeError(
            f"{caller}: axis must be a direction in the link's frame, three numbers, got {short_repr(axis)}"
        )
    x, y, z = (array / length).tolist()
    return x, y, z


def _weights(weights: Any, link: str, caller: str) -> tuple[float, ...]:
    if weights is None:
        return (1.0,) * 6
    if isinstance(weights, Mapping):
        return _weights(weights.get(link), link, caller)
    array = real_array(weights, f"{caller}: weights").astype(float)
    if array.shape != (6,):
        raise ShapeError(
            f"{caller}: weights must be six numbers, three of the rotation and three of the position, got shape "
            f"{array.shape}"
        )
    refuse_nonfinite(array, f"{caller}: weights")
    if (array < 0).any() or not array.any():
        raise ShapeError(f"{caller}: weights must not be negative, and not all zero, got {array.tolist()}")
    return tuple(array.tolist())


def _weights_in_use(goal: Goal) -> tuple[float, ...]:
    return (*(goal.weights[:3] if goal.orientation else ()), *(goal.weights[3:] if goal.has_position else ()))


def _refuse_meaningless(goal: Goal, caller: str) -> None:
    if goal.orientation == "axis" and len(set(goal.weights[:3])) > 1:
        raise ShapeError(f"{caller}: the task {goal.task!r} has one weight of the rotation, so give three equal ones")
    if not any(_weights_in_use(goal)):
        raise ShapeError(f"{caller}: all weights of the task {goal.task!r} are zero, so that nothing is asked for")


def pose_dimensions(given: Mapping[str, Any], shape: tuple[int, ...], key: Any) -> int:
    """The dimensions of one target: two of a pose or a rotation, one of a point, a direction or a pose vector."""
    task = given.get("task")
    is_rotation_task = (task.get(key) if isinstance(task, Mapping) else task) == "orientation"
    return 2 if shape[-2:] == (4, 4) or (is_rotation_task and shape[-2:] == (3, 3)) else 1


def target_numbers(goal: Goal, value: Any, what: str) -> Array:
    """The numbers of a goal's targets: (..., size). Rows that are not finite stay so."""
    if type(value) is np.ndarray and value.shape[-2:] == (4, 4) and value.dtype == np.float64:
        numbers = numbers_of_one(value) if value.ndim == 2 else None
        return goal.numbers_of_poses(pose_numbers(value, what) if numbers is None else numbers)
    if is_rotation(value):
        if goal.task != "orientation":
            raise ShapeError(
                f"{what} is a Rotation, which has no position; give task='orientation', or a pair (point, rotation)"
            )
        value = value.as_matrix()
    value = pose_matrices(value, what)
    if _is_pose_vector(value):
        T = _poses_of_vectors(value, what)
        return goal.target_numbers(T[..., :3, :3], T[..., :3, 3])
    unit = "m" if goal.task == "position" else None
    array = real_array(value, what, unit).astype(float)
    is_pose = array.shape[-2:] == (4, 4)
    if goal.task == "orientation" and array.shape[-2:] == (3, 3):
        refuse_improper_rotations(array, what)
        return orthonormalize(array).reshape(*array.shape[:-2], 9)
    if not is_pose and array.shape[-1:] == (3,) and goal.task in ("position", "pointing"):
        return array if goal.has_position else _directions(array, what)
    if not is_pose:
        other = {"position": " or points (..., 3)", "orientation": " or rotations (..., 3, 3)"}
        other["pointing"] = " or directions (..., 3)"
        is_point = array.shape[-1:] == (3,) and goal.task == "pose"
        raise ShapeError(
            f"{what} must be poses (..., 4, 4) or pose vectors (..., 6){other.get(goal.task, '')} for the task "
            f"{goal.task!r}, got shape {array.shape}{POINT if is_point else ''}"
        )
    return goal.numbers_of_poses(pose_numbers(array, what))


def _is_pose_vector(value: Any) -> bool:
    """Whether the last dimension has six numbers: a position and three angles, as `pose_vector` gives them."""
    shape = getattr(value, "shape", None)
    while shape is None and isinstance(value, (list, tuple)) and value:
        if not isinstance(value[0], (list, tuple)) and getattr(value[0], "ndim", 0) == 0:
            return len(value) == len(POSE_VECTOR_UNITS)
        value = value[0]
        shape = getattr(value, "shape", None)
    return isinstance(shape, tuple) and shape[-1:] == (len(POSE_VECTOR_UNITS),)


def poses_in_order(target: Any, order: str, caller: str) -> Any:
    """Targets whose pose vectors have angles in an order of their own, as poses; other targets are refused then."""
    one_of(ORDERS, order, "order of angles", caller)
    if order == "rpy":
        return target
    if isinstance(target, Mapping):
        return {link: poses_in_order(value, order, caller) for link, value in target.items()}
    if not _is_pose_vector(target):
        raise ShapeError(
            f"{caller}: order={order!r} is of the angles of pose vectors (..., 6), and the target is none; leave it out"
        )
    return _poses_of_vectors(target, f"{caller}: target", order)


def _poses_of_vectors(value: Any, what: str, order: str = "rpy") -> Array:
    """Poses (..., 4, 4) of pose vectors (..., 6)."""
    names = "x, y, z, roll, pitch, yaw" if order == "rpy" else f"x, y, z and the angles {order}"
    x = rows_of(value, 6, what, names, POSE_VECTOR_UNITS).astype(float)
    largest = float(np.nanmax(np.abs(x[..., 3:]), initial=0.0))
    if largest > MAX_ANGLE:
        raise ShapeError(
            f"{what}: an angle of the pose vector is {largest:g} rad, more than one turn; if it is in degrees, give "
            "np.radians(...) of it, or call robot.degrees.inverse_kinematics"
        )
    return pose_from_vector(x, order=order)


def _directions(array: Array, what: str) -> Array:
    """Vectors (..., 3) of length one."""
    largest = np.abs(array).max(axis=-1, keepdims=True)
    if (largest == 0).any():
        raise ShapeError(f"{what} has a direction of length zero")
    with np.errstate(invalid="ignore"):
        array = array / largest  # so that squares neither vanish nor overflow
    return array / np.linalg.norm(array, axis=-1, keepdims=True)


def _batch(shapes: list[tuple[int, ...]], links: list[str], caller: str) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        shown = ", ".join(f"{link} {shape}" for link, shape in zip(links, shapes, strict=True))
        raise ShapeError(
            f"{caller}: the leading (batch) dimensions of the targets do not fit together: {shown}"
        ) from None


def _tolerances(tolerance: Any, caller: str) -> Tolerances:
    array = real_array(tolerance, f"{caller}: tolerance", (("distance", "m"), ("angle", "rad"))).astype(float)
    if array.shape not in {(), (2,)} or not (np.isfinite(array).all() and (array > 0).all()):
        raise ShapeError(
            f"{caller}: tolerance must be a positive number, in m and rad, or two of them, got {short_repr(tolerance)}"
        )
    return Tolerances(*np.broadcast_to(np.minimum(array, MAX_TOLERANCE), 2).tolist())


def _refuse_immobile(problem: SearchProblem, caller: str) -> None:
    for goal in problem.goals:
        if not SearchProblem(problem.model, (goal,)).velocities_of_links:
            raise ModelError(
                f"{caller}: no joint moves {goal.link!r}, so that it is where it is; name a link beyond a joint"
            )


def _posture(robot: Mechanism, posture: Any, caller: str) -> Array | None:
    """The posture to approach, nan for coordinates that do not count."""
    if posture is None:
        return None
    if isinstance(posture, str):
        if posture != "center":
            raise ShapeError(f"{caller}: posture must be 'center' or a configuration, got {posture!r}")
        return Bounds.of_limits(robot).center
    array = read_joints(robot, posture, "position", f"{caller}: posture").astype(float)
    if array.shape != (robot.model.nq,):
        raise ShapeError(f"{caller}: posture must have {robot.model.nq} numbers, got shape {array.shape}")
    return array
