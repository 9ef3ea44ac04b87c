"""Jacobians of any link or frame, in world, body and space form, and their rates.

Columns are indexed by velocity coordinate. "world": angular velocity and velocity of the frame's origin, in base axes;
"body": the twist in the frame's own axes; "space": the twist at the base's origin in base axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.euler import angles, rates
from chainrule.algorithms.kinematics import pose, screw_changes
from chainrule.model import Model
from chainrule.spatial import Rotation, Scalar, Transform, Twist, Vector

Scalars = Sequence[Scalar]
FRAMES = ("world", "body", "space")


def jacobian(model: Model, q: Scalars, name: str, frame: str = "world") -> list[Twist]:
    """Jacobian J, by columns, with J qd the twist of the link or frame `name` (Lynch & Park, section 5.1)."""
    index, offset = model.locate(name)
    T = Transform.identity()
    columns = [Twist.zero()] * model.nv
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


def jacobian_dot(model: Model, q: Scalars, qd: Scalars, name: str, frame: str = "world") -> list[Twist]:
    """Rate dJ/dt: in the base frame, every screw moves with the twist of the link it is fixed to."""
    index, offset = model.locate(name)
    T, V = Transform.identity(), Twist.zero()
    columns, rates = [Twist.zero()] * model.nv, [Twist.zero()] * model.nv
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
    drift = Twist(Vector.zero(), (to_origin.inv * V).linear)  # the observer moves with the origin but does not turn
    return [to_origin.inv * (rate - drift.cross(S)) for S, rate in zip(columns, rates, strict=True)]


def jacobian_dq(model: Model, q: Scalars, name: str, frame: str = "world") -> list[list[Twist]]:
    """Derivatives H[k][i] = dJ_i/dq_k of the columns of a Jacobian along each velocity.

    Joint k moves its own axes and those of all joints after it, and so their columns. Where the frame moves along with
    the link or its origin, it also moves that frame relative to the axes before it.
    """
    index, offset = model.locate(name)
    T, axes = Transform.identity(), []
    for place, body in enumerate(model.ancestors(index)):
        posed = body.at(q)
        T = T * posed.T
        own = screw_changes(posed, model.nv)
        axes += [(place, i, T * S, [(k, T * D[n]) for k, D in own]) for n, (i, S) in enumerate(posed.S)]
    T = T * offset
    to_frame = {"space": Transform.identity(), "body": T, "world": Transform(Rotation.identity(), T.translation)}[frame]
    columns = [(place, i, to_frame.inv * S) for place, i, S, _ in axes]
    H = [[Twist.zero()] * model.nv for _ in range(model.nv)]
    for place, i, S_i in columns:
        for other, k, S_k in columns:
            if other <= place:
                H[k][i] = H[k][i] + _change_of_column(S_i, S_k, frame)
            elif frame != "space":
                H[k][i] = H[k][i] + _change_of_view(S_i, S_k, frame)
    for _, i, _, changes in axes:
        for k, change in changes:
            H[k][i] = H[k][i] + to_frame.inv * change
    return H


def _change_of_column(S_i: Twist, S_k: Twist, frame: str) -> Twist:
    """Change of a column with a joint that carries its own: in base axes it moves along, in the body's it stays."""
    if frame == "body":
        return Twist.zero()
    if frame == "space":
        return S_k.cross(S_i)
    return Twist(S_k.angular.cross(S_i.angular), S_k.angular.cross(S_i.linear))


def _change_of_view(S_i: Twist, S_k: Twist, frame: str) -> Twist:
    """Change of a column with a joint after its own, which moves the frame by S_k: as a whole, or its origin."""
    return S_i.cross(S_k) if frame == "body" else Twist(Vector.zero(), S_i.angular.cross(S_k.linear))


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
