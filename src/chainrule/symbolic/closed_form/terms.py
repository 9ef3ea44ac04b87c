"""The terms of the equations of motion as elements of the ring.

The library's algorithms run on trigonometric polynomials instead of numbers: M by the composite-rigid-body algorithm,
C by Christoffel's symbols from M, gravity by the recursive Newton-Euler algorithm. The torques are also derived from
the energies, by Lagrange's equations, as a check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from chainrule.algorithms import crba, energy, joint_forces, rnea, vector_form
from chainrule.lazy import cached_property
from chainrule.model import edits
from chainrule.symbolic.algebra.ring import Element, prune
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel


class Terms:
    """The terms of the equations of motion of a symbolic model, each computed when it is first used."""

    def __init__(self, symbolic: SymbolicModel) -> None:
        self.symbolic = symbolic
        self.q, self.qd, self.qdd = symbolic.state()
        self.n = len(self.q)
        self._frictionless = edits.without_friction(symbolic.model)

    @cached_property
    def M(self) -> list[list[Any]]:
        """The mass matrix."""
        n = self.n
        entries = _prune_together([x for row in crba.mass_matrix(self.symbolic.model, self.q) for x in row])
        return [entries[i * n : (i + 1) * n] for i in range(n)]

    @cached_property
    def christoffel(self) -> list[list[list[Any]]]:
        """Christoffel's symbols c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2."""
        n, M = self.n, self.M
        d = [[[_derivative(M[i][j], s) for s in self.symbolic.q] for j in range(n)] for i in range(n)]
        return [
            [[prune((d[i][j][k] + d[i][k][j] - d[j][k][i]) * 0.5) for k in range(n)] for j in range(n)]
            for i in range(n)
        ]

    @cached_property
    def C(self) -> list[list[Any]]:
        """Christoffel's matrix."""
        return [[_sum(c * v for c, v in zip(row, self.qd, strict=True)) for row in plane] for plane in self.christoffel]

    @cached_property
    def centrifugal(self) -> list[Any]:
        """Torques proportional to squares of velocities."""
        return [_sum(plane[j][j] * self.qd[j] * self.qd[j] for j in range(self.n)) for plane in self.christoffel]

    @cached_property
    def coriolis(self) -> list[Any]:
        """Torques proportional to products of two velocities."""
        pairs = [(j, k) for j in range(self.n) for k in range(j)]
        return [_sum(plane[j][k] * self.qd[j] * self.qd[k] * 2 for j, k in pairs) for plane in self.christoffel]

    @cached_property
    def c(self) -> list[Any]:
        """Velocity torques C qd."""
        return [prune(a + b) for a, b in zip(self.centrifugal, self.coriolis, strict=True)]

    @cached_property
    def g(self) -> list[Any]:
        """Gravity torques."""
        return _prune_together(rnea.gravity_torque(self.symbolic.model, self.q))

    @cached_property
    def spring(self) -> list[Any]:
        """Spring torques."""
        return [prune(x) for x in joint_forces.spring_torque(self.symbolic.model, self.q)]

    @cached_property
    def kinetic(self) -> Any:
        """Kinetic energy."""
        return prune(energy.kinetic_energy(self.symbolic.model, self.q, self.qd))

    @cached_property
    def potential(self) -> Any:
        """Potential energy."""
        return prune(energy.potential_energy(self.symbolic.model, self.q))

    @cached_property
    def newton_euler(self) -> list[Any]:
        """Torques without friction by the recursive Newton-Euler algorithm, in vector form."""
        return vector_form.inverse_dynamics(self._frictionless, self.q, self.qd, self.qdd)

    @cached_property
    def lagrange(self) -> list[Any]:
        """Torques without friction by Lagrange's equations: d/dt dK/dqd - dK/dq + dP/dq."""
        q, qd = self.symbolic.q, self.symbolic.qd
        torques = []
        for i in range(self.n):
            momentum = _derivative(self.kinetic, qd[i])
            rate = _sum(
                _derivative(momentum, q[j]) * self.qd[j] + _derivative(momentum, qd[j]) * self.qdd[j]
                for j in range(self.n)
            )
            torques.append(rate - _derivative(self.kinetic, q[i]) + _derivative(self.potential, q[i]))
        return torques


def _derivative(x: Any, symbol: sp.Symbol) -> Any:
    return x.derivative(symbol) if isinstance(x, Element) else 0


def _sum(parts: Any) -> Any:
    return sum(parts, start=0)


def _prune_together(values: Sequence[Any]) -> list[Any]:
    """Drop the rounding errors of several elements, relative to the largest coefficient of all."""
    coefficients = [abs(c) for x in values if isinstance(x, Element) for c in x.terms.values()]
    largest = max(coefficients, default=0.0)
    return [x.prune(largest) if isinstance(x, Element) else x for x in values]
