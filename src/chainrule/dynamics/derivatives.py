"""Derivatives of inverse and forward dynamics, of the mass matrix and of gravity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chainrule.algorithms import configuration_derivatives
from chainrule.arguments import Array
from chainrule.core.declaration import composition, function
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import LOADED, SOLVED
from chainrule.functions import adapters
from chainrule.functions.adapters import with_wrenches_that_turn
from chainrule.functions.named import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    InverseDynamicsSecondDerivatives,
)
from chainrule.functions.table import (
    ACCELERATIONS,
    DOFS,
    EFFORTS,
    PER_ACCELERATION,
    PER_DISPLACEMENT,
    PER_EFFORT,
    PER_VELOCITY,
    QD,
    QDD,
    TAU,
    VECTOR,
    Needs,
    Q,
    per_pair,
    per_triple,
    without_loops,
)
from chainrule.model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def _per_pair_and_product(model: Model) -> float:
    """Visits of pairs of joints, and the terms of products of matrices, whose number grows faster than the result."""
    return per_pair(2)(model) + model.nv**3


@function(
    with_wrenches_that_turn(adapters.inverse_dynamics_derivatives),
    takes=(Q, QD, QDD),
    gives=(3, DOFS, DOFS),
    options=LOADED,
    cost=per_pair(2),
    loaded=True,
    is_direct=without_loops,
    named=InverseDynamicsDerivatives,
    gives_parts=((EFFORTS, PER_DISPLACEMENT), (EFFORTS, PER_VELOCITY), (EFFORTS, PER_ACCELERATION)),
    on_any_frames=True,
    answer="derivatives of torques or forces with respect to q, qd and qdd: rows {torques}, columns {columns}",
)
def inverse_dynamics_derivatives(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    qdd: ArrayLike = 0,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> InverseDynamicsDerivatives:
    """Derivatives of inverse_dynamics: dq, dqd and dqdd = M, each (..., nv, nv), entry (i, k) being d tau_i/d(..)_k.

    A recursion over pairs of joints (`algorithms/rnea_derivatives.py`), with rotors, springs, friction and wrenches.

    Column k of dq is the derivative along velocity k, of inverse_dynamics(integrate(q, e v), ..) with respect to e,
    where v is 1 at index k and 0 elsewhere: d tau/dq_k where coordinates are plain numbers, and nv columns too where q
    has quaternions. qd and qdd are kept.

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., nv); rates that are left out are zero.
    tip_wrench, external
        As in inverse_dynamics: constant as they are given.
    frame
        The axes in which they are given, and constant: "world", those of the base; "body", those of the link or frame
        itself.

    Dry friction jumps at zero speed; its derivatives there are those of zero, and elsewhere those of its level.

    >>> import chainrule as cr
    >>> derivatives = cr.load("pendulum").inverse_dynamics_derivatives([0.0])
    >>> derivatives.dq.tolist(), derivatives.dqdd.tolist()
    ([[9.81]], [[1.0]])
    """


@function(
    with_wrenches_that_turn(adapters.forward_dynamics_derivatives),
    takes=(Q, QD, TAU),
    gives=(3, DOFS, DOFS),
    options=LOADED,
    needs=Needs.INVERTIBLE_MASS,
    cost=_per_pair_and_product,
    loaded=True,
    loops=SOLVED,
    named=ForwardDynamicsDerivatives,
    gives_parts=((ACCELERATIONS, PER_DISPLACEMENT), (ACCELERATIONS, PER_VELOCITY), (ACCELERATIONS, PER_EFFORT)),
    on_any_frames=True,
    answer="derivatives of accelerations with respect to q, qd and tau: rows {accelerations}, columns {columns}",
)
def forward_dynamics_derivatives(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    tau: ArrayLike = 0,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> ForwardDynamicsDerivatives:
    """Derivatives of forward_dynamics: dq, dqd and dtau = M^-1, each (..., nv, nv), entry (i, k) d qdd_i/d(..)_k.

    Those of inverse dynamics at the accelerations that result, times -M^-1 (`algorithms/aba_derivatives.py`). The
    columns of dq, wrenches, frame and dry friction are those of inverse_dynamics_derivatives.

    With closed loops, the derivatives are those of M qdd + h = tau + G^T lambda and G qdd + gamma = 0 together
    (`algorithms/loop_derivatives.py`), and dtau is what is left of M^-1.

    >>> import chainrule as cr
    >>> cr.load("pendulum").forward_dynamics_derivatives([0.0]).dtau.tolist()
    [[1.0]]
    """


@function(
    adapters.inverse_dynamics_second_derivatives,
    subject="derivatives",
    takes=(Q, QD, QDD, VECTOR),
    gives=(4, DOFS, DOFS),
    options=LOADED,
    cost=per_pair(10),
    loaded=True,
    is_direct=without_loops,
    named=InverseDynamicsSecondDerivatives,
    unit="W",
    gives_parts=(
        (PER_DISPLACEMENT, PER_DISPLACEMENT),
        (PER_DISPLACEMENT, PER_VELOCITY),
        (PER_DISPLACEMENT, PER_ACCELERATION),
        (PER_VELOCITY, PER_VELOCITY),
    ),
    answer="second derivatives of vector . tau with respect to q and q, q and qd, q and qdd, qd and qd: {columns}",
)
def second(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    vector: ArrayLike,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> InverseDynamicsSecondDerivatives:
    """Second derivatives of vector . tau: dq_dq, dq_dqd, dq_dqdd and dqd_dqd, each (..., nv, nv).

    tau are the torques of inverse_dynamics, and the vector (..., nv) is constant: multipliers of the dynamics in an
    optimization, or a unit vector for the second derivatives of one torque. Those with qdd twice and with qd and qdd
    are zero. The work grows like nv^2 (`algorithms/rnea_second_derivatives.py`).

    Entry (i, k) of dq_dq is the derivative along velocity k of the derivative along velocity i, as in
    inverse_dynamics_derivatives; within a ball joint, which is turned, the order matters. Rows of dq_dqd and dq_dqdd
    belong to q. Wrenches and frame are those of inverse_dynamics_derivatives.

    >>> import chainrule as cr
    >>> rest = [0.0, 0.0]
    >>> cr.load("planar_2r").derivatives.second(rest, rest, rest, vector=[1.0, 0.0]).dq_dq.round(2).tolist()
    [[-29.43, -9.81], [-9.81, -9.81]]
    """


@function(
    configuration_derivatives.mass_matrix_dq,
    subject="derivatives",
    takes=(Q,),
    gives=(EFFORTS, PER_ACCELERATION, PER_DISPLACEMENT),
    cost=per_triple(),
    on_any_frames=True,
    answer="derivatives of the mass matrix, rows and columns {columns}, each along these",
)
def mass_matrix_dq(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """dM_ij/dq_k, the change of the mass matrix along velocity k: (..., nv, nv, nv), indices i, j, k.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> arm, q, qd = cr.load("planar_2r"), [0.3, 0.5], np.array([1.0, 2.0])
    >>> bool(abs(arm.derivatives.mass_matrix_dq(q) @ qd - arm.derivatives.mass_matrix_dot(q, qd)).max() < 1e-12)
    True
    """


@composition((EFFORTS, PER_ACCELERATION), unit="1/s")
def mass_matrix_dot(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """dM/dt along qd: (..., nv, nv), C + C^T of the Coriolis matrix."""
    C = evaluate(robot, "coriolis_matrix", q=q, qd=qd)
    return C + C.swapaxes(-1, -2)


@function(
    configuration_derivatives.gravity_torque_dq,
    subject="derivatives",
    takes=(Q,),
    gives=(EFFORTS, PER_DISPLACEMENT),
    cost=per_pair(),
    on_any_frames=True,
    answer="derivatives of the torques against gravity: rows and columns {columns}",
)
def gravity_torque_dq(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """dg_i/dq_k, the change of the torques against gravity along velocity k: (..., nv, nv).

    The stiffness that gravity gives the robot: symmetric where joints have no quaternions, positive definite where it
    hangs in a stable equilibrium.
    """
