"""Task-space motions: poses as functions of time, and plans through some of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array, positive, read_only, real_array, rigid_transforms
from chainrule.calls import explains_arguments, explains_methods
from chainrule.control.motions.curves import (
    METHODS,
    Curve,
    extremes,
    legs,
    refuse_unknown_method,
    squared_norm,
)
from chainrule.control.motions.references import sample_times
from chainrule.control.motions.timing import LIMIT_TOLERANCE, waypoint_times
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError
from chainrule.functions.reference import stack
from chainrule.lazy import cached_property
from chainrule.spatial import Rotation, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class SampledPoses(NamedTuple):
    """A motion at equal steps of time: t (T,), poses (T, 4, 4), twists and their rates (T, 6)."""

    t: Array
    T: Array
    V: Array
    A: Array


@explains_methods
@dataclass(frozen=True, eq=False, repr=False)
class PoseReference(Shown):
    """A motion of a frame through poses: `reference(t)` is (T, V, A). Made by `cr.plan_pose`.

    V is the angular velocity and the velocity of the frame's origin, in base axes, as `frame="world"` of a Jacobian;
    A its rate. The frame stands still at the first pose before t = 0, and at the last one after its duration.
    """

    times: Array
    """The time of each pose, from 0 on (k,), in s."""
    poses: Array
    """Poses in the base frame (k, 4, 4)."""
    position: Curve = field(repr=False)
    """The origin, in m."""
    rotation: Curve = field(repr=False)
    """The rotation vector, in base axes, from the pose that the leg started at."""

    def _view(self) -> Iterator[str | Table]:
        count = len(self.times)
        yield f"a motion of {self.duration:.6g} s through {count} poses: T, V, A = motion(t)"
        header = ("time, s", "x, m", "y, m", "z, m")
        rows = zip(self.times, self.poses[:, :3, 3], strict=True)
        yield Table(header, [(float(t), *map(float, origin)) for t, origin in rows])

    @property
    def duration(self) -> float:
        """The end of the motion, in s."""
        return float(self.times[-1])

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """T (..., 4, 4), V and A (..., 6) at the times t (...), in s."""
        time = real_array(t, "t", "s").astype(float)
        inside = np.clip(time, 0.0, self.duration)
        moves = (inside == time)[..., None] | np.isnan(time)[..., None]
        V, A = (
            np.concatenate([rotation(inside), position(inside)], axis=-1) for rotation, position in self._derivatives
        )
        over = (time >= self.duration)[..., None, None]
        return np.where(over, self.poses[-1], self._pose(inside)), np.where(moves, V, 0.0), np.where(moves, A, 0.0)

    def _pose(self, t: Array) -> Array:
        leg = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        turned = Rotation.exp(Vector.of(np.moveaxis(np.asarray(self.rotation(t)), -1, 0)))
        T = np.zeros((*t.shape, 4, 4))
        T[..., :3, :3] = stack([list(row) for row in turned], t.shape, (3, 3)) @ self.poses[leg, :3, :3]
        T[..., :3, 3] = self.position(t)
        T[..., 3, 3] = 1.0
        return T

    @cached_property
    def _derivatives(self) -> list[tuple[Curve, Curve]]:
        return [(self.rotation.derivative(order), self.position.derivative(order)) for order in (1, 2)]

    @cached_property
    def peak_speed(self) -> float:
        """The largest speed of the origin, in m/s."""
        return largest_speed(self.position)

    @cached_property
    def peak_turn_speed(self) -> float:
        """The largest angular speed, in rad/s."""
        return largest_speed(self.rotation)

    def sample(self, dt: float) -> SampledPoses:
        """The motion every dt seconds, from 0 to the first step at or after its end."""
        t = sample_times(dt, self.duration)
        return SampledPoses(t, *self(t))


@explains_arguments
def plan_pose(
    poses: ArrayLike,
    *,
    times: ArrayLike | None = None,
    method: str = "minimum_jerk",
    speed: float | None = None,
    turn_speed: float | None = None,
) -> PoseReference:
    """A motion of a frame through poses (k, 4, 4), at rest at both ends.

    The origin follows its curve through all points. The orientation goes from pose to pose by the shortest rotation,
    from rest to rest: it pauses at each, so that the angular velocity has no jump where the axis changes.

    Parameters
    ----------
    poses
        Poses in the base frame (k, 4, 4), at least two.
    times
        The time of each pose (k,), from 0 on, in s; or the duration of the whole. Without times, the motion is as
        quick as the speeds allow.
    method
        As for `plan`: "minimum_jerk", "cubic", "quintic" or "trapezoidal".
    speed
        The largest speed of the origin, in m/s.
    turn_speed
        The largest angular speed, in rad/s.

    Returns
    -------
    PoseReference
        `reference(t)` is (T, V, A).

    Examples
    --------
    >>> import numpy as np, chainrule as cr
    >>> there = np.eye(4)
    >>> there[:3, 3] = 0.3, 0.0, 0.4
    >>> round(cr.plan_pose([np.eye(4), there], speed=0.25).duration, 9)
    3.75
    """
    T = rigid_transforms(poses, "plan_pose: poses")
    if T.ndim != 3 or len(T) < 2:
        raise ShapeError(f"plan_pose: poses must be at least two, shape (k, 4, 4), got shape {T.shape}")
    refuse_unknown_method(method, "plan_pose")
    points = T[:, :3, 3]
    turns = rotation_vectors(T[1:, :3, :3] @ np.swapaxes(T[:-1, :3, :3], -1, -2))
    limits = np.array([_limit(speed, "speed"), _limit(turn_speed, "turn_speed")])
    lengths = np.stack([np.linalg.norm(np.diff(points, axis=0), axis=1), np.linalg.norm(turns, axis=1)], axis=1)

    def motion_at(when: Array) -> PoseReference:
        rotation = legs(method, when, turns)
        return PoseReference(read_only(when), read_only(T), METHODS[method](when, points), rotation)

    if times is None:
        shares = (lengths / limits).max(axis=1)
        _refuse_endless(lengths, shares)
        when = np.concatenate([[0.0], np.cumsum(shares)])
        return motion_at(when * _stretch(motion_at(when), limits).max())
    when = waypoint_times(times, len(T), "plan_pose", lengths.sum(axis=1))
    reference = motion_at(when)
    stretch = _stretch(reference, limits)
    i = int(stretch.argmax())
    if stretch[i] > 1 + LIMIT_TOLERANCE:
        what, unit = (("speed", "m/s"), ("turn_speed", "rad/s"))[i]
        raise ShapeError(
            f"plan_pose: the frame would reach {stretch[i] * limits[i]:.4g} {unit}, and {what} is {limits[i]:.4g} "
            f"{unit}; the motion takes at least {when[-1] * stretch[i]:.6g} s: leave out times=... to have it so"
        )
    return reference


def _refuse_endless(lengths: Array, shares: Array) -> None:
    for i in np.flatnonzero(shares == 0):
        if not lengths[i].any():
            raise ShapeError(
                f"plan_pose: poses {i} and {i + 1} are the same, so that going from one to the other takes no time; "
                "leave one out, or give times=..."
            )
        missing = "speed=... (m/s)" if lengths[i, 0] > 0 else "turn_speed=... (rad/s)"
        raise ShapeError(
            f"plan_pose: nothing says how fast to go from pose {i} to pose {i + 1}: give times=..., or {missing}"
        )


def largest_speed(curve: Curve) -> float:
    """The largest length of a curve's velocity."""
    return float(np.sqrt(max(extremes(squared_norm(curve.derivative())).high[0], 0.0)))


def _stretch(reference: PoseReference, limits: Array) -> Array:
    return np.array([reference.peak_speed, reference.peak_turn_speed]) / limits


def _limit(value: float | None, what: str) -> float:
    unit = "m/s" if what == "speed" else "rad/s"
    return np.inf if value is None else positive(value, f"plan_pose: {what}", "a positive number", unit=unit)


def rotation_vectors(R: Array) -> Array:
    """The logarithms (..., 3) of rotation matrices (..., 3, 3)."""
    rotation = Rotation(*(Vector(*(R[..., i, j] for j in range(3))) for i in range(3)))
    return stack(list(rotation.log()), R.shape[:-2], (3,))
