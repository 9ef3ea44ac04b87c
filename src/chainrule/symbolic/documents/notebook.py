"""Documents as Jupyter notebooks."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256

from chainrule.symbolic.documents.blocks import CodeBlock, DocumentContent, FigureBlock, Heading
from chainrule.symbolic.documents.markdown import block_text, escape

PICTURE = "figure.png"
"""The name of the picture of a cell."""


def notebook(page: DocumentContent) -> str:
    """The JSON text of a notebook: a cell for each section and figure, and a code cell for each block of Python."""
    cells: list[tuple[str, list[str]]] = [("markdown", [f"# {escape(page.title)}"])]
    pictures: dict[int, str] = {}
    for block in page.blocks:
        if isinstance(block, FigureBlock):  # a picture is attached to the cell that shows it
            pictures[len(cells)] = b64encode(block.picture.png()).decode()
            cells.append(("markdown", [f"![{escape(block.picture.caption)}](attachment:{PICTURE})"]))
        elif isinstance(block, CodeBlock) and block.language == "python":
            cells.append(("code", [block.text]))
        elif isinstance(block, Heading) or cells[-1][0] == "code" or len(cells) - 1 in pictures:
            cells.append(("markdown", [block_text(block, page.style)]))
        else:
            cells[-1][1].append(block_text(block, page.style))
    facts = {
        "cells": [_cell(k, kind, "\n\n".join(parts), pictures.get(k)) for k, (kind, parts) in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"


def _cell(index: int, kind: str, text: str, picture: str | None) -> dict[str, object]:
    name = sha256(f"{index} {text}".encode()).hexdigest()[:12]
    cell: dict[str, object] = {"cell_type": kind, "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}
    if picture is not None:
        cell["attachments"] = {PICTURE: {"image/png": picture}}
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}
