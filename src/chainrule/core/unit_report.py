"""The units of the terms of some equations, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chainrule.display import tables as display
from chainrule.errors import visible

HEADER = ("term", "of", "unit", "ok")


class UnitRow(NamedTuple):
    """A term of a joint, or of the whole robot, its unit, and whether that is right; None where it is not known."""

    term: str
    of: str
    unit: str
    ok: bool | None


@dataclass(frozen=True)
class UnitReport:
    """The units of all terms. `ok` says whether none is wrong; it prints as a table."""

    subject: str
    rows: tuple[UnitRow, ...]

    @property
    def ok(self) -> bool:
        """Whether no term has a wrong unit."""
        return all(row.ok is not False for row in self.rows)

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        texts: Sequence[Sequence[str]] = [HEADER, *self._texts()]
        widths = [max(len(row[k]) for row in texts) for k in range(len(HEADER))]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in texts]
        return "\n".join(visible(line.rstrip()) for line in lines)

    def _repr_html_(self) -> str:
        return display.table(HEADER, self._texts(), f"Units of {self.subject}")

    def _texts(self) -> list[tuple[str, ...]]:
        words = {True: "yes", False: "no", None: "not known"}
        return [(row.term, row.of, row.unit, words[row.ok]) for row in self.rows]
