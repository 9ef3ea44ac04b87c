"""Inverse dynamics: the recursive Newton-Euler algorithm.

Lynch & Park, Modern Robotics, eqs. 8.50-8.54; Featherstone, Rigid Body Dynamics Algorithms, table 5.1.
Twists and wrenches are in link frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chainrule.algorithms.joint_forces import drive_torque
from chainrule.algorithms.kinematics import held, outward
from chainrule.model import Model, Placed
from chainrule.spatial import Force, Motion, Scalar

Scalars = Sequence[Scalar]
Wrenches = Mapping[int, Force]
"""Wrenches that the world applies to links, by link index, each in its link's frame."""


def inverse_dynamics(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Wrenches | None = None
) -> list[Scalar]:
    """Joint torques that produce qdd: those of the bodies and those of rotors, springs and friction."""
    bodies = body_torque(model, q, qd, qdd, held(model), wrenches)
    drives = drive_torque(model, q, qd, qdd)
    return [a + b for a, b in zip(bodies, drives, strict=True)]


def body_torque(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, base: Motion, wrenches: Wrenches | None = None
) -> list[Scalar]:
    """Joint torques that the links alone ask for, with the base accelerating as given."""
    bodies = model.at(q)
    V, A = outward(bodies, qd, qdd, base)
    F = link_wrenches(bodies, V, A, wrenches)
    return project(model, bodies, inward(bodies, F))


def joint_wrenches(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Wrenches | None = None
) -> list[Force]:
    """F_i, the wrench that goes through joint i from parent to child, in the child's frame, by link index."""
    bodies = model.at(q)
    V, A = outward(bodies, qd, qdd, held(model))
    return inward(bodies, link_wrenches(bodies, V, A, wrenches))


def link_wrenches(
    bodies: Sequence[Placed], V: Sequence[Motion], A: Sequence[Motion], wrenches: Wrenches | None = None
) -> list[Force]:
    """What its motion asks of each link, less what the world supplies: Newton's and Euler's equations."""
    F = [Force.zero()]
    for body in bodies:
        F.append(body.inertia.rate_of_momentum(V[body.index], A[body.index]))
    for index, wrench in (wrenches or {}).items():
        F[index] = F[index] - wrench
    return F


def inward(bodies: Sequence[Placed], F: Sequence[Force]) -> list[Force]:
    """Tip to base: each link asks its parent for what it needs itself and for what its children ask of it."""
    total = list(F)
    for body in reversed(bodies):
        if body.parent:
            total[body.parent] = total[body.parent] + body.T * total[body.index]
    return total


def project(model: Model, bodies: Sequence[Placed], F: Sequence[Force]) -> list[Scalar]:
    """tau_i = S_i . F_i: the part of the wrench through a joint that its motor has to supply."""
    tau: list[Scalar] = [0] * model.nv
    for body in bodies:
        for i, S in body.S:
            tau[i] = tau[i] + S.dot(F[body.index])
    return tau


def gravity_torque(model: Model, q: Scalars) -> list[Scalar]:
    """g(q): torques that hold the links still against gravity."""
    rest = [0] * model.nv
    return body_torque(model, q, rest, rest, held(model))


def velocity_torque(model: Model, q: Scalars, qd: Scalars) -> list[Scalar]:
    """C(q, qd) qd: centrifugal and Coriolis torques."""
    return body_torque(model, q, qd, [0] * model.nv, Motion.zero())


def bias(model: Model, q: Scalars, qd: Scalars, wrenches: Wrenches | None = None) -> list[Scalar]:
    """h(q, qd): everything but M qdd."""
    return inverse_dynamics(model, q, qd, [0] * model.nv, wrenches)
