"""The equations of motion in closed matrix form, stacked over all moving links.

V = A V + S qd, dV/dt = A dV/dt + dA/dt V + S qdd, W = I dV/dt - ad_V^T I V + A^T W, tau = S^T W; and with
L = (1 - A)^-1 and J = L S, tau = M qdd + C qd + g (lecture 15 of SCE 594, "Dynamics of Fixed-base Manipulators";
Lynch & Park, Modern Robotics, section 8.4). Matrices are lists of rows, with six rows for each link. Three things are
added to that: gravity, as the acceleration -g of the base that the links on it share; the rates of screws that move in
their link's frame, those of universal and planar joints; and the rotors.

This C is J^T I L dA/dt J - J^T ad_V^T I J. Christoffel's (`coriolis`) is another matrix with the same product C qd:
only that one makes dM/dt - 2 C skew-symmetric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.algorithms.joint_forces import armature
from chainrule.algorithms.kinematics import gravity_as_base_acceleration, twists_of
from chainrule.algorithms.loads import Wrenches
from chainrule.model import Model, PosedBody
from chainrule.spatial import Scalar
from chainrule.spatial.linear import multiply, transpose

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]


@dataclass(frozen=True, slots=True)
class StackedMatrices:
    """The stacked matrices, and the M, C and g that follow from them."""

    S: Rows
    A: Rows
    A_dot: Rows
    L: Rows
    J: Rows
    inertia: Rows
    ad_V: Rows
    rotors: Rows
    M: Rows
    C: Rows
    g: list[Scalar]
    S_dot: Rows
    V: list[Scalar]
    V_dot_0: list[Scalar]


@dataclass(frozen=True, slots=True)
class StackedMotion:
    """Stacked rates of twists, wrenches through the joints, and torques without friction and springs."""

    V_dot: list[Scalar]
    W: list[Scalar]
    tau: list[Scalar]


def matrix_form(model: Model, q: Scalars, qd: Scalars) -> StackedMatrices:
    """All matrices of the closed form; M includes the rotors, friction and springs stay outside."""
    bodies = model.at(q)
    twists = twists_of(bodies, qd)
    size = 6 * len(bodies)
    S, S_dot = _zeros(size, model.nv), _zeros(size, model.nv)
    A, A_dot, inertia, ad_V = (_zeros(size, size) for _ in range(4))
    base = _zeros(size, 1)
    for body in bodies:
        row = 6 * (body.index - 1)
        Ad = body.T.inverse().adjoint()
        for (i, S_i), ring in zip(body.S, body.S_rate(qd), strict=True):
            _add(S, row, i, [[x] for x in S_i])
            _add(S_dot, row, i, [[x] for x in ring])
        if body.parent:
            column = 6 * (body.parent - 1)
            _add(A, row, column, Ad)
            _add(A_dot, row, column, _negative(multiply(body.along(qd).ad(), Ad)))
        else:
            _add(base, row, 0, multiply(Ad, [[x] for x in gravity_as_base_acceleration(model)]))
        _add(inertia, row, row, body.inertia.matrix())
        _add(ad_V, row, row, twists[body.index].ad())
    L = _propagation(bodies)
    J = multiply(L, S)
    JT, JI = transpose(J), multiply(transpose(J), inertia)
    rotors = _diagonal(armature(model))
    M = _plus(multiply(JI, J), rotors)
    velocity_part = multiply(L, _plus(multiply(A_dot, J), S_dot))
    bracket = multiply(JT, multiply(transpose(ad_V), multiply(inertia, J)))
    C = _plus(multiply(JI, velocity_part), _negative(bracket))
    g = _entries(multiply(JI, multiply(L, base)))
    V = [x for twist in twists[1:] for x in twist]
    return StackedMatrices(S, A, A_dot, L, J, inertia, ad_V, rotors, M, C, g, S_dot, V, _entries(base))


def stacked_motion(form: StackedMatrices, qd: Scalars, qdd: Scalars, wrenches: Wrenches | None = None) -> StackedMotion:
    """The accelerations, wrenches and torques of a motion: V_dot = L (dA/dt V + dS/dt qd + S qdd + V_dot_0) and so on.

    Wrenches that the world applies to links are taken off W = L^T (I V_dot - ad_V^T I V).
    """
    rates, accelerations, V = _column(qd), _column(qdd), _column(form.V)
    velocity_part = _plus(multiply(form.A_dot, V), multiply(form.S_dot, rates))
    driven = _plus(velocity_part, _plus(multiply(form.S, accelerations), _column(form.V_dot_0)))
    V_dot = multiply(form.L, driven)
    momentum = multiply(form.inertia, V)
    needed = _plus(multiply(form.inertia, V_dot), _negative(multiply(transpose(form.ad_V), momentum)))
    for index, wrench in (wrenches or {}).items():
        if index:  # the base moves no joint
            _add(needed, 6 * (index - 1), 0, [[-x] for x in wrench])
    W = multiply(transpose(form.L), needed)
    tau = _plus(multiply(transpose(form.S), W), multiply(form.rotors, accelerations))
    return StackedMotion(_entries(V_dot), _entries(W), _entries(tau))


def _propagation(bodies: Sequence[PosedBody]) -> Rows:
    """Matrix L = (1 - A)^-1: block (i, j) is the adjoint from link j to the link i that it carries."""
    L = _zeros(6 * len(bodies), 6 * len(bodies))
    for body in bodies:
        row = 6 * (body.index - 1)
        _add(L, row, row, _diagonal([1] * 6))
        T, below = body.T, body
        while below.parent:
            _add(L, row, 6 * (below.parent - 1), T.inverse().adjoint())
            below = bodies[below.parent - 1]
            T = below.T * T
    return L


def _zeros(rows: int, columns: int) -> Rows:
    return [[0] * columns for _ in range(rows)]


def _diagonal(entries: Scalars) -> Rows:
    return [[x if i == j else 0 for j in range(len(entries))] for i, x in enumerate(entries)]


def _column(entries: Scalars) -> Rows:
    return [[x] for x in entries]


def _entries(column: Rows) -> list[Scalar]:
    return [row[0] for row in column]


def _negative(A: Rows) -> Rows:
    return [[-x for x in row] for row in A]


def _plus(A: Rows, B: Rows) -> Rows:
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(A, B, strict=True)]


def _add(target: Rows, row: int, column: int, block: Rows) -> None:
    """Add a block to a matrix, in place."""
    for i, values in enumerate(block):
        for j, value in enumerate(values):
            target[row + i][column + j] = target[row + i][column + j] + value
