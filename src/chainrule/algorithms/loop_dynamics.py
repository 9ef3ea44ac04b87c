"""Dynamics with closed loops: accelerations, constraint forces, and the torques of the actuated joints.

M qdd + h = tau + G^T lambda together with G qdd + gamma = 0; G, gamma and lambda are those of `loop_equations`.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.loads import Wrenches
from chainrule.algorithms.loop_equations import Rows, constraint_jacobian, residuals, select, velocity_terms
from chainrule.algorithms.vector_form import inverse_dynamics
from chainrule.model import Model
from chainrule.spatial import Scalar
from chainrule.spatial.linear import Factors, dot

Scalars = Sequence[Scalar]

MIN_PIVOT_RATIO = 1e-11
"""Where joints are prescribed: an equation whose pivot, relative to its size, is smaller is implied by others."""


def constrained_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    rows: Rows = None,
    is_free: Scalars | None = None,
    prescribed_acceleration: Scalars | None = None,
    feedback: tuple[Scalar, Scalar] | None = None,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """qdd, lambda and the excess: M qdd + h = tau + G^T lambda, with G qdd + gamma = 0 for the equations in use.

    `is_free`, `prescribed_acceleration` and the excess are those of `constrained_motion`. With `feedback`, (alpha,
    beta) in 1/s, the equations are those of Baumgarte: G qdd + gamma + 2 alpha d phi/dt + beta^2 phi = 0.
    """
    h = inverse_dynamics(model, q, qd, [0] * model.nv, wrenches)
    net = [t - b for t, b in zip(tau, h, strict=True)]
    G = select(constraint_jacobian(model, q), rows)
    target = [-x for x in select(velocity_terms(model, q, qd), rows)]
    if feedback is not None:
        alpha, beta = feedback
        phi = select(residuals(model, q), rows)
        target = [w - 2 * alpha * dot(row, qd) - beta * beta * x for w, row, x in zip(target, G, phi, strict=True)]
    return constrained_motion(mass_matrix(model, q), G, net, target, is_free, prescribed_acceleration)


def constrained_motion(
    M: Sequence[Scalars],
    G: Sequence[Scalars],
    net: Scalars,
    target: Scalars,
    is_free: Scalars | None = None,
    prescribed_acceleration: Scalars | None = None,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """x, lambda and the excess, with M x = net + G^T lambda and G x = target: accelerations, or jumps of velocities.

    M is factored, then G M^-1 G^T. Where `is_free` is 0 instead of 1, the joint's x is prescribed: the entry of
    `prescribed_acceleration`, or zero. The excess is the torque left over there, net + G^T lambda - M x, and zero for
    free joints. Equations that the free joints cannot satisfy, or satisfy through others, then carry no force.
    """
    M_free, G_free, load = M, G, net
    if is_free is not None:
        acceleration = [0] * len(net) if prescribed_acceleration is None else prescribed_acceleration
        prescribed = [(1 - f) * x for f, x in zip(is_free, acceleration, strict=True)]
        M_free = _mask_matrix(M, is_free)
        G_free = [[_scale(entry, f) for entry, f in zip(row, is_free, strict=True)] for row in G]
        load = [f * (b - dot(row, prescribed)) + p for f, b, row, p in zip(is_free, net, M, prescribed, strict=True)]
    factors = Factors(M_free)
    start = factors.solve(load)
    W = [factors.solve(row) for row in G_free]  # the columns of M^-1 G^T
    missing = [w - dot(row, start) for w, row in zip(target, G, strict=True)]
    forces = Factors(_symmetric_product(G_free, W), None if is_free is None else MIN_PIVOT_RATIO).solve(missing)
    x = _add_columns(start, W, forces)
    excess = [c - dot(row, x) for c, row in zip(_add_columns(net, G, forces), M, strict=True)]
    return x, forces, excess


def _mask_matrix(M: Sequence[Scalars], is_free: Scalars) -> list[list[Scalar]]:
    """The mass matrix with the rows and columns of prescribed joints replaced by those of the identity."""
    return [
        [x * f + (1 - f) if i == j else _scale(x, f * g) for j, (x, g) in enumerate(zip(row, is_free, strict=True))]
        for i, (row, f) in enumerate(zip(M, is_free, strict=True))
    ]


def _scale(entry: Scalar, f: Scalar) -> Scalar:
    """The product entry * f; the integer 0, an empty place of a matrix, stays what it is."""
    return entry if type(entry) is int and entry == 0 else entry * f


def _symmetric_product(G: Sequence[Scalars], columns: Sequence[Scalars]) -> list[list[Scalar]]:
    """G W, which is symmetric, with W given by its columns."""
    lower = [[dot(row, column) for column in columns[: k + 1]] for k, row in enumerate(G)]
    return [[lower[max(k, j)][min(k, j)] for j in range(len(G))] for k in range(len(G))]


def _add_columns(start: Scalars, columns: Sequence[Scalars], amounts: Scalars) -> list[Scalar]:
    """start + columns * amounts."""
    total = list(start)
    for column, amount in zip(columns, amounts, strict=True):
        total = [x if type(c) is int and c == 0 else x + c * amount for x, c in zip(total, column, strict=True)]
    return total


def loop_torques(
    model: Model,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    wrenches: Wrenches | None = None,
    rows: Rows = None,
    actuated: Sequence[int] = (),
) -> tuple[list[Scalar], list[Scalar]]:
    """Torques tau of the actuated velocities, zero elsewhere, and lambda: M qdd + h = tau + G^T lambda."""
    return actuated_torque(model, q, inverse_dynamics(model, q, qd, qdd, wrenches), rows, actuated)


def actuated_torque(
    model: Model, q: Scalars, t: Scalars, rows: Rows = None, actuated: Sequence[int] = ()
) -> tuple[list[Scalar], list[Scalar]]:
    """tau and lambda with t = tau + G^T lambda, where t are the torques that the tree needs without the loops.

    Of several solutions, tau is the smallest: tau = B mu, B picking the actuated joints, with B mu + G^T lambda = t
    and G mu = 0. Adding G^T (G mu) = 0 to the first equation makes its matrix K = B + G^T G, which is regular
    wherever the actuated joints can produce the motion.
    """
    G = select(constraint_jacobian(model, q), rows)
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
