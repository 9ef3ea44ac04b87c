"""The code cells of the pages in docs/: each page is executed from its beginning, and what its cells end with is displayed."""

import ast
import importlib.util
import io
import re
import shlex
import sys
from pathlib import Path

import matplotlib
import nbformat
import pytest
from click.testing import CliRunner

from chainrule.cli import cli

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("notebooks", ROOT / "docs" / "notebooks.py")
notebooks = importlib.util.module_from_spec(spec)
sys.modules["notebooks"] = notebooks
spec.loader.exec_module(notebooks)

PAGES = {path.relative_to(notebooks.DOCS).with_suffix("").as_posix(): path for path in notebooks.pages()}
DISPLAYS = ("_repr_html_", "_repr_latex_", "_repr_svg_", "_repr_markdown_")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)


def run(cell, names, file):
    """Execute a cell; the value of its last line, if that is an expression."""
    tree = ast.parse(cell.text)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    for node in tree.body:
        ast.increment_lineno(node, cell.line - 1)
    exec(compile(tree, file, "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.increment_lineno(ast.Expression(last.value), cell.line - 1), file, "eval"), names)


def display(value):
    """Display a value as a notebook does."""
    repr(value)
    for name in DISPLAYS:
        if hasattr(value, name):
            getattr(value, name)()
            return
    if hasattr(value, "savefig"):
        value.savefig(io.BytesIO(), dpi=40)


@pytest.mark.parametrize("page", PAGES)
def test_the_cells_of_a_page_run_and_display_what_they_end_with(page):
    names = {"__name__": "__main__"}
    for cell in notebooks.read(PAGES[page].read_text(encoding="utf-8")):
        if cell.code:
            value = run(cell, names, str(PAGES[page]))
            if value is not None:
                display(value)


@pytest.mark.parametrize("page", PAGES)
def test_results_are_asserted_in_folded_cells_only(page):
    cells = [cell for cell in notebooks.read(PAGES[page].read_text(encoding="utf-8")) if cell.code]
    assert not [
        cell.text for cell in cells if re.search(r"^ *assert ", cell.text, re.M) and "hide-cell" not in cell.tags
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("book/")])
def test_a_chapter_has_a_picture_a_live_robot_exercises_and_solutions(page):
    text = PAGES[page].read_text(encoding="utf-8")
    assert "```{robot} " in text
    assert len(re.findall(r"^\*\*\d+\.\d+\*\*", text, re.M)) >= 3
    for words in ("Solution", "## Read on", "../notes.md#"):
        assert words in text


def test_each_page_of_the_notes_says_in_which_chapter_it_is_taught_and_each_chapter_teaches_some():
    notes = (notebooks.DOCS / "notes.md").read_text(encoding="utf-8")
    pages = re.findall(r"^### .*\n\n(.*)$", notes, re.M)
    assert [line for line in pages if not line.startswith("Taught in [chapter ")] == []
    taught = re.findall(r"\[chapter (\d+): (.*?)\]\(book/(\w+)\.md\)", notes)
    titles = {name: (notebooks.DOCS / "book" / f"{name}.md").read_text(encoding="utf-8") for _, _, name in taught}
    assert all(f"\n# {number}. {title}\n" in titles[name] for number, title, name in taught)
    assert {f"book/{name}" for name in titles} == {page for page in PAGES if page.startswith("book/")}


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_to_files(page):
    text = re.sub(r"^```.*?^```$", "", PAGES[page].read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = [address.partition("#")[0] for _, address in notebooks.LINK.findall(text)]
    assert [target for target in targets if target and not (PAGES[page].parent / target).is_file()] == []


def test_every_page_is_a_notebook_with_its_cells_and_without_outputs(tmp_path):
    written = notebooks.write(tmp_path)
    assert len(written) == len(PAGES)
    for path, page in zip(written, PAGES, strict=True):
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        code = [cell for cell in book.cells if cell.cell_type == "code"]
        assert all(not cell.outputs and cell.execution_count is None for cell in code)
        sources = [cell.source for cell in code]
        assert all(cell.text in sources for cell in notebooks.read(PAGES[page].read_text("utf-8")) if cell.code)
        assert not any(":::" in cell.source or "```{" in cell.source for cell in book.cells)


PAGE = """---
file_format: mystnb
---

# A page

:::{dropdown} Solution
Hidden.
:::

```{robot} panda
:height: 300
```

See [the other](other.md#part) and [a list](list.md).

```{code-cell} python
:tags: [hide-cell, slow]

x = 1
```

```{code-cell} python
---
tags: [hide-output]
mystnb:
  code_prompt_show: Solution
---
x
```
"""


def test_a_page_is_read_into_cells(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    (tmp_path / "other.md").write_text("```{code-cell} python\n1\n```\n")
    (tmp_path / "list.md").write_text("- nothing\n")
    words, first, second = notebooks.read(PAGE)
    assert (first.text, first.tags, second.text, second.tags) == ("x = 1", ("hide-cell", "slow"), "x", ("hide-output",))
    assert [PAGE.splitlines()[cell.line - 1] for cell in (first, second)] == ["x = 1", "x"]
    title, robot, links = notebooks.for_notebook(words, page)
    assert title.text.startswith("# A page\n\n<details><summary>Solution</summary>\n\nHidden.")
    assert (robot.code, robot.text) == (True, 'cr.load("panda").show()')
    assert links.text == "See [the other](other.ipynb#part) and a list."


COMMANDS = {
    f"{page}: {line}": line
    for page, path in PAGES.items()
    for block in re.findall(r"^```bash\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)
    for line in block.splitlines()
    if line.startswith("chainrule ")
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_a_page_run(command):
    done = CliRunner().invoke(cli, shlex.split(COMMANDS[command], comments=True)[1:])
    assert done.exit_code == 0, done.output
