"""What stays as it is along every motion: the energy, and momenta.

Noether's theorem in its two simplest cases. If neither energy depends on time, E = qd . dL/dqd - L is constant. If a
shift of the coordinates along a constant direction v changes nothing, the momentum v . dL/dqd is; where v is along one
coordinate, that coordinate is cyclic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sympy as sp

from chainrule.symbolic.algebra.textbook import by_inertia, inertias_in
from chainrule.symbolic.lagrange.coordinates import TIME

if TYPE_CHECKING:
    from chainrule.symbolic.lagrange.lagrangian import Lagrangian


class Conserved(NamedTuple):
    """A quantity that does not change while the inputs are zero, and why."""

    name: str
    expression: sp.Expr
    reason: str


def conserved(system: Lagrangian) -> list[Conserved]:
    """The energy if it is constant, and the momenta that are."""
    return [*_energy(system), *_momenta(system)]


def _unbalanced(system: Lagrangian) -> sp.Matrix:
    """Forces that neither energy accounts for, with no inputs."""
    return sp.Matrix(system.f.subs(dict.fromkeys(system.inputs, 0)) - system.friction)


def _energy(system: Lagrangian) -> list[Conserved]:
    power = sp.expand(_unbalanced(system).dot(sp.Matrix(system.qd)))
    timed = (system.kinetic, system.potential, *system.constraints)
    if power != 0 or any(expression.has(TIME) for expression in timed):
        return []
    reason = "neither energy depends on time, and no force takes or gives power"
    if system._constant == 0:
        return [Conserved("energy", system.energy, reason)]
    speeds = sp.Matrix(system.qd)
    quadratic = (speeds.T * system.M * speeds)[0] / 2
    return [Conserved("Jacobi's integral", quadratic - system._constant + system.potential, reason)]


def _momenta(system: Lagrangian) -> list[Conserved]:
    """Directions v in which nothing changes: v . (dL/dq + forces) is zero identically, and the constraints' J v too."""
    n = len(system.q)
    changes = [system.lagrangian.diff(q) + force for q, force in zip(system.q, _unbalanced(system), strict=True)]
    columns = [[system._canonical(sp.expand(change)), *system.J[:, i]] for i, change in enumerate(changes)]
    rows: dict[tuple[int, sp.Expr], list[sp.Expr]] = {}
    for i, column in enumerate(columns):
        for k, entry in enumerate(column):
            for term in sp.Add.make_args(sp.expand(entry)):
                number, rest = term.as_coeff_Mul()
                rows.setdefault((k, rest), [sp.S.Zero] * n)[i] += number
    directions = sp.Matrix(list(rows.values())).nullspace() if rows else list(sp.eye(n).columnspace())
    return [_momentum(system, v) for v in directions]


def _momentum(system: Lagrangian, v: sp.Matrix) -> Conserved:
    whole = sp.Matrix([system.kinetic.diff(u) for u in system.qd]).dot(v)
    inertias = inertias_in(system.kinetic, {*system.q, *system.qd})
    expanded = system._canonical(whole)
    shaped = sp.collect(expanded, system.qd, lambda x: by_inertia(sp.expand(x), inertias))
    moved = [q for q, x in zip(system.q, v, strict=True) if x != 0]
    if len(moved) == 1:
        return Conserved(f"momentum of {moved[0]}", shaped, f"{moved[0]} is cyclic: nothing depends on it")
    shift = ", ".join(f"{q} by {x}" for q, x in zip(system.q, v, strict=True) if x != 0)
    return Conserved(f"momentum of {' and '.join(map(str, moved))}", shaped, f"nothing changes on moving {shift}")
