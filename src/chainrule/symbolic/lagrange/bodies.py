"""What a mechanical system is made of: point masses, rigid bodies, springs and friction, and their energies.

Places are given by coordinates; velocities follow by differentiation, and the angular velocity of a body from its
rotation matrix: [omega] = R^T dR/dt, in the body's own axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import sympy as sp

from chainrule.errors import ModelError, ShapeError
from chainrule.symbolic.algebra.textbook import angles_among, canonical
from chainrule.symbolic.lagrange.coordinates import Coordinates, expression_of, vector_of


class Part(Protocol):
    """Anything with energies."""

    def kinetic_energy(self, own: Coordinates) -> sp.Expr:
        """In coordinates and velocities, J."""
        ...

    def potential_energy(self, own: Coordinates, gravity: Sequence[sp.Expr]) -> sp.Expr:
        """In coordinates, J; gravity is an acceleration, m/s^2."""
        ...


@dataclass(frozen=True)
class PointMass:
    """A mass at a place (x, y, z), or (x, y) in a plane.

    >>> from chainrule.symbolic.coordinates import coordinates
    >>> m, x = sp.symbols("m x")
    >>> PointMass(m, (x, 0, 0)).kinetic_energy(coordinates([x]))
    m*xdot**2/2
    """

    mass: Any
    position: Any

    def kinetic_energy(self, own: Coordinates) -> sp.Expr:
        """m v^2 / 2."""
        velocity = own.rate(_place(self.position, own, "position"))
        return _mass(self.mass, own) * velocity.dot(velocity) / 2

    def potential_energy(self, own: Coordinates, gravity: Sequence[sp.Expr]) -> sp.Expr:
        """-m g . p."""
        return -_mass(self.mass, own) * sp.Matrix(gravity).dot(_place(self.position, own, "position"))


@dataclass(frozen=True)
class RigidBody:
    """A mass whose centre is at a place, with an inertia about it, in the axes of a rotation matrix R (body to world).

    inertia: a 3-by-3 matrix, 3 entries (xx, yy, zz), or 6 (xx, yy, zz, xy, xz, yz).
    """

    mass: Any
    inertia: Any
    position: Any
    rotation: Any

    def kinetic_energy(self, own: Coordinates) -> sp.Expr:
        """m v^2 / 2 + omega . I omega / 2."""
        omega = angular_velocity(self.rotation, own)
        turning = (omega.T * _inertia(self.inertia, own) * omega)[0] / 2
        return PointMass(self.mass, self.position).kinetic_energy(own) + turning

    def potential_energy(self, own: Coordinates, gravity: Sequence[sp.Expr]) -> sp.Expr:
        """-m g . p."""
        return PointMass(self.mass, self.position).potential_energy(own, gravity)


@dataclass(frozen=True)
class Spring:
    """A spring of so much stiffness, stretched by so much: k x^2 / 2, in N/m and m, or N m/rad and rad.

    `Spring.between(k, a, b, rest)` is one between two places.
    """

    stiffness: Any
    stretch: Any

    @classmethod
    def between(cls, stiffness: Any, start: Any, end: Any, rest: Any = 0) -> Spring:
        """A spring from one place to another, with the length `rest` where it pulls nothing."""
        places = (vector_of(start, "the spring's start"), vector_of(end, "the spring's end"))
        squares = (a - b for a, b in zip(*places, strict=True))
        return cls(stiffness, sp.sqrt(sp.Add(*(x**2 for x in squares))) - expression_of(rest, "the spring's rest"))

    def kinetic_energy(self, own: Coordinates) -> sp.Expr:
        """None: it has no mass."""
        return sp.S.Zero

    def potential_energy(self, own: Coordinates, gravity: Sequence[sp.Expr]) -> sp.Expr:
        """k x^2 / 2."""
        return own.plain(self.stiffness, "the spring's stiffness") * own.plain(self.stretch, "its stretch") ** 2 / 2


@dataclass(frozen=True)
class Friction:
    """What resists a coordinate's motion: viscous * qd + coulomb * sign(qd), in N s/m and N, or N m s/rad and N m."""

    viscous: Any = 0
    coulomb: Any = 0

    def force(self, velocity: sp.Symbol) -> sp.Expr:
        """The force it takes to overcome it."""
        viscous, dry = expression_of(self.viscous, "viscous friction"), expression_of(self.coulomb, "Coulomb friction")
        return viscous * velocity + dry * sp.sign(velocity)


def angular_velocity(rotation: Any, own: Coordinates) -> sp.Matrix:
    """The angular velocity in body axes, from R(q): [omega] = R^T dR/dt. R must be orthogonal."""
    R = _matrix(rotation, own, "rotation")
    angles = angles_among((*own.q, *sorted(R.free_symbols - set(own.q), key=str)), R)
    if any(canonical(x, angles) != 0 for x in R.T * R - sp.eye(3)):
        raise ModelError(f"rotation must be a rotation matrix (body to world), whose columns are orthonormal, got {R}")
    turning = R.T * own.rate(R)
    return sp.Matrix([canonical(turning[i, j], angles) for i, j in ((2, 1), (0, 2), (1, 0))])


def generalised_force(force: Any, position: Any, own: Coordinates) -> list[sp.Expr]:
    """What a force (x, y, z) at a place on the system does to each coordinate: F . dp/dq_i, by virtual work.

    >>> from chainrule.symbolic.coordinates import coordinates
    >>> F, l, q = sp.symbols("F l q")
    >>> generalised_force((F, 0), (l * sp.cos(q), l * sp.sin(q)), coordinates([q]))
    [-F*l*sin(q)]
    """
    F, p = _place(force, own, "force"), _place(position, own, "position")
    return [F.dot(p.diff(q)) for q in own.q]


def _place(position: Any, own: Coordinates, what: str) -> sp.Matrix:
    return sp.Matrix([own.plain(x, what) for x in vector_of(position, what)])


def _mass(mass: Any, own: Coordinates) -> sp.Expr:
    value = own.plain(mass, "mass")
    if value.is_number and not value.is_nonnegative:
        raise ModelError(f"a mass must not be negative, got {value}")
    return value


def _matrix(value: Any, own: Coordinates, what: str) -> sp.Matrix:
    try:
        matrix = sp.Matrix(value)
    except (TypeError, ValueError):
        matrix = None
    if matrix is None or matrix.shape != (3, 3):
        raise ShapeError(f"{what} must be a 3-by-3 matrix, got {value!r:.60}")
    return matrix.applyfunc(lambda x: own.plain(x, what))


def _inertia(value: Any, own: Coordinates) -> sp.Matrix:
    entries = sp.flatten(value) if isinstance(value, (Sequence, sp.MatrixBase)) else []
    if len(entries) in (3, 6):
        xx, yy, zz, xy, xz, yz = [*entries, 0, 0, 0][:6]
        value = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    elif len(entries) != 9:
        raise ShapeError(
            f"inertia must be a 3-by-3 matrix, 3 entries (xx, yy, zz) or 6 (xx, yy, zz, xy, xz, yz), got {value!r:.60}"
        )
    matrix = _matrix(value, own, "inertia")
    if matrix != matrix.T:
        raise ModelError(f"inertia must be a symmetric matrix, got {matrix}")
    return matrix
