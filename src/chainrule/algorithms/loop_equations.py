"""Closed loops: residuals of the constraints, their Jacobian, their velocity terms, poses and wrenches.

A constraint between two links depends on X only, the pose of its second origin in its first. With V the twist
of the second origin relative to the first, in the frame of the first, every equation phi_k(X) = 0 has a wrench F_k
with d phi_k/dt = F_k . V: the force that the constraint can exert on the second link, and its opposite on the first.
Projected on the screws of the joints between the two links, the wrenches are the rows of G:

    d phi/dt = G qd,    d2 phi/dt2 = G qdd + gamma,    M qdd + h = tau + G^T lambda.

Lengths are in m, directions (products of unit vectors) have no unit; lambda is in N or N m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chainrule.algorithms.loads import Wrenches
from chainrule.model import Constraint, Model, PosedBody
from chainrule.spatial import Scalar, Transform, Twist, Vector, Wrench
from chainrule.spatial.scalar import is_zero

Scalars = Sequence[Scalar]
Rows = Sequence[int] | None
"""Places of the equations in use among those of all constraints; None for all."""

AXES = (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))


@dataclass(frozen=True, slots=True)
class PosedConstraint:
    """A constraint in one configuration: its origins, and the joints that move one against the other.

    `first` and `second` are the poses of the origins in the nearest link that carries both; the branches lead from
    there to the two links.
    """

    constraint: Constraint
    first: Transform
    second: Transform
    branch_a: Sequence[PosedBody]
    branch_b: Sequence[PosedBody]

    @property
    def X(self) -> Transform:
        """The pose of the second origin in the first."""
        return self.first.inv * self.second


def posed_constraints(model: Model, q: Scalars) -> list[PosedConstraint]:
    """Every constraint in the configuration q."""
    bodies = model.at(q)
    return [_pose_constraint(model, bodies, constraint) for constraint in model.constraints]


def constraint_poses(model: Model, q: Scalars) -> list[Transform]:
    """X of every constraint: the pose of its second origin in its first."""
    return [posed.X for posed in posed_constraints(model, q)]


def _pose_constraint(model: Model, bodies: Sequence[PosedBody], constraint: Constraint) -> PosedConstraint:
    (a, at_a), (b, at_b) = model.locate(constraint.link_a), model.locate(constraint.link_b)
    path_a, path_b = ([bodies[body.index - 1] for body in model.ancestors(i)] for i in (a, b))
    shared = 0
    while shared < min(len(path_a), len(path_b)) and path_a[shared] is path_b[shared]:
        shared += 1
    path_a, path_b = path_a[shared:], path_b[shared:]
    first, second = _end_pose(path_a) * at_a * constraint.origin_a, _end_pose(path_b) * at_b * constraint.origin_b
    return PosedConstraint(constraint, first, second, path_a, path_b)


def _end_pose(branch: Sequence[PosedBody]) -> Transform:
    T = Transform.identity()
    for body in branch:
        T = T * body.T
    return T


def residual(constraint: Constraint, X: Transform) -> list[Scalar]:
    """phi: the second origin in the first, then products of axes; for a distance d, (p.p - d^2)/2d."""
    p = X.translation
    if constraint.kind == "distance":
        d: Scalar = constraint.distance
        return [(p.dot(p) - d * d) / (2 * d)]
    axes = X.rotation.transpose()
    return [*p, *(AXES[i].dot(list(axes)[j]) for i, j in constraint.crossed)]


def unit_wrenches(constraint: Constraint, X: Transform) -> list[Wrench]:
    """Wrench F_k of each equation on the second link, in the frame of the first origin: d phi_k/dt = F_k . V."""
    p, zero = X.translation, Vector.zero()
    if constraint.kind == "distance":
        return [Wrench(zero, p / constraint.distance)]
    axes = list(X.rotation.transpose())
    along = [Wrench(p.cross(e), e) for e in AXES]
    return along + [Wrench(axes[j].cross(AXES[i]), zero) for i, j in constraint.crossed]


def unit_wrench_rates(constraint: Constraint, X: Transform, V: Twist) -> list[Wrench]:
    """Rate dF_k/dt of each wrench while the second origin moves with the twist V."""
    zero = Vector.zero()
    speed = V.linear + V.angular.cross(X.translation)
    if constraint.kind == "distance":
        return [Wrench(zero, speed / constraint.distance)]
    axes = [V.angular.cross(axis) for axis in X.rotation.transpose()]
    along = [Wrench(speed.cross(e), zero) for e in AXES]
    return along + [Wrench(axes[j].cross(AXES[i]), zero) for i, j in constraint.crossed]


def residuals(model: Model, q: Scalars) -> list[Scalar]:
    """phi(q), zero where every loop is closed: the equations of all constraints in order, m or without unit."""
    return [phi for posed in posed_constraints(model, q) for phi in residual(posed.constraint, posed.X)]


def constraint_jacobian(model: Model, q: Scalars) -> list[list[Scalar]]:
    """G(q), with d phi/dt = G qd: G_ki = F_k . S_i for the joints on the second branch, -F_k . S_i on the first."""
    G: list[list[Scalar]] = []
    for posed in posed_constraints(model, q):
        columns = relative_screws(posed)
        for F in unit_wrenches(posed.constraint, posed.X):
            row: list[Scalar] = [0] * model.nv
            for i, S in columns:
                row[i] = row[i] + S.dot(F)
            G.append(row)
    return G


def relative_screws(posed: PosedConstraint) -> list[tuple[int, Twist]]:
    """Screws by which each joint moves the second origin against the first, in the frame of the first."""
    columns = []
    for branch, sign in ((posed.branch_b, 1), (posed.branch_a, -1)):
        T = Transform.identity()
        for body in branch:
            T = T * body.T
            columns += [(i, posed.first.inv * (T * S) * sign) for i, S in body.S]
    return columns


def velocity_terms(model: Model, q: Scalars, qd: Scalars) -> list[Scalar]:
    """gamma = dG/dt qd, the value of d2 phi/dt2 at qdd = 0."""
    gamma = []
    for posed in posed_constraints(model, q):
        V, A = relative_motion(posed, qd)
        X, constraint = posed.X, posed.constraint
        for F, rate in zip(unit_wrenches(constraint, X), unit_wrench_rates(constraint, X, V), strict=True):
            gamma.append(V.dot(rate) + A.dot(F))
    return gamma


def relative_motion(posed: PosedConstraint, qd: Scalars) -> tuple[Twist, Twist]:
    """The twist of the second origin relative to the first, in the frame of the first, and its rate at qdd = 0."""
    (V_a, A_a), (V_b, A_b) = _end_motion(posed.branch_a, qd), _end_motion(posed.branch_b, qd)
    V = V_b - V_a
    return posed.first.inv * V, posed.first.inv * (A_b - A_a - V_a.cross(V))


def _end_motion(branch: Sequence[PosedBody], qd: Scalars) -> tuple[Twist, Twist]:
    """The twist at the end of a branch and its rate at qdd = 0, both in the frame that the branch starts from."""
    T, V, A = Transform.identity(), Twist.zero(), Twist.zero()
    for body in branch:
        T = T * body.T
        VJ = T * body.along(qd)
        A = A + V.cross(VJ) + T * body.velocity_product(qd)
        V = V + VJ
    return V, A


class RowScale(NamedTuple):
    """The unit of one equation in use, for comparisons with others."""

    constraint: int
    """The place of its constraint."""
    squared_length: Scalar
    """1 for a direction; for a length, the square of the constraint's size: of the offsets along its branches."""
    joints: tuple[tuple[int, Scalar], ...]
    """Places in qd of the joints that move it, with the square of the unit in which each turns or moves its links."""


def row_scales(model: Model, rows: Rows = None) -> list[RowScale]:
    """The units of the equations in use."""
    scales = []
    for k, constraint in enumerate(model.constraints):
        ends = model.locate(constraint.link_a), model.locate(constraint.link_b)
        chains = [model.ancestors(i) for i, _ in ends]
        shared = {body.index for body in chains[0]} & {body.index for body in chains[1]}
        bodies = [body for chain in chains for body in chain if body.index not in shared]
        offsets = [body.joint.origin.translation for body in bodies]
        offsets += [at.translation for _, at in ends]
        offsets += [constraint.origin_a.translation, constraint.origin_b.translation]
        squared: Scalar = sum((p.dot(p) for p in offsets), start=0)
        squared = 1.0 if is_zero(squared) else squared
        places = sorted({i for body in bodies for i, _, _ in body.dofs})
        velocities = model.layout.velocities
        joints = tuple((i, 1.0 if velocities[i].unit == "rad" else squared) for i in places)
        lengths = 1 if constraint.kind == "distance" else 3
        turns = 0 if constraint.kind == "distance" else len(constraint.crossed)
        scales += [RowScale(k, squared, joints)] * lengths + [RowScale(k, 1.0, joints)] * turns
    return select(scales, rows)


def select(equations: Sequence[Scalar], rows: Rows) -> list[Scalar]:
    """The entries in use of a list that has one for each equation."""
    return list(equations) if rows is None else [equations[k] for k in rows]


def constraint_wrenches(model: Model, q: Scalars, forces: Scalars, rows: Rows = None) -> list[Wrench]:
    """Wrench of each constraint on its second link, in the frame of that link, for the multipliers lambda."""
    return [posed.constraint.origin_b * (posed.X.inv * F) for posed, F in _wrench_of_each(model, q, forces, rows)]


def loop_wrenches(model: Model, q: Scalars, forces: Scalars, rows: Rows = None) -> Wrenches:
    """Wrenches of the constraints on links, by link index, each in its link's frame."""
    total: dict[int, Wrench] = {}
    for posed, F in _wrench_of_each(model, q, forces, rows):
        constraint = posed.constraint
        on_a, on_b = constraint.origin_a * -F, constraint.origin_b * (posed.X.inv * F)
        for link, wrench in ((constraint.link_a, on_a), (constraint.link_b, on_b)):
            index, offset = model.locate(link)
            total[index] = total.get(index, Wrench.zero()) + offset * wrench
    return total


def _wrench_of_each(model: Model, q: Scalars, forces: Scalars, rows: Rows) -> list[tuple[PosedConstraint, Wrench]]:
    """Each constraint with the wrench it exerts on its second link, in the frame of its first origin."""
    places = range(len(model.rows)) if rows is None else rows
    amount = dict(zip(places, forces, strict=True))
    wrenches, place = [], 0
    for posed in posed_constraints(model, q):
        total = Wrench.zero()
        for F in unit_wrenches(posed.constraint, posed.X):
            if place in amount:
                total = total + F * amount[place]
            place += 1
        wrenches.append((posed, total))
    return wrenches
