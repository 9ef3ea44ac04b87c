"""Tables of samples, from files and from objects: a name and numbers for each column.

CSV has dialects: separators, decimal commas, comments, a line with units, lines of facts before the heading. They are
recognized by the content; what cannot be told is an error that names the line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.arguments import Array, file_path, refuse_beyond_memory
from chainrule.errors import FormatError, ShapeError, short_repr, visible

SEPARATORS = (",", ";", "\t", "|")
COMMENTS = ("#", "%", "//")
MAX_PREAMBLE_LINES = 200
"""Lines before the numbers, at most."""
HEAD_BYTES = 1 << 20
"""Bytes at the beginning of a file in which the heading and the first numbers are looked for."""
CHUNK_BYTES = 1 << 25
"""Bytes of a file that are parsed at once."""
SAMPLE_LINES = 20
"""Lines of numbers from which the separator is recognized."""
BYTES_PER_NUMBER = 2
"""The fewest bytes of text that a number takes in a file, with its separator."""
MISSING = {"", "nan", "na", "n/a", "null", "none", "-", "?"}
"""Cells without a number, in lower case."""

SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".log", ".mot", ".sto")
"""Endings of files of text with a column for each quantity."""

CELL = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eEdD][+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """Columns of numbers, nan where a cell is empty."""

    columns: Mapping[str, Array]
    units: Mapping[str, str] = field(default_factory=dict)
    """Units of columns where a line of units gave them."""
    degrees: bool | None = None
    """Whether angles are in degrees, where the file says so."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


def read_table(source: Any) -> Table:
    """The table in a file, or in an object: a dictionary, a pandas or pyarrow table, NumPy's records, messages."""
    if isinstance(source, (str, PathLike)):
        return read_file(file_path(source))
    if isinstance(source, Mapping):
        return _of_columns(dict(source))
    names = getattr(getattr(source, "dtype", None), "names", None)
    if names:
        return _of_columns({name: source[name] for name in names})
    if hasattr(source, "column_names") and hasattr(source, "column"):  # pyarrow
        return _of_columns({name: source.column(name).to_numpy() for name in source.column_names})
    if hasattr(source, "columns") and hasattr(source, "index"):  # pandas, polars has no index
        return _of_frame(source)
    if hasattr(source, "columns") and hasattr(source, "to_dict"):  # polars
        return _of_columns({name: source[name].to_numpy() for name in source.columns})
    if isinstance(source, Sequence) and len(source) and hasattr(source[0], "position"):
        return _of_messages(source)
    raise ShapeError(
        "a recorded motion comes as a file, a dictionary of columns, a pandas or pyarrow table, an array with named "
        f"fields, or a list of JointState messages, got {short_repr(source)}"
    )


def read_file(path: Path) -> Table:
    """The table in a file of text or in a Parquet, .npz or .npy file."""
    suffix = path.suffix.lower()
    if not path.is_file():
        raise FormatError(f"there is no file {str(path)!r}")
    if suffix == ".parquet":
        from chainrule.simulation.files import import_parquet

        arrow, parquet = import_parquet()
        try:
            return read_table(parquet.read_table(path))
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


def _read_numpy(path: Path) -> Table:
    try:
        with path.open("rb") as file:
            stored = np.load(file, allow_pickle=False)
            if hasattr(stored, "files"):
                return _of_columns({name: stored[name] for name in stored.files})
    except (OSError, ValueError, EOFError) as error:
        raise FormatError(f"{str(path)!r} is not a file of NumPy arrays: {error}") from error
    return read_table(stored)


# --- text ---


def parse_text(content: bytes, name: str) -> Table:
    """The table in the text of a file. Its head is looked at as text; rows of numbers are parsed where they are."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        content = content.decode("utf-16", errors="replace").encode()
    content = content.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in content[:HEAD_BYTES]:
        raise FormatError(f"{name} is not a text file")
    try:
        return _parse(content, name)
    except csv.Error as error:
        raise FormatError(f"{name} is not a table of numbers: {error}") from error


def _parse(content: bytes, name: str) -> Table:
    lines = _text(content[:HEAD_BYTES]).splitlines(keepends=True)
    first = _first_of_numbers(lines, name)
    sample = [
        line for line in lines[first : first + SAMPLE_LINES] if _has_content(line) and line.endswith(("\n", "\r"))
    ]
    sample = sample or lines[first : first + 1]
    separator = _separator(sample, name)
    comma = _has_decimal_commas(sample, separator)
    width = len(_cells(sample[0], separator))
    heading, units, facts = _heading(lines[:first], separator, width, name)
    numbers = _numbers(content, first, separator, comma, width, name)
    columns = {title: numbers[:, k] for k, title in enumerate(heading)}
    said = re.search(r"^\s*inDegrees\s*[=:,;\t]?\s*(yes|no)", "\n".join(facts), re.IGNORECASE | re.MULTILINE)
    return Table(columns, units, None if said is None else said[1].lower() == "yes")


def _text(content: bytes) -> str:
    """Text in UTF-8, or where it is none, in the code of old Windows programs, in which every byte is a letter."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start > len(content) - 4:  # a letter that was cut in two
            return content[: error.start].decode("utf-8")
        return content.decode("latin-1")


def _has_content(line: str) -> bool:
    bare = line.strip()
    return bool(bare) and not bare.startswith(COMMENTS)


def _is_row_of_numbers(line: str) -> bool:
    for separator in (*SEPARATORS, None):
        cells = _cells(line, separator)
        filled = [cell for cell in cells if cell.lower() not in MISSING]
        if len(cells) > 1 and filled and all(CELL.fullmatch(cell) for cell in filled):
            return True
    return False


def _first_of_numbers(lines: list[str], name: str) -> int:
    for i, line in enumerate(lines[:MAX_PREAMBLE_LINES]):
        if _has_content(line) and _is_row_of_numbers(line):
            return i
    start = visible(next((line for line in lines if line.strip()), ""))[:60]
    raise FormatError(
        f"{name} has no rows of numbers in its first {MAX_PREAMBLE_LINES} lines; it begins with {start!r}. A recording "
        "has a line with the names of columns, then a row of numbers for each sample"
    )


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]


def _separator(sample: list[str], name: str) -> str | None:
    """The separator that gives every line the same number of cells, in the first line numbers; None for blanks."""
    fits: list[tuple[int, str | None]] = []
    for separator in (*SEPARATORS, None):
        widths = {len(_cells(line, separator)) for line in sample}
        first = [cell for cell in _cells(sample[0], separator) if cell.lower() not in MISSING]
        if len(widths) == 1 and max(widths) > 1 and all(CELL.fullmatch(cell) for cell in first):
            fits.append((max(widths), separator))
    decimal = [separator for _, separator in fits if separator != ","]
    if len(fits) > 1 and fits[0][1] == "," and decimal:  # "0,5;1,0": the commas are decimal
        return decimal[0]
    if not fits:
        raise FormatError(
            f"{name}: rows of numbers differ in their number of columns; cells are separated by commas, semicolons, "
            f"tabs, bars or blanks, and the first row is {visible(sample[0])[:60]!r}"
        )
    return fits[0][1]


def _has_decimal_commas(sample: list[str], separator: str | None) -> bool:
    return separator != "," and any("," in cell for line in sample for cell in _cells(line, separator))


def _heading(
    before: list[str], separator: str | None, width: int, name: str
) -> tuple[list[str], dict[str, str], list[str]]:
    """The names of the columns, their units where a second line has them, and the lines of facts before."""
    rows: list[list[str]] = []
    for line in before:
        bare = line.strip()
        for mark in COMMENTS:
            bare = bare.removeprefix(mark).strip()
        cells = _cells(bare, separator) if bare else []
        if len(cells) > width and not cells[-1]:
            cells = cells[:width]
        rows.append(cells)
    full = [cells for cells in rows if len(cells) == width]
    if not full:
        raise FormatError(
            f"{name} has {width} columns of numbers, and no line before them that names as many; add a heading such as "
            "t,joint1,joint2"
        )
    units: dict[str, str] = {}
    heading = full[-1]
    if len(full) > 1 and _are_units(full[-1]):
        heading = full[-2]
        units = {title: unit.strip("[]() ") for title, unit in zip(heading, full[-1], strict=True) if unit}
    twice = next((title for title in heading if heading.count(title) > 1), None)
    if twice is not None:
        raise FormatError(f"{name} has two columns named {visible(twice)!r}; rename one of them")
    return heading, units, [line for line, cells in zip(before, rows, strict=True) if cells is not heading]


UNITS = {
    "s", "ms", "us", "ns", "sec", "rad", "deg", "degrees", "radians", "°", "m", "mm", "cm", "rad/s", "deg/s", "m/s",
    "rad/s^2", "deg/s^2", "m/s^2", "nm", "n m", "n", "1", "-", "",
}  # fmt: skip
"""Words that may stand in a line of units, in lower case."""


def _are_units(cells: list[str]) -> bool:
    return any(cells) and all(cell.strip("[]() ").lower() in UNITS for cell in cells)


def _numbers(content: bytes, first: int, separator: str | None, comma: bool, width: int, name: str) -> Array:
    """All rows of numbers (T, width): at C's speed where every cell is a number, cell by cell where some are not."""
    try:
        parts = [
            np.loadtxt(
                io.BytesIO(part.replace(b",", b".") if comma else part),
                delimiter=separator,
                ndmin=2,
                comments=COMMENTS[0],  # others are left to the way cell by cell
                quotechar='"',
                encoding="latin-1",
            )
            for part in _chunks(content, first)
        ]
        if all(part.shape[1] == width for part in parts):
            return np.concatenate(parts).astype(float, copy=False)
    except ValueError:
        pass
    rows = []
    for i, line in enumerate(_text(content).splitlines()[first:], start=first + 1):
        if not _has_content(line):
            continue
        cells = _cells(line, separator)
        if len(cells) == width + 1 and not cells[-1]:
            cells = cells[:width]
        if len(cells) != width:
            raise FormatError(f"{name}, line {i}: {len(cells)} cells, where the first row has {width}")
        rows.append([_number(cell, comma, name, i) for cell in cells])
    return np.array(rows, dtype=float)


def _chunks(content: bytes, first: int) -> Iterator[bytes]:
    """Whole lines of a file in parts of bounded size, from line `first` on."""
    start = 0
    for _ in range(first):
        start = content.index(b"\n", start) + 1 if b"\n" in content else len(content)
    while start < len(content):
        end = content.find(b"\n", start + CHUNK_BYTES) + 1 or len(content)
        part = content[start:end]
        if part.strip():
            yield part
        start = end


def _number(cell: str, comma: bool, name: str, line: int) -> float:
    if cell.lower() in MISSING:
        return np.nan
    try:
        return float(cell.replace(",", ".") if comma else cell)
    except ValueError:
        raise FormatError(f"{name}, line {line}: {visible(cell)[:40]!r} is not a number") from None


# --- objects ---


def _of_columns(columns: Mapping[Any, Any]) -> Table:
    arrays: dict[str, Array] = {}
    for name, values in columns.items():
        column = np.asarray(values)
        if column.ndim == 2 and column.dtype.kind in "fiu":
            arrays |= {f"{name}{k + 1}": column[:, k].astype(float) for k in range(column.shape[1])}
            continue
        if column.dtype.kind in "mM":
            column = nanoseconds(column) * 1e-9
        if column.ndim != 1 or column.dtype.kind not in "fiub":
            continue  # text, such as a file's name, says nothing of the motion
        arrays[str(name)] = column if column.dtype.kind == "i" else column.astype(float)  # ns since 1970 stay exact
    lengths = {len(column) for column in arrays.values()}
    if len(lengths) > 1:
        sizes = ", ".join(f"{name!r} {len(column)}" for name, column in list(arrays.items())[:6])
        raise ShapeError(f"the columns of a recording must have the same length, got {sizes}")
    if not arrays:
        raise ShapeError("the recording has no columns of numbers")
    return Table(arrays)


def nanoseconds(dates: Any) -> Any:
    """Whole nanoseconds since the first of dates, or of durations since none."""
    if dates.dtype.kind == "M":
        dates = dates - dates[:1]
    return dates.astype("timedelta64[ns]").astype(np.int64)


def _of_frame(frame: Any) -> Table:
    """A DataFrame; its index is a column too where it has a name or holds times."""
    columns = {str(name): frame[name].to_numpy() for name in frame.columns}
    index = frame.index
    kind = getattr(getattr(index, "dtype", None), "kind", "O")
    if index.name is not None and str(index.name) not in columns:
        columns[str(index.name)] = index.to_numpy()
    elif kind in "mMf" and not any(str(name).lower() in ("t", "time") for name in columns):
        columns["time"] = index.to_numpy()
    return _of_columns(columns)


def _of_messages(messages: Sequence[Any]) -> Table:
    """A list of messages like ROS's sensor_msgs/JointState: a row each, by the names that each gives."""
    names = list(dict.fromkeys(str(name) for message in messages for name in message.name))
    rows = np.full((len(messages), len(names)), np.nan)
    for i, message in enumerate(messages):
        positions = np.asarray(message.position, dtype=float)
        if len(positions) != len(message.name):
            raise ShapeError(f"message {i} has {len(message.name)} names and {len(positions)} positions")
        rows[i, [names.index(str(name)) for name in message.name]] = positions
    stamps = [_stamp(message) for message in messages]
    first = next((stamp[0] for stamp in stamps if stamp), 0)
    times = np.array([(stamp[0] - first) + stamp[1] * 1e-9 if stamp else np.nan for stamp in stamps])
    columns = {name: rows[:, k] for k, name in enumerate(names)}
    return Table(columns if np.isnan(times).all() else {"time": times, **columns})


def _stamp(message: Any) -> tuple[int, int] | None:
    """Seconds and nanoseconds of a message's header, in the words of either version of ROS."""
    stamp = getattr(getattr(message, "header", None), "stamp", None)
    if stamp is None:
        return None
    seconds = getattr(stamp, "sec", getattr(stamp, "secs", 0))
    return seconds, getattr(stamp, "nanosec", getattr(stamp, "nsec", getattr(stamp, "nsecs", 0)))
