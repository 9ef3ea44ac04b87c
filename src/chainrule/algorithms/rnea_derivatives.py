"""Derivatives of inverse dynamics with respect to q, qd and qdd: a recursion over pairs of joints.

Carpentier & Mansard, "Analytical derivatives of rigid body dynamics algorithms", 2018; Singh, Russell & Wensing,
"Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra", 2022, whose letters these are.
As joint k moves by its screw S_k, all links that it carries move along, and so do their wrenches. Seen from these
links, their velocity changes by psi_dot = V_parent x S_k, and their acceleration by psi_ddot + psi_dot x V_i with
psi_ddot = A_parent x S_k + V_parent x psi_dot. The wrench F, the sum of I A + V x* I V, of all links that a joint
carries then changes by

    I psi_ddot + 2 B psi_dot           with q_k, beyond the wrench that moves along, S_k x* F,
    I upsilon_dot + 2 B S_k            with qd_k, where upsilon_dot = psi_dot + dS_k/dt,
    I S_k                              with qdd_k.

I and B (`coriolis.BodyCoriolis`) are those of all these links together: of the links that joint k carries, for rows of
the joints that carry it; of the links that joint j carries, for rows j of the joints that k carries. So there is one
visit of each pair of joints that carry each other, and the work grows like the number of entries that are not zero.

Quantities are in link frames. Velocities are those that an observer sees who moves along with the origin of that
frame, without turning: torques are the same for all such observers, and the own origin is the one at rest.

Columns with respect to q are derivatives along the velocities of the joints: d/de of f(integrate(q, e v)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from chainrule.algorithms.configuration import coordinate_rates
from chainrule.algorithms.coriolis import BodyCoriolis
from chainrule.algorithms.crba import composite_inertias, is_deep, mass_matrix_of
from chainrule.algorithms.joint_forces import armature, drive_torque
from chainrule.algorithms.loads import Turning, Wrenches
from chainrule.algorithms.rnea import inward, project
from chainrule.algorithms.springs import with_springs
from chainrule.model import Model, PosedBody
from chainrule.model.minimal_inertias import minimal_inertias
from chainrule.spatial import Inertia, Matrix, Scalar, Transform, Twist, Vector, Wrench
from chainrule.spatial.dual import derivative
from chainrule.spatial.scalar import is_zero
from chainrule.spatial.vector import acceleration_matrix, euler_moment

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]


@dataclass(frozen=True, slots=True)
class ScrewColumn:
    """One velocity of a joint: its place in qd, its screw S, and the changes that it makes, in the link's frame.

    psi_dot and psi_ddot are changes of velocity and acceleration with the coordinate, as the links see them that the
    joint carries; upsilon_dot is the change of acceleration with the velocity. D has the changes of the joint's own
    screws with the coordinate, as the link sees them: zero but for universal and planar joints.
    """

    index: int
    S: Twist
    psi_dot: Twist
    psi_ddot: Twist
    upsilon_dot: Twist
    D: Sequence[Twist]

    def row_with_qd(self, carried: Changes) -> Scalar:
        """Change with this velocity of the torque of a joint that it carries."""
        return self.upsilon_dot.dot(carried.with_qdd) + self.S.angular.dot(carried.B_S)

    def row_with_q(self, carried: Changes) -> Scalar:
        """Change with this coordinate of the torque of a joint that it carries."""
        return (
            self.psi_ddot.dot(carried.with_qdd)
            + self.psi_dot.angular.dot(carried.B_S)
            + self.S.angular.dot(carried.turning_S)
        )

    def seen_from(self, T: Transform, drift: Vector) -> ScrewColumn:
        """The same in the frame that T places this one in, for whose observer this link drifts; without D."""
        S, psi_dot, psi_ddot, upsilon_dot = (T * X for X in (self.S, self.psi_dot, self.psi_ddot, self.upsilon_dot))
        with_S, with_psi = drift.cross(S.angular), drift.cross(psi_dot.angular)
        return ScrewColumn(
            self.index,
            S,
            Twist(psi_dot.angular, psi_dot.linear + with_S),
            Twist(psi_ddot.angular, psi_ddot.linear + with_psi * 2),
            Twist(upsilon_dot.angular, upsilon_dot.linear + with_S * 2),
            (),
        )


@dataclass(frozen=True, slots=True)
class MovingLink:
    """A link in a state, in its own frame: angular velocity, accelerations, and the columns of its joint.

    A is the rate of its twist as its origin's observer sees it: angular acceleration, and acceleration of the origin.
    K r is the acceleration of a point r beyond that of the origin. `drift` is the velocity of its origin as the
    parent's observer sees it, in the parent's axes.
    """

    omega: Vector
    A: Twist
    K: Matrix
    drift: Vector
    columns: Sequence[ScrewColumn]


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of the wrench through a joint with qdd, qd and q of one velocity, and moments for the rows above.

    B_S = 2 B^T S, and turning_S is the same of the wrenches that do not turn with their links.
    """

    with_qdd: Wrench
    with_qd: Wrench
    with_q: Wrench
    B_S: Vector
    turning_S: Vector

    def seen_from(self, T: Transform, drift: Vector) -> Changes:
        """The same in the frame that T places this one in, for whose observer all these links drift."""
        with_qdd = T * self.with_qdd
        B_S = T.rotation * self.B_S + (drift * 2).cross(with_qdd.force)
        return Changes(with_qdd, T * self.with_qd, T * self.with_q, B_S, T.rotation * self.turning_S)

    def plus_rows(self, other: Changes, times: Scalar) -> Changes:
        """The sum with a multiple of others, of those parts that the rows of joints above need."""
        return Changes(
            self.with_qdd + other.with_qdd * times,
            self.with_qd,
            self.with_q,
            self.B_S + other.B_S * times,
            self.turning_S + other.turning_S * times,
        )


NO_CHANGES = Changes(Wrench.zero(), Wrench.zero(), Wrench.zero(), Vector.zero(), Vector.zero())


def inverse_dynamics_derivatives(
    model: Model,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    wrenches: Wrenches | None = None,
    turning: Turning | None = None,
) -> tuple[Rows, Rows, Rows]:
    """d tau/dq, d tau/dqd and d tau/dqdd = M, with rotors, springs, friction and wrenches on links.

    Wrenches move and turn with their links; those that keep the axes of the base are in `turning` as well.
    """
    dq, dqd, M = link_derivatives(model, q, qd, qdd, wrenches, turning)
    for changes in (drive_changes(model, q, qd), spring_changes(model, q, qd)):
        for matrix, entries in zip((dq, dqd), changes, strict=True):
            for i, k, change in entries:
                _add(matrix, i, k, change)
    for i, J in enumerate(armature(model)):
        M[i][i] = M[i][i] + J
    return dq, dqd, M


def link_derivatives(
    model: Model,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    wrenches: Wrenches | None = None,
    turning: Turning | None = None,
) -> tuple[Rows, Rows, Rows]:
    """Derivatives of the torques that the links alone need."""
    bodies = model.at(q)
    links = outward(model, bodies, qd, qdd)
    inertias = minimal_inertias(model)
    F = inward(bodies, link_wrenches(bodies, links, inertias, wrenches))
    I, B = composites(bodies, links, inertias)
    E = composite_turning(bodies, turning)
    columns_below = (in_one_frame if is_deep(model) else from_link_to_link)(bodies, links)
    dq, dqd, M = (_zeros(model.nv) for _ in range(3))
    for body in bodies:
        own = links[body.index].columns
        for column in own:
            k = column.index
            changes = wrench_changes(column, I[body.index], B[body.index], E.get(body.index))
            for j, D in zip(own, column.D, strict=True):
                _add(M, j.index, k, j.S.dot(changes.with_qdd))
                _add(dqd, j.index, k, j.S.dot(changes.with_qd))
                _add(dq, j.index, k, j.S.dot(changes.with_q) + D.dot(F[body.index]))
            moving = replace(changes, with_q=changes.with_q + column.S.cross(F[body.index]))
            for j, seen in columns_below(body, moving):
                m = j.S.dot(seen.with_qdd)
                _add(M, j.index, k, m)
                _add(M, k, j.index, m)
                _add(dqd, j.index, k, j.S.dot(seen.with_qd))
                _add(dqd, k, j.index, j.row_with_qd(seen))
                _add(dq, j.index, k, j.S.dot(seen.with_q))
                _add(dq, k, j.index, j.row_with_q(seen))
    return dq, dqd, M


ColumnsBelow = Callable[[PosedBody, Changes], Iterator[tuple[ScrewColumn, Changes]]]
"""The columns of all joints that carry the joint of a body, and its changes as each of them sees these."""


def from_link_to_link(bodies: Sequence[PosedBody], links: Sequence[MovingLink]) -> ColumnsBelow:
    """The changes are moved to the links below, whose columns are simple in their own frames."""

    def columns_below(body: PosedBody, changes: Changes) -> Iterator[tuple[ScrewColumn, Changes]]:
        while body.parent:
            changes = changes.seen_from(body.T, links[body.index].drift)
            body = bodies[body.parent - 1]
            for column in links[body.index].columns:
                yield column, changes

    return columns_below


def in_one_frame(bodies: Sequence[PosedBody], links: Sequence[MovingLink]) -> ColumnsBelow:
    """Columns and changes are moved once, to the frame of the first link that the base carries on their branch."""
    T, drift = [Transform.identity()], [Vector.zero()]
    columns: list[list[ScrewColumn]] = [[]]
    for body in bodies:
        T.append(T[body.parent] * body.T if body.parent else Transform.identity())
        own = T[body.parent].rotation * links[body.index].drift
        drift.append(drift[body.parent] + own if body.parent else Vector.zero())
        columns.append([column.seen_from(T[-1], drift[-1]) for column in links[body.index].columns])

    def columns_below(body: PosedBody, changes: Changes) -> Iterator[tuple[ScrewColumn, Changes]]:
        changes, below = changes.seen_from(T[body.index], drift[body.index]), body.parent
        while below:
            for column in columns[below]:
                yield column, changes
            below = bodies[below - 1].parent

    return columns_below


def outward(model: Model, bodies: Sequence[PosedBody], qd: Scalars, qdd: Scalars) -> list[MovingLink]:
    """Base to tip: the motion of each link, and the changes that the velocities of its joint make."""
    zero = Vector.zero()
    base = Twist(zero, -model.gravity)
    links = [MovingLink(zero, base, acceleration_matrix(zero, zero), zero, ())]
    for body in bodies:
        R, P, parent = body.T.rotation, body.T.translation, links[body.parent]
        VJ, AJ = body.along(qd), body.velocity_product(qd) + body.along(qdd)
        w_parent = R.inv * parent.omega
        V_parent = Twist(w_parent, -VJ.linear)  # of the parent's point at the origin of this link
        A_parent = Twist(R.inv * parent.A.angular, R.inv * (parent.K * P + parent.A.linear) + w_parent.cross(VJ.linear))
        V = Twist(w_parent + VJ.angular, zero)
        A = A_parent + V_parent.cross(VJ) + AJ
        columns = []
        for (i, S), S_ring, (D, D_qd, D_rest) in zip(
            body.S, body.S_rate(qd), screw_changes(body, qd, qdd), strict=True
        ):
            psi_dot = V_parent.cross(S) + D_qd
            psi_ddot = A_parent.cross(S) + V_parent.cross(psi_dot) + V.cross(D_qd) + D_rest
            columns.append(ScrewColumn(i, S, psi_dot, psi_ddot, psi_dot + V.cross(S) + S_ring, D))
        drift = parent.omega.cross(P) + R * VJ.linear
        links.append(MovingLink(V.angular, A, acceleration_matrix(V.angular, A.angular), drift, columns))
    return links


def screw_changes(body: PosedBody, qd: Scalars, qdd: Scalars) -> list[tuple[list[Twist], Twist, Twist]]:
    """Changes with each coordinate of a joint, as its link sees them: of the screws, of S qd, of dS/dt qd + S qdd."""
    kind, multiplier = body.body.joint.kind, body.body.multiplier

    def motions(own: Scalars) -> list[list[Scalar]]:
        columns = [S * multiplier for S in kind.columns(own)] if body.body.joint.mimic else kind.columns(own)
        posed = PosedBody(body.body, own, body.T, list(enumerate(columns, body.body.first_v)))
        accelerations = posed.velocity_product(qd) + posed.along(qdd)
        return [[*motion] for motion in (*columns, posed.along(qd), accelerations)]

    changes = []
    for k in range(kind.nv):
        unit = [int(n == k) for n in range(kind.nv)]
        direction = [rate * multiplier for rate in kind.rates(body.own, unit)]
        *D, D_qd, D_rest = (Twist.of(change) for change in derivative(motions, body.own, direction)[1])
        changes.append((D, D_qd, D_rest))
    return changes


def link_wrenches(
    bodies: Sequence[PosedBody],
    links: Sequence[MovingLink],
    inertias: Sequence[Inertia],
    wrenches: Wrenches | None = None,
) -> list[Wrench]:
    """Wrench that each link's motion needs beyond what the world applies, as `vector_form` has it."""
    F = [Wrench.zero()]
    for body in bodies:
        I, link = inertias[body.index], links[body.index]
        force = link.A.linear * I.mass + link.K * I.moment
        moment = I.moment.cross(link.A.linear) + euler_moment(I.inertia, link.omega, link.A.angular, link.K)
        F.append(Wrench(moment, force))
    for index, wrench in (wrenches or {}).items():
        F[index] = F[index] - wrench
    return F


def composites(
    bodies: Sequence[PosedBody], links: Sequence[MovingLink], inertias: Sequence[Inertia]
) -> tuple[list[Inertia], list[BodyCoriolis]]:
    """Tip to base: I and 2 B of each link with all links that it carries; entry 0 stays empty."""
    zero = Vector.zero()
    I = list(inertias)
    B = [BodyCoriolis.of(I_i, Twist(link.omega * 2, zero)) for I_i, link in zip(I, links, strict=True)]
    for body in reversed(bodies):
        if body.parent:
            moved = body.T * I[body.index]
            drifting = BodyCoriolis.of(moved, Twist(zero, links[body.index].drift * 2))
            I[body.parent] = I[body.parent] + moved
            B[body.parent] = B[body.parent] + body.T * B[body.index] + drifting
    return I, B


def composite_turning(bodies: Sequence[PosedBody], turning: Turning | None) -> dict[int, BodyCoriolis]:
    """Tip to base: the wrenches on each link and all links that it carries, of those that keep the base's axes."""
    total = dict(turning or {})
    for body in reversed(bodies) if turning else ():
        if body.index in total and body.parent:
            moved = body.T * total[body.index]
            total[body.parent] = total[body.parent] + moved if body.parent in total else moved
    return total


def bias_and_mass_matrix(
    model: Model, q: Scalars, qd: Scalars, wrenches: Wrenches | None = None
) -> tuple[list[Scalar], Rows]:
    """Torques h at qdd = 0 and the mass matrix M, as the derivatives compute them."""
    bodies, rest, inertias = model.at(q), [0] * model.nv, minimal_inertias(model)
    links = outward(model, bodies, qd, rest)
    F = inward(bodies, link_wrenches(bodies, links, inertias, with_springs(model, q, qd, wrenches)))
    drives = drive_torque(model, q, qd, rest)
    h = [a + b for a, b in zip(project(model, bodies, F), drives, strict=True)]
    return h, mass_matrix_of(model, bodies, composite_inertias(bodies, inertias))


def wrench_changes(column: ScrewColumn, I: Inertia, B: BodyCoriolis, turning: BodyCoriolis | None) -> Changes:
    """Changes of the wrench through a joint, without the wrench that moves along with its coordinate."""
    S = column.S
    with_q = I * column.psi_ddot + B * column.psi_dot
    if turning is not None:
        with_q = with_q + turning * S
    with_qd = I * column.upsilon_dot + B * S
    turning_S = Vector.zero() if turning is None else turning.moment_of(S)
    return Changes(I * S, with_qd, with_q, B.moment_of(S), turning_S)


Entry = tuple[int, int, Scalar]
"""A row, a column, and what is added to that entry of a matrix."""


def drive_changes(model: Model, q: Scalars, qd: Scalars) -> tuple[list[Entry], list[Entry]]:
    """Changes with q and with qd of the torques of joint springs and friction, each of which depends on its own joint.

    So the first coordinates of all joints change together, then the second ones, and so on. Dry friction jumps at
    rest; its derivatives are those on either side, zero for a constant level.
    """
    rest, joints = [0] * model.nv, model.layout.joints

    def torque(state: Scalars) -> list[Scalar]:
        return drive_torque(model, state[: model.nq], state[model.nq :], rest)

    with_q: list[Entry] = []
    with_qd: list[Entry] = []
    for k in range(max((places.joint.kind.nv for places in joints), default=0)):
        chosen = [places.v for places in joints if places.joint.kind.nv > k]
        column = {i: v.start + k for v in chosen for i in range(v.start, v.stop)}
        unit = [int(column.get(i) == i) for i in range(model.nv)]
        for entries, direction in zip((with_q, with_qd), state_directions(model, q, unit), strict=True):
            changes = derivative(torque, [*q, *qd], direction)[1]
            entries += [(i, column[i], change) for i, change in enumerate(changes) if not is_zero(change)]
    return with_q, with_qd


def spring_changes(model: Model, q: Scalars, qd: Scalars) -> tuple[list[Entry], list[Entry]]:
    """Changes with q and with qd of the torques of springs and dampers between links, column by column."""

    def torque(state: Scalars) -> list[Scalar]:
        bodies = model.at(state[: model.nq])
        F = [Wrench.zero() for _ in model.links]
        for index, wrench in with_springs(model, state[: model.nq], state[model.nq :], None).items():
            F[index] = -wrench
        return project(model, bodies, inward(bodies, F))

    with_q: list[Entry] = []
    with_qd: list[Entry] = []
    for k in range(model.nv if model.springs else 0):
        unit = [int(i == k) for i in range(model.nv)]
        for entries, direction in zip((with_q, with_qd), state_directions(model, q, unit), strict=True):
            changes = derivative(torque, [*q, *qd], direction)[1]
            entries += [(i, k, change) for i, change in enumerate(changes) if not is_zero(change)]
    return with_q, with_qd


def state_directions(model: Model, q: Scalars, unit: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """The changes of [*q, *qd] where q moves with the velocity `unit`, and where qd changes by it."""
    return [*coordinate_rates(model, q, unit), *([0] * model.nv)], [*([0] * model.nq), *unit]


def _zeros(n: int) -> Rows:
    return [[0] * n for _ in range(n)]


def _add(matrix: Rows, i: int, j: int, amount: Scalar) -> None:
    """Add to an entry, in place: mimic joints share theirs."""
    matrix[i][j] = matrix[i][j] + amount
