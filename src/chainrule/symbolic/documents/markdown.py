"""Documents as Markdown."""

from __future__ import annotations

import re
from base64 import b64encode

from chainrule.symbolic.documents.blocks import (
    Block,
    DocumentContent,
    Equation,
    FigureBlock,
    Heading,
    Paragraph,
    TableBlock,
    Text,
    pieces,
)
from chainrule.symbolic.documents.line_breaks import display, math
from chainrule.symbolic.documents.printing import Style


def markdown(page: DocumentContent) -> str:
    """The Markdown of a whole document."""
    blocks = [f"# {escape(page.title)}", *(block_text(block, page.style) for block in page.blocks)]
    return "\n\n".join(blocks) + "\n"


SPECIAL = re.compile(r"(?<=www)\.|:(?=//)|[@&<>$\\`*_{}\[\]#|~]", re.IGNORECASE)
ESCAPES = {
    "&": "&amp;", "<": "&lt;", ">": "&gt;", ".": "&#46;", ":": "&#58;", "@": "&#64;", "$": "<span>&#36;</span>",
    "\\": "<span>&#92;</span>",
}  # fmt: skip
"""Characters that a backslash does not make plain everywhere: those of links, and those that begin a formula in a
notebook, which is looked for in the text and again in the page. In an element of their own they begin none."""


def escape(text: str) -> str:
    """Escape plain text, so that nothing in it is markup, a formula or a link.

    >>> escape("a_b <i>")
    'a\\\\_b &lt;i&gt;'
    """
    flat = "".join(letter if letter.isprintable() else " " for letter in text)
    return SPECIAL.sub(lambda match: ESCAPES.get(match[0], f"\\{match[0]}"), flat)


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
    if isinstance(block, TableBlock):
        return _table(block, style)
    if isinstance(block, FigureBlock):
        return f"![{escape(block.picture.caption)}](data:image/png;base64,{b64encode(block.picture.png()).decode()})"
    longest = max(map(len, re.findall("`+", block.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{block.language}\n{block.text}\n{fence}"


def _table(table: TableBlock, style: Style) -> str:
    rows = [" | ".join(_text(cell, style).replace("\n", " ") for cell in row) for row in (table.header, *table.rows)]
    return "\n".join(f"| {row} |" for row in (rows[0], " | ".join(["---"] * len(table.header)), *rows[1:]))
