"""Parts of a mechanical system, point masses, rigid bodies, springs and friction, and their energies.

Positions are functions of the coordinates; their derivatives are the velocities. The angular velocity of a body, in
its own axes, follows from its rotation matrix: [omega] = R^T dR/dt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import sympy as sp

from chainrule.algorithms.friction import sliding_level
from chainrule.errors import ModelError, ShapeError
from chainrule.model import Dof
from chainrule.symbolic.algebra.expressions import matrix
from chainrule.symbolic.algebra.textbook import angles_among, canonical
from chainrule.symbolic.lagrange.coordinates import Coordinates, expression_of, vector_of
from chainrule.symbolic.lagrange.coordinates import coordinates as coordinates_of


class EnergyElement(Protocol):
    """A part with energies."""

    def kinetic_energy(self, own: Coordinates) -> sp.Expr:
        """Kinetic energy in coordinates and velocities, J."""
        ...

    def potential_energy(self, own: Coordinates, gravity: Sequence[sp.Expr]) -> sp.Expr:
        """Potential energy in coordinates, J; gravity is an acceleration, m/s^2."""
        ...


@dataclass(frozen=True)
class PointMass:
    """A mass at a position (x, y, z), or (x, y) in a plane.

    >>> from chainrule.symbolic.lagrange.coordinates import coordinates
    >>> m, x = sp.symbols("m x")
    >>> PointMass(m, (x, 0, 0)).kinetic_energy(coordinates([x]))
    m*xdot**2/2
    """

    mass: Any
    position: Any

    def kinetic_energy(self, own: Coordinates) -> sp.Expr:
        """Kinetic energy m v^2 / 2."""
        velocity = own.rate(_position(self.position, own, "position"))
        return _mass(self.mass, own) * velocity.dot(velocity) / 2

    def potential_energy(self, own: Coordinates, gravity: Sequence[sp.Expr]) -> sp.Expr:
        """Potential energy -m g . p."""
        acceleration = sp.Matrix(vector_of(gravity, "gravity"))
        return -_mass(self.mass, own) * acceleration.dot(_position(self.position, own, "position"))


@dataclass(frozen=True)
class RigidBody:
    """A body with its center of mass at a position, an inertia about it, and a rotation matrix R (body to world).

    inertia: a 3-by-3 matrix, 3 entries (xx, yy, zz), or 6 (xx, yy, zz, xy, xz, yz).
    """

    mass: Any
    inertia: Any
    position: Any
    rotation: Any

    def kinetic_energy(self, own: Coordinates) -> sp.Expr:
        """Kinetic energy m v^2 / 2 + omega . I omega / 2."""
        omega = angular_velocity(self.rotation, own)
        turning = (omega.T * _inertia(self.inertia, own) * omega)[0] / 2
        return PointMass(self.mass, self.position).kinetic_energy(own) + turning

    def potential_energy(self, own: Coordinates, gravity: Sequence[sp.Expr]) -> sp.Expr:
        """Potential energy -m g . p."""
        return PointMass(self.mass, self.position).potential_energy(own, gravity)


@dataclass(frozen=True)
class Spring:
    """A spring with a stiffness k and a stretch x, in N/m and m, or N m/rad and rad: its energy is k x^2 / 2.

    `Spring.between(k, a, b, rest)` is a spring between two positions.
    """

    stiffness: Any
    stretch: Any

    @classmethod
    def between(cls, stiffness: Any, start: Any, end: Any, rest: Any = 0) -> Spring:
        """A spring between two positions, with the length `rest` without load."""
        places = (vector_of(start, "the spring's start"), vector_of(end, "the spring's end"))
        squares = (a - b for a, b in zip(*places, strict=True))
        return cls(stiffness, sp.sqrt(sp.Add(*(x**2 for x in squares))) - expression_of(rest, "the spring's rest"))

    def kinetic_energy(self, own: Coordinates) -> sp.Expr:
        """Kinetic energy, zero: a spring has no mass."""
        return sp.S.Zero

    def potential_energy(self, own: Coordinates, gravity: Sequence[sp.Expr]) -> sp.Expr:
        """Potential energy k x^2 / 2."""
        return own.plain(self.stiffness, "the spring's stiffness") * own.plain(self.stretch, "its stretch") ** 2 / 2


@dataclass(frozen=True)
class Friction:
    """Friction of a coordinate: viscous * qd + coulomb * sign(qd), in N s/m and N, or N m s/rad and N m.

    With the friction at rest, `static`, and the Stribeck speed v_s, in place of coulomb:
    coulomb + (static - coulomb) exp(-(qd / v_s)^2).

    >>> f_c, f_s, v_s, v = sp.symbols("f_c f_s v_s v")
    >>> Friction(coulomb=f_c, static=f_s, stribeck=v_s).force(v)
    (f_c + (-f_c + f_s)*exp(-v**2/v_s**2))*sign(v)
    """

    viscous: Any = 0
    coulomb: Any = 0
    static: Any = 0
    stribeck: Any = 0

    def force(self, velocity: sp.Symbol) -> sp.Expr:
        """The force that overcomes the friction."""
        words = {"viscous": "viscous friction", "coulomb": "Coulomb friction", "static": "static friction",
                 "stribeck": "the Stribeck speed"}  # fmt: skip
        given: dict[str, Any] = {name: expression_of(getattr(self, name), what) for name, what in words.items()}
        numbers: dict[str, Any] = {name: 0 if value == 0 else value for name, value in given.items()}
        dof = Dof(**numbers)
        return given["viscous"] * velocity + sliding_level(dof, 0, velocity, 1) * sp.sign(velocity)


def angular_velocity(rotation: Any, own: Coordinates) -> sp.Matrix:
    """The angular velocity in body axes for a rotation matrix R(q): [omega] = R^T dR/dt."""
    R = _matrix(rotation, own, "rotation")
    angles = angles_among((*own.q, *sorted(R.free_symbols - set(own.q), key=str)), R)
    if any(canonical(x, angles) != 0 for x in R.T * R - sp.eye(3)):
        raise ModelError(f"rotation must be a rotation matrix (body to world), whose columns are orthonormal, got {R}")
    turning = R.T * own.rate(R)
    return sp.Matrix([canonical(turning[i, j], angles) for i, j in ((2, 1), (0, 2), (1, 0))])


def generalized_force(force: Any, position: Any, coordinates: Any) -> list[sp.Expr]:
    """The generalized forces F . dp/dq_i of a force (x, y, z) at a position p, by virtual work.

    coordinates: those of the system, as of Lagrangian: symbols, functions of time or names. The result is what
    Lagrangian takes as `forces`.

    >>> F, l, q = sp.symbols("F l q")
    >>> generalized_force((F, 0), (l * sp.cos(q), l * sp.sin(q)), [q])
    [-F*l*sin(q)]
    """
    own = coordinates_of(coordinates)
    F = sp.Matrix([own.plain(own.without_drives(x), "force") for x in vector_of(force, "force")])
    p = _position(position, own, "position")
    return [F.dot(p.diff(q)) for q in own.q]


def _position(position: Any, own: Coordinates, what: str) -> sp.Matrix:
    return sp.Matrix([own.plain(x, what) for x in vector_of(position, what)])


def _mass(mass: Any, own: Coordinates) -> sp.Expr:
    value = own.plain(mass, "mass")
    if value.is_number and not value.is_nonnegative:
        raise ModelError(f"a mass must not be negative, got {value}")
    return value


def _matrix(value: Any, own: Coordinates, what: str) -> sp.Matrix:
    try:
        found = matrix(value, what)
    except ShapeError:
        found = None
    if found is None or found.shape != (3, 3):
        raise ShapeError(f"{what} must be a 3-by-3 matrix of SymPy expressions, got {value!r:.60}")
    return found.applyfunc(lambda x: own.plain(x, what))


def _inertia(value: Any, own: Coordinates) -> sp.Matrix:
    entries = sp.flatten(value) if isinstance(value, (Sequence, sp.MatrixBase)) else []
    if len(entries) in (3, 6):
        xx, yy, zz, xy, xz, yz = [*entries, 0, 0, 0][:6]
        value = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    elif len(entries) != 9:
        raise ShapeError(
            f"inertia must be a 3-by-3 matrix, 3 entries (xx, yy, zz) or 6 (xx, yy, zz, xy, xz, yz), got {value!r:.60}"
        )
    found = _matrix(value, own, "inertia")
    if found != found.T:
        raise ModelError(f"inertia must be a symmetric matrix, got {found}")
    return found
