"""The equations of motion in closed matrix form, stacked over all moving links.

V = A V + S qd, dV/dt = A dV/dt + dA/dt V + S qdd, W = I dV/dt - ad_V^T I V + A^T W, tau = S^T W; and with
L = (1 - A)^-1 and J = L S, tau = M qdd + C qd + g (lecture 15 of SCE 594, "Dynamics of Fixed-base Manipulators";
Lynch & Park, Modern Robotics, section 8.4). Matrices are lists of rows, with six rows for each link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.algorithms.joint_forces import armature
from chainrule.algorithms.kinematics import gravity_as_base_acceleration, twists_of
from chainrule.model import Model, PosedBody
from chainrule.spatial import Scalar
from chainrule.spatial.linear import multiply, transpose

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]


@dataclass(frozen=True, slots=True)
class MatrixForm:
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


def matrix_form(model: Model, q: Scalars, qd: Scalars) -> MatrixForm:
    """All matrices of the closed form; M includes the rotors, friction and springs stay outside."""
    bodies = model.at(q)
    V = twists_of(bodies, qd)
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
            _add(A_dot, row, column, [[-x for x in r] for r in multiply(body.along(qd).ad(), Ad)])
        else:
            _add(base, row, 0, multiply(Ad, [[x] for x in gravity_as_base_acceleration(model)]))
        _add(inertia, row, row, body.inertia.matrix())
        _add(ad_V, row, row, V[body.index].ad())
    L = _propagation(bodies)
    J = multiply(L, S)
    JT, JI = transpose(J), multiply(transpose(J), inertia)
    rotors = _diagonal(armature(model))
    M = _plus(multiply(JI, J), rotors)
    velocity_part = multiply(L, _plus(multiply(A_dot, J), S_dot))
    bracket = multiply(JT, multiply(transpose(ad_V), multiply(inertia, J)))
    C = _plus(multiply(JI, velocity_part), [[-x for x in row] for row in bracket])
    g = [row[0] for row in multiply(JI, multiply(L, base))]
    return MatrixForm(S, A, A_dot, L, J, inertia, ad_V, rotors, M, C, g)


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


def _plus(A: Rows, B: Rows) -> Rows:
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(A, B, strict=True)]


def _add(target: Rows, row: int, column: int, block: Rows) -> None:
    """Add a block to a matrix, in place."""
    for i, values in enumerate(block):
        for j, value in enumerate(values):
            target[row + i][column + j] = target[row + i][column + j] + value
