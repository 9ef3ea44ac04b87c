"""Spatial inertia: of one rigid body, of several together, and of a body that carries jointed others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chainrule.spatial.arrays import ArrayOfScalars
from chainrule.spatial.scalar import Scalar, is_zero, where
from chainrule.spatial.twist import Twist, Wrench
from chainrule.spatial.vector import Matrix, Symmetric, Vector, steiner, vectors

if TYPE_CHECKING:
    from chainrule.spatial.transform import Transform


@dataclass(frozen=True, slots=True)
class Inertia(ArrayOfScalars):
    """The ten inertial parameters of a rigid body about its frame's origin, in which dynamics is linear.

    mass m (kg), first moment h = m c (kg m), inertia matrix about the origin (kg m^2). As a 6-by-6 matrix, and so for
    NumPy, [[I, [h]], [[h]^T, m 1]].

    >>> I = Inertia.from_com(2.0, Vector(0.0, 0.0, 0.5), Symmetric.zero())
    >>> I.inertia.xx, I.moment.z
    (0.5, 1.0)
    """

    mass: Scalar
    moment: Vector
    inertia: Symmetric

    def __post_init__(self) -> None:
        vectors(self, "moment")
        if not isinstance(self.inertia, Symmetric):
            object.__setattr__(self, "inertia", Symmetric.of(self.inertia))

    @staticmethod
    def zero() -> Inertia:
        return Inertia(0, Vector.zero(), Symmetric.zero())

    @staticmethod
    def from_com(mass: Scalar, com: Vector, inertia: Symmetric) -> Inertia:
        """The inertia for a mass, a center of mass, and the inertia matrix about the center of mass (Steiner)."""
        c = Vector.of(com)
        h = c * mass
        about_com = inertia if isinstance(inertia, Symmetric) else Symmetric.of(inertia)
        return Inertia(mass, h, about_com + steiner(c, h))

    @property
    def com(self) -> Vector:
        """The center of mass; the origin if there is no mass."""
        if is_zero(self.mass):
            return Vector.zero()
        return self.moment / where(self.mass == 0, 1, self.mass)  # a mass that is open may be zero in some rows

    def about_com(self) -> Symmetric:
        """The inertia matrix about the center of mass."""
        return self.inertia - steiner(self.com, self.moment)

    def __add__(self, other: Inertia) -> Inertia:
        """The inertia of two bodies that move as one, both given in the same frame."""
        return Inertia(self.mass + other.mass, self.moment + other.moment, self.inertia + other.inertia)

    def __mul__(self, V: Twist) -> Wrench:
        """Momentum at the twist V; for an acceleration, the wrench that it needs."""
        w, v, h = V.angular, V.linear, self.moment
        return Wrench(self.inertia * w + h.cross(v), v * self.mass - h.cross(w))

    def rate_of_momentum(self, V: Twist, A: Twist) -> Wrench:
        """Wrench F = G A - [ad_V]^T G V that gives the body the acceleration A (Lynch & Park, eq. 8.40)."""
        return self * A + V.cross(self * V)

    def acceleration(self, V: Twist, F: Wrench) -> Twist:
        """Acceleration A = G^-1 (F + [ad_V]^T G V) of a single body under the wrench F."""
        return self.solve(F - V.cross(self * V))

    def solve(self, F: Wrench) -> Twist:
        """The motion G^-1 F."""
        c = self.com
        a = _solve(self.about_com(), F.moment - c.cross(F.force))
        return Twist(a, F.force / self.mass + c.cross(a))

    def kinetic_energy(self, V: Twist) -> Scalar:
        """Kinetic energy V^T G V / 2, in J."""
        return V.dot(self * V) / 2

    def moved_by(self, T: Transform) -> Inertia:
        """The inertia Ad^T G Ad in the frame that T places this one in: the generalized Steiner theorem."""
        p, h = T.translation, T.rotation * self.moment
        mp = p * self.mass
        return Inertia(self.mass, h + mp, self.inertia.rotate(T.rotation) + steiner(p, h * 2 + mp))

    def moved_back_by(self, T: Transform) -> Inertia:
        p, h, R = T.translation, self.moment, T.rotation.inv
        mp = p * self.mass
        return Inertia(self.mass, R * (h - mp), (self.inertia - steiner(p, h * 2 - mp)).rotate(R))

    def matrix(self) -> list[list[Scalar]]:
        """The 6-by-6 spatial inertia matrix G."""
        h, m = self.moment.skew(), self.mass
        top = [[*row, *cross] for row, cross in zip(self.inertia, h, strict=True)]
        mass = [[m, 0, 0], [0, m, 0], [0, 0, m]]
        return top + [[*cross, *row] for cross, row in zip(h.transpose(), mass, strict=True)]

    table = matrix


def _solve(I: Symmetric, b: Vector) -> Vector:
    """Solution I^-1 b by cofactors."""
    r, s, t = I
    u, v, w = s.cross(t), t.cross(r), r.cross(s)
    return (u * b.x + v * b.y + w * b.z) / r.dot(u)


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """Inertia of a body that carries others on free joints, as it appears: a general symmetric 6-by-6 matrix.

    [[angular, coupling], [coupling^T, linear]] (Featherstone, Rigid Body Dynamics Algorithms, section 7.1).
    """

    angular: Symmetric
    coupling: Matrix
    linear: Symmetric

    @staticmethod
    def of(I: Inertia) -> ArticulatedInertia:
        return ArticulatedInertia(I.inertia, I.moment.skew(), Symmetric.scaled_identity(I.mass))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            self.angular + other.angular, self.coupling + other.coupling, self.linear + other.linear
        )

    def __mul__(self, A: Twist) -> Wrench:
        w, v = A.angular, A.linear
        return Wrench(self.angular * w + self.coupling * v, self.coupling.transpose() * w + self.linear * v)

    def without(self, U: Wrench, r: Scalar) -> ArticulatedInertia:
        """The matrix I - r U U^T that remains once a joint is free to move along its axis."""
        m, f = U.moment, U.force
        return ArticulatedInertia(
            self.angular - Symmetric.outer(m, r),
            self.coupling - Matrix.outer(m, f * r),
            self.linear - Symmetric.outer(f, r),
        )

    def moved_by(self, T: Transform) -> ArticulatedInertia:
        R, P = T.rotation, T.translation.skew()
        linear = self.linear.rotate(R)
        B = R @ self.coupling @ R.inv
        C = linear.matrix()
        coupling = B + P @ C
        # A' = R A R^T + P B^T - B P - P C P, and its symmetry leaves six entries to compute
        BP, PCP = B @ P, P @ C @ P
        angular = self.angular.rotate(R).matrix() - BP - BP.transpose() - PCP
        return ArticulatedInertia(Symmetric.of(angular), coupling, linear)

    def moved_back_by(self, T: Transform) -> ArticulatedInertia:
        return self.moved_by(T.inverse())
