"""Derivatives of forward dynamics with closed loops, from the equations that hold for every state.

M qdd + h = tau + G^T lambda and G qdd + gamma = 0 stay true as q, qd and tau change, so that the changes of qdd and
lambda solve the same linear system: its right sides are the changes of the equations at the qdd and lambda found.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.loads import Turning, Wrenches
from chainrule.algorithms.loop_dynamics import ConstrainedSystem, equations_of_motion
from chainrule.algorithms.loop_equations import Rows, constraint_jacobian, row_scales, select, velocity_terms
from chainrule.algorithms.rnea_derivatives import inverse_dynamics_derivatives, state_directions
from chainrule.model import Model
from chainrule.spatial import Scalar
from chainrule.spatial.dual import derivative
from chainrule.spatial.linear import dot, transpose

Scalars = Sequence[Scalar]
Matrix = list[list[Scalar]]


def constrained_dynamics_derivatives(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    turning: Turning | None = None,
    rows: Rows = None,
    rank: int | None = None,
) -> tuple[Matrix, Matrix, Matrix]:
    """d qdd/dq, d qdd/dqd and d qdd/dtau; `rows` and `rank` are those of `loop_dynamics.constrained_dynamics`."""
    M, G, net, target = equations_of_motion(model, q, qd, tau, wrenches, rows)
    system = ConstrainedSystem(M, G, scales=row_scales(model, rows), rank=rank)
    qdd, forces = system.solve(net, target)
    dq, dqd, _ = inverse_dynamics_derivatives(model, q, qd, qdd, wrenches, turning)

    def loops(state: Scalars) -> list[list[Scalar]]:
        """The torques G^T lambda and the accelerations G qdd + gamma of the equations."""
        here, rates = state[: model.nq], state[model.nq :]
        jacobian, gamma = (
            select(of_all, rows) for of_all in (constraint_jacobian(model, here), velocity_terms(model, here, rates))
        )
        pulls = [dot(column, forces) for column in transpose(jacobian)]
        return [pulls, [dot(row, qdd) + g for row, g in zip(jacobian, gamma, strict=True)]]

    def column(torques: Matrix, k: int, direction: Scalars) -> list[Scalar]:
        pulls, accelerations = derivative(loops, [*q, *qd], direction)[1]
        load = [pull - row[k] for pull, row in zip(pulls, torques, strict=True)]
        return system.solve(load, [-a for a in accelerations])[0]

    units = [[int(i == k) for i in range(model.nv)] for k in range(model.nv)]
    directions = [state_directions(model, q, unit) for unit in units]
    with_q = [column(dq, k, along_q) for k, (along_q, _) in enumerate(directions)]
    with_qd = [column(dqd, k, along_qd) for k, (_, along_qd) in enumerate(directions)]
    with_tau = [system.solve(unit, [0] * len(G))[0] for unit in units]
    return transpose(with_q), transpose(with_qd), transpose(with_tau)
