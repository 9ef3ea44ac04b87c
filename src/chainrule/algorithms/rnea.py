"""Inverse dynamics: the recursive Newton-Euler algorithm.

Lynch & Park, Modern Robotics, eqs. 8.50-8.54; Featherstone, Rigid Body Dynamics Algorithms, table 5.1.
Twists and wrenches are in link frames. `Robot.gravity_torque`, `torque_terms`, `joint_wrenches` and `rnea_table`
evaluate this text; `Robot.inverse_dynamics` and `bias` evaluate the same equations as `vector_form` writes them,
because that takes about a fifth fewer operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.algorithms.joint_forces import drive_torque
from chainrule.algorithms.kinematics import gravity_as_base_acceleration, outward
from chainrule.algorithms.loads import Wrenches
from chainrule.algorithms.springs import with_springs
from chainrule.model import Model, PosedBody
from chainrule.spatial import Scalar, Twist, Wrench

Scalars = Sequence[Scalar]

UNITS = {"V": "rad/s, m/s", "V_dot": "rad/s^2, m/s^2", "F": "N m, N"}
"""Units of the columns of the recursion's table, angular and linear part, in the order in which they are computed."""


@dataclass(frozen=True, slots=True)
class LinkRow:
    """Quantities of one link, in its own frame: its twist, the rate of that, and the wrench through its joint."""

    V: Twist
    V_dot: Twist
    F: Wrench


def inverse_dynamics(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Wrenches | None = None
) -> list[Scalar]:
    """Joint torques that produce qdd: those of the links and those of rotors, springs and friction."""
    acting = with_springs(model, q, qd, wrenches)
    bodies = body_torque(model, q, qd, qdd, gravity_as_base_acceleration(model), acting)
    drives = drive_torque(model, q, qd, qdd)
    return [a + b for a, b in zip(bodies, drives, strict=True)]


def body_torque(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, base: Twist, wrenches: Wrenches | None = None
) -> list[Scalar]:
    """Joint torques that the links alone need, for a given acceleration of the base."""
    bodies = model.at(q)
    V, A = outward(bodies, qd, qdd, base)
    F = link_wrenches(bodies, V, A, wrenches)
    return project(model, bodies, inward(bodies, F))


def joint_wrenches(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Wrenches | None = None
) -> list[Wrench]:
    """Wrenches F_i from parent to child through each joint, in the child's frame, by link index."""
    return [Wrench.zero(), *(row.F for row in recursion(model, q, qd, qdd, wrenches))]


def recursion(model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Wrenches | None = None) -> list[LinkRow]:
    """A row (V_i, dV_i/dt, F_i) for each moving link, gravity being an acceleration -g of the base."""
    bodies = model.at(q)
    V, A = outward(bodies, qd, qdd, gravity_as_base_acceleration(model))
    F = inward(bodies, link_wrenches(bodies, V, A, with_springs(model, q, qd, wrenches)))
    return [LinkRow(*row) for row in list(zip(V, A, F, strict=True))[1:]]


def link_wrenches(
    bodies: Sequence[PosedBody], V: Sequence[Twist], A: Sequence[Twist], wrenches: Wrenches | None = None
) -> list[Wrench]:
    """Wrench that each link's motion needs beyond what the world applies: Newton's and Euler's equations."""
    F = [Wrench.zero()]
    for body in bodies:
        F.append(body.inertia.rate_of_momentum(V[body.index], A[body.index]))
    for index, wrench in (wrenches or {}).items():
        F[index] = F[index] - wrench
    return F


def inward(bodies: Sequence[PosedBody], F: Sequence[Wrench]) -> list[Wrench]:
    """Tip to base: the wrench through each joint is that of its link and of all joints that the link carries."""
    total = list(F)
    for body in reversed(bodies):
        if body.parent:
            total[body.parent] = total[body.parent] + body.T * total[body.index]
    return total


def project(model: Model, bodies: Sequence[PosedBody], F: Sequence[Wrench]) -> list[Scalar]:
    """Torques tau_i = S_i . F_i: the part of the wrench through a joint that its motor supplies."""
    tau: list[Scalar] = [0] * model.nv
    for body in bodies:
        for i, S in body.S:
            tau[i] = tau[i] + S.dot(F[body.index])
    return tau


def gravity_torque(model: Model, q: Scalars) -> list[Scalar]:
    """Torques g(q) that hold the links still against gravity."""
    rest = [0] * model.nv
    return body_torque(model, q, rest, rest, gravity_as_base_acceleration(model))


def velocity_torque(model: Model, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques C(q, qd) qd."""
    return body_torque(model, q, qd, [0] * model.nv, Twist.zero())


def bias(model: Model, q: Scalars, qd: Scalars, wrenches: Wrenches | None = None) -> list[Scalar]:
    """Torques h(q, qd) at qdd = 0: all terms but M qdd."""
    return inverse_dynamics(model, q, qd, [0] * model.nv, wrenches)
