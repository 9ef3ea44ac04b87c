"""Tables in LaTeX that stay on the page: in small type, with cells over several lines, with turned headers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from chainrule.symbolic.documents.blocks import TableBlock, Text, pieces
from chainrule.symbolic.documents.formula import parse, width
from chainrule.symbolic.documents.line_breaks import math
from chainrule.symbolic.documents.printing import Style

LINE, GAP = 90.0, 2.4
"""A line and the space between two columns, in letters of half an em, as digits are."""

SMALL_LINE, SMALL_GAP = 107.0, 1.4
"""The same in small type, with the columns closer together."""

TURNED = 2
"""Width of a header that is turned by a quarter, in letters."""


class ColumnWidths(NamedTuple):
    """The widths of a column's header and cells in letters: of the widest, and of the longest word."""

    width: int
    word: int


def table(block: TableBlock, style: Style, write: Callable[[Text, Style], str]) -> str:
    """A table that may continue on the next page; `write` gives the LaTeX of a cell."""
    header = [write(cell, style) for cell in block.header]
    plain = [[_plain(cell, style) for cell in cells] for cells in zip(block.header, *block.rows, strict=True)]
    columns = [_measure(cells) for cells in plain]
    is_small = sum(column.width + GAP for column in columns) > LINE
    form = "l" * len(columns)
    if is_small:
        room = SMALL_LINE - SMALL_GAP * len(columns)
        if sum(column.word for column in columns) > room:
            for k, (head, *cells) in enumerate(plain):
                below = _measure(cells)
                if _measure([head]).word > below.word:
                    header[k] = f"\\rotatebox{{90}}{{{header[k]}\\,}}"
                    columns[k] = ColumnWidths(max(below.width, TURNED), max(below.word, TURNED))
        form = _form(columns, room)
    rows = [" & ".join(row) for row in (header, *([write(cell, style) for cell in row] for row in block.rows))]
    rows = [f"{{}}{row}" if row.startswith(("[", "*")) else row for row in rows]  # no option of the line before
    lines = [rows[0] + r" \\ \hline", *(row + r" \\" for row in rows[1:])]
    text = f"\\begin{{longtable}}[l]{{{form}}}\n" + "\n".join(lines) + "\n\\end{longtable}"
    return f"{{\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n{text}}}" if is_small else text


def _form(columns: Sequence[ColumnWidths], room: float) -> str:
    """The kinds of columns: cells of the widest are broken over lines until all fit, but no word is broken."""

    def widths(limit: int) -> list[int]:
        return [min(column.width, max(column.word, limit)) for column in columns]

    limit = max((k for k in range(int(room) + 1) if sum(widths(k)) <= room), default=0)
    narrowed = zip(columns, widths(limit), strict=True)
    return "".join("l" if column.width <= letters else f"P{{{letters / 2:g}em}}" for column, letters in narrowed)


def _measure(cells: Sequence[str]) -> ColumnWidths:
    words = (len(word) for cell in cells for word in cell.split())
    return ColumnWidths(max(map(len, cells), default=0), max(words, default=0))


def _plain(cell: Text, style: Style) -> str:
    """A cell with as many letters for each formula as it is wide."""
    return "".join(p if isinstance(p, str) else "x" * round(width(parse(math(p, style)))) for p in pieces(cell))
