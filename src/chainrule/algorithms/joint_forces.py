"""Torques along a joint's own axis: rotor, spring, friction and the stops at its limits."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chainrule.model import Model
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import is_zero, maximum, where

Scalars = Sequence[Scalar]


def drive_torque(model: Model, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """Torques that rotors, springs and friction need together."""
    parts = (rotor_torque(model, qdd), spring_torque(model, q), friction_torque(model, qd))
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
    """Torques k (q - rest) that hold the springs."""
    tau: list[Scalar] = [0] * model.nv
    for body in model.bodies:
        for (i, k, dof), x in zip(body.dofs, body.coordinates(q), strict=False):
            if not is_zero(dof.stiffness):
                tau[i] = tau[i] + (x - dof.rest) * dof.stiffness * k
    return tau


def spring_energy(model: Model, q: Scalars) -> Scalar:
    """Energy of the springs, k (q - rest)^2 / 2, in J."""
    energy: Scalar = 0
    for body in model.bodies:
        for (_, _, dof), x in zip(body.dofs, body.coordinates(q), strict=False):
            if not is_zero(dof.stiffness):
                energy = energy + (x - dof.rest) * (x - dof.rest) * dof.stiffness / 2
    return energy


def friction_torque(model: Model, qd: Scalars) -> list[Scalar]:
    """Torques that overcome viscous and Coulomb friction; the latter is zero at rest."""
    dry = dry_friction(model, qd)
    return [a + b for a, b in zip(viscous_torque(model, qd), dry, strict=True)]


def viscous_torque(model: Model, qd: Scalars) -> list[Scalar]:
    """Torques that overcome the friction in proportion to the velocity."""
    tau: list[Scalar] = [0] * model.nv
    for body in model.bodies:
        for (i, k, dof), rate in zip(body.dofs, body.rates(qd), strict=True):
            if not is_zero(dof.viscous):
                tau[i] = tau[i] + rate * dof.viscous * k
    return tau


def dry_friction(model: Model, direction: Scalars) -> list[Scalar]:
    """Torques that overcome Coulomb friction in a motion with the signs of `direction`."""
    return [
        0 if is_zero(up) and is_zero(down) else where(d > 0, up, where(d < 0, -down, 0 * up))
        for d, up, down in zip(direction, *coulomb_limits(model), strict=True)
    ]


def coulomb_limits(model: Model) -> tuple[list[Scalar], list[Scalar]]:
    """Largest Coulomb friction of each velocity: against positive motion, and against negative motion."""
    up: list[Scalar] = [0] * model.nv
    down: list[Scalar] = [0] * model.nv
    for body in model.bodies:
        for i, k, dof in body.dofs:
            if not (is_zero(dof.coulomb) and is_zero(dof.coulomb_negative)):
                one, other = dof.coulomb, dof.coulomb_negative
                up[i] = up[i] + where(k > 0, one, other) * abs(k)
                down[i] = down[i] + where(k > 0, other, one) * abs(k)
    return up, down


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
