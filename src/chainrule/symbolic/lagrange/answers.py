"""Answers compared with the equations of a Lagrangian, and the units of its terms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import sympy as sp

from chainrule.core.unit_report import UnitReport, UnitRow
from chainrule.errors import ModelError, UnknownNameError
from chainrule.symbolic.answers.alphabet import Alphabet, CoordinateSymbols, Known
from chainrule.symbolic.answers.answer import Answer
from chainrule.symbolic.answers.answer import check as check_answer
from chainrule.symbolic.answers.unit_check import rows_of, unit_table
from chainrule.symbolic.lagrange.coordinates import TIME
from chainrule.symbolic.lagrange.system import LagrangianSystem
from chainrule.symbolic.lagrange.text import TERMS

ENERGIES = ("lagrangian", "energy")


def check(
    system: LagrangianSystem,
    name: str,
    mine: Any,
    *,
    symbols: Mapping[Any, Any] | None = None,
    units: Mapping[Any, str] | None = None,
) -> Answer:
    r"""Compare an answer with a term: equal, or which entry and which term differ, and how.

    Parameters
    ----------
    name
        "M", "C", "c", "g", "tau", "friction", "J", "kinetic", "potential", "lagrangian", "energy" and so on.
    mine
        A SymPy expression or matrix, nested lists of them, or LaTeX, in one's own symbols.
    symbols
        What symbols of the answer are, where their names do not say so: {"a": "l"}.
    units
        The units of symbols, {"m": "kg", "l": "m"}: then the unit of each term is told.

    >>> import sympy as sp
    >>> from chainrule.symbolic import Lagrangian
    >>> m, g, x, xdot = sp.symbols("m g x xdot")
    >>> print(Lagrangian([x], m * xdot**2 / 2, m * g * x).check("lagrangian", r"\frac{1}{2} m \dot{x}^2 + m g x"))
    lagrangian: wrong
      the term has the wrong sign: it should be − m x g
    """
    known = (*TERMS, *ENERGIES)
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError.of("term", name, known, "a Lagrangian")
    return check_answer(name, getattr(system, name), mine, alphabet(system, units), symbols=symbols)


def alphabet(system: LagrangianSystem, units: Mapping[Any, str] | None = None) -> Alphabet:
    """The symbols of a system, for answers in other ones."""
    named = {} if units is None else _units(system, units)
    everything = [*(s for part in system.coordinates for s in part), *system.parameters, *system.inputs]
    everything += [*system.multipliers, TIME]
    known = tuple(Known(s.name, s, named.get(s.name, "")) for s in dict.fromkeys(everything))
    numbers = [re.search(r"(\d+)$", s.name) for s in system.q]
    by_name = all(numbers) and len({m[1] for m in numbers if m}) == len(numbers)
    rows = zip(numbers, system.q, system.qd, system.qdd, strict=True)
    coordinates = tuple(
        CoordinateSymbols(int(match[1]) if by_name and match else k + 1, (q, qd, qdd), q in system.angles)
        for k, (match, q, qd, qdd) in enumerate(rows)
    )
    return Alphabet(known, coordinates, "the Lagrangian")


def check_units(system: LagrangianSystem, units: Mapping[Any, str]) -> UnitReport:
    """The unit of each term of the energies and of the equations, as a table; `.ok` if all are right.

    Parameters
    ----------
    units
        The unit of each parameter and of each coordinate, {"m": "kg", "x": "m"}; those of velocities follow.

    >>> import sympy as sp
    >>> from chainrule.symbolic import Lagrangian
    >>> m, g, x, xdot = sp.symbols("m g x xdot")
    >>> Lagrangian([x], m * xdot**2 / 2, m * g * x**2, forces=0).check_units({"m": "kg", "g": "m/s^2", "x": "m"}).ok
    False
    """
    named = _units(system, units)
    efforts = ["N m" if named[q.name] == "rad" else "N" for q in system.q]
    named |= {s.name: effort for s, effort in zip(system.f, efforts, strict=True) if s in system.inputs}
    parts: list[tuple[str, sp.Expr, str | None]] = [
        ("kinetic energy", system.kinetic, "J"), ("potential energy", system.potential, "J"),
        *((f"constraint {k + 1}", row, None) for k, row in enumerate(system.constraints)),
        *((f"friction of {q}", x, effort) for q, x, effort in zip(system.q, system.friction, efforts, strict=True)),
        *((f"force on {q}", x, effort) for q, x, effort in zip(system.q, system.f, efforts, strict=True)),
    ]  # fmt: skip
    rows: list[UnitRow] = []
    for what, whole, expected in parts:
        rows += rows_of(whole, unit_table([whole], named), expected, what) if whole != 0 else []
    return UnitReport("the Lagrangian", tuple(rows))


def _units(system: LagrangianSystem, units: Mapping[Any, str]) -> dict[str, str]:
    """Units by the names of symbols, those of velocities and accelerations included."""
    named = {str(key): text for key, text in units.items()} | {"t": "s"}
    for q, qd, qdd in zip(*system.coordinates, strict=True):
        if q.name not in named and q in system.angles:
            named[q.name] = "rad"
        if q.name not in named:
            raise ModelError(f"the unit of the coordinate {q} is not given: units={{{q.name!r}: 'm'}}")
        named |= {qd.name: f"{named[q.name]}/s", qdd.name: f"{named[q.name]}/s^2"}
    return named
