"""What acts along a joint's own axis: rotor, spring and friction."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.model import Model
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import is_zero, where

Scalars = Sequence[Scalar]


def drive_torque(model: Model, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """Torques for rotors, springs and friction together."""
    parts = (rotor_torque(model, qdd), spring_torque(model, q), friction_torque(model, qd))
    return [a + b + c for a, b, c in zip(*parts, strict=True)]


def armature(model: Model) -> list[Scalar]:
    """The rotors' inertia on the joint side, gear^2 J: what they add to the diagonal of M."""
    total: list[Scalar] = [0] * model.nv
    for body in model.bodies:
        for i, k, dof in body.dofs:
            if not is_zero(dof.rotor):
                total[i] = total[i] + dof.armature * k * k
    return total


def rotor_torque(model: Model, qdd: Scalars) -> list[Scalar]:
    return [0 if is_zero(J) else J * a for J, a in zip(armature(model), qdd, strict=True)]


def spring_torque(model: Model, q: Scalars) -> list[Scalar]:
    """k (q - rest): what it takes to hold the springs."""
    tau: list[Scalar] = [0] * model.nv
    for body in model.bodies:
        for (i, k, dof), x in zip(body.dofs, body.coordinates(q), strict=False):
            if not is_zero(dof.stiffness):
                tau[i] = tau[i] + (x - dof.rest) * dof.stiffness * k
    return tau


def spring_energy(model: Model, q: Scalars) -> Scalar:
    """k (q - rest)^2 / 2, in J."""
    energy: Scalar = 0
    for body in model.bodies:
        for (_, _, dof), x in zip(body.dofs, body.coordinates(q), strict=False):
            if not is_zero(dof.stiffness):
                energy = energy + (x - dof.rest) * (x - dof.rest) * dof.stiffness / 2
    return energy


def friction_torque(model: Model, qd: Scalars) -> list[Scalar]:
    """Viscous and Coulomb friction to be overcome; Coulomb friction is zero at rest."""
    tau: list[Scalar] = [0] * model.nv
    for body in model.bodies:
        for (i, k, dof), rate in zip(body.dofs, body.rates(qd), strict=True):
            if not is_zero(dof.viscous):
                tau[i] = tau[i] + rate * dof.viscous * k
            if not (is_zero(dof.coulomb) and is_zero(dof.coulomb_negative)):
                dry = where(rate > 0, dof.coulomb, where(rate < 0, -dof.coulomb_negative, 0 * dof.coulomb))
                tau[i] = tau[i] + dry * k
    return tau
