"""Compiled kernels on disk: in the user's own directory, keyed by all that shaped them, checked when read.

An entry is a line of JSON (its key, facts about the kernel, the digest of both) and the object file. One that is
truncated, changed, or made for another key is not used, and is replaced when the kernel is built again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from chainrule.compile.load import engine
from chainrule.errors import ShapeError

MAX_CACHE_BYTES = 512 * 1024 * 1024
"""Size that the cache may have; the entries that were used longest ago go first."""


@dataclass(frozen=True)
class Entry:
    """A stored kernel: its machine code, and what is known of it."""

    code: bytes
    facts: dict[str, Any]


def folder() -> Path:
    """The folder of the entries: $CHAINRULE_CACHE, or `chainrule` in the user's cache directory."""
    chosen = os.environ.get("CHAINRULE_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "chainrule" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "chainrule"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "chainrule"


def is_enabled() -> bool:
    """Whether to use the disk at all: CHAINRULE_CACHE=off turns it off."""
    return os.environ.get("CHAINRULE_CACHE", "").lower() not in ("off", "0", "none")


@cache
def source_digest() -> str:
    """A digest of the library's own text: any change of an algorithm makes new keys."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]
    for part in ("spatial", "model", "algorithms", "functions", "compile"):
        for path in sorted((root / part).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def key_of(parts: dict[str, Any]) -> str:
    """One digest of everything that shapes a kernel."""
    text = json.dumps({**parts, "source": source_digest()}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _private(path: Path) -> bool:
    """Whether a file or folder belongs to this user and nobody else can write to it."""
    if not hasattr(os, "getuid"):
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _path(key: str) -> Path:
    return folder() / f"{key}.kernel"


def read(key: str) -> Entry | None:
    """The entry of a key, or None: there is none, or it is not to be trusted."""
    if not is_enabled():
        return None
    try:
        path = _path(key)
        if not (_private(folder()) and _private(path)):
            return None
        header, _, code = path.read_bytes().partition(b"\n")
        stored = json.loads(header)
        if stored["key"] != key or stored["digest"] != _digest(stored["facts"], code):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return Entry(code, stored["facts"])
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):  # RuntimeError: no home, or brackets too deep
        return None


def _digest(facts: Any, code: bytes) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode() + b"\n" + code).hexdigest()


def write(key: str, entry: Entry) -> None:
    """Store an entry, whole or not at all. Where that cannot be done, the kernel is simply built again next time."""
    if not is_enabled():
        return
    header = {"key": key, "digest": _digest(entry.facts, entry.code), "facts": entry.facts}
    limit = _limit()
    with contextlib.suppress(OSError, RuntimeError):
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _private(folder()):
            return
        handle, temporary = tempfile.mkstemp(dir=folder(), suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(header).encode() + b"\n" + entry.code)
            os.replace(temporary, _path(key))
        except OSError:
            os.unlink(temporary)
            raise
        _prune(limit)


def read_or_compile(text: str, facts: dict[str, Any]) -> Entry:
    """The machine code of an IR text, stored or made now."""
    key = key_of({"text": hashlib.sha256(text.encode()).hexdigest(), "llvm": engine.version()})
    entry = read(key)
    if entry is None:
        entry = Entry(engine.compile_text(text), facts)
        write(key, entry)
    return entry


def entries() -> list[Path]:
    """The stored entries, the least recently used first."""
    with contextlib.suppress(OSError, RuntimeError):
        found = [path for path in folder().glob("*.kernel") if path.is_file()]
        return sorted(found, key=lambda path: path.stat().st_mtime)
    return []


def facts_of(path: Path) -> dict[str, Any] | None:
    """Facts about a stored entry: robot, function and bits, without loading it."""
    try:
        with path.open("rb") as file:
            facts: dict[str, Any] = json.loads(file.readline())["facts"]
            return {key: facts[key] for key in ("robot", "function", "bits")}
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        return None


def _limit() -> int:
    chosen = os.environ.get("CHAINRULE_CACHE_BYTES", "")
    if chosen and not chosen.isdigit():
        raise ShapeError(f"CHAINRULE_CACHE_BYTES must be a number of bytes, got {chosen!r}")
    return int(chosen) if chosen else MAX_CACHE_BYTES


def _prune(limit: int) -> None:
    stored = [(path, path.stat().st_size) for path in entries()]
    total = sum(size for _, size in stored)
    for path, size in stored[:-1]:
        if total <= limit:
            break
        path.unlink(missing_ok=True)
        total -= size


def clear() -> int:
    """Remove all entries; how many there were."""
    stored = entries()
    for path in stored:
        path.unlink(missing_ok=True)
    for part in folder().glob("*.part") if folder().exists() else ():
        part.unlink(missing_ok=True)
    return len(stored)
