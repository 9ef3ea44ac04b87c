"""What a digital controller computes at a sample: a law, its torque cut off at limits, as one tick that can leave."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.control.laws.pieces import Pieces, pieces_of_values
from chainrule.control.tick import Signal, Tick
from chainrule.core.derived import merged_model
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError
from chainrule.simulation.sources import ControllerSource, Source, is_controller
from chainrule.simulation.traceable import TracedSource, traceable
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import where

Scalars = Sequence[Scalar]


class PiecewiseSource(ControllerSource):
    """A controller whose reference is a table of polynomials: its signals are a row, the time in it, and the time."""

    def __init__(self, controller: Any, size: int, pieces: Pieces) -> None:
        super().__init__(controller, size)
        self.pieces, self.width = pieces, pieces.width + 2

    @property
    def fingerprint(self) -> tuple[Hashable, ...]:
        """With the polynomials' kind."""
        return (*super().fingerprint, self.pieces.key)

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        """The rows at the times t, the times since their pieces began, and t."""
        return np.concatenate([self.pieces.at_times(t), t[:, None]], axis=-1)

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        """The law at the polynomials' values."""
        *row, since, t = s
        return super().compute(q, qd, z, [*self.pieces.signals(row, since), *[t] * self.takes_time], p)


class DigitalLaw:
    """A law at a sample: its torque within limits, of which the rate may be one, and its states one period later."""

    def __init__(
        self, law: Source, period: float, limits: Sequence[float] | None = None, rate_limit: Array | None = None
    ) -> None:
        if type(law) is ControllerSource:
            pieces = getattr(getattr(law.controller, "target", None), "pieces", None)
            law = law if pieces is None else PiecewiseSource(law.controller, law.size, pieces)
        self.law = law
        self.limits = None if limits is None else tuple(limits)
        """The largest torques, infinite where there is no limit."""
        self.is_rate_limited = rate_limit is not None
        own = [period, *([] if rate_limit is None else period * np.broadcast_to(rate_limit, law.size))]
        theirs = np.zeros(0) if law.called else law.parameters
        self.own = len(own)
        self.parameters = np.concatenate([np.broadcast_to(own, (*theirs.shape[:-1], len(own))), theirs], axis=-1)
        """The period, the largest changes of torques in it where these are limited, and the numbers of the law."""

    @property
    def fingerprint(self) -> tuple[Hashable, ...]:
        """Everything that shapes its arithmetic."""
        return (self.limits, self.is_rate_limited, self.law.fingerprint)

    def __call__(
        self, q: Scalars, qd: Scalars, z: Scalars, last: Scalars, s: Scalars, p: Scalars
    ) -> tuple[Scalars, Scalars]:
        """The torque, and the states z of the law after a step of Euler; `last` is the torque of the sample before."""
        tau, rates = self.law.compute(q, qd, z, s, p[self.own :])
        return self.cut_off(tau, last, p), [a + p[0] * rate for a, rate in zip(z, rates, strict=True)]

    def cut_off(self, tau: Scalars, last: Scalars, p: Scalars) -> Scalars:
        """The torque within the limits."""
        if self.limits is not None:
            most = zip(tau, self.limits, strict=True)
            tau = [t if limit == np.inf else within(t, -limit, limit) for t, limit in most]
        if self.is_rate_limited:
            changes = zip(tau, last, p[1 : self.own], strict=True)
            tau = [within(t, before - most, before + most) for t, before, most in changes]
        return tau


def within(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """x cut off at two limits."""
    return where(x > high, high, where(x < low, low, x))


def effort_limits(robot: Mechanism) -> tuple[float, ...]:
    """The largest torque of each degree of freedom."""
    return tuple(float(dof.effort) for dof in merged_model(robot).layout.dofs)


def tick_of_law(
    law: Any, period: float, robot: Mechanism | None, torque_limits: bool = True, rate_limit: Array | None = None
) -> Tick:
    """A controller, or a function of (t, q, qd) for a robot, as one tick of (q, qd) -> tau.

    It remembers the states of the law and, where their rate is limited, the last torques. A reference without
    polynomials becomes a table of its values at all ticks.
    """
    of_controller = is_controller(law)
    robot = law.robot if of_controller else robot
    if not isinstance(robot, Mechanism):
        raise ShapeError("export: a function knows no robot; pass robot=... too")
    function = law if of_controller or isinstance(law, traceable) else traceable(law)
    kind = type(law).__name__ if of_controller else getattr(function.function, "__name__", "law")
    source = (
        ControllerSource(law, robot.nv) if of_controller else TracedSource(function, robot.nv, robot.nq, robot.nv, kind)
    )
    digital = DigitalLaw(source, period, effort_limits(robot) if torque_limits else None, rate_limit)
    if of_controller and law.width and not isinstance(digital.law, PiecewiseSource):
        duration = getattr(law.target, "duration", None)
        if duration is None:
            raise ShapeError(f"{kind}: its signals come from Python; give it a target, such as a motion of cr.plan")
        digital.law = PiecewiseSource(law, robot.nv, pieces_of_values(law.signals, duration, period))
    if digital.parameters.ndim != 1:
        raise ShapeError(
            f"{kind}: its gains or its target are a batch of shape {digital.parameters.shape[:-1]}, and one robot has "
            "one controller; choose a row"
        )
    n, width, remembers = source.states, digital.law.width, digital.is_rate_limited

    def compute(inputs: Sequence[Scalars], memory: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        tau, z = digital(inputs[0], inputs[1], memory[:n], memory[n:], s[len(s) - width :], p)
        return tau, [*z, *(tau if remembers else [])]

    q = Signal.of_joints(robot, "q", "measured positions", "position")
    qd = Signal.of_joints(robot, "qd", "measured velocities", "velocity")
    tau = Signal.of_joints(robot, "tau", "torques or forces of the motors", "effort")
    memory = ", then ".join([f"{n} internal states"] * bool(n) + ["the last torques"] * remembers)
    start, reference = np.zeros(n + robot.nv * remembers), getattr(digital.law, "pieces", None)
    parts = digital.fingerprint, start, memory, digital.parameters, reference
    return Tick(kind, robot, period, (q, qd), (tau,), compute, *parts)
