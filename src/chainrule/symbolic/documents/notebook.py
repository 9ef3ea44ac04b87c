"""Documents as Jupyter notebooks."""

from __future__ import annotations

import json
from hashlib import sha256

from chainrule.symbolic.documents.blocks import CodeBlock, DocumentContent, Heading
from chainrule.symbolic.documents.markdown import block_text, escape


def notebook(page: DocumentContent) -> str:
    """The JSON text of a notebook: a cell for each section, and a code cell for each block of Python."""
    cells: list[tuple[str, list[str]]] = [("markdown", [f"# {escape(page.title)}"])]
    for block in page.blocks:
        if isinstance(block, CodeBlock) and block.language == "python":
            cells.append(("code", [block.text]))
        elif isinstance(block, Heading) or cells[-1][0] == "code":
            cells.append(("markdown", [block_text(block, page.style)]))
        else:
            cells[-1][1].append(block_text(block, page.style))
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
