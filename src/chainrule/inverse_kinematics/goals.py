"""Goals of links: the error of a goal, its Jacobian, and the cost that measures it.

A target is a flat list of numbers: nine of a rotation by rows, or three of a direction; then three of a position.
Errors point from where the link is to where it should be, in base axes. The error of an orientation lies along the
rotation vector and has the length 2 sin(t/2) for an angle t: near the goal the angle itself, without an arc tangent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from chainrule.algorithms.jacobians import jacobian
from chainrule.algorithms.kinematics import pose
from chainrule.algorithms.loop_equations import constraint_jacobian, posed_constraints, residuals, select
from chainrule.arguments import Array
from chainrule.model import Model
from chainrule.spatial import Matrix, Rotation, Scalar, Transform, Vector
from chainrule.spatial.scalar import atan2, maximum, sin, sqrt, where

Scalars = Sequence[Scalar]


class PoseTask(NamedTuple):
    """The parts of a pose that count."""

    orientation: Literal["full", "axis"] | None
    """The full orientation, the direction of one axis, or nothing of it."""
    position: bool


TASKS = {
    "pose": PoseTask("full", True),
    "position": PoseTask(None, True),
    "orientation": PoseTask("full", False),
    "axis": PoseTask("axis", True),
    "pointing": PoseTask("axis", False),
}

ORIENTATION_NUMBERS = {"full": 9, "axis": 3, None: 0}
"""Numbers in a target for each kind of orientation."""

MIN_SQUARED_COSINE = 1e-16
"""The smallest cos^2(t/2) that an error is divided by: half a turn away, its direction is not known."""


@dataclass(frozen=True)
class Goal:
    """A link or frame, its task, and the weight of each direction.

    `axis` is the direction in the link's frame that the tasks "axis" and "pointing" align. `weights` are those of the
    rotation and of the position, three each: in the target's own axes, or in base axes where it has none.
    """

    link: str
    task: str = "pose"
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    weights: tuple[float, ...] = (1.0,) * 6

    @property
    def orientation(self) -> Literal["full", "axis"] | None:
        """The part of the orientation that counts: all of it ("full"), the direction of an "axis", or nothing."""
        return TASKS[self.task].orientation

    @property
    def has_position(self) -> bool:
        """Whether the position counts."""
        return TASKS[self.task].position

    @property
    def size(self) -> int:
        """The length of a target."""
        return ORIENTATION_NUMBERS[self.orientation] + 3 * self.has_position

    def target_numbers(self, R: Array, p: Array) -> Array:
        """Targets (..., size) from rotations R (..., 3, 3) and positions p (..., 3)."""
        parts = [p] if self.has_position else []
        if self.orientation == "full":
            parts.insert(0, R.reshape(*R.shape[:-2], 9))
        elif self.orientation == "axis":
            parts.insert(0, R @ np.array(self.axis))
        return np.concatenate(parts, axis=-1)

    def numbers_of_poses(self, numbers: Array) -> Array:
        """Targets (..., size) from rotations by rows and positions (..., 12)."""
        if self.task == "pose":
            return numbers
        return self.target_numbers(numbers[..., :9].reshape(*numbers.shape[:-1], 3, 3), numbers[..., 9:])


@dataclass(frozen=True)
class GoalResidual:
    """The errors of a goal in one configuration."""

    error: list[Scalar]
    """Weighted errors, one for each equation."""
    rows: list[list[Scalar]]
    """Rows of the Jacobian: the rate at which each error falls, for each joint velocity."""
    cost: Scalar
    """Half the sum of squares, or the function whose gradient the errors are."""
    squared_distance: Scalar
    """Squared error of the position, in m^2."""
    squared_angle: Scalar
    """Squared error of the orientation, in rad^2 where it is small."""


def goal_residual(model: Model, q: Scalars, goal: Goal, target: Scalars) -> GoalResidual:
    """The errors of a goal and their Jacobian."""
    T = pose(model, q, goal.link)
    columns = jacobian(model, q, goal.link, "world")
    angular, linear = [S.angular for S in columns], [S.linear for S in columns]
    parts = []
    target_axes = Rotation.identity()
    if goal.orientation == "full":
        target_axes = Rotation(Vector(*target[:3]), Vector(*target[3:6]), Vector(*target[6:9]))
        parts.append(_rotation_residual(T.rotation, target_axes, angular, goal.weights[:3]))
    elif goal.orientation == "axis":
        direction = T.rotation * Vector(*goal.axis)
        parts.append(_direction_residual(direction, Vector(*target[:3]), angular, goal.weights[0]))
    if goal.has_position:
        offset = Vector(*target[-3:]) - T.translation
        parts.append(_position_residual(offset, target_axes, linear, goal.weights[3:]))
    return GoalResidual(
        [x for part in parts for x in part.error],
        [row for part in parts for row in part.rows],
        _sum(part.cost for part in parts),
        _sum(part.squared_distance for part in parts),
        _sum(part.squared_angle for part in parts),
    )


def goal_numbers(goal: Goal, T: Transform) -> list[Scalar]:
    """The numbers of a target that is at this pose."""
    numbers: list[Scalar] = []
    if goal.orientation == "full":
        numbers += [x for row in T.rotation for x in row]
    elif goal.orientation == "axis":
        numbers += list(T.rotation * Vector(*goal.axis))
    return [*numbers, *T.translation] if goal.has_position else numbers


def goal_errors(goal: Goal, T: Transform, target: Scalars) -> tuple[Scalar, Scalar]:
    """Distance and angle between a pose and a target, of what counts: in m and rad."""
    distance: Scalar = 0.0
    angle: Scalar = 0.0
    axes = Rotation.identity()
    if goal.orientation == "full":
        axes = Rotation(Vector(*target[:3]), Vector(*target[3:6]), Vector(*target[6:9]))
        angle = _counted_angle(axes.inv @ T.rotation, [w > 0 for w in goal.weights[:3]])
    elif goal.orientation == "axis" and goal.weights[0]:
        now, then = T.rotation * Vector(*goal.axis), Vector(*target[:3])
        angle = atan2(now.cross(then).norm(), now.dot(then))
    if goal.has_position:
        offset = T.translation - Vector(*target[-3:])
        if not all(goal.weights[3:]):
            offset = Vector(*(x * float(w > 0) for x, w in zip(axes.inv * offset, goal.weights[3:], strict=True)))
        distance = offset.norm()
    return distance, angle


def _counted_angle(R: Matrix, counts: Sequence[bool]) -> Scalar:
    """The angle t of a rotation; where not every axis counts, that whose 2 sin(t/2) n has only the entries that do."""
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = R
    skew = Vector(zy - yz, xz - zx, yx - xy)
    length = skew.norm()
    angle = atan2(length, R.trace() - 1)
    if all(counts) or not any(counts):
        return angle if all(counts) else 0.0
    part = Vector(*(x * float(yes) for x, yes in zip(skew, counts, strict=True))).norm()
    half_sine = sin(angle / 2) * where(length > 0, part / where(length > 0, length, 1.0), 1.0)
    return 2 * atan2(half_sine, sqrt(maximum(1 - half_sine * half_sine, 0.0)))


OPPOSED = 1e6
"""The error, in m^2, of a loop that is closed with its axes opposed."""


def loop_residual(model: Model, q: Scalars, rows: Sequence[int]) -> GoalResidual:
    """The errors of closed loops, -phi, for the equations that count; its distance is that of the largest one."""
    error = [-x for x in select(residuals(model, q), rows)]
    largest: Scalar = 0
    for x in error:
        largest = maximum(largest, x * x)
    for posed in posed_constraints(model, q):
        axes = list(posed.X.rotation.transpose())
        for k in {"hinge": (2,), "weld": (0, 1, 2)}.get(posed.constraint.kind, ()):
            largest = where(list(axes[k])[k] > 0, largest, OPPOSED)
    return GoalResidual(error, select(constraint_jacobian(model, q), rows), _sum(x * x for x in error) / 2, largest, 0)


def _rotation_residual(R: Rotation, target: Rotation, angular: Sequence[Vector], weights: Scalars) -> GoalResidual:
    """The error of a rotation: the columns of R and of the target give sine and cosine of the angle between them."""
    now, then = list(R.inv), list(target.inv)
    sine = (now[0].cross(then[0]) + now[1].cross(then[1]) + now[2].cross(then[2])) / 2
    trace = now[0].dot(then[0]) + now[1].dot(then[1]) + now[2].dot(then[2])
    error, half, square, cost = _angle_error(sine, (trace - 1) / 2)
    if _all_equal(weights):
        return _apply_weights(error, angular, weights, cost, squared_angle=square)
    # one axis counts more than another: the exact rates, those of the vector part of a quaternion
    rates = [target.inv * (w * half + error.cross(w) / 2) for w in angular]
    return _apply_weights(target.inv * error, rates, weights, None, squared_angle=None)


def _direction_residual(now: Vector, then: Vector, angular: Sequence[Vector], weight: float) -> GoalResidual:
    """The error of a direction; rotation about it changes nothing."""
    error, _, square, cost = _angle_error(now.cross(then), now.dot(then))
    rates = [now.cross(w) for w in angular]
    return _apply_weights(now.cross(error), rates, (weight,) * 3, cost, squared_angle=square)


def _position_residual(offset: Vector, axes: Rotation, linear: Sequence[Vector], weights: Scalars) -> GoalResidual:
    if _all_equal(weights):
        return _apply_weights(offset, linear, weights, offset.dot(offset) / 2, squared_distance=offset.dot(offset))
    return _apply_weights(axes.inv * offset, [axes.inv * v for v in linear], weights, None, squared_distance=None)


def _angle_error(sine: Vector, cosine: Scalar) -> tuple[Vector, Scalar, Scalar, Scalar]:
    """The error 2 sin(t/2) n, cos(t/2), the error squared, and 4 (1 - cos(t/2)), whose gradient the error is."""
    half = sqrt(maximum((1 + cosine) / 2, MIN_SQUARED_COSINE))
    error = sine / half
    square = where(cosine > 0, error.dot(error), 2 - 2 * cosine)
    return error, half, square, square / (1 + half)


def _apply_weights(
    error: Vector,
    rates: Sequence[Vector],
    weights: Scalars,
    cost: Scalar | None,
    squared_distance: Scalar | None = 0,
    squared_angle: Scalar | None = 0,
) -> GoalResidual:
    """Errors and rates times their weights, without those of weight zero; None stands for the square of the rest."""
    counted = [(name, w) for name, w in zip("xyz", weights, strict=True) if w]
    errors = [getattr(error, name) * w for name, w in counted]
    rows = [[getattr(rate, name) * w for rate in rates] for name, w in counted]
    square = _sum(getattr(error, name) * getattr(error, name) for name, _ in counted)
    if cost is None:
        cost = _sum(x * x for x in errors) / 2
    else:
        cost = cost * (weights[0] * weights[0])
    squares = [square if value is None or not counted else value for value in (squared_distance, squared_angle)]
    return GoalResidual(errors, rows, cost, *squares)


def _all_equal(weights: Scalars) -> bool:
    return len(set(weights)) == 1


def _sum(values: Iterable[Scalar]) -> Scalar:
    total: Scalar = 0
    for value in values:
        total = total + value
    return total
