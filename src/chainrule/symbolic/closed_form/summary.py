"""Summary of the equations of motion as a document: terms, parameters and joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.symbolic.closed_form.forms import Forms
from chainrule.symbolic.closed_form.matrices import Matrices
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph, TableBlock
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.notation import Notation
from chainrule.symbolic.documents.printing import Style, definitions, latex, superscript_powers

VELOCITY_TERM = r"C \dot{q}"
"""The name of the velocity torques in LaTeX: c with an index would be a cosine."""


TERMS = {
    "M": ("M", "The mass matrix"),
    "C": ("C", "Christoffel's matrix"),
    "c": (VELOCITY_TERM, "Centrifugal and Coriolis torques"),
    "centrifugal": (r"c_{\mathrm{centrifugal}}", "Centrifugal torques"),
    "coriolis": (r"c_{\mathrm{Coriolis}}", "Coriolis torques"),
    "g": ("g", "Gravity"),
    "spring": (r"\tau_s", "Springs"),
    "friction": (r"\tau_f", "Friction"),
    "h": ("h", "All but accelerations and wrenches"),
    "external": (r"J^{T} F", "The wrench at the tip"),
    "tau": (r"\tau", "Torques"),
    "accelerations": (r"\ddot{q}", "Accelerations"),
}
"""Term of the equations of motion -> its name in LaTeX, and its description."""

SUMMANDS = ("M", "c", "g", "spring", "friction", "external")
"""The terms that tau is the sum of."""


def terms_not_zero(equations: Matrices) -> list[tuple[str, str, sp.Matrix]]:
    """The terms that are not zero: the name of each in LaTeX, its description, and its matrix."""
    terms = [(*name_and_words(equations, name), equations.term(name)) for name in SUMMANDS]
    return [(name, words, matrix) for name, words, matrix in terms if any(x != 0 for x in matrix)]


def name_and_words(equations: Matrices, term: str) -> tuple[str, str]:
    """The name of a term in LaTeX, and its description."""
    if term != "external":
        return TERMS[term]
    of_tip = any(wrench.is_of_tip for wrench in equations.wrenches)
    of_links = any(not wrench.is_of_tip for wrench in equations.wrenches)
    if of_tip and of_links:
        return r"J^{T} F - \sum_i J_i^{T} W_i", "The wrenches at the tip and on links"
    return (r"- \sum_i J_i^{T} W_i", "The wrenches on links") if of_links else TERMS[term]


def sum_of_terms(equations: Matrices) -> Equation:
    """The equation of tau and the sum of the terms that are not zero."""
    parts = [r"M \ddot{q}" if name == "M" else name for name, _, _ in terms_not_zero(equations)]
    return Equation((Formula(r"\tau"), Formula(" + ".join(parts).replace("+ -", "-"))))


def outline(equations: Matrices) -> Document:
    """A document that says what the terms are and how to see them, without deriving any."""
    size = f"{len(equations.q)} degrees of freedom, {len(equations.parameters)} parameters."
    whole = Equation((Formula(r"\tau"), Formula(r"M \ddot{q} + C \dot{q} + g + \tau_s + \tau_f")))
    hint = "The terms are long: they are derived when they are asked for, by .M, .C, .g, .tau or print(equations)."
    blocks = (whole, Paragraph(size), Paragraph(hint))
    return Document(f"Equations of motion of {equations.robot.model.name}", blocks)


def summary(equations: Matrices, *, shorthand: bool = False, terms: Sequence[str] | None = None) -> Document:
    """A document of the terms, the meaning and the values of the symbols, and the joints.

    `terms` are the names of those that are wanted; by default, those of which tau is the sum.

    >>> import chainrule as cr
    >>> from chainrule.symbolic.closed_form import equations
    >>> summary(equations(cr.load("pendulum"))).title
    'Equations of motion of pendulum'
    """
    equations.refuse_long_terms("M", "c", "g")
    if terms is None:
        shown = terms_not_zero(equations)
        blocks: list[Block] = [sum_of_terms(equations)]
    else:
        shown = [(*name_and_words(equations, name), equations.term(name)) for name in _check_terms(terms)]
        blocks = [Equation((Formula(r"\ddot{q}"), Formula(_solution(equations))))] if "accelerations" in terms else []
    for name, words, matrix in shown:
        blocks += [Heading(words, 2), Equation((Formula(name), matrix))]
    matrices = [matrix for _, _, matrix in shown]
    style = style_of(equations, shorthand=shorthand)
    blocks += [*short_names(matrices, style), *parameter_table(equations, matrices), *joint_table(equations.robot)]
    blocks.append(Paragraph("SI units. Entries of a matrix that are not listed are zero."))
    written = notation_of(equations).blocks(blocks)
    return Document(f"Equations of motion of {equations.robot.model.name}", written, style)


def _check_terms(terms: Sequence[str]) -> Sequence[str]:
    """Names of terms, checked."""
    if isinstance(terms, str):
        raise ShapeError(f"document takes a list of terms, such as [{terms!r:.60}], not a text")
    for name in terms:
        if name not in TERMS:
            raise UnknownNameError.of("term", name, TERMS, "the equations of motion")
    return terms


def _solution(equations: Matrices) -> str:
    """M^-1 (tau - h), less the torques of the wrenches, in LaTeX."""
    name, _ = name_and_words(equations, "external")
    less = f" - {name}".replace("- -", "+").replace("F - ", "F + ") if equations.wrenches else ""
    return rf"M^{{-1}} \left(\tau - h{less}\right)"


def notation_of(equations: Any, *, has_twists: bool = False) -> Notation:
    """The notation of a robot's documents, with the indices of the parents of its links."""
    bodies = equations.symbolic.model.bodies
    return Notation.of(equations.notation, equations.coordinates, bodies, has_twists=has_twists)


def style_of(equations: Forms, *, shorthand: bool) -> Style:
    """The style in which equations are printed: names of parameters stay theirs, shorthand is for the coordinates."""
    reserved = frozenset(symbol.name for symbol in equations.parameters)
    return Style(shorthand=shorthand, reserved=reserved, coordinates=tuple(equations.q))


def short_names(terms: Sequence[Any], style: Style) -> list[Block]:
    """The section on what c_12 and s_1 stand for, if any of them is used."""
    if not style.shorthand:
        return []
    short = definitions(terms, style.reserved, style.coordinates)
    rows = tuple((name, Formula(latex(turned))) for name, turned in short)
    return [Heading("Short names", 2), TableBlock(("name", "stands for"), rows)] if rows else []


def parameter_table(equations: Forms, terms: Sequence[Any]) -> list[Block]:
    """The section on values and units of the parameters that the terms contain, if there are any."""
    units = {entry.symbol: entry.unit for entry in equations.symbols.entries}
    used = set().union(*(term.free_symbols for term in terms))
    rows = tuple(
        (symbol, f"{value:.6g}", superscript_powers(units.get(symbol, "")))
        for symbol, value in equations.parameters.items()
        if symbol in used
    )
    return [Heading("Parameters", 2), TableBlock(("symbol", "value", "unit"), rows)] if rows else []


def joint_table(robot: Mechanism) -> list[Block]:
    """The section on the joints, in the order of the coordinates."""
    rows = tuple((f"{i + 1}", joint.name, joint.type) for i, joint in enumerate(robot.model.moving))
    return [Heading("Joints", 2), TableBlock(("", "joint", "type"), rows)]
