"""Poses, twists and accelerations of every link: one pass from the base to the tips.

Lists are indexed by link; entry 0 is the base.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.model import Model, PosedBody
from chainrule.spatial import Motion, Scalar, Transform, Vector

Scalars = Sequence[Scalar]


def poses(model: Model, q: Scalars) -> list[Transform]:
    """Poses T_0i of all links in the base frame: the product of exponentials (Lynch & Park, eq. 4.14)."""
    return poses_of(model.at(q))


def poses_of(bodies: Sequence[PosedBody]) -> list[Transform]:
    """Poses T_0i of all links, for bodies in one configuration."""
    T = [Transform.identity()]
    for body in bodies:
        T.append(T[body.parent] * body.T)
    return T


def pose(model: Model, q: Scalars, name: str) -> Transform:
    """Pose of one link or frame in the base frame."""
    index, offset = model.locate(name)
    T = Transform.identity()
    for body in model.ancestors(index):
        T = T * body.at(q).T
    return T * offset


def twists(model: Model, q: Scalars, qd: Scalars) -> list[Motion]:
    """Twists V_i of all links, each in its own frame (Lynch & Park, eq. 8.50)."""
    return twists_of(model.at(q), qd)


def twists_of(bodies: Sequence[PosedBody], qd: Scalars) -> list[Motion]:
    """Twists V_i of all links, for bodies in one configuration."""
    V = [Motion.zero()]
    for body in bodies:
        V.append(body.T.inv * V[body.parent] + body.along(qd))
    return V


def accelerations(model: Model, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Motion]:
    """Rates A_i = dV_i/dt of the twists of all links, each in its own frame."""
    _, A = outward(model.at(q), qd, qdd, Motion.zero())
    return A


def outward(bodies: Sequence[PosedBody], qd: Scalars, qdd: Scalars, base: Motion) -> tuple[list[Motion], list[Motion]]:
    """Twists V_i and their rates A_i, for a given acceleration of the base (Lynch & Park, eqs. 8.50-8.51)."""
    V, A = [Motion.zero()], [base]
    for body in bodies:
        VJ = body.along(qd)
        Vi = body.T.inv * V[body.parent] + VJ
        V.append(Vi)
        A.append(body.T.inv * A[body.parent] + Vi.cross(VJ) + body.velocity_product(qd) + body.along(qdd))
    return V, A


def gravity_as_base_acceleration(model: Model) -> Motion:
    """Acceleration -g of the base, which has the same effect on every link as gravity."""
    return Motion(Vector.zero(), -model.gravity)
