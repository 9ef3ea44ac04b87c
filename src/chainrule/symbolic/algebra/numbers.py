"""Numbers for symbols, given in dictionaries by symbol or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from chainrule.arguments import number
from chainrule.errors import ShapeError, UnknownNameError, quoted


def values_of(
    given: Mapping[Any, Any], symbols: Sequence[sp.Symbol], where: str, *, exact: bool = True
) -> dict[Any, float]:
    """A number for every symbol. Missing names are refused, and unknown names too if `exact`.

    >>> values_of({"m": 2}, [sp.Symbol("m")], "the pendulum")
    {m: 2.0}
    """
    if not isinstance(given, Mapping):
        raise ShapeError(f"parameters must be a dictionary of names and numbers, got {given!r:.60}")
    known = {symbol.name: symbol for symbol in symbols}
    values = {}
    for key, value in given.items():
        if str(key) in known:
            values[known[str(key)]] = number(value, f"the parameter {key}")
        elif exact:
            raise UnknownNameError.of("parameter", str(key), known, where)
    missing = [name for name, symbol in known.items() if symbol not in values]
    if missing:
        raise ShapeError(f"{where} needs numbers for the parameters {quoted(missing)}; they are missing")
    return values
