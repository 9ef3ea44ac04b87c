"""Generalized coordinates, their velocities and accelerations: symbols that print with dots.

The coordinate theta_1 has the velocity thetadot_1 and the acceleration thetaddot_1. Expressions may be written in
these symbols, or in functions of time and their derivatives, such as SymPy's dynamicsymbols; equations are in symbols.
The symbol t is time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from chainrule.errors import ModelError, ShapeError, UnknownNameError
from chainrule.symbolic.algebra.expressions import LETTERS_AND_INDEX, expression_or_matrix, with_dots

TIME = sp.Symbol("t")

AppliedUndef = sp.core.function.AppliedUndef
"""A function of time, such as q(t)."""

_DOTTED = re.compile(r"(?P<letters>[^\W\d_]+?)(?P<dots>d?dot)(?P<index>(_|\d)\w*|)")
_EXAMPLE = "such as sympy.Symbol('theta_1'), dynamicsymbols('theta_1') or 'theta_1'"


@dataclass(frozen=True)
class Coordinates:
    """The coordinates q, their velocities qd and their accelerations qdd.

    >>> q, qd, qdd = coordinates("theta_1 theta_2")
    >>> qd
    (thetadot_1, thetadot_2)
    >>> sp.latex(qdd[0])
    '\\\\ddot{\\\\theta}_{1}'
    """

    q: tuple[sp.Symbol, ...]
    qd: tuple[sp.Symbol, ...]
    qdd: tuple[sp.Symbol, ...]

    def __iter__(self) -> Any:
        return iter((self.q, self.qd, self.qdd))

    def __len__(self) -> int:
        return len(self.q)

    def rate(self, expression: Any) -> Any:
        """The total derivative d/dt of a scalar or a matrix that depends on q, qd and t."""
        pairs = zip((*self.q, *self.qd), (*self.qd, *self.qdd), strict=True)
        total = expression.diff(TIME)
        for symbol, its_rate in pairs:
            total += expression.diff(symbol) * its_rate
        return total

    def place(self, given: Any, what: str) -> int:
        """The index of a coordinate, given as a symbol, a function of time or a name."""
        names = [symbol.name for symbol in self.q]
        name = _name(given)
        if name not in names:
            raise UnknownNameError.of("coordinate", name, names, what)
        return names.index(name)

    def plain(self, value: Any, what: str) -> sp.Expr:
        """An expression in the symbols of these coordinates; one with velocities of other coordinates is refused."""
        expression = expression_of(value, what)
        if expression.has(AppliedUndef):
            expression = self._without_functions(expression.doit(), what)
        own = {symbol.name: symbol for part in (*self, (TIME,)) for symbol in part}
        found = sorted(expression.free_symbols, key=str)
        expression = expression.xreplace({s: own[s.name] for s in found if s.name in own})
        for symbol in found:
            dotted = _DOTTED.fullmatch(symbol.name)
            if symbol.name not in own and dotted:
                base = dotted["letters"] + dotted["index"]
                raise ModelError(
                    f"{what} contains {symbol.name}, the velocity of {base}, which is not among the coordinates "
                    f"({_comma_list(self.q)}); add {base} to them, or rename the symbol if it is a constant"
                )
        return expression

    def without_drives(self, value: Any) -> Any:
        """Replace functions of time that are no coordinates, such as a force F(t), by symbols of the same name."""
        if not isinstance(value, sp.Expr):
            return value
        names = {symbol.name for symbol in self.q}
        drives = [f for f in value.atoms(AppliedUndef) if f.func.__name__ not in names and len(f.args) == 1]
        return value.xreplace({f: sp.Symbol(f.func.__name__) for f in drives})

    def _without_functions(self, expression: sp.Expr, what: str) -> sp.Expr:
        """Replace q(t) and its derivatives by symbols."""
        replaced: dict[sp.Expr, sp.Expr] = {}
        names = [symbol.name for symbol in self.q]
        for function in expression.atoms(AppliedUndef):
            name = function.func.__name__
            if name not in names or len(function.args) != 1:
                raise ModelError(
                    f"{what} contains {function}, which is not among the coordinates ({_comma_list(self.q)}); add it "
                    "to them, or write it as an expression of the symbol t if its motion is prescribed"
                )
            for order, symbols in enumerate(self):
                derivative = function.diff(function.args[0], order) if order else function
                replaced[derivative] = symbols[names.index(name)]
        plain = expression.xreplace(replaced)
        if plain.has(sp.Derivative, AppliedUndef):
            raise ModelError(f"{what} contains a derivative higher than the second, or not by time: {expression}")
        return plain


def coordinates(given: Any) -> Coordinates:
    """Coordinates from a list of symbols, functions of time or names; or from one string of names.

    >>> coordinates("x y").qd
    (xdot, ydot)
    """
    if isinstance(given, Coordinates):
        return given
    if isinstance(given, str):
        given = given.replace(",", " ").split()
    if isinstance(given, sp.Expr) or not isinstance(given, Iterable):
        given = [given]
    symbols = [_symbol(entry) for entry in given]
    if not symbols:
        raise ShapeError(f"there are no coordinates; give at least one, {_EXAMPLE}")
    real: list[dict[str, bool]] = [{"real": True} if s.is_real else {} for s in symbols]
    rates = ([with_dots(s, dots, **x) for s, x in zip(symbols, real, strict=True)] for dots in ("dot", "ddot"))
    found = Coordinates(tuple(symbols), *map(tuple, rates))
    names = [symbol.name for part in (*found, (TIME,)) for symbol in part]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ModelError(
            f"two quantities would be called {twice!r}: every coordinate needs its own name, none of them t, which is "
            "time, nor that of another's velocity"
        )
    return found


def _symbol(given: Any) -> sp.Symbol:
    name = _name(given)
    if not LETTERS_AND_INDEX.fullmatch(name):
        raise ShapeError(f"a coordinate's name is letters and then an index, {_EXAMPLE}, not {name!r}")
    return given if isinstance(given, sp.Symbol) else sp.Symbol(name)


def _name(given: Any) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, sp.Symbol):
        return str(given.name)
    if isinstance(given, AppliedUndef) and len(given.args) == 1 and given.args[0].is_Symbol:
        return str(given.func.__name__)
    raise ShapeError(f"a coordinate is a symbol, a function of time or a name, {_EXAMPLE}, not {given!r:.60}")


def expression_of(value: Any, what: str) -> sp.Expr:
    """A SymPy expression from an expression or a number; simple decimals become fractions."""
    if isinstance(value, bool) or value is None:
        raise ShapeError(f"{what} must be a SymPy expression, got {value!r:.60}")
    expression = expression_or_matrix(value, what)
    if not isinstance(expression, sp.Expr) or isinstance(expression, sp.MatrixExpr):
        raise ShapeError(f"{what} must be one SymPy expression, got {type(value).__name__}: {value!s:.60}")
    if expression.has(sp.nan, sp.oo, sp.zoo):
        raise ShapeError(f"{what} must be finite, got {expression}")
    simple = {x: sp.nsimplify(x) for x in expression.atoms(sp.Float) if float(64 * x).is_integer()}
    return expression.xreplace(simple)


def vector_of(value: Any, what: str) -> list[sp.Expr]:
    """Three expressions (x, y, z), from three, or from two in the plane z = 0."""
    if not isinstance(value, (Sequence, sp.MatrixBase)) and not hasattr(value, "tolist"):
        raise ShapeError(f"{what} must be three expressions (x, y, z), got {value!r:.60}")
    entries = [expression_of(x, f"{what}[{i}]") for i, x in enumerate(sp.flatten(value))]
    if len(entries) not in (2, 3):
        raise ShapeError(f"{what} must be three expressions (x, y, z), or two in the plane, got {len(entries)}")
    return [*entries, sp.S.Zero][:3]


def each(value: Any, own: Coordinates, what: str) -> list[Any]:
    """An entry for every coordinate, from a list in their order, or from a dictionary, with 0 for missing ones."""
    if isinstance(value, Mapping):
        entries: list[Any] = [sp.S.Zero] * len(own)
        for key, entry in value.items():
            entries[own.place(key, what)] = entry
        return entries
    entries = list(value) if isinstance(value, (Sequence, sp.MatrixBase)) else [value]
    if len(entries) != len(own):
        raise ShapeError(
            f"{what} must have one entry for each coordinate ({_comma_list(own.q)}), or be a dictionary of some, got "
            f"{len(entries)}"
        )
    return entries


def _comma_list(symbols: Iterable[sp.Symbol]) -> str:
    return ", ".join(symbol.name for symbol in symbols)
