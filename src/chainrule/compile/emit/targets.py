"""Targets of compilation that are written to files: the table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from chainrule.compile.emit import c
from chainrule.compile.tape import Tape
from chainrule.errors import ShapeError


class Target(NamedTuple):
    """A language: the suffix of its files, and the texts of all files for tapes by the names of their functions."""

    suffix: str
    files: Callable[[Path, Mapping[str, Tape]], Mapping[Path, str]]


TARGETS: dict[str, Target] = {"c": Target(".c", c.files)}


def register(name: str, target: Target) -> None:
    """Add a target."""
    if name in TARGETS:
        raise ShapeError(f"there is a target {name!r} already")
    TARGETS[name] = target


def target_of(name: str) -> Target:
    """The target of this name."""
    if name not in TARGETS:
        known = " or ".join(map(repr, TARGETS))
        raise ShapeError(f"code can be exported to the target {known}, got {name!r}")
    return TARGETS[name]


def file_of(target: Target, path: str | PathLike[str]) -> Path:
    """The path, refused if it has not the suffix of the target."""
    if Path(path).suffix != target.suffix:
        raise ShapeError(f"path must end in {target.suffix}, got {str(path)!r}")
    return Path(path)


def write(target: Target, path: Path, tapes: Mapping[str, Tape]) -> list[Path]:
    """Write the files of a target, and return their paths."""
    texts = target.files(path, tapes)
    for file, text in texts.items():
        file.write_text(text, encoding="ascii")
    return list(texts)
