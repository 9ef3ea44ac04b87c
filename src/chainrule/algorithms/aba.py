"""Forward dynamics: the articulated-body algorithm (Featherstone, table 7.1), and M^-1 applied by it."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.joint_forces import armature, drive_torque
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
    drives = drive_torque(model, q, qd, [0] * model.nv)
    net = [t - d for t, d in zip(tau, drives, strict=True)]
    return hybrid_dynamics(model, q, qd, net, wrenches)[0]


def hybrid_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    free: Scalars | None = None,
    given: Scalars | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations where some joints move freely and others as told (Featherstone, section 9.2).

    Joint i is free where free[i] is 1; where it is 0 its acceleration is given[i], zero if there is no such list.
    tau is what acts along the joints in all, springs and friction included. The second result is the excess: what
    of tau_i a held joint's motion does not need, zero for free ones. For trees without mimic joints.
    """
    bodies = model.at(q)
    V = twists_of(bodies, qd)
    carried = [V[body.index].cross(body.along(qd)) + body.velocity_product(qd) for body in bodies]
    resisting = [Force.zero()]
    for body in bodies:
        Vi = V[body.index]
        resisting.append(Vi.cross(body.inertia * Vi))
    for index, wrench in (wrenches or {}).items():
        resisting[index] = resisting[index] - wrench
    return yielding(model, bodies, tau, carried, resisting, held(model), free, given)


def apply_inverse_mass(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """M^-1 x, without forming M or its inverse."""
    if model.has_mimics:
        return solve_symmetric(mass_matrix(model, q), x)
    return hybrid_impulse(model, q, x)[0]


def hybrid_impulse(
    model: Model, q: Scalars, x: Scalars, free: Scalars | None = None, given: Scalars | None = None
) -> tuple[list[Scalar], list[Scalar]]:
    """Jumps of the velocities under joint impulses x, of free joints and of joints that are told: see above."""
    bodies = model.at(q)
    still = [Motion.zero()] * len(bodies)
    unloaded = [Force.zero()] * (len(bodies) + 1)
    return yielding(model, bodies, x, still, unloaded, Motion.zero(), free, given)


def yielding(
    model: Model,
    bodies: Sequence[Placed],
    tau: Scalars,
    carried: Sequence[Motion],
    resisting: Sequence[Force],
    base: Motion,
    free: Scalars | None = None,
    given: Scalars | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations of joints under torques tau, and the excess of tau over what they need.

    `carried` is the part of each body's acceleration that its velocity makes, `resisting` the wrench each link
    needs at zero acceleration. Tip to base, every joint yields along its screws, one after the other, and its
    parent sees what inertia I and wrench p remain: F = I A + p. Base to tip, the accelerations follow. A joint that
    is not free does not yield, and hands on all it feels.
    """
    rotor = armature(model)
    told: Scalars = [0] * model.nv
    if given is not None and free is not None:
        told = [a * (1 - f) for a, f in zip(given, free, strict=True)]
    I = [None, *(ArticulatedInertia.of(body.inertia) for body in bodies)]
    p = list(resisting)
    steps: list[list[tuple[int, Motion, Force, Scalar, Scalar, Scalar]]] = [[] for _ in bodies]
    for body, A, solved in zip(reversed(bodies), reversed(carried), reversed(steps), strict=True):
        Ii, pi = I[body.index], p[body.index]
        assert Ii is not None
        for i, S in body.S:
            U = Ii * S
            d = S.dot(U) + rotor[i]
            y = (1 if free is None else free[i]) / d
            u = tau[i] - S.dot(pi)
            Ii, pi = Ii.without(U, y), pi + U * (u * y + told[i])
            solved.append((i, S, U, d, y, u))
        if body.parent:
            above = I[body.parent]
            assert above is not None
            I[body.parent] = above + body.T * Ii
            p[body.parent] = p[body.parent] + body.T * (pi + Ii * A)
    qdd: list[Scalar] = [0] * model.nv
    excess: list[Scalar] = [0] * model.nv
    accelerations = [base]
    for body, A, solved in zip(bodies, carried, steps, strict=True):
        a = body.T.inv * accelerations[body.parent] + A
        for i, S, U, d, y, u in reversed(solved):
            short = u - U.dot(a)
            qdd[i] = short * y + told[i]
            excess[i] = short - d * qdd[i]
            a = a + S * qdd[i]
        accelerations.append(a)
    return qdd, excess
