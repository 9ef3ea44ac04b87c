"""Torques along a joint's own axis: rotor, spring and the stops at its limits; those of friction are in `friction`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chainrule.algorithms.friction import dry_friction, friction_torque
from chainrule.model import Body, Model
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import is_zero, maximum, where

Scalars = Sequence[Scalar]

__all__ = [
    "armature", "deflections", "drive_torque", "dry_friction", "friction_torque", "rotor_torque", "spring_energy",
    "spring_torque", "stop_torque",
]  # fmt: skip


def drive_torque(model: Model, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """Torques that rotors, springs and friction need together."""
    parts = (rotor_torque(model, qdd), spring_torque(model, q), friction_torque(model, q, qd))
    return [a + b + c for a, b, c in zip(*parts, strict=True)]


def armature(model: Model) -> list[Scalar]:
    """Inertia of the rotors on the joint side, gear^2 J: their part of the diagonal of M."""
    total: list[Scalar] = [0] * model.nv
    for body in model.bodies:
        for i, k, dof in body.dofs:
            if not is_zero(dof.rotor):
                total[i] = total[i] + dof.armature * k * k
    return total


def rotor_torque(model: Model, qdd: Scalars) -> list[Scalar]:
    """Torques gear^2 J qdd that accelerate the rotors."""
    return [0 if is_zero(J) else J * a for J, a in zip(armature(model), qdd, strict=True)]


def spring_torque(model: Model, q: Scalars) -> list[Scalar]:
    """Torques k (q - rest) that hold the springs of joints."""
    tau: list[Scalar] = [0] * model.nv
    for body in model.bodies:
        for (i, k, dof), x in zip(body.dofs, deflections(body, q), strict=False):
            if not is_zero(dof.stiffness):
                tau[i] = tau[i] + x * dof.stiffness * k
    return tau


def deflections(body: Body, q: Scalars) -> Sequence[Scalar]:
    """Displacement of a joint from where its springs rest: for a ball joint, the rotation vector from there.

    Its energy k |e|^2 / 2 then has the gradient k e, in the axes of the moving link.
    """
    own, kind = body.coordinates(q), body.joint.kind
    rest = [dof.rest for dof in body.joint.dofs]
    if kind.nq == kind.nv:
        return [x - r for x, r in zip(own, rest, strict=True)]
    if all(is_zero(dof.stiffness) for dof in body.joint.dofs):
        return []
    return kind.difference(kind.integrate(kind.neutral(), rest), own)


def spring_energy(model: Model, q: Scalars) -> Scalar:
    """Energy of the springs, k (q - rest)^2 / 2, in J."""
    energy: Scalar = 0
    for body in model.bodies:
        for (_, _, dof), x in zip(body.dofs, deflections(body, q), strict=False):
            if not is_zero(dof.stiffness):
                energy = energy + x * x * dof.stiffness / 2
    return energy


def stop_torque(model: Model, q: Scalars, qd: Scalars, stiffness: Scalars, damping: Scalars) -> list[Scalar]:
    """Torques into stops at the joint limits: k depth + d rate while that pushes back, zero within the limits."""
    tau: list[Scalar] = [0] * model.nv
    for body in model.bodies:
        for (i, k, dof), x, rate in zip(body.dofs, body.coordinates(q), body.rates(qd), strict=False):
            for limit, sign in ((dof.upper, 1), (dof.lower, -1)):
                if abs(limit) < math.inf:
                    depth = (x - limit) * sign
                    push = stiffness[i] * depth + damping[i] * rate * sign
                    tau[i] = tau[i] + where(depth > 0, maximum(push, 0 * push), 0 * push) * (k * sign)
    return tau
