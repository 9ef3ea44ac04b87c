"""Joint-space motions as functions of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from chainrule.arguments import Array, positive, read_only, real_array, refuse_nonfinite
from chainrule.calls import explains_arguments, explains_methods
from chainrule.control.motions.curves import Curve, extremes
from chainrule.control.requirements import known_robot
from chainrule.core.reading import read_joints, read_state
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError
from chainrule.kinematics.configurations import integrate
from chainrule.lazy import cached_property
from chainrule.loops.constraints import close
from chainrule.loops.motion import consistent_acceleration, consistent_velocity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

MAX_SAMPLES = 1e9
"""Samples of a motion, at most."""


class SampledMotion(NamedTuple):
    """A motion at equal steps of time: t (T,), q (T, nq), qd and qdd (T, nv)."""

    t: Array
    q: Array
    qd: Array
    qdd: Array


class Peak(NamedTuple):
    """The largest magnitudes of a motion (nv,): rad/s, rad/s^2, rad/s^3, or m/s, m/s^2, m/s^3."""

    velocity: Array
    acceleration: Array
    jerk: Array


@dataclass(frozen=True, eq=False)
class DrivenLoops:
    """The closed loops of a robot, and the places in qd of the driven velocities that determine the others."""

    robot: Mechanism
    leading: tuple[int, ...]

    def close(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """The state with the loops closed, the driven joints as they are."""
        names = tuple(dict.fromkeys(self.robot.model.layout.velocities[i].joint for i in self.leading))
        state = close(self.robot, q, hold=names)
        rates = consistent_velocity(self.robot, state, qd, hold=names)
        return state, rates, consistent_acceleration(self.robot, state, rates, qdd, hold=names)


@explains_methods
@dataclass(frozen=True, eq=False, repr=False)
class Reference(Shown):
    """A motion through way-points: `reference(t)` is (q, qd, qdd). Made by `cr.plan` and `cr.hold`.

    It stands still at the first way-point before t = 0, and at the last one after its duration.

    >>> import chainrule as cr
    >>> motion = cr.plan(cr.load("planar_2r"), [[0.0, 0.0], [1.0, 2.0]], times=2.0)
    >>> q, qd, qdd = motion(1.0)
    >>> q.tolist(), qd.round(6).tolist()
    ([0.5, 1.0], [0.9375, 1.875])
    """

    times: Array
    """The time of each way-point, from 0 on (k,), in s."""
    waypoints: Array
    """Configurations (k, nq)."""
    curve: Curve = field(repr=False)
    """q itself; or, on a manifold, the displacement from the way-point that the leg started at."""
    manifold: Mechanism | None = field(default=None, repr=False)
    """The robot whose configurations these are, where they are not plain numbers."""
    loops: DrivenLoops | None = field(default=None, repr=False)
    """What keeps loops closed between way-points: the curve is that of the driven joints, and the others follow."""

    def _view(self) -> Iterator[str | Table]:
        count = len(self.times)
        yield f"a motion of {self.duration:.6g} s through {count} way-points: q, qd, qdd = motion(t)"
        header = ("time, s", *(f"q[{i}]" for i in range(self.nq)))
        yield Table(header, [(float(t), *map(float, q)) for t, q in zip(self.times, self.waypoints, strict=True)])

    @property
    def duration(self) -> float:
        """The end of the motion, in s."""
        return float(self.times[-1])

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return int(self.waypoints.shape[1])

    @property
    def nv(self) -> int:
        """The number of degrees of freedom."""
        return int(self.curve.c.shape[2])

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q (..., nq), qd and qdd (..., nv) at the times t (...), in s."""
        time = real_array(t, "t", "s").astype(float)
        inside = np.clip(time, 0.0, self.duration)
        moves = (inside == time)[..., None] | np.isnan(time)[..., None]  # a time that is no number has no rates either
        q = self._positions(inside)
        over = (time >= self.duration)[..., None]
        state = (
            np.where(over, self.waypoints[-1], q),
            np.where(moves, self._velocity(inside), 0.0),
            np.where(moves, self._acceleration(inside), 0.0),
        )
        return state if self.loops is None else self.loops.close(*state)

    def _positions(self, t: Array) -> Array:
        x = np.asarray(self.curve(t))
        if self.manifold is None:
            return x
        leg = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        return integrate(self.manifold, self.waypoints[leg], x)

    @cached_property
    def _velocity(self) -> Curve:
        return self.curve.derivative()

    @cached_property
    def _acceleration(self) -> Curve:
        return self.curve.derivative(2)

    @cached_property
    def peak(self) -> Peak:
        """The largest speed, acceleration and jerk of each joint, exactly."""
        return Peak(*(extremes(self.curve.derivative(order)).peak for order in (1, 2, 3)))

    def sample(self, dt: float) -> SampledMotion:
        """The motion every dt seconds, from 0 to the first step at or after its end."""
        t = sample_times(dt, self.duration)
        return SampledMotion(t, *self(t))


def sample_times(dt: float, duration: float) -> Array:
    """Multiples of dt from 0 to the first at or after the duration."""
    step = positive(dt, "dt", "a positive number of seconds", unit="s")
    steps = duration / step * (1 - 1e-12)
    if not steps < MAX_SAMPLES:
        raise ShapeError(f"dt of {step:g} s makes too many samples of {duration:g} s; take a longer one")
    count = int(np.ceil(steps)) + 1
    return step * np.arange(count, dtype=np.float64)


@explains_arguments
def hold(q: ArrayLike, robot: Mechanism | None = None) -> Reference:
    """The motion that stays at q (nq,). Configurations with quaternions need the robot as well.

    >>> import chainrule as cr
    >>> cr.hold([0.1, 0.2])(5.0)[0].tolist()
    [0.1, 0.2]
    """
    if robot is not None:
        q = read_joints(known_robot(robot, "hold", masses=False), q, "position", "hold: q")
    point = real_array(q, "hold: q").astype(float)
    if point.ndim != 1 or not point.size:
        raise ShapeError(f"hold: q must be one configuration, a list of numbers, got shape {point.shape}")
    refuse_nonfinite(point, "hold: q")
    manifold, start = None, point
    if robot is not None:
        (point,) = read_state(robot, "hold", q=point)
        if robot.nq != robot.nv:
            manifold, start = robot, np.zeros(robot.nv)
    curve = scipy.interpolate.PPoly(start[None, None, :], [0.0, 1.0])
    return Reference(read_only([0.0, 0.0]), read_only(np.stack([point, point])), curve, manifold)
