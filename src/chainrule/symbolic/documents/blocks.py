"""The blocks that documents are made of: headings, paragraphs, equations, tables, code and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from chainrule.symbolic.algebra.expressions import expression_or_matrix
from chainrule.symbolic.documents.printing import PLAIN, Style


@dataclass(frozen=True)
class Formula:
    """A formula in LaTeX, in the part of LaTeX that `documents.formula` reads."""

    latex: str


Piece: TypeAlias = Any
"""A string, which is plain text; or a Formula, a SymPy expression or a SymPy matrix, which is mathematics."""

Text: TypeAlias = Any
"""A piece, or a sequence of pieces."""


@dataclass(frozen=True)
class Heading:
    """A heading: level 1 for sections, level 2 for subsections."""

    text: Text
    level: int = 1


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: Text


@dataclass(frozen=True)
class Equation:
    """Sides with equals signs between them, and their unit. Long equations are broken over lines.

    A side is a Formula, a SymPy expression, a SymPy matrix or a number. Text is refused: it would have to be evaluated.
    """

    sides: tuple[Piece, ...]
    unit: str = ""

    def __post_init__(self) -> None:
        for side in self.sides:
            if not isinstance(side, Formula):
                expression_or_matrix(side, "a side of an equation (or a Formula, for LaTeX)")


@dataclass(frozen=True)
class TableBlock:
    """Rows of cells under a header."""

    header: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True)
class CodeBlock:
    """Source code."""

    text: str
    language: str = ""


class Picture(Protocol):
    """A figure of a document: it writes itself in the languages of documents."""

    @property
    def caption(self) -> str:
        """The sentence below it."""

    def svg(self) -> str:
        """The picture as SVG."""

    def png(self) -> bytes:
        """The picture as PNG."""

    def tikz(self) -> str:
        """The picture as a tikzpicture, for the package tikz with the library arrows.meta."""


@dataclass(frozen=True)
class FigureBlock:
    """A figure with its caption."""

    picture: Picture


Block: TypeAlias = Heading | Paragraph | Equation | TableBlock | CodeBlock | FigureBlock


@dataclass(frozen=True)
class DocumentContent:
    """The content of a document in no particular form: title, blocks, and style of expressions."""

    title: str
    blocks: tuple[Block, ...]
    style: Style = field(default=PLAIN)


def pieces(text: Text) -> Sequence[Piece]:
    """The pieces of a text."""
    return text if isinstance(text, (tuple, list)) else (text,)
