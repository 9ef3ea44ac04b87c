"""Velocities from encoders."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms.configuration import difference, integrate
from chainrule.arguments import Array, one_of, positive
from chainrule.calls import explains_arguments
from chainrule.control.laws.gains import joint_gains
from chainrule.control.observers.observer import Observer, Scalars, Step
from chainrule.control.requirements import known_robot
from chainrule.errors import ShapeError
from chainrule.spatial.scalar import sqrt, where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

METHODS = {"kalman": ("resolution", "acceleration"), "filter": ("bandwidth",), "sliding": ("acceleration",)}
"""Methods, and the options that each needs."""

SLIDING = (1.5, 1.1)
"""Gains of Levant's differentiator, times the root of the largest acceleration and times that acceleration."""


class VelocityObserver(Observer):
    """Velocities of joints from their measured positions: `observer(q)` at every sample.

    Parameters
    ----------
    robot
        The robot, for its coordinates; masses play no part.
    rate
        Samples a second, in Hz.
    method
        "kalman": the stationary Kalman filter of a position with random accelerations; "filter": differences through
        a first-order filter; "sliding": Levant's differentiator, exact without noise while accelerations are bounded.
    resolution
        The step of the encoders, in rad or m, whose rounding is the noise of "kalman": one number, (nv,), or a
        dictionary of joint names.
    acceleration
        The standard deviation of accelerations ("kalman"), or their bound ("sliding"), in rad/s^2 or m/s^2, as for
        `resolution`.
    bandwidth
        The cut-off frequency of "filter", in Hz, as for `resolution`.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> observer = cr.VelocityObserver(arm, 1000, resolution=1e-4, acceleration=20.0)
    >>> for k in range(400):
    ...     v = observer([0.5e-3 * k, -1e-3 * k])
    >>> v.round(3).tolist()
    [0.5, -1.0]
    """

    inputs = ("q",)
    estimates = ("velocities", "velocity")

    def __init__(
        self,
        robot: Mechanism,
        rate: float = 1000.0,
        *,
        method: str = "kalman",
        resolution: ArrayLike | dict[str, float] | None = None,
        acceleration: ArrayLike | dict[str, float] | None = None,
        bandwidth: ArrayLike | dict[str, float] | None = None,
    ) -> None:
        known_robot(robot, "VelocityObserver", masses=False)
        self.method = one_of(METHODS, method, "method", "VelocityObserver")
        given = {"resolution": resolution, "acceleration": acceleration, "bandwidth": bandwidth}
        needs = METHODS[self.method]
        if {name for name, value in given.items() if value is not None} != set(needs):
            raise ShapeError(f"VelocityObserver: method={self.method!r} takes {' and '.join(needs)}, and nothing else")
        values = [joint_gains(robot, given[name], f"VelocityObserver: {name}") for name in needs]
        if not all((value > 0).all() for value in values):
            raise ShapeError(f"VelocityObserver: {' and '.join(needs)} must be positive, for every joint")
        period = 1 / positive(rate, "VelocityObserver: rate", unit="Hz")
        gains = GAINS[self.method](period, *values)
        parameters = {"position": gains[0], "velocity": gains[1], "period": np.array([period])}
        super().__init__(robot, rate, parameters, 1 + robot.nq + robot.nv, (self.method,))

    @explains_arguments
    def __call__(self, q: ArrayLike) -> Array:
        """The velocities (..., nv), in rad/s or m/s, at this sample of the positions q (..., nq)."""
        return self.advance(q)

    def step(self, q: Scalars, z: Scalars, p: Scalars) -> Step:
        """The velocity: the last one, corrected by how far the position is from where that would have led to."""
        alpha, beta, (period,) = self.parts(p)
        model, begun = self.model, z[0] > 0.5
        x, v = [where(begun, a, b) for a, b in zip(z[1:], q, strict=False)], z[1 + model.nq :]
        if self.method == "filter":  # beta is the share of the new difference
            moved = difference(model, x, q)
            v = [a + b * (d / period - a) for a, b, d in zip(v, beta, moved, strict=True)]
            return v, [1.0, *q, *v]
        if self.method == "kalman":
            ahead = integrate(model, x, [period * a for a in v])
            e = difference(model, ahead, q)
            x = integrate(model, ahead, [a * b for a, b in zip(alpha, e, strict=True)])
            v = [a + b * c / period for a, b, c in zip(v, beta, e, strict=True)]
            return v, [1.0, *x, *v]
        e = difference(model, x, q)
        root = [where(a < 0, -1.0, 1.0) * sqrt(where(a < 0, -a, a)) for a in e]
        sign = [where(a < 0, -1.0, where(a > 0, 1.0, 0.0)) for a in e]
        x = integrate(model, x, [period * (a + b * c) for a, b, c in zip(v, alpha, root, strict=True)])
        v = [a + period * b * c for a, b, c in zip(v, beta, sign, strict=True)]
        return v, [1.0, *x, *v]


def _kalman_gains(period: float, resolution: Array, acceleration: Array) -> tuple[Array, Array]:
    """The stationary gains (Kalata 1984): an acceleration that is constant in each period, and rounding as noise."""
    index = acceleration * period**2 / (resolution / math.sqrt(12))
    r = (4 + index - np.sqrt(8 * index + index**2)) / 4
    alpha = 1 - r * r
    return alpha, 2 * (2 - alpha) - 4 * np.sqrt(1 - alpha)


def _filter_gains(period: float, bandwidth: Array) -> tuple[Array, Array]:
    """The exact solution of v' = w (dq/dt - v) for a position that moves evenly between samples."""
    return 0 * bandwidth, 1 - np.exp(-2 * math.pi * bandwidth * period)


def _sliding_gains(period: float, acceleration: Array) -> tuple[Array, Array]:
    return SLIDING[0] * np.sqrt(acceleration), SLIDING[1] * acceleration


GAINS: Mapping[str, Callable[..., tuple[Array, Array]]] = {
    "kalman": _kalman_gains,
    "filter": _filter_gains,
    "sliding": _sliding_gains,
}
"""The gains on position and velocity of each method, from the period and its options."""
