"""Documents as Markdown, and as Jupyter notebooks made of it."""

from __future__ import annotations

import json
import re
from hashlib import sha256

from chainrule.symbolic.documents.breaking import display, math
from chainrule.symbolic.documents.document import (
    Block,
    Code,
    Document,
    Equation,
    Heading,
    Paragraph,
    Table,
    Text,
    pieces,
)
from chainrule.symbolic.documents.printing import Style


def markdown(document: Document) -> str:
    """The whole document."""
    blocks = [f"# {escaped(document.title)}", *(_block(block, document.style) for block in document.blocks)]
    return "\n\n".join(blocks) + "\n"


def notebook(document: Document) -> str:
    """A notebook, a cell for each section; code becomes cells that can be run."""
    cells: list[tuple[str, list[str]]] = [("markdown", [f"# {escaped(document.title)}"])]
    for block in document.blocks:
        if isinstance(block, Code) and block.language == "python":
            cells.append(("code", [block.text]))
        elif isinstance(block, Heading) or cells[-1][0] == "code":
            cells.append(("markdown", [_block(block, document.style)]))
        else:
            cells[-1][1].append(_block(block, document.style))
    facts = {
        "cells": [_cell(k, kind, "\n\n".join(parts)) for k, (kind, parts) in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"


def _cell(index: int, kind: str, text: str) -> dict[str, object]:
    name = sha256(f"{index} {text}".encode()).hexdigest()[:12]
    cell: dict[str, object] = {"cell_type": kind, "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}


def escaped(text: str) -> str:
    """Plain text, of which nothing is taken for markup.

    >>> escaped("a_b <i>")
    'a\\\\_b &lt;i&gt;'
    """
    flat = " ".join(text.split("\n")).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\\\`*_{}\[\]#|$~])", r"\\\1", flat)


def _text(text: Text, style: Style) -> str:
    return "".join(escaped(p) if isinstance(p, str) else f"${math(p, style)}$" for p in pieces(text))


def _block(block: Block, style: Style) -> str:
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
