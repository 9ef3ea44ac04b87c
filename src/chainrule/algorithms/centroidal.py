"""Center of mass and momentum of the whole robot without its base link.

The inertia of a rotor belongs to its joint, not to a body: rotors add nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.kinematics import poses_of, twists_of
from chainrule.model import Model, PosedBody
from chainrule.spatial import (
    Force,
    Inertia,
    Rotation,
    Scalar,
    Transform,
    Vector,
)

Scalars = Sequence[Scalar]


def center_of_mass(model: Model, q: Scalars) -> Vector:
    """Center of mass of all moving links, in the base frame (m)."""
    bodies = model.at(q)
    return _composite_inertias(bodies, poses_of(bodies))[0].com


def momentum(model: Model, q: Scalars, qd: Scalars) -> Force:
    """Angular momentum about the base's origin and linear momentum, in base axes (kg m^2/s, kg m/s)."""
    bodies = model.at(q)
    T, V = poses_of(bodies), twists_of(bodies, qd)
    total = Force.zero()
    for body in bodies:
        total = total + T[body.index] * (body.inertia * V[body.index])
    return total


def centroidal_momentum(model: Model, q: Scalars, qd: Scalars) -> Force:
    """Angular momentum about the center of mass and linear momentum, in base axes (kg m^2/s, kg m/s)."""
    return _at(center_of_mass(model, q)).inv * momentum(model, q, qd)


def momentum_matrix(model: Model, q: Scalars, about: Vector) -> list[Force]:
    """Matrix A, by columns, with A qd the momentum about a point, in base axes."""
    bodies = model.at(q)
    T = poses_of(bodies)
    composite = _composite_inertias(bodies, T)
    columns = [Force.zero()] * model.nv
    for body in bodies:
        for i, S in body.S:
            columns[i] = columns[i] + _at(about).inv * (composite[body.index] * (T[body.index] * S))
    return columns


def centroidal_momentum_matrix(model: Model, q: Scalars) -> list[Force]:
    """Matrix A_G, by columns, with A_G qd the centroidal momentum (Orin & Goswami 2008, angular part first)."""
    return momentum_matrix(model, q, center_of_mass(model, q))


def center_of_mass_jacobian(model: Model, q: Scalars) -> list[Vector]:
    """Jacobian J, by columns, with J qd the velocity of the center of mass, in base axes."""
    bodies = model.at(q)
    T = poses_of(bodies)
    composite = _composite_inertias(bodies, T)
    mass = composite[0].mass
    columns = [Vector.zero()] * model.nv
    for body in bodies:
        for i, S in body.S:
            columns[i] = columns[i] + (composite[body.index] * (T[body.index] * S)).force / mass
    return columns


def _composite_inertias(bodies: Sequence[PosedBody], T: Sequence[Transform]) -> list[Inertia]:
    """Inertia of each link with all links it carries, in the base frame; entry 0 is that of all moving links."""
    I = [Inertia.zero(), *(T[body.index] * body.inertia for body in bodies)]
    for body in reversed(bodies):
        I[body.parent] = I[body.parent] + I[body.index]
    return I


def _at(point: Vector) -> Transform:
    return Transform(Rotation.identity(), point)
