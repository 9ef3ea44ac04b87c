"""The terms of the equations of motion as SymPy matrices, in the form that a textbook prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError, UnknownNameError
from chainrule.symbolic.algebra.ring import Element, to_sympy
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel
from chainrule.symbolic.closed_form.terms import Terms

MAX_MATRIX_TERMS = 200_000
"""Terms of a matrix; a matrix with more is refused, since no one can read it."""

TERMS = ("M", "C", "c", "centrifugal", "coriolis", "g", "spring", "friction", "tau")


@dataclass(frozen=True, eq=False, repr=False)
class Matrices:
    """tau = M(q) qdd + C(q, qd) qd + g(q) + springs + friction of a robot, as SymPy matrices.

    q, qd and qdd are the symbols of the state; `parameters` the symbols of the robot, with their values.
    """

    robot: Mechanism
    symbolic: SymbolicModel
    simplify: bool = True

    # --- symbols ---

    @property
    def q(self) -> list[sp.Symbol]:
        """Coordinates."""
        return self.symbolic.q

    @property
    def qd(self) -> list[sp.Symbol]:
        """Velocities."""
        return self.symbolic.qd

    @property
    def qdd(self) -> list[sp.Symbol]:
        """Accelerations."""
        return self.symbolic.qdd

    @property
    def parameters(self) -> dict[sp.Symbol, float]:
        """Symbols of the robot, and the numbers they stand for, in SI units."""
        return self.symbolic.parameters

    # --- terms ---

    @cached_property
    def elements(self) -> Terms:
        """Terms in canonical form, as elements of the ring."""
        return Terms(self.symbolic)

    @cached_property
    def M(self) -> sp.ImmutableMatrix:
        """Mass matrix, rotors included, with its entries collected by masses: n by n."""
        masses = [symbol for symbol in self.parameters if str(symbol).startswith("m_")]
        M = self._matrix(self.elements.M)
        return M.applyfunc(lambda entry: sp.collect(entry, masses)) if masses and self.simplify else M

    @cached_property
    def C(self) -> sp.ImmutableMatrix:
        """Christoffel's matrix, with dM/dt - 2 C skew-symmetric: n by n."""
        return self._matrix(self.elements.C)

    @cached_property
    def c(self) -> sp.ImmutableMatrix:
        """Velocity torques C qd, centrifugal and Coriolis: n by 1."""
        return self._column(self.elements.c)

    @cached_property
    def centrifugal(self) -> sp.ImmutableMatrix:
        """The part of c in squares of velocities: n by 1."""
        return self._column(self.elements.centrifugal)

    @cached_property
    def coriolis(self) -> sp.ImmutableMatrix:
        """The part of c in products of two velocities: n by 1."""
        return self._column(self.elements.coriolis)

    @cached_property
    def g(self) -> sp.ImmutableMatrix:
        """Gravity torques: n by 1."""
        return self._column(self.elements.g)

    @cached_property
    def spring(self) -> sp.ImmutableMatrix:
        """Spring torques: n by 1."""
        return self._column(self.elements.spring)

    @cached_property
    def friction(self) -> sp.ImmutableMatrix:
        """Torques of viscous and Coulomb friction: n by 1."""
        rows = []
        for v, up, down, rate in zip(self.elements.viscous, *self.elements.coulomb, self.qd, strict=True):
            plus, minus = to_sympy(up, self._shape), to_sympy(down, self._shape)
            by_direction = sp.Piecewise((plus, rate > 0), (-minus, rate < 0), (0, True))
            dry = plus * sp.sign(rate) if plus == minus else by_direction
            rows.append([to_sympy(v, self._shape) + dry])
        return sp.ImmutableMatrix(rows)

    @cached_property
    def kinetic_energy(self) -> sp.Expr:
        """Kinetic energy, in J."""
        return to_sympy(self.elements.kinetic, self._shape)

    @cached_property
    def potential_energy(self) -> sp.Expr:
        """Potential energy of gravity and springs, in J."""
        return to_sympy(self.elements.potential, self._shape)

    @cached_property
    def tau(self) -> sp.ImmutableMatrix:
        """Torques, each ordered by accelerations, velocities, gravity, springs and friction: n by 1."""
        inertial = self.M * sp.Matrix(self.qdd)
        parts = (self.c, self.g, self.spring, self.friction)
        return sp.ImmutableMatrix([sum((p[i] for p in parts), start=inertial[i]) for i in range(len(self.q))])

    def term(self, name: str) -> sp.ImmutableMatrix:
        """A term by its name: "M", "C", "c", "g", "tau" and so on."""
        if name not in TERMS:
            raise UnknownNameError.of("term", name, TERMS, "this set of equations")
        return getattr(self, name)

    def _column(self, entries: Sequence[Any]) -> sp.ImmutableMatrix:
        return self._matrix([[x] for x in entries])

    def _matrix(self, rows: Sequence[Sequence[Any]]) -> sp.ImmutableMatrix:
        size = sum(len(x.terms) for row in rows for x in row if isinstance(x, Element))
        if size > MAX_MATRIX_TERMS:
            raise ModelError(
                f"this matrix of robot {self.robot.model.name!r} has {size} terms, which nobody can read; take it with "
                "named intermediate variables, robot.equations(...).intermediate(), or with numbers for parameters, or "
                "lock joints with robot.lock(...)"
            )
        return sp.ImmutableMatrix([[to_sympy(x, self._shape) for x in row] for row in rows])

    @property
    def _shape(self) -> Callable[[sp.Expr], sp.Expr] | None:
        """The function that is applied to each coefficient: factoring by default, none without `simplify`."""
        return None if self.simplify else lambda coefficient: coefficient
