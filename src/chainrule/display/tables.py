"""Tables of HTML and LaTeX. Names come from files, so that all text is escaped here."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape as escape_html
from typing import Any

from chainrule.errors import visible

MAX_ROWS = 60
"""Rows of a table that are shown; of longer ones, the first of them."""

CELL = "text-align:left;padding:.15em .7em;white-space:nowrap"


def escape(text: object) -> str:
    """Text for HTML, letter by letter: neither markup nor control characters survive.

    >>> escape("<b>$x$</b>")
    '&lt;b&gt;$x$&lt;/b&gt;'
    """
    return escape_html(visible(str(text)))


def no_math(text: object) -> str:
    """Escaped text in which MathJax sees no formulas: its dollar signs and backslashes are written as entities."""
    return escape(text).replace("$", "&#36;").replace("\\", "&#92;")


def no_math_lines(lines: Iterable[str]) -> str:
    """Lines of text for a <pre>, each escaped."""
    return "\n".join(no_math(line) for line in lines)


def figure_text(value: Any) -> str:
    """A number with four digits, ∞ where it is infinite.

    >>> figure_text(0.123456), figure_text(float("-inf"))
    ('0.1235', '-∞')
    """
    x = float(value)
    if math.isinf(x):
        return "∞" if x > 0 else "-∞"
    return f"{x:.4g}"


def table(header: Sequence[object], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """An HTML table; numbers are shown with four digits, all else letter by letter."""
    head = "".join(f'<th style="{CELL}">{no_math(cell)}</th>' for cell in header)
    listed = list(rows)
    lines = ["<tr>" + "".join(f'<td style="{CELL}">{_cell(cell)}</td>' for cell in row) + "</tr>" for row in listed]
    if len(lines) > MAX_ROWS:
        more = f'<tr><td style="{CELL}" colspan="{len(header)}">and {len(lines) - MAX_ROWS} more</td></tr>'
        lines = [*lines[:MAX_ROWS], more]
    title = f'<caption style="caption-side:top;text-align:left">{no_math(caption)}</caption>' if caption else ""
    return f'<table style="font-size:90%">{title}<thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def is_number(value: object) -> bool:
    """Whether a cell is a number, of Python or NumPy, but no truth."""
    return isinstance(value, float) or type(value).__name__.startswith(("float", "int", "uint"))


def is_integer(value: object) -> bool:
    """Whether a number of a cell counts something."""
    return not isinstance(value, float) and type(value).__name__.startswith(("int", "uint"))


def _cell(value: object) -> str:
    return figure_text(value) if is_number(value) else no_math(value)


def heading(text: object, rest: object = "") -> str:
    """A line with a name in bold, and what is said of it."""
    return f"<div><b>{no_math(text)}</b> {no_math(rest)}</div>"


def fold(title: object, content: str) -> str:
    """Content that unfolds at a click on its title."""
    return f"<details><summary>{no_math(title)}</summary>{content}</details>"


def image(png: bytes, name: str, width: int) -> str:
    """A picture inside the page."""
    data = b64encode(png).decode("ascii")
    return f'<img alt="{no_math(name)}" width="{width}" src="data:image/png;base64,{data}"/>'


def latex_number(value: Any, digits: int = 5) -> str:
    r"""The LaTeX of a number; multiples of pi/12 are written as such.

    >>> latex_number(-math.pi / 2), latex_number(0.25), latex_number(1e-7)
    ('-\\frac{\\pi}{2}', '0.25', '1 \\cdot 10^{-7}')
    """
    x = float(value)
    share = 12 * x / math.pi
    if x and abs(share - round(share)) < 1e-12 * abs(share):
        top, bottom = round(share) // math.gcd(round(share), 12), 12 // math.gcd(round(share), 12)
        sign, factor = "-" if top < 0 else "", "" if abs(top) == 1 else str(abs(top))
        return rf"{sign}{factor}\pi" if bottom == 1 else rf"{sign}\frac{{{factor}\pi}}{{{bottom}}}"
    text = f"{x:.{digits}g}"
    if "e" in text:
        head, _, power = text.partition("e")
        return rf"{head} \cdot 10^{{{int(power)}}}"
    return text


def latex_table(columns: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of formulas in LaTeX, as notebooks show it."""
    lines = [" & ".join(header) + r" \\ \hline", *(" & ".join(row) + r" \\" for row in rows)]
    return f"$\\displaystyle\\begin{{array}}{{{columns}}}\n" + "\n".join(lines) + "\n\\end{array}$"
