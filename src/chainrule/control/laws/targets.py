"""Targets of controllers: a constant, which is part of the parameters, or a motion, whose values are signals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from math import factorial, perm
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, refuse_nonfinite, rigid_transforms
from chainrule.control.laws.pieces import Pieces
from chainrule.control.motions.planning import plan
from chainrule.control.motions.poses import PoseReference
from chainrule.control.motions.references import Reference
from chainrule.core.dimensions import refuse_named_batch
from chainrule.core.plausibility import warn_of_degrees
from chainrule.core.reading import read_state
from chainrule.errors import ShapeError
from chainrule.inverse_kinematics.path import FollowedPath
from chainrule.lazy import cached_property
from chainrule.spatial import Rotation, Scalar, Transform, Twist, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]


class ControlTarget(ABC):
    """A constant has parameters (..., k) and no signals; a motion has signals (T, width) and no parameters."""

    parameters: Array = np.empty(0)
    width: int = 0

    @property
    def key(self) -> str:
        """ "motion" or "constant": the arithmetic of a controller depends on it."""
        return "motion" if self.width else "constant"

    @abstractmethod
    def signals(self, t: Array) -> Array:
        """Signals (T, width) at the times t (T,)."""

    @cached_property
    def pieces(self) -> Pieces | None:
        """A motion as a table of polynomials, for calls one by one; None where there is none."""
        return None


class JointTarget(ControlTarget):
    """A configuration (..., nq), a motion in joint space, or a path that `robot.ik.follow` found."""

    def __init__(
        self, robot: Mechanism, target: ArrayLike | Reference | FollowedPath, what: str, orders: int = 3
    ) -> None:
        """orders: how many of q and its derivatives the law wants; more than three of plain numbers only."""
        self._orders = orders
        self._nq, self._nv = robot.nq, robot.nv
        if isinstance(target, FollowedPath):
            target = plan(robot, target, method="time_optimal" if target.times is None else None)
        self._reference = target if isinstance(target, Reference) else None
        if isinstance(target, PoseReference):
            raise ShapeError(
                f"{what}: the target is a motion of poses, and this controller works on joints; give it a "
                "configuration, or a motion of cr.plan"
            )
        if not isinstance(target, Reference):
            self.parameters = configurations(robot, target, what)
            return
        if (target.nq, target.nv) != (robot.nq, robot.nv):
            raise ShapeError(
                f"{what}: the reference has {target.nq} coordinates and robot {robot.name!r} has {robot.nq}; it was "
                "planned for another robot"
            )
        if robot.nq != robot.nv and not robot.model.constraints:
            raise ShapeError(
                f"{what}: robot {robot.name!r} has quaternions in q (joint {robot.model.quaternions[0][0]!r}), along "
                "which no moving reference is followed; give a constant configuration"
            )
        if orders > 3 and (target.manifold is not None or target.loops is not None):
            raise ShapeError(f"{what}: the reference must be one of plain coordinates, without closed loops")
        self.width = target.nq + (orders - 1) * target.nv

    @property
    def first(self) -> Array:
        """A configuration (nq,) of the target: the constant, the first of a batch, or the start of the motion."""
        if self._reference is not None:
            return self._reference(0.0)[0]
        return self.parameters.reshape(-1, self._nq)[0]

    @property
    def duration(self) -> float:
        """The end of the motion, in s."""
        return 0.0 if self._reference is None else self._reference.duration

    @property
    def final(self) -> Array:
        """The configuration (..., nq) that the robot is brought to: the constant, or the end of the motion."""
        return self.parameters if self._reference is None else self._reference(self._reference.duration)[0]

    def signals(self, t: Array) -> Array:
        """q, qd and qdd of the motion, side by side."""
        reference = self._reference
        if reference is None:
            return np.empty((*t.shape, 0))
        moves = ((t >= 0) & (t <= reference.duration))[..., None]
        more = (np.where(moves, reference.curve(t, nu=order), 0.0) for order in range(3, self._orders))
        return np.concatenate([*reference(t), *more], axis=-1)

    @cached_property
    def pieces(self) -> Pieces | None:
        """The polynomials of q, where it is plain numbers that keep no loops closed."""
        reference = self._reference
        if reference is None or reference.manifold is not None or reference.loops is not None:
            return None
        curve = reference.curve
        rows = curve.c[::-1].transpose(1, 0, 2).reshape(curve.c.shape[1], -1)
        rest = np.zeros((2, rows.shape[1]))
        rest[:, : self._nq] = reference.waypoints[[0, -1]]
        signals = partial(_joint_signals, self._nq, self._orders)
        return Pieces(curve.x, np.concatenate([rest[:1], rows, rest[1:]]), f"joints, {self._orders}", signals)

    def at(self, s: Scalars, p: Scalars) -> Sequence[Scalars]:
        """The reference q, qd, qdd, and further derivatives."""
        if not self.width:
            return [p, *([0] * self._nv for _ in range(self._orders - 1))]
        nq, nv = self._nq, self._nv
        return [s[:nq], *(s[nq + k * nv : nq + (k + 1) * nv] for k in range(self._orders - 1))]


def configurations(robot: Mechanism, value: ArrayLike, what: str) -> Array:
    """Configurations (..., nq) of a robot, finite."""
    (q,) = read_state(robot, what, q=refuse_named_batch(robot.model.layout, value, f"{what}: q"))
    refuse_nonfinite(q, f"{what}: q")
    if not q.size:
        raise ShapeError(f"{what}: q of shape {q.shape} holds no configuration")
    warn_of_degrees(robot, q, what)
    return q.astype(float)


class PoseTarget(ControlTarget):
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
            poses = rigid_transforms(target, f"{what}: the target")
            if not poses.size:
                raise ShapeError(f"{what}: the target of shape {poses.shape} holds no pose")
            self.parameters = _upper_rows(poses)

    def signals(self, t: Array) -> Array:
        """The upper three rows of T, then V and A."""
        if self._reference is None:
            return np.empty((*t.shape, 0))
        T, V, A = self._reference(t)
        return np.concatenate([_upper_rows(T), V, A], axis=-1)

    @cached_property
    def pieces(self) -> Pieces | None:
        """The polynomials of origin and rotation vector, each with the orientation that its leg starts at."""
        reference = self._reference
        if reference is None:
            return None
        position, rotation = reference.position, reference.rotation
        breaks = np.union1d(position.x, rotation.x)
        order = max(len(position.c), len(rotation.c))
        powers = [
            np.concatenate([curve(breaks[:-1], nu=m) for curve in (position, rotation)], axis=-1) / factorial(m)
            for m in range(order)
        ]
        leg = np.clip(np.searchsorted(reference.times, breaks[:-1], side="right") - 1, 0, len(reference.times) - 2)
        R = reference.poses[:, :3, :3].reshape(-1, 9)
        rest = np.zeros((2, 6 * order))
        rest[:, :3] = reference.poses[[0, -1], :3, 3]
        rows = np.concatenate([rest[:1], np.concatenate(powers, axis=-1), rest[1:]])
        starts = np.concatenate([R[:1], R[leg], R[-1:]])
        return Pieces(breaks, np.concatenate([starts, rows], axis=-1), "poses", _pose_signals)

    def at(self, s: Scalars, p: Scalars) -> tuple[Transform, Twist, Twist]:
        """The reference pose, twist and its rate, as `frame="world"` of a Jacobian has them."""
        if not self.width:
            return _transform(p), Twist.zero(), Twist.zero()
        return _transform(s[:12]), Twist.of(s[12:18]), Twist.of(s[18:])


def _upper_rows(T: Array) -> Array:
    return T[..., :3, :].reshape((*T.shape[:-2], 12))


def _transform(p: Scalars) -> Transform:
    return Transform.of([p[0:4], p[4:8], p[8:12]])


def _joint_signals(n: int, orders: int, row: Scalars, dt: Scalar) -> list[Scalar]:
    """q and its derivatives in a piece, whose row has the coefficients of ascending powers, n for each."""
    return [x for order in range(orders) for x in _derivative(n, row, dt, order)]


def _pose_signals(row: Scalars, dt: Scalar) -> list[Scalar]:
    """The upper rows of T, V and A of a piece, whose row has a rotation matrix and coefficients of origin and turn."""
    (x, y, z, *turn), V, A = (_derivative(6, row[9:], dt, order) for order in range(3))
    R = Rotation.exp(Vector.of(turn)) @ Rotation.of([row[0:3], row[3:6], row[6:9]])
    upper = [[*axis, x] for axis, x in zip(R, (x, y, z), strict=True)]
    return [*(x for line in upper for x in line), *V[3:], *V[:3], *A[3:], *A[:3]]


def _derivative(n: int, row: Scalars, dt: Scalar, order: int) -> list[Scalar]:
    """A derivative of n polynomials, by Horner's rule."""
    found: list[Scalar] = [0.0] * n
    for power in range(len(row) // n - 1, order - 1, -1):
        found = [x * dt + perm(power, order) * c for x, c in zip(found, row[power * n :][:n], strict=True)]
    return found
