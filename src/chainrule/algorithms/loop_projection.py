"""Projection on closed loops: the smallest change of q, qd or qdd that satisfies the constraints.

Changes are measured in the metric of the mass matrix, in which angles and lengths can be added.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.loop_dynamics import MIN_EXACT_PIVOT_RATIO, MIN_PIVOT_RATIO, constrained_motion
from chainrule.algorithms.loop_equations import Rows, constraint_jacobian, residuals, row_scales, select, velocity_terms
from chainrule.model import Model
from chainrule.spatial import Scalar
from chainrule.spatial.linear import dot

Scalars = Sequence[Scalar]


def closing_step(
    model: Model,
    q: Scalars,
    rows: Rows = None,
    held: Sequence[int] = (),
    is_free: Scalars | None = None,
    rank: int | None = None,
) -> list[Scalar]:
    """Newton step v, with G v = -phi, from q towards closed loops: integrate(q, v) has smaller residuals.

    The step is the smallest in the metric of the mass matrix, as if constraint forces moved the robot. The velocities
    in `held`, or where `is_free` is 0, stay zero.
    """
    phi = select(residuals(model, q), rows)
    return _smallest_change(model, q, [-x for x in phi], rows, held, is_free, rank)


def consistent_velocity(
    model: Model,
    q: Scalars,
    qd: Scalars,
    rows: Rows = None,
    held: Sequence[int] = (),
    is_free: Scalars | None = None,
    rank: int | None = None,
) -> list[Scalar]:
    """The velocity nearest to qd with G qd = 0: what an impulse of the constraints leaves.

    Nearest in the metric of the mass matrix, that is, in kinetic energy. The velocities in `held`, or where `is_free`
    is 0, stay as they are. Where some are held, the others are what the equations say up to next to a change point.
    """
    G = select(constraint_jacobian(model, q), rows)
    least = MIN_EXACT_PIVOT_RATIO if held else MIN_PIVOT_RATIO
    change = _smallest_change(model, q, [-dot(row, qd) for row in G], rows, held, is_free, rank, least)
    return [a + b for a, b in zip(qd, change, strict=True)]


def consistent_acceleration(
    model: Model,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    rows: Rows = None,
    held: Sequence[int] = (),
    rank: int | None = None,
) -> list[Scalar]:
    """The acceleration nearest to qdd with G qdd + gamma = 0 (Gauss's principle of least constraint)."""
    G, gamma = select(constraint_jacobian(model, q), rows), select(velocity_terms(model, q, qd), rows)
    change = _smallest_change(
        model, q, [-dot(row, qdd) - x for row, x in zip(G, gamma, strict=True)], rows, held, None, rank
    )
    return [a + b for a, b in zip(qdd, change, strict=True)]


def _smallest_change(
    model: Model,
    q: Scalars,
    amounts: Scalars,
    rows: Rows,
    held: Sequence[int],
    is_free: Scalars | None,
    rank: int | None,
    least_pivot: float = MIN_PIVOT_RATIO,
) -> list[Scalar]:
    """v = M^-1 G^T (G M^-1 G^T)^+ amounts: the smallest v with G v = amounts, zero in the held joints."""
    M, G = mass_matrix(model, q), select(constraint_jacobian(model, q), rows)
    if held:
        is_free = [0 if i in held else 1 for i in range(model.nv)]
    scales, still = row_scales(model, rows), [0] * model.nv
    return constrained_motion(M, G, still, amounts, is_free, None, scales, rank, least_pivot)[0]
