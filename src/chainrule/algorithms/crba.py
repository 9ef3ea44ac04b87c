"""The mass matrix: the composite-rigid-body algorithm (Featherstone, table 6.2)."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.joint_forces import armature
from chainrule.model import Model, PosedBody
from chainrule.spatial import Inertia, Scalar

Scalars = Sequence[Scalar]


def mass_matrix(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Mass matrix M(q), rotors included: M_ij = S_i . F, with F the wrench of a unit acceleration of joint j."""
    bodies = model.at(q)
    composite = composite_inertias(bodies)
    M: list[list[Scalar]] = [[0] * model.nv for _ in range(model.nv)]
    for i, J in enumerate(armature(model)):
        M[i][i] = J
    for body in bodies:
        for k, (j, S) in enumerate(body.S):
            F = composite[body.index] * S
            for i, S_i in body.S[: k + 1]:
                M[i][j] = M[i][j] + S_i.dot(F)
                if i != j:
                    M[j][i] = M[i][j]
            below = body
            while below.parent:
                F = below.T * F
                below = bodies[below.parent - 1]
                for i, S_i in below.S:
                    m = S_i.dot(F)
                    M[i][j] = M[i][j] + m
                    M[j][i] = M[j][i] + m if i == j else M[i][j]
    return M


def composite_inertias(bodies: Sequence[PosedBody]) -> list[Inertia]:
    """Inertia of each link with all links it carries, in the link's frame; entry 0 stays empty."""
    I = [Inertia.zero(), *(body.inertia for body in bodies)]
    for body in reversed(bodies):
        if body.parent:
            I[body.parent] = I[body.parent] + body.T * I[body.index]
    return I
