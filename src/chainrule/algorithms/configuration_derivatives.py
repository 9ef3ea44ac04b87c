"""Derivatives of the mass matrix and of the gravity torques along each velocity.

In the base frame, M_ij = S_i . I S_j with I the inertia of all links that the outer one of both joints carries. A joint
k moves what it carries by its screw S_k: screws change by S_k x S, wrenches by S_k x* F, and the inertia I_k of what it
carries by S_k x* I_k - I_k S_k x. What it carries as a whole keeps its products, so that only pairs count that it moves
apart: k between both joints, or beyond the outer one (Featherstone, Rigid Body Dynamics Algorithms, section 2.13).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.algorithms.crba import composite_inertias
from chainrule.algorithms.kinematics import gravity_as_base_acceleration, poses_of, screw_changes
from chainrule.model import Model
from chainrule.spatial import Inertia, Scalar, Twist, Wrench

Scalars = Sequence[Scalar]


@dataclass(frozen=True, slots=True)
class MovingScrew:
    """A degree of freedom in the base frame: its place in qd, screw, and what each own coordinate changes in that."""

    place: int
    S: Twist
    changes: tuple[tuple[int, Twist], ...]


@dataclass(frozen=True, slots=True)
class Carried:
    """A body in the base frame: the axes of its joint, the inertia of all that this carries, and its ancestors."""

    axes: tuple[MovingScrew, ...]
    I: Inertia
    carriers: tuple[int, ...]
    """The bodies that carry this one, from the base on, and this one itself."""


def carried_bodies(model: Model, q: Scalars) -> list[Carried]:
    """Every body in the base frame, by link index; entry 0 is the base."""
    bodies = model.at(q)
    T, I = poses_of(bodies), composite_inertias(bodies)
    found = [Carried((), Inertia.zero(), ())]
    for body in bodies:
        X = T[body.index]
        changes = screw_changes(body, model.nv)
        axes = tuple(
            MovingScrew(i, X * S, tuple((k, X * D[n]) for k, D in changes if D[n] is not Twist.zero()))
            for n, (i, S) in enumerate(body.S)
        )
        found.append(Carried(axes, X * I[body.index], (*found[body.parent].carriers, body.index)))
    return found


def mass_matrix_dq(model: Model, q: Scalars) -> list[list[list[Scalar]]]:
    """dM_ij/dq_k as D[i][j][k]; rotors add nothing."""
    n = model.nv
    D: list[list[list[Scalar]]] = [[[0] * n for _ in range(n)] for _ in range(n)]
    bodies = carried_bodies(model, q)
    for outer, body in enumerate(bodies):
        beyond = [other for other in bodies if outer in other.carriers[:-1]]
        for axis in body.axes:
            F = body.I * axis.S
            # with each k, the change of the wrench of a unit acceleration of this axis, beyond what moves along
            further = [(k.place, _change_of_wrench(other.I, k.S, axis.S)) for other in beyond for k in other.axes]
            own = [(k, body.I * change) for k, change in axis.changes]
            for inner in body.carriers:
                between = [k for c in body.carriers if c > inner for k in bodies[c].axes]
                wrenches = [*further, *own, *((k.place, k.S.cross(F)) for k in between)]
                for i in bodies[inner].axes:
                    for k, change in [*((k, i.S.dot(W)) for k, W in wrenches), *((k, d.dot(F)) for k, d in i.changes)]:
                        D[i.place][axis.place][k] = D[i.place][axis.place][k] + change
                        if inner != outer:
                            D[axis.place][i.place][k] = D[axis.place][i.place][k] + change
    return D


def gravity_torque_dq(model: Model, q: Scalars) -> list[list[Scalar]]:
    """dg_i/dq_k as G[i][k], symmetric for joints without quaternions: the stiffness that gravity gives the robot."""
    A = gravity_as_base_acceleration(model)
    bodies = carried_bodies(model, q)
    G: list[list[Scalar]] = [[0] * model.nv for _ in range(model.nv)]

    def add(i: int, k: int, change: Scalar) -> None:
        G[i][k] = G[i][k] + change

    for body in bodies:
        for k in body.axes:
            W = -(body.I * k.S.cross(A))
            whole = k.S.cross(body.I * A) + W
            for c in body.carriers[:-1]:
                for i in bodies[c].axes:
                    add(i.place, k.place, i.S.dot(whole))
                    add(k.place, i.place, -(body.I * i.S.cross(A)).dot(k.S))
            for i in body.axes:
                add(i.place, k.place, i.S.dot(W))
            for j, change in k.changes:
                add(k.place, j, change.dot(body.I * A))
    return G


def _change_of_wrench(I: Inertia, S: Twist, V: Twist) -> Wrench:
    """Change of I V where the body moves by S and V stays: S x* I V - I (S x V)."""
    return S.cross(I * V) - I * S.cross(V)
