"""Documents of text, equations and tables, and the forms in which they are written.

How to add a form, for example AsciiDoc:

1. Write a function that takes a `DocumentContent` and returns the text of the file. It writes the title and all kinds
   of blocks of `documents/blocks.py`: Heading, Paragraph, Equation, TableBlock, CodeBlock and FigureBlock.
   `documents/markdown.py` is a short example.
2. In that function, take a text apart with `pieces(text)`. A piece that is a string is plain text: escape it. All other
   pieces are mathematics. For LaTeX, `line_breaks.math(piece, style)` writes a piece, and
   `line_breaks.display(equation, style)` an equation. From LaTeX, `plain_text.line` makes Unicode text and
   `mathml.mathml` makes MathML.
3. List the function under the ending of its files: `FORMS[".adoc"] = asciidoc`. From then on, `save("arm.adoc")` writes
   summaries and derivations in this form.
4. A form of this package also gets a method of `Document` and an option of the command `chainrule equations`.

`tests/symbolic/documents/test_recipe_form.py` follows these steps.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from chainrule.display.text import DEFAULT_ROWS, Advised, terminal_rows
from chainrule.errors import ChainruleError
from chainrule.symbolic.documents import html, latex, markdown, notebook, pdf, terminal
from chainrule.symbolic.documents.blocks import DocumentContent

FORMS: dict[str, Callable[[DocumentContent], str]] = {
    ".html": html.page, ".tex": latex.article, ".md": markdown.markdown, ".ipynb": notebook.notebook,
    ".txt": terminal.text,
}  # fmt: skip
"""Ending of a file -> the function that writes a page in that form."""


@dataclass(frozen=True)
class Document(Advised, DocumentContent):
    """A title, and blocks under it.

    >>> from chainrule.symbolic.documents.blocks import Equation, Formula
    >>> page = Document("Newton", (Equation((Formula("F"), Formula(r"m \\dot{v}")), "N"),))
    >>> print(page.text())
    Newton
    ======
    <BLANKLINE>
        F = m v̇    [N]
    <BLANKLINE>
    """

    def with_style(self, *, shorthand: bool | None = None, digits: int | None = None) -> Document:
        """This document in another style: with c_12 for cos(q_1 + q_2), with more or fewer digits."""
        style = self.style
        style = style if shorthand is None else replace(style, shorthand=shorthand)
        return replace(self, style=style if digits is None else replace(style, digits=digits))

    def latex(self) -> str:
        """A complete LaTeX article."""
        return latex.article(self)

    def markdown(self) -> str:
        """Markdown with formulas between dollar signs, as GitHub and Jupyter show them."""
        return markdown.markdown(self)

    def notebook(self) -> str:
        """A Jupyter notebook: the JSON text of an .ipynb file."""
        return notebook.notebook(self)

    def html(self) -> str:
        """An HTML page with MathML, complete in one file: it loads nothing."""
        return html.page(self)

    def text(self) -> str:
        """Unicode text for a terminal."""
        return terminal.text(self)

    def save(self, path: str | Path) -> Path:
        """Write a file, in the form of its ending: .html, .tex, .md, .ipynb, .txt, or .pdf, which a browser prints."""
        target = Path(path)
        if target.suffix == ".pdf":
            with tempfile.TemporaryDirectory() as folder:
                page = Path(folder) / "page.html"
                page.write_text(html.page(self), encoding="utf-8")
                pdf.print_pdf(page, target)
            return target
        if target.suffix not in FORMS:
            known = ", ".join((*FORMS, ".pdf"))
            raise ChainruleError(f"{str(path)!r}: documents are written as {known}; give the file one of these endings")
        target.write_text(FORMS[target.suffix](self), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        return html.part_of_page(self)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        lines, most = self.text().splitlines(), terminal_rows() or DEFAULT_ROWS
        more = f"... and {len(lines) - most + 1} more lines: print(...) shows them, .save(path) writes them"
        return "\n".join(lines if len(lines) <= most else [*lines[: most - 1], more])
