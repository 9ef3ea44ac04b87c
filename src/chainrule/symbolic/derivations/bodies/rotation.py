"""The inertia of a body in other axes: I' = R I R^T."""

from __future__ import annotations

import sympy as sp

from chainrule.spatial import Rotation, Vector
from chainrule.symbolic.algebra.ring import contract
from chainrule.symbolic.derivations.bodies.problem import BodyProblem, rows_of
from chainrule.symbolic.derivations.quantities import Quantity
from chainrule.symbolic.derivations.rules import rule
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph


def rotated_inertia(problem: BodyProblem) -> list[Block]:
    """The sections about the energy, the integral, and a turn about one axis."""
    phi, theta, psi = (problem.angle(name) for name in ("phi", "theta", "psi"))
    I = rows_of(problem.link.inertia)
    R = sp.Matrix(Rotation.from_rpy(phi, theta, psi).table())
    numbers = Rotation.from_rpy(*(problem.values[x] for x in (phi, theta, psi)))
    kernel = problem.numeric.inertia.rotate(numbers).table()
    about_z = sp.Matrix(Rotation.about(Vector(0, 0, 1), psi).table())
    turned = (about_z * I * about_z.T).applyfunc(lambda x: contract(sp.expand(x), [psi]))
    quarter = problem.numeric.inertia.rotate(Rotation.about(Vector(0, 0, 1), problem.values[psi])).table()
    omega = sp.Matrix([*problem.vector("omega")])
    energy = (omega.T * I * omega)[0] / 2
    again = ((R * omega).T * (R * I * R.T) * (R * omega))[0] / 2
    w = sp.Matrix(problem.numbers_of("omega"))
    number = float((w.T * sp.Matrix(problem.numeric.inertia.table()) * w)[0]) / 2
    quantities = [
        Quantity(r"\frac{1}{2} \omega^T I \omega", energy, "J", [number]),
        Quantity(r"\frac{1}{2} \omega'^T I' \omega'", again, "J", [number]),
        Quantity("I' = R I R^T", R * I * R.T, "kg m^2", kernel),
        Quantity(r"I'_{\psi}", turned, "kg m^2", quarter),
    ]
    return [
        Heading("The body and the other axes"),
        *problem.body_equations(),
        Paragraph((
            "The matrix ", Formula("R"), " takes the components of a vector in these axes to those in the others, ",
            Formula("a' = R a"), ". It is the rotation by ", Formula(r"\phi"), " about x, ", Formula(r"\theta"),
            " about y and ", Formula(r"\psi"), " about z, in this order, about fixed axes. Read the other way, it "
            "turns the body in its frame.",
        )),
        *problem.parameters([*I, phi, theta, psi, *omega]),
        Equation((Formula("R"), R)),
        Heading("From the energy"),
        Paragraph((
            "The kinetic energy of a rotation does not depend on the axes. With ", Formula(r"\omega = R^T \omega'"),
            ":",
        )),
        rule(
            r"\frac{1}{2} \omega'^T I' \omega'",
            r"\frac{1}{2} \omega^T I \omega = \frac{1}{2} \left(R^T \omega'\right)^T I \left(R^T \omega'\right) = "
            r"\frac{1}{2} \omega'^T \left(R I R^T\right) \omega'",
            "J",
        ),
        Paragraph("This holds for every angular velocity, and both matrices are symmetric, so that they are equal:"),
        rule("I'", "R I R^T", "kg m^2"),
        Heading("From the integral"),
        Paragraph((
            "A cross product turns with its vectors, ", Formula(r"\left[R p\right] = R \left[p\right] R^T"),
            ", and ", Formula("R^T R = 1"), ":",
        )),
        rule(
            "I'",
            r"-\int \left[R p\right]^2 \mathrm{dm} = R \left(-\int \left[p\right]^2 \mathrm{dm}\right) R^T = R I R^T",
            "kg m^2",
        ),
        Paragraph((
            "For a frame {c} whose axes have the orientation ", Formula("R_{bc}"), " in the body's frame {b}, ",
            Formula("R = R_{bc}^T"), ", and ", Formula("I_c = R_{bc}^T I_b R_{bc}"), ".",
        )),
        Heading("About one axis"),
        Paragraph(("For a turn by ", Formula(r"\psi"), " about z alone:")),
        Equation((Formula(r"I'_{\psi}"), turned), "kg m^2"),
        problem.numbers(quantities),
    ]  # fmt: skip
