"""The derivation in closed matrix form: stacked matrices, Jacobians of the links, and both Coriolis matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from chainrule.algorithms.matrix_form import StackedMatrices, matrix_form
from chainrule.core import results
from chainrule.dynamics import textbook
from chainrule.dynamics.dynamics import coriolis_matrix
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.ring import Element, to_matrix, to_sympy
from chainrule.symbolic.closed_form.matrix_form import adjoint, link_rows, stacks_in_blocks
from chainrule.symbolic.closed_form.size_estimate import QUANTITIES
from chainrule.symbolic.derivations.latex_names import subscript
from chainrule.symbolic.derivations.problem import DerivationProblem, number_list, number_matrix
from chainrule.symbolic.derivations.rules import rule
from chainrule.symbolic.derivations.wrenches import virtual_work, wrenches_of_links
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph, TableBlock


def closed_matrix_form(problem: DerivationProblem) -> list[Block]:
    """The sections from the stacked equations of all links to M, C and g."""
    problem.estimate_terms("its stacked matrices", lambda model, q, qd, _: _stacks(matrix_form(model, q, qd)))
    problem.estimate_terms("its Christoffel symbols", QUANTITIES["C"])
    form = matrix_form(problem.model, *problem.symbols[:2])
    problem.limit_terms("its stacked matrices", _stacks(form))
    kernel = textbook.matrix_form(problem.frictionless, *problem.state, **problem.loads)
    return [
        *_stacked_equations(form, is_loaded=bool(problem.equations.wrenches)),
        *_stacked_matrices(problem, form, kernel),
        *_jacobians(problem, form, kernel),
        *wrenches_of_links(problem),
        *_vectors(problem, kernel),
        *_coriolis(problem, form, kernel),
        *_christoffel(problem),
        *_difference(problem, form),
        *virtual_work(problem),
    ]


def _stacks(form: StackedMatrices) -> list[Any]:
    """The matrices that are shown."""
    return [form.L, form.A_dot, form.J, form.C]


def _stacked_equations(form: StackedMatrices, *, is_loaded: bool) -> list[Block]:
    moving = _varying_screws(form)
    load = r" - W_{\mathrm{ext}}" if is_loaded else ""
    words = Paragraph((
        "In ", Formula(r"W_{\mathrm{ext}}"), " are the wrenches on the links, that of the end-effector on its "
        "surroundings with the opposite sign; they take the torques ", Formula(r"-J^T W_{\mathrm{ext}}"), ".",
    ))  # fmt: skip
    rate = r" + \dot{S} \dot{q}" if moving else ""
    inner = r"\left(\dot{A} J + \dot{S}\right)" if moving else r"\dot{A} J"
    return [
        Heading("The equations of all links at once"),
        Paragraph((
            "Twists ", Formula("V = (\\omega, v)"), " and wrenches ", Formula("W = (m, f)"), " of all links in one "
            "column each, with the screws of the joints in ", Formula("S"), ", the adjoints from parents to links in ",
            Formula("A"), ", and spatial inertias in ", Formula("G"), ". Gravity is the acceleration ",
            Formula(r"\dot{V}_0"), " that the links on the base get from it:",
        )),
        rule("V", r"A V + S \dot{q}"),
        rule(r"\dot{V}", rf"A \dot{{V}} + \dot{{A}} V + S \ddot{{q}}{rate} + \dot{{V}}_0"),
        rule("W", r"G \dot{V} - \mathrm{ad}_V^T G V + A^T W" + load),
        rule(r"\tau", "S^T W"),
        Paragraph((
            "A link comes after its parent, so that ", Formula("1 - A"), " has the inverse ", Formula("L"),
            ", and all but the joints can be eliminated:",
        )),
        rule("V", r"L S \dot{q}"),
        rule(r"\dot{V}", rf"L \left(\dot{{A}} V + S \ddot{{q}}{rate} + \dot{{V}}_0\right)"),
        rule("W", rf"L^T \left(G \dot{{V}} - \mathrm{{ad}}_V^T G V{load}\right)"),
        rule("J", "L S"),
        rule("M", "J^T G J"),
        rule("C", rf"J^T G L {inner} - J^T \mathrm{{ad}}_V^T G J"),
        rule("g", r"J^T G L \dot{V}_0"),
        rule(r"\tau", r"M \ddot{q} + C \dot{q} + g" + (r" - J^T W_{\mathrm{ext}}" if is_loaded else "")),
        *([words] if is_loaded else []),
        Paragraph("Rotors, springs and friction are added to that: rotors on the diagonal of M."),
    ]  # fmt: skip


def _varying_screws(form: StackedMatrices) -> bool:
    """Whether the screws of some joint move in the frame of its link, as those of universal joints do."""
    return any(not is_zero(x) and to_sympy(x) != 0 for row in form.S_dot for x in row)


def _stacked_matrices(problem: DerivationProblem, form: StackedMatrices, kernel: results.MatrixForm) -> list[Block]:
    """The matrices S, A, L and A-dot in blocks, and the blocks in symbols."""
    bodies, model = problem.model.bodies, problem.model
    carriers = [(body.index, other.index) for body in bodies for other in model.ancestors(body.index)[:-1]]
    parents = [(body.index, body.parent) for body in bodies if body.parent]
    for name in ("S", "A", "L", "A_dot"):
        problem.check_number(name, to_matrix(getattr(form, name)), getattr(kernel, name))
    blocks: list[Block] = [Heading("The stacked matrices"), *stacks_in_blocks(model)]
    for body in bodies:
        own = [row[body.first_v : body.first_v + body.joint.kind.nv] for row in form.S[link_rows(body.index)]]
        blocks.append(Equation((Formula(subscript("S", body.index)), to_matrix(own))))
    for i, j in carriers:
        blocks.append(Equation((Formula(adjoint(i, j)), to_matrix(_block(form.L, i, j)))))
    for i, j in parents:
        blocks.append(Equation((Formula(adjoint(i, j, dot=True)), to_matrix(_block(form.A_dot, i, j)))))
    return blocks


def _block(rows: Sequence[Sequence[Any]], i: int, j: int) -> list[Sequence[Any]]:
    return [row[link_rows(j)] for row in rows[link_rows(i)]]


def _jacobians(problem: DerivationProblem, form: StackedMatrices, kernel: results.MatrixForm) -> list[Block]:
    """The rows of J and the block of G of every link."""
    blocks: list[Block] = [
        Heading("Jacobians and inertias of the links"),
        Paragraph((
            "The twist of link ", Formula("i"), " in its own frame is ", Formula(r"V_i = J_i \dot{q}"),
            "; angular rows first, and beside the symbols the numbers at the sample state. ", Formula("G_i"),
            " is its inertia about the origin of that frame.",
        )),
    ]  # fmt: skip
    for body in problem.model.bodies:
        i, rows = body.index, link_rows(body.index)
        J, G = to_matrix(form.J[rows]), to_matrix(_block(form.inertia, i, i))
        problem.check_number(subscript("J", i), J, kernel.J[rows])
        problem.check_number(subscript("G", i), G, kernel.inertia[rows, rows])
        blocks += [
            Heading(f"Link {i}: {body.link.name}", 2),
            Equation((Formula(subscript("J", i)), J, number_matrix(kernel.J[rows]))),
            Equation((Formula(subscript("G", i)), G)),
        ]
    return blocks


def _vectors(problem: DerivationProblem, kernel: results.MatrixForm) -> list[Block]:
    """The stacked vectors at the sample state, link by link."""
    stacks = [x for x in (kernel.V, kernel.V_dot, kernel.W) if x is not None]
    rows = tuple(
        (str(body.index), body.link.name, *(number_list(x[link_rows(body.index)]) for x in stacks))
        for body in problem.model.bodies
    )
    header = ("link", "name", Formula("V"), Formula(r"\dot{V}"), Formula("W"))
    return [Paragraph("The stacked vectors at the sample state, in the frames of the links:"), TableBlock(header, rows)]


def _coriolis(problem: DerivationProblem, form: StackedMatrices, kernel: results.MatrixForm) -> list[Block]:
    """The Coriolis matrix of the stacked matrices."""
    return [
        Heading("The Coriolis matrix"),
        Paragraph("From the stacked matrices:"),
        Equation((Formula("C"), to_matrix(form.C))),
        problem.numbers(problem.matrix_quantities("C", to_matrix(form.C), kernel.C, "/s")),
    ]


def _christoffel(problem: DerivationProblem) -> list[Block]:
    """The Christoffel symbols that are not zero."""
    symbol = (
        r"\frac{1}{2} \left(\frac{\partial M_{ij}}{\partial q_k} + \frac{\partial M_{ik}}{\partial q_j}"
        r" - \frac{\partial M_{jk}}{\partial q_i}\right)"
    )
    blocks: list[Block] = [
        Heading("Christoffel's symbols"),
        Paragraph((
            "They make another Coriolis matrix, ", Formula(r"C_{\Gamma}"), ", from the mass matrix; those that are not "
            "listed are zero.",
        )),
        rule(r"\Gamma_{ijk}", symbol),
        rule(r"\left(C_{\Gamma}\right)_{ij}", r"\sum_k \Gamma_{ijk} \dot{q}_k"),
    ]  # fmt: skip
    symbols = problem.equations.elements.christoffel
    n = len(symbols)
    problem.limit_terms("its Christoffel symbols", symbols)
    for i in range(n):
        for j in range(n):
            for k in range(j + 1):
                x = symbols[i][j][k]
                if not is_zero(x) and to_sympy(x) != 0:
                    names = [f"\\Gamma_{{{i + 1}{a + 1}{b + 1}}}" for a, b in dict.fromkeys([(k, j), (j, k)])]
                    blocks.append(Equation((*(Formula(name) for name in names), to_sympy(x))))
    return blocks


def _without_rounding(x: Any, largest: float) -> Any:
    """A difference without the rounding errors of terms of that size."""
    return x.prune(largest) if isinstance(x, Element) else x


def _difference(problem: DerivationProblem, form: StackedMatrices) -> list[Block]:
    """Christoffel's matrix, and how the other one differs from it."""
    q, qd, _ = problem.state
    entries = problem.equations.elements.C
    pairs = [list(zip(*rows, strict=True)) for rows in zip(form.C, entries, strict=True)]
    sizes = [abs(c) for row in form.C for x in row if isinstance(x, Element) for c in x.terms.values()]
    difference = to_matrix([[_without_rounding(a - b, max(sizes, default=0.0)) for a, b in row] for row in pairs])
    rates = sp.Matrix(problem.equations.qd)
    name = r"\left(C_{\Gamma}\right)"
    kernel = coriolis_matrix(problem.robot, q, qd)
    for C in (to_matrix(form.C), problem.equations.C):
        problem.check_number("C qd", C * rates, kernel @ qd)
    blocks: list[Block] = [
        Equation((Formula(r"C_{\Gamma}"), problem.equations.C)),
        problem.numbers(problem.matrix_quantities(name, to_matrix(entries), kernel, "/s")),
    ]
    if difference.is_zero_matrix:
        same = Paragraph("For this robot, that of the stacked matrices is the same one.")
        return [*blocks, same, rule("C", r"C_{\Gamma}")]
    return [
        *blocks,
        Paragraph((
            "Both give the same torques ", Formula(r"C \dot{q} = C_{\Gamma} \dot{q}"), ", and so the same motion. They "
            "are different matrices: only ", Formula(r"\dot{M} - 2 C_{\Gamma}"), " is skew-symmetric, which proofs of "
            "stability use. Where they differ:",
        )),
        Equation((Formula(r"C - C_{\Gamma}"), difference)),
        rule(r"\left(C - C_{\Gamma}\right) \dot{q}", "0"),
    ]  # fmt: skip
