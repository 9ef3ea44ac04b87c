# ruff: noqa: RUF001 (mathematical letters)
"""Documents as Unicode text."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.printing.pretty.pretty import PrettyPrinter  # type: ignore[import-untyped]
from sympy.printing.pretty.stringpict import prettyForm  # type: ignore[import-untyped]

from chainrule.symbolic.documents.breaking import entries, summands
from chainrule.symbolic.documents.document import (
    Block,
    Document,
    Equation,
    Formula,
    Heading,
    Paragraph,
    Table,
    Text,
    pieces,
)
from chainrule.symbolic.documents.plain import line
from chainrule.symbolic.documents.printing import Style, arranged, latex, pretty, raised

WIDE = 110
"""Columns beyond which a sum is broken, and a matrix written entry by entry."""


def text(document: Document) -> str:
    """The whole document."""
    title = _plain(document.title)
    return "\n\n".join([f"{title}\n{'=' * len(title)}", *(_block(b, document.style) for b in document.blocks)]) + "\n"


def equation(block: Equation, style: Style) -> str:
    """One equation, its sides side by side where they fit."""
    joined = _joined([_form(side, style) for side in block.sides])
    if joined.width() > WIDE and len(block.sides) > 1:
        return "\n".join(_long(block, style))
    unit = f"    [{raised(block.unit)}]" if block.unit else ""
    return str(prettyForm(*joined.right(unit)) if unit else joined)


def _joined(forms: list[prettyForm]) -> prettyForm:
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
    return int(PrettyPrinter(settings)._print(arranged(side, style)).baseline)


def _long(block: Equation, style: Style) -> list[str]:
    """Entry by entry, term by term."""
    first = block.sides[0]
    name = first.latex if isinstance(first, Formula) else latex(first, style)
    lines = []
    for side in block.sides[1:]:
        if isinstance(side, Formula):
            lines.append(f"{line(name)} = {line(side.latex)}")
        elif isinstance(side, sp.MatrixBase):
            lines += [_sum(line(own), entry, style) for own, entry in entries(name, side)]
        else:
            lines.append(_sum(line(name), side, style))
    return lines if not block.unit else [*lines, f"[{raised(block.unit)}]"]


def _sum(name: str, side: Any, style: Style) -> str:
    terms = [line(term) for term in summands(side, style, WIDE - 12)]
    lines = [f"{name} = "]
    for k, term in enumerate(terms):
        signed = term if k == 0 else f" − {term[1:].strip()}" if term[0] == "−" else f" + {term}"
        if len(lines[-1]) + len(signed) > WIDE and k:
            lines.append("     ")
        lines[-1] += signed
    return "\n".join(lines)


def _plain(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _text(text: Text, style: Style) -> str:
    drawn = []
    for piece in pieces(text):
        if isinstance(piece, str):
            drawn.append(_plain(piece))
        else:
            drawn.append(line(piece.latex if isinstance(piece, Formula) else latex(piece, style)))
    return "".join(drawn)


def _block(block: Block, style: Style) -> str:
    if isinstance(block, Heading):
        title = _text(block.text, style)
        return f"{title}\n{'-' * len(title)}" if block.level == 1 else title
    if isinstance(block, Paragraph):
        return _text(block.text, style)
    if isinstance(block, Equation):
        return "\n".join(f"    {row}".rstrip() for row in equation(block, style).split("\n"))
    if isinstance(block, Table):
        return _table(block, style)
    return block.text


def _table(table: Table, style: Style) -> str:
    rows = [[_text(cell, style) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(map(_columns, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell + " " * (w - _columns(cell)) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(x.rstrip() for x in (lines[0], "  ".join("-" * w for w in widths), *lines[1:]))


def _columns(cell: str) -> int:
    """How many columns a text takes: marks above letters take none."""
    return sum(not "\u0300" <= letter <= "\u036f" for letter in cell)
