"""Findings: inputs that led to what must not be, each with its traceback, in a folder that git ignores."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from fuzz.guard import Outcome


class Finding(NamedTuple):
    """An input that must be mended, and what came of it."""

    target: str
    kind: str
    place: str
    text: str
    data: bytes
    path: Path


def store(folder: Path, target: str, data: bytes, outcome: Outcome) -> Path:
    """Keep an input; one for each place, the smallest of them."""
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(f"{target} {outcome.kind} {outcome.place}".encode()).hexdigest()[:10]
    path = folder / f"{target}-{outcome.kind}-{name}.input"
    if not path.exists() or path.stat().st_size > len(data):
        path.write_bytes(data)
        about = {"target": target, "kind": outcome.kind, "place": outcome.place, "text": outcome.text}
        path.with_suffix(".json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    return path


def stored(folder: Path) -> list[Finding]:
    """The findings of a folder."""
    found = []
    for about in sorted(folder.glob("*.json")):
        facts = json.loads(about.read_text(encoding="utf-8"))
        path = about.with_suffix(".input")
        found.append(Finding(**facts, data=path.read_bytes(), path=path))
    return found
