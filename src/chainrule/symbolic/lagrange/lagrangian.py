"""Lagrange's equations of any mechanical system, from its energies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp

from chainrule.errors import ShapeError
from chainrule.symbolic.algebra.textbook import angles_among, canonical
from chainrule.symbolic.lagrange import answers, conserved, derivation, equilibria, linearization, numerical, text
from chainrule.symbolic.lagrange.bodies import EnergyElement
from chainrule.symbolic.lagrange.coordinates import coordinates as coordinates_of
from chainrule.symbolic.lagrange.coordinates import vector_of
from chainrule.symbolic.lagrange.system import LagrangianSystem
from chainrule.symbolic.lagrange.well_posedness import check_system

STANDARD_GRAVITY = (0, 0, -sp.Symbol("g"))


class Lagrangian(LagrangianSystem):
    """A mechanical system given by its energies, and its equations of motion.

    Parameters
    ----------
    coordinates
        Symbols, functions of time (dynamicsymbols) or names. The coordinate q_1 has the velocity qdot_1.
    kinetic, potential
        Energies in coordinates, velocities and constants. Gravity and springs are in the potential energy.
    forces
        The generalized forces on the right-hand side: a letter that names one symbol for each coordinate, "tau" by
        default; a list of expressions; or a dictionary by coordinate, in which missing forces are zero.
    friction
        Forces that resist the motion, as a list or a dictionary: expressions in the velocities, or
        Friction(viscous, coulomb).
    constraints
        Expressions that stay zero.

    >>> m, g = sp.symbols("m g")
    >>> q, qd, qdd = coordinates_of("x")
    >>> particle = Lagrangian(q, m * qd[0] ** 2 / 2, m * g * q[0], forces="f")
    >>> particle.equations[0]
    Eq(f, g*m + m*xddot)
    """

    def __init__(
        self,
        coordinates: Any,
        kinetic: Any,
        potential: Any = 0,
        *,
        forces: Any = "tau",
        friction: Any = None,
        constraints: Any = (),
    ) -> None:
        super().__init__(coordinates, kinetic, potential, forces=forces, friction=friction, constraints=constraints)
        check_system(self, forces_are_named=isinstance(forces, str))

    @classmethod
    def of_bodies(
        cls, coordinates: Any, bodies: Iterable[EnergyElement], *, gravity: Any = STANDARD_GRAVITY, **rest: Any
    ) -> Lagrangian:
        """The system of point masses, rigid bodies and springs under gravity, (x, y, z), or (x, y) in a plane.

        Further arguments are those of Lagrangian; a `potential` is added to that of the bodies.

        >>> from chainrule.symbolic import PointMass
        >>> m, l, g, theta = sp.symbols("m l g theta")
        >>> bob = PointMass(m, (l * sp.sin(theta), -l * sp.cos(theta)))
        >>> Lagrangian.of_bodies(theta, [bob], gravity=(0, -g)).equations[0]
        Eq(tau, g*l*m*sin(theta) + l**2*m*thetaddot)
        """
        own = coordinates_of(coordinates)
        acceleration = [own.plain(x, "gravity") for x in vector_of(gravity, "gravity")]
        parts = list(bodies) if isinstance(bodies, Iterable) else [bodies]
        for part in parts:
            if not hasattr(part, "kinetic_energy") or not hasattr(part, "potential_energy"):
                raise ShapeError(f"a body is a PointMass, a RigidBody or a Spring, not {part!r:.60}")
        kinetic = sp.Add(*(part.kinetic_energy(own) for part in parts))
        potential = sp.Add(*(part.potential_energy(own, acceleration) for part in parts))
        extra = own.plain(rest.pop("potential", 0), "the potential energy")
        angles = angles_among(own.q, (kinetic, potential))
        return cls(own, canonical(kinetic, angles), canonical(potential, angles) + extra, **rest)

    check = answers.check
    check_units = answers.check_units
    conserved_quantities = conserved.conserved_quantities
    equilibria = equilibria.equilibria
    linearize = linearization.linearize
    function = numerical.function
    derivation = derivation.derivation
    latex = text.latex
    mathml = text.mathml
    pretty = text.pretty

    def __str__(self) -> str:
        return self.pretty()

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def __repr__(self) -> str:
        names = ", ".join(symbol.name for symbol in self.q)
        return f"<Lagrangian of {names}>"
