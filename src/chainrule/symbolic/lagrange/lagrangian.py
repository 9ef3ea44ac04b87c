"""Lagrange's equations from the energies of any mechanical system.

With K the kinetic and P the potential energy, L = K - P, and

    d/dt dL/dqd - dL/dq + friction = f + J^T lambda,    constraints(q, t) = 0,    J = d constraints / dq,

which is M(q) qdd + c(q, qd) + g(q) + friction = f + J^T lambda.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from chainrule.errors import ModelError, ShapeError
from chainrule.symbolic.algebra.textbook import (
    angles_among,
    by_function,
    by_inertia,
    by_velocity,
    canonical,
    inertias_in,
)
from chainrule.symbolic.lagrange import page, wellposed
from chainrule.symbolic.lagrange.bodies import Friction, Part
from chainrule.symbolic.lagrange.coordinates import TIME, Coordinates, each, vector_of
from chainrule.symbolic.lagrange.coordinates import coordinates as coordinates_of

if TYPE_CHECKING:
    from chainrule.arguments import Array
    from chainrule.symbolic.lagrange.conserved import Conserved
    from chainrule.symbolic.lagrange.linearization import Linearisation

Matrix = sp.ImmutableMatrix
STANDARD_GRAVITY = (0, 0, -sp.Symbol("g"))


class Lagrangian:
    """A mechanical system given by its energies, and its equations of motion.

    coordinates: symbols, functions of time (dynamicsymbols) or names. The coordinate q_1 has the velocity qdot_1.
    kinetic, potential: energies in coordinates, velocities and constants. Gravity and springs are in the potential.
    forces: the generalised forces on the right-hand side: a letter for one symbol each, "tau" unless told; a list of
    expressions; or a dictionary of some coordinates, the others being free of them. friction: likewise, expressions
    in the velocities, or Friction(viscous, coulomb), which resist the motion. constraints: expressions that stay zero.

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
        self.coordinates = own = coordinates_of(coordinates)
        self.kinetic: sp.Expr = own.plain(kinetic, "the kinetic energy")
        self.potential: sp.Expr = own.plain(potential, "the potential energy")
        self.f: sp.ImmutableMatrix = Matrix(_forces(forces, own))
        self.friction: sp.ImmutableMatrix = Matrix(_friction(friction, own))
        rows = _constraints(constraints, own)
        self.constraints: sp.ImmutableMatrix = Matrix(len(rows), 1, rows)
        wellposed.check_symbols(self, drawn=isinstance(forces, str))
        wellposed.check_energies(self)
        wellposed.check_constraints(self)
        wellposed.check_independence(self)

    @classmethod
    def of_bodies(
        cls, coordinates: Any, bodies: Iterable[Part], *, gravity: Any = STANDARD_GRAVITY, **rest: Any
    ) -> Lagrangian:
        """The system of point masses, rigid bodies and springs, under a gravity of (x, y, z), or (x, y) in a plane.

        Further arguments as those of Lagrangian; a `potential` among them is added.

        >>> from chainrule.symbolic.bodies import PointMass
        >>> m, l, g, theta = sp.symbols("m l g theta")
        >>> bob = PointMass(m, (l * sp.sin(theta), -l * sp.cos(theta)))
        >>> Lagrangian.of_bodies(theta, [bob], gravity=(0, -g)).equations[0]
        Eq(tau, g*l*m*sin(theta) + l**2*m*thetaddot)
        """
        own = coordinates_of(coordinates)
        downward = [own.plain(x, "gravity") for x in vector_of(gravity, "gravity")]
        parts = list(bodies) if isinstance(bodies, Iterable) else [bodies]
        for part in parts:
            if not hasattr(part, "kinetic_energy") or not hasattr(part, "potential_energy"):
                raise ShapeError(f"a body is a PointMass, a RigidBody or a Spring, not {part!r:.60}")
        kinetic = sp.Add(*(part.kinetic_energy(own) for part in parts))
        potential = sp.Add(*(part.potential_energy(own, downward) for part in parts))
        extra = own.plain(rest.pop("potential", 0), "the potential energy")
        angles = angles_among(own.q, (kinetic, potential))
        return cls(own, canonical(kinetic, angles), canonical(potential, angles) + extra, **rest)

    # --- symbols ---

    @property
    def q(self) -> tuple[sp.Symbol, ...]:
        """Coordinates."""
        return self.coordinates.q

    @property
    def qd(self) -> tuple[sp.Symbol, ...]:
        """Velocities."""
        return self.coordinates.qd

    @property
    def qdd(self) -> tuple[sp.Symbol, ...]:
        """Accelerations."""
        return self.coordinates.qdd

    @cached_property
    def multipliers(self) -> tuple[sp.Symbol, ...]:
        """The multiplier lambda of each constraint."""
        return tuple(_numbered("lambda", len(self.constraints)))

    @cached_property
    def inputs(self) -> tuple[sp.Symbol, ...]:
        """The symbols in the forces that occur nowhere else: what drives the system from outside."""
        others = (self.kinetic, self.potential, *self.friction, *self.constraints)
        known = set().union(*self.coordinates, {TIME}, *(expression.free_symbols for expression in others))
        found: list[sp.Symbol] = []
        for force in self.f:
            found += [s for s in sorted(force.free_symbols - known, key=str) if s not in found]
        return tuple(found)

    @cached_property
    def parameters(self) -> tuple[sp.Symbol, ...]:
        """All other symbols: masses, lengths, stiffnesses; by name."""
        everything = (self.kinetic, self.potential, *self.f, *self.friction, *self.constraints)
        known = set().union(*self.coordinates, {TIME}, self.inputs)
        return tuple(sorted(set().union(*(e.free_symbols for e in everything)) - known, key=lambda s: s.name))

    # --- the terms ---

    @property
    def lagrangian(self) -> sp.Expr:
        """L = K - P."""
        return self.kinetic - self.potential

    @property
    def energy(self) -> sp.Expr:
        """E = K + P."""
        return self.kinetic + self.potential

    @cached_property
    def M(self) -> sp.ImmutableMatrix:
        """The mass matrix: second derivatives of K by the velocities, n by n."""
        inertias = inertias_in(self.kinetic, {*self.q, *self.qd})
        return self._mass.applyfunc(lambda x: by_inertia(x, inertias))

    @cached_property
    def C(self) -> sp.ImmutableMatrix:
        """Christoffel's matrix: C_ij is the sum of c_ijk qd_k; dM/dt - 2 C is skew-symmetric if M has no t in it."""
        n = range(len(self.q))
        rows = [[sum(self.christoffel[i][j][k] * self.qd[k] for k in n) for j in n] for i in n]
        return Matrix(rows).applyfunc(lambda x: by_velocity(sp.expand(x), self.q, self.qd))

    @cached_property
    def christoffel(self) -> list[list[list[sp.Expr]]]:
        """c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, by i, j and k."""
        M, q, n = self._mass, self.q, range(len(self.q))
        return [
            [
                [self._canonical((M[i, j].diff(q[k]) + M[i, k].diff(q[j]) - M[j, k].diff(q[i])) / 2) for k in n]
                for j in n
            ]
            for i in n
        ]

    @cached_property
    def c(self) -> sp.ImmutableMatrix:
        """Terms in velocities: C qd, and those of prescribed motions if the kinetic energy has any; n by 1."""
        n = range(len(self.q))
        gyroscopic = self._linear.jacobian(self.q) - self._linear.jacobian(self.q).T + self._mass.diff(TIME)
        rows = []
        for i in n:
            quadratic = sum(self.christoffel[i][j][k] * self.qd[j] * self.qd[k] for j in n for k in n)
            linear = sum(self._canonical(gyroscopic[i, j]) * self.qd[j] for j in n)
            rows.append(by_velocity(sp.expand(quadratic + linear), self.q, self.qd))
        return Matrix(rows)

    @cached_property
    def g(self) -> sp.ImmutableMatrix:
        """Terms in coordinates alone: dP/dq, of gravity and springs, and those of prescribed motions; n by 1."""
        rest = self.potential - self._constant
        rows = [rest.diff(x) + a.diff(TIME) for x, a in zip(self.q, self._linear, strict=True)]
        return Matrix([by_function(self._canonical(x), self.q) for x in rows])

    @cached_property
    def J(self) -> sp.ImmutableMatrix:
        """The constraints' Jacobian, one row each."""
        if not self.constraints:
            return Matrix(0, len(self.q), [])
        return self.constraints.jacobian(self.q).applyfunc(self._canonical)

    @cached_property
    def gamma(self) -> sp.ImmutableMatrix:
        """What the velocities add to the constraints' second derivative, which is J qdd + gamma = 0."""
        rate = self.coordinates.rate
        rest = rate(rate(self.constraints)).subs(dict.fromkeys(self.qdd, 0))
        return Matrix(rest).applyfunc(lambda x: by_velocity(self._canonical(x), self.q, self.qd))

    @cached_property
    def tau(self) -> sp.ImmutableMatrix:
        """The left-hand side, M qdd + c + g + friction: n by 1."""
        return self.M * Matrix(self.qdd) + self.c + self.g + self.friction

    @cached_property
    def equations(self) -> tuple[sp.Eq, ...]:
        """f + J^T lambda = M qdd + c + g + friction, one for each coordinate; then constraint = 0."""
        right = self.f + self.J.T * Matrix(len(self.multipliers), 1, self.multipliers)
        motion = (sp.Eq(f, tau, evaluate=False) for f, tau in zip(right, self.tau, strict=True))
        return (*motion, *(sp.Eq(constraint, 0, evaluate=False) for constraint in self.constraints))

    @cached_property
    def _angles(self) -> list[sp.Symbol]:
        return angles_among(self.q, (self.kinetic, self.potential, *self.constraints))

    @cached_property
    def _mass(self) -> sp.ImmutableMatrix:
        return Matrix(sp.hessian(self.kinetic, self.qd)).applyfunc(self._canonical)

    @cached_property
    def _linear(self) -> sp.ImmutableMatrix:
        """The part of the momenta that is there at rest, where motions are prescribed."""
        at_rest = dict.fromkeys(self.qd, 0)
        return Matrix([self._canonical(self.kinetic.diff(v).subs(at_rest)) for v in self.qd])

    @cached_property
    def _constant(self) -> sp.Expr:
        """The kinetic energy that is there at rest, where motions are prescribed."""
        return self._canonical(self.kinetic.subs(dict.fromkeys(self.qd, 0)))

    def _canonical(self, expression: sp.Expr) -> sp.Expr:
        return canonical(expression, self._angles)

    # --- what follows from them ---

    def conserved(self) -> list[Conserved]:
        """Quantities that stay as they are while all inputs are zero: energy, and momenta of cyclic coordinates."""
        from chainrule.symbolic.lagrange.conserved import conserved

        return conserved(self)

    def equilibria(self, inputs: Mapping[Any, Any] | None = None) -> list[dict[sp.Symbol, sp.Expr]]:
        """Where the system can rest, with inputs that are zero unless given; an error where no closed form is found.

        A coordinate that is missing in a solution may have any value. Angles are within (-pi, pi].
        """
        from chainrule.symbolic.lagrange.equilibria import equilibria

        return equilibria(self, inputs)

    def linearise(self, at: Any, inputs: Mapping[Any, Any] | None = None) -> Linearisation:
        """dx/dt = A x + B u for small deviations x = (q, qd) and u from rest at a configuration.

        at: a value for each coordinate, as a list or a dictionary. inputs: those that hold it there, which are solved
        for unless given.
        """
        from chainrule.symbolic.lagrange.linearization import linearise

        return linearise(self, at, inputs)

    def function(
        self, name: str, parameters: Mapping[Any, float] | None = None, *, compiled: bool = True
    ) -> Callable[..., Array]:
        """A function of arrays, batched over leading dimensions: machine code, or NumPy's own if not compiled.

        "inverse_dynamics" (q, qd, qdd), "forward_dynamics" (q, qd, inputs), "mass_matrix" (q), "coriolis_matrix"
        (q, qd), "bias" (q, qd), "gravity_torque" (q), "friction_torque" (q, qd), "kinetic_energy" (q, qd),
        "potential_energy" (q), "constraint" (q), "constraint_jacobian" (q), "multipliers" (q, qd, inputs).
        Where time plays a part, t, an array (..., 1), is one more argument; where parameters are not given, their
        values are, in the order of `parameters`.
        """
        from chainrule.symbolic.lagrange.numerical import function

        return function(self, name, parameters, compiled)

    # --- text ---

    def latex(self, name: str = "equations") -> str:
        """All equations, aligned at their equals signs, or a term by its name (M, C, c, g, J, ..), in LaTeX."""
        return page.latex(self, name)

    def mathml(self, name: str = "equations") -> str:
        """The same in presentation MathML."""
        return page.mathml(self, name)

    def pretty(self, name: str = "equations") -> str:
        """The same as text of Unicode letters."""
        return page.pretty(self, name)

    def __str__(self) -> str:
        return self.pretty()

    def __repr__(self) -> str:
        names = ", ".join(symbol.name for symbol in self.q)
        return f"<Lagrangian of {names}>"


def _numbered(letter: str, count: int) -> list[sp.Symbol]:
    return [sp.Symbol(letter)] if count == 1 else [sp.Symbol(f"{letter}_{i + 1}") for i in range(count)]


def _forces(given: Any, own: Coordinates) -> list[sp.Expr]:
    if isinstance(given, str):
        return list(_numbered(given, len(own)))
    if given is None or (isinstance(given, int) and given == 0):
        return [sp.S.Zero] * len(own)
    entries = zip(own.q, each(given, own, "forces"), strict=True)
    return [own.plain(own.without_drives(x), f"the force on {q}") for q, x in entries]


def _friction(given: Any, own: Coordinates) -> list[sp.Expr]:
    entries = [sp.S.Zero] * len(own) if given is None else each(given, own, "friction")
    return [
        own.plain(x.force(v) if isinstance(x, Friction) else x, f"the friction of {q}")
        for q, v, x in zip(own.q, own.qd, entries, strict=True)
    ]


def _constraints(given: Any, own: Coordinates) -> list[sp.Expr]:
    single = isinstance(given, (sp.Expr, sp.Equality))
    if not single and not isinstance(given, (Iterable, sp.MatrixBase)):
        raise ShapeError(f"constraints must be a list of SymPy expressions that stay zero, got {given!r:.60}")
    rows = []
    for i, entry in enumerate([given] if single else given):
        if entry in (True, False):
            raise ModelError(f"constraint {i + 1} is always {bool(entry)}; it must tie coordinates together")
        whole = entry.lhs - entry.rhs if isinstance(entry, sp.Equality) else entry
        rows.append(own.plain(whole, f"constraint {i + 1}"))
    return rows
