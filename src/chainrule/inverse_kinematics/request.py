"""What users ask for, turned into goals and the numbers of their targets, or into an error that says what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, number, real_array, refuse_nonfinite
from chainrule.errors import ModelError, ShapeError, UnknownNameError
from chainrule.inverse_kinematics.goals import TURNS, Goal
from chainrule.inverse_kinematics.methods import METHODS, Problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot

RIGID = 1e-6
"""How far from orthogonal a rotation may be; smaller errors are removed."""


@dataclass(frozen=True)
class Asked:
    """Goals, and their targets side by side: (..., numbers); which of them are finite; tolerances in m and rad."""

    problem: Problem
    targets: Array
    finite: NDArray[np.bool_]
    tolerances: tuple[float, float]


def asked(
    robot: Robot,
    where: str,
    target: Any,
    link: Any,
    task: Any,
    axis: ArrayLike,
    weights: Any,
    tolerance: Any,
    method: str,
) -> Asked:
    """All of it checked."""
    model = robot._merged
    if method not in METHODS:
        raise UnknownNameError.of("method", method, METHODS, where)
    if model.constraints:
        raise ModelError(
            f"{where}: robot {model.name!r} has closed loops, for which there is no inverse kinematics; "
            "robot.close(...) closes them from given joints"
        )
    wanted = _by_link(robot, where, target, link)
    _refuse_others(wanted, {"task": task, "weights": weights}, where)
    goals, arrays = [], []
    for name, value in wanted.items():
        goal = Goal(name, _task(task, name, where), _axis(axis, where), _weights(weights, name, where))
        _refuse_meaningless(goal, where)
        what = f"{where}: target" if len(wanted) == 1 else f"{where}: target[{name!r}]"
        goals.append(goal)
        arrays.append(numbers_of(goal, value, what))
    batch = _batch([array.shape[:-1] for array in arrays], list(wanted), where)
    targets = np.concatenate([np.broadcast_to(a, (*batch, a.shape[-1])) for a in arrays], axis=-1)
    problem = Problem(model, _scaled(goals), method)
    _refuse_immobile(problem, where)
    if method == "newton":
        _refuse_not_square(problem, where)
    return Asked(problem, targets, np.isfinite(targets).all(axis=-1), _tolerances(tolerance, where))


def _by_link(robot: Robot, where: str, target: Any, link: Any) -> dict[str, Any]:
    if isinstance(target, Mapping):
        if link is not None:
            raise ShapeError(f"{where}: a dictionary of targets names its links; leave out link=...")
        if not target:
            raise ShapeError(f"{where}: target is an empty dictionary; give at least one link and its pose")
        for name in target:
            robot.model.locate(name)
        return dict(target)
    return {robot._name(link): target}


def _refuse_others(wanted: Mapping[str, Any], options: dict[str, Any], where: str) -> None:
    for what, option in options.items():
        for name in option if isinstance(option, Mapping) else ():
            if name not in wanted:
                raise UnknownNameError.of(f"target for the {what}", name, wanted, where)


def _scaled(goals: list[Goal]) -> tuple[Goal, ...]:
    """Goals with weights of which the largest is one: how they compare is all that matters."""
    most = max(w for goal in goals for w in _used(goal))
    return tuple(replace(goal, weights=tuple(w / most for w in goal.weights)) for goal in goals)


def _task(task: Any, link: str, where: str) -> str:
    if isinstance(task, Mapping):
        if link not in task:
            raise ShapeError(f"{where}: task is a dictionary without an entry for {link!r}")
        task = task[link]
    if not isinstance(task, str) or task not in TURNS:
        raise UnknownNameError.of("task", task, TURNS, where)
    return str(task)


def _axis(axis: ArrayLike, where: str) -> tuple[float, float, float]:
    array = real_array(axis, f"{where}: axis").astype(float)
    length = float(np.linalg.norm(array)) if array.shape == (3,) else 0.0
    if not 0 < length < np.inf:
        raise ShapeError(f"{where}: axis must be a direction in the link's frame, three numbers, got {axis!r:.60}")
    x, y, z = (array / length).tolist()
    return x, y, z


def _weights(weights: Any, link: str, where: str) -> tuple[float, ...]:
    if weights is None:
        return (1.0,) * 6
    if isinstance(weights, Mapping):
        return _weights(weights.get(link), link, where)
    array = real_array(weights, f"{where}: weights").astype(float)
    if array.shape != (6,):
        raise ShapeError(
            f"{where}: weights must be six numbers, three of the rotation and three of the position, got shape "
            f"{array.shape}"
        )
    refuse_nonfinite(array, f"{where}: weights")
    if (array < 0).any() or not array.any():
        raise ShapeError(f"{where}: weights must not be negative, and not all zero, got {array.tolist()}")
    return tuple(array.tolist())


def _used(goal: Goal) -> tuple[float, ...]:
    return (*(goal.weights[:3] if goal.turn else ()), *(goal.weights[3:] if goal.places else ()))


def _refuse_meaningless(goal: Goal, where: str) -> None:
    if goal.turn == "axis" and len(set(goal.weights[:3])) > 1:
        raise ShapeError(f"{where}: the task {goal.task!r} has one weight of the rotation, so give three equal ones")
    if not any(_used(goal)):
        raise ShapeError(f"{where}: all weights of the task {goal.task!r} are zero, so that nothing is asked for")


def numbers_of(goal: Goal, value: Any, what: str) -> Array:
    """The numbers of a goal's targets: (..., size). Rows that are not finite stay so."""
    array = real_array(value, what).astype(float)
    pose = array.shape[-2:] == (4, 4)
    if goal.turn == "whole" and not goal.places and array.shape[-2:] == (3, 3):
        return rotations(array, what).reshape(*array.shape[:-2], 9)
    if not pose and array.shape[-1:] == (3,) and goal.task in ("position", "pointing"):
        return array if goal.places else _directions(array, what)
    if not pose:
        other = {"position": " or points (..., 3)", "orientation": " or rotations (..., 3, 3)"}
        other["pointing"] = " or directions (..., 3)"
        raise ShapeError(
            f"{what} must be poses (..., 4, 4){other.get(goal.task, '')} for the task {goal.task!r}, got shape "
            f"{array.shape}"
        )
    array = np.where(np.isfinite(array).all(axis=(-1, -2), keepdims=True), array, np.nan)
    with np.errstate(invalid="ignore"):
        off = np.abs(array[..., 3, :] - [0, 0, 0, 1])
    if (off > 1e-12).any():
        raise ShapeError(f"{what} must have the last row 0 0 0 1, and one is off by {np.nanmax(off):.2g}")
    R, p = rotations(array[..., :3, :3], what), array[..., :3, 3]
    parts = {"whole": [R.reshape(*R.shape[:-2], 9)], "axis": [R @ np.array(goal.axis)], None: []}[goal.turn]
    return np.concatenate([*parts, *([p] if goal.places else [])], axis=-1)


def rotations(R: Array, what: str) -> Array:
    """Rotations (..., 3, 3), their rounding errors removed; refused if they are more than that."""
    with np.errstate(invalid="ignore", over="ignore"):
        square = np.swapaxes(R, -1, -2) @ R
        off = np.abs(square - np.eye(3)).max(axis=(-1, -2), initial=0.0)
        mirrors = (np.cross(R[..., 0], R[..., 1]) * R[..., 2]).sum(axis=-1) < 0
        wrong = ((off > RIGID) | mirrors) & np.isfinite(R).all(axis=(-1, -2))
    bad = np.argwhere(wrong)
    if len(bad):
        row = f" (row {', '.join(map(str, bad[0]))})" if bad.shape[1] else ""
        flipped = "mirrors" if mirrors[tuple(bad[0])] else f"is off by {off[tuple(bad[0])]:.2g} from orthogonal"
        raise ShapeError(
            f"{what} is not a rigid transform{row}: its rotation {flipped}; give its upper left 3-by-3 block "
            "orthonormal columns that form a right-handed frame"
        )
    if (off > 1e-13).any():
        R = R @ (1.5 * np.eye(3) - square / 2)  # a Newton step towards the nearest rotation
    return R


def _directions(array: Array, what: str) -> Array:
    largest = np.abs(array).max(axis=-1, keepdims=True)
    if (largest == 0).any():
        raise ShapeError(f"{what} has a direction of length zero")
    with np.errstate(invalid="ignore"):
        array = array / largest  # so that squares neither vanish nor overflow
    return array / np.linalg.norm(array, axis=-1, keepdims=True)


def _batch(shapes: list[tuple[int, ...]], links: list[str], where: str) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        shown = ", ".join(f"{link} {shape}" for link, shape in zip(links, shapes, strict=True))
        raise ShapeError(
            f"{where}: the leading (batch) dimensions of the targets do not fit together: {shown}"
        ) from None


def _tolerances(tolerance: Any, where: str) -> tuple[float, float]:
    array = real_array(tolerance, f"{where}: tolerance").astype(float)
    if array.shape not in {(), (2,)} or not (np.isfinite(array).all() and (array > 0).all()):
        raise ShapeError(
            f"{where}: tolerance must be a positive number, in m and rad, or two of them, got {tolerance!r:.60}"
        )
    metres, radians = np.broadcast_to(array, 2).tolist()
    return metres, radians


def _refuse_immobile(problem: Problem, where: str) -> None:
    for goal in problem.goals:
        if not Problem(problem.model, (goal,)).moves:
            raise ModelError(
                f"{where}: no joint moves {goal.link!r}, so that it is where it is; name a link beyond a joint"
            )


def _refuse_not_square(problem: Problem, where: str) -> None:
    rows = sum(
        sum(w > 0 for w in goal.weights[:3]) * (goal.turn is not None)
        + sum(w > 0 for w in goal.weights[3:]) * goal.places
        for goal in problem.goals
    )
    if rows != problem.n:
        raise ShapeError(
            f"{where}: Newton's method needs as many joints as equations, and {problem.n} joints meet {rows} of them; "
            "use method='pseudo_inverse' or 'lm', or weights that leave out what cannot be had"
        )


def whole_number(value: Any, what: str, least: int) -> int:
    """A count."""
    count = number(value, what)
    if isinstance(value, bool) or count != int(count) or count < least:
        raise ShapeError(f"{what} must be a whole number, at least {least}, got {value!r}")
    return int(count)
