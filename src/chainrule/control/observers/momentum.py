"""Torques of the world on the joints, from the momentum that motors and gravity do not explain.

With p = M qd, dp/dt = tau + C^T qd - g - friction + tau_ext. The estimate r follows tau_ext as dr/dt = K (tau_ext - r),
without accelerations and without an inverse of M (De Luca, Mattone 2003). From one sample to the next this equation is
solved exactly for the mean of tau_ext between the two, so that any gain is stable at any rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.algorithms.generalized_momentum import momentum_and_drift
from chainrule.arguments import Array, positive
from chainrule.calls import explains_arguments
from chainrule.control.laws.gains import joint_gains, joint_inertias
from chainrule.control.observers.contact import Contact, ExternalWrench, contact, external_wrench, torque_deviation
from chainrule.control.observers.observer import Observer, Scalars, Step
from chainrule.control.requirements import known_robot
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

MAX_JITTER = 1e-3
"""How far the time between two samples of a motion may be from the period, as a part of it."""


class MomentumObserver(Observer):
    """Torques of the world on the joints, by the generalized momentum: `observer(q, qd, tau)` at every sample.

    Whatever the model does not explain is taken for the world's: a wrong mass, and friction that it lacks. Dry friction
    is counted with the sign of qd; a joint that sticks hides up to its break-away level.

    Parameters
    ----------
    robot
        A robot with masses and without closed loops.
    gain
        K, in 1/s: the estimate follows with the lag 1/K. One number, (nv,), a batch, or a dictionary of joint names.
    rate
        Samples a second, in Hz.
    order
        1 for dr/dt = K (tau_ext - r); 2 for two such filters one after the other, which let less noise through.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> observer = cr.MomentumObserver(arm, gain=50.0, rate=1000)
    >>> for _ in range(200):
    ...     r = observer([0.0, 0.0], [0.0, 0.0], arm.gravity_torque([0.0, 0.0]) - [2.0, 0.5])
    >>> r.round(3).tolist()
    [2.0, 0.5]
    """

    def __init__(
        self,
        robot: Mechanism,
        gain: ArrayLike | dict[str, float] = 50.0,
        rate: float = 1000.0,
        *,
        order: int = 1,
    ) -> None:
        known_robot(robot, "MomentumObserver", loops=True)
        self._begin(robot, gain, rate, order, {})

    def _begin(self, robot: Mechanism, gain: Any, rate: Any, order: Any, model: dict[str, Array]) -> None:
        name = type(self).__name__
        if robot.model.constraints:
            raise ModelError(
                f"{name}: robot {robot.name!r} has closed loops, whose forces would be taken for the world's; observe "
                "an open chain of it, robot.chain(link)"
            )
        if order not in (1, 2) or isinstance(order, bool):
            raise ShapeError(f"{name}: order must be 1 or 2, got {short_repr(order)}")
        self.order = int(order)
        K, period = joint_gains(robot, gain, f"{name}: gain"), 1 / positive(rate, f"{name}: rate", unit="Hz")
        parameters = {"gain": K, "decay": np.exp(-K * period), "period": np.array([period]), **model}
        super().__init__(robot, rate, parameters, 1 + (2 + self.order) * robot.nv, (self.order,))

    @explains_arguments
    def __call__(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> Array:
        """The torques (..., nv) of the world on the joints, in N m or N, in the state q, qd at this sample.

        tau (..., nv): the torques of motors since the last sample, as last commanded, or the mean of those measured.
        """
        return self.advance(q, qd, tau)

    def momentum(self, q: Scalars, qd: Scalars, model: Sequence[Scalars]) -> tuple[list[Scalar], list[Scalar]]:
        """p, and dp/dt without motors and world."""
        return momentum_and_drift(self.model, q, qd)

    def step(self, q: Scalars, qd: Scalars, tau: Scalars, z: Scalars, p: Scalars) -> Step:
        """The estimate r: the mean torque of the world since the last sample, through one filter or two."""
        K, decay, (period,), *model = self.parts(p)
        n, begun = self.model.nv, z[0] > 0.5
        momentum, drift = self.momentum(q, qd, model)
        before, drift_before, *filters = (z[1 + k * n : 1 + (k + 1) * n] for k in range(2 + self.order))
        first: list[Scalar] = []
        second: list[Scalar] = []
        for i, x in enumerate(filters[0]):
            change = (momentum[i] - before[i]) / period - tau[i] - (drift[i] + drift_before[i]) / 2
            mean = where(begun, change, 0.0)
            first.append(mean + decay[i] * (x - mean))
            if self.order == 2:
                second.append(mean + decay[i] * (filters[1][i] - mean + K[i] * period * (x - mean)))
        return second or first, [1.0, *momentum, *drift, *first, *second]

    def follow(self, motion: Any) -> Array:
        """The estimates (..., T, nv) along a `Trajectory`, simulated or recorded, sampled at the rate.

        Nothing of it is remembered. Torques between samples are taken as the mean of both.
        """
        if len(motion) > 1 and np.abs(np.diff(motion.t) * self.rate - 1).max() > MAX_JITTER:
            raise ShapeError(
                f"{type(self).__name__}: the motion must have a sample every {1 / self.rate:g} s, as "
                f"rate={self.rate:g} says; motion.resample({1 / self.rate:g}) has"
            )
        own = copy(self)
        own.reset()
        tau = np.concatenate([motion.tau[..., :1, :], (motion.tau[..., :-1, :] + motion.tau[..., 1:, :]) / 2], axis=-2)
        steps = [own(motion.q[..., k, :], motion.qd[..., k, :], tau[..., k, :]) for k in range(len(motion))]
        return np.stack(steps, axis=-2)

    def wrench(
        self, q: ArrayLike, torque: ArrayLike, link: str | None = None, *, frame: str = "world", task: str = "pose"
    ) -> ExternalWrench:
        """The wrench of the world on a link or frame, the end-effector unless named, that gives these torques."""
        return external_wrench(self.robot, q, torque, link, frame=frame, task=task)

    def contact(self, torque: ArrayLike, threshold: ArrayLike | dict[str, float]) -> Contact | None:
        """The link that is touched, where a torque (nv,) passes its threshold, in N m or N; None where none does."""
        return contact(self.robot, torque, threshold)

    def threshold(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, covariance: ArrayLike, *, deviations: float = 5.0
    ) -> Array:
        """Thresholds (..., nv) for `contact`: so many standard deviations of the model's torques in a motion.

        covariance (p, p): that of `robot.parameters.values`, as an identification estimates it.
        """
        spread = torque_deviation(self.robot, q, qd, qdd, covariance)
        return positive(deviations, "threshold: deviations") * spread


class DisturbanceObserver(MomentumObserver):
    """Torques that a joint of constant inertia J does not explain, J qdd - tau, without a model of the robot.

    The disturbance observer of Ohnishi: what gravity, other joints, friction and the world do to a joint is one
    disturbance. Taken from the torque of a controller, it leaves joints that behave as inertias J.

    Parameters
    ----------
    robot
        A robot without closed loops.
    gain
        The bandwidth, in 1/s: one number, (nv,), a batch, or a dictionary of joint names.
    rate
        Samples a second, in Hz.
    inertia
        J, in kg m^2 or kg, as for `gain`; the diagonal of M at home unless given.
    order
        1 or 2 filters, as of `MomentumObserver`.
    """

    def __init__(
        self,
        robot: Mechanism,
        gain: ArrayLike | dict[str, float] = 50.0,
        rate: float = 1000.0,
        *,
        inertia: ArrayLike | dict[str, float] | None = None,
        order: int = 1,
    ) -> None:
        known_robot(robot, "DisturbanceObserver", masses=False)
        given = None if inertia is None else joint_gains(robot, inertia, "DisturbanceObserver: inertia")
        J = joint_inertias(robot, None, "DisturbanceObserver") if given is None else given
        if not (J > 0).all():
            raise ShapeError("DisturbanceObserver: inertia must be positive, for every joint")
        self._begin(robot, gain, rate, order, {"inertia": J})

    def momentum(self, q: Scalars, qd: Scalars, model: Sequence[Scalars]) -> tuple[list[Scalar], list[Scalar]]:
        """J qd."""
        return [J * v for J, v in zip(model[0], qd, strict=True)], [0.0] * len(qd)
