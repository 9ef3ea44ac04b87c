"""Documents as LaTeX articles."""

from __future__ import annotations

import re

from chainrule.symbolic.documents.blocks import (
    Block,
    DocumentContent,
    Equation,
    FigureBlock,
    Heading,
    Paragraph,
    TableBlock,
    Text,
    pieces,
)
from chainrule.symbolic.documents.formula import parse, width
from chainrule.symbolic.documents.latex_table import table
from chainrule.symbolic.documents.line_breaks import display, math
from chainrule.symbolic.documents.printing import Style

PREAMBLE = r"""\documentclass[a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amssymb,array,graphicx,longtable}
\usepackage[margin=22mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.6em}
\allowdisplaybreaks
\newcolumntype{P}[1]{>{\raggedright\arraybackslash\hspace{0pt}}p{#1}}
\newsavebox{\whole}
\newcommand{\fit}[1]{\sbox{\whole}{$\displaystyle #1$}%
  \ifdim\wd\whole>0.84\linewidth\resizebox{0.84\linewidth}{!}{\usebox{\whole}}\else\usebox{\whole}\fi}
"""
TIKZ = "\\usepackage{tikz}\n\\usetikzlibrary{arrows.meta}\n"
"""What a document with figures needs."""

MAX_LETTERS = 60.0
"""Width from which on a line is made smaller if it does not fit, in letters."""

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
ALIGNED = "\\begin{aligned}"
SECTIONS = {1: "section*", 2: "subsection*"}


def article(page: DocumentContent) -> str:
    """The LaTeX of a complete article."""
    body = "\n\n".join(_block(block, page.style) for block in page.blocks)
    title = f"\\title{{{escape(page.title)}}}\n\\date{{}}"
    tikz = TIKZ if any(isinstance(block, FigureBlock) for block in page.blocks) else ""
    return f"{PREAMBLE}{tikz}{title}\n\n\\begin{{document}}\n\\maketitle\n\n{body}\n\n\\end{{document}}\n"


def escape(text: str) -> str:
    """Escape plain text, so that nothing in it is a command. Letters that LaTeX's fonts may lack become "?".

    >>> escape("50% of a_b")
    '50\\\\% of a\\\\_b'
    """
    return re.sub(r"[^\x20-\x7e\u00a0-\u017f]", "?", "".join(SPECIAL.get(letter, letter) for letter in text))


def _text(text: Text, style: Style) -> str:
    return "".join(escape(p) if isinstance(p, str) else f"${math(p, style)}$" for p in pieces(text))


def _block(block: Block, style: Style) -> str:
    if isinstance(block, Heading):
        return f"\\{SECTIONS.get(block.level, 'subsubsection*')}{{{_text(block.text, style)}}}"
    if isinstance(block, Paragraph):
        return _text(block.text, style)
    if isinstance(block, Equation):
        return _equation(block, style)
    if isinstance(block, TableBlock):
        return table(block, style, _text)
    if isinstance(block, FigureBlock):
        caption = f"\\par\\smallskip\\small {escape(block.picture.caption)}"
        return f"\\begin{{center}}\n{block.picture.tikz()}{caption}\n\\end{{center}}"
    lines = block.text.replace("\\end{verbatim}", "\\end {verbatim}")
    return f"\\begin{{verbatim}}\n{lines}\n\\end{{verbatim}}"


def _equation(block: Equation, style: Style) -> str:
    """An equation; one of several lines becomes an environment that may continue on the next page."""
    shown = display(block, style)
    unit = f" \\tag*{{$[\\mathrm{{{_unit(block.unit)}}}]$}}" if block.unit else ""
    if shown.startswith(ALIGNED):
        lines = shown.removeprefix(ALIGNED).removesuffix("\\end{aligned}").split(" \\\\ ")
        shown, name = " \\\\\n".join(map(_fitting_line, lines)), "align*"
    else:
        shown, name = _fitting(shown), "equation*"
    return f"\\begin{{{name}}}\n{shown}{unit}\n\\end{{{name}}}"


def _fitting_line(line: str) -> str:
    """A line of an aligned equation, whose right-hand side is made smaller if it is too wide."""
    head, mark, body = line.partition("&=" if "&=" in line else "&\\quad")
    return f"{head}{mark} {_fitting(body.strip())}"


def _fitting(formula: str) -> str:
    return f"\\fit{{{formula}}}" if width(parse(formula)) > MAX_LETTERS else formula


def _unit(unit: str) -> str:
    return escape(unit).replace(" ", "\\,").replace("\\textasciicircum{}", "^")
