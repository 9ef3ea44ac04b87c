"""Recordings of any kind as tables: files of text, Parquet and NumPy's arrays, and objects."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.arguments import file_path, refuse_beyond_memory
from chainrule.errors import FormatError, ShapeError
from chainrule.motion.bags import SUFFIXES as BAGS
from chainrule.motion.bags import is_bag, read_bag
from chainrule.motion.lerobot import is_lerobot, read_lerobot
from chainrule.motion.tables import RecordedTable, table_of
from chainrule.motion.text import parse_text
from chainrule.simulation.assumptions import Assumption

SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".log", ".mot", ".sto")
"""Endings of files of text with a column for each quantity."""

LIBFRANKA = (("time", "state.q[0]"), ("duration", "q[0]"))
"""The columns of times and of the first joint in logs of libfranka, of versions since 0.14 and before."""

BYTES_PER_NUMBER = 2
"""The fewest bytes of text that a number takes in a file, with its separator."""


def read_table(
    source: Any, topic: str | None = None, episode: int | None = None, feature: str | None = None, degrees: Any = None
) -> RecordedTable:
    """The table in a file, or in an object: a dictionary, a pandas or pyarrow table, NumPy's records, messages.

    topic: of a bag of ROS; episode, feature: of a data set of LeRobot, which does not say whether it is in degrees.
    """
    path = file_path(source) if isinstance(source, (str, PathLike)) else None
    if path is not None and is_lerobot(path):
        _refuse_option("topic", topic, "a bag of ROS")
        return read_lerobot(path, episode, feature, degrees)
    _refuse_option("episode", episode, "a data set of LeRobot")
    _refuse_option("feature", feature, "a data set of LeRobot")
    if path is not None and is_bag(path) and path.exists():
        return read_bag(path, topic)
    _refuse_option("topic", topic, "a bag of ROS")
    return table_of(source) if path is None else name_log(read_file(path))


def _refuse_option(name: str, value: Any, of: str) -> None:
    if value is not None:
        raise ShapeError(f"Trajectory.load: {name} is of {of}, and this recording is none")


def name_log(table: RecordedTable) -> RecordedTable:
    """The table of a log of libfranka, whose times are in ms: known by its headings; any other as it is."""
    for time, joint in LIBFRANKA:
        if time in table.columns and joint in table.columns and time not in table.units:
            columns = {"time" if name == time else name: column for name, column in table.columns.items()}
            fact = Assumption("log", "of libfranka, with times in ms", f"by its columns {time!r} and {joint!r}")
            return replace(
                table, columns=columns, units={**table.units, "time": "ms"}, assumptions=(*table.assumptions, fact)
            )
    return table


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
            f"cannot tell what {str(path)!r} is: recordings come as {', '.join((*SUFFIXES, *BAGS))}, "
            ".parquet, .npz or .npy, or as a folder of LeRobot or of a bag of ROS 2"
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
