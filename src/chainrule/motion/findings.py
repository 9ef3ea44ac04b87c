"""What was found in a recording and what was assumed about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_PLACES = 5
"""Places that a finding names; of more, the number."""


@dataclass
class Findings:
    """Remarks on a recording, in the order in which they were made."""

    stated: list[str] = field(default_factory=list)
    """What was done, as asked."""
    assumed: list[str] = field(default_factory=list)
    """What was found to be wrong or was not said, and what was made of it: a user should look at these."""

    def __iter__(self) -> Iterator[str]:
        return iter((*self.assumed, *self.stated))


def list_places(places: list[str]) -> str:
    """Places for a message: all of a few, some of many."""
    shown = ", ".join(places[:MAX_PLACES])
    return shown if len(places) <= MAX_PLACES else f"{shown}, ... ({len(places)} in all)"
