"""A mechanical system given by its energies, and the terms of its equations of motion.

With K the kinetic and P the potential energy, L = K - P, and

    d/dt dL/dqd - dL/dq + friction = f + J^T lambda,    constraints(q, t) = 0,    J = d constraints / dq,

which is M(q) qdd + c(q, qd) + g(q) + friction = f + J^T lambda.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp

from chainrule.errors import ModelError, ShapeError
from chainrule.lazy import cached_property
from chainrule.symbolic.algebra import textbook
from chainrule.symbolic.lagrange.bodies import Friction
from chainrule.symbolic.lagrange.coordinates import TIME, Coordinates, each
from chainrule.symbolic.lagrange.coordinates import coordinates as coordinates_of

Matrix = sp.ImmutableMatrix


class LagrangianSystem:
    """Energies, forces, friction and constraints in generalized coordinates, and the terms that follow from them."""

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
        """Lagrange multipliers, one for each constraint."""
        return tuple(_numbered_symbols("lambda", len(self.constraints)))

    @cached_property
    def inputs(self) -> tuple[sp.Symbol, ...]:
        """Symbols of the forces that occur nowhere else: the inputs of the system."""
        others = (self.kinetic, self.potential, *self.friction, *self.constraints)
        known = set().union(*self.coordinates, {TIME}, *(expression.free_symbols for expression in others))
        found: list[sp.Symbol] = []
        for force in self.f:
            found += [s for s in sorted(force.free_symbols - known, key=str) if s not in found]
        return tuple(found)

    @cached_property
    def parameters(self) -> tuple[sp.Symbol, ...]:
        """All other symbols, such as masses, lengths and stiffnesses, sorted by name."""
        everything = (self.kinetic, self.potential, *self.f, *self.friction, *self.constraints)
        known = set().union(*self.coordinates, {TIME}, self.inputs)
        return tuple(sorted(set().union(*(e.free_symbols for e in everything)) - known, key=lambda s: s.name))

    # --- the terms ---

    @property
    def lagrangian(self) -> sp.Expr:
        """The Lagrangian L = K - P."""
        return self.kinetic - self.potential

    @property
    def energy(self) -> sp.Expr:
        """The energy E = K + P."""
        return self.kinetic + self.potential

    @cached_property
    def M(self) -> sp.ImmutableMatrix:
        """The mass matrix, second derivatives of K by the velocities: n by n."""
        inertias = textbook.inertias_in(self.kinetic, {*self.q, *self.qd})
        return self.mass.applyfunc(lambda x: textbook.by_inertia(x, inertias))

    @cached_property
    def C(self) -> sp.ImmutableMatrix:
        """Christoffel's matrix, the sums of c_ijk qd_k: n by n. dM/dt - 2 C is skew-symmetric if M is without t."""
        n = range(len(self.q))
        rows = [[sum(self.christoffel[i][j][k] * self.qd[k] for k in n) for j in n] for i in n]
        return Matrix(rows).applyfunc(lambda x: textbook.by_velocity(sp.expand(x), self.q, self.qd))

    @cached_property
    def christoffel(self) -> list[list[list[sp.Expr]]]:
        """Christoffel's symbols c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, by i, j and k."""
        M, q, n = self.mass, self.q, range(len(self.q))
        return [
            [[self.canonical((M[i, j].diff(q[k]) + M[i, k].diff(q[j]) - M[j, k].diff(q[i])) / 2) for k in n] for j in n]
            for i in n
        ]

    @cached_property
    def c(self) -> sp.ImmutableMatrix:
        """Velocity terms, C qd and those of prescribed motions: n by 1."""
        n = range(len(self.q))
        slopes = self.momentum_at_rest.jacobian(self.q)
        gyroscopic = slopes - slopes.T + self.mass.diff(TIME)
        rows = []
        for i in n:
            quadratic = sum(self.christoffel[i][j][k] * self.qd[j] * self.qd[k] for j in n for k in n)
            linear = sum(self.canonical(gyroscopic[i, j]) * self.qd[j] for j in n)
            rows.append(textbook.by_velocity(sp.expand(quadratic + linear), self.q, self.qd))
        return Matrix(rows)

    @cached_property
    def g(self) -> sp.ImmutableMatrix:
        """Terms without velocities, dP/dq of gravity and springs and those of prescribed motions: n by 1."""
        rest = self.potential - self.kinetic_at_rest
        rows = [rest.diff(x) + a.diff(TIME) for x, a in zip(self.q, self.momentum_at_rest, strict=True)]
        return Matrix([textbook.by_function(self.canonical(x), self.q) for x in rows])

    @cached_property
    def J(self) -> sp.ImmutableMatrix:
        """The Jacobian of the constraints, one row each."""
        if not self.constraints:
            return Matrix(0, len(self.q), [])
        return self.constraints.jacobian(self.q).applyfunc(self.canonical)

    @cached_property
    def gamma(self) -> sp.ImmutableMatrix:
        """The velocity terms of the second derivative of the constraints, J qdd + gamma = 0."""
        rate = self.coordinates.rate
        rest = rate(rate(self.constraints)).subs(dict.fromkeys(self.qdd, 0))
        return Matrix(rest).applyfunc(lambda x: textbook.by_velocity(self.canonical(x), self.q, self.qd))

    @cached_property
    def tau(self) -> sp.ImmutableMatrix:
        """The left-hand side, M qdd + c + g + friction: n by 1."""
        return self.M * Matrix(self.qdd) + self.c + self.g + self.friction

    @cached_property
    def equations(self) -> tuple[sp.Eq, ...]:
        """f + J^T lambda = M qdd + c + g + friction for each coordinate, then constraint = 0 for each constraint."""
        right = self.f + self.J.T * Matrix(len(self.multipliers), 1, self.multipliers)
        motion = (sp.Eq(f, tau, evaluate=False) for f, tau in zip(right, self.tau, strict=True))
        return (*motion, *(sp.Eq(constraint, 0, evaluate=False) for constraint in self.constraints))

    @cached_property
    def angles(self) -> list[sp.Symbol]:
        """Coordinates that occur in sines and cosines."""
        return textbook.angles_among(self.q, (self.kinetic, self.potential, *self.constraints))

    @cached_property
    def mass(self) -> sp.ImmutableMatrix:
        """The mass matrix in canonical form, its terms not collected."""
        return Matrix(sp.hessian(self.kinetic, self.qd)).applyfunc(self.canonical)

    @cached_property
    def momentum_at_rest(self) -> sp.ImmutableMatrix:
        """The momenta dK/dqd at rest, which are not zero if motions are prescribed: n by 1."""
        at_rest = dict.fromkeys(self.qd, 0)
        return Matrix([self.canonical(self.kinetic.diff(v).subs(at_rest)) for v in self.qd])

    @cached_property
    def kinetic_at_rest(self) -> sp.Expr:
        """The kinetic energy at rest, which is not zero if motions are prescribed."""
        return self.canonical(self.kinetic.subs(dict.fromkeys(self.qd, 0)))

    def canonical(self, expression: sp.Expr) -> sp.Expr:
        """The canonical form of an expression, with sines and cosines of sums of the angles."""
        return textbook.canonical(expression, self.angles)


def _numbered_symbols(letter: str, count: int) -> list[sp.Symbol]:
    return [sp.Symbol(letter)] if count == 1 else [sp.Symbol(f"{letter}_{i + 1}") for i in range(count)]


def _forces(given: Any, own: Coordinates) -> list[sp.Expr]:
    if isinstance(given, str):
        if not given.isidentifier():
            raise ShapeError(
                f"forces must be a letter that names them, such as 'tau', or expressions, got {given!r:.60}"
            )
        return list(_numbered_symbols(given, len(own)))
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
