"""The pages with code cells as Jupyter notebooks without outputs: `python docs/notebooks.py [FOLDER]`.

A page is Markdown with code cells between fences, as MyST-NB reads it. What only the site knows becomes what a notebook
knows: a `{robot}` block is a cell that shows the robot, and a folded block is a `<details>`. Links lead to other
notebooks; those to pages without code cells are plain text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat

DOCS = Path(__file__).parent
OUTPUT = DOCS.parent / "build" / "notebooks"
FENCE = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROBOT = re.compile(r"^```\{robot\} *(\S+)\n.*?^```$", re.MULTILINE | re.DOTALL)
FOLDED = re.compile(r"^:::\{dropdown\} *([^\n]*)\n(.*?)^:::$", re.MULTILINE | re.DOTALL)
NOTE = re.compile(r"^:::\{(\w+)\}[^\n]*\n(.*?)^:::$", re.MULTILINE | re.DOTALL)
FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)")


@dataclass(frozen=True)
class Cell:
    """A piece of a page: Markdown, or code with its tags and the line on which it begins."""

    text: str
    code: bool = False
    tags: tuple[str, ...] = ()
    line: int = 1


def pages(folder: Path = DOCS) -> list[Path]:
    """The pages that have code cells, in the order of their names."""
    return sorted(path for path in folder.rglob("*.md") if FENCE.search(path.read_text(encoding="utf-8")))


def read(text: str) -> Iterator[Cell]:
    """The cells of a page in their order."""
    end = match.end() if (match := FRONT.match(text)) else 0
    for match in FENCE.finditer(text):
        if before := text[end : match.start()].strip():
            yield Cell(before)
        options, code = split_options(match.group(1))
        tags = re.search(r"tags: *\[([^\]]*)\]", options)
        names = tuple(tag.strip() for tag in tags.group(1).split(",")) if tags else ()
        body = code.lstrip("\n")
        first = text.count("\n", 0, match.start(1)) + 1 + options.count("\n") + len(code) - len(body)
        yield Cell(body.rstrip(), True, names, first)
        end = match.end()
    if rest := text[end:].strip():
        yield Cell(rest)


def split_options(block: str) -> tuple[str, str]:
    """The options at the head of a cell, between lines of three dashes or after colons, and its code."""
    match = re.match(r"---\n.*?\n---\n", block, re.DOTALL) or re.match(r"(?::[^\n]*\n)+", block)
    return (match.group(), block[match.end() :]) if match else ("", block)


def for_notebook(cell: Cell, page: Path) -> Iterator[Cell]:
    """A cell of a page as cells of a notebook."""
    if cell.code:
        yield cell
        return
    text = FOLDED.sub(r"<details><summary>\1</summary>\n\n\2\n</details>", cell.text)
    text = NOTE.sub(lambda match: "\n".join("> " + line for line in match.group(2).strip().splitlines()), text)
    end = 0
    for match in ROBOT.finditer(text):
        yield Cell(linked(text[end : match.start()], page))
        yield Cell(f'cr.load("{match.group(1)}").show()', True)
        end = match.end()
    yield Cell(linked(text[end:], page))


def linked(text: str, page: Path) -> str:
    """Markdown whose links lead to notebooks."""

    def target(match: re.Match[str]) -> str:
        words, address = match.groups()
        path, _, anchor = address.partition("#")
        there = page.parent / path
        if not (there.is_file() and FENCE.search(there.read_text(encoding="utf-8"))):
            return words
        return f"[{words}]({path.removesuffix('.md')}.ipynb{'#' + anchor if anchor else ''})"

    return LINK.sub(target, text).strip()


def notebook(page: Path) -> nbformat.NotebookNode:
    """A page as a notebook without outputs."""
    cells = [part for cell in read(page.read_text(encoding="utf-8")) for part in for_notebook(cell, page) if part.text]
    new = nbformat.v4
    nodes = [
        new.new_code_cell(cell.text, metadata={"tags": list(cell.tags)} if cell.tags else {}, id=f"cell-{number}")
        if cell.code
        else new.new_markdown_cell(cell.text, id=f"cell-{number}")
        for number, cell in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new.new_notebook(cells=nodes, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def write(folder: Path = OUTPUT) -> list[Path]:
    """Write each page as a notebook; their paths."""
    paths = []
    for page in pages():
        path = folder / page.relative_to(DOCS).with_suffix(".ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook(page), path)
        paths.append(path)
    return paths


if __name__ == "__main__":
    for path in write(Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT):
        print(path)
