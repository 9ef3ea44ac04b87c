"""What was found in a recording and what was assumed about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chainrule.simulation.assumptions import Assumption

MAX_PLACES = 5
"""Places that a finding names; of more, the number."""


@dataclass
class Findings:
    """The table of what a reader assumed of a recording, and remarks on what it then found and did, in their order."""

    table: list[Assumption] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    """What was found to be wrong, and what was made of it: a user should look at these."""
    stated: list[str] = field(default_factory=list)
    """What was done, as asked."""

    def assume(self, what: str, value: str, why: str = "", *, is_doubtful: bool = False) -> None:
        """Add a row to the table, once."""
        row = Assumption(what, value, why, is_doubtful)
        if row not in self.table:
            self.table.append(row)

    @property
    def doubts(self) -> list[str]:
        """Rows and remarks that a user should look at."""
        return [*(str(row) for row in self.table if row.is_doubtful), *self.assumed]

    def __iter__(self) -> Iterator[str]:
        return iter((*map(str, self.table), *self.assumed, *self.stated))


def list_places(places: Sequence[str]) -> str:
    """Places for a message: all of a few, some of many."""
    shown = ", ".join(places[:MAX_PLACES])
    return shown if len(places) <= MAX_PLACES else f"{shown}, ... ({len(places)} in all)"
