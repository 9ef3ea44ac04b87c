"""Equilibria of a system: g(q) = f + J^T lambda and the constraints, at zero velocity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import sympy as sp

from chainrule.errors import ModelError, ShapeError, UnknownNameError
from chainrule.symbolic.algebra.textbook import canonical
from chainrule.symbolic.lagrange.coordinates import TIME, expression_of
from chainrule.symbolic.lagrange.system import LagrangianSystem

Solution = dict[sp.Symbol, sp.Expr]


def equilibria(system: LagrangianSystem, inputs: Mapping[Any, Any] | None = None) -> list[Solution]:
    """Configurations of rest; inputs that are not given are zero. Refused where no closed form is found.

    A coordinate that is missing in a solution may have any value. Angles are within (-pi, pi].
    """
    values = dict.fromkeys(system.inputs, sp.S.Zero) | read_inputs(system, inputs)
    rows = [canonical(row, system.angles) for row in balance(system).subs(values)]
    rows = [row for row in (*rows, *system.constraints) if row != 0]
    if any(row.has(TIME) for row in rows):
        raise ModelError("the system depends on time, so that it rests nowhere; replace t by a constant first")
    unknowns = [s for s in (*system.q, *system.multipliers) if any(row.has(s) for row in rows)]
    if not unknowns:
        if rows:
            raise ModelError(f"the system rests nowhere: {rows[0]} would have to be zero; give inputs= that balance it")
        return [{}]
    found = _by_functions(rows, unknowns)
    if found is None:
        found = _by_solving(rows, unknowns)
    return [{s: _within_pi(x, s in system.angles) for s, x in solution.items()} for solution in _distinct(found)]


def balance(system: LagrangianSystem) -> sp.Matrix:
    """The residual of the equations of motion at rest, zero in equilibrium. Dry friction counts as zero."""
    still = dict.fromkeys((*system.qd, *system.qdd), 0)
    tied = system.J.T * sp.Matrix(len(system.multipliers), 1, system.multipliers)
    return sp.Matrix((system.c + system.g + system.friction - system.f - tied).subs(still))


def read_inputs(system: LagrangianSystem, inputs: Mapping[Any, Any] | None) -> Solution:
    """Values of inputs by symbol, from a dictionary by symbol or name."""
    known = {symbol.name: symbol for symbol in system.inputs}
    values: Solution = {}
    if inputs is not None and not isinstance(inputs, Mapping):
        raise ShapeError(f"inputs must be a dictionary of inputs and their values, got {inputs!r:.60}")
    for key, value in (inputs or {}).items():
        if str(key) not in known:
            raise UnknownNameError.of("input", str(key), known, "the Lagrangian")
        values[known[str(key)]] = expression_of(value, f"the input {key}")
    return values


def _by_functions(rows: Sequence[sp.Expr], unknowns: Sequence[sp.Symbol]) -> list[Solution] | None:
    """Solutions if the rows are linear in sines, cosines and coordinates: first for these, then for the angles.

    None if the rows are not of this kind, or do not determine all of them.
    """
    moving = set(unknowns)
    functions = sorted({f for row in rows for f in row.atoms(sp.sin, sp.cos) if f.free_symbols & moving}, key=str)
    stand_ins = {f: sp.Dummy() for f in functions}
    replaced = [row.xreplace(stand_ins) for row in rows]
    loose = [s for s in unknowns if any(row.has(s) for row in replaced)]
    places = [*stand_ins.values(), *loose]
    arguments = sp.Matrix(len(functions), 1, [f.args[0] for f in functions])
    slopes = arguments.jacobian(list(unknowns)) if functions else sp.zeros(0, 0)
    independent = not slopes.free_symbols & moving and slopes.rank() == len(functions)
    if not independent or any(not _linear(row, places) for row in replaced):
        return None
    values = next(iter(sp.linsolve(replaced, places)), None)
    if values is None:
        return []
    if any(value.has(*places) for value in values):
        return None
    branches = [_branches(f, values[k]) for k, f in enumerate(functions)]
    fixed = [s - value for s, value in zip(loose, values[len(functions) :], strict=True)]
    solutions: list[Solution] = []
    for choice in product(*branches):
        for values_found in sp.linsolve([*choice, *fixed], list(unknowns)):
            pairs = zip(unknowns, values_found, strict=True)
            solutions.append({s: x for s, x in pairs if x != s})
    return solutions


def _linear(row: sp.Expr, places: Sequence[sp.Symbol]) -> bool:
    return all(not row.diff(a).has(*places) for a in places)


def _branches(function: sp.Expr, value: sp.Expr) -> list[sp.Expr]:
    """The angle minus each of its two solutions, for a given sine or cosine."""
    angle = function.args[0]
    if value.is_number and not (abs(value) <= 1):
        return []
    if isinstance(function, sp.sin):
        principal = sp.asin(value)
        return [angle - principal, angle - (sp.pi - principal)]
    principal = sp.acos(value)
    return [angle - principal, angle + principal]


def _by_solving(rows: Sequence[sp.Expr], unknowns: Sequence[sp.Symbol]) -> list[Solution]:
    """The real solutions that SymPy's solver finds."""
    try:
        found = sp.solve([sp.factor(sp.expand_trig(row)) for row in rows], list(unknowns), dict=True)
    except (NotImplementedError, ValueError):
        found = []
    real = [solution for solution in found if all(x.is_real is not False for x in solution.values())]
    if not real:
        raise ModelError(
            "no closed form of the equilibria was found for "
            + ", ".join(f"{row} = 0" for row in rows)
            + "; give numbers for the parameters with .subs in the energies, or find one with sympy.nsolve and pass it "
            "to linearize"
        )
    return real


def _within_pi(x: sp.Expr, angle: bool) -> sp.Expr:
    """An angle within (-pi, pi]; other expressions are expanded only."""
    whole = sp.expand(x)
    if not angle:
        return whole
    number = whole.as_independent(*whole.free_symbols, as_Add=True)[0] if whole.free_symbols else whole
    if not number.is_real:
        return whole
    return sp.expand(whole - 2 * sp.pi * sp.ceiling((number - sp.pi) / (2 * sp.pi)))


def _distinct(solutions: Sequence[Solution]) -> list[Solution]:
    found: list[Solution] = []
    for solution in solutions:
        if solution not in found:
            found.append(solution)
    return found
