"""The symbols of a set of equations by name, with the meaning, the unit and the number of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from chainrule.display import tables as display
from chainrule.errors import ShapeError, UnknownNameError, short_repr, visible

HEADER = ("name", "symbol", "value", "unit", "meaning")


@dataclass(frozen=True)
class NamedSymbol:
    """A symbol with the name that chainrule has for it; coordinates and their rates have no value."""

    name: str
    symbol: sp.Symbol
    meaning: str
    unit: str
    value: float | None = None


class SymbolTable(Mapping[str, sp.Symbol]):
    """Symbols by name: `table["L_2"]` is the symbol of the length of link 2, also where a user chose another for it.

    `table.entry("L_2")` has its meaning, unit and number.

    >>> import chainrule as cr
    >>> table = cr.load("pendulum").equations().symbols
    >>> table["g"], table.entry("g").unit, table.entry("q_1").meaning
    (g, 'm/s^2', 'coordinate of joint 1 (hinge)')
    """

    def __init__(self, entries: Iterable[NamedSymbol], owner: str) -> None:
        self._entries = {entry.name: entry for entry in entries}
        self._owner = owner

    def __getitem__(self, name: str) -> sp.Symbol:
        return self.entry(name).symbol

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def get(self, name: str, default: Any = None) -> Any:
        """The symbol of a name, or the default if there is none."""
        return self._entries[name].symbol if name in self._entries else default

    def entry(self, name: str) -> NamedSymbol:
        """The entry of a name; that of the symbol which prints so if it is no name."""
        if name in self._entries:
            return self._entries[name]
        shown = [entry for entry in self.entries if entry.symbol.name == name]
        if not shown:
            raise UnknownNameError.of("symbol", name, self._names_and_symbols(), self._owner)
        return shown[0]

    @property
    def entries(self) -> list[NamedSymbol]:
        """All entries, coordinates first."""
        return list(self._entries.values())

    def find(self, key: Any) -> NamedSymbol:
        """The entry that a user means by a symbol or by a name.

        A symbol with other assumptions is the one of the same name. A name is that of the symbol as it prints, or
        chainrule's own.
        """
        if not isinstance(key, (str, sp.Symbol)):
            raise ShapeError(f"a symbol is named by text or is a SymPy symbol, got {short_repr(key)}")
        exact = [entry for entry in self.entries if entry.symbol == key]
        if exact:
            return exact[0]
        name = str(key)
        shown = [entry for entry in self.entries if entry.symbol.name == name]
        own = self._entries.get(name)
        if shown and own is not None and own.symbol != shown[0].symbol:
            raise ShapeError(
                f"the name {name!r} has two meanings here: it prints as {shown[0].name}, and is chainrule's name of "
                f"{own.symbol}; give the symbol itself, such as equations.symbols[{name!r}]"
            )
        return shown[0] if shown else self.entry(name)

    def _names_and_symbols(self) -> list[str]:
        """Names, and symbols that print otherwise."""
        return [*self._entries, *(e.symbol.name for e in self.entries if e.symbol.name not in self._entries)]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (e.name, e.symbol.name, "" if e.value is None else f"{e.value:.6g}", e.unit, e.meaning)
            for e in self.entries
        ]

    def __repr__(self) -> str:
        rows = [HEADER, *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEADER) - 1)]
        lines = ["  ".join((*(t.ljust(w) for t, w in zip(row, widths, strict=False)), row[-1])) for row in rows]
        return "\n".join(visible(line.rstrip()) for line in lines)

    def _repr_html_(self) -> str:
        return display.table(HEADER, self._rows(), f"Symbols of {self._owner}")
