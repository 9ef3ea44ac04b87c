"""Linearization about rest: dx/dt = A x + B u, with x the deviations of (q, qd).

The equations R(x, y, u) = 0 determine the unknowns y = (qdd, lambda); their derivative is
dR/dy dy = -dR/dx dx - dR/du du. Constraints hold to first order only: deviations that violate them drift.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.errors import ModelError
from chainrule.symbolic.algebra.numbers import values_of
from chainrule.symbolic.lagrange.coordinates import TIME, each, expression_of
from chainrule.symbolic.lagrange.equilibria import balance, read_inputs
from chainrule.symbolic.lagrange.system import LagrangianSystem

ROUNDING = 1e-12
"""Coefficients below this are rounding errors, if the configuration is given in decimals."""


@dataclass(frozen=True)
class Linearization:
    """A (2n by 2n) and B (2n by inputs) at the configuration `at`, where `inputs` hold the system at rest.

    `states` are the symbols of x, coordinates and then velocities; `multipliers` belong to the constraints at rest.
    """

    A: sp.ImmutableMatrix
    B: sp.ImmutableMatrix
    states: tuple[sp.Symbol, ...]
    at: dict[sp.Symbol, sp.Expr]
    inputs: dict[sp.Symbol, sp.Expr]
    multipliers: dict[sp.Symbol, sp.Expr]

    def numbers(self, parameters: Mapping[Any, float]) -> tuple[Array, Array]:
        """The arrays A and B, for a number of every parameter."""
        symbols = sorted(self.A.free_symbols | self.B.free_symbols, key=lambda s: s.name)
        values = values_of(parameters, symbols, "the linearization", exact=False)
        A, B = (
            np.array(matrix.subs(values).evalf().tolist(), dtype=float).reshape(matrix.shape)
            for matrix in (self.A, self.B)
        )
        return A, B


def linearize(system: LagrangianSystem, at: Any, inputs: Mapping[Any, Any] | None = None) -> Linearization:
    """The linear system dx/dt = A x + B u of small deviations x = (q, qd) and u from rest at a configuration.

    at: a value for each coordinate, as a list or a dictionary. inputs: those that hold the system there; they are
    solved for if none are given.
    """
    place = {
        q: expression_of(x, f"the value of {q}")
        for q, x in zip(system.q, each(at, system.coordinates, "at"), strict=True)
    }
    _refuse_dry_friction(system)
    resting_inputs, multipliers = _inputs_at_rest(system, place, inputs)
    n, m = len(system.q), len(system.multipliers)
    unknowns = sp.Matrix([*system.qdd, *system.multipliers])
    motion = system.M * sp.Matrix(system.qdd) + system.c + system.g + system.friction - system.f
    motion -= system.J.T * sp.Matrix(m, 1, system.multipliers)
    closing = system.J * sp.Matrix(system.qdd) + system.gamma
    R = sp.Matrix([*motion, *closing])
    there = {**place, **resting_inputs, **multipliers, **dict.fromkeys((*system.qd, *system.qdd), sp.S.Zero)}

    def derivative(symbols: Any) -> sp.Matrix:
        return R.jacobian(sp.Matrix(symbols)).subs(there) if len(symbols) else sp.zeros(n + m, 0)

    by_unknowns = derivative(unknowns)
    right = sp.Matrix.hstack(derivative((*system.q, *system.qd)), derivative(system.inputs))
    rates = (by_unknowns.LUsolve(-right)[:n, :]).applyfunc(_simplify)
    A = sp.Matrix.vstack(sp.Matrix.hstack(sp.zeros(n), sp.eye(n)), rates[:, : 2 * n])
    B = sp.Matrix.vstack(sp.zeros(n, len(system.inputs)), rates[:, 2 * n :])
    states = (*system.q, *system.qd)
    return Linearization(sp.ImmutableMatrix(A), sp.ImmutableMatrix(B), states, place, resting_inputs, multipliers)


def _inputs_at_rest(
    system: LagrangianSystem, place: dict[sp.Symbol, sp.Expr], inputs: Mapping[Any, Any] | None
) -> tuple[dict[sp.Symbol, sp.Expr], dict[sp.Symbol, sp.Expr]]:
    """The inputs and multipliers that hold the system at a configuration; refused if there are none."""
    known = read_inputs(system, inputs)
    if inputs is not None:
        known = dict.fromkeys(system.inputs, sp.S.Zero) | known
    for row in system.constraints:
        left = _simplify(row.subs(place))
        if left != 0 and left.subs(TIME, 0) != 0:
            raise ModelError(
                f"the constraint {row} = 0 fails there: the left-hand side is {left}; choose a place where it holds"
            )
    rest = balance(system).subs(place).subs(known).applyfunc(_simplify)
    if rest.has(TIME):
        raise ModelError("the system depends on time, so that it rests nowhere; replace t by a constant first")
    unknowns = [s for s in (*system.inputs, *system.multipliers) if rest.has(s)]
    solved = _solve(rest, unknowns)
    if solved is None:
        i = next((i for i, x in enumerate(rest) if x != 0 and not x.has(*unknowns)), 0)
        raise ModelError(
            f"the system does not rest there: the force on {system.q[i]} is out of balance by {rest[i]}, and "
            f"{'no input holds it' if inputs is None else 'the given inputs do not hold it'}. Take one of "
            "equilibria(), or give inputs= that balance it"
        )
    resting_inputs = {s: known.get(s, solved.get(s, sp.S.Zero)) for s in system.inputs}
    return resting_inputs, {s: solved.get(s, sp.S.Zero) for s in system.multipliers}


def _solve(rest: sp.Matrix, unknowns: list[sp.Symbol]) -> dict[sp.Symbol, sp.Expr] | None:
    """Unknowns for which all rows are zero; unknowns that remain free are zero. None if there are none."""
    rows = [row for row in rest if row != 0]
    if not rows or not unknowns:
        return None if rows else {}
    try:
        found = next(iter(sp.linsolve(rows, unknowns)), None)
    except sp.solvers.solveset.NonlinearError:
        raise ModelError(
            "the forces are not linear in their inputs, so that nobody knows which hold the system; give inputs="
        ) from None
    open_ = dict.fromkeys(unknowns, sp.S.Zero)
    return None if found is None else {s: _simplify(x.subs(open_)) for s, x in zip(unknowns, found, strict=True)}


def _simplify(expression: sp.Expr) -> sp.Expr:
    """Simplify an exact expression; expand one with decimals, and drop its rounding errors."""
    if not expression.has(sp.Float):
        return sp.simplify(expression)
    terms = sp.Add.make_args(sp.expand(expression))
    return sp.Add(*(term for term in terms if abs(term.as_coeff_Mul()[0]) > ROUNDING))


def _refuse_dry_friction(system: LagrangianSystem) -> None:
    for q, expression in zip(system.q, system.friction + system.f, strict=True):
        jumping = expression.atoms(sp.sign, sp.Abs, sp.Heaviside, sp.Piecewise)
        if any(function.free_symbols & set(system.qd) for function in jumping):
            raise ModelError(
                f"the friction of {q} jumps at rest, so that there is no linear system about it; leave dry friction "
                "out, with Friction(viscous=..) alone, or smooth it, as with coulomb*tanh(qd/v)"
            )
