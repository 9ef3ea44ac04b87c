"""Files of a data set and folders of results, on this machine or wherever fsspec reaches."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import PurePosixPath
from typing import IO, Any
from urllib.parse import unquote

from chainrule.arguments import as_list
from chainrule.errors import ChainruleError, FormatError, ShapeError, import_optional, quoted, short_repr

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SUFFIXES = (".parquet", ".pq")
FACTS = "_chainrule.json"
"""A file in a folder of results, which says what shaped them."""

GLOB = "*?["
SECONDS_A_DAY = 86_400.0
UNFINISHED = ".unfinished-"
"""How the names of files begin that are being written; readers of data sets skip names with a dot."""


@dataclass(frozen=True)
class DataFile:
    """One file of a data set."""

    path: str
    """With its protocol, such as "s3://"; plain on this machine."""
    name: str
    """Below the folder of the data set, with "/" between."""
    size: int
    stamp: str
    """The time of its last change, or what its store has in place of it."""

    @property
    def partitions(self) -> dict[str, str]:
        """Values by key of the folders "key=value" that it lies in."""
        folders = PurePosixPath(self.name).parts[:-1]
        pairs = (folder.partition("=") for folder in folders if "=" in folder)
        return {unquote(key): unquote(value) for key, _, value in pairs}


def import_fsspec() -> Any:
    """The package that opens files wherever they are."""
    return import_optional("fsspec", "a data set")


def find_files(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]], storage: Mapping[str, Any]
) -> tuple[DataFile, ...]:
    """The files that paths, folders and patterns mean, in the order of their names."""
    several = [paths] if isinstance(paths, (str, PathLike)) else as_list(paths, "the paths of a data set")
    found: dict[str, DataFile] = {}
    for path in several:
        if not isinstance(path, (str, PathLike)):
            raise ShapeError(f"a data set is a path, a pattern or a list of them, got {short_repr(path)}")
        for file in _find(fspath(path), storage):
            other = found.setdefault(file.name, file)
            if other.path != file.path:
                raise ShapeError(
                    f"two files of the data set have the name {file.name!r}: {other.path!r} and {file.path!r}; their "
                    "results would replace each other. Name a folder that holds both"
                )
    if not found:
        raise ShapeError(f"there are no Parquet files in {quoted(map(str, several))}")
    return tuple(found[name] for name in sorted(found))


def _find(path: str, storage: Mapping[str, Any]) -> list[DataFile]:
    try:
        system, place = _reach(path, storage)
        if any(letter in place for letter in GLOB) and not system.exists(place):
            base = _folder_before_pattern(place)
            infos = system.glob(place, detail=True)
            if place.endswith("**"):
                infos = {name: info for name, info in infos.items() if _is_parquet(name)}
        elif system.isdir(place):
            base, infos = place, {place: system.info(place)}
        else:
            base, infos = place.rpartition("/")[0], {place: system.info(place)}
        files, results = dict(infos), set()
        for name, info in infos.items():
            if info["type"] == "directory":  # of a data set, or what other programs name x.parquet
                del files[name]
                inside = system.find(name, detail=True)
                files |= {inner: found for inner, found in inside.items() if _is_parquet(inner)}
                results |= {inner.rpartition("/")[0] for inner in inside if inner.endswith(f"/{FACTS}")}
    except ChainruleError:
        raise
    except (OSError, ValueError, ImportError) as error:
        raise FormatError(f"{path!r} cannot be read: {error}") from error
    base = base.rstrip("/")
    if not _is_remote(system):
        results |= {folder for folder in _folders(files, base) if os.path.exists(f"{folder}/{FACTS}")}
    listed, skipped = [], None
    for name, info in files.items():
        below = name[len(base) :].lstrip("/") if name.startswith(base) else name.rpartition("/")[2]
        if any(part.startswith((".", "_")) for part in PurePosixPath(below).parts):
            continue  # of the program that wrote the data set
        if above := next((folder for folder in results if folder != base and name.startswith(f"{folder}/")), None):
            skipped = above  # results of an earlier computation, below what it was made of
            continue
        listed.append(DataFile(system.unstrip_protocol(name) if _is_remote(system) else name, below, *_state(info)))
    if skipped and not listed:
        raise ShapeError(f"{path!r} holds results of a data set alone; to read them, name their folder, {skipped!r}")
    return listed


def _reach(path: str, storage: Mapping[str, Any]) -> tuple[Any, str]:
    """The file system of fsspec that an address means, and the place in it."""
    if not path or "\0" in path:
        raise ShapeError(f"{path!r} is no path; '.' is the current folder")
    if "::" in path:
        raise FormatError(f"{path!r} is an address within an address, which data sets do not read; unpack it first")
    system, place = import_fsspec().url_to_fs(path, **storage)
    return system, place


def _is_parquet(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def _folders(files: Iterable[str], base: str) -> set[str]:
    """The folders below a folder that files lie in."""
    found: set[str] = set()
    for name in files:
        folder = name.rpartition("/")[0]
        while len(folder) > len(base) and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _folder_before_pattern(place: str) -> str:
    parts = place.split("/")
    count = next(i for i, part in enumerate(parts) if any(letter in part for letter in GLOB))
    return "/".join(parts[:count])


def _is_remote(system: Any) -> bool:
    return "file" not in ([system.protocol] if isinstance(system.protocol, str) else system.protocol)


def _state(info: Mapping[str, Any]) -> tuple[int, str]:
    """The size of a file, and what changes when it is written again."""
    stamps = (info.get(key) for key in ("ETag", "etag", "md5Hash", "mtime", "LastModified", "updated", "created"))
    return int(info.get("size") or 0), str(next((stamp for stamp in stamps if stamp is not None), ""))


def open_file(path: str, storage: Mapping[str, Any]) -> Any:
    """A file to read bytes from."""
    system, place = import_fsspec().url_to_fs(path, **storage)
    return system.open(place, "rb")


@dataclass(frozen=True)
class Folder:
    """A folder of results. What is in it under its own name is whole."""

    url: str
    storage: Mapping[str, Any] = field(default_factory=dict)
    run: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    """A name for what is written through this object, on all workers."""

    @staticmethod
    def at(path: Any, storage: Mapping[str, Any]) -> Folder:
        """The folder that a user names; it need not be there."""
        if not isinstance(path, (str, PathLike)) or not fspath(path):
            raise ShapeError(f"results go into a folder, given by its path, got {short_repr(path)}")
        try:
            system, place = _reach(fspath(path), storage)
            is_file = system.exists(place) and not system.isdir(place)
        except ChainruleError:
            raise
        except (OSError, ValueError, ImportError) as error:
            raise FormatError(f"results cannot be written to {fspath(path)!r}: {error}") from error
        if is_file:
            raise ShapeError(f"{fspath(path)!r} is a file; results go into a folder")
        return Folder(system.unstrip_protocol(place) if _is_remote(system) else place, dict(storage))

    def _at(self, name: str) -> tuple[Any, str]:
        system, place = import_fsspec().url_to_fs(self.url, **self.storage)
        return system, f"{place.rstrip('/')}/{name}"

    def refuse_inputs(self, files: Sequence[DataFile]) -> None:
        """Raise where the result of a file would take the place of a file that is read."""
        system, _ = self._at("")
        same = str if _is_remote(system) else os.path.realpath
        given = {same(file.path): file.path for file in files}
        for file in files:
            place = self._at(file.name)[1]
            there = same(system.unstrip_protocol(place) if _is_remote(system) else place)
            if there in given:
                raise ShapeError(f"the result of {file.name!r} would replace {given[there]!r}; choose another folder")

    def open(self, name: str) -> Any:
        """A file to read bytes from; FileNotFoundError where there is none."""
        system, place = self._at(name)
        return system.open(place, "rb")

    def write(self, name: str, fill: Callable[[IO[bytes]], object]) -> None:
        """Let `fill` write a file, which gets its name when it is whole: nobody sees half a file."""
        system, place = self._at(name)
        above, _, last = place.rpartition("/")
        system.makedirs(above, exist_ok=True)
        part = f"{above}/{UNFINISHED}{self.run}-{uuid.uuid4().hex}-{last}"
        try:
            with ExitStack() as held:
                is_there = False
                while not is_there:  # another run may sweep it before it is locked
                    file = held.enter_context(system.open(part, "wb"))
                    if not _is_remote(system):
                        held.enter_context(_file_lock(file.fileno()))
                    is_there = _is_remote(system) or os.path.exists(part)
                fill(file)
                file.close()
                (system.mv if _is_remote(system) else os.replace)(part, place)
        except BaseException:
            if system.exists(part):
                system.rm(part)
            raise

    def read_json(self, name: str) -> Any:
        """The content of a JSON file, None where there is none or it is damaged."""
        try:
            with self.open(name) as file:
                return json.loads(file.read())
        except (OSError, ValueError):
            return None

    def write_json(self, name: str, content: Any) -> None:
        """Write a JSON file."""
        self.write(name, lambda file: file.write(json.dumps(content, indent=1).encode()))

    def sweep(self, names: Iterable[str]) -> None:
        """Remove what workers that died have left unfinished beside these files and in the folder itself.

        That is what this run has begun, what nobody has locked, and, where there are no locks, what is a day old.
        """
        system, _ = self._at("")
        yesterday = time.time() - SECONDS_A_DAY
        for folder in {self._at(name)[1].rpartition("/")[0] for name in (*names, FACTS)}:
            if not system.isdir(folder):
                continue
            system.invalidate_cache(folder)
            for info in system.ls(folder, detail=True):
                _, mark, rest = info["name"].partition(f"/{UNFINISHED}")
                changed = info.get("mtime")
                is_old = isinstance(changed, float) and changed < yesterday
                if mark and (
                    rest.startswith(self.run) or is_old or (not _is_remote(system) and _is_left(info["name"]))
                ):
                    with suppress(FileNotFoundError):  # it was finished, or another run has removed it
                        system.rm(info["name"])


@contextmanager
def _file_lock(descriptor: int) -> Iterator[None]:
    """Hold the lock of an open file, beyond its closing: who finds it free knows that the writer has died."""
    if fcntl is None:
        yield
        return
    held = os.dup(descriptor)
    try:
        with suppress(OSError):  # of file systems without locks
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _is_left(path: str) -> bool:
    """Whether nobody writes to a file any more, by its lock; False where there are no locks."""
    if fcntl is None:
        return False
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
