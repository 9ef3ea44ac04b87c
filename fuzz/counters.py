"""Counts of runs as JSON: for each target, inputs and what came of them; added up over runs."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fuzz.guard import FINDINGS, LOADED, REFUSED, STOPPED

KINDS = (LOADED, REFUSED, STOPPED, *FINDINGS)


@dataclass
class Counters:
    """Counts for one target."""

    inputs: int = 0
    kinds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    places: int = 0
    """Different outcomes: the distinct places at which inputs were refused."""
    cpu_seconds: float = 0.0
    longest_seconds: float = 0.0
    most_memory_mib: float = 0.0
    """The largest memory of a worker beyond what it had before the target's inputs."""

    def add(self, other: Counters) -> None:
        """Add the counts of another run."""
        self.inputs += other.inputs
        for kind in KINDS:
            self.kinds[kind] = self.kinds.get(kind, 0) + other.kinds.get(kind, 0)
        self.places = max(self.places, other.places)
        self.cpu_seconds += other.cpu_seconds
        self.longest_seconds = max(self.longest_seconds, other.longest_seconds)
        self.most_memory_mib = max(self.most_memory_mib, other.most_memory_mib)


def load(path: Path) -> dict[str, Counters]:
    """The counts in a file, by target; none if there is no file."""
    if not path.exists():
        return {}
    return {name: Counters(**entry) for name, entry in json.loads(path.read_text(encoding="utf-8")).items()}


def save(path: Path, counts: dict[str, Counters]) -> None:
    """Write counts, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps({name: asdict(c) for name, c in counts.items()}, indent=1) + "\n", encoding="utf-8")
    os.replace(part, path)


def add_to(total: dict[str, Counters], more: dict[str, Counters]) -> None:
    """Add the counts of each target."""
    for name, counters in more.items():
        total.setdefault(name, Counters()).add(counters)
