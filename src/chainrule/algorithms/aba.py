"""Forward dynamics: the articulated-body algorithm (Featherstone, table 7.1), and M^-1 applied by it."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.drives import armature, drive_torque
from chainrule.algorithms.kinematics import held, twists_of
from chainrule.algorithms.rnea import Wrenches, bias
from chainrule.model import Model, Placed
from chainrule.spatial import ArticulatedInertia, Force, Motion, Scalar
from chainrule.spatial.linear import solve_symmetric

Scalars = Sequence[Scalar]


def forward_dynamics(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Wrenches | None = None
) -> list[Scalar]:
    """qdd = M^-1 (tau - h): the accelerations that the torques tau produce."""
    if (
        model.has_mimics
    ):  # a joint that follows another one is not free to yield, which is what this algorithm eliminates
        net = [t - h for t, h in zip(tau, bias(model, q, qd, wrenches), strict=True)]
        return solve_symmetric(mass_matrix(model, q), net)
    bodies = model.at(q)
    V = twists_of(bodies, qd)
    carried = [V[body.index].cross(body.along(qd)) + body.velocity_product(qd) for body in bodies]
    resisting = [Force.zero()]
    for body in bodies:
        Vi = V[body.index]
        resisting.append(Vi.cross(body.inertia * Vi))
    for index, wrench in (wrenches or {}).items():
        resisting[index] = resisting[index] - wrench
    drives = drive_torque(model, q, qd, [0] * model.nv)
    net = [t - d for t, d in zip(tau, drives, strict=True)]
    return yielding(model, bodies, net, carried, resisting, held(model))


def apply_inverse_mass(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """M^-1 x, without forming M or its inverse."""
    if model.has_mimics:
        return solve_symmetric(mass_matrix(model, q), x)
    bodies = model.at(q)
    still = [Motion.zero()] * len(bodies)
    unloaded = [Force.zero()] * (len(bodies) + 1)
    return yielding(model, bodies, x, still, unloaded, Motion.zero())


def yielding(
    model: Model,
    bodies: Sequence[Placed],
    tau: Scalars,
    carried: Sequence[Motion],
    resisting: Sequence[Force],
    base: Motion,
) -> list[Scalar]:
    """Accelerations of joints under torques tau.

    `carried` is the part of each body's acceleration that its velocity makes, `resisting` the wrench each link
    needs at zero acceleration. Tip to base, every joint yields along its screws, one after the other, and its
    parent sees what inertia I and wrench p remain: F = I A + p. Base to tip, the accelerations follow.
    """
    rotor = armature(model)
    I = [None, *(ArticulatedInertia.of(body.inertia) for body in bodies)]
    p = list(resisting)
    steps: list[list[tuple[int, Motion, Force, Scalar, Scalar]]] = [[] for _ in bodies]
    for body, A, solved in zip(reversed(bodies), reversed(carried), reversed(steps), strict=True):
        Ii, pi = I[body.index], p[body.index]
        assert Ii is not None
        for i, S in body.S:
            U = Ii * S
            d = S.dot(U) + rotor[i]
            u = tau[i] - S.dot(pi)
            Ii, pi = Ii.without(U, d), pi + U * (u / d)
            solved.append((i, S, U, d, u))
        if body.parent:
            above = I[body.parent]
            assert above is not None
            I[body.parent] = above + body.T * Ii
            p[body.parent] = p[body.parent] + body.T * (pi + Ii * A)
    qdd: list[Scalar] = [0] * model.nv
    accelerations = [base]
    for body, A, solved in zip(bodies, carried, steps, strict=True):
        a = body.T.inv * accelerations[body.parent] + A
        for i, S, U, d, u in reversed(solved):
            qdd[i] = (u - U.dot(a)) / d
            a = a + S * qdd[i]
        accelerations.append(a)
    return qdd
