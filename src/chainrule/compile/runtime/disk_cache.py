"""Compiled kernels on disk: in the user's own directory, keyed by all that shaped them, authenticated when read.

An entry is a line of JSON (its key, facts about the kernel, a code that authenticates both) and the object file. That
code is an HMAC with a secret that only the user's own account can read (`private_files`). An entry that is truncated,
changed, made by somebody else or for another key is not used, and is replaced when the kernel is built again.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from chainrule.compile.runtime import settings
from chainrule.compile.runtime.private_files import Refusal, check_folder, make_folder, read_file, secret
from chainrule.errors import ShapeError, warn_user

MAX_CACHE_BYTES = 512 * 1024 * 1024
"""Size that the cache may have; the entries that were used longest ago go first."""

PRUNE_SHARE = 1 / 64
"""Share of that size which a process may write before it looks again at the sizes of all entries: a look at a thousand
entries takes as long as it takes to compile a small kernel."""

MAX_PART_SECONDS = 3600.0
"""Age beyond which a file that is being written was left over by a process that was killed."""


class CacheWarning(UserWarning):
    """The cache of compiled kernels is not used, so that they are built anew in every process."""


@dataclass(frozen=True)
class CacheEntry:
    """A stored kernel: its machine code, and what is known of it."""

    code: bytes
    facts: dict[str, Any]


def folder() -> Path:
    """The folder of the entries: $CHAINRULE_CACHE, or `chainrule` in the user's cache directory.

    Raises ShapeError where that is not an absolute path: machine code is not loaded from wherever a process happens to
    run. Raises RuntimeError where there is no home directory.
    """
    chosen = os.environ.get("CHAINRULE_CACHE", "")
    if settings.word("CHAINRULE_CACHE") not in settings.ON:
        path = Path(chosen).expanduser()
        if not path.is_absolute():
            raise ShapeError(f"CHAINRULE_CACHE must be an absolute path, or 'off', got {chosen!r}")
        return path
    path = _default_folder()
    if not path.is_absolute():
        raise ShapeError(f"the home directory must be an absolute path, got {str(Path.home())!r}")
    return path


def _default_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "chainrule" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "chainrule"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "chainrule"


def is_enabled() -> bool:
    """Whether to use the disk at all: CHAINRULE_CACHE=off, or another word that means it, turns it off."""
    return settings.word("CHAINRULE_CACHE") not in settings.OFF


def status() -> str:
    """The folder of the entries, or why there is none, in words."""
    if not is_enabled():
        return "off"
    try:
        path = folder()
        check_folder(path)
        return str(path)
    except FileNotFoundError:
        return str(path)
    except (OSError, RuntimeError, ShapeError) as error:
        return f"off: {error}"


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


def read(key: str) -> CacheEntry | None:
    """The entry of a key, or None: there is none, or it is not to be trusted."""
    if not is_enabled():
        return None
    try:
        place = folder()
        check_folder(place)
        secret()
    except (Refusal, ShapeError) as error:
        _warn_once(error)
        return None
    except (OSError, RuntimeError):  # there is no such folder yet, or no home
        return None
    try:
        path = place / f"{key}.kernel"
        header, _, code = read_file(path).partition(b"\n")
        stored = json.loads(header)
        authentic = hmac.compare_digest(stored["mac"], _authentication(key, stored["facts"], code))
        if stored["key"] != key or not authentic:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return CacheEntry(code, stored["facts"])
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):  # RuntimeError: brackets too deep
        return None


def _authentication(key: str, facts: Any, code: bytes) -> str:
    text = json.dumps([key, facts], sort_keys=True).encode()
    return hmac.new(secret(), text + b"\n" + code, hashlib.sha256).hexdigest()


def write(key: str, entry: CacheEntry) -> None:
    """Store an entry, whole or not at all. Where that cannot be done, the kernel is simply built again next time."""
    if not is_enabled():
        return
    limit = _limit()
    try:
        place = folder()
        make_folder(place)
        header = {"key": key, "mac": _authentication(key, entry.facts, entry.code), "facts": entry.facts}
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(header).encode() + b"\n" + entry.code)
            os.replace(temporary, place / f"{key}.kernel")
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _prune_now_and_then(place, f"{key}.kernel", limit)
    except (Refusal, ShapeError) as error:
        _warn_once(error)
    except (OSError, RuntimeError) as error:  # RuntimeError: no home
        if settings.word("CHAINRULE_CACHE") not in settings.ON:  # the user has asked for this folder
            _warn_once(error)


_warned: set[str] = set()


def _warn_once(error: Exception) -> None:
    text = str(error)
    if text not in _warned:
        _warned.add(text)
        advice = "mend that, choose another folder with CHAINRULE_CACHE, or do without by CHAINRULE_CACHE=off"
        warn_user(f"compiled kernels are not kept on disk: {text}; {advice}", CacheWarning)


def read_or_compile(text: str, facts: dict[str, Any]) -> CacheEntry:
    """The machine code of an IR text, stored or made now."""
    from chainrule.compile.runtime import engine  # LLVM, which code for other targets does not need

    key = key_of({"text": hashlib.sha256(text.encode()).hexdigest(), "llvm": engine.version()})
    entry = read(key)
    if entry is None:
        entry = CacheEntry(engine.compile_text(text), facts)
        write(key, entry)
    return entry


def entries() -> list[Path]:
    """The stored entries, the least recently used first."""
    with contextlib.suppress(OSError, RuntimeError, ShapeError):
        return [path for path, _ in _sizes(folder())]
    return []


def _sizes(place: Path) -> list[tuple[Path, int]]:
    """Entries and their sizes in bytes, the least recently used first.

    One that was used in the future, before the clock went back, comes first of all.
    """
    found, latest = [], time.time() + MAX_PART_SECONDS
    for path in place.glob("*.kernel"):
        with contextlib.suppress(OSError):  # another process may remove it now
            status = path.stat()
            used = status.st_mtime if status.st_mtime <= latest else 0.0
            found.append((used, path, status.st_size))
    return [(path, size) for _, path, size in sorted(found)]


def facts_of(path: Path) -> dict[str, Any] | None:
    """Facts about a stored entry: robot, function and bits, without loading it."""
    try:
        with path.open("rb") as file:
            facts: dict[str, Any] = json.loads(file.readline(1 << 20))["facts"]
            return {key: facts[key] for key in ("robot", "function", "bits")}
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        return None


def _limit() -> int:
    chosen = settings.whole_number("CHAINRULE_CACHE_BYTES", "a number of bytes")
    return MAX_CACHE_BYTES if chosen is None else chosen


_written: dict[Path, int] = {}
"""Bytes that this process has written to each folder since it last pruned it."""


def _prune_now_and_then(place: Path, newest: str, limit: int) -> None:
    """Prune a folder at this process's first entry, and then after each share of the limit."""
    size = _written.get(place, limit) + (place / newest).stat().st_size
    if size > limit * PRUNE_SHARE:
        _prune(place, newest, limit)
        size = 0
    _written[place] = size


def _prune(place: Path, newest: str, limit: int) -> None:
    """Remove what was left over by processes that were killed, and the entries beyond the limit."""
    now = time.time()
    for part in place.glob("*.part"):
        with contextlib.suppress(OSError):
            if abs(now - part.stat().st_mtime) > MAX_PART_SECONDS:
                part.unlink()
    stored = _sizes(place)
    total = sum(size for _, size in stored)
    for path, size in stored:
        if total <= limit:
            break
        if path.name != newest:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            total -= size


def clear() -> int:
    """Remove all entries, and what was left over of others; the number of entries removed."""
    place = folder()
    removed = 0
    for path in [*place.glob("*.kernel"), *place.glob("*.part")]:
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            path.unlink()
            removed += path.suffix == ".kernel"
    return removed
