"""Derivatives of inverse and forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chainrule.core.dask import takes_dask
from chainrule.core.mechanism import Mechanism
from chainrule.functions.named import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    InverseDynamicsSecondDerivatives,
    split,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@takes_dask()
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
    ([[9.81]], [[1.0]])
    """
    loads = robot.loads("inverse_dynamics_derivatives", tip_wrench, wrenches)
    answer = robot.evaluate("inverse_dynamics_derivatives", loads, q=q, qd=qd, qdd=qdd, wrench_frame=wrench_frame)
    return split(InverseDynamicsDerivatives, answer)


@takes_dask()
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


@takes_dask()
def inverse_dynamics_second_derivatives(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    vector: ArrayLike,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    wrench_frame: str = "body",
) -> InverseDynamicsSecondDerivatives:
    """Second derivatives of vector . tau: dq_dq, dq_dqd, dq_dqdd and dqd_dqd, each (..., n, n).

    tau are the torques of inverse_dynamics, and the vector (..., n) is constant: multipliers of the dynamics in an
    optimization, or a unit vector for the second derivatives of one torque. Those with qdd twice and with qd and qdd
    are zero. The work grows like n^2 (`algorithms/rnea_second_derivatives.py`).

    Entry (i, k) of dq_dq is the derivative along velocity k of the derivative along velocity i, as in
    inverse_dynamics_derivatives; within a ball joint, which is turned, the order matters. Rows of dq_dqd and dq_dqdd
    belong to q. Wrenches and wrench_frame are those of inverse_dynamics_derivatives.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> rest = [0.0, 0.0]
    >>> arm.inverse_dynamics_second_derivatives(rest, rest, rest, vector=[1.0, 0.0]).dq_dq.round(2).tolist()
    [[-29.43, -9.81], [-9.81, -9.81]]
    """
    caller = "inverse_dynamics_second_derivatives"
    loads = robot.loads(caller, tip_wrench, wrenches)
    answer = robot.evaluate(caller, loads, q=q, qd=qd, qdd=qdd, vector=vector, wrench_frame=wrench_frame)
    return split(InverseDynamicsSecondDerivatives, answer)
