"""Documents as Markdown."""

from __future__ import annotations

import re

from chainrule.symbolic.documents.blocks import (
    Block,
    Equation,
    Heading,
    Page,
    Paragraph,
    Table,
    Text,
    pieces,
)
from chainrule.symbolic.documents.line_breaks import display, math
from chainrule.symbolic.documents.printing import Style


def markdown(page: Page) -> str:
    """The Markdown of a whole document."""
    blocks = [f"# {escape(page.title)}", *(block_text(block, page.style) for block in page.blocks)]
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Escape plain text, so that nothing in it is markup.

    >>> escape("a_b <i>")
    'a\\\\_b &lt;i&gt;'
    """
    flat = " ".join(text.split("\n")).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\\\`*_{}\[\]#|$~])", r"\\\1", flat)


def _text(text: Text, style: Style) -> str:
    return "".join(escape(p) if isinstance(p, str) else f"${math(p, style)}$" for p in pieces(text))


def block_text(block: Block, style: Style) -> str:
    """The Markdown of one block."""
    if isinstance(block, Heading):
        return f"{'#' * (block.level + 1)} {_text(block.text, style)}"
    if isinstance(block, Paragraph):
        return _text(block.text, style)
    if isinstance(block, Equation):
        unit = f" \\qquad [\\mathrm{{{block.unit.replace(' ', chr(92) + ',')}}}]" if block.unit else ""
        return f"$$\n{display(block, style)}{unit}\n$$"
    if isinstance(block, Table):
        return _table(block, style)
    return f"```{block.language}\n{block.text}\n```"


def _table(table: Table, style: Style) -> str:
    rows = [" | ".join(_text(cell, style).replace("\n", " ") for cell in row) for row in (table.header, *table.rows)]
    return "\n".join(f"| {row} |" for row in (rows[0], " | ".join(["---"] * len(table.header)), *rows[1:]))
