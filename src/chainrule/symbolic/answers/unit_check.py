"""The units of the terms of any expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sympy as sp

from chainrule.core.unit_report import UnitReport, UnitRow
from chainrule.errors import ShapeError, short_repr
from chainrule.spatial.units import Unit, UnitError, unit, unit_name
from chainrule.symbolic.algebra.expressions import expression_or_matrix, matrix
from chainrule.symbolic.algebra.units import unit_of
from chainrule.symbolic.answers.alphabet import without_functions_of_time
from chainrule.symbolic.answers.comparison import refuse_strange
from chainrule.symbolic.answers.differences import MAX_EXPANDED_TERMS, expanded_size
from chainrule.symbolic.answers.latex_reader import expression_from_latex
from chainrule.symbolic.documents.plain_text import line
from chainrule.symbolic.documents.printing import latex


def check_units(expression: Any, units: Any, expected: str | None = None) -> UnitReport:
    """The unit of each term of an expression or matrix, as a table; `.ok` if the terms of every sum have one unit.

    Parameters
    ----------
    expression
        A SymPy expression or matrix, nested lists of them, or LaTeX.
    units
        The unit of each symbol, {"m": "kg", "l": "m", "theta": "rad"}; or the equations of a robot,
        `robot.equations()`, whose symbols one's own are matched with, theta_1 with q_1 and so on.
    expected
        The unit that all terms should have, such as "N m"; that of the first term of each entry by default.

    >>> import sympy as sp
    >>> m, l, g, theta, thetadot = sp.symbols("m l g theta thetadot")
    >>> units = {"m": "kg", "l": "m", "g": "m/s^2", "theta": "rad", "thetadot": "rad/s"}
    >>> report = check_units(m * l**2 * thetadot**2 / 2 - m * g * sp.cos(theta), units, "J")
    >>> report.ok, [row.unit for row in report.rows]
    (False, ['N, expected J', 'J'])
    """
    if isinstance(expression, str):
        whole = expression_from_latex(expression)
    elif isinstance(expression, (list, tuple)):
        whole = matrix(expression, "what units are checked of")
    else:
        whole = expression_or_matrix(expression, "what units are checked of")
    entries = [without_functions_of_time(x) for x in (whole if isinstance(whole, sp.MatrixBase) else [whole])]
    refuse_strange(entries)
    powers = unit_table(entries, units)
    rows: list[UnitRow] = []
    for k, entry in enumerate(entries):
        rows += rows_of(entry, powers, expected, f"entry {k + 1}" if len(entries) > 1 else "")
    return UnitReport("the expression", tuple(rows))


def unit_table(entries: list[sp.Expr], units: Any) -> dict[sp.Symbol, Unit]:
    """The unit of each symbol of some expressions, from a dictionary or from equations."""
    symbols = sorted({s for entry in entries for s in entry.free_symbols}, key=lambda s: s.name)
    if hasattr(units, "alphabet"):
        alphabet = units.alphabet()
        meanings, own = alphabet.readings(symbols), alphabet.units()
        powers = {symbol: unit(text) for symbol, text in own.items()}
        return {s: unit_of(meaning, powers) or unit("1") for s, meaning in meanings.items()}
    if not isinstance(units, Mapping):
        raise ShapeError(
            f"units are a dictionary such as {{'m': 'kg'}}, or equations of a robot, got {short_repr(units)}"
        )
    named = {str(key): _unit(key, text) for key, text in units.items()}
    missing = [s.name for s in symbols if s.name not in named]
    if missing:
        raise ShapeError(f"the units of {', '.join(missing)} are not given: units={{{missing[0]!r}: 'kg'}}")
    return {s: named[s.name] for s in symbols}


def _unit(key: Any, text: Any) -> Unit:
    if not isinstance(text, str):
        raise ShapeError(f"the unit of {key} is a text such as 'kg m^2', got {short_repr(text)}")
    return unit(text)


def rows_of(entry: sp.Expr, powers: Mapping[sp.Symbol, Unit], expected: str | None, of: str) -> Iterator[UnitRow]:
    """A row for each term of a sum."""
    whole = sp.expand(entry) if expanded_size(entry) <= MAX_EXPANDED_TERMS else entry
    target = None if expected is None else unit(expected)
    for term in whole.as_ordered_terms():
        text = line(latex(term))
        try:
            found = unit_of(term, powers)
        except UnitError as error:
            yield UnitRow(text, of, str(error), False)
            continue
        target = found if target is None else target
        name = "zero" if found is None or target is None else expected or unit_name(target)
        is_right = found is None or found == target
        given = "" if found is None else unit_name(found)
        yield UnitRow(text, of, name if is_right else f"{given}, expected {name}", is_right)
