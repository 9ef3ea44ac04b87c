"""A document of headings, text, equations and tables, and the formats it can be written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from chainrule.errors import ChainruleError
from chainrule.symbolic.documents.printing import PLAIN, Style


@dataclass(frozen=True)
class Formula:
    """A formula given in LaTeX, in the part of it that `symbolic.formula` reads."""

    latex: str


Piece: TypeAlias = Any
"""A string, which is plain text; or a Formula, a SymPy expression or matrix, which is mathematics."""

Text: TypeAlias = Any
"""A piece, or a sequence of pieces."""


@dataclass(frozen=True)
class Heading:
    """A heading; of level 1 for sections, 2 for their parts."""

    text: Text
    level: int = 1


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: Text


@dataclass(frozen=True)
class Equation:
    """Sides with equals signs between, and the unit of it all in words. Long ones are broken over lines."""

    sides: tuple[Piece, ...]
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells under a header."""

    header: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True)
class Code:
    """Source code."""

    text: str
    language: str = ""


Block: TypeAlias = Heading | Paragraph | Equation | Table | Code


@dataclass(frozen=True)
class Document:
    """A title, and blocks under it.

    >>> page = Document("Newton", (Equation((Formula("F"), Formula(r"m \\dot{v}")), "N"),))
    >>> print(page.text())
    Newton
    ======
    <BLANKLINE>
        F = m v̇    [N]
    <BLANKLINE>
    """

    title: str
    blocks: tuple[Block, ...]
    style: Style = field(default=PLAIN)

    def styled(self, *, shorthand: bool | None = None, digits: int | None = None) -> Document:
        """The same in another style: with c_12 for cos(q_1 + q_2), with more or fewer digits."""
        style = self.style
        style = style if shorthand is None else replace(style, shorthand=shorthand)
        return replace(self, style=style if digits is None else replace(style, digits=digits))

    def latex(self) -> str:
        """A LaTeX article, complete."""
        from chainrule.symbolic.documents.tex import article

        return article(self)

    def markdown(self) -> str:
        """Markdown with formulas between dollar signs, as GitHub and Jupyter show them."""
        from chainrule.symbolic.documents.markdown import markdown

        return markdown(self)

    def notebook(self) -> str:
        """A Jupyter notebook: the JSON text of an .ipynb file."""
        from chainrule.symbolic.documents.markdown import notebook

        return notebook(self)

    def html(self) -> str:
        """A page by itself, with MathML: nothing is fetched from anywhere."""
        from chainrule.symbolic.documents.html import page

        return page(self)

    def text(self) -> str:
        """Unicode text for a terminal."""
        from chainrule.symbolic.documents.terminal import text

        return text(self)

    def save(self, path: str | Path) -> Path:
        """Write a file, in the format that its ending names: .html, .tex, .md, .ipynb or .txt."""
        target = Path(path)
        if target.suffix not in FORMATS:
            known = ", ".join(FORMATS)
            raise ChainruleError(f"{str(path)!r}: documents are written as {known}; give the file one of these endings")
        target.write_text(getattr(self, FORMATS[target.suffix])(), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        from chainrule.symbolic.documents.html import fragment

        return fragment(self)

    def __str__(self) -> str:
        return self.text()


FORMATS = {".html": "html", ".tex": "latex", ".md": "markdown", ".ipynb": "notebook", ".txt": "text"}


def pieces(text: Text) -> Sequence[Piece]:
    """The pieces that a text is made of."""
    return text if isinstance(text, (tuple, list)) else (text,)
