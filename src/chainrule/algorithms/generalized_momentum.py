"""Generalized momentum p = M qd, and the torques with which it changes: what momentum observers compare.

In the base frame, p_i = S_i . H_i with H_i the momentum of all links that joint i carries, so that
dp_i/dt = S_i . dH_i/dt + dS_i/dt . H_i: the torques of motors, of gravity and of the world, and C^T qd.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.joint_forces import armature, friction_torque, spring_torque
from chainrule.algorithms.kinematics import gravity_as_base_acceleration, twists_of
from chainrule.algorithms.rnea import body_torque, inward, project
from chainrule.algorithms.springs import with_springs
from chainrule.model import Model, PosedBody
from chainrule.spatial import Scalar, Twist, Wrench
from chainrule.spatial.scalar import is_zero

Scalars = Sequence[Scalar]


def momentum_and_drift(model: Model, q: Scalars, qd: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """p = M qd and d = C^T qd - g - springs - friction: dp/dt = tau + d + J^T w for wrenches w of the world."""
    bodies = model.at(q)
    V = twists_of(bodies, qd)
    H = inward(bodies, [Wrench.zero(), *(body.inertia * V[body.index] for body in bodies)])
    p = [x if is_zero(J) else x + J * v for x, J, v in zip(project(model, bodies, H), armature(model), qd, strict=True)]
    held = _holding_torque(model, q, qd)
    return p, [c - h for c, h in zip(_turning_torque(model, bodies, V, H, qd), held, strict=True)]


def _turning_torque(
    model: Model, bodies: Sequence[PosedBody], V: Sequence[Twist], H: Sequence[Wrench], qd: Scalars
) -> list[Scalar]:
    """C^T qd, as dS/dt . H: joint screws turn with their links."""
    tau: list[Scalar] = [0] * model.nv
    for body in bodies:
        for (i, S), ring in zip(body.S, body.S_rate(qd), strict=True):
            tau[i] = tau[i] + (V[body.index].cross(S) + ring).dot(H[body.index])
    return tau


def _holding_torque(model: Model, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Torques against gravity, springs, dampers and friction at the velocity qd."""
    rest = [0] * model.nv
    links = body_torque(model, q, rest, rest, gravity_as_base_acceleration(model), with_springs(model, q, qd, None))
    parts = (links, spring_torque(model, q), friction_torque(model, q, qd))
    return [a + b + c for a, b, c in zip(*parts, strict=True)]
