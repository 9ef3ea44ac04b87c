"""Poses, twists and accelerations of every link: one pass from the base to the tips.

Lists are indexed by link; entry 0 is the base.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.model import Model, Placed
from chainrule.spatial import Motion, Scalar, Transform, Vector

Scalars = Sequence[Scalar]


def poses(model: Model, q: Scalars) -> list[Transform]:
    """T_0i of every link: the product of exponentials (Lynch & Park, eq. 4.14)."""
    return poses_of(model.at(q))


def poses_of(bodies: Sequence[Placed]) -> list[Transform]:
    T = [Transform.identity()]
    for body in bodies:
        T.append(T[body.parent] * body.T)
    return T


def pose(model: Model, q: Scalars, name: str) -> Transform:
    """The pose in the base frame of one link or frame."""
    index, offset = model.locate(name)
    T = Transform.identity()
    for body in model.ancestors(index):
        T = T * body.at(q).T
    return T * offset


def twists(model: Model, q: Scalars, qd: Scalars) -> list[Motion]:
    """V_i of every link in its own frame (Lynch & Park, eq. 8.50)."""
    return twists_of(model.at(q), qd)


def twists_of(bodies: Sequence[Placed], qd: Scalars) -> list[Motion]:
    V = [Motion.zero()]
    for body in bodies:
        V.append(body.T.inv * V[body.parent] + body.along(qd))
    return V


def accelerations(model: Model, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Motion]:
    """A_i = dV_i/dt of every link in its own frame."""
    _, A = outward(model.at(q), qd, qdd, Motion.zero())
    return A


def outward(bodies: Sequence[Placed], qd: Scalars, qdd: Scalars, base: Motion) -> tuple[list[Motion], list[Motion]]:
    """V_i and A_i, with the base accelerating as given (Lynch & Park, eqs. 8.50-8.51)."""
    V, A = [Motion.zero()], [base]
    for body in bodies:
        VJ = body.along(qd)
        Vi = body.T.inv * V[body.parent] + VJ
        V.append(Vi)
        A.append(body.T.inv * A[body.parent] + Vi.cross(VJ) + body.velocity_product(qd) + body.along(qdd))
    return V, A


def held(model: Model) -> Motion:
    """The acceleration of a base that is held against gravity, -g: with it, every link feels its weight."""
    return Motion(Vector.zero(), -model.gravity)
