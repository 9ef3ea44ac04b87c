"""Summary of the equations of motion as a document: terms, parameters and joints."""

from __future__ import annotations

import sympy as sp

from chainrule.symbolic.closed_form.matrices import Matrices
from chainrule.symbolic.documents.document import (
    Block,
    Document,
    Equation,
    Formula,
    Heading,
    Paragraph,
    Table,
)
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
    reserved = frozenset(symbol.name for symbol in equations.parameters)
    style = Style(shorthand=shorthand, reserved=reserved, coordinates=tuple(equations.q))
    short = definitions((matrix for _, _, matrix in terms), reserved, equations.q) if shorthand else []
    if short:
        rows = tuple((name, Formula(latex(turned))) for name, turned in short)
        blocks += [Heading("Short names", 2), Table(("name", "stands for"), rows)]
    if equations.parameters:
        units = {entry.symbol: entry.unit for entry in equations.symbols.entries}
        used = set().union(*(matrix.free_symbols for _, _, matrix in terms))
        numbers = [
            (symbol, f"{value:.6g}", superscript_powers(units.get(symbol, "")))
            for symbol, value in equations.parameters.items()
            if symbol in used
        ]
        blocks += [Heading("Parameters", 2), Table(("symbol", "value", "unit"), tuple(numbers))]
    joints = [(f"{i + 1}", joint.name, joint.type) for i, joint in enumerate(equations.robot.model.moving)]
    blocks += [Heading("Joints", 2), Table(("", "joint", "type"), tuple(joints))]
    blocks.append(Paragraph("SI units. Entries of a matrix that are not listed are zero."))
    return Document(f"Equations of motion of {equations.robot.model.name}", tuple(blocks), style)
