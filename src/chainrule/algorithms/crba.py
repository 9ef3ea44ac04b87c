"""The mass matrix: the composite-rigid-body algorithm (Featherstone, table 6.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from chainrule.algorithms.joint_forces import armature
from chainrule.algorithms.kinematics import poses_of
from chainrule.model import Model, PosedBody
from chainrule.spatial import Inertia, Scalar, Twist, Wrench

Scalars = Sequence[Scalar]

MAX_CARRIED = 10
"""Joints between the base and a joint, on average, up to which wrenches are carried from link to link."""


def mass_matrix(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Mass matrix M(q), rotors included: M_ij = S_i . F, with F the wrench of a unit acceleration of joint j."""
    bodies = model.at(q)
    return mass_matrix_of(model, bodies, composite_inertias(bodies))


def mass_matrix_of(model: Model, bodies: Sequence[PosedBody], composite: Sequence[Inertia]) -> list[list[Scalar]]:
    """Mass matrix for bodies in one configuration and the inertias of what each of them carries."""
    M: list[list[Scalar]] = [[0] * model.nv for _ in range(model.nv)]
    for i, J in enumerate(armature(model)):
        M[i][i] = J
    torques_below = _in_base_frame(bodies) if is_deep(model) else _from_link_to_link(bodies)
    for body in bodies:
        for k, (j, S) in enumerate(body.S):
            F = composite[body.index] * S
            for i, S_i in body.S[: k + 1]:
                M[i][j] = M[i][j] + S_i.dot(F)
                if i != j:
                    M[j][i] = M[i][j]
            for i, m in torques_below(body, F):
                M[i][j] = M[i][j] + m
                M[j][i] = M[j][i] + m if i == j else M[i][j]
    return M


Torques = Callable[[PosedBody, Wrench], Iterator[tuple[int, Scalar]]]
"""The torque of a wrench on a body, in its frame, about each joint between the base and the body's own."""


def is_deep(model: Model) -> bool:
    """Whether so many joints carry each other that wrenches and screws had better be in one frame."""
    depth = [0]
    for body in model.bodies:
        depth.append(depth[body.parent] + 1)
    return sum(depth) > MAX_CARRIED * len(model.bodies)


def _from_link_to_link(bodies: Sequence[PosedBody]) -> Torques:
    """Each wrench is carried to the links below, whose screws are simple in their own frames."""

    def torques(body: PosedBody, F: Wrench) -> Iterator[tuple[int, Scalar]]:
        while body.parent:
            F = body.T * F
            body = bodies[body.parent - 1]
            for i, S in body.S:
                yield i, S.dot(F)

    return torques


def _in_base_frame(bodies: Sequence[PosedBody]) -> Torques:
    """Screws and wrenches are moved to the base frame once."""
    T = poses_of(bodies)
    S: list[list[tuple[int, Twist]]] = [[], *([(i, T[b.index] * S_i) for i, S_i in b.S] for b in bodies)]

    def torques(body: PosedBody, F: Wrench) -> Iterator[tuple[int, Scalar]]:
        F, below = T[body.index] * F, body.parent
        while below:
            for i, S_i in S[below]:
                yield i, S_i.dot(F)
            below = bodies[below - 1].parent

    return torques


def composite_inertias(bodies: Sequence[PosedBody], inertias: Sequence[Inertia] | None = None) -> list[Inertia]:
    """Inertia of each link with all links it carries, in the link's frame; entry 0 stays what it is.

    `inertias` are those of all links by index, their own unless given.
    """
    I = [Inertia.zero(), *(body.inertia for body in bodies)] if inertias is None else list(inertias)
    for body in reversed(bodies):
        if body.parent:
            I[body.parent] = I[body.parent] + body.T * I[body.index]
    return I
