"""What a link is to reach: the error of a goal, how it changes with the joints, and the cost that measures it.

A target is a flat list of numbers: nine of a rotation by rows, or three of a direction; then three of a position.
Errors point from where the link is to where it should be, in base axes. The error of an orientation lies along the
rotation vector and has the length 2 sin(t/2) for an angle t: near the goal the angle itself, without an arc tangent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chainrule.algorithms.jacobians import jacobian
from chainrule.algorithms.kinematics import pose
from chainrule.model import Model
from chainrule.spatial import Rotation, Scalar, Vector
from chainrule.spatial.scalar import maximum, sqrt, where

Scalars = Sequence[Scalar]

TURNS = {"pose": "whole", "position": None, "orientation": "whole", "axis": "axis", "pointing": "axis"}
"""What each task asks of the orientation."""
PLACES = {"pose": True, "position": True, "orientation": False, "axis": True, "pointing": False}
"""Whether each task asks for a position."""


@dataclass(frozen=True)
class Goal:
    """A link or frame, what is asked of it, and how much each direction counts.

    `axis` is the direction in the link's frame that the tasks "axis" and "pointing" turn. `weights` are those of the
    rotation and of the position, three each: in the target's own axes, or in base axes where it has none.
    """

    link: str
    task: str = "pose"
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    weights: tuple[float, ...] = (1.0,) * 6

    @property
    def turn(self) -> str | None:
        """What is asked of the orientation: the "whole" of it, an "axis", or nothing."""
        return TURNS[self.task]

    @property
    def places(self) -> bool:
        """Whether a position is asked for."""
        return PLACES[self.task]

    @property
    def size(self) -> int:
        """How many numbers the target has."""
        return {"whole": 9, "axis": 3, None: 0}[self.turn] + 3 * self.places


@dataclass(frozen=True)
class Measured:
    """A goal seen from one configuration."""

    error: list[Scalar]
    """Weighted errors, one for each equation."""
    rows: list[list[Scalar]]
    """The rate at which each of them falls, for each joint velocity."""
    cost: Scalar
    """Half the sum of squares, or what has the errors for a gradient."""
    distance: Scalar
    """Squared error of the position, in m^2."""
    turn: Scalar
    """Squared error of the orientation, in rad^2 where it is small."""


def measured(model: Model, q: Scalars, goal: Goal, target: Scalars) -> Measured:
    """The errors of a goal and their Jacobian."""
    T = pose(model, q, goal.link)
    columns = jacobian(model, q, goal.link, "world")
    angular, linear = [S.angular for S in columns], [S.linear for S in columns]
    parts = []
    own = Rotation.identity()
    if goal.turn == "whole":
        own = Rotation(Vector(*target[:3]), Vector(*target[3:6]), Vector(*target[6:9]))
        parts.append(_turned(T.rotation, own, angular, goal.weights[:3]))
    elif goal.turn == "axis":
        parts.append(_pointed(T.rotation * Vector(*goal.axis), Vector(*target[:3]), angular, goal.weights[0]))
    if goal.places:
        parts.append(_placed(Vector(*target[-3:]) - T.translation, own, linear, goal.weights[3:]))
    return Measured(
        [x for part in parts for x in part.error],
        [row for part in parts for row in part.rows],
        _total(part.cost for part in parts),
        _total(part.distance for part in parts),
        _total(part.turn for part in parts),
    )


def _turned(R: Rotation, target: Rotation, angular: Sequence[Vector], weights: Scalars) -> Measured:
    """Of the rotation that turns R into the target: sine and cosine of its angle are in the columns of both."""
    now, then = list(R.inv), list(target.inv)
    sine = (now[0].cross(then[0]) + now[1].cross(then[1]) + now[2].cross(then[2])) / 2
    trace = now[0].dot(then[0]) + now[1].dot(then[1]) + now[2].dot(then[2])
    error, half, square, cost = _angle(sine, (trace - 1) / 2)
    if _equal(weights):
        return _scaled(error, angular, weights, cost, turn=square)
    # one axis counts more than another: the exact rates, those of the vector part of a quaternion
    rates = [target.inv * (w * half + error.cross(w) / 2) for w in angular]
    return _scaled(target.inv * error, rates, weights, None, turn=None)


def _pointed(now: Vector, then: Vector, angular: Sequence[Vector], weight: float) -> Measured:
    """Of one direction that is turned into another; turning about it changes nothing."""
    error, _, square, cost = _angle(now.cross(then), now.dot(then))
    rates = [now.cross(w) for w in angular]
    return _scaled(now.cross(error), rates, (weight,) * 3, cost, turn=square)


def _placed(apart: Vector, axes: Rotation, linear: Sequence[Vector], weights: Scalars) -> Measured:
    if _equal(weights):
        return _scaled(apart, linear, weights, apart.dot(apart) / 2, distance=apart.dot(apart))
    return _scaled(axes.inv * apart, [axes.inv * v for v in linear], weights, None, distance=None)


def _angle(sine: Vector, cosine: Scalar) -> tuple[Vector, Scalar, Scalar, Scalar]:
    """The error 2 sin(t/2) n, cos(t/2), the error squared, and 4 (1 - cos(t/2)), whose gradient the error is."""
    half = sqrt(maximum((1 + cosine) / 2, 1e-16))
    error = sine / half
    square = where(cosine > 0, error.dot(error), 2 - 2 * cosine)
    return error, half, square, square / (1 + half)


def _scaled(
    error: Vector,
    rates: Sequence[Vector],
    weights: Scalars,
    cost: Scalar | None,
    distance: Scalar | None = 0,
    turn: Scalar | None = 0,
) -> Measured:
    """Errors and rates times their weights, those without weight left out."""
    kept = [(name, w) for name, w in zip("xyz", weights, strict=True) if w]
    errors = [getattr(error, name) * w for name, w in kept]
    rows = [[getattr(rate, name) * w for rate in rates] for name, w in kept]
    seen = _total(getattr(error, name) * getattr(error, name) for name, _ in kept)
    if cost is None:
        cost = _total(x * x for x in errors) / 2
    else:
        cost = cost * (weights[0] * weights[0])
    given = [seen if value is None or not kept else value for value in (distance, turn)]
    return Measured(errors, rows, cost, *given)


def _equal(weights: Scalars) -> bool:
    return len(set(weights)) == 1


def _total(values: Iterable[Scalar]) -> Scalar:
    total: Scalar = 0
    for value in values:
        total = total + value
    return total
