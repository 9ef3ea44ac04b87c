"""Forward dynamics: the articulated-body algorithm (Featherstone, table 7.1), and M^-1 applied by it."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.joint_forces import armature, drive_torque
from chainrule.algorithms.kinematics import gravity_as_base_acceleration, twists_of
from chainrule.algorithms.loads import Wrenches
from chainrule.algorithms.rnea import bias
from chainrule.algorithms.springs import with_springs
from chainrule.model import Model, PosedBody
from chainrule.spatial import ArticulatedInertia, Scalar, Twist, Wrench
from chainrule.spatial.linear import solve_symmetric

Scalars = Sequence[Scalar]


def forward_dynamics(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Wrenches | None = None
) -> list[Scalar]:
    """Accelerations qdd = M^-1 (tau - h) that the torques tau produce."""
    if model.has_mimics:  # the algorithm eliminates each joint by itself, and a joint that follows another has no own
        net = [t - h for t, h in zip(tau, bias(model, q, qd, wrenches), strict=True)]
        return solve_symmetric(mass_matrix(model, q), net)
    drives = drive_torque(model, q, qd, [0] * model.nv)
    net = [t - d for t, d in zip(tau, drives, strict=True)]
    return hybrid_dynamics(model, q, qd, net, with_springs(model, q, qd, wrenches))[0]


def hybrid_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    is_free: Scalars | None = None,
    prescribed_acceleration: Scalars | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations where some joints move freely and others as prescribed (Featherstone, section 9.2).

    Joint i is free where is_free[i] is 1; where it is 0, its acceleration is prescribed_acceleration[i], or zero.
    tau is all that acts along the joints, springs and friction included. The second result is the excess: the part
    of tau_i that the motion of a prescribed joint does not need, zero for free joints. For trees without mimic joints.
    """
    bodies = model.at(q)
    V = twists_of(bodies, qd)
    velocity_acceleration = [V[body.index].cross(body.along(qd)) + body.velocity_product(qd) for body in bodies]
    bias_wrench = [Wrench.zero()]
    for body in bodies:
        Vi = V[body.index]
        bias_wrench.append(Vi.cross(body.inertia * Vi))
    for index, wrench in (wrenches or {}).items():
        bias_wrench[index] = bias_wrench[index] - wrench
    base = gravity_as_base_acceleration(model)
    return articulated_body_passes(
        model, bodies, tau, velocity_acceleration, bias_wrench, base, is_free, prescribed_acceleration
    )


def apply_inverse_mass(model: Model, q: Scalars, x: Scalars) -> list[Scalar]:
    """Product M^-1 x, without forming M or its inverse."""
    if model.has_mimics:
        return solve_symmetric(mass_matrix(model, q), x)
    return hybrid_impulse(model, q, x)[0]


def hybrid_impulse(
    model: Model, q: Scalars, x: Scalars, is_free: Scalars | None = None, prescribed_jump: Scalars | None = None
) -> tuple[list[Scalar], list[Scalar]]:
    """Jumps of the velocities under joint impulses x, and the excess; arguments as for `hybrid_dynamics`."""
    bodies = model.at(q)
    still = [Twist.zero()] * len(bodies)
    unloaded = [Wrench.zero()] * (len(bodies) + 1)
    return articulated_body_passes(model, bodies, x, still, unloaded, Twist.zero(), is_free, prescribed_jump)


def articulated_body_passes(
    model: Model,
    bodies: Sequence[PosedBody],
    tau: Scalars,
    velocity_acceleration: Sequence[Twist],
    bias_wrench: Sequence[Wrench],
    base: Twist,
    is_free: Scalars | None = None,
    prescribed_acceleration: Scalars | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations of joints under torques tau, and the excess of tau over what they need.

    `velocity_acceleration` is the part of each body's acceleration that its velocity makes, `bias_wrench` the wrench
    that each link needs at zero acceleration. Tip to base, the screws of every joint are eliminated one by one, and
    its parent sees the inertia I and the wrench p that remain: F = I A + p. Base to tip, the accelerations follow. A
    joint that is not free is not eliminated, and transmits the whole wrench.
    """
    rotor = armature(model)
    prescribed: Scalars = [0] * model.nv
    if prescribed_acceleration is not None and is_free is not None:
        prescribed = [a * (1 - f) for a, f in zip(prescribed_acceleration, is_free, strict=True)]
    I = [None, *(ArticulatedInertia.of(body.inertia) for body in bodies)]
    p = list(bias_wrench)
    steps: list[list[tuple[int, Twist, Wrench, Scalar, Scalar, Scalar]]] = [[] for _ in bodies]
    for body, A, eliminated in zip(reversed(bodies), reversed(velocity_acceleration), reversed(steps), strict=True):
        Ii, pi = I[body.index], p[body.index]
        assert Ii is not None
        for i, S in body.S:
            U = Ii * S
            d = S.dot(U) + rotor[i]
            y = (1 if is_free is None else is_free[i]) / d
            u = tau[i] - S.dot(pi)
            Ii, pi = Ii.without(U, y), pi + U * (u * y + prescribed[i])
            eliminated.append((i, S, U, d, y, u))
        if body.parent:
            above = I[body.parent]
            assert above is not None
            I[body.parent] = above + body.T * Ii
            p[body.parent] = p[body.parent] + body.T * (pi + Ii * A)
    qdd: list[Scalar] = [0] * model.nv
    excess: list[Scalar] = [0] * model.nv
    accelerations = [base]
    for body, A, eliminated in zip(bodies, velocity_acceleration, steps, strict=True):
        a = body.T.inv * accelerations[body.parent] + A
        for i, S, U, d, y, u in reversed(eliminated):
            rest = u - U.dot(a)
            qdd[i] = rest * y + prescribed[i]
            excess[i] = rest - d * qdd[i]
            a = a + S * qdd[i]
        accelerations.append(a)
    return qdd, excess
