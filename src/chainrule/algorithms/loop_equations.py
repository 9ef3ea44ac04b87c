"""Closed loops: the equations of the constraints, and motion that obeys them.

Of a constraint between two links, all that counts is X, the pose of its second origin in its first. With V the twist
of the second origin relative to the first, in the frame of the first, every equation phi_k(X) = 0 has a wrench F_k
with d phi_k/dt = F_k . V: the force that the constraint can exert on the second link, and its opposite on the first.
Projected on the screws of the joints between the two links, the wrenches are the rows of G:

    d phi/dt = G qd,    d2 phi/dt2 = G qdd + gamma,    M qdd + h = tau + G^T lambda.

Lengths are in m, directions (products of unit vectors) have no unit; lambda is in N or N m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.rnea import Wrenches
from chainrule.algorithms.vector_form import inverse_dynamics
from chainrule.model import Constraint, Model, Placed
from chainrule.spatial import Force, Motion, Scalar, Transform, Vector
from chainrule.spatial.linear import Factors, dot

Scalars = Sequence[Scalar]
Rows = Sequence[int] | None
"""Which equations are meant, by their places among those of all constraints; None means all."""

AXES = (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))

DEPENDENT = 1e-11
"""Where joints are held: an equation whose pivot is below so much of its own size is one that others imply."""


@dataclass(frozen=True, slots=True)
class Tie:
    """A constraint in one configuration: its origins, and the joints that move one against the other.

    `first` and `second` are the poses of the origins in the nearest link that carries both; the branches lead from
    there to the two links.
    """

    constraint: Constraint
    first: Transform
    second: Transform
    branch_a: Sequence[Placed]
    branch_b: Sequence[Placed]

    @property
    def X(self) -> Transform:
        """The pose of the second origin in the first."""
        return self.first.inv * self.second


def ties(model: Model, q: Scalars) -> list[Tie]:
    """Every constraint in the configuration q."""
    bodies = model.at(q)
    return [_tie(model, bodies, constraint) for constraint in model.constraints]


def _tie(model: Model, bodies: Sequence[Placed], constraint: Constraint) -> Tie:
    (a, at_a), (b, at_b) = model.locate(constraint.link_a), model.locate(constraint.link_b)
    path_a, path_b = ([bodies[body.index - 1] for body in model.ancestors(i)] for i in (a, b))
    shared = 0
    while shared < min(len(path_a), len(path_b)) and path_a[shared] is path_b[shared]:
        shared += 1
    path_a, path_b = path_a[shared:], path_b[shared:]
    first, second = _end(path_a) * at_a * constraint.origin_a, _end(path_b) * at_b * constraint.origin_b
    return Tie(constraint, first, second, path_a, path_b)


def _end(branch: Sequence[Placed]) -> Transform:
    T = Transform.identity()
    for body in branch:
        T = T * body.T
    return T


def residual(constraint: Constraint, X: Transform) -> list[Scalar]:
    """phi: the second origin in the first, then products of axes; of a distance, (p.p - d^2)/2d, the gap when small."""
    p = X.translation
    if constraint.kind == "distance":
        d: Scalar = constraint.distance
        return [(p.dot(p) - d * d) / (2 * d)]
    axes = X.rotation.transpose()
    return [*p, *(AXES[i].dot(list(axes)[j]) for i, j in constraint.crossed)]


def wrenches_of(constraint: Constraint, X: Transform) -> list[Force]:
    """F_k on the second link, in the frame of the first origin, with d phi_k/dt = F_k . V."""
    p, none = X.translation, Vector.zero()
    if constraint.kind == "distance":
        return [Force(none, p / constraint.distance)]
    axes = list(X.rotation.transpose())
    along = [Force(p.cross(e), e) for e in AXES]
    return along + [Force(axes[j].cross(AXES[i]), none) for i, j in constraint.crossed]


def wrench_rates(constraint: Constraint, X: Transform, V: Motion) -> list[Force]:
    """dF_k/dt while the second origin moves with the twist V."""
    none = Vector.zero()
    speed = V.linear + V.angular.cross(X.translation)
    if constraint.kind == "distance":
        return [Force(none, speed / constraint.distance)]
    axes = [V.angular.cross(axis) for axis in X.rotation.transpose()]
    along = [Force(speed.cross(e), none) for e in AXES]
    return along + [Force(axes[j].cross(AXES[i]), none) for i, j in constraint.crossed]


def residuals(model: Model, q: Scalars) -> list[Scalar]:
    """phi(q), zero where every loop is closed: the equations of all constraints in order, m or without unit."""
    return [phi for tie in ties(model, q) for phi in residual(tie.constraint, tie.X)]


def constraint_jacobian(model: Model, q: Scalars) -> list[list[Scalar]]:
    """G(q), with d phi/dt = G qd: G_ki = F_k . S_i for the joints on the second branch, -F_k . S_i on the first."""
    G: list[list[Scalar]] = []
    for tie in ties(model, q):
        columns = relative_screws(tie)
        for F in wrenches_of(tie.constraint, tie.X):
            row: list[Scalar] = [0] * model.nv
            for i, S in columns:
                row[i] = row[i] + S.dot(F)
            G.append(row)
    return G


def relative_screws(tie: Tie) -> list[tuple[int, Motion]]:
    """How each joint moves the second origin against the first, in the frame of the first."""
    columns = []
    for branch, sign in ((tie.branch_b, 1), (tie.branch_a, -1)):
        T = Transform.identity()
        for body in branch:
            T = T * body.T
            columns += [(i, tie.first.inv * (T * S) * sign) for i, S in body.S]
    return columns


def velocity_terms(model: Model, q: Scalars, qd: Scalars) -> list[Scalar]:
    """gamma = dG/dt qd, what is left of d2 phi/dt2 when qdd is zero."""
    gamma = []
    for tie in ties(model, q):
        V, A = relative_motion(tie, qd)
        X, constraint = tie.X, tie.constraint
        for F, rate in zip(wrenches_of(constraint, X), wrench_rates(constraint, X, V), strict=True):
            gamma.append(V.dot(rate) + A.dot(F))
    return gamma


def relative_motion(tie: Tie, qd: Scalars) -> tuple[Motion, Motion]:
    """The twist of the second origin relative to the first, in the frame of the first, and its rate at qdd = 0."""
    (V_a, A_a), (V_b, A_b) = _carried(tie.branch_a, qd), _carried(tie.branch_b, qd)
    V = V_b - V_a
    return tie.first.inv * V, tie.first.inv * (A_b - A_a - V_a.cross(V))


def _carried(branch: Sequence[Placed], qd: Scalars) -> tuple[Motion, Motion]:
    """The twist at the end of a branch and its rate at qdd = 0, both in the frame that the branch starts from."""
    T, V, A = Transform.identity(), Motion.zero(), Motion.zero()
    for body in branch:
        T = T * body.T
        VJ = T * body.along(qd)
        A = A + V.cross(VJ) + T * body.velocity_product(qd)
        V = V + VJ
    return V, A


def chosen(equations: Sequence[Scalar], rows: Rows) -> list[Scalar]:
    """The equations that are meant."""
    return list(equations) if rows is None else [equations[k] for k in rows]


def constrained_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    rows: Rows = None,
    free: Scalars | None = None,
    given: Scalars | None = None,
    feedback: tuple[Scalar, Scalar] | None = None,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """qdd, lambda and the excess: M qdd + h = tau + G^T lambda, with G qdd + gamma = 0 for the chosen rows.

    Joints that are held, and the excess, are as in `constrained_motion`. With `feedback` (alpha, beta), in 1/s, the
    equations are those of Baumgarte, G qdd + gamma + 2 alpha d phi/dt + beta^2 phi = 0.
    """
    h = inverse_dynamics(model, q, qd, [0] * model.nv, wrenches)
    net = [t - b for t, b in zip(tau, h, strict=True)]
    G = chosen(constraint_jacobian(model, q), rows)
    wanted = [-x for x in chosen(velocity_terms(model, q, qd), rows)]
    if feedback is not None:
        alpha, beta = feedback
        phi = chosen(residuals(model, q), rows)
        wanted = [w - 2 * alpha * dot(row, qd) - beta * beta * x for w, row, x in zip(wanted, G, phi, strict=True)]
    return constrained_motion(mass_matrix(model, q), G, net, wanted, free, given)


def constrained_motion(
    M: Sequence[Scalars],
    G: Sequence[Scalars],
    net: Scalars,
    wanted: Scalars,
    free: Scalars | None = None,
    given: Scalars | None = None,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """x, lambda and the excess, with M x = net + G^T lambda and G x = wanted: accelerations, or jumps of velocities.

    M is factored, then G M^-1 G^T. Where `free` is 0 instead of 1, the joint is held: its x is the one `given`, or
    zero, and the excess is what is left over there, net + G^T lambda - M x; free joints have none. Equations that the
    free joints cannot satisfy, or satisfy already through others, carry no force then.
    """
    masked, acting, load = M, G, net
    if free is not None:
        prescribed = [(1 - f) * x for f, x in zip(free, [0] * len(net) if given is None else given, strict=True)]
        masked = [[_masked(entry, free[i], free[j], i == j) for j, entry in enumerate(row)] for i, row in enumerate(M)]
        acting = [[_times(entry, f) for entry, f in zip(row, free, strict=True)] for row in G]
        load = [f * (b - dot(row, prescribed)) + p for f, b, row, p in zip(free, net, M, prescribed, strict=True)]
    factors = Factors(masked)
    start = factors.solve(load)
    yielding = [factors.solve(row) for row in acting]  # the columns of M^-1 G^T
    missing = [w - dot(row, start) for w, row in zip(wanted, G, strict=True)]
    forces = Factors(_products(acting, yielding), None if free is None else DEPENDENT).solve(missing)
    x = _moved(start, yielding, forces)
    excess = [c - dot(row, x) for c, row in zip(_moved(net, G, forces), M, strict=True)]
    return x, forces, excess


def _masked(entry: Scalar, f: Scalar, g: Scalar, diagonal: bool) -> Scalar:
    """The mass matrix with held joints taken out: ones on their diagonal, nothing beside it."""
    return entry * f + (1 - f) if diagonal else _times(entry, f * g)


def _times(entry: Scalar, f: Scalar) -> Scalar:
    """The product; an empty place of a matrix stays one."""
    return entry if type(entry) is int and entry == 0 else entry * f


def _products(G: Sequence[Scalars], columns: Sequence[Scalars]) -> list[list[Scalar]]:
    """G W, known to be symmetric, for W given by its columns."""
    lower = [[dot(row, column) for column in columns[: k + 1]] for k, row in enumerate(G)]
    return [[lower[max(k, j)][min(k, j)] for j in range(len(G))] for k in range(len(G))]


def _moved(start: Scalars, columns: Sequence[Scalars], amounts: Scalars) -> list[Scalar]:
    """start + columns * amounts."""
    moved = list(start)
    for column, amount in zip(columns, amounts, strict=True):
        moved = [x if type(c) is int and c == 0 else x + c * amount for x, c in zip(moved, column, strict=True)]
    return moved


def closing_step(
    model: Model, q: Scalars, rows: Rows = None, held: Sequence[int] = (), free: Scalars | None = None
) -> list[Scalar]:
    """The Newton step v, G v = -phi, that leads from q towards closed loops: integrate(q, v) has less of phi.

    Of all such steps it is the smallest in the metric of the mass matrix, in which angles and lengths can be added;
    constraint forces move a robot in the same way. The velocities in `held`, or where `free` is 0, stay zero.
    """
    phi = chosen(residuals(model, q), rows)
    return _correction(model, q, [-x for x in phi], rows, held, free)


def consistent_velocity(
    model: Model, q: Scalars, qd: Scalars, rows: Rows = None, held: Sequence[int] = (), free: Scalars | None = None
) -> list[Scalar]:
    """The velocity nearest to qd that keeps the loops closed, G qd = 0: what an impulse of the constraints leaves.

    Nearest in kinetic energy, that is, in the metric of the mass matrix; the velocities in `held`, or where `free` is
    0, stay as they are.
    """
    G = chosen(constraint_jacobian(model, q), rows)
    change = _correction(model, q, [-dot(row, qd) for row in G], rows, held, free)
    return [a + b for a, b in zip(qd, change, strict=True)]


def consistent_acceleration(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, rows: Rows = None, held: Sequence[int] = ()
) -> list[Scalar]:
    """The acceleration nearest to qdd with G qdd + gamma = 0, as above (Gauss's principle of least constraint)."""
    G, gamma = chosen(constraint_jacobian(model, q), rows), chosen(velocity_terms(model, q, qd), rows)
    change = _correction(model, q, [-dot(row, qdd) - x for row, x in zip(G, gamma, strict=True)], rows, held)
    return [a + b for a, b in zip(qdd, change, strict=True)]


def _correction(
    model: Model, q: Scalars, amounts: Scalars, rows: Rows, held: Sequence[int], free: Scalars | None = None
) -> list[Scalar]:
    """v = M^-1 G^T (G M^-1 G^T)^-1 amounts: the smallest v with G v = amounts; none of it in the held joints."""
    M, G = mass_matrix(model, q), chosen(constraint_jacobian(model, q), rows)
    if held:
        free = [0 if i in held else 1 for i in range(model.nv)]
    return constrained_motion(M, G, [0] * model.nv, amounts, free)[0]


def constraint_wrenches(model: Model, q: Scalars, forces: Scalars, rows: Rows = None) -> list[Force]:
    """What each constraint exerts on its second link, in the frame of that link, for the multipliers lambda."""
    exerted = _exerted(model, q, forces, rows)
    return [tie.constraint.origin_b * (tie.X.inv * F) for tie, F in exerted]


def loop_wrenches(model: Model, q: Scalars, forces: Scalars, rows: Rows = None) -> Wrenches:
    """What the constraints exert on links, by link index, each in its link's frame."""
    total: dict[int, Force] = {}
    for tie, F in _exerted(model, q, forces, rows):
        constraint = tie.constraint
        on_a, on_b = constraint.origin_a * -F, constraint.origin_b * (tie.X.inv * F)
        for link, wrench in ((constraint.link_a, on_a), (constraint.link_b, on_b)):
            index, offset = model.locate(link)
            total[index] = total.get(index, Force.zero()) + offset * wrench
    return total


def _exerted(model: Model, q: Scalars, forces: Scalars, rows: Rows) -> list[tuple[Tie, Force]]:
    """Each constraint with the wrench it exerts on its second link, in the frame of its first origin."""
    places = range(len(model.rows)) if rows is None else rows
    amount = dict(zip(places, forces, strict=True))
    exerted, place = [], 0
    for tie in ties(model, q):
        total = Force.zero()
        for F in wrenches_of(tie.constraint, tie.X):
            if place in amount:
                total = total + F * amount[place]
            place += 1
        exerted.append((tie, total))
    return exerted
