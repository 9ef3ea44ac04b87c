"""Steiner's theorem: the inertia of a body about another point."""

from __future__ import annotations

import sympy as sp

from chainrule.spatial import Vector
from chainrule.spatial.vector import steiner
from chainrule.symbolic.derivations.bodies.newton_euler import POINT
from chainrule.symbolic.derivations.bodies.problem import BodyProblem, column_of, rows_of
from chainrule.symbolic.derivations.quantities import Quantity
from chainrule.symbolic.derivations.rules import rule
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph


def steiners_theorem(problem: BodyProblem) -> list[Block]:
    """The sections about the integral, its expansion, and the theorem."""
    q, link = problem.vector("q"), problem.link
    d = q - link.com
    squares = (POINT - q).skew()
    integral = sp.Matrix((-(sp.Matrix(squares.table()) ** 2)).expand()).applyfunc(lambda x: problem.integral(x, POINT))
    theorem = rows_of(link.inertia + steiner(d, d * link.mass))
    kernel = problem.inertia_about(Vector(*problem.numbers_of("q")))
    quantities = [
        Quantity(r"-\int \left[p - q\right]^2 \mathrm{dm}", integral, "kg m^2", kernel),
        Quantity("I_q", theorem, "kg m^2", kernel),
    ]
    return [
        Heading("The body and the point"),
        *problem.body_equations(),
        Paragraph((
            "Wanted is its inertia ", Formula("I_q"), " about the point ", Formula("q"),
            " of its frame, in the same axes.",
        )),
        *problem.parameters([*theorem, *q]),
        Heading("The integral"),
        Paragraph((
            "Let ", Formula("r = p - c"), " go from the centre of mass to a point ", Formula("p"), " of the body, and ",
            Formula("d = q - c"), " to the point ", Formula("q"), ", so that ", Formula("p - q = r - d"), ":",
        )),
        Equation((Formula("d"), column_of(d)), "m"),
        rule("I_q", r"-\int \left[p - q\right]^2 \mathrm{dm} = -\int \left[r - d\right]^2 \mathrm{dm}", "kg m^2"),
        rule(
            "I_q",
            r"-\int \left[r\right]^2 \mathrm{dm} + \left[\int r \, \mathrm{dm}\right] \left[d\right] + \left[d\right] "
            r"\left[\int r \, \mathrm{dm}\right] - \left[d\right]^2 \int \mathrm{dm}",
            "kg m^2",
        ),
        Paragraph((
            "The first integral is the inertia ", Formula("I"), " about the centre of mass; the next two are zero, "
            "since ", Formula(r"\int r \, \mathrm{dm} = \int p \, \mathrm{dm} - m c = 0"), "; the last is the mass. In "
            "the last term, ",
            Formula(r"-\left[d\right]^2 = \left[d\right]^T \left[d\right] = d^T d \, 1 - d \, d^T"), "."
        )),
        Heading("The theorem"),
        rule("I_q", r"I + m \left[d\right]^T \left[d\right] = I + m \left(d^T d \, 1 - d \, d^T\right)", "kg m^2"),
        Equation((Formula("I_q"), theorem), "kg m^2"),
        Paragraph(
            "No point has a smaller inertia than the centre of mass, about any axis. The table has the integral taken "
            "as it stands, and the theorem."
        ),
        problem.numbers(quantities),
    ]  # fmt: skip
