"""Dynamics with closed loops: accelerations, constraint forces, and the torques of the actuated joints.

M qdd + h = tau + G^T lambda together with G qdd + gamma = 0; G, gamma and lambda are those of `loop_equations`.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.loads import Wrenches
from chainrule.algorithms.loop_equations import (
    Rows,
    RowScale,
    constraint_jacobian,
    residuals,
    row_scales,
    select,
    velocity_terms,
)
from chainrule.algorithms.vector_form import inverse_dynamics
from chainrule.model import Model
from chainrule.spatial import Scalar
from chainrule.spatial.linear import Factors, PseudoInverse, dot
from chainrule.spatial.scalar import sqrt, where

Scalars = Sequence[Scalar]

MIN_PIVOT_RATIO = 1e-8
"""An equation whose pivot, relative to what its constraint can do, is smaller counts as implied by others.

A pivot is s^2, with s the share of the equation that is its own. It vanishes where a linkage lies flat. There rounding
eps of positions turns the motion that the equation allows by eps / s, and s itself is off by as much: accelerations at
speed w are off by w^2 eps / s^3, and over the time s / w of the passage velocities by w eps / s^2. Without the equation
velocities are off by w s for that time, and when it is back, by w s^2. Both are equal at s^2 = sqrt(eps).
"""

MIN_EXACT_PIVOT_RATIO = 1e-13
"""The same where no later moment depends on the result: torques of actuated joints, rates that follow held ones."""

SMALL_SYSTEM = 12
"""Up to so many equations, none of them redundant: solutions are refined, and pivoted where joints are prescribed."""


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
    rank: int | None = None,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """qdd, lambda and the excess: M qdd + h = tau + G^T lambda, with G qdd + gamma = 0 for the equations in use.

    `is_free`, `prescribed_acceleration`, the excess and `rank` are those of `constrained_motion`. With `feedback`,
    (alpha, beta) in 1/s, the equations are those of Baumgarte: G qdd + gamma + 2 alpha d phi/dt + beta^2 phi = 0.
    """
    M, G, net, target = equations_of_motion(model, q, qd, tau, wrenches, rows, feedback)
    scales = row_scales(model, rows)
    return constrained_motion(M, G, net, target, is_free, prescribed_acceleration, scales, rank)


def equations_of_motion(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    rows: Rows = None,
    feedback: tuple[Scalar, Scalar] | None = None,
) -> tuple[list[list[Scalar]], list[list[Scalar]], list[Scalar], list[Scalar]]:
    """M, G, the net torque and the target of M qdd = net + G^T lambda and G qdd = target."""
    h = inverse_dynamics(model, q, qd, [0] * model.nv, wrenches)
    net = [t - b for t, b in zip(tau, h, strict=True)]
    G = select(constraint_jacobian(model, q), rows)
    target = [-x for x in select(velocity_terms(model, q, qd), rows)]
    if feedback is not None:
        alpha, beta = feedback
        phi = select(residuals(model, q), rows)
        target = [w - 2 * alpha * dot(row, qd) - beta * beta * x for w, row, x in zip(target, G, phi, strict=True)]
    return mass_matrix(model, q), G, net, target


def constrained_motion(
    M: Sequence[Scalars],
    G: Sequence[Scalars],
    net: Scalars,
    target: Scalars,
    is_free: Scalars | None = None,
    prescribed_acceleration: Scalars | None = None,
    scales: Sequence[RowScale] | None = None,
    rank: int | None = None,
    least_pivot: float = MIN_PIVOT_RATIO,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """x, lambda and the excess, with M x = net + G^T lambda and G x = target: accelerations, or jumps of velocities.

    M is factored, then G M^-1 G^T, in which equations may follow from others: at each state those that do are found
    from the values, and the lambda that results is the shortest. `rank` is the number of independent equations where
    that is known; if all are, there is no search. A step of refinement makes the error that of G, not of its square.

    Where `is_free` is 0 instead of 1, the joint's x is prescribed: the entry of `prescribed_acceleration`, or zero. The
    excess is the torque left over there, net + G^T lambda - M x, and zero for free joints. Equations that the free
    joints cannot satisfy, or satisfy through others, then carry no force.
    """
    loop = ConstrainedSystem(M, G, is_free, scales, rank, least_pivot)
    load = net
    if is_free is not None:
        acceleration = [0] * len(net) if prescribed_acceleration is None else prescribed_acceleration
        prescribed = [(1 - f) * x for f, x in zip(is_free, acceleration, strict=True)]
        load = [f * (b - dot(row, prescribed)) + p for f, b, row, p in zip(is_free, net, M, prescribed, strict=True)]
    x, forces = loop.solve(load, target)
    excess = [c - dot(row, x) for c, row in zip(_add_columns(net, G, forces), M, strict=True)]
    return x, forces, excess


class ConstrainedSystem:
    """M x = load + G^T lambda with G x = target, factored: the joints that are not free have no inertia to share."""

    def __init__(
        self,
        M: Sequence[Scalars],
        G: Sequence[Scalars],
        is_free: Scalars | None = None,
        scales: Sequence[RowScale] | None = None,
        rank: int | None = None,
        least_pivot: float = MIN_PIVOT_RATIO,
    ) -> None:
        M_free, G_free = M, G
        if is_free is not None:
            M_free = _mask_matrix(M, is_free)
            G_free = [[_scale(entry, f) for entry, f in zip(row, is_free, strict=True)] for row in G]
        self._G = G
        self._refines = rank is None or rank < len(G) or len(G) <= SMALL_SYSTEM
        self._M = Factors(M_free)
        self._W = [self._M.solve(row) for row in G_free]  # the columns of M^-1 G^T
        A = _symmetric_product(G_free, self._W)
        self._forces = _factor_rows(A, M_free, G_free, is_free, scales, rank, least_pivot)

    def solve(self, load: Scalars, target: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """x and lambda."""
        start = self._M.solve(load)
        if not self._G:
            return start, []
        forces = self._forces.solve(self._missing(target, start))
        x = _add_columns(start, self._W, forces)
        if not self._refines:
            return x, forces
        change = self._forces.solve(self._missing(target, x))
        forces = [a + b for a, b in zip(forces, change, strict=True)]
        return _add_columns(x, self._W, change), forces

    def _missing(self, target: Scalars, x: Scalars) -> list[Scalar]:
        return [w - dot(row, x) for w, row in zip(target, self._G, strict=True)]


class ScaledRows:
    """A pseudo-inverse over rows of different units: of the matrix whose rows and columns are divided by `sizes`."""

    def __init__(self, A: Sequence[Scalars], sizes: Scalars, rank: int | None, least_pivot: float) -> None:
        self._inverse_sizes = [1 / size for size in sizes]
        scaled = [
            [x * s * t for x, t in zip(row, self._inverse_sizes, strict=True)]
            for row, s in zip(A, self._inverse_sizes, strict=True)
        ]
        self._scaled = PseudoInverse(scaled, least_pivot, rank)

    def solve(self, b: Scalars) -> list[Scalar]:
        """The solution that is shortest in the units of the rows."""
        scaled = [x * s for x, s in zip(b, self._inverse_sizes, strict=True)]
        return [x * s for x, s in zip(self._scaled.solve(scaled), self._inverse_sizes, strict=True)]


def _factor_rows(
    A: Sequence[Scalars],
    M: Sequence[Scalars],
    G: Sequence[Scalars],
    is_free: Scalars | None,
    scales: Sequence[RowScale] | None,
    rank: int | None,
    least_pivot: float,
) -> Factors | ScaledRows:
    """G M^-1 G^T, factored with pivoting where equations may follow from others, and else without."""
    if not A:
        return Factors(A)
    sizes = _squared_sizes(A, M, G, is_free, scales)
    is_regular = rank is not None and rank >= len(A)
    if is_regular and (is_free is None or len(A) > SMALL_SYSTEM):
        return Factors(A, [least_pivot * size for size in sizes])
    return ScaledRows(A, [sqrt(where(size > 0, size, 1.0)) for size in sizes], rank, least_pivot)


def _squared_sizes(
    A: Sequence[Scalars],
    M: Sequence[Scalars],
    G: Sequence[Scalars],
    is_free: Scalars | None,
    scales: Sequence[RowScale] | None,
) -> list[Scalar]:
    """What each diagonal entry of A is compared with: those of all rows of its constraint, in its own unit.

    Where a constraint has one row only, which may vanish, what its joints do if nothing holds them, 1 / M_ii, is added.
    """
    if scales is None:
        total: Scalar = sum((A[k][k] for k in range(len(A))), start=0)
        return [total] * len(A)
    sums: dict[int, Scalar] = {}
    for k, scale in enumerate(scales):
        sums[scale.constraint] = sums.get(scale.constraint, 0) + A[k][k] / scale.squared_length
    owners = [scale.constraint for scale in scales]
    for scale in scales:
        for i, squared_length in scale.joints if owners.count(scale.constraint) == 1 else ():
            mobility = 1 / M[i][i] if is_free is None else is_free[i] / M[i][i]
            sums[scale.constraint] = sums[scale.constraint] + mobility / squared_length
    return [sums[scale.constraint] * scale.squared_length for scale in scales]


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
    rank: int | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Torques tau of the actuated velocities, zero elsewhere, and lambda: M qdd + h = tau + G^T lambda."""
    return actuated_torque(model, q, inverse_dynamics(model, q, qd, qdd, wrenches), rows, actuated, rank)


def actuated_torque(
    model: Model,
    q: Scalars,
    t: Scalars,
    rows: Rows = None,
    actuated: Sequence[int] = (),
    rank: int | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """tau and lambda with t = tau + G^T lambda, where t are the torques that the tree needs without the loops.

    Of several solutions, tau is the smallest: tau = B mu, B picking the actuated joints, with B mu + G^T lambda = t
    and G mu = 0. Adding G^T (G mu) = 0 to the first equation makes its matrix K = B + G^T G, which is regular
    wherever the actuated joints can produce the motion. The rows of G are in units of their constraint's size, so
    that no eigenvalue of G K^-1 G^T is above 1; where it is zero, an equation follows from others.
    """
    scales = row_scales(model, rows)
    units = [sqrt(scale.squared_length) for scale in scales]
    G = [
        [_scale(x, 1 / unit) for x in row]
        for row, unit in zip(select(constraint_jacobian(model, q), rows), units, strict=True)
    ]
    n = model.nv
    columns = [[row[i] for row in G] for i in range(n)]
    K = [[dot(columns[i], columns[j]) for j in range(n)] for i in range(n)]
    for i in actuated:
        K[i][i] = K[i][i] + 1
    factors = Factors(K)
    solved = [factors.solve(row) for row in G]
    start = factors.solve(t)
    A = [[dot(row, column) for column in solved] for row in G]
    inverse: Factors | PseudoInverse
    if rank is not None and rank >= len(A):
        inverse = Factors(A, [MIN_EXACT_PIVOT_RATIO] * len(A))
    else:
        inverse = PseudoInverse(A, MIN_EXACT_PIVOT_RATIO, rank)
    forces: list[Scalar] = [0] * len(G)
    mu = start
    for _ in range(2):
        change = inverse.solve([dot(row, mu) for row in G])
        forces = [a + b for a, b in zip(forces, change, strict=True)]
        mu = [s - dot(change, [column[i] for column in solved]) for i, s in enumerate(mu)]
    return [mu[i] if i in actuated else 0 for i in range(n)], [a / u for a, u in zip(forces, units, strict=True)]
