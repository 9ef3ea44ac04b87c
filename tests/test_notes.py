"""The rows of docs/notes.md and docs/slips.md: each call is run, and compared with every result in its row."""

import importlib.util
import sys
from pathlib import Path

import pytest
import sympy as sp

PATH = Path(__file__).parents[1] / "docs" / "notes.py"
spec = importlib.util.spec_from_file_location("notes", PATH)
notes = importlib.util.module_from_spec(spec)
sys.modules["notes"] = notes
spec.loader.exec_module(notes)

PAGES = [
    page for path in (notes.PATH, notes.SLIPS) for page in notes.read(path.read_text(encoding="utf-8")) if page.title
]
MARKS = [
    pytest.param(page, marks=pytest.mark.slow if page.slow else (), id=f"{page.document[0]}-{page.title}")
    for page in PAGES
]
HEADER = "| item | call | result |\n| --- | --- | --- |\n"


@pytest.mark.parametrize("page", MARKS)
def test_every_row_of_a_page_holds(page):
    notes.check(page)


def test_every_page_has_rows_and_no_two_pages_of_a_document_have_one_name():
    assert all(page.rows for page in PAGES)
    names = [(page.document, page.title) for page in PAGES]
    assert len(set(names)) == len(names)
    assert len({page.document for page in PAGES}) == 5
    assert sum(len(page.rows) for page in PAGES) >= 204


def page_of(*rows, code=""):
    text = f"### page\n\n```python\n{code}\n```\n\n{HEADER}" + "\n".join(rows)
    (_, page) = notes.read(text)
    return page


@pytest.mark.parametrize(
    "row",
    [
        "| numbers to the digits shown | `[2 / 3, 1.0]` | `[0.667, 1.0]` |",
        "| two results | `2 + 2` | `4` = `2 * 2` |",
        "| an assignment | `x = 3; y = x + 1` | `4` |",
        "| expressions | `a * (a + 1)` | `a**2 + a` |",
        "| matrices | `sp.Matrix([sp.sin(a)**2])` | `[1 - sp.cos(a)**2]` |",
        '| text | `"f = " + "m"` | `"f = m"` |',
        "| mixed | `(1, [a, 2.0])` | `(1, [a, 2.0])` |",
        '| a dictionary | `{"a": 1.00001}` | `{"a": 1.0000}` |',
        "| an equation | `sp.Eq(a, a + 1 - 1 + b)` | `sp.Eq(a, b + a)` |",
    ],
)
def test_rows_that_hold(row):
    page_of(row, code="a, b = sp.symbols('a b')").check({"sp": sp})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "| a wrong number | `2 / 3` | `0.668` |",
            "a wrong number: 2 / 3: NotesError: is 0.66.*, and the page shows 0.668",
        ),
        ("| formulas are exact | `2 / 3` | `1.333 / 2` |", "the page shows 1.333 / 2"),
        ("| a wrong sign | `a - 1` | `a + 1` |", r"is a - 1, and the page shows a \+ 1"),
        ("| another shape | `[1, 2]` | `[[1, 2]]` |", "the page shows"),
        ("| True is no number | `1` | `True` |", "the page shows True"),
        ("| an error | `1 / 0` | `1` |", "an error: 1 / 0: ZeroDivisionError"),
        ("| a second result | `1` | `1` = `2` |", "the page shows 2"),
        ("| a statement | `import math` | `1` |", "a call is an expression or an assignment"),
    ],
)
def test_rows_that_do_not_hold_say_so(row, message):
    with pytest.raises(notes.NotesError, match=message):
        page_of(row, code="a = sp.Symbol('a')").check({"sp": sp})


@pytest.mark.parametrize(
    "row",
    ["| prose | is only prose | here |", "| no result | `1 + 1` | two |", "| two cells | `1` |", "|  | `1` | `1` |"],
)
def test_a_row_without_a_check_is_refused(row):
    with pytest.raises(notes.NotesError, match="a row has"):
        page_of(row)
