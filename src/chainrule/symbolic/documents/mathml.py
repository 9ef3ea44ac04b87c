"""Formulas as presentation MathML, within MathML Core, the part that browsers draw."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from chainrule.symbolic.documents.formula import (
    ACCENTS,
    Accent,
    Atom,
    Fence,
    Fraction,
    Grid,
    Node,
    Root,
    Row,
    Script,
    is_function,
    is_operand,
    parse,
)

TAGS = {"letter": "mi", "number": "mn", "operator": "mo", "word": "mtext", "function": "mi"}
SPACE = '<mspace width="0.17em"/>'
FUNCTION_APPLICATION = "<mo>&#x2061;</mo>"
"""Stands between a function and its argument; invisible, but screen readers say it."""


def mathml(latex: str, *, display: bool = False, css_brackets: bool = False) -> str:
    """The `math` element of a formula in LaTeX.

    With `css_brackets`, matrices have the class `bracketed`, whose style sheet draws their brackets: without a font
    for mathematics, browsers cannot make brackets tall.

    >>> mathml("m_{1} g")
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow><msub><mi>m</mi><mn>1</mn></msub><mi>g</mi></mrow></math>'
    """
    block = ' display="block"' if display else ""
    body = element(parse(latex))
    body = _mark_brackets(body) if css_brackets else body
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{block}>{body}</math>'


def _mark_brackets(body: str) -> str:
    return body.replace(f"{_bracket('[', 'prefix')}<mtable>", '<mtable class="bracketed">').replace(
        f"</mtable>{_bracket(']', 'postfix')}", "</mtable>"
    )


def element(node: Node) -> str:
    """The MathML of a node of the tree."""
    if isinstance(node, Atom):
        return _atom(node)
    if isinstance(node, Row):
        return f"<mrow>{_parts(node.parts)}</mrow>"
    if isinstance(node, Script):
        return _script(node)
    if isinstance(node, Fraction):
        return f"<mfrac>{element(node.top)}{element(node.bottom)}</mfrac>"
    if isinstance(node, Root):
        return f"<msqrt>{element(node.body)}</msqrt>"
    if isinstance(node, Accent):
        raised = "" if node.mark == "hat" else ' style="padding-bottom:.18em"'
        mark = f'<mo stretchy="false"{raised}>{ACCENTS[node.mark]}</mo>'
        return f'<mover accent="true">{element(node.body)}{mark}</mover>'
    if isinstance(node, Fence):
        opening, closing = _bracket(node.opening, "prefix"), _bracket(node.closing, "postfix")
        return f"<mrow>{opening}{element(node.body)}{closing}</mrow>"
    return _grid(node)


def _atom(atom: Atom) -> str:
    if atom.kind == "space":
        return f'<mspace width="{atom.text}em"/>'
    tag = TAGS[atom.kind]
    return f"<{tag}>{escape(atom.text)}</{tag}>"


def _parts(parts: Sequence[Node]) -> str:
    """The MathML of a row, with the thin spaces around sin x that LaTeX sets automatically."""
    text = ""
    for k, part in enumerate(parts):
        named = is_function(part)
        if k and (named or is_function(parts[max(k - 2, 0)])) and is_operand(parts[k - 1]) and is_operand(part):
            text += SPACE if named or k > 1 else ""
        text += element(part)
        if named and k + 1 < len(parts):
            text += FUNCTION_APPLICATION
    return text


def _script(node: Script) -> str:
    base, lower, upper = element(node.base), node.lower, node.upper
    if lower is not None and upper is not None:
        return f"<msubsup>{base}{element(lower)}{element(upper)}</msubsup>"
    if lower is not None:
        tag = "munder" if node.base == Atom("operator", "∑") else "msub"
        return f"<{tag}>{base}{element(lower)}</{tag}>"
    return f"<msup>{base}{element(upper) if upper is not None else ''}</msup>"


def _bracket(mark: str, form: str) -> str:
    return f'<mo fence="true" stretchy="true" form="{form}">{escape(mark)}</mo>' if mark else ""


def _grid(grid: Grid) -> str:
    rows = "".join(
        "<mtr>" + "".join(_cell(grid.kind, k, cell) for k, cell in enumerate(row)) + "</mtr>" for row in grid.rows
    )
    if grid.kind == "aligned":
        return f'<mtable displaystyle="true" class="lines">{rows}</mtable>'
    table = f"<mtable>{rows}</mtable>"
    return f"<mrow>{_bracket('{', 'prefix')}{table}</mrow>" if grid.kind == "cases" else table


def _cell(kind: str, column: int, cell: Node) -> str:
    if kind == "matrix":
        return f"<mtd>{element(cell)}</mtd>"
    side = "right" if kind == "aligned" and column == 0 else "left"
    text = element(cell)
    if kind == "aligned" and column and isinstance(cell, Row) and cell.parts and not is_operand(cell.parts[0]):
        text = text.replace("<mo>", '<mo form="infix">', 1)
    return f'<mtd style="text-align:{side}">{text}</mtd>'
