"""A point that moves in a frame that moves itself: the terms of its velocity and of its acceleration.

Frame B has its origin at BORG, the orientation R and the angular velocity Omega. The point Q is at P in B, where it
moves at V and accelerates by V_dot (Craig, Introduction to Robotics, eqs. 5.13 and 6.10).
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.kinematics import along_chain, origin_acceleration
from chainrule.model import Model
from chainrule.spatial import Rotation, Scalar, Twist, Vector

Scalars = Sequence[Scalar]


def velocity_terms(R: Rotation, Omega: Vector, origin: Vector, P: Vector, V: Vector) -> dict[str, Vector]:
    """Terms of V_Q = V_BORG + R V + Omega x R P, by name."""
    return {"origin": origin, "relative": R * V, "rotation": Omega.cross(R * P)}


def acceleration_terms(
    R: Rotation, Omega: Vector, Omega_dot: Vector, origin: Vector, P: Vector, V: Vector, V_dot: Vector
) -> dict[str, Vector]:
    """Terms of the acceleration of Q, by name; `origin` is that of BORG."""
    RP = R * P
    return {
        "origin": origin,
        "relative": R * V_dot,
        "coriolis": Omega.cross(R * V) * 2,
        "euler": Omega_dot.cross(RP),
        "centripetal": Omega.cross(Omega.cross(RP)),
    }


def relative_motion(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, name: str, frame: str
) -> tuple[Vector, Vector, Vector]:
    """P, V and V_dot of the origin of a link or frame in another one that carries it, or is fixed to the same link."""
    (index, offset), (other, other_offset) = model.locate(name), model.locate(frame)
    between = model.ancestors(index)[len(model.ancestors(other)) :]
    T, V, A = along_chain(between, q, qd, qdd, Twist.zero())
    V, A = offset.inv * V, offset.inv * A
    in_frame = other_offset.inverse() * T * offset
    R = in_frame.rotation
    return in_frame.translation, R * V.linear, R * origin_acceleration(V, A)


def carries(model: Model, frame: str, name: str) -> bool:
    """Whether a link or frame carries another: all joints that move the first move the second as well."""
    (index, _), (other, _) = model.locate(name), model.locate(frame)
    return other == 0 or other in (body.index for body in model.ancestors(index))
