"""The transport theorem: rates of a vector in a frame that turns, up to Euler's equation."""

from __future__ import annotations

from typing import Any

import sympy as sp

from chainrule.algorithms.moving_point import velocity_terms
from chainrule.model import Link
from chainrule.spatial import Rotation, Vector
from chainrule.symbolic.algebra.ring import contract
from chainrule.symbolic.derivations.bodies.problem import BodyProblem, rows_of
from chainrule.symbolic.derivations.quantities import Quantity
from chainrule.symbolic.derivations.rules import rule
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph

NAMES = ("phi", "theta", "psi")


def transport_theorem(problem: BodyProblem) -> list[Block]:
    """The sections about the two frames, the unit vectors, the theorem, and the momentum of the body."""
    angles, rates = ([problem.angle(name + dot) for name in NAMES] for dot in ("", "dot"))
    R = sp.Matrix(Rotation.from_rpy(*angles).table())
    R_dot = sum((R.diff(x) * rate for x, rate in zip(angles, rates, strict=True)), sp.zeros(3, 3))
    skew = (R_dot * R.T).applyfunc(lambda x: contract(sp.expand(x), angles, [[angle] for angle in angles]))
    Omega = sp.Matrix([skew[2, 1], skew[0, 2], skew[1, 0]])
    return [
        *_frames(problem, angles, rates, R),
        *_unit_vectors(problem, R_dot, skew, Omega),
        *_theorem(problem, R, R_dot, Omega),
        *_momentum(problem),
    ]


def _frames(problem: BodyProblem, angles: list[sp.Symbol], rates: list[sp.Symbol], R: sp.Matrix) -> list[Block]:
    A, Adot = problem.vector("A"), problem.vector("Adot")
    return [
        Heading("One vector in two frames"),
        Paragraph((
            "The vector ", Formula("A"), " has components in an inertial frame with the unit vectors ",
            Formula(r"\hat{i}, \hat{j}, \hat{k}"), ", and others, ", Formula("A' = (A_x, A_y, A_z)"),
            ", in a frame that turns, with ", Formula(r"\hat{i}', \hat{j}', \hat{k}'"), ":",
        )),
        rule("A", r"A_x \hat{i}' + A_y \hat{j}' + A_z \hat{k}'"),
        Paragraph((
            "The unit vectors of the inertial frame do not change; those of the other one do. The product rule gives",
        )),
        rule(
            r"\left(\frac{\mathrm{d} A}{\mathrm{d} t}\right)_{\mathrm{inertial}}",
            r"\left(\dot{A}_x \hat{i}' + \dot{A}_y \hat{j}' + \dot{A}_z \hat{k}'\right) + "
            r"\left(A_x \frac{\mathrm{d} \hat{i}'}{\mathrm{d} t} + A_y \frac{\mathrm{d} \hat{j}'}{\mathrm{d} t} + "
            r"A_z \frac{\mathrm{d} \hat{k}'}{\mathrm{d} t}\right)",
        ),
        Paragraph((
            "The first part is the rate as seen in the frame that turns, the second the effect of its rotation. The "
            "unit vectors are the columns of the orientation ", Formula("R"), " of the frame, here by roll ",
            Formula(r"\phi"), ", pitch ", Formula(r"\theta"), " and yaw ", Formula(r"\psi"), ":",
        )),
        Equation((Formula("R"), Formula(r"\begin{bmatrix} \hat{i}' & \hat{j}' & \hat{k}' \end{bmatrix}"), R)),
        *problem.parameters([*A, *Adot, *angles, *rates]),
    ]  # fmt: skip


def _unit_vectors(problem: BodyProblem, R_dot: sp.Matrix, skew: sp.Matrix, Omega: sp.Matrix) -> list[Block]:
    """R_dot R^T is skew, and its entries are the angular velocity."""
    turn, w = _numbers(problem, Omega)
    quantities = [
        Quantity(rf"\frac{{\mathrm{{d}} \hat{{{letter}}}'}}{{\mathrm{{d}} t}}", R_dot[:, k], "rad/s", list(w.cross(u)))
        for k, (letter, u) in enumerate(zip("ijk", turn.inv, strict=True))
    ]
    return [
        Heading("The rates of the unit vectors"),
        Paragraph((
            "The unit vectors stay orthonormal, ", Formula("R R^T = 1"), ". The rate of this says that ",
            Formula(r"\dot{R} R^T"), " is skew-symmetric, and so the matrix of a cross product:",
        )),
        rule(r"\dot{R} R^T + \left(\dot{R} R^T\right)^T", "0"),
        Equation((Formula(r"\left[\Omega\right]"), Formula(r"\dot{R} R^T"), skew), "rad/s"),
        Equation((Formula(r"\Omega"), Omega), "rad/s"),
        Paragraph(("The vector ", Formula(r"\Omega"), " is the angular velocity of the frame. With ",
                   Formula(r"\dot{R} = \left[\Omega\right] R"), ", column by column:")),
        Equation((
            Formula(r"\frac{\mathrm{d} \hat{i}'}{\mathrm{d} t} = \Omega \times \hat{i}', \quad "
                    r"\frac{\mathrm{d} \hat{j}'}{\mathrm{d} t} = \Omega \times \hat{j}', \quad "
                    r"\frac{\mathrm{d} \hat{k}'}{\mathrm{d} t}"), Formula(r"\Omega \times \hat{k}'"),
        )),
        Paragraph("The table has the derivatives of the columns, and their cross products with the angular velocity."),
        problem.numbers(quantities),
    ]  # fmt: skip


def _theorem(problem: BodyProblem, R: sp.Matrix, R_dot: sp.Matrix, Omega: sp.Matrix) -> list[Block]:
    A, Adot = (sp.Matrix([*problem.vector(letter)]) for letter in ("A", "Adot"))
    turn, w = _numbers(problem, Omega)
    vectors = (Vector(*problem.numbers_of(letter)) for letter in ("A", "Adot"))
    terms = velocity_terms(turn, w, Vector.zero(), *vectors)
    quantities = [
        Quantity(
            r"\left(\mathrm{d} A / \mathrm{d} t\right)_{\mathrm{rotating}}", R * Adot, "m/s", list(terms["relative"])
        ),
        Quantity(r"\Omega \times A", Omega.cross(R * A), "m/s", list(terms["rotation"])),
        Quantity(
            r"\left(\mathrm{d} A / \mathrm{d} t\right)_{\mathrm{inertial}}", R * Adot + R_dot * A, "m/s",
            list(terms["relative"] + terms["rotation"]),
        ),
    ]  # fmt: skip
    return [
        Heading("The theorem"),
        Paragraph("The effect of the rotation is thus a cross product with the vector itself:"),
        rule(
            r"A_x \left(\Omega \times \hat{i}'\right) + A_y \left(\Omega \times \hat{j}'\right) + "
            r"A_z \left(\Omega \times \hat{k}'\right)",
            r"\Omega \times A",
        ),
        rule(
            r"\left(\frac{\mathrm{d} A}{\mathrm{d} t}\right)_{\mathrm{inertial}}",
            r"\left(\frac{\mathrm{d} A}{\mathrm{d} t}\right)_{\mathrm{rotating}} + \Omega \times A",
        ),
        Paragraph((
            "The table has it for a position, of which ", Formula("A'"), " are the components in m: the last row is "
            "the derivative of ", Formula("R A'"), " on the left, and the sum of the terms on the right.",
        )),
        problem.numbers(quantities),
    ]  # fmt: skip


def _momentum(problem: BodyProblem) -> list[Block]:
    """The theorem for A = I omega: Euler's equation."""
    I = rows_of(problem.link.inertia)
    omega, omegadot = (sp.Matrix([*problem.vector(letter)]) for letter in ("omega", "omegadot"))
    tau = (I * omegadot + omega.cross(I * omega)).expand()
    at_center = Link("body", problem.numeric.mass, Vector(0.0, 0.0, 0.0), problem.numeric.inertia)
    return [
        Heading("The angular momentum of a body"),
        Paragraph((
            "About the centre of mass, the moments on a body are the rate of its angular momentum in an inertial "
            "frame. In the body's own axes, which turn at ", Formula(r"\omega"), ", the inertia ", Formula("I"),
            " is constant. The theorem with ", Formula(r"A = I \omega"), " and ", Formula(r"\Omega = \omega"),
            " is Euler's equation:",
        )),
        Equation((Formula("I"), I), "kg m^2"),
        rule(
            r"\sum \tau",
            r"\left(\frac{\mathrm{d} I \omega}{\mathrm{d} t}\right)_{\mathrm{rotating}} + \omega \times I \omega = "
            r"I \dot{\omega} + \omega \times I \omega",
            "N m",
        ),
        Equation((Formula(r"\sum \tau"), tau), "N m"),
        *problem.parameters([*I, *omega, *omegadot]),
        problem.numbers([Quantity(r"\sum \tau", tau, "N m", problem.wrench(at_center)[:3])]),
    ]  # fmt: skip


def _numbers(problem: BodyProblem, Omega: Any) -> tuple[Rotation, Vector]:
    """The orientation of the frame that turns, and its angular velocity."""
    turn = Rotation.from_rpy(*(problem.values[problem.angle(name)] for name in NAMES))
    return turn, Vector(*problem.number(Omega).tolist())
