"""The equations of motion of a robot on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainrule.symbolic.algebra.units import parameter_units
from chainrule.symbolic.derivations.result import groups, total
from chainrule.symbolic.documents.document import (
    Block,
    Document,
    Equation,
    Formula,
    Heading,
    Paragraph,
    Table,
)
from chainrule.symbolic.documents.printing import Style, definitions, latex, raised

if TYPE_CHECKING:
    from chainrule.symbolic.closed_form.equations import Equations


def summary(equations: Equations, *, shorthand: bool = False) -> Document:
    """The terms one by one, what the symbols stand for, and with which numbers.

    >>> import chainrule as cr
    >>> from chainrule.symbolic.closed_form import equations
    >>> summary(equations(cr.load("pendulum"))).title
    'Equations of motion of pendulum'
    """
    terms = groups(equations)
    blocks: list[Block] = [total(equations)]
    for name, words, matrix in terms:
        blocks += [Heading(words, 2), Equation((Formula(name), matrix))]
    short = definitions(matrix for _, _, matrix in terms) if shorthand else []
    if short:
        rows = tuple((name, Formula(latex(turned))) for name, turned in short)
        blocks += [Heading("Short names", 2), Table(("name", "stands for"), rows)]
    if equations.parameters:
        units = parameter_units(equations.symbolic.model)
        used = set().union(*(matrix.free_symbols for _, _, matrix in terms))
        numbers = [(s, f"{x:.6g}", raised(units.get(s, ""))) for s, x in equations.parameters.items() if s in used]
        blocks += [Heading("Parameters", 2), Table(("symbol", "value", "unit"), tuple(numbers))]
    joints = [(f"{i + 1}", joint.name, joint.type) for i, joint in enumerate(equations.robot.model.moving)]
    blocks += [Heading("Joints", 2), Table(("", "joint", "type"), tuple(joints))]
    blocks.append(Paragraph("SI units. Entries of a matrix that are not listed are zero."))
    return Document(f"Equations of motion of {equations.robot.name}", tuple(blocks), Style(shorthand=shorthand))
