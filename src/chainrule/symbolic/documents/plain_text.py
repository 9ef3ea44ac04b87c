# ruff: noqa: RUF001 (mathematical letters)
"""Formulas as one line of Unicode text."""

from __future__ import annotations

from chainrule.symbolic.documents.formula import (
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

MARKS = {"dot": "\u0307", "ddot": "\u0308", "hat": "\u0302", "bar": "\u0304", "tilde": "\u0303"}
LOWER = str.maketrans("0123456789+−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
UPPER = str.maketrans("0123456789+−=()cinkpsCT⊤,", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᶜⁱⁿᵏᵖˢꟲᵀᵀ˒")
SPACED = frozenset("=+−×<>≤≥≈≠∑∫")

DIFFERENTIALS = (Atom("letter", "∂"), Atom("word", "d"))


def line(latex: str) -> str:
    r"""The plain text of a formula in LaTeX.

    >>> line(r"\tau_{1} = \frac{m_{1}}{2} \dot{q}_{1}^{2}")
    'τ₁ = m₁/2 q̇₁²'
    """
    return " ".join(_text(parse(latex)).split())


def _text(node: Node) -> str:
    if isinstance(node, Atom):
        if node.kind == "space":
            return " "
        return f" {node.text} " if node.text in SPACED else node.text
    if isinstance(node, Row):
        return _row(node)
    if isinstance(node, Script):
        return _text(node.base) + _script(node.lower, LOWER, "_") + _script(node.upper, UPPER, "^")
    if isinstance(node, Fraction):
        return f"{_in_brackets(node.top)}/{_in_brackets(node.bottom)}"
    if isinstance(node, Root):
        return f"√({_text(node.body)})"
    if isinstance(node, Accent):
        return _text(node.body) + MARKS[node.mark]
    if isinstance(node, Fence):
        return f"{node.opening}{_text(node.body).strip()}{node.closing}"
    return _grid(node)


def _row(row: Row) -> str:
    """The parts of a row, with spaces between factors."""
    text = ""
    for k, part in enumerate(row.parts):
        piece = _text(part)
        before = row.parts[k - 1] if k else Atom("space", "")
        apart = is_operand(before) and is_operand(part) and not is_function(before) and before not in DIFFERENTIALS
        apart = apart and not (isinstance(before, Script) and before.base == Row(()))  # a left superscript
        text += f" {piece}" if apart and not text.endswith(" ") else piece
    return text


def _script(node: Node | None, table: dict[int, int], sign: str) -> str:
    if node is None:
        return ""
    text = _text(node).replace(" ", "")
    if all(ord(letter) in table for letter in text):
        return text.translate(table)
    return f"{sign}{text}" if text.isalnum() else f"{sign}({text})"


def _in_brackets(node: Node) -> str:
    text = _text(node).strip()
    return f"({text})" if " " in text else text


def _grid(grid: Grid) -> str:
    return "; ".join(", ".join(_text(cell).strip() for cell in row) for row in grid.rows)
