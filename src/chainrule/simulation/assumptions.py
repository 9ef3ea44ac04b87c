"""What a reader of a recording took for what."""

from __future__ import annotations

from typing import NamedTuple


class Assumption(NamedTuple):
    """A row of the table of what was taken for what: ("unit of time", "s", "nothing states another")."""

    what: str
    value: str
    why: str
    is_doubtful: bool = False
    """Whether a user should look at it: it is a warning too."""

    def __str__(self) -> str:
        return f"{self.what}: {self.value}" + (f" ({self.why})" if self.why else "")
