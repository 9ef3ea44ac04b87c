"""Tables and lines of text for a terminal: as wide as it is, broken between words alone."""

from __future__ import annotations

import math
import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from chainrule.display import tables
from chainrule.display.words import unknown_attribute_of_result
from chainrule.errors import quoted, visible

R = TypeVar("R")

DEFAULT_COLUMNS = 80
"""Width where no terminal says another."""

DEFAULT_ROWS = 20
"""Lines of a long text that are shown where no terminal says another number."""

LINES_OF_PROMPT = 4
"""Lines of a screen that are left to the prompt and to what was typed."""

FIGURES = 6
"""Significant digits of the largest number of a column."""

NOISE = 1e-15
"""Numbers of a column with exponents below this are rounding, and shown as zero."""

SMALLEST_FIXED = 1e-3
"""The largest number of a column that is written without exponents is at least this."""

GAP = "  "

MOST_NAMED, MOST_NUMBERS, MOST_ENTRIES = 6, 8, 64
"""Names, numbers of a vector, and entries of a matrix that are listed in full."""

_NUMBER = re.compile(r"\s*-?(\d[\d,.]*(e[+-]?\d+)?|inf|nan)\s*%?\s*")
"""A number that was written already."""

_VECTOR = re.compile(r"\([-+\d.e, ]{1,40}\)")
"""A short vector: numbers in parentheses."""

JOINED = "\x00"
"""A space at which no line is broken."""


@dataclass(frozen=True)
class Table:
    """A table of a result: names or numbers under a header, the numbers of one kind in a column."""

    header: Sequence[object]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    names: int = 1
    """How many columns at the left say what a row is about; a table in pieces repeats them."""


def terminal_columns(otherwise: int = DEFAULT_COLUMNS) -> int:
    """The width of the terminal: COLUMNS where it is set, that of standard output, or another."""
    return max(20, shutil.get_terminal_size((otherwise, 0)).columns)


def terminal_rows() -> int | None:
    """The lines of the terminal that a result may fill, by LINES or by standard output; None without a terminal."""
    lines = shutil.get_terminal_size((0, 0)).lines
    return max(5, lines - LINES_OF_PROMPT) if lines else None


def wrap_text(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of a text, broken between words; a word that is longer than a line stays whole."""
    lines = textwrap.wrap(
        _as_word(text), width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
    ) or [""]  # fmt: skip
    return [line.replace(JOINED, " ") for line in lines]


def _as_word(text: str) -> str:
    """The text with its vectors, such as (0, 0, 1), as words, which are not broken."""
    return _VECTOR.sub(lambda vector: vector[0].replace(" ", JOINED), text)


def in_a_line(text: str) -> str:
    """A text in a line, or in several where it is longer than the terminal is wide."""
    return "\n".join(wrap_text(text, terminal_columns(), GAP))


def table_lines(table: Table, width: int | None = None, most_rows: int = tables.MAX_ROWS) -> list[str]:
    """The lines of a table: in pieces below one another where it is wider than the terminal."""
    width = width or terminal_columns()
    shown = [list(row) for row in table.rows[:most_rows]]
    header = [visible(str(cell)) for cell in table.header]
    columns = [_texts([row[k] if k < len(row) else "" for row in shown]) for k in range(len(header))]
    numeric = [_is_numeric(row[k] for row in shown if k < len(row)) for k in range(len(header))]
    lines = wrap_text(visible(table.caption), width) if table.caption else []
    for k, piece in enumerate(_pieces(header, columns, table.names, width)):
        lines += [""] * (k > 0) + _piece(header, columns, numeric, piece, width)
    hidden = len(table.rows) - len(shown)
    return lines + [f"... and {hidden} more rows"] * (hidden > 0)


def _is_numeric(cells: Iterable[object]) -> bool:
    given = [cell for cell in cells if str(cell).strip() not in ("", "-")]
    return bool(given) and all(tables.is_number(cell) or _NUMBER.fullmatch(str(cell)) for cell in given)


def _texts(cells: Sequence[Any]) -> list[str]:
    """The cells of a column; its numbers have the same number of decimals."""
    reals = [float(cell) for cell in cells if tables.is_number(cell) and not tables.is_integer(cell)]
    largest = max((abs(x) for x in reals if math.isfinite(x)), default=0.0)
    fixed = largest == 0.0 or SMALLEST_FIXED <= largest < 10**FIGURES
    decimals = FIGURES - 1 - math.floor(math.log10(largest)) if fixed and largest else 1
    decimals = min(FIGURES, max(0, decimals))
    needed = max((_decimals(x, decimals) for x in reals if fixed and math.isfinite(x)), default=0)
    texts = []
    for cell in cells:
        if not tables.is_number(cell) or tables.is_integer(cell):
            texts.append(visible(str(cell)).strip())
        elif not math.isfinite(x := float(cell)):
            texts.append(f"{x}")
        else:
            texts.append(f"{_positive_zero(x, needed):.{needed}f}" if fixed else f"{0.0 if abs(x) < NOISE else x:.4g}")
    return texts


def _decimals(x: float, most: int) -> int:
    """The decimals that a number needs: none of its last zeros."""
    return len(f"{x:.{most}f}".rstrip("0").partition(".")[2])


def _positive_zero(x: float, decimals: int) -> float:
    return 0.0 if abs(x) < 0.5 * 10.0**-decimals else x


def _widths(header: Sequence[str], columns: Sequence[Sequence[str]], piece: Sequence[int]) -> list[int]:
    return [max(len(header[k]), *(len(text) for text in columns[k]), 1) for k in piece]


def _least_width(header: str, column: Sequence[str]) -> int:
    """The width of a column whose texts are broken between words."""
    return max(len(word) for text in (header, *column) for word in (_as_word(text).split() or [""]))


def _pieces(header: Sequence[str], columns: Sequence[Sequence[str]], names: int, width: int) -> list[list[int]]:
    """The columns of each piece of a table: as many as fit beside one another, after those with names."""
    least = [_least_width(*pair) for pair in zip(header, columns, strict=True)]
    first = list(range(min(names, len(header))))
    start = sum(least[k] + len(GAP) for k in first)
    pieces, taken = [list(first)], start
    for k in range(len(first), len(header)):
        if taken + least[k] > width and len(pieces[-1]) > len(first):
            pieces.append(list(first))
            taken = start
        pieces[-1].append(k)
        taken += least[k] + len(GAP)
    return pieces


def _piece(
    header: Sequence[str], columns: Sequence[Sequence[str]], numeric: Sequence[bool], piece: Sequence[int], width: int
) -> list[str]:
    widths = _widths(header, columns, piece)
    least = [_least_width(header[k], columns[k]) for k in piece]
    spare = width - len(GAP) * (len(piece) - 1)
    while sum(widths) > spare and any(own > low for own, low in zip(widths, least, strict=True)):
        widest = max((k for k in range(len(piece)) if widths[k] > least[k]), key=lambda k: widths[k])
        widths[widest] -= 1
    rows = [[header[k] for k in piece], *([columns[k][i] for k in piece] for i in range(len(columns[piece[0]])))]
    lines = []
    for row in rows:
        cells = [wrap_text(text, own) for text, own in zip(row, widths, strict=True)]
        for i in range(max(map(len, cells))):
            parts = (
                (cell[i] if i < len(cell) else "").rjust(own)
                if numeric[k]
                else (cell[i] if i < len(cell) else "").ljust(own)
                for cell, own, k in zip(cells, widths, piece, strict=True)
            )
            lines.append(GAP.join(parts).rstrip())
    return lines


class Advised:
    """A result that says what it calls what it is asked for."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know the names

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(name) if name.startswith("_") else unknown_attribute_of_result(self, name)


def advises_names(kind: type[R]) -> type[R]:
    """Let a named tuple say what it calls what it is asked for: one can have no other base class."""
    cast(Any, kind).__getattr__ = cast(Any, Advised).__getattr__
    return kind


class Shown(Advised):
    """A result that shows itself: in text, which fits the terminal, and in HTML, for notebooks.

    A class says what is shown of it in `_view`: lines of text and tables. At a prompt it fills at most a screen; print
    shows as many rows of a table as a notebook.
    """

    __slots__ = ()

    def _view(self) -> Iterable[str | Table]:
        raise NotImplementedError

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        lines, most = text_of(self).split("\n"), terminal_rows()
        if most is None or len(lines) <= most:
            return "\n".join(lines)
        return "\n".join([*lines[: most - 1], f"... and {len(lines) - most + 1} more lines: print(...) shows them"])

    def _repr_html_(self) -> str:
        return html_of(self._view())


class FieldsShown(Shown):
    """A record that shows its fields: the number, the name, or the shape and the range of each."""

    __slots__ = ()

    def _view(self) -> Iterable[str | Table]:
        parts: dict[str, Any] = getattr(self, "_asdict", lambda: vars(self))()
        shown = {name: value for name, value in parts.items() if not name.startswith("_")}
        yield type(self).__name__
        yield Table(("", "value"), [(f"  {name}", summary(value)) for name, value in shown.items()])


def text_of_arrays(parts: Any) -> str:
    """The numbers of a named tuple of arrays: vectors in a line, matrices as tables; of large ones shape and range."""
    shown: list[str | Table] = [type(parts).__name__]
    for name, value in parts._asdict().items():
        if getattr(value, "ndim", 0) == 2 and value.size <= MOST_ENTRIES:
            rows = [(name if i == 0 else "", *map(float, row)) for i, row in enumerate(value)]
            shown.append(Table(("", *map(str, range(1, value.shape[1] + 1))), rows))
        else:
            shown.append(f"{name}: {summary(value)}")
    return "\n".join(lines_of(shown))


def summary(value: Any) -> str:
    """A few words about a value: itself where it is short; of an array its shape and range."""
    if value is None:
        return "-"
    if isinstance(value, (bool, str)):
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _array_summary(value)
    if isinstance(value, (float, int)):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return f"{len(value)}: {quoted(map(str, value), MOST_NAMED)}"
    if isinstance(value, (tuple, list)):
        listed = all(isinstance(entry, (str, float, int)) for entry in value)
        return (
            ", ".join(map(summary, value[:MOST_NAMED])) + ", ..." * (len(value) > MOST_NAMED)
            if listed
            else (f"{len(value)} of {type(value[0]).__name__}")
        )
    return str(getattr(value, "name", type(value).__name__))


def _array_summary(array: Any) -> str:
    if array.size <= MOST_NUMBERS and array.ndim < 2 and array.dtype.kind in "biuf":
        return " ".join(f"{x:.6g}" for x in array.reshape(-1).tolist())
    shape = f"shape {tuple(array.shape)}"
    if not array.size or array.dtype.kind not in "biuf" or not hasattr(array, "min"):
        return shape
    if array.dtype.kind == "b":
        return f"{shape}, {int(array.sum())} true"
    return f"{shape}, {float(array.min()):.4g} to {float(array.max()):.4g}"


def text_of(shown: Shown, width: int | None = None) -> str:
    """Text of a result, in lines as wide as the terminal, or of another width."""
    return "\n".join(lines_of(shown._view(), width))


def lines_of(parts: Iterable[str | Table], width: int | None = None) -> list[str]:
    """Lines of text and tables, as wide as the terminal, or of another width."""
    width, lines = width or terminal_columns(), []
    for part in parts:
        if isinstance(part, Table):
            lines += table_lines(part, width)
            continue
        text = visible(part)
        indent = text[: len(text) - len(text.lstrip())]
        lines += wrap_text(text, width, indent + GAP)
    return lines


def html_of(parts: Iterable[str | Table]) -> str:
    """Lines of text and tables, in HTML."""
    return "".join(
        tables.table(part.header, part.rows, part.caption) if isinstance(part, Table) else tables.heading(part)
        for part in parts
    )
