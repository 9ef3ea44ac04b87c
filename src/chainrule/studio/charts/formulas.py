"""The equations of motion as MathML, with the present numbers in place of the symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chainrule.arguments import Array
from chainrule.robot.robot import Robot
from chainrule.studio.charts.style import in_frame, number

if TYPE_CHECKING:
    from chainrule.symbolic.closed_form.equations import Equations
    from chainrule.symbolic.documents.formula import Node

TITLES = {
    "M": "M, the mass matrix",
    "C": "C, with the centrifugal and Coriolis torques C q̇",
    "g": "g, gravity",
    "tau": "τ, all of it",
}
"""The terms that are shown, and what they are."""

SIGNS = ("+", "-", "\u2212")

LONG_BRACKET = 420
"""Letters of MathML from which on brackets are taken apart: about half a line."""

MATHML = "http://www.w3.org/1998/Math/MathML"


@dataclass(frozen=True, eq=False)
class TermEntry:
    """An entry of a term."""

    written: str
    """Its name, and its formula in symbols, in pieces of MathML between which a line may end."""
    formula: Node
    """Its formula as a tree."""
    place: tuple[int, ...]
    """Its place in the term."""


@dataclass(frozen=True, eq=False)
class Typeset:
    """The terms of a robot's equations of motion, ready to be written with numbers."""

    terms: Mapping[str, tuple[TermEntry, ...]]
    """The entries that are not zero; of a symmetric matrix, those on and above the diagonal."""
    parameters: Mapping[Node, float]
    """The robot's own symbols and their values."""
    state: Sequence[tuple[Node, Node, Node]]
    """The symbols of position, velocity and acceleration of each coordinate."""

    def values(self, q: Array, qd: Array, qdd: Array) -> dict[Node, float]:
        """The number of each symbol in a state."""
        found = dict(self.parameters)
        for symbols, numbers in zip(self.state, zip(q, qd, qdd, strict=True), strict=True):
            found |= {symbol: float(x) for symbol, x in zip(symbols, numbers, strict=True)}
        return found


def typeset(equations: Equations) -> Typeset:
    """The terms M, C, g and tau of equations of motion; deriving them may take seconds."""
    from chainrule.symbolic.documents.formula import parse
    from chainrule.symbolic.documents.printing import latex

    terms = {}
    for term in TITLES:
        matrix: Any = getattr(equations, term)
        letter = {"tau": r"\tau"}.get(term, term)
        below = term == "M"  # entries below the diagonal of a symmetric matrix are left out
        places = [(i, j) for i in range(matrix.rows) for j in range(matrix.cols) if matrix[i, j] != 0]
        places = [(i, j) for i, j in places if not (below and j < i)]
        wide = term in ("M", "C")
        terms[term] = tuple(
            _entry(f"{letter}_{{{i + 1}{j + 1 if wide else ''}}}", matrix[i, j], (i, j) if wide else (i,))
            for i, j in places
        )
    return Typeset(
        terms,
        {parse(latex(symbol)): float(value) for symbol, value in equations.parameters.items()},
        [
            (parse(latex(a)), parse(latex(b)), parse(latex(c)))
            for a, b, c in zip(equations.q, equations.qd, equations.qdd, strict=True)
        ],
    )


def _entry(name: str, expression: Any, place: tuple[int, ...]) -> TermEntry:
    from chainrule.symbolic.documents.formula import parse
    from chainrule.symbolic.documents.mathml import element
    from chainrule.symbolic.documents.printing import latex

    formula = parse(latex(expression))
    return TermEntry(wrap_formula(formula, f"{element(parse(name))}<mo>=</mo>"), formula, place)


def wrap_formula(formula: Node, start: str = "") -> str:
    """A formula as pieces of MathML, since browsers break no line within one: each begins with a plus or a minus.

    Brackets are taken apart where they are long. start: MathML before the first piece.
    """
    from chainrule.symbolic.documents.formula import Row
    from chainrule.symbolic.documents.mathml import element

    pieces = []
    for k, parts in enumerate(_pieces(formula)):
        text = element(Row(tuple(parts)))
        text = text.replace("<mo>", '<mo form="infix">', 1) if k else start + text
        pieces.append(f'<math xmlns="{MATHML}"><mrow>{text}</mrow></math>')
    return " ".join(pieces)


def _pieces(formula: Node) -> list[list[Node]]:
    """The terms of a sum, with those of long brackets in it, each with its sign."""
    from chainrule.symbolic.documents.formula import Atom, Fence, Row
    from chainrule.symbolic.documents.mathml import element

    found: list[list[Node]] = [[]]
    for part in formula.parts if isinstance(formula, Row) else (formula,):
        if isinstance(part, Atom) and part.kind == "operator" and part.text in SIGNS and found[-1]:
            found.append([part])
        elif isinstance(part, Fence) and len(element(part)) > LONG_BRACKET:
            first, *rest = _pieces(part.body)
            found[-1] += [Atom("operator", part.opening), *first]
            found += rest
            found[-1].append(Atom("operator", part.closing))
        else:
            found[-1].append(part)
    return found


def term_values(robot: Robot, q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
    """The numbers of the terms, by the robot's own functions."""
    return {
        "M": robot.mass_matrix(q),
        "C": robot.coriolis_matrix(q, qd),
        "g": robot.gravity_torque(q),
        "tau": robot.inverse_dynamics(q, qd, qdd),
    }


def formulas(found: Typeset, values: Mapping[str, Array], numbers: Mapping[Node, float] | None = None) -> str:
    """All terms, entry by entry: name, formula, number. With `numbers`, the formula with these put in as well."""
    parts = []
    for term, title in TITLES.items():
        parts.append(f"<h4>{title}</h4>")
        entries = found.terms[term]
        lines = [_line(entry, float(values[term][entry.place]), numbers) for entry in entries]
        parts.append("".join(lines) or '<div class="dim">zero</div>')
    parts.append('<div class="dim">SI units. Entries that are not listed are zero, or equal by symmetry.</div>')
    return in_frame("".join(parts))


def _line(entry: TermEntry, value: float, numbers: Mapping[Node, float] | None) -> str:
    lines = [entry.written]
    if numbers is not None:
        lines.append(wrap_formula(put_numbers(entry.formula, numbers), "<mo>=</mo>"))
    written = "".join(f"<div>{line}</div>" for line in lines)
    return f'<div class="formula"><div class="wide">{written}</div><span class="value">= {number(value)}</span></div>'


def put_numbers(node: Node, numbers: Mapping[Node, float]) -> Node:
    r"""A formula with numbers in place of symbols, and dots between factors that would run together.

    >>> from chainrule.symbolic.documents.formula import parse
    >>> from chainrule.symbolic.documents.mathml import element
    >>> element(put_numbers(parse("m L"), {parse("m"): 2.0, parse("L"): -3.0}))
    '<mrow><mn>2</mn><mo>·</mo><mrow><mo fence="true" stretchy="true" form="prefix">(</mo><mn>-3</mn>...
    """
    from chainrule.symbolic.documents.formula import Fence, Fraction, Grid, Root, Row, Script

    if node in numbers:
        return _number_node(numbers[node])
    if isinstance(node, Script):
        symbol = Script(node.base, node.lower, None) if node.lower is not None else node.base
        if symbol in numbers:
            return Script(_number_node(numbers[symbol]), None, node.upper)
        return Script(put_numbers(node.base, numbers), node.lower, node.upper)
    if isinstance(node, Row):
        return Row(tuple(_with_dots(node.parts, numbers)))
    if isinstance(node, Fence):
        alone = node.body in numbers
        body = _number_node(numbers[node.body], bare=True) if alone else put_numbers(node.body, numbers)
        return Fence(node.opening, body, node.closing)
    if isinstance(node, Fraction):
        return Fraction(put_numbers(node.top, numbers), put_numbers(node.bottom, numbers))
    if isinstance(node, Root):
        return Root(put_numbers(node.body, numbers))
    if isinstance(node, Grid):
        return Grid(node.kind, tuple(tuple(put_numbers(cell, numbers) for cell in row) for row in node.rows))
    return node


def _number_node(value: float, *, bare: bool = False) -> Node:
    """A number; a negative one in brackets unless it stands alone."""
    from chainrule.symbolic.documents.formula import Atom, Fence

    atom = Atom("number", number(value))
    return atom if bare or not atom.text.startswith("-") else Fence("(", atom, ")")


def _with_dots(parts: Sequence[Node], numbers: Mapping[Node, float]) -> list[Node]:
    """The parts of a row with numbers put in, and a dot between a number and the factor next to it."""
    from chainrule.symbolic.documents.formula import Atom

    written: list[Node] = []
    last: Node | None = None
    for part in parts:
        new = put_numbers(part, numbers)
        is_factor = last is not None and _is_factor(last) and _is_factor(part)
        if is_factor and (new != part or (written and written[-1] != last)):
            written.append(Atom("operator", "·"))
        written.append(new)
        last = part
    return written


def _is_factor(node: Node) -> bool:
    from chainrule.symbolic.documents.formula import Atom, Script

    base = node.base if isinstance(node, Script) else node
    return not (isinstance(base, Atom) and base.kind in ("operator", "space", "function"))
