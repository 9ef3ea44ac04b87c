"""What users choose for the parameters and coordinates of equations: numbers, and symbols of their own."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from chainrule.arguments import flag
from chainrule.errors import ShapeError, short_repr

LETTER = re.compile(r"[A-Za-z]+")
"""Letters that coordinates may have: q, theta, phi."""

ANY_VALUE = ("positive", "negative", "zero", "nonnegative", "nonpositive", "integer")
"""Assumptions that a coordinate does not keep: it takes every real value."""


@dataclass(frozen=True)
class Choices:
    """Whether all parameters stay numbers; otherwise the numbers and the symbols that replace names."""

    numeric: bool = False
    numbers: Mapping[str, Any] = field(default_factory=dict)
    symbols: Mapping[str, str | sp.Symbol] = field(default_factory=dict)
    plain: bool = False
    """Whether symbols are made without assumptions."""
    given: frozenset[str] = frozenset()
    """Names of symbols that the user gave one by one: they stay, and are refused where they clash."""

    @staticmethod
    def for_call(
        count: int, parameters: Any = "symbolic", symbols: Any = None, coordinates: str = "q", *, positive: bool = True
    ) -> Choices:
        """The choices of a call for a robot of `count` coordinates, which have the letter `coordinates`.

        `positive` gives masses and lengths the assumption that they are positive, and all symbols that they are real.
        """
        found = Choices.of(parameters, symbols)
        if not isinstance(coordinates, str) or not LETTER.fullmatch(coordinates):
            raise ShapeError(f"coordinates is a letter such as 'q' or 'theta', got {short_repr(coordinates)}")
        assumptions = {"real": True} if flag(positive, "positive") else {}
        own = {f"q_{k + 1}": sp.Symbol(f"{coordinates}_{k + 1}", **assumptions) for k in range(count)}
        own = own if coordinates != "q" else {}
        return replace(found, symbols={**own, **found.symbols}, plain=not positive, given=frozenset(found.symbols))

    @staticmethod
    def of(parameters: Any = "symbolic", symbols: Any = None) -> Choices:
        """The choices of the arguments `parameters` and `symbols`, each entry checked by itself."""
        if isinstance(parameters, str) and parameters not in ("symbolic", "numeric"):
            raise ShapeError(
                f"parameters are 'symbolic', 'numeric', or a dictionary of names and numbers, got {parameters!r}"
            )
        if not isinstance(parameters, (str, Mapping)):
            raise ShapeError(f"parameters are 'symbolic', 'numeric', or a dictionary, got {short_repr(parameters)}")
        given = _by_name(parameters, "parameters") if isinstance(parameters, Mapping) else {}
        chosen = {name: x for name, x in given.items() if isinstance(x, (str, sp.Symbol))}
        numbers = {name: finite_number(name, x) for name, x in given.items() if name not in chosen}
        if symbols is not None and not isinstance(symbols, Mapping):
            raise ShapeError(
                f"symbols must be a dictionary such as {{'q_1': theta, 'L_1': a}}, got {short_repr(symbols)}"
            )
        for name, symbol in _by_name(symbols or {}, "symbols").items():
            if name in given:
                raise ShapeError(f"{name!r} is in parameters and in symbols; give it once")
            if not isinstance(symbol, (str, sp.Symbol)):
                raise ShapeError(
                    f"symbols[{name!r}] must be a SymPy symbol or a name, got {type(symbol).__name__}: "
                    f"{short_repr(symbol)}; put an expression in for it afterwards, equations.M.subs(...)"
                )
            chosen[name] = symbol
        return Choices(parameters == "numeric", numbers, {name: _check_name(name, x) for name, x in chosen.items()})

    def with_others(self, given: Mapping[str, Any]) -> Choices:
        """These choices with further numbers and symbols, which take precedence."""
        for name, value in given.items():
            if isinstance(value, sp.Basic) and not isinstance(value, sp.Symbol) and value.free_symbols:
                raise ShapeError(
                    f"{name!r} can be replaced by a number or a symbol, not by the expression {value!s:.60}; put that "
                    f"into a term, such as equations.M.subs({name!r}, ...)"
                )
        new = Choices.of(given)
        kept = {name: x for name, x in self.symbols.items() if name not in new.numbers}
        return Choices(self.numeric, {**self.numbers, **new.numbers}, {**kept, **new.symbols}, self.plain)


def finite_number(name: str, value: Any) -> float:
    """A number that replaces a parameter."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ShapeError(f"the parameter {name!r} must be a finite number or a name, got {short_repr(value)}")
    return number


def check_parameter_symbol(symbol: sp.Symbol, name: str, value: float) -> None:
    """Refuse a symbol whose assumptions the number does not have."""
    facts = {
        "commutative": True, "real": True, "positive": value > 0, "negative": value < 0, "zero": value == 0,
        "nonnegative": value >= 0, "nonpositive": value <= 0, "integer": value.is_integer(),
    }  # fmt: skip
    assumed = symbol.assumptions0
    wrong = sorted((not assumed[fact], fact) for fact, true in facts.items() if assumed.get(fact, true) != true)
    if wrong:
        denied, fact = wrong[0]
        claim = f"not {fact}" if denied else fact
        raise ShapeError(
            f"the symbol {symbol} is assumed to be {claim}, and the parameter {name!r} is {value!r}; make the symbol "
            f"without that assumption, sympy.Symbol({symbol.name!r})"
        )


def check_coordinate_symbol(symbol: sp.Symbol, name: str) -> None:
    """Refuse a symbol whose assumptions a coordinate or velocity does not keep."""
    assumed = symbol.assumptions0
    wrong = next((fact for fact in ANY_VALUE if assumed.get(fact)), None)
    wrong = next((f"not {fact}" for fact in ("real", "commutative") if assumed.get(fact) is False), wrong)
    if wrong is not None:
        raise ShapeError(
            f"the symbol {symbol} is assumed to be {wrong}, and {name!r} takes every real value; make the symbol "
            f"without that assumption, sympy.Symbol({symbol.name!r})"
        )


def _by_name(given: Mapping[Any, Any], what: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in given.items():
        if not isinstance(key, (str, sp.Symbol)):
            raise ShapeError(f"the keys of {what} are names or symbols, got {short_repr(key)}")
        if str(key) in found:
            raise ShapeError(f"{str(key)!r} is twice in {what}; give it once")
        found[str(key)] = value
    return found


def _check_name(name: str, symbol: str | sp.Symbol) -> str | sp.Symbol:
    """The symbol, if its name can be printed in every language."""
    if not str(symbol).isidentifier():
        raise ShapeError(
            f"{name!r} must be a number or another name, of letters, digits and underscores, got "
            f"{short_repr(str(symbol))}; names of Greek letters print as such: theta_1"
        )
    return symbol
