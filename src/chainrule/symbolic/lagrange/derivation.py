"""The derivation of Lagrange's equations from the energies of a system, as a document."""

from __future__ import annotations

import sympy as sp

from chainrule.symbolic.answers.derived import Derivation
from chainrule.symbolic.documents import printing
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph
from chainrule.symbolic.lagrange.answers import alphabet
from chainrule.symbolic.lagrange.coordinates import TIME
from chainrule.symbolic.lagrange.system import LagrangianSystem

MOMENTUM = r"\frac{\partial L}{\partial %s}"
RATE = r"\frac{\mathrm{d}}{\mathrm{d} t} \, \frac{\partial L}{\partial %s}"


def derivation(system: LagrangianSystem, title: str = "Lagrange's equations") -> Derivation:
    """The equations derived step by step: energies, partial derivatives, time derivatives, result.

    The document is printed, or saved as LaTeX, HTML, Markdown, a notebook or text.

    >>> from chainrule.symbolic import Lagrangian
    >>> m, g, x, xdot = sp.symbols("m g x xdot")
    >>> Lagrangian([x], m * xdot**2 / 2, m * g * x, forces="f").derivation("A particle").title
    'A particle'
    """
    blocks = [*_energies(system)]
    for i in range(len(system.q)):
        blocks += _coordinate(system, i)
    content = (*blocks, *_constraints(system), *_result(system))
    return Derivation(title, content, alphabet=alphabet(system))


def _energies(system: LagrangianSystem) -> list[Block]:
    names = ", ".join(symbol.name for symbol in system.q)
    blocks: list[Block] = [
        Heading("Energies"),
        Paragraph(f"Generalized coordinates: {names}. Kinetic energy K, potential energy P, and the Lagrangian:"),
        Equation((Formula("K"), system.kinetic)),
        Equation((Formula("P"), system.potential)),
        Equation((Formula("L"), Formula("K - P"), system.lagrangian)),
    ]
    law = r"\frac{\mathrm{d}}{\mathrm{d} t} \, \frac{\partial L}{\partial \dot{q}_i} - \frac{\partial L}{\partial q_i}"
    forces = "f_i" + (" - r_i" if any(system.friction) else "") + (r" + (J^T \lambda)_i" if system.multipliers else "")
    words = "Lagrange's equation of each coordinate"
    words += ", with the friction r" if any(system.friction) else ""
    words += " and the forces of the constraints" if system.multipliers else ""
    return [*blocks, Paragraph(f"{words}:"), Equation((Formula(law), Formula(forces)))]


def _coordinate(system: LagrangianSystem, i: int) -> list[Block]:
    """Partial derivatives, the time derivative, and their difference for one coordinate."""
    q, qd = system.q[i], system.qd[i]
    own, rate = printing.latex(q), printing.latex(qd)
    momentum = system.canonical(sp.expand(system.lagrangian.diff(qd)))
    slope = system.canonical(sp.expand(system.lagrangian.diff(q)))
    growth = system.canonical(sp.expand(system.coordinates.rate(momentum)))
    blocks: list[Block] = [
        Heading(("Coordinate ", q), 2),
        Equation((Formula(MOMENTUM % rate), momentum)),
        Equation((Formula(RATE % rate), growth)),
        Equation((Formula(MOMENTUM % own), slope)),
    ]
    if system.friction[i] != 0:
        blocks += [Paragraph("Friction, which resists the motion:"), Equation((Formula("r"), system.friction[i]))]
    whole = system.equations[i]
    return [*blocks, Paragraph("Together, collected:"), Equation((whole.lhs, whole.rhs))]


def _constraints(system: LagrangianSystem) -> list[Block]:
    if not system.multipliers:
        return []
    return [
        Heading("Constraints"),
        Paragraph("Expressions that stay zero, their Jacobian, and the velocity terms of their second derivative:"),
        *(Equation((constraint, sp.S.Zero)) for constraint in system.constraints),
        Equation((Formula("J"), system.J)),
        Equation((Formula(r"\gamma"), system.gamma)),
    ]


def _result(system: LagrangianSystem) -> list[Block]:
    """The equations in matrix form."""
    parts = [r"M \ddot{q}"]
    terms: list[Block] = [Equation((Formula("M"), system.M))]
    for letter, term in (("c", system.c), ("g", system.g), ("r", system.friction)):
        if any(x != 0 for x in term):
            parts.append(letter)
            terms.append(Equation((Formula(letter), term)))
    right = "f" + (r" + J^T \lambda" if system.multipliers else "")
    words = "In matrix form, with the inertia M"
    words += ", the velocity terms c" if "c" in parts else ""
    words += ", the terms without velocities g" if "g" in parts else ""
    words += " and the friction r" if "r" in parts else ""
    blocks: list[Block] = [
        Heading("The equations of motion"),
        Paragraph(f"{words}:"),
        Equation((Formula(" + ".join(parts)), Formula(right))),
        *terms,
        Equation((Formula("f"), system.f)),
    ]
    if any(expression.has(TIME) for expression in (system.kinetic, system.potential, *system.constraints)):
        blocks.append(Paragraph("A motion is prescribed: energies or constraints depend on the time t."))
    return blocks
