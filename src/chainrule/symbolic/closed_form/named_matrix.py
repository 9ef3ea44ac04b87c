"""Matrices of equations in which symbols are replaced by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

from chainrule.errors import ShapeError, UnknownNameError, short_repr


class NamedMatrix(sp.ImmutableDenseMatrix):  # type: ignore[misc]
    """A SymPy matrix whose `subs` takes names, and symbols of the same name with other assumptions.

    >>> M = NamedMatrix([[2 * sp.Symbol("m", positive=True)]])
    >>> M.subs("m", 3), M.subs(sp.Symbol("m"), 4)
    (Matrix([[6]]), Matrix([[8]]))
    """

    names: Mapping[str, sp.Symbol]
    """Names that the equations have, whether they are in this matrix or not."""

    @classmethod
    def of(cls, matrix: sp.MatrixBase, names: Mapping[str, sp.Symbol]) -> NamedMatrix:
        """A matrix of a set of equations with these names."""
        found = cls(matrix.rows, matrix.cols, list(matrix))
        found.names = names
        return found

    def subs(self, *arguments: Any, **options: Any) -> sp.MatrixBase:
        """Replace symbols, given as symbols or by name; a name that the equations do not have is refused."""
        if len(arguments) == 2:
            pairs: Iterable[Any] = [arguments]
        elif (
            len(arguments) == 1 and isinstance(arguments[0], (Mapping, Iterable)) and not isinstance(arguments[0], str)
        ):
            given = arguments[0]
            pairs = given.items() if isinstance(given, Mapping) else given
        else:
            raise ShapeError(
                f"subs takes an old and a new symbol, or a dictionary of them, got {short_repr(arguments)}"
            )
        shown = {symbol.name: symbol for symbol in self.free_symbols}
        return super().subs([(self._own(old, shown), new) for old, new in pairs], **options)

    def _own(self, old: Any, shown: Mapping[str, sp.Symbol]) -> Any:
        """The symbol of this matrix that is meant; an expression as it is."""
        if isinstance(old, sp.Symbol):
            return shown.get(old.name, old)
        if not isinstance(old, str):
            return old
        names = getattr(self, "names", {})
        found = shown.get(old, names.get(old))
        if found is None:
            raise UnknownNameError.of("symbol", old, {*shown, *names}, "this matrix")
        return found
