"""Jacobians of any link or frame, in world, body and space form, and their rates.

Columns are indexed by velocity coordinate. "world": angular velocity and velocity of the frame's origin, in base axes;
"body": the twist in the frame's own axes; "space": the twist at the base's origin in base axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.euler import angles, rates
from chainrule.algorithms.kinematics import pose, screw_changes
from chainrule.model import Model
from chainrule.spatial import Motion, Rotation, Scalar, Transform, Vector

Scalars = Sequence[Scalar]
FRAMES = ("world", "body", "space")


def jacobian(model: Model, q: Scalars, name: str, frame: str = "world") -> list[Motion]:
    """Jacobian J, by columns, with J qd the twist of the link or frame `name` (Lynch & Park, section 5.1)."""
    index, offset = model.locate(name)
    T = Transform.identity()
    columns = [Motion.zero()] * model.nv
    for body in model.ancestors(index):
        posed = body.at(q)
        T = T * posed.T
        for i, S in posed.S:
            columns[i] = columns[i] + T * S
    T = T * offset
    if frame == "space":
        return columns
    if frame == "body":
        return [T.inv * S for S in columns]
    to_origin = Transform(Rotation.identity(), T.translation)
    return [to_origin.inv * S for S in columns]


def jacobian_derivative(model: Model, q: Scalars, qd: Scalars, name: str, frame: str = "world") -> list[Motion]:
    """Rate dJ/dt: in the base frame, every screw moves with the twist of the link it is fixed to."""
    index, offset = model.locate(name)
    T, V = Transform.identity(), Motion.zero()
    columns, rates = [Motion.zero()] * model.nv, [Motion.zero()] * model.nv
    for body in model.ancestors(index):
        posed = body.at(q)
        T = T * posed.T
        V = V + T * posed.along(qd)
        for (i, S), ring in zip(posed.S, posed.S_rate(qd), strict=True):
            in_base = T * S
            columns[i] = columns[i] + in_base
            rates[i] = rates[i] + V.cross(in_base) + T * ring
    T = T * offset
    if frame == "space":
        return rates
    if frame == "body":  # columns seen by an observer who moves with V
        return [T.inv * (rate - V.cross(S)) for S, rate in zip(columns, rates, strict=True)]
    to_origin = Transform(Rotation.identity(), T.translation)
    drift = Motion(Vector.zero(), (to_origin.inv * V).linear)  # the observer moves with the origin but does not turn
    return [to_origin.inv * (rate - drift.cross(S)) for S, rate in zip(columns, rates, strict=True)]


def kinematic_hessian(model: Model, q: Scalars, name: str, frame: str = "world") -> list[list[Motion]]:
    """Derivatives H[k][i] = dJ_i/dq_k of the columns of a Jacobian along each velocity.

    In the base frame, a joint k moves all screws after it by the bracket S_k x S_i, and its own ones as its kind says
    besides. In the other two forms the observer moves along: with the link, or with its origin.
    """
    index, offset = model.locate(name)
    zero = Motion.zero()
    T, S = Transform.identity(), [zero] * model.nv
    H = [[zero] * model.nv for _ in range(model.nv)]
    for body in model.ancestors(index):
        posed = body.at(q)
        T = T * posed.T
        own = [(i, T * S_i) for i, S_i in posed.S]
        for i, S_i in own:
            S[i] = S[i] + S_i
        for i, S_i in own:
            for k in range(model.nv):
                if S[k] is not zero:
                    H[k][i] = H[k][i] + S[k].cross(S_i)
        for k, changes in screw_changes(posed, model.nv):
            for (i, _), change in zip(own, changes, strict=True):
                if change is not zero:
                    H[k][i] = H[k][i] + T * change
    if frame == "space":
        return H
    T = T * offset
    to_origin = Transform(Rotation.identity(), T.translation)
    result = []
    for k in range(model.nv):
        if frame == "body":
            result.append([T.inv * (rate - S[k].cross(S_i)) for S_i, rate in zip(S, H[k], strict=True)])
        else:
            drift = Motion(Vector.zero(), (to_origin.inv * S[k]).linear)
            result.append([to_origin.inv * (rate - drift.cross(S_i)) for S_i, rate in zip(S, H[k], strict=True)])
    return result


def analytic_jacobian(model: Model, q: Scalars, name: str, order: str = "rpy") -> list[list[Scalar]]:
    """Jacobian of the pose vector, by rows (x, y, z, and three angles), in base axes."""
    at = angles(pose(model, q, name).rotation, order)
    world = jacobian(model, q, name, "world")
    turning = [rates(S.angular, at, order) for S in world]
    return [
        *([getattr(S.linear, axis) for S in world] for axis in "xyz"),
        *([rate[k] for rate in turning] for k in range(3)),
    ]


def pose_vector(model: Model, q: Scalars, name: str, order: str = "rpy") -> list[Scalar]:
    """Pose vector (x, y, z, and three angles) of a link or frame."""
    T = pose(model, q, name)
    return [*T.translation, *angles(T.rotation, order)]
