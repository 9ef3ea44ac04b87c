"""Lagrange's equations of any mechanical system, from its energies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import sympy as sp

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.symbolic.algebra.textbook import angles_among, canonical
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.lagrange import numerical, text
from chainrule.symbolic.lagrange.bodies import EnergyElement
from chainrule.symbolic.lagrange.conserved import ConservedQuantity, conserved_quantities
from chainrule.symbolic.lagrange.coordinates import coordinates as coordinates_of
from chainrule.symbolic.lagrange.coordinates import vector_of
from chainrule.symbolic.lagrange.derivation import derivation
from chainrule.symbolic.lagrange.equilibria import equilibria
from chainrule.symbolic.lagrange.linearization import Linearization, linearize
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

    # --- what follows from the equations ---

    def conserved_quantities(self) -> list[ConservedQuantity]:
        """Quantities that are constant while all inputs are zero: the energy, and momenta of cyclic coordinates."""
        return conserved_quantities(self)

    def equilibria(self, inputs: Mapping[Any, Any] | None = None) -> list[dict[sp.Symbol, sp.Expr]]:
        """Configurations of rest; inputs that are not given are zero. Refused where no closed form is found.

        A coordinate that is missing in a solution may have any value. Angles are within (-pi, pi].
        """
        return equilibria(self, inputs)

    def linearize(self, at: Any, inputs: Mapping[Any, Any] | None = None) -> Linearization:
        """The linear system dx/dt = A x + B u of small deviations x = (q, qd) and u from rest at a configuration.

        at: a value for each coordinate, as a list or a dictionary. inputs: those that hold the system there; they are
        solved for if none are given.
        """
        return linearize(self, at, inputs)

    def function(
        self, name: str, parameters: Mapping[Any, float] | None = None, *, compiled: bool = True
    ) -> Callable[..., Array]:
        """A function of arrays, batched over leading dimensions: machine code, or NumPy functions if not compiled.

        "inverse_dynamics" (q, qd, qdd), "forward_dynamics" (q, qd, inputs), "mass_matrix" (q), "coriolis_matrix"
        (q, qd), "bias" (q, qd), "gravity_torque" (q), "friction_torque" (q, qd), "kinetic_energy" (q, qd),
        "potential_energy" (q), "constraint" (q), "constraint_jacobian" (q), "multipliers" (q, qd, inputs).
        If the system depends on time, t (..., 1) is one more argument. If parameters are not given, their values are
        one more argument, in the order of `parameters`.
        """
        return numerical.function(self, name, parameters, compiled)

    # --- text ---

    def derivation(self, title: str = "Lagrange's equations") -> Document:
        """The equations derived step by step: energies, partial derivatives, time derivatives, result.

        The document is printed, or saved as LaTeX, HTML, Markdown, a notebook or text.

        >>> m, g, x, xdot = sp.symbols("m g x xdot")
        >>> Lagrangian([x], m * xdot**2 / 2, m * g * x, forces="f").derivation("A particle").title
        'A particle'
        """
        return derivation(self, title)

    def latex(self, name: str = "equations") -> str:
        """LaTeX of all equations, aligned at their equals signs, or of a term by its name ("M", "C", "c", "g", "J")."""
        return text.latex(self, name)

    def mathml(self, name: str = "equations") -> str:
        """Presentation MathML of all equations or of a term."""
        return text.mathml(self, name)

    def pretty(self, name: str = "equations") -> str:
        """Unicode text of all equations or of a term."""
        return text.pretty(self, name)

    def __str__(self) -> str:
        return self.pretty()

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def __repr__(self) -> str:
        names = ", ".join(symbol.name for symbol in self.q)
        return f"<Lagrangian of {names}>"
