"""Kinetic and potential energy, in J."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.joint_forces import armature
from chainrule.algorithms.joint_forces import spring_energy as joint_spring_energy
from chainrule.algorithms.kinematics import poses_of, twists_of
from chainrule.algorithms.springs import spring_energy
from chainrule.model import Model
from chainrule.spatial import Scalar
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
