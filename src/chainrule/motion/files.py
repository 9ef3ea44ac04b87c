"""Recordings of any kind as tables: files of text, Parquet and NumPy's arrays, and objects."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.arguments import file_path, refuse_beyond_memory
from chainrule.errors import FormatError
from chainrule.motion.tables import RecordedTable, table_of
from chainrule.motion.text import parse_text

SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".log", ".mot", ".sto")
"""Endings of files of text with a column for each quantity."""

BYTES_PER_NUMBER = 2
"""The fewest bytes of text that a number takes in a file, with its separator."""


def read_table(source: Any) -> RecordedTable:
    """The table in a file, or in an object: a dictionary, a pandas or pyarrow table, NumPy's records, messages."""
    return read_file(file_path(source)) if isinstance(source, (str, PathLike)) else table_of(source)


def read_file(path: Path) -> RecordedTable:
    """The table in a file of text or in a Parquet, .npz or .npy file."""
    suffix = path.suffix.lower()
    if not path.is_file():
        raise FormatError(f"there is no file {str(path)!r}")
    if suffix == ".parquet":
        from chainrule.simulation.files import import_parquet

        arrow, parquet = import_parquet()
        try:
            return table_of(parquet.read_table(path, partitioning=None, page_checksum_verification=True))
        except arrow.ArrowException as error:
            raise FormatError(f"{str(path)!r} is not a Parquet file: {error}") from error
    if suffix in (".npz", ".npy"):
        return _read_numpy(path)
    if suffix not in SUFFIXES:
        raise FormatError(
            f"cannot tell what {str(path)!r} is: recordings come as {', '.join(SUFFIXES)}, .parquet, .npz or .npy"
        )
    size = path.stat().st_size
    refuse_beyond_memory(size / BYTES_PER_NUMBER, f"reading {path.name!r} ({size / 2**20:.0f} MiB)")
    try:
        return parse_text(path.read_bytes(), path.name)
    except OSError as error:
        raise FormatError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


def _read_numpy(path: Path) -> RecordedTable:
    try:
        with path.open("rb") as file:
            stored = np.load(file, allow_pickle=False)
            if hasattr(stored, "files"):
                stored = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError) as error:
        raise FormatError(f"{str(path)!r} is not a file of NumPy arrays: {error}") from error
    return table_of(stored)
