"""Tables of TOML files that users write: each key known, each value of its type."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from importlib.resources import files
from os import PathLike
from typing import Any, TypeVar

from chainrule.arguments import file_path, number
from chainrule.errors import FormatError, ShapeError, UnknownNameError, quoted, short_repr

Record = TypeVar("Record")
Reader = Callable[[Any, str], Any]

MAX_BYTES = 10_000_000
"""The size of a file that a person could have written."""


def read_toml(path: str | PathLike[str] | None, bundled: str, what: str) -> tuple[str, dict[str, Any]]:
    """The name of a file and its content; the bundled file if none is given."""
    if path is None:
        name, text = bundled, files("chainrule.study").joinpath(bundled).read_text("utf-8")
    else:
        file = file_path(path, what)
        try:
            if file.stat().st_size > MAX_BYTES:
                raise FormatError(f"{what}: {file} has more than {MAX_BYTES:,} bytes")
            name, text = file.name, file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(f"{what}: {file} cannot be read: {error}") from error
    try:
        return name, tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FormatError(f"{name} is not valid TOML: {error}") from error


def record(
    kind: Callable[..., Record],
    value: Any,
    where: str,
    readers: Mapping[str, Reader],
    renamed: Mapping[str, str] | None = None,
) -> Record:
    """A record of a table whose keys are the record's fields, or names in place of them, each read by its reader."""
    if not isinstance(value, dict):
        raise FormatError(f"{where} must be a table, got {short_repr(value)}")
    names = {new: old for old, new in (renamed or {}).items()}
    expected = {names.get(field.name, field.name): field for field in fields(kind)}  # type: ignore[arg-type]
    refuse_unknown(value, expected, where)
    missing = [key for key, field in expected.items() if field.default is MISSING and key not in value]
    if missing:
        raise FormatError(f"{where} lacks {quoted(missing)}")
    try:
        values = {expected[key].name: (x, f"{where}: {key}") for key, x in value.items()}
        return kind(**{name: readers[name](*given) for name, given in values.items()})
    except ShapeError as error:
        raise FormatError(str(error)) from error


def subtable(table: Mapping[str, Any], key: str, file: str) -> Mapping[str, Any]:
    """The table of a key, empty if there is none."""
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise FormatError(f"{file}: [{key}] must be a table, got {short_repr(value)}")
    return value


def tables_of(table: Mapping[str, Any], key: str, file: str) -> list[Any]:
    """The tables of a key that is written [[key]], none if it is missing."""
    value = table.get(key, [])
    if not isinstance(value, list):
        raise FormatError(f"{file}: [[{key}]] must be a list of tables, got {short_repr(value)}")
    return value


def refuse_unknown(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Refuse keys that mean nothing."""
    for key in table:
        if key not in known:
            raise FormatError(str(UnknownNameError.of("key", key, known, where)))


def not_negative(value: Any, where: str) -> float:
    """A number that is zero or more."""
    x = number(value, where)
    if not 0 <= x < float("inf"):
        raise FormatError(f"{where} must not be negative, got {x:g}")
    return x
