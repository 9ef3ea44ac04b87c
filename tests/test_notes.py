"""The rows of docs/notes.md and docs/slips.md: each call is run, and compared with every result in its row."""

import ast
import importlib.util
import re
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


# --- no number of a page is one that only the library has found ---

IN_DIGITS = re.compile(r"\d\.\d*[1-9]")
"""Numbers with decimals: those without, names and texts are facts that one sees."""
DATA = "# data"
"""At the end of a line: what it names are numbers that both sides start from, not results."""


def loaded(tree):
    """The names that code reads, without those that comprehensions and lambdas bind for themselves."""
    own = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name)
    } | {arg.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for arg in node.args}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return names - own


def learn(code, library):
    """Put the names that come from the library into the set, and take out those that code gives another value."""
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            module = getattr(statement, "module", None)
            names = [(alias.asname or alias.name, module or alias.name) for alias in statement.names]
            pairs = [({name}, source.startswith("chainrule")) for name, source in names]
        elif isinstance(statement, ast.FunctionDef):
            pairs = [({statement.name}, bool(loaded(statement) & library))]
        else:
            stored = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            pairs = [(stored, bool(loaded(statement) & library))]
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
                to, value = statement.targets[0].elts, statement.value
                if isinstance(value, ast.Tuple) and len(to) == len(value.elts):
                    pairs = [
                        ({n.id for n in ast.walk(t) if isinstance(n, ast.Name)}, bool(loaded(v) & library))
                        for t, v in zip(to, value.elts, strict=True)
                    ]
        is_data = lines[statement.end_lineno - 1].endswith(DATA)
        for names, is_library in pairs:
            (library.update if is_library and not is_data else library.difference_update)(names)


def is_literal(result):
    try:
        ast.literal_eval(result)
    except ValueError:
        return False
    return True


def unproved(pages):
    """Rows whose call has nothing of the library, or whose result only the library has found."""
    first, found = set(), []
    by_document = {}
    for page in pages:
        if not page.title:
            library = first if not page.document else by_document.setdefault(page.document, set(first))
        else:
            library = set(by_document.get(page.document, first))
        for step in page.steps:
            if isinstance(step, str):
                learn(step, library)
                continue
            learn(step.call, library)
            formulas = [result for result in step.results if not is_literal(result)]
            proved = any(not loaded(ast.parse(formula)) & library for formula in formulas)
            texts = all(result.startswith(('"', '["', '("')) for result in step.results)
            seen = not formulas and (texts or not any(map(IN_DIGITS.search, step.results)))
            if not loaded(ast.parse(step.call)) & library or not (proved or seen):
                found.append((page.title, step.item))
    return found


def test_every_number_is_compared_with_one_that_the_library_has_no_part_in():
    assert unproved(notes.read(notes.PATH.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("row", "is_proved"),
    [
        ("| its own formula | `np.sqrt(arm.mass)` | `1.4142` = `np.sqrt(2.0)` |", True),
        ("| digits alone | `arm.mass` | `2.5` |", False),
        ("| the library twice | `arm.mass` | `2.5` = `arm.links[0].mass + 1.5` |", False),
        ("| by a name from it | `arm.mass` | `m + 0.5` |", False),
        ("| data | `arm.mass` | `given + 0.5` |", True),
        ('| a fact | `arm.names` | `("a", 2)` |', True),
        ("| nothing of it | `2 + 2` | `4` |", False),
        ("| bound in a comprehension | `arm.mass` | `sum(m for m in (1.5, 1.0))` |", True),
    ],
)
def test_formulas_and_what_stands_in_for_one(row, is_proved):
    code = "import chainrule as cr\nimport numpy as np\narm = cr.load('a')\nm = arm.mass\ngiven = arm.mass  # data"
    text = f"```python\n{code}\n```\n\n### page\n\n{HEADER}{row}"
    assert (unproved(notes.read(text)) == []) == is_proved


def test_the_formulas_by_hand_have_nothing_of_the_library():
    tree = ast.parse(PATH.with_name("by_hand.py").read_text(encoding="utf-8"))
    modules = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)} | {
        alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names
    }
    assert modules <= {"__future__", "collections.abc", "types", "typing", "numpy", "numpy.linalg", "scipy.linalg"}
