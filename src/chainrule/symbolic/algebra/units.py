"""Units of expressions and of models: all terms of a sum have the same unit, and angles have none."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from chainrule.model import Model
from chainrule.model.parts import SHARE
from chainrule.spatial.units import DIMENSIONLESS, Unit, UnitError, multiply, unit, unit_name
from chainrule.symbolic.algebra.ring import Element

__all__ = [
    "DIMENSIONLESS", "Unit", "UnitError", "has_numbers_with_units", "rescale_model", "scale", "unit", "unit_name",
    "unit_of",
]  # fmt: skip


def unit_of(expression: Any, units: Mapping[sp.Symbol, Unit]) -> Unit | None:
    """The unit of an expression, with every term checked; None for zero, which fits any unit.

    >>> m, v = sp.symbols("m v")
    >>> unit_of(m * v**2 / 2, {m: unit("kg"), v: unit("m/s")}) == unit("J")
    True
    """
    if expression == 0:
        return None
    if isinstance(expression, sp.Symbol):
        if expression not in units:
            raise UnitError(f"the unit of {expression} is not known")
        return units[expression]
    if expression.is_number:
        return DIMENSIONLESS
    if isinstance(expression, sp.Add):
        return _common_unit(expression, expression.args, units)
    if isinstance(expression, sp.Mul):
        total = DIMENSIONLESS
        for factor in expression.args:
            total = multiply(total, unit_of(factor, units) or DIMENSIONLESS)
        return total
    if isinstance(expression, sp.Pow) and expression.exp.is_Rational:
        return multiply(
            DIMENSIONLESS,
            unit_of(expression.base, units) or DIMENSIONLESS,
            Fraction(int(expression.exp.p), int(expression.exp.q)),
        )
    if isinstance(expression, sp.Piecewise):
        return _common_unit(expression, [piece for piece, _ in expression.args], units)
    if isinstance(expression, sp.sign):
        return DIMENSIONLESS
    if isinstance(expression, sp.Abs):
        return unit_of(expression.args[0], units)
    if isinstance(expression, (sp.exp, sp.tanh)):
        if unit_of(expression.args[0], units) not in (DIMENSIONLESS, None):
            raise UnitError(f"the argument of {expression} has a unit, and must be a plain number")
        return DIMENSIONLESS
    if isinstance(expression, (sp.sin, sp.cos)):
        if unit_of(expression.args[0], units) not in (DIMENSIONLESS, None):
            raise UnitError(f"the argument of {expression} has a unit; only angles have a sine")
        return DIMENSIONLESS
    raise UnitError(f"the unit of {expression!s:.60} cannot be told")


def _common_unit(whole: Any, terms: Any, units: Mapping[sp.Symbol, Unit]) -> Unit | None:
    found: Unit | None = None
    for term in terms:
        this = unit_of(term, units)
        if found is not None and this is not None and this != found:
            raise UnitError(
                f"the terms of {whole!s:.80} differ in units: {unit_name(found)} and {unit_name(this)} ({term})"
            )
        found = this if found is None else found
    return found


def has_numbers_with_units(model: Model) -> bool:
    """Whether a symbolic model has plain numbers for quantities that have a unit."""
    found = []

    def note(x: Any, text: str) -> Any:
        found.append(text not in ("1", "1/m", SHARE) and not isinstance(x, Element) and x != 0)
        return x

    model.map(note)
    laws = [dof.friction_function for joint in model.joints for dof in joint.dofs]
    return any(found) or any(laws)  # the numbers in a friction function have units that nobody knows


def rescale_model(model: Model, factors: tuple[float, float, float]) -> Model:
    """Convert a model to other units; `factors` are the numbers of new units in a kg, a m and a s."""
    return model.map(lambda x, text: x * scale(unit(text), factors))


def scale(powers: Unit, factors: tuple[float, float, float]) -> float:
    """The factor by which the number of a quantity changes with the units."""
    result = 1.0
    for power, factor in zip(powers, factors, strict=True):
        result *= factor ** float(power)
    return result
