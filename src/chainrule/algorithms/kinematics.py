"""Poses, twists and accelerations of every link: one pass from the base to the tips.

Lists are indexed by link; entry 0 is the base.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.model import Body, Model, PosedBody
from chainrule.spatial import Scalar, Transform, Twist, Vector

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


def relative_pose(model: Model, q: Scalars, name: str, relative_to: str) -> Transform:
    """Pose of one link or frame in another; joints below the last link that carries both play no part."""
    (index, offset), (other, other_offset) = model.locate(name), model.locate(relative_to)
    own, others = model.ancestors(index), model.ancestors(other)
    shared = sum(1 for a, b in zip(own, others, strict=False) if a.index == b.index)
    T, T_other = Transform.identity(), Transform.identity()
    for body in own[shared:]:
        T = T * body.at(q).T
    for body in others[shared:]:
        T_other = T_other * body.at(q).T
    return (T_other * other_offset).inv * (T * offset)


def twists(model: Model, q: Scalars, qd: Scalars) -> list[Twist]:
    """Twists V_i of all links, each in its own frame (Lynch & Park, eq. 8.50)."""
    return twists_of(model.at(q), qd)


def twists_of(bodies: Sequence[PosedBody], qd: Scalars) -> list[Twist]:
    """Twists V_i of all links, for bodies in one configuration."""
    V = [Twist.zero()]
    for body in bodies:
        V.append(body.T.inv * V[body.parent] + body.along(qd))
    return V


def velocity(model: Model, q: Scalars, qd: Scalars, name: str, frame: str = "world") -> Twist:
    """Twist of a link or frame: "world", at its origin in base axes; "body", in its own; "space", at the base."""
    index, offset = model.locate(name)
    T, V = Transform.identity(), Twist.zero()
    for body in model.ancestors(index):
        posed = body.at(q)
        T, V = T * posed.T, posed.T.inv * V + posed.along(qd)
    return _in_frame(T * offset, offset.inv * V, frame)


def velocities(model: Model, q: Scalars, qd: Scalars, frame: str = "world") -> list[Twist]:
    """Twists of all links, each in the frame that `velocity` has."""
    bodies = model.at(q)
    pairs = zip(poses_of(bodies), twists_of(bodies, qd), strict=True)
    return [_in_frame(T, V, frame) for T, V in pairs]


def _in_frame(T: Transform, V: Twist, frame: str) -> Twist:
    """A twist, or the rate of one, that is given in the axes of a frame with the pose T."""
    if frame == "body":
        return V
    return T * V if frame == "space" else Twist(T.rotation * V.angular, T.rotation * V.linear)


def acceleration(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, name: str, frame: str = "world", gravity: bool = False
) -> Twist:
    """Angular acceleration of a link or frame and acceleration of its origin, in base axes or its own.

    The second is d2p/dt2, not the rate dv/dt of the twist's linear part in moving axes: d2p/dt2 = dv/dt + omega x v.
    "space" is the rate of the twist at the base's origin. gravity: with the acceleration -g of the base.
    """
    index, offset = model.locate(name)
    base = gravity_as_base_acceleration(model) if gravity else Twist.zero()
    T, V, A = along_chain(model.ancestors(index), q, qd, qdd, base)
    return _acceleration_in_frame(T * offset, offset.inv * V, offset.inv * A, frame)


def accelerations(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, frame: str = "world", gravity: bool = False
) -> list[Twist]:
    """Accelerations of all links, each in the frame that `acceleration` has."""
    base = gravity_as_base_acceleration(model) if gravity else Twist.zero()
    bodies = model.at(q)
    V, A = outward(bodies, qd, qdd, base)
    return [_acceleration_in_frame(*of_link, frame) for of_link in zip(poses_of(bodies), V, A, strict=True)]


def _acceleration_in_frame(T: Transform, V: Twist, A: Twist, frame: str) -> Twist:
    """The acceleration of a frame of pose T, of its twist V and the rate A of that."""
    return T * A if frame == "space" else _in_frame(T, Twist(A.angular, origin_acceleration(V, A)), frame)


def along_chain(
    chain: Sequence[Body], q: Scalars, qd: Scalars, qdd: Scalars, base: Twist
) -> tuple[Transform, Twist, Twist]:
    """Pose of the last link of a chain in the frame that its first joint is on, its twist, and the rate of that."""
    T, V, A = Transform.identity(), Twist.zero(), base
    for body in chain:
        posed = body.at(q)
        VJ = posed.along(qd)
        T, V = T * posed.T, posed.T.inv * V + VJ
        A = posed.T.inv * A + V.cross(VJ) + posed.velocity_product(qd) + posed.along(qdd)
    return T, V, A


def origin_acceleration(V: Twist, A: Twist) -> Vector:
    """Acceleration d2p/dt2 of a frame's origin, in its own axes, of its twist and the rate of that."""
    return A.linear + V.angular.cross(V.linear)


def outward(bodies: Sequence[PosedBody], qd: Scalars, qdd: Scalars, base: Twist) -> tuple[list[Twist], list[Twist]]:
    """Twists V_i and their rates A_i, for a given acceleration of the base (Lynch & Park, eqs. 8.50-8.51)."""
    V, A = [Twist.zero()], [base]
    for body in bodies:
        VJ = body.along(qd)
        Vi = body.T.inv * V[body.parent] + VJ
        V.append(Vi)
        A.append(body.T.inv * A[body.parent] + Vi.cross(VJ) + body.velocity_product(qd) + body.along(qdd))
    return V, A


def screw_changes(body: PosedBody, nv: int) -> list[tuple[int, list[Twist]]]:
    """Changes of a joint's screws with each of its coordinates, as the link sees them, by place in qd.

    They are zero for all but universal and planar joints.
    """
    return [(k, body.S_rate([int(i == k) for i in range(nv)])) for k, _ in body.S]


def gravity_as_base_acceleration(model: Model) -> Twist:
    """Acceleration -g of the base, which has the same effect on every link as gravity."""
    return Twist(Vector.zero(), -model.gravity)
