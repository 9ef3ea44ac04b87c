"""Named configurations of a robot as a read-only mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chainrule.arguments import Array
from chainrule.display.text import lines_of
from chainrule.errors import UnknownNameError


class Configurations(Mapping[str, Array]):
    """Configurations q (nq,) by name, read-only; an unknown name is refused with the nearest one."""

    def __init__(self, robot: str, entries: Mapping[str, Array]) -> None:
        self._robot = robot
        self._entries = dict(entries)

    def __getitem__(self, name: str) -> Array:
        if name not in self._entries:
            raise UnknownNameError.of("configuration", name, self._entries, f"robot {self._robot!r}")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def get(self, name: str, default: Any = None) -> Any:
        """The configuration of this name, or the default."""
        return self._entries.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        entries = ", ".join(f"{name}={q.tolist()}" for name, q in self._entries.items())
        return "\n".join(lines_of([f"{type(self).__name__}({entries})"]))
