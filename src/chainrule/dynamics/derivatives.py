"""Derivatives of inverse and forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chainrule.core.mechanism import Mechanism
from chainrule.functions.named import ForwardDynamicsDerivatives, InverseDynamicsDerivatives, split

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def inverse_dynamics_derivatives(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    wrench_frame: str = "body",
) -> InverseDynamicsDerivatives:
    """Derivatives of inverse_dynamics: dq, dqd and dqdd = M, each (..., n, n), entry (i, k) being d tau_i/d(..)_k.

    A recursion over pairs of joints (`algorithms/rnea_derivatives.py`), with rotors, springs, friction and wrenches.

    Column k of dq is the derivative along velocity k, of inverse_dynamics(integrate(q, e v), ..) with respect to e,
    where v is 1 at place k and 0 elsewhere: d tau/dq_k where coordinates are plain numbers, and n columns too where q
    has quaternions. qd and qdd are kept.

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., n).
    tip_wrench, wrenches
        As in inverse_dynamics: constant as they are given.
    wrench_frame
        The axes in which they are given, and constant: "body", those of the link or frame itself; "world", those of
        the base.

    Dry friction jumps at zero speed; its derivatives there are those of zero, and elsewhere those of its level.

    >>> import chainrule as cr
    >>> arm = cr.load("pendulum")
    >>> derivatives = arm.inverse_dynamics_derivatives([0.0], [0.0], [0.0])
    >>> derivatives.dq.tolist(), derivatives.dqdd.tolist()
    ([[0.0]], [[1.0]])
    """
    loads = robot.loads("inverse_dynamics_derivatives", tip_wrench, wrenches)
    answer = robot.evaluate("inverse_dynamics_derivatives", loads, q=q, qd=qd, qdd=qdd, wrench_frame=wrench_frame)
    return split(InverseDynamicsDerivatives, answer)


def forward_dynamics_derivatives(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    wrench_frame: str = "body",
) -> ForwardDynamicsDerivatives:
    """Derivatives of forward_dynamics: dq, dqd and dtau = M^-1, each (..., n, n), entry (i, k) being d qdd_i/d(..)_k.

    Those of inverse dynamics at the accelerations that result, times -M^-1 (`algorithms/aba_derivatives.py`). The
    columns of dq, wrenches, wrench_frame and dry friction are those of inverse_dynamics_derivatives.

    With closed loops, the derivatives are those of M qdd + h = tau + G^T lambda and G qdd + gamma = 0 together
    (`algorithms/loop_derivatives.py`), and dtau is what is left of M^-1.

    >>> import chainrule as cr
    >>> arm = cr.load("pendulum")
    >>> arm.forward_dynamics_derivatives([0.0], [0.0], [0.0]).dtau.tolist()
    [[1.0]]
    """
    loads = robot.loads("forward_dynamics_derivatives", tip_wrench, wrenches)
    answer = robot.evaluate("forward_dynamics_derivatives", loads, q=q, qd=qd, tau=tau, wrench_frame=wrench_frame)
    return split(ForwardDynamicsDerivatives, answer)
