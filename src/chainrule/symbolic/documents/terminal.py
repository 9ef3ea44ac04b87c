# ruff: noqa: RUF001 (mathematical letters)
"""Documents as Unicode text."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.printing.pretty.pretty import PrettyPrinter  # type: ignore[import-untyped]
from sympy.printing.pretty.stringpict import prettyForm  # type: ignore[import-untyped]

from chainrule.display.text import terminal_columns, wrap_text
from chainrule.symbolic.documents.blocks import (
    Block,
    DocumentContent,
    Equation,
    FigureBlock,
    Formula,
    Heading,
    Paragraph,
    TableBlock,
    Text,
    pieces,
)
from chainrule.symbolic.documents.line_breaks import entries, math, summands
from chainrule.symbolic.documents.plain_text import line
from chainrule.symbolic.documents.printing import Style, arrange, pretty, superscript_powers

MAX_COLUMNS = 110
"""Columns of a line; wider sums are broken over lines, and wider matrices are written entry by entry."""


def text(page: DocumentContent) -> str:
    """The text of a whole document."""
    title = _plain(page.title)
    return "\n\n".join([f"{title}\n{'=' * len(title)}", *(_block(b, page.style) for b in page.blocks)]) + "\n"


def equation(block: Equation, style: Style) -> str:
    """The text of an equation, on one line if it fits."""
    joined = _join([_form(side, style) for side in block.sides])
    if joined.width() > MAX_COLUMNS and len(block.sides) > 1:
        return "\n".join(_equation_by_terms(block, style))
    unit = f"    [{superscript_powers(block.unit)}]" if block.unit else ""
    return str(prettyForm(*joined.right(unit)) if unit else joined)


def _join(forms: list[prettyForm]) -> prettyForm:
    whole = forms[0]
    for form in forms[1:]:
        whole = prettyForm(*prettyForm(*whole.right(" = ")).right(form))
    return whole


def _form(side: Any, style: Style) -> prettyForm:
    if isinstance(side, Formula):
        return prettyForm(line(side.latex))
    drawn = pretty(side, style)
    return prettyForm(drawn, baseline=_baseline(side, style, drawn))


def _baseline(side: Any, style: Style, drawn: str) -> int:
    if "\n" not in drawn:
        return 0
    settings = {"order": "none", "use_unicode": True, "wrap_line": False}
    return int(PrettyPrinter(settings)._print(arrange(side, style)).baseline)


def _equation_by_terms(block: Equation, style: Style) -> list[str]:
    """Lines of a long equation: a matrix entry by entry, a sum term by term."""
    name, _, begun = math(block.sides[0], style).partition(" = ")
    lines = []
    for side in (*([Formula(begun)] if begun else []), *block.sides[1:]):
        if isinstance(side, Formula):
            lines.append(f"{line(name)} = {line(side.latex)}")
        elif isinstance(side, sp.MatrixBase):
            lines += [_sum(line(own), entry, style) for own, entry in entries(name, side)]
        else:
            lines.append(_sum(line(name), side, style))
    return lines if not block.unit else [*lines, f"[{superscript_powers(block.unit)}]"]


def _sum(name: str, side: Any, style: Style) -> str:
    terms = [line(term) for term in summands(side, style, MAX_COLUMNS - 12)]
    lines = [f"{name} = "]
    for k, term in enumerate(terms):
        signed = term if k == 0 else f" − {term[1:].strip()}" if term[0] == "−" else f" + {term}"
        if len(lines[-1]) + len(signed) > MAX_COLUMNS and k:
            lines.append("     ")
        lines[-1] += signed
    return "\n".join(lines)


def _plain(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _text(text: Text, style: Style) -> str:
    return "".join(_plain(p) if isinstance(p, str) else line(math(p, style)) for p in pieces(text))


def _block(block: Block, style: Style) -> str:
    if isinstance(block, Heading):
        title = _text(block.text, style)
        return f"{title}\n{'-' * len(title)}" if block.level == 1 else title
    if isinstance(block, Paragraph):
        return "\n".join(wrap_text(_text(block.text, style), terminal_columns(MAX_COLUMNS)))
    if isinstance(block, Equation):
        return "\n".join(f"    {row}".rstrip() for row in equation(block, style).split("\n"))
    if isinstance(block, TableBlock):
        return _table(block, style)
    if isinstance(block, FigureBlock):
        return "\n".join(wrap_text(f"[Figure: {_plain(block.picture.caption)}]", terminal_columns(MAX_COLUMNS)))
    return block.text


def _table(table: TableBlock, style: Style) -> str:
    rows = [[_text(cell, style) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(map(_columns, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell + " " * (w - _columns(cell)) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(x.rstrip() for x in (lines[0], "  ".join("-" * w for w in widths), *lines[1:]))


def _columns(cell: str) -> int:
    """The number of columns of a text; marks above letters take none."""
    return sum(not "\u0300" <= letter <= "\u036f" for letter in cell)
