"""Centrifugal torques: the part of the torques that is quadratic in the rate of one joint, for all joints in one pass.

Let one joint alone move at its rate. The links that it carries then turn as one rigid body, and a point r of such a
link, in its frame, has the acceleration a + alpha x r + D r with D = [w]^2; alpha is zero for all but universal and
planar joints. Such fields add up over the joints. Each link so needs one field, which gives the wrench that it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.algorithms.rnea import inward, project, velocity_torque
from chainrule.model import Link, Model, PosedBody
from chainrule.spatial import Scalar, Symmetric, Twist, Vector, Wrench

Scalars = Sequence[Scalar]


@dataclass(frozen=True, slots=True)
class AccelerationField:
    """Accelerations a + alpha x r + D r of the points r of a link, in its frame."""

    a: Vector
    alpha: Vector
    D: Symmetric

    @staticmethod
    def zero() -> AccelerationField:
        """No acceleration anywhere."""
        return AccelerationField(Vector.zero(), Vector.zero(), Symmetric.zero())

    def at(self, r: Vector) -> Vector:
        """The acceleration of a point."""
        return self.a + self.alpha.cross(r) + self.D * r

    def in_child(self, body: PosedBody) -> AccelerationField:
        """The same field in the frame of a body that the link carries."""
        R = body.T.rotation.inv
        return AccelerationField(R * self.at(body.T.translation), R * self.alpha, self.D.rotate(R))

    def with_motion(self, V: Twist, A: Twist) -> AccelerationField:
        """The field with that of a motion added: its twist V, and the rate A of that."""
        w = V.angular
        square = Symmetric.outer(w) - Symmetric.scaled_identity(w.dot(w))
        return AccelerationField(self.a + A.linear + w.cross(V.linear), self.alpha + A.angular, self.D + square)

    def wrench(self, link: Link) -> Wrench:
        """The wrench that gives a link these accelerations: the integral of (r x a, a) dm."""
        I, D, c = link.inertia, self.D, link.com
        force = self.at(c) * link.mass
        about_com = I * self.alpha + Vector(
            (I.zz - I.yy) * D.yz + I.xz * D.xy - I.xy * D.xz + I.yz * (D.yy - D.zz),
            (I.xx - I.zz) * D.xz + I.xy * D.yz - I.yz * D.xy + I.xz * (D.zz - D.xx),
            (I.yy - I.xx) * D.xy + I.yz * D.xz - I.xz * D.yz + I.xy * (D.xx - D.yy),
        )
        return Wrench(about_com + c.cross(force), force)


def centrifugal_torque(model: Model, q: Scalars, qd: Scalars) -> list[Scalar]:
    """The sum over all velocities of the torques at which that velocity alone is kept constant."""
    bodies = model.at(q)
    moved = [i for body in bodies for i, _ in body.S]
    shared = {i for i in moved if moved.count(i) > 1} if model.has_mimics else set()
    fields = [AccelerationField.zero()]
    for body in bodies:
        field = fields[body.parent].in_child(body)
        for i, S in body.S:
            if i not in shared:
                field = field.with_motion(S * qd[i], body.velocity_product(_alone(qd, i)))
        fields.append(field)
    F = [Wrench.zero(), *(fields[body.index].wrench(body.body.link) for body in bodies)]
    tau = project(model, bodies, inward(bodies, F))
    for i in sorted(shared):  # joints that follow one velocity turn together, which is no sum of their fields
        tau = [a + b for a, b in zip(tau, velocity_torque(model, q, _alone(qd, i)), strict=True)]
    return tau


def _alone(qd: Scalars, i: int) -> list[Scalar]:
    return [rate if j == i else 0 for j, rate in enumerate(qd)]
