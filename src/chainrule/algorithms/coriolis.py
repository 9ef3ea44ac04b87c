"""The Coriolis matrix, with Mdot - 2 C skew-symmetric.

For a particle, M = m J^T J and C = m J^T dJ/dt have that property, and so has their sum over a body. A body that
moves with the twist V = (omega, v) then needs, of its mass distribution, only its linear momentum p and the matrix
K, the integral of u r^T dm over its points r with their velocities u. All quantities are in the base frame, so
that composites are plain sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.algorithms.kinematics import poses_of, twists_of
from chainrule.model import Model
from chainrule.spatial import (
    Inertia,
    Matrix,
    Scalar,
    Symmetric,
    Transform,
    Twist,
    Vector,
    Wrench,
)

Scalars = Sequence[Scalar]


@dataclass(frozen=True, slots=True)
class BodyCoriolis:
    """B of one body: B S is the wrench that turns the velocities of its points at the rate of the screw S."""

    momentum: Vector
    K: Matrix

    @staticmethod
    def of(I: Inertia, V: Twist) -> BodyCoriolis:
        """B of a body with inertia I and twist V, both in the base frame."""
        second = Symmetric.scaled_identity(I.inertia.trace() / 2) - I.inertia  # the integral of r r^T dm
        return BodyCoriolis((I * V).force, Matrix.outer(V.linear, I.moment) + V.angular.skew() @ second.matrix())

    def __add__(self, other: BodyCoriolis) -> BodyCoriolis:
        return BodyCoriolis(self.momentum + other.momentum, self.K + other.K)

    def __mul__(self, S: Twist) -> Wrench:
        """The integral over the body of (r x f, f), with f = omega_S x u dm."""
        w = S.angular
        return Wrench(w * self.K.trace() - self.K * w, w.cross(self.momentum))

    def moment_of(self, S: Twist) -> Vector:
        """The product B^T S, which is a moment: S . (B S') is its product with the angular part of S'."""
        w = S.angular
        return w * self.K.trace() - self.K.transpose() * w + self.momentum.cross(S.linear)

    def moved_by(self, T: Transform) -> BodyCoriolis:
        """B about the origin of the frame that T places this one in, with the same velocities of the points."""
        R, p = T.rotation, T.rotation * self.momentum
        return BodyCoriolis(p, R @ self.K @ R.inv + Matrix.outer(p, T.translation))

    def moved_back_by(self, T: Transform) -> BodyCoriolis:
        """B about the origin of the frame that T^-1 places this one in."""
        return self.moved_by(T.inverse())


def coriolis_matrix(model: Model, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """Coriolis matrix C(q, qd), with C qd the centrifugal and Coriolis torques."""
    bodies = model.at(q)
    T, V = poses_of(bodies), twists_of(bodies, qd)
    I = [Inertia.zero()] + [T[body.index] * body.inertia for body in bodies]
    V0 = [T_i * V_i for T_i, V_i in zip(T, V, strict=True)]
    B = [BodyCoriolis.of(I_i, V_i) for I_i, V_i in zip(I, V0, strict=True)]
    for body in reversed(bodies):
        I[body.parent] = I[body.parent] + I[body.index]
        B[body.parent] = B[body.parent] + B[body.index]
    S: list[list[tuple[int, Twist, Twist]]] = [[]]  # screws and their rates, in the base frame
    for body in bodies:
        S.append([])
        for (i, S_i), ring in zip(body.S, body.S_rate(qd), strict=True):
            in_base = T[body.index] * S_i
            S[-1].append((i, in_base, V0[body.index].cross(in_base) + T[body.index] * ring))
    C: list[list[Scalar]] = [[0] * model.nv for _ in range(model.nv)]
    for body in bodies:
        I_j, B_j = I[body.index], B[body.index]
        for j, S_j, rate_j in S[body.index]:
            F = I_j * rate_j + B_j * S_j
            of_rate, of_screw = I_j * S_j, B_j.moment_of(S_j)  # S_j . (I_j rate + B_j S), as a product with each
            for i, S_i, _ in S[body.index]:
                C[i][j] = C[i][j] + S_i.dot(F)
            below = body
            while below.parent:
                below = bodies[below.parent - 1]
                for i, S_i, rate_i in S[below.index]:
                    C[i][j] = C[i][j] + S_i.dot(F)
                    C[j][i] = C[j][i] + rate_i.dot(of_rate) + S_i.angular.dot(of_screw)
    return C
