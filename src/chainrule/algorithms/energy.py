"""Kinetic and potential energy, in J, and their derivatives along each velocity."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.joint_forces import armature
from chainrule.algorithms.joint_forces import spring_energy as joint_spring_energy
from chainrule.algorithms.kinematics import poses_of, screw_changes, twists_of
from chainrule.algorithms.rnea import gravity_torque, inward
from chainrule.algorithms.springs import spring_energy
from chainrule.algorithms.terms import add, spring_torque
from chainrule.model import Model
from chainrule.spatial import Scalar, Wrench
from chainrule.spatial.scalar import is_zero

Scalars = Sequence[Scalar]


def kinetic_energy(model: Model, q: Scalars, qd: Scalars) -> Scalar:
    """Kinetic energy qd^T M qd / 2: the sum of V^T G V / 2 over the links and of J qd^2 / 2 over the rotors."""
    bodies = model.at(q)
    V = twists_of(bodies, qd)
    energy: Scalar = 0
    for body in bodies:
        energy = energy + body.inertia.kinetic_energy(V[body.index])
    for J, rate in zip(armature(model), qd, strict=True):
        if not is_zero(J):
            energy = energy + J * rate * rate / 2
    return energy


def potential_energy(model: Model, q: Scalars) -> Scalar:
    """Potential energy of gravity on all links but the base, -m g . c, and of the springs."""
    bodies = model.at(q)
    T = poses_of(bodies)
    energy = joint_spring_energy(model, q) + spring_energy(model, q)
    for body in bodies:
        I = T[body.index] * body.inertia
        energy = energy - model.gravity.dot(I.moment)
    return energy


def kinetic_energy_derivatives(model: Model, q: Scalars, qd: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """dT/dq and dT/dqd = M qd, of the momentum H of each link with all links that it carries.

    A joint moves these links together. Seen from them, the velocity V of what carries the joint changes by V x S, so
    that dT/dq = (V x S) . H, and dT/dqd = S . H.
    """
    bodies = model.at(q)
    V = twists_of(bodies, qd)
    H = inward(bodies, [Wrench.zero(), *(body.inertia * V[body.index] for body in bodies)])
    dq: list[Scalar] = [0] * model.nv
    dqd: list[Scalar] = [J * rate for J, rate in zip(armature(model), qd, strict=True)]
    for body in bodies:
        V_parent = body.T.inv * V[body.parent]
        for (k, S), (_, changes) in zip(body.S, screw_changes(body, model.nv), strict=True):
            dq[k] = dq[k] + V_parent.cross(S).dot(H[body.index])
            dqd[k] = dqd[k] + S.dot(H[body.index])
            for (i, _), change in zip(body.S, changes, strict=True):
                dq[k] = dq[k] + change.dot(H[body.index]) * qd[i]
    return dq, dqd


def potential_energy_gradient(model: Model, q: Scalars) -> list[Scalar]:
    """dU/dq: the torques that hold the links against gravity, and the springs."""
    return add(gravity_torque(model, q), spring_torque(model, q))
