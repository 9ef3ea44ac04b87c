"""The derivation in closed matrix form: Jacobians of the links, mass matrix, Christoffel's symbols, gravity."""

from __future__ import annotations

from typing import Any

import sympy as sp

from chainrule.algorithms.matrix_form import matrix_form
from chainrule.dynamics import textbook
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.ring import to_sympy
from chainrule.symbolic.closed_form.size_estimate import QUANTITIES
from chainrule.symbolic.derivations.latex_names import subscript
from chainrule.symbolic.derivations.problem import ZERO_TOLERANCE, Problem, count_terms, too_large
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph

MAX_TERMS = 6000
"""Terms of all Jacobians, or of all Christoffel symbols; a robot with more is refused."""


def closed_matrix_form(problem: Problem) -> list[Block]:
    """The sections from the stacked equations of all links to M, C and g."""
    problem.refuse_many_terms("its Jacobians", lambda model, q, qd, _: matrix_form(model, q, qd).J, MAX_TERMS)
    problem.refuse_many_terms("its Christoffel symbols", QUANTITIES["C"], MAX_TERMS)
    form = matrix_form(problem.model, *problem.symbols[:2])
    size = count_terms(x for row in form.J for x in row)
    if size > MAX_TERMS:
        raise too_large(problem.robot, f"its Jacobians have {size} terms")
    return [*_stacked_equations(), *_jacobians(problem, form), *_christoffel(problem)]


def _stacked_equations() -> list[Block]:
    return [
        Heading("The equations of all links at once"),
        Paragraph((
            "Twists ", Formula("V = (\\omega, v)"), " and wrenches ", Formula("W = (m, f)"), " of all links in one "
            "column each, with the screws of the joints in ", Formula("S"), ", the adjoints from parents to links in ",
            Formula("A"), ", and spatial inertias in ", Formula("G"), ":",
        )),
        Equation((Formula("V"), Formula(r"A V + S \dot{q}"))),
        Equation((Formula(r"\dot{V}"), Formula(r"A \dot{V} + \dot{A} V + S \ddot{q}"))),
        Equation((Formula("W"), Formula(r"G \dot{V} - \mathrm{ad}_V^T G V + A^T W"))),
        Equation((Formula(r"\tau"), Formula("S^T W"))),
        Paragraph((
            "A link comes after its parent, so that ", Formula("1 - A"), " has the inverse ", Formula("\\Lambda"),
            ", and all but the joints can be eliminated:",
        )),
        Equation((Formula("J"), Formula(r"\Lambda S"))),
        Equation((Formula("M"), Formula("J^T G J"))),
        Equation((Formula(r"\tau"), Formula(r"M \ddot{q} + C \dot{q} + g"))),
    ]  # fmt: skip


def _jacobians(problem: Problem, form: Any) -> list[Block]:
    """The rows of J and the block of G of every link."""
    kernel = textbook.matrix_form(problem.robot, *problem.state[:2])
    blocks: list[Block] = [
        Heading("Jacobians and inertias of the links"),
        Paragraph((
            "The twist of link ", Formula("i"), " in its own frame is ", Formula(r"V_i = J_i \dot{q}"),
            "; angular rows first, and beside the symbols the numbers at the sample state. ", Formula("G_i"),
            " is its inertia about the origin of that frame.",
        )),
    ]  # fmt: skip
    for body in problem.model.bodies:
        i, rows = body.index, slice(6 * (body.index - 1), 6 * body.index)
        J = sp.Matrix([[to_sympy(x) for x in row] for row in form.J[rows]])
        G = sp.Matrix([[to_sympy(x) for x in row[rows]] for row in form.inertia[rows]])
        numbers = [(subscript("J", i), kernel.J[rows]), (subscript("G", i), kernel.inertia[rows, rows])]
        for (name, values), matrix in zip(numbers, (J, G), strict=True):
            problem.check_number(name, matrix, values)
        blocks += [
            Heading(f"Link {i}: {body.link.name}", 2),
            Equation((Formula(subscript("J", i)), J, _numbers(kernel.J[rows]))),
            Equation((Formula(subscript("G", i)), G)),
        ]
    return blocks


def _numbers(matrix: Any) -> sp.Matrix:
    """A matrix of numbers, with rounding errors set to zero."""
    return sp.Matrix([[0 if abs(x) < ZERO_TOLERANCE else float(x) for x in row] for row in matrix])


def _christoffel(problem: Problem) -> list[Block]:
    """The Christoffel symbols that are not zero."""
    rule = (
        r"\frac{1}{2} \left(\frac{\partial M_{ij}}{\partial q_k} + \frac{\partial M_{ik}}{\partial q_j}"
        r" - \frac{\partial M_{jk}}{\partial q_i}\right)"
    )
    blocks: list[Block] = [
        Heading("Christoffel's symbols"),
        Paragraph("They make the Coriolis matrix from the mass matrix; those that are not listed are zero."),
        Equation((Formula(r"\Gamma_{ijk}"), Formula(rule))),
        Equation((Formula("C_{ij}"), Formula(r"\sum_k \Gamma_{ijk} \dot{q}_k"))),
    ]
    symbols = problem.equations.elements.christoffel
    n = len(symbols)
    if sum(count_terms(row) for plane in symbols for row in plane) > MAX_TERMS:
        raise too_large(problem.robot, "its Christoffel symbols have too many terms")
    for i in range(n):
        for j in range(n):
            for k in range(j + 1):
                x = symbols[i][j][k]
                if not is_zero(x) and to_sympy(x) != 0:
                    names = [f"\\Gamma_{{{i + 1}{a + 1}{b + 1}}}" for a, b in dict.fromkeys([(k, j), (j, k)])]
                    blocks.append(Equation((*(Formula(name) for name in names), to_sympy(x))))
    return blocks
