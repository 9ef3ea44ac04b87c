"""The units of the terms of some equations, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from chainrule.display.text import Shown, Table

HEADER = ("term", "of", "unit", "ok")


class UnitRow(NamedTuple):
    """A term of a joint, or of the whole robot, its unit, and whether that is right; None where it is not known."""

    term: str
    of: str
    unit: str
    ok: bool | None


@dataclass(frozen=True, repr=False)
class UnitReport(Shown):
    """The units of all terms. `ok` says whether none is wrong; it prints as a table."""

    subject: str
    rows: tuple[UnitRow, ...]

    @property
    def ok(self) -> bool:
        """Whether no term has a wrong unit."""
        return all(row.ok is not False for row in self.rows)

    def __bool__(self) -> bool:
        return self.ok

    def _view(self) -> Iterator[Table]:
        yield Table(HEADER, self._texts(), f"Units of {self.subject}", names=2)

    def _texts(self) -> list[tuple[str, ...]]:
        words = {True: "yes", False: "no", None: "not known"}
        return [(row.term, row.of, row.unit, words[row.ok]) for row in self.rows]
