"""Second derivatives of inverse dynamics, contracted with a vector: the Hessian of L = vector . tau.

The gradient of L is one recursion, the sums over rows of `rnea_derivatives`: those over the joints below a joint gather
on the way out, as the twist that the vector would be as a velocity; those over the joints that it carries gather on the
way in. It visits each link twice. Its derivative along each of the n coordinates and n velocities, on dual numbers, is
the Hessian: the work grows like n^2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from chainrule.algorithms.joint_forces import armature
from chainrule.algorithms.kinematics import twists_of
from chainrule.algorithms.loads import Turning, Wrenches
from chainrule.algorithms.rnea import inward
from chainrule.algorithms.rnea_derivatives import (
    NO_CHANGES,
    Entry,
    composite_turning,
    composites,
    drive_changes,
    link_wrenches,
    outward,
    spring_changes,
    state_directions,
    wrench_changes,
)
from chainrule.model import Model
from chainrule.model.minimal_inertias import minimal_inertias
from chainrule.spatial import Scalar, Twist
from chainrule.spatial.dual import derivative
from chainrule.spatial.linear import transpose

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]
Acting = Callable[[Scalars], tuple[Wrenches | None, Turning | None]]
"""The wrenches on links in a configuration, and those of them that keep the axes of the base."""


def second_derivatives(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, vector: Scalars, acting: Acting
) -> tuple[Rows, Rows, Rows, Rows]:
    """Second derivatives of vector . tau: with q twice, with q and qd, with q and qdd, and with qd twice.

    Entry (i, k) of the first is the derivative along velocity k of that along velocity i: for joints with quaternions
    the order matters. Rows of the second and third belong to q.
    """

    def slopes(state: Scalars) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        here = state[: model.nq]
        return gradient(model, here, state[model.nq :], qdd, vector, *acting(here))

    along_q, along_qd = [], []
    for k in range(model.nv):
        with_q, with_qd = state_directions(model, q, [int(i == k) for i in range(model.nv)])
        along_q.append(derivative(slopes, [*q, *qd], with_q)[1])
        along_qd.append(derivative(slopes, [*q, *qd], with_qd)[1])
    dq_dq = transpose([change for change, _, _ in along_q])
    dq_dqd = [change for _, change, _ in along_q]
    dq_dqdd = [change for _, _, change in along_q]
    dqd_dqd = transpose([change for _, change, _ in along_qd])
    return dq_dq, dq_dqd, dq_dqdd, dqd_dqd


def gradient(
    model: Model,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    vector: Scalars,
    wrenches: Wrenches | None = None,
    turning: Turning | None = None,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Derivatives of vector . tau with respect to q, qd and qdd."""
    bodies, inertias = model.at(q), minimal_inertias(model)
    links = outward(model, bodies, qd, qdd)
    F = inward(bodies, link_wrenches(bodies, links, inertias, wrenches))
    I, B = composites(bodies, links, inertias)
    E = composite_turning(bodies, turning)
    twists = twists_of(bodies, vector)
    dq, dqd, dqdd = ([0] * model.nv for _ in range(3))
    above = [NO_CHANGES] * len(links)  # what the joints that each link carries add up to, in its frame
    for body in reversed(bodies):
        i = body.index
        below, carried = body.T.inv * twists[body.parent], above[i]
        for column in links[i].columns:
            k, S = column.index, column.S
            changes = wrench_changes(column, I[i], B[i], E.get(i))
            own_screws = Twist.zero()
            for j, D in zip(links[i].columns, column.D, strict=True):
                own_screws = own_screws + D * vector[j.index]
            dq[k] = (
                dq[k]
                + twists[i].dot(changes.with_q)
                + below.dot(S.cross(F[i]))
                + own_screws.dot(F[i])
                + column.row_with_q(carried)
            )
            dqd[k] = dqd[k] + twists[i].dot(changes.with_qd) + column.row_with_qd(carried)
            dqdd[k] = dqdd[k] + twists[i].dot(changes.with_qdd) + S.dot(carried.with_qdd)
            above[i] = above[i].plus_rows(changes, vector[k])
        if body.parent:
            seen = above[i].seen_from(body.T, links[i].drift)
            above[body.parent] = above[body.parent].plus_rows(seen, 1)
    for sums, entries in _drives(model, q, qd, (dq, dqd)):
        for i, k, change in entries:
            sums[k] = sums[k] + change * vector[i]
    return dq, dqd, [x + J * v for x, J, v in zip(dqdd, armature(model), vector, strict=True)]


def _drives(
    model: Model, q: Scalars, qd: Scalars, sums: tuple[list[Scalar], list[Scalar]]
) -> Iterator[tuple[list[Scalar], list[Entry]]]:
    """The changes of drives and springs, with the sums that they belong to."""
    for changes in (drive_changes(model, q, qd), spring_changes(model, q, qd)):
        yield from zip(sums, changes, strict=True)
