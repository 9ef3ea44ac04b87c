"""The parent-child equations: every link, joint and loop with its own unknowns, and nothing eliminated.

A moving link has the twist V, a joint the wrench W from parent to child and the velocities qd, a loop the multipliers
lambda, all in link frames, angular part first (lecture 15 of SCE 594, "Dynamics of Fixed-base Manipulators"). With
VJ = S qd the joint's twist, p the parent and c the children of a link:

    Newton-Euler    I dV/dt + V x* I V = W - sum Ad^T W_c + (what acts from outside)
    joint           V - Ad V_p - S qd = 0,   and in rates   dV/dt - Ad dV_p/dt - S dqd/dt = V x VJ + dS/dt qd
    torque          S^T W + rotors dqd/dt = tau - springs - friction
    loop            F_b . V_b + F_a . V_a = 0,   and in rates   F_b . dV_b/dt + F_a . dV_a/dt = -gamma

In rates, the equations are linear in dV/dt, W, dqd/dt and lambda: `equations_in_rates`. Gravity is the acceleration -g
of the base there, so that dV/dt is what an accelerometer would feel. `residual` is the same as an implicit system
F(x, dx/dt), and `maximal_equations` the same where the links' poses are unknowns too, free to leave their joints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chainrule.algorithms.configuration import coordinate_rates
from chainrule.algorithms.friction import friction_torque
from chainrule.algorithms.joint_forces import armature, spring_torque
from chainrule.algorithms.kinematics import gravity_as_base_acceleration, poses_of, twists_of
from chainrule.algorithms.loads import Wrenches
from chainrule.algorithms.loop_equations import Rows, select, unit_wrench_rates, unit_wrenches
from chainrule.algorithms.loop_equations import residual as loop_residual
from chainrule.algorithms.springs import add_pulls, springs_on
from chainrule.model import Constraint, Model, PosedBody
from chainrule.model.joints import Free
from chainrule.spatial import Scalar, Transform, Twist, Wrench
from chainrule.spatial.linear import solve_symmetric
from chainrule.spatial.scalar import is_zero

Scalars = Sequence[Scalar]

POSE = Free()
"""Coordinates of a link's pose in the base: position and quaternion, as of a free joint."""


class SparseSystem:
    """A sparse linear system: entries by (row, column), and the right side."""

    def __init__(self, size: int) -> None:
        self.entries: dict[tuple[int, int], Scalar] = {}
        self.rhs: list[Scalar] = [0] * size

    def add(self, row: int, column: int, block: Sequence[Scalars]) -> None:
        """Add a block of rows; zeros of the structure leave no entry."""
        for i, values in enumerate(block):
            for j, x in enumerate(values):
                if not is_zero(x):
                    at = row + i, column + j
                    self.entries[at] = self.entries[at] + x if at in self.entries else x

    def load(self, row: int, values: Iterable[Scalar]) -> None:
        """Add to the right side."""
        for i, x in enumerate(values):
            self.rhs[row + i] = self.rhs[row + i] + x

    def residual(self, unknowns: Scalars) -> list[Scalar]:
        """The left side minus the right one."""
        left: list[Scalar] = [0] * len(self.rhs)
        for (i, j), x in self.entries.items():
            left[i] = left[i] + x * unknowns[j]
        return [a - b for a, b in zip(left, self.rhs, strict=True)]


class LoopRow(NamedTuple):
    """One equation of a loop: its error, its rate for the given twists, gamma, and its wrenches on links by index."""

    error: Scalar
    rate: Scalar
    gamma: Scalar
    wrenches: Wrenches


class Sizes(NamedTuple):
    """The numbers of unknowns: 6 for each moving link, the velocities, and the equations of loops in use."""

    links: int
    velocities: int
    loops: int

    @property
    def total(self) -> int:
        """Unknowns of the equations in rates."""
        return 2 * self.links + self.velocities + self.loops


def sizes(model: Model, rows: Rows = None) -> Sizes:
    """The numbers of unknowns of a model."""
    return Sizes(6 * len(model.bodies), model.nv, len(model.rows) if rows is None else len(rows))


# --- the equations in rates ---


def equations_in_rates(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Wrenches | None = None, rows: Rows = None
) -> SparseSystem:
    """The linear system for dV/dt (as felt), W, dqd/dt and lambda in the state (q, qd)."""
    bodies = model.at(q)
    V = twists_of(bodies, qd)
    T = poses_of(bodies)
    acting = add_pulls(springs_on(model, T, V), wrenches)
    return assemble(model, bodies, V, qd, driving_torque(model, q, qd, tau), loop_rows(model, T, V, rows), acting)


def driving_torque(model: Model, q: Scalars, qd: Scalars, tau: Scalars) -> list[Scalar]:
    """Torques that are left for the links and rotors: tau - springs - friction."""
    passive = zip(spring_torque(model, q), friction_torque(model, q, qd), strict=True)
    return [t - s - f for t, (s, f) in zip(tau, passive, strict=True)]


def assemble(
    model: Model,
    bodies: Sequence[PosedBody],
    V: Sequence[Twist],
    qd: Scalars,
    drives: Scalars,
    loops: Sequence[LoopRow],
    wrenches: Wrenches | None = None,
) -> SparseSystem:
    """The equations in rates for bodies with given relative poses and twists."""
    size, n, base = 6 * len(bodies), model.nv, gravity_as_base_acceleration(model)
    system = SparseSystem(2 * size + n + len(loops))
    for body in bodies:
        at, above, Vi = 6 * (body.index - 1), 6 * (body.parent - 1), V[body.index]
        Ad = body.T.inverse().adjoint()
        bias = Vi.cross(body.along(qd)) + body.velocity_product(qd)
        system.add(at, at, body.inertia.matrix())
        system.add(at, size + at, _identity(-1))
        system.add(size + at, at, _identity(1))
        if body.parent:
            system.add(above, size + at, [list(column) for column in zip(*Ad, strict=True)])
            system.add(size + at, above, [[-x for x in row] for row in Ad])
        else:
            bias = bias + body.T.inv * base
        system.load(at, (wrenches or {}).get(body.index, Wrench.zero()) - Vi.cross(body.inertia * Vi))
        system.load(size + at, bias)
        for i, S in body.S:
            system.add(size + at, 2 * size + i, [[-x] for x in S])
            system.add(2 * size + i, size + at, [[*S]])
    for i, J in enumerate(armature(model)):
        system.add(2 * size + i, 2 * size + i, [[J]])
    system.load(2 * size, drives)
    for k, loop in enumerate(loops):
        row = 2 * size + n + k
        system.load(row, [-loop.gamma])
        for index, F in loop.wrenches.items():
            if index:
                system.add(row, 6 * (index - 1), [[*F]])
                system.add(6 * (index - 1), row, [[-x] for x in F])
            else:
                system.load(row, [-base.dot(F)])
    return system


def _identity(x: Scalar) -> list[list[Scalar]]:
    return [[x if i == j else 0 for j in range(6)] for i in range(6)]


# --- loops ---


def loop_rows(model: Model, T: Sequence[Transform], V: Sequence[Twist], rows: Rows = None) -> list[LoopRow]:
    """The equations of the loops in use, for the poses and twists of links by index."""
    return select([row for c in model.constraints for row in _rows_of(model, c, T, V)], rows)


def _rows_of(model: Model, constraint: Constraint, T: Sequence[Transform], V: Sequence[Twist]) -> list[LoopRow]:
    (a, at_a), (b, at_b) = model.locate(constraint.link_a), model.locate(constraint.link_b)
    first, second = at_a * constraint.origin_a, at_b * constraint.origin_b
    X = (T[a] * first).inv * (T[b] * second)
    V_a = first.inv * V[a]
    relative = X * (second.inv * V[b]) - V_a
    found = []
    forces, rates = unit_wrenches(constraint, X), unit_wrench_rates(constraint, X, relative)
    for error, F, rate in zip(loop_residual(constraint, X), forces, rates, strict=True):
        on_links = {a: first * -F}
        on_b = second * (X.inv * F)
        on_links[b] = on_links[b] + on_b if b in on_links else on_b
        gamma = relative.dot(rate) + relative.cross(V_a).dot(F)
        found.append(LoopRow(error, relative.dot(F), gamma, on_links))
    return found


# --- the implicit system ---


def residual(
    model: Model,
    x: Scalars,
    x_dot: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    rows: Rows = None,
    index: int = 1,
) -> list[Scalar]:
    """F(x, dx/dt) for x = (q, qd, V, W, lambda), zero along every motion.

    Index 1: joints and loops in rates. Index 2: in velocities, as the lecture writes them. Index 3: loops in positions.
    """
    q, qd, V_flat, W, multipliers = split(model, x, rows)
    q_dot, qd_dot, V_dot, _, _ = split(model, x_dot, rows)
    bodies = model.at(q)
    T, V = poses_of(bodies), by_link(V_flat)
    loops = loop_rows(model, T, V, rows)
    acting = add_pulls(springs_on(model, T, V), wrenches)
    system = assemble(model, bodies, V, qd, driving_torque(model, q, qd, tau), loops, acting)
    base = gravity_as_base_acceleration(model)
    felt = [x for A, pose in zip(by_link(V_dot)[1:], T[1:], strict=True) for x in A + pose.inv * base]
    F = system.residual([*felt, *W, *qd_dot, *multipliers])
    size = 6 * len(bodies)
    if index > 1:
        F[size : 2 * size] = [x for body in bodies for x in joint_velocity_error(body, V, qd)]
        F[2 * size + model.nv :] = [loop.rate if index == 2 else loop.error for loop in loops]
    return [a - b for a, b in zip(q_dot, coordinate_rates(model, q, qd), strict=True)] + F


def split(model: Model, x: Scalars, rows: Rows = None) -> tuple[Scalars, Scalars, Scalars, Scalars, Scalars]:
    """The parts q, qd, V, W and lambda of x."""
    links, n, m = sizes(model, rows)
    parts, at = [], 0
    for length in (model.nq, n, links, links, m):
        parts.append(x[at : at + length])
        at += length
    q, qd, V, W, multipliers = parts
    return q, qd, V, W, multipliers


def by_link(flat: Scalars) -> list[Twist]:
    """Twists of all links from the numbers of those that move; entry 0 is the base."""
    return [Twist.zero(), *(Twist.of(flat[k : k + 6]) for k in range(0, len(flat), 6))]


def joint_velocity_error(body: PosedBody, V: Sequence[Twist], qd: Scalars) -> Twist:
    """The twist V - Ad V_p - S qd that a joint does not allow."""
    return V[body.index] - body.T.inv * V[body.parent] - body.along(qd)


# --- maximal coordinates ---


class Maximal(NamedTuple):
    """The equations in maximal coordinates at one state, and what the joints and loops do not allow of it."""

    system: SparseSystem
    """In rates."""
    qd: list[Scalar]
    """Velocities of the joints, from the twists of the links."""
    position_errors: list[Scalar]
    """Of each joint, the displacement of the link from where it should be (6); of each loop's equation, its error."""
    velocity_errors: list[Scalar]
    """The same of the twists."""
    felt: list[Scalar]
    """What gravity adds to the rate of each twist in the system."""
    pose_rates: list[Scalar]
    coordinate_rates: list[Scalar]


def maximal_equations(
    model: Model,
    poses: Scalars,
    twists: Scalars,
    q: Scalars,
    rows: Rows = None,
    feedback: tuple[Scalar, Scalar] | None = None,
) -> Maximal:
    """The equations where each link has its own pose (position and quaternion in the base) and twist, at no torque.

    q says where each joint is; it follows the links. With `feedback`, (alpha, beta) in 1/s, errors decay (Baumgarte).
    """
    T = [Transform.identity(), *(POSE.transform(poses[k : k + 7]) for k in range(0, len(poses), 7))]
    V = by_link(twists)
    ideal = model.at(q)
    bodies = [PosedBody(body.body, body.own, T[body.parent].inv * T[body.index], body.S) for body in ideal]
    qd = _joint_velocities(model, bodies, V)
    loops = loop_rows(model, T, V, rows)
    acting = add_pulls(springs_on(model, T, V))
    system = assemble(model, bodies, V, qd, driving_torque(model, q, qd, [0] * model.nv), loops, acting)
    displaced = [(body.T.inv * actual.T).log() for body, actual in zip(ideal, bodies, strict=True)]
    position = [x for e in displaced for x in e] + [loop.error for loop in loops]
    velocity = [x for body in bodies for x in joint_velocity_error(body, V, qd)] + [loop.rate for loop in loops]
    if feedback is not None:
        alpha, beta = feedback
        pull = [-2 * alpha * r - beta * beta * e for e, r in zip(position, velocity, strict=True)]
        size = 6 * len(bodies)
        system.load(size, pull[:size])
        system.load(2 * size + model.nv, pull[size:])
    rates = [x for body in bodies for x in POSE.rates(poses[7 * (body.index - 1) : 7 * body.index], [*V[body.index]])]
    base = gravity_as_base_acceleration(model)
    felt = [x for pose in T[1:] for x in pose.inv * base]
    return Maximal(system, qd, position, velocity, felt, rates, coordinate_rates(model, q, qd))


def _joint_velocities(model: Model, bodies: Sequence[PosedBody], V: Sequence[Twist]) -> list[Scalar]:
    """Velocities of the joints nearest to the relative twists of their links; a mimic joint's come from its leader."""
    qd: list[Scalar] = [0] * model.nv
    for body in bodies:
        if body.body.joint.mimic or not body.S:
            continue
        relative = V[body.index] - body.T.inv * V[body.parent]
        columns = [[*S] for _, S in body.S]
        gram = [[_dot(a, b) for b in columns] for a in columns]
        found = solve_symmetric(gram, [_dot(a, [*relative]) for a in columns])
        for (i, _), rate in zip(body.S, found, strict=True):
            qd[i] = rate
    return qd


def _dot(a: Scalars, b: Scalars) -> Scalar:
    total: Scalar = 0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def corrections(model: Model, errors: Scalars, rows: Rows = None) -> list[Scalar]:
    """The right side of the same system whose solution undoes errors: displacements or twists of links, and of q."""
    links, n, _ = sizes(model, rows)
    return [0] * links + [-e for e in errors[:links]] + [0] * n + [-e for e in errors[links:]]


def start_poses(model: Model, q: Scalars, qd: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """Poses and twists of the links in a state (q, qd), as maximal coordinates have them."""
    bodies = model.at(q)
    flat = [x for T in poses_of(bodies)[1:] for x in (*T.translation, *T.rotation.quaternion())]
    return flat, [x for V in twists_of(bodies, qd)[1:] for x in V]


def move(model: Model, poses: Scalars, displacements: Scalars) -> list[Scalar]:
    """Poses of the links after displacements (6 for each link, in its own frame)."""
    count = len(model.bodies)
    return [x for k in range(count) for x in POSE.integrate(poses[7 * k : 7 * k + 7], displacements[6 * k : 6 * k + 6])]
