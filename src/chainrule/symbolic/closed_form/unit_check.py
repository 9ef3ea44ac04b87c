"""Units of the equations of motion, term by term, from the units of their symbols."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from chainrule.core.unit_report import UnitReport, UnitRow
from chainrule.errors import ModelError
from chainrule.spatial.units import Unit, UnitError, multiply, unit, unit_name
from chainrule.symbolic.algebra.units import has_numbers_with_units, unit_of
from chainrule.symbolic.closed_form.matrices import Matrices

TORQUES = ("c", "g", "spring", "friction", "external", "tau")
"""Terms with an entry for each joint, in N m or N."""


def check_units(equations: Matrices) -> UnitReport:
    """The unit of each entry of each term; every sum inside is checked as well."""
    model = equations.symbolic.model
    laws = [joint.name for joint in model.joints if any(dof.friction_function for dof in joint.dofs)]
    if has_numbers_with_units(model) and not laws:
        raise ModelError(
            f"the equations of robot {equations.robot.model.name!r} hold plain numbers for quantities with a unit, "
            "so that units cannot be told from them; keep all parameters symbolic, or use robot.textbook.check_units()"
        )
    units = {entry.symbol: unit(entry.unit) for entry in equations.symbols.entries}
    rows = [_row(*entry, units) for entry in _entries(equations, bool(laws))]
    rows += [UnitRow("friction function", name, "", None) for name in laws]
    return UnitReport(f"the equations of motion of robot {equations.robot.model.name!r}", tuple(rows))


def _entries(equations: Matrices, has_laws: bool) -> Iterator[tuple[str, str, sp.Expr, str]]:
    """Each entry of a term that is not zero: the term, the joint, the expression, and its unit."""
    velocities = equations.symbolic.model.layout.velocities
    names = [velocity.name for velocity in velocities]
    efforts = ["N m" if velocity.unit == "rad" else "N" for velocity in velocities]
    for i, first in enumerate(velocities):
        for j, second in enumerate(velocities):
            expected = multiply(unit(efforts[i]), unit(f"{second.unit}/s^2"), -1)
            yield "M", f"{first.name}, {second.name}", equations.M[i, j], unit_name(expected)
    for term in TORQUES:
        if has_laws and term in ("friction", "tau"):  # their numbers have units that nobody knows
            continue
        for name, entry, effort in zip(names, equations.term(term), efforts, strict=True):
            yield term, name, entry, effort
    yield "kinetic energy", "robot", equations.kinetic_energy, "J"
    yield "potential energy", "robot", equations.potential_energy, "J"


def _row(term: str, of: str, expression: sp.Expr, expected: str, units: dict[sp.Symbol, Unit]) -> UnitRow:
    try:
        found = unit_of(expression, units)
    except UnitError as error:
        return UnitRow(term, of, str(error), False)
    if found is None:
        return UnitRow(term, of, "zero", True)
    is_right = found == unit(expected)
    return UnitRow(term, of, expected if is_right else f"{unit_name(found)}, expected {expected}", is_right)
