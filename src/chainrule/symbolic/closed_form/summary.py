"""Summary of the equations of motion as a document: terms, parameters and joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from chainrule.core.mechanism import Mechanism
from chainrule.symbolic.closed_form.forms import Forms
from chainrule.symbolic.closed_form.matrices import Matrices
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph, TableBlock
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.printing import Style, definitions, latex, superscript_powers

VELOCITY_TERM = r"C \dot{q}"
"""The name of the velocity torques in LaTeX: c with an index would be a cosine."""


def terms_not_zero(equations: Matrices) -> list[tuple[str, str, sp.Matrix]]:
    """The terms that are not zero: the name of each in LaTeX, its description, and its matrix."""
    terms = [
        ("M", "The mass matrix", equations.M),
        (VELOCITY_TERM, "Centrifugal and Coriolis torques", equations.c),
        ("g", "Gravity", equations.g),
        (r"\tau_s", "Springs", equations.spring),
        (r"\tau_f", "Friction", equations.friction),
        (r"J^{T} F", "The wrench at the tip", equations.external),
    ]
    return [(name, words, matrix) for name, words, matrix in terms if any(x != 0 for x in matrix)]


def sum_of_terms(equations: Matrices) -> Equation:
    """The equation of tau and the sum of the terms that are not zero."""
    parts = [r"M \ddot{q}" if name == "M" else name for name, _, _ in terms_not_zero(equations)]
    return Equation((Formula(r"\tau"), Formula(" + ".join(parts))))


def outline(equations: Matrices) -> Document:
    """A document that says what the terms are and how to see them, without deriving any."""
    size = f"{len(equations.q)} degrees of freedom, {len(equations.parameters)} parameters."
    whole = Equation((Formula(r"\tau"), Formula(r"M \ddot{q} + C \dot{q} + g + \tau_s + \tau_f")))
    hint = "The terms are long: they are derived when they are asked for, by .M, .C, .g, .tau or print(equations)."
    blocks = (whole, Paragraph(size), Paragraph(hint))
    return Document(f"Equations of motion of {equations.robot.model.name}", blocks)


def summary(equations: Matrices, *, shorthand: bool = False) -> Document:
    """A document of the terms, the meaning and the values of the symbols, and the joints.

    >>> import chainrule as cr
    >>> from chainrule.symbolic.closed_form import equations
    >>> summary(equations(cr.load("pendulum"))).title
    'Equations of motion of pendulum'
    """
    equations.refuse_long_terms("M", "c", "g")
    terms = terms_not_zero(equations)
    blocks: list[Block] = [sum_of_terms(equations)]
    for name, words, matrix in terms:
        blocks += [Heading(words, 2), Equation((Formula(name), matrix))]
    matrices = [matrix for _, _, matrix in terms]
    style = style_of(equations, shorthand=shorthand)
    blocks += [*short_names(matrices, style), *parameter_table(equations, matrices), *joint_table(equations.robot)]
    blocks.append(Paragraph("SI units. Entries of a matrix that are not listed are zero."))
    return Document(f"Equations of motion of {equations.robot.model.name}", tuple(blocks), style)


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
