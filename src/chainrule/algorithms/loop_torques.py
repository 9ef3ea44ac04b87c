"""Inverse dynamics with closed loops: the torques of some joints, and the forces of the constraints."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.loop_equations import Rows, chosen, constraint_jacobian
from chainrule.algorithms.rnea import Wrenches
from chainrule.algorithms.vector_form import inverse_dynamics
from chainrule.model import Model
from chainrule.spatial import Scalar
from chainrule.spatial.linear import Factors, dot

Scalars = Sequence[Scalar]


def loop_torques(
    model: Model,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    wrenches: Wrenches | None = None,
    rows: Rows = None,
    actuated: Sequence[int] = (),
) -> tuple[list[Scalar], list[Scalar]]:
    """tau, zero but for the actuated velocities, and lambda: M qdd + h = tau + G^T lambda."""
    return shared_torque(model, q, inverse_dynamics(model, q, qd, qdd, wrenches), rows, actuated)


def shared_torque(
    model: Model, q: Scalars, t: Scalars, rows: Rows = None, actuated: Sequence[int] = ()
) -> tuple[list[Scalar], list[Scalar]]:
    """tau and lambda with t = tau + G^T lambda, t being what the joints of the tree would need without the loops.

    Of several tau that would do, the smallest: tau = B mu, B picking the actuated joints, with B mu + G^T lambda = t
    and G mu = 0. Adding G^T (G mu) = 0 to the first equation makes its matrix K = B + G^T G, which is regular
    wherever the actuated joints can produce the motion.
    """
    G = chosen(constraint_jacobian(model, q), rows)
    n = model.nv
    columns = [[row[i] for row in G] for i in range(n)]
    K = [[dot(columns[i], columns[j]) for j in range(n)] for i in range(n)]
    for i in actuated:
        K[i][i] = K[i][i] + 1
    factors = Factors(K)
    solved = [factors.solve(row) for row in G]
    start = factors.solve(t)
    forces = Factors([[dot(row, column) for column in solved] for row in G]).solve([dot(row, start) for row in G])
    mu = [s - dot(forces, [column[i] for column in solved]) for i, s in enumerate(start)]
    return [mu[i] if i in actuated else 0 for i in range(n)], forces
