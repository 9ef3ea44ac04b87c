"""From the forces on the parts of a body to the equations of Newton and Euler."""

from __future__ import annotations

import sympy as sp

from chainrule.spatial import Vector
from chainrule.symbolic.derivations.bodies.problem import BodyProblem, column_of, rows_of
from chainrule.symbolic.derivations.quantities import Quantity
from chainrule.symbolic.derivations.rules import rule
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph

POINT = Vector(*sp.symbols("x y z", real=True))
"""A point p of the body, over which integrals go."""


def newton_euler(problem: BodyProblem) -> list[Block]:
    """The sections about a point, a part dm, the integrals, and the two equations."""
    omega, v, omegadot, vdot = (problem.vector(letter) for letter in ("omega", "v", "omegadot", "vdot"))
    p_ddot = vdot + omegadot.cross(POINT) + omega.cross(v + omega.cross(POINT))
    f = sp.Matrix([problem.integral(x, POINT) for x in p_ddot])
    n = sp.Matrix([problem.integral(x, POINT) for x in POINT.cross(p_ddot)])
    wrench = problem.wrench(problem.numeric)
    quantities = [Quantity("f", f, "N", wrench[3:]), Quantity("n", n, "N m", wrench[:3])]
    used = [*f, *n, *problem.link.inertia.entries(), *omega, *v, *omegadot, *vdot]
    return [
        Heading("The body and its motion"),
        *problem.body_equations(),
        Paragraph((
            "Its frame turns at ", Formula(r"\omega"), ", and the frame's origin moves at ", Formula("v"), ". All "
            "vectors are in the axes of the frame, in which ", Formula(r"\dot{v}"), " and ", Formula(r"\dot{\omega}"),
            " are the rates of the components.",
        )),
        *problem.parameters(used),
        *_point(p_ddot),
        *_integrals(problem),
        *_newton(problem, f),
        *_euler(problem, n),
        Heading("As a wrench"),
        Paragraph((
            "Both together, angular part first, with the spatial inertia ", Formula("G"), " and the twist ",
            Formula(r"V = \left(\omega, v\right)"), ":",
        )),
        rule(r"\left(n, f\right)", r"G \dot{V} - \mathrm{ad}_V^T G V"),
        Equation((Formula("G"), rows_of(problem.link.spatial_inertia))),
        problem.numbers(quantities),
    ]  # fmt: skip


def _point(p_ddot: Vector) -> list[Block]:
    return [
        Heading("A point of the body"),
        Paragraph((
            "A point ", Formula(r"p = \left(x, y, z\right)"), " of the body is fixed in its frame. Its velocity is "
            "that of the origin, and what the rotation adds. The rate of a vector is that of its components, and what "
            "the rotation of the axes adds, ", Formula(r"\omega"), " times the vector, which gives the acceleration:",
        )),
        rule(r"\dot{p}", r"v + \omega \times p", "m/s"),
        rule(r"\ddot{p}", r"\dot{v} + \dot{\omega} \times p + \omega \times \left(v + \omega \times p\right)", "m/s^2"),
        Paragraph(("With the matrix ", Formula(r"\left[\omega\right]"), " of the cross product, and in components:")),
        rule(
            r"\ddot{p}",
            r"\dot{v} + \left[\dot{\omega}\right] p + \left[\omega\right] v + \left[\omega\right]^2 p",
            "m/s^2",
        ),
        Equation((Formula(r"\ddot{p}"), column_of(p_ddot).expand()), "m/s^2"),
        Paragraph((
            "A part of the mass ", Formula(r"\mathrm{dm}"), " at ", Formula("p"), " takes the force ",
            Formula(r"\mathrm{df}"), " and, about the origin, the moment ", Formula(r"\mathrm{dn}"),
            ". Forces between the parts cancel in the sums.",
        )),
        rule(r"\mathrm{df}", r"\ddot{p} \, \mathrm{dm}", "N"),
        rule(r"\mathrm{dn}", r"p \times \mathrm{df}", "N m"),
    ]  # fmt: skip


def _integrals(problem: BodyProblem) -> list[Block]:
    x, y, z = POINT
    about = problem.about_origin
    minus_square = -(sp.Matrix(POINT.skew().table()) ** 2)
    squares = [(rf"\int {a} {b} \, \mathrm{{dm}}", problem.integral(left * right, POINT)) for a, b, left, right in (
        ("x", "x", x, x), ("y", "y", y, y), ("z", "z", z, z), ("x", "y", x, y), ("x", "z", x, z), ("y", "z", y, z),
    )]  # fmt: skip
    steiner = [] if problem.is_at_center else [rule("I_o", r"I + m \left(c^T c \, 1 - c \, c^T\right)", "kg m^2")]
    return [
        Heading("The integrals over the body"),
        Paragraph("All that the two equations need of the body are these integrals over its mass:"),
        rule(r"\int \mathrm{dm}", "m", "kg"),
        rule(r"\int p \, \mathrm{dm}", "m c = 0" if problem.is_at_center else "m c", "kg m"),
        Equation((Formula("I_o"), Formula(r"-\int \left[p\right]^2 \mathrm{dm}"), rows_of(about)), "kg m^2"),
        Equation((Formula(r"-\left[p\right]^2"), minus_square.expand()), "m^2"),
        *steiner,
        Paragraph("In components, what stands in the inertia matrix:"),
        *(Equation((Formula(name), value), "kg m^2") for name, value in squares),
    ]


def _newton(problem: BodyProblem, f: sp.Matrix) -> list[Block]:
    steps = (
        r"\dot{v} \int \mathrm{dm} + \dot{\omega} \times \int p \, \mathrm{dm} + "
        r"\omega \times \left(v \int \mathrm{dm} + \omega \times \int p \, \mathrm{dm}\right)"
    )
    offset = r" + \dot{\omega} \times c + \omega \times \left(\omega \times c\right)"
    law = r"m \left(\dot{v} + \omega \times v" + ("" if problem.is_at_center else offset) + r"\right)"
    return [
        Heading("Newton's equation"),
        rule("f", r"\int \ddot{p} \, \mathrm{dm}", "N"),
        rule("f", steps, "N"),
        rule("f", law, "N"),
        Equation((Formula("f"), f), "N"),
    ]


def _euler(problem: BodyProblem, n: sp.Matrix) -> list[Block]:
    carried = r"m c \times \left(\dot{v} + \omega \times v\right)"
    law = r"I_o \dot{\omega} + \omega \times I_o \omega"
    return [
        Heading("Euler's equation"),
        Paragraph(("The moment is the sum of three integrals. In the third one, ", Formula(
            r"p \times \left(\omega \times \left(\omega \times p\right)\right) = "
            r"\omega \times \left(p \times \left(\omega \times p\right)\right)"
        ), ":")),
        rule(r"\int p \times \left(\dot{v} + \omega \times v\right) \mathrm{dm}", carried, "N m"),
        rule(
            r"\int p \times \left(\dot{\omega} \times p\right) \mathrm{dm}",
            r"-\int \left[p\right]^2 \mathrm{dm} \, \dot{\omega} = I_o \dot{\omega}", "N m",
        ),
        rule(
            r"\int p \times \left(\omega \times \left(\omega \times p\right)\right) \mathrm{dm}",
            r"\omega \times \left(-\int \left[p\right]^2 \mathrm{dm} \, \omega\right) = \omega \times I_o \omega",
            "N m",
        ),
        rule("n", law if problem.is_at_center else f"{law} + {carried}", "N m"),
        Equation((Formula("n"), n), "N m"),
    ]  # fmt: skip
