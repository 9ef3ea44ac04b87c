"""A control law, less the torques of the world that a momentum observer finds."""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING

from chainrule.algorithms.generalized_momentum import momentum_and_drift
from chainrule.control.laws.controller import Controller
from chainrule.control.laws.gains import joint_gains
from chainrule.control.laws.joint_space import clamp
from chainrule.control.laws.tracing import call_law, takes_time
from chainrule.control.requirements import known_robot
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    Scalars = Sequence[Scalar]
    Law = tuple[list[Scalar], list[Scalar]]


class Compensated(Controller):
    """tau = tau_law - r, with r the torques that the model does not explain: dr/dt = K (tau_ext - r).

    A payload, a push and friction that the model lacks leave no error at rest, as an integral would; r comes from the
    momentum (`MomentumObserver`), so that it reacts to torques, not to errors. Torques stay within the effort limits.
    Internal states are those of the law, then the integral of what the momentum owes. r begins with K p, so begin at
    rest.

    Parameters
    ----------
    law
        A controller, as it is now: changes of it later play no part.
    gain
        K, in 1/s: one number, (nv,), a batch (..., nv), or a dictionary of joint names and numbers.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> heavy = arm.with_payload(1.0)
    >>> law = cr.ComputedTorque(arm, [0.5, 0.5], bandwidth=1.0)
    >>> for torque in (law, cr.Compensated(law, gain=20.0)):
    ...     error = 0.5 - heavy.simulate([0.5, 0.5], None, 3.0, torque).q[-1]
    ...     print(abs(error).round(3).tolist())
    [0.076, 0.008]
    [0.0, 0.0]
    """

    def __init__(self, law: Controller, gain: ArrayLike | dict[str, float] = 50.0) -> None:
        if not isinstance(law, Controller):
            raise ShapeError(
                f"Compensated: law must be a controller, such as cr.ComputedTorque(..), got {short_repr(law)}"
            )
        robot = known_robot(law.robot, "Compensated", loops=True)
        if robot.model.constraints:
            raise ModelError(
                f"Compensated: robot {robot.name!r} has closed loops, whose forces would be taken for the world's"
            )
        self.law = copy(law)
        self.states = law.states + robot.nv
        self.efforts = tuple(robot.limits.effort.tolist())
        names = [robot.model.layout.velocities[i].joint for i in law.actuated]
        parameters = {"law": law.parameters, "gain": joint_gains(robot, gain, "Compensated: gain")}
        super().__init__(robot, parameters, law.target, actuated=names)

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars, t: Scalar = 0.0) -> Law:
        """The torque of the law less r, and the rates of its states and of the momentum that is explained."""
        law, own = self.law, self.law.states
        of_law, K, *_ = self.parts(p)
        tau, rates = call_law(law.torque, [q, qd, z[:own], s, of_law, [t]][: 5 + takes_time(law)], takes_time(law))
        momentum, drift = momentum_and_drift(self.model, q, qd)
        r = [k * (a - b) for k, a, b in zip(K, momentum, z[own:], strict=True)]
        wanted = [a - b for a, b in zip(tau, r, strict=True)]
        limited = [clamp(x, most) if most < math.inf else x for x, most in zip(wanted, self.efforts, strict=True)]
        tau = self.project(limited)  # what motors cannot do would count as the world's
        return tau, [*rates, *(a + b + c for a, b, c in zip(tau, drift, r, strict=True))]
