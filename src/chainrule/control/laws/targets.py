"""What a controller is to reach: a constant, kept among its parameters, or a motion, known ahead as signals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, refuse_nonfinite
from chainrule.control.motions.poses import PoseReference, rigid
from chainrule.control.motions.references import Reference
from chainrule.errors import ShapeError
from chainrule.spatial import Motion, Scalar, Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot

Scalars = Sequence[Scalar]


class Target(ABC):
    """A constant has numbers (..., k) and no signals; a motion has signals (T, width) and no numbers."""

    numbers: Array = np.empty(0)
    width: int = 0

    @property
    def key(self) -> str:
        """Which of the two it is: the text of a controller depends on that."""
        return "motion" if self.width else "constant"

    @abstractmethod
    def signals(self, t: Array) -> Array:
        """What is known of it ahead, at the times t."""


class JointTarget(Target):
    """A configuration (..., nq), or a motion in joint space."""

    def __init__(self, robot: Robot, target: ArrayLike | Reference, what: str) -> None:
        self._nq, self._nv = robot.nq, robot.nv
        self._reference = target if isinstance(target, Reference) else None
        if isinstance(target, PoseReference):
            raise ShapeError(
                f"{what}: the target is a motion of poses, and this controller works on joints; give it a "
                "configuration, or a motion of cr.plan"
            )
        if not isinstance(target, Reference):
            self.numbers = configurations(robot, target, what)
            return
        if (target.nq, target.nv) != (robot.nq, robot.nv):
            raise ShapeError(
                f"{what}: the reference has {target.nq} coordinates and robot {robot.name!r} has {robot.nq}; it was "
                "planned for another robot"
            )
        if robot.nq != robot.nv:
            raise ShapeError(
                f"{what}: robot {robot.name!r} has quaternions in q (joint {robot.model.quaternions[0][0]!r}), along "
                "which no moving reference is followed; give a constant configuration"
            )
        self.width = target.nq + 2 * target.nv

    def signals(self, t: Array) -> Array:
        """(q, qd, qdd) of the motion, side by side."""
        return np.empty((*t.shape, 0)) if self._reference is None else np.concatenate(self._reference(t), axis=-1)

    def at(self, s: Scalars, numbers: Scalars) -> tuple[Scalars, Scalars, Scalars]:
        """q, qd and qdd to be reached."""
        if not self.width:
            rest = [0] * self._nv
            return numbers, rest, rest
        nq, nv = self._nq, self._nv
        return s[:nq], s[nq : nq + nv], s[nq + nv :]


def configurations(robot: Robot, value: ArrayLike, what: str) -> Array:
    """Configurations (..., nq) of a robot, finite."""
    (q,) = robot._arguments(what, {"q": value})
    refuse_nonfinite(q, f"{what}: q")
    return q.astype(float)


class PoseTarget(Target):
    """A pose (..., 4, 4) in the base frame, or a motion of poses."""

    def __init__(self, target: ArrayLike | PoseReference, what: str) -> None:
        self._reference = target if isinstance(target, PoseReference) else None
        if isinstance(target, Reference):
            raise ShapeError(
                f"{what}: the target is a motion of joints, and this controller works on poses; give it a 4-by-4 "
                "pose, or a motion of cr.plan_pose"
            )
        if isinstance(target, PoseReference):
            self.width = 24
        else:
            self.numbers = _twelve(rigid(target, f"{what}: the target"))

    def signals(self, t: Array) -> Array:
        """The upper three rows of T, then V and A."""
        if self._reference is None:
            return np.empty((*t.shape, 0))
        T, V, A = self._reference(t)
        return np.concatenate([_twelve(T), V, A], axis=-1)

    def at(self, s: Scalars, numbers: Scalars) -> tuple[Transform, Motion, Motion]:
        """The pose, twist and its rate to be reached, as `frame="world"` of a Jacobian has them."""
        if not self.width:
            return _transform(numbers), Motion.zero(), Motion.zero()
        return _transform(s[:12]), Motion.of(s[12:18]), Motion.of(s[18:])


def _twelve(T: Array) -> Array:
    return T[..., :3, :].reshape((*T.shape[:-2], 12))


def _transform(numbers: Scalars) -> Transform:
    return Transform.of([numbers[0:4], numbers[4:8], numbers[8:12]])
