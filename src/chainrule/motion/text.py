"""Tables in files of text: separators, decimal commas, comments, a line with units, lines of facts before the heading.

The dialect is recognized by the content. What can be read in two ways, such as a comma that may stand between
thousands, is an error that names the line; no row is left out without a word. Lines end in \\n, \\r\\n or \\r, and in
nothing else.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import FormatError, visible
from chainrule.motion.findings import Findings
from chainrule.motion.tables import RecordedTable
from chainrule.motion.units import is_unit

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
COMMENTS = ("#", "%", "//")
MAX_PREAMBLE_LINES = 200
"""Lines before the numbers, at most."""
HEAD_BYTES = 1 << 20
"""Bytes at the beginning of a file in which the heading and the first numbers are looked for."""
CHUNK_BYTES = 1 << 25
"""Bytes of a file that are parsed at once."""
SAMPLE_LINES = 20
"""Lines of numbers from which the separator is recognized."""
MISSING = {"", "nan", "na", "n/a", "null", "none", "-", "?"}
"""Cells without a number, in lower case."""

CELL = re.compile(r"[+-]?([0-9]+(\.[0-9]*|,[0-9]+)?|[.,][0-9]+)([eEdD][+-]?[0-9]+)?|[+-]?(inf|nan)", re.IGNORECASE)
"""A number, with a point or a comma before its decimals."""
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
"""A number whose comma may stand between thousands."""
GROUPED = re.compile(r"[+-]?[0-9]{1,3}([,.' \u00a0\u2009\u202f][0-9]{3})+([.,][0-9]*)?")
"""A number with marks between thousands."""


class TableHeading(NamedTuple):
    """The names of the columns, and where they stand in a file."""

    titles: list[str]
    units: dict[str, str]
    """Units by title, where a line of units says them."""
    facts: list[str]
    """The lines before it."""
    lines: list[int]
    """The numbers of its lines: that of the names, and that of the units where there is one."""


def parse_text(content: bytes, name: str) -> RecordedTable:
    """The table in the text of a file. Its head is looked at as text; rows of numbers are parsed where they are."""
    try:
        return _parse(plain_text(content, name), name)
    except csv.Error as error:
        raise FormatError(f"{name} is not a table of numbers: {error}") from error


def plain_text(content: bytes, name: str) -> bytes:
    """The content of a file of text without marks of its encoding, and with lines that end in \\n."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            content = content.decode("utf-16").encode()
        except UnicodeError as error:
            raise FormatError(f"{name} is no whole text of UTF-16: {error}") from error
    content = content.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in content[:HEAD_BYTES]:
        raise FormatError(f"{name} is not a text file")
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content


def _parse(content: bytes, name: str) -> RecordedTable:
    lines = decode(content[:HEAD_BYTES]).split("\n")
    if len(content) > HEAD_BYTES and len(lines) > 1:
        lines.pop()  # it may be cut off
    first = _first_of_numbers(lines, name)
    rows = [line for line in lines[first:] if _has_content(line)]
    separator = _separator(rows[:SAMPLE_LINES], name)
    comma = _has_decimal_commas(rows, separator, name)
    width = len(_cells(rows[0], separator))
    ends = [_cells(row, separator)[-1] for row in rows[:SAMPLE_LINES]]
    if not any(ends) and not any(len(_cells_of_words(line, separator, width)) == width for line in lines[:first]):
        width -= 1  # every row ends in a separator, and no heading has a name for what follows it
    heading = _heading(lines[:first], separator, width, name)
    numbers = _numbers(content, first, separator, comma, width, name)
    findings = Findings()
    findings.assume("separator", SEPARATORS.get(separator or "", "blanks"), f"it makes {width} cells in every row")
    findings.assume("decimal mark", "comma" if comma else "point", "no number has the other" if comma else "")
    findings.assume("heading", f"line {heading.lines[0]}", f"{first} lines stand before the numbers")
    for line in heading.lines[1:]:
        findings.assume("units", f"line {line}", "all of its words are units")
    _report_rows(content, first, len(numbers), heading.facts, findings)
    said = re.search(
        r"^[ \t]*+inDegrees[ \t]*+[=:,;]?[ \t]*+(yes|no)", "\n".join(heading.facts), re.IGNORECASE | re.MULTILINE
    )
    degrees = None if said is None else said[1].lower() == "yes"
    columns = {title: numbers[:, k] for k, title in enumerate(heading.titles)}
    return RecordedTable(columns, heading.units, degrees, tuple(findings.table))


def decode(content: bytes) -> str:
    """Text in UTF-8, or where it is none, in the code of old Windows programs, in which every byte is a letter."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(content) == HEAD_BYTES and error.start > len(content) - 4:  # a letter that was cut in two
            return content[: error.start].decode("utf-8")
        return content.decode("latin-1")


def _has_content(line: str) -> bool:
    bare = line.strip()
    return bool(bare) and not bare.startswith(COMMENTS)


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return [cell for cell in re.split(r"[ \t]+", line.strip(" \t")) if cell]
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]


def _are_numbers(cells: list[str]) -> bool:
    filled = [cell for cell in cells if cell.lower() not in MISSING]
    return len(cells) > 1 and bool(filled) and all(CELL.fullmatch(cell) for cell in filled)


def _first_of_numbers(lines: list[str], name: str) -> int:
    """The place of the first line of numbers."""
    for i, line in enumerate(lines[:MAX_PREAMBLE_LINES]):
        if not _has_content(line):
            continue
        ways = [_cells(line, separator) for separator in (*SEPARATORS, None)]
        if any(map(_are_numbers, ways)):
            return i
        for cells in ways:
            marked = [cell for cell in cells if not CELL.fullmatch(cell) and GROUPED.fullmatch(cell)]
            rest = [cell for cell in cells if cell not in marked]
            if marked and len(cells) > 1 and (not rest or _are_numbers([*rest, ""])):
                raise FormatError(
                    f"{name}, line {i + 1}: {visible(marked[0])[:40]!r} has marks between thousands, which are not "
                    "read; write numbers without them"
                )
    start = visible(next((line for line in lines if line.strip()), ""))[:60]
    raise FormatError(
        f"{name} has no rows of numbers in its first {MAX_PREAMBLE_LINES} lines; it begins with {start!r}. A recording "
        "has a line with the names of columns, then a row of numbers for each sample"
    )


def _separator(sample: list[str], name: str) -> str | None:
    """The separator that makes the same number of cells of every line, all of them numbers; None for blanks."""
    for separator in (*SEPARATORS, None):
        rows = [_cells(line, separator) for line in sample]
        if len({len(cells) for cells in rows}) == 1 and _are_numbers(rows[0]):
            return separator
    raise FormatError(
        f"{name}: rows of numbers differ in their number of columns; cells are separated by commas, semicolons, tabs, "
        f"bars or blanks, and the first row is {visible(sample[0])[:60]!r}"
    )


def _has_decimal_commas(rows: list[str], separator: str | None, name: str) -> bool:
    """Whether commas stand before decimals; refused where they may as well stand between thousands."""
    if separator == ",":
        return False
    cells = [cell for line in rows if "," in line for cell in _cells(line, separator) if "," in cell]
    if not cells:
        return False
    point = next((cell for line in rows if "." in line for cell in _cells(line, separator) if "." in cell), None)
    if point is not None:
        raise FormatError(
            f"{name} has numbers with commas and numbers with points, {visible(cells[0])[:40]!r} and "
            f"{visible(point)[:40]!r}, so that one of the marks stands between thousands; write numbers with one mark, "
            "before the decimals"
        )
    if all(THOUSANDS.fullmatch(cell) for cell in cells):
        raise FormatError(
            f"{name}: {cells[0]!r} may be {cells[0].replace(',', '')} or {cells[0].replace(',', '.')}, and no other "
            "number tells; write numbers with a point before the decimals, and no marks between thousands"
        )
    return True


def _heading(before: list[str], separator: str | None, width: int, name: str) -> TableHeading:
    """The names of the columns, in the last line before the numbers that has as many cells, but for a line of units.

    A line that is no comment goes before one that is.
    """
    rows = [_cells_of_words(line, separator, width) for line in before]
    full = [i for i, cells in enumerate(rows) if len(cells) == width]
    plain = [i for i in full if _has_content(before[i])]
    chosen = plain or full
    if not chosen:
        raise FormatError(
            f"{name} has {width} columns of numbers, and no line before them that names as many; add a heading such as "
            "t,joint1,joint2"
        )
    place, below = chosen[-1], None
    if len(chosen) > 1 and _are_units(rows[place]):
        place, below = chosen[-2], place
    else:
        below = next((i for i in full if i > place and _are_units(rows[i])), None)
    for i in range(place + 1, len(before)):
        if _has_content(before[i]) and i != below:
            raise FormatError(
                f"{name}, line {i + 1}: {visible(before[i].strip())[:60]!r} stands between the names of the columns "
                "and the numbers, and is neither units nor numbers; take it out, or make it a comment with #"
            )
    wrong = [cell for cell in rows[place] if not CELL.fullmatch(cell) and cell.lower() not in MISSING]
    if len(wrong) < width and any(CELL.fullmatch(cell) for cell in rows[place]) and len(chosen) > 1:
        raise FormatError(f"{name}, line {place + 1}: {visible(wrong[0])[:40]!r} is not a number")
    titles = [title or f"column {k + 1}" for k, title in enumerate(rows[place])]
    twice = next((title for title in titles if titles.count(title) > 1), None)
    if twice is not None:
        raise FormatError(f"{name} has two columns named {visible(twice)!r}; rename one of them")
    units = (
        {} if below is None else {t: unit.strip("[]() ") for t, unit in zip(titles, rows[below], strict=True) if unit}
    )
    return TableHeading(titles, units, before[:place], [i + 1 for i in (place, below) if i is not None])


def _cells_of_words(line: str, separator: str | None, width: int) -> list[str]:
    """The cells of a line of words, without the mark of a comment and an empty cell at its end."""
    bare = line.strip(" ")  # a tab at an end has an empty cell beside it
    for mark in COMMENTS:
        bare = bare.removeprefix(mark).strip(" ")
    cells = _cells(bare, separator) if bare.strip() else []
    return cells[:width] if len(cells) > width and not any(cells[width:]) else cells


def _are_units(cells: list[str]) -> bool:
    return any(cells) and all(map(is_unit, cells))


def _numbers(content: bytes, first: int, separator: str | None, comma: bool, width: int, name: str) -> Array:
    """All rows of numbers (T, width): at C's speed where every cell is a number, cell by cell where some are not."""
    try:
        parts = []
        for part in _chunks(content, first):
            if comma and b"." in part:
                raise ValueError("both marks")
            numbers = np.loadtxt(
                io.BytesIO(part.replace(b",", b".") if comma else part),
                delimiter=separator,
                ndmin=2,
                comments=COMMENTS[0],  # others are left to the way cell by cell
                quotechar='"',
                encoding="latin-1",
            )
            parts.append(numbers)
        if all(part.shape[1] == width for part in parts):
            return np.concatenate(parts).astype(float, copy=False)
    except ValueError:
        pass
    rows = []
    for i, line in enumerate(decode(content).split("\n")[first:], start=first + 1):
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
        start = content.index(b"\n", start) + 1
    while start < len(content):
        end = content.find(b"\n", start + CHUNK_BYTES) + 1 or len(content)
        part = content[start:end]
        if part.strip():
            yield part
        start = end


def _number(cell: str, comma: bool, name: str, line: int) -> float:
    """The number in a cell; nan where it says that there is none."""
    if cell.lower() in MISSING:
        return np.nan
    if not CELL.fullmatch(cell) or ("." if comma else ",") in cell:
        mark = "commas" if comma else "points"
        hint = (
            f"; other numbers have {mark} before their decimals"
            if GROUPED.fullmatch(cell) or CELL.fullmatch(cell)
            else ""
        )
        raise FormatError(f"{name}, line {line}: {visible(cell)[:40]!r} is not a number{hint}")
    return float(re.sub("[dD]", "e", cell.replace(",", ".")))


def _report_rows(content: bytes, first: int, rows: int, facts: Sequence[str], findings: Findings) -> None:
    """Rows that were read, lines among them that are none, and whether a header states another number of rows."""
    body = content.rstrip()
    skipped = body.count(b"\n") + 1 - first - rows
    rows_stated = r"^[ \t]*+(?:nRows|datarows)(?=[=:,; \t])[ \t]*+[=:,;]?[ \t]*+([0-9]+)"
    stated = re.search(rows_stated, "\n".join(facts), re.IGNORECASE | re.MULTILINE)
    if stated and int(stated[1]) != rows:
        findings.assume("rows", str(rows), f"the header states {stated[1]}: the file may be cut off", is_doubtful=True)
    else:
        findings.assume("rows", str(rows), f"{skipped} blank lines and comments among them" if skipped else "")
