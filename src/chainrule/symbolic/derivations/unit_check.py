"""A check of units without symbols: numbers in other units must change by the factor of their unit."""

from __future__ import annotations

from chainrule.algorithms import vector_form
from chainrule.algorithms.vector_form import UNITS
from chainrule.core.derived import merged_model
from chainrule.model import Model
from chainrule.symbolic.algebra.units import UnitError, rescale_model, scale, unit
from chainrule.symbolic.derivations.problem import DerivationProblem

OTHER_UNITS = (2.2046226218487757, 3.280839895013123, 1 / 60)
"""Pounds, feet and minutes in a kilogram, a meter and a second."""

TOLERANCE = 1e-9
"""Relative difference by rounding."""


def check_in_other_units(problem: DerivationProblem) -> None:
    """Refuse a robot whose Newton-Euler equations in pounds, feet and minutes do not agree with those in SI units."""
    model = merged_model(problem.frictionless)
    q, qd, qdd = ([float(x) for x in part] for part in problem.state)
    first = _columns(model, q, qd, qdd)
    rates = [[scale(unit(f"{u}{per}"), OTHER_UNITS) for u in problem.coordinate_units] for per in ("", "/s", "/s^2")]
    q, qd, qdd = (
        [x * factor for x, factor in zip(part, factors, strict=True)]
        for part, factors in zip((q, qd, qdd), rates, strict=True)
    )
    again = _columns(rescale_model(model, OTHER_UNITS), q, qd, qdd)
    units = {name: [text] * len(first[name]) for name, text in UNITS.items()} | {"tau": problem.torque_units}
    for name, texts in units.items():
        expected = [x * scale(unit(text), OTHER_UNITS) for x, text in zip(first[name], texts, strict=True)]
        size = max(map(abs, expected), default=0.0)
        for x, y, text in zip(again[name], expected, texts, strict=True):
            if abs(x - y) > TOLERANCE * size:
                raise UnitError(f"{name} is not in {text}: in pounds, feet and minutes it is {x}, instead of {y}")


def _columns(model: Model, q: list[float], qd: list[float], qdd: list[float]) -> dict[str, list[float]]:
    """The columns of the Newton-Euler table, and the torques."""
    rows, tau = vector_form.newton_euler(model, q, qd, qdd)
    columns = {name: [float(x) for row in rows for x in getattr(row, name)] for name in UNITS}
    return columns | {"tau": [float(x) for x in tau]}
