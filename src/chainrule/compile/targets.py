"""Targets of compilation that are written to files: the table of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from chainrule.compile.codegen import c, javascript
from chainrule.compile.cuda import export
from chainrule.compile.tape import Tape
from chainrule.errors import ShapeError, quoted


class Target(NamedTuple):
    """A language: the suffix of its files, and the texts of all files.

    They are made from the path, tapes by the names of their functions, and what is known of the robot and the
    functions (`core/export.py`), whose texts may hold anything.
    """

    suffix: str
    files: Callable[[Path, Mapping[str, Tape], Mapping[str, Any]], Mapping[Path, str]]


TARGETS: dict[str, Target] = {
    "c": Target(".c", c.files),
    "cuda": Target(".cu", export.files),
    "javascript": Target(".mjs", javascript.files),
}


def register(name: str, target: Target) -> None:
    """Add a target."""
    if name in TARGETS:
        raise ShapeError(f"there is a target {name!r} already")
    TARGETS[name] = target


def target_of(name: str) -> Target:
    """The target of this name."""
    if name not in TARGETS:
        known = ", ".join(map(repr, TARGETS))
        raise ShapeError(f"code can be exported to the targets {known}, got {name!r}")
    return TARGETS[name]


def file_of(target: Target, path: str | PathLike[str]) -> Path:
    """The path, refused if it has not the suffix of the target."""
    if Path(path).suffix != target.suffix:
        raise ShapeError(f"path must end in {target.suffix}, got {str(path)!r}")
    return Path(path)


MARK = c.MARK
"""Words in the first line of every file that is written, by which it is known as one that may be overwritten."""


def write(
    target: Target, path: Path, tapes: Mapping[str, Tape], about: Mapping[str, Any], *, overwrite: bool = False
) -> list[Path]:
    """Write the files of a target, and return their paths."""
    return write_files(target.files(path, tapes, about), overwrite=overwrite)


def write_files(texts: Mapping[Path, str], *, overwrite: bool = False) -> list[Path]:
    """Write files, and return their paths.

    Files that chainrule has written are replaced; others only if `overwrite` says so. Every file is written beside its
    place and moved there when it is complete.
    """
    foreign = [file for file in texts if not overwrite and _is_foreign(file)]
    if foreign:
        raise ShapeError(
            f"chainrule has not written {quoted(map(str, foreign))}, and would overwrite it; "
            "choose another path, or overwrite=True (on the command line --force)"
        )
    for file, text in texts.items():
        _write_whole(file, text.encode("ascii"))
    return list(texts)


def _is_foreign(file: Path) -> bool:
    """Whether a file exists that chainrule has not written."""
    if not file.exists():
        return file.is_symlink()
    with file.open("rb") as content:
        return MARK.encode() not in content.readline(200)


def _write_whole(file: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    if file.exists() and not file.is_file():  # a device or a pipe, which cannot be replaced
        file.write_bytes(content)
        return
    place = file.resolve()
    part = place.with_name(f"{place.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        os.replace(part, place)
    finally:
        part.unlink(missing_ok=True)
