"""Runs every row of notes.md and slips.md and compares what it gives with what it shows: `python docs/notes.py [WORD]`.

A page of notes.md is a heading `###` with code and tables under it. A row of a table is an item of the lecture notes,
a call, and results. The call is the code of its second cell; each piece of code in its third cell is evaluated too and
must equal the call: numbers to the digits that are shown, expressions of SymPy as expressions, all else as it is.
Code above the first document is run for all pages, code above a document's first page for all its pages. With a WORD,
only pages whose titles have it are run.
"""

from __future__ import annotations

import ast
import re
import sys
import time
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

PATH = Path(__file__).with_name("notes.md")
SLIPS = Path(__file__).with_name("slips.md")
"""Pages of the same documents, which use the code of notes.md that stands before their pages."""
SLOW = "(slow)"
"""In an item's text: its page is left to the slow tests."""
TOLERANCE = 1e-9
"""Of numbers that are compared with a formula, not with digits."""
if str(PATH.parent) not in sys.path:
    sys.path.append(str(PATH.parent))  # of by_hand, which the pages import

Names = dict[str, Any]


class NotesError(AssertionError):
    """A row that does not hold, or that cannot be checked."""


@dataclass(frozen=True)
class Row:
    """An item of the notes, the call that does it, and what it gives, each result a piece of code."""

    item: str
    call: str
    results: tuple[str, ...]

    def check(self, names: Names) -> None:
        """Run the call, and compare it with each result."""
        try:
            value = run(self.call, names)
            for result in self.results:
                expected = eval(result, names)
                if not same(value, expected, tolerance(result)):
                    raise NotesError(f"is {value!r}, and the page shows {result}")
        except Exception as error:
            raise NotesError(f"{self.item}: {self.call}: {type(error).__name__}: {error}") from error


@dataclass
class Page:
    """A page of the notes: code and rows in the order in which they stand."""

    document: str
    title: str
    steps: list[str | Row] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """Its rows."""
        return [step for step in self.steps if isinstance(step, Row)]

    @property
    def slow(self) -> bool:
        """Whether one of its rows is."""
        return any(SLOW in row.item for row in self.rows)

    def check(self, names: Names) -> None:
        """Run its code and its rows."""
        for step in self.steps:
            if isinstance(step, Row):
                step.check(names)
            else:
                exec(step, names)


def read(text: str) -> list[Page]:
    """All pages; code that stands before the first page of a document is a page without rows."""
    pages, document, lines = [Page("", "")], "", iter(text.splitlines())
    for line in lines:
        if line.startswith("## "):
            document = line[3:].strip()
            pages.append(Page(document, ""))
        elif line.startswith("### "):
            pages.append(Page(document, line[4:].strip()))
        elif line.startswith("```python"):
            pages[-1].steps.append("\n".join(_until_fence(lines)))
        elif line.startswith("|") and not line.startswith(("| ---", "| item ")):
            pages[-1].steps.append(_row(line))
    return pages


def _until_fence(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("```"):
            return
        yield line


def _row(line: str) -> Row:
    cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
    if len(cells) != 3:
        raise NotesError(f"a row has an item, a call and a result, and this one has {len(cells)} cells: {line}")
    calls, results = (re.findall(r"`([^`]+)`", cell) for cell in cells[1:])
    if len(calls) != 1 or not results or not cells[0]:
        raise NotesError(f"a row has one call and at least one result, as code: {line}")
    return Row(cells[0], calls[0], tuple(results))


def run(code: str, names: Names) -> Any:
    """Run statements; the value of the last one, an expression or an assignment to a name."""
    *before, last = ast.parse(code).body
    exec(compile(ast.Module(before, []), "<row>", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "<row>", "eval"), names)
    if not isinstance(last, ast.Assign):
        raise NotesError("a call is an expression or an assignment")
    exec(compile(ast.Module([last], []), "<row>", "exec"), names)
    return eval(ast.unparse(last.targets[0]), names)


def tolerance(result: str) -> float:
    """Half of the last digit of numbers that are written out; a small number for formulas."""
    try:
        ast.literal_eval(result)
    except ValueError:
        return TOLERANCE
    digits = max((len(decimals) for decimals in re.findall(r"\.(\d+)", result)), default=0)
    return 0.5001 * 10.0**-digits if digits else TOLERANCE


def same(value: Any, expected: Any, error: float = TOLERANCE) -> bool:
    """Whether two results are equal: expressions as expressions, numbers up to an error."""
    if isinstance(value, dict) or isinstance(expected, dict):
        return list(value) == list(expected) and all(same(value[key], expected[key], error) for key in expected)
    value, expected = _plain(value), _plain(expected)
    if isinstance(value, str) and isinstance(expected, str):
        return unicodedata.normalize("NFC", value) == unicodedata.normalize("NFC", expected)
    if isinstance(expected, (str, bool)) or isinstance(value, (str, bool)) or expected is None:
        return type(value) is type(expected) and value == expected
    if isinstance(value, (sp.Basic, sp.MatrixBase)) or isinstance(expected, (sp.Basic, sp.MatrixBase)):
        return _same_expressions(value, expected)
    try:
        a, b = np.asarray(value, dtype=float), np.asarray(expected, dtype=float)
    except (TypeError, ValueError):
        ones, others = list(value), list(expected)
        return len(ones) == len(others) and all(same(a, b, error) for a, b in zip(ones, others, strict=True))
    return a.shape == b.shape and np.allclose(a, b, rtol=TOLERANCE, atol=error)


def _plain(value: Any) -> Any:
    """Spatial objects as arrays, and numbers of NumPy as those of Python."""
    if hasattr(value, "__array__") and not isinstance(value, (sp.Basic, sp.MatrixBase)):
        value = np.asarray(value)
        return value.item() if value.ndim == 0 else value
    return value


def _same_expressions(value: Any, expected: Any) -> bool:
    if isinstance(value, sp.MatrixBase) or isinstance(expected, sp.MatrixBase):
        a, b = (x if isinstance(x, sp.MatrixBase) else sp.Matrix(x) for x in (value, expected))
        return a.shape == b.shape and all(_same_expressions(x, y) for x, y in zip(a, b, strict=True))
    a, b = (_by_name(sp.sympify(x)) for x in (value, expected))
    if isinstance(a, sp.core.relational.Relational):
        return a.func == b.func and all(_same_expressions(x, y) for x, y in zip(a.args, b.args, strict=True))
    return sp.simplify(a - b) == 0


def _by_name(expression: Any) -> Any:
    """With symbols that are equal when their names are."""
    return expression.xreplace({symbol: sp.Symbol(symbol.name, real=True) for symbol in expression.free_symbols})


@cache
def setup(document: str) -> Names:
    """The names that code before the pages of a document gives."""
    names: Names = {}
    for page in read(PATH.read_text(encoding="utf-8")):
        if page.document in ("", document) and not page.title:
            page.check(names)
    return names


def check(page: Page) -> None:
    """Run a page, with names of its own."""
    page.check(dict(setup(page.document)))


def main(words: Sequence[str]) -> int:
    """Run all pages whose titles have one of the words, or all; the number of pages that fail."""
    failures = 0
    for page in [*read(PATH.read_text(encoding="utf-8")), *read(SLIPS.read_text(encoding="utf-8"))]:
        if words and not any(word.lower() in f"{page.document} {page.title}".lower() for word in words):
            continue
        start = time.perf_counter()
        try:
            check(page)
        except Exception as error:
            failures += 1
            print(f"{page.document}: {page.title}: {error}")
        else:
            print(f"{time.perf_counter() - start:6.2f} s  {len(page.rows):>3} rows  {page.document}: {page.title}")
    return failures


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
