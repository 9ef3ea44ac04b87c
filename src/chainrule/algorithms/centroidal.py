"""Center of mass and momentum of the whole robot without its base link.

The inertia of a rotor belongs to its joint, not to a body: rotors add nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.kinematics import poses_of, screw_changes, twists_of
from chainrule.model import Model, PosedBody
from chainrule.spatial import (
    Inertia,
    Rotation,
    Scalar,
    Transform,
    Twist,
    Vector,
    Wrench,
)

Scalars = Sequence[Scalar]


def center_of_mass(model: Model, q: Scalars) -> Vector:
    """Center of mass of all moving links, in the base frame (m)."""
    bodies = model.at(q)
    return _composite_inertias(bodies, poses_of(bodies))[0].com


def momentum(model: Model, q: Scalars, qd: Scalars) -> Wrench:
    """Angular momentum about the base's origin and linear momentum, in base axes (kg m^2/s, kg m/s)."""
    bodies = model.at(q)
    T, V = poses_of(bodies), twists_of(bodies, qd)
    total = Wrench.zero()
    for body in bodies:
        total = total + T[body.index] * (body.inertia * V[body.index])
    return total


def centroidal_momentum(model: Model, q: Scalars, qd: Scalars) -> Wrench:
    """Angular momentum about the center of mass and linear momentum, in base axes (kg m^2/s, kg m/s)."""
    return _at(center_of_mass(model, q)).inv * momentum(model, q, qd)


def momentum_matrix(model: Model, q: Scalars, about: Vector) -> list[Wrench]:
    """Matrix A, by columns, with A qd the momentum about a point, in base axes."""
    bodies = model.at(q)
    T = poses_of(bodies)
    composite = _composite_inertias(bodies, T)
    columns = [Wrench.zero()] * model.nv
    for body in bodies:
        for i, S in body.S:
            columns[i] = columns[i] + _at(about).inv * (composite[body.index] * (T[body.index] * S))
    return columns


def centroidal_momentum_matrix(model: Model, q: Scalars) -> list[Wrench]:
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


def momentum_derivatives(model: Model, q: Scalars, qd: Scalars) -> tuple[list[Wrench], list[Wrench]]:
    """dh/dq and dh/dqd, by columns, of the momentum h about the base's origin.

    With H and I of all links that a joint carries, and V the velocity of what carries it, all in the base frame:
    dh/dq = S x* H + I (V x S), and dh/dqd = I S.
    """
    bodies = model.at(q)
    T, V = poses_of(bodies), twists_of(bodies, qd)
    V0 = [T_i * V_i for T_i, V_i in zip(T, V, strict=True)]
    I = _composite_inertias(bodies, T)
    H = [Wrench.zero(), *(T[body.index] * (body.inertia * V[body.index]) for body in bodies)]
    for body in reversed(bodies):
        H[body.parent] = H[body.parent] + H[body.index]
    dq, dqd = [Wrench.zero()] * model.nv, [Wrench.zero()] * model.nv
    for body in bodies:
        for (k, S), (_, changes) in zip(body.S, screw_changes(body, model.nv), strict=True):
            S_k = T[body.index] * S
            change = V0[body.parent].cross(S_k)
            for (i, _), of_screw in zip(body.S, changes, strict=True):
                if of_screw is not Twist.zero():
                    change = change + T[body.index] * of_screw * qd[i]
            dq[k] = dq[k] + S_k.cross(H[body.index]) + I[body.index] * change
            dqd[k] = dqd[k] + I[body.index] * S_k
    return dq, dqd


def centroidal_momentum_derivatives(model: Model, q: Scalars, qd: Scalars) -> tuple[list[Wrench], list[Wrench]]:
    """dh_G/dq and dh_G/dqd = A_G, by columns, of the momentum about the center of mass, which moves with q."""
    to_center = _at(center_of_mass(model, q)).inv
    p = momentum(model, q, qd).force
    dq, dqd = momentum_derivatives(model, q, qd)
    moved = [
        to_center * column - Wrench(J.cross(p), Vector.zero())
        for column, J in zip(dq, center_of_mass_jacobian(model, q), strict=True)
    ]
    return moved, [to_center * column for column in dqd]


def _composite_inertias(bodies: Sequence[PosedBody], T: Sequence[Transform]) -> list[Inertia]:
    """Inertia of each link with all links it carries, in the base frame; entry 0 is that of all moving links."""
    I = [Inertia.zero(), *(T[body.index] * body.inertia for body in bodies)]
    for body in reversed(bodies):
        I[body.parent] = I[body.parent] + I[body.index]
    return I


def _at(point: Vector) -> Transform:
    return Transform(Rotation.identity(), point)
