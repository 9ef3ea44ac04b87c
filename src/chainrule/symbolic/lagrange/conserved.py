"""Conserved quantities: the energy, and momenta.

Noether's theorem in its two simplest cases. If neither energy depends on time, E = qd . dL/dqd - L is constant. If a
shift of the coordinates along a constant direction v changes nothing, the momentum v . dL/dqd is constant; if v is
along one coordinate, that coordinate is cyclic.
"""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp

from chainrule.symbolic.algebra.textbook import by_inertia, inertias_in
from chainrule.symbolic.lagrange.coordinates import TIME
from chainrule.symbolic.lagrange.system import LagrangianSystem


class ConservedQuantity(NamedTuple):
    """A quantity that is constant while the inputs are zero, and the reason."""

    name: str
    expression: sp.Expr
    reason: str


def conserved_quantities(system: LagrangianSystem) -> list[ConservedQuantity]:
    """Quantities that are constant while all inputs are zero: the energy, and momenta of cyclic coordinates."""
    return [*_energy(system), *_momenta(system)]


def _nonconservative_forces(system: LagrangianSystem) -> sp.Matrix:
    """Forces that are in neither energy, for inputs of zero."""
    return sp.Matrix(system.f.subs(dict.fromkeys(system.inputs, 0)) - system.friction)


def _energy(system: LagrangianSystem) -> list[ConservedQuantity]:
    power = sp.expand(_nonconservative_forces(system).dot(sp.Matrix(system.qd)))
    timed = (system.kinetic, system.potential, *system.constraints)
    if power != 0 or any(expression.has(TIME) for expression in timed):
        return []
    reason = "neither energy depends on time, and no force takes or gives power"
    if system.kinetic_at_rest == 0:
        return [ConservedQuantity("energy", system.energy, reason)]
    speeds = sp.Matrix(system.qd)
    quadratic = (speeds.T * system.M * speeds)[0] / 2
    return [ConservedQuantity("Jacobi's integral", quadratic - system.kinetic_at_rest + system.potential, reason)]


def _momenta(system: LagrangianSystem) -> list[ConservedQuantity]:
    """Momenta along the directions v with v . (dL/dq + forces) = 0 and J v = 0 in every state."""
    n = len(system.q)
    forces = _nonconservative_forces(system)
    changes = [system.lagrangian.diff(q) + force for q, force in zip(system.q, forces, strict=True)]
    columns = [[system.canonical(sp.expand(change)), *system.J[:, i]] for i, change in enumerate(changes)]
    rows: dict[tuple[int, sp.Expr], list[sp.Expr]] = {}
    for i, column in enumerate(columns):
        for k, entry in enumerate(column):
            for term in sp.Add.make_args(sp.expand(entry)):
                number, rest = term.as_coeff_Mul()
                rows.setdefault((k, rest), [sp.S.Zero] * n)[i] += number
    directions = sp.Matrix(list(rows.values())).nullspace() if rows else list(sp.eye(n).columnspace())
    return [_momentum(system, v) for v in directions]


def _momentum(system: LagrangianSystem, v: sp.Matrix) -> ConservedQuantity:
    whole = sp.Matrix([system.kinetic.diff(u) for u in system.qd]).dot(v)
    inertias = inertias_in(system.kinetic, {*system.q, *system.qd})
    expanded = system.canonical(whole)
    shaped = sp.collect(expanded, system.qd, lambda x: by_inertia(sp.expand(x), inertias))
    moved = [q for q, x in zip(system.q, v, strict=True) if x != 0]
    if len(moved) == 1:
        return ConservedQuantity(f"momentum of {moved[0]}", shaped, f"{moved[0]} is cyclic: nothing depends on it")
    shift = ", ".join(f"{q} by {x}" for q, x in zip(system.q, v, strict=True) if x != 0)
    names = " and ".join(map(str, moved))
    return ConservedQuantity(f"momentum of {names}", shaped, f"nothing changes on moving {shift}")
