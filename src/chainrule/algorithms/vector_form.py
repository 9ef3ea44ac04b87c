"""The Newton-Euler equations in vector form, link by link, as in Craig's Introduction to Robotics (chapter 6).

`Robot.inverse_dynamics`, `bias` and `newton_euler_table` evaluate this text, because it needs no linear velocities and
about a fifth fewer operations than `rnea`, which has the same equations in a shorter form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.algorithms.joint_forces import drive_torque
from chainrule.algorithms.loads import Wrenches
from chainrule.algorithms.springs import with_springs
from chainrule.model import Model
from chainrule.spatial import Scalar, Vector
from chainrule.spatial.vector import acceleration_matrix, euler_moment

Scalars = Sequence[Scalar]

UNITS = {
    "omega": "rad/s", "omega_dot": "rad/s^2", "v_dot": "m/s^2", "v_dot_com": "m/s^2",
    "F": "N", "N": "N m", "f": "N", "n": "N m",
}  # fmt: skip
"""Units of the columns of the table, in the order in which they are computed."""


@dataclass(frozen=True, slots=True)
class LinkVectors:
    """Quantities of one link, in its own frame.

    Angular velocity and acceleration; linear acceleration of the origin and of the center of mass; force and moment
    on the center of mass; force and moment from the parent.
    """

    omega: Vector
    omega_dot: Vector
    v_dot: Vector
    v_dot_com: Vector
    F: Vector
    N: Vector
    f: Vector
    n: Vector


def inverse_dynamics(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Wrenches | None = None
) -> list[Scalar]:
    """Joint torques that produce qdd: equal to `rnea.inverse_dynamics`, in fewer operations."""
    return newton_euler(model, q, qd, qdd, wrenches)[1]


def newton_euler(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Wrenches | None = None
) -> tuple[list[LinkVectors], list[Scalar]]:
    """A row for each moving link, and the joint torques (friction, springs and rotors included)."""
    zero = Vector.zero()
    bodies = model.at(q)
    omega, omega_dot, v_dot = [zero], [zero], [-model.gravity]
    v_dot_com, F, N = [zero], [zero], [zero]
    K = [acceleration_matrix(zero, zero)]  # K r = omega-dot x r + omega x (omega x r)
    for body in bodies:
        R, P, i = body.T.rotation.inv, body.T.translation, body.parent
        joint, joint_dot = body.along(qd), body.along(qdd) + body.velocity_product(qd)
        w_parent = R * omega[i]
        w = w_parent + joint.angular
        w_dot = R * omega_dot[i] + w_parent.cross(joint.angular) + joint_dot.angular
        a = (
            R * (K[i] * P + v_dot[i])
            + w_parent.cross(joint.linear) * 2
            + joint.angular.cross(joint.linear)
            + joint_dot.linear
        )
        link = body.body.link
        c, I = link.com, link.inertia
        K_link = acceleration_matrix(w, w_dot)
        a_com = K_link * c + a
        omega.append(w)
        omega_dot.append(w_dot)
        v_dot.append(a)
        v_dot_com.append(a_com)
        F.append(a_com * link.mass)
        N.append(euler_moment(I, w, w_dot, K_link))
        K.append(K_link)
    f, n = [zero], [zero]
    for body in bodies:
        f.append(F[body.index])
        n.append(N[body.index] + body.body.link.com.cross(F[body.index]))
    for index, wrench in with_springs(model, q, qd, wrenches).items():
        f[index] = f[index] - wrench.force
        n[index] = n[index] - wrench.moment
    for body in reversed(bodies):
        R, P, i = body.T.rotation, body.T.translation, body.parent
        f[i] = f[i] + R * f[body.index]
        n[i] = n[i] + R * n[body.index] + P.cross(R * f[body.index])
    tau = drive_torque(model, q, qd, qdd)
    for body in bodies:
        for k, S in body.S:
            tau[k] = tau[k] + n[body.index].dot(S.angular) + f[body.index].dot(S.linear)
    columns = (omega, omega_dot, v_dot, v_dot_com, F, N, f, n)
    return [LinkVectors(*row) for row in list(zip(*columns, strict=True))[1:]], tau
