"""Derivatives of forward dynamics with respect to q, qd and tau: those of inverse dynamics at the solution.

M qdd + h = tau holds for all q, qd and tau, so that d qdd/dx = -M^-1 d ID/dx at the acceleration that results, for q
and qd, and d qdd/dtau = M^-1 (Carpentier & Mansard, 2018, section IV).
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.loads import Turning, Wrenches
from chainrule.algorithms.rnea_derivatives import bias_and_mass_matrix, inverse_dynamics_derivatives
from chainrule.model import Model
from chainrule.spatial import Scalar
from chainrule.spatial.linear import Factors, dot, multiply

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]


def forward_dynamics_derivatives(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    turning: Turning | None = None,
) -> tuple[Rows, Rows, Rows]:
    """d qdd/dq, d qdd/dqd and d qdd/dtau = M^-1; wrenches as in `inverse_dynamics_derivatives`."""
    h, M = bias_and_mass_matrix(model, q, qd, wrenches)
    inverse = Factors(M).inverse()
    net = [t - b for t, b in zip(tau, h, strict=True)]
    qdd = [dot(row, net) for row in inverse]
    dq, dqd, _ = inverse_dynamics_derivatives(model, q, qd, qdd, wrenches, turning)
    against = [[-x for x in row] for row in inverse]
    return multiply(against, dq), multiply(against, dqd), inverse
