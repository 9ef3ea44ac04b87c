"""The derivation of the links' Jacobians by the product of exponentials: screws, exponentials, columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from chainrule.algorithms.exponentials import Exponentials, Step, exponentials
from chainrule.arguments import Array
from chainrule.core.exponential_table import ExponentialTable
from chainrule.kinematics.textbook import exponential_table
from chainrule.model import Model
from chainrule.spatial import Twist
from chainrule.symbolic.algebra.ring import to_matrix, to_sympy
from chainrule.symbolic.derivations.latex_names import subscript
from chainrule.symbolic.derivations.problem import DerivationProblem, column, number_matrix
from chainrule.symbolic.derivations.rules import rule
from chainrule.symbolic.derivations.wrenches import virtual_work
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph


def link_jacobians(problem: DerivationProblem) -> list[Block]:
    """The sections about screws at home, exponentials with their products and columns, and Jacobians of the links."""
    problem.estimate_terms("its exponentials", lambda model, q, *_: _entries_of_steps(model, q))
    problem.limit_terms("its exponentials", _entries_of_steps(problem.model, problem.symbols[0]))
    found = exponentials(problem.model, problem.symbols[0])
    table = exponential_table(problem.merged, problem.state[0])
    return [
        *_screws(problem, found, table),
        *_exponentials(problem, found.steps, table),
        *_jacobians(problem, found, table),
        *virtual_work(problem),
    ]


def _entries_of_steps(model: Model, q: Sequence[Any]) -> list[Any]:
    steps = exponentials(model, q).steps
    return [x for step in steps for T in (step.exponential, step.product) for row in T.rows() for x in row] + [
        x for step in steps for x in step.column
    ]


def _screws(problem: DerivationProblem, found: Exponentials, table: ExponentialTable) -> list[Block]:
    blocks: list[Block] = [
        Heading("Screws and poses at home"),
        Paragraph((
            "With all coordinates zero, joint ", Formula("i"), " has the screw ", Formula("S_i"), " in the axes of the "
            "base, angular part first, and link ", Formula("i"), " the pose ", Formula(r"H_i \left(0\right)"), ":",
        )),
    ]  # fmt: skip
    for k, step in enumerate(found.steps):
        S = column(step.S)
        problem.check_number(subscript("S", k + 1), S, table.S[k])
        blocks.append(Equation((Formula(subscript("S", k + 1)), S.T)))
    for row, name in enumerate(table.links):
        index, offset = problem.model.locate(name)
        H = to_matrix((found.home[index] * offset).rows())
        problem.check_number("H", H, table.home[row])
        label = index if name in problem.model.index_of else "e"
        blocks.append(Equation((Formula(rf"H_{{{label}}} \left(0\right)"), H)))
    return blocks


def _exponentials(problem: DerivationProblem, steps: Sequence[Step], table: ExponentialTable) -> list[Block]:
    blocks: list[Block] = [
        Heading("Exponentials"),
        Paragraph((
            "The exponential of each screw; the product ", Formula("E_i"), " of those of all joints from the base to "
            "this one, ", Formula("p"), " being the joint before it; and the column ", Formula("J_i"),
            ", the screw moved by the product before it:",
        )),
        rule("E_i", r"E_p \, e^{\left[S_i\right] q_i}"),
        rule("J_i", r"\mathrm{Ad}_{E_p} S_i"),
    ]  # fmt: skip
    for k, step in enumerate(steps):
        i, theta = k + 1, to_sympy(step.theta)
        coordinate = sp.latex(theta) if theta.is_Symbol else rf"\left({sp.latex(theta)}\right)"
        power = f"\\left[S_{{{i}}}\\right] {coordinate}"
        shown = [
            (f"e^{{{power}}}", to_matrix(step.exponential.rows()), table.exponentials[k]),
            (subscript("E", i), to_matrix(step.product.rows()), table.products[k]),
            (subscript("J", i), column(step.column), table.columns[k]),
        ]
        blocks += [Heading(f"Joint {i}: {table.joints[k]}", 2), *_beside_numbers(problem, shown)]
    return blocks


def _jacobians(problem: DerivationProblem, found: Exponentials, table: ExponentialTable) -> list[Block]:
    blocks: list[Block] = [
        Heading("Poses and Jacobians of the links"),
        Paragraph((
            "A link, or a frame ", Formula("e"), " on it, has the columns of the joints that carry it, and zeros for "
            "the others. ", Formula(r"{}^0 J_{(i)}"), " gives its twist in the base frame, ", Formula(r"{}^i J_{(i)}"),
            " its twist in its own frame:",
        )),
        rule(r"H_i", r"E_i \, H_i \left(0\right)"),
        rule(r"{}^i J_{(i)}", r"\mathrm{Ad}_{H_i^{-1}} \, {}^0 J_{(i)}"),
    ]  # fmt: skip
    for row, name in enumerate(table.links):
        index, offset = problem.model.locate(name)
        i = index if name in problem.model.index_of else "e"
        H = found.pose(index, offset)
        space = found.jacobian(problem.model, index)
        own = [H.inv * S for S in space]
        shown = [
            (subscript("H", i), to_matrix(H.rows()), table.poses[row]),
            (f"{{}}^0 J_{{({i})}}", _columns(space), table.J[row]),
            (f"{{}}^{i} J_{{({i})}}", _columns(own), table.J_body[row]),
        ]
        heading = f"Link {i}: {name}" if i == index else f"Frame e on link {index}: {name}"
        blocks += [Heading(heading, 2), *_beside_numbers(problem, shown)]
    return blocks


def _beside_numbers(problem: DerivationProblem, shown: Sequence[tuple[str, Any, Array]]) -> list[Block]:
    """Names and matrices with the numbers of the kernels beside them, with which they must agree."""
    for name, expression, numbers in shown:
        problem.check_number(name, expression, numbers)
    return [Equation((Formula(name), expression, number_matrix(numbers))) for name, expression, numbers in shown]


def _columns(columns: Sequence[Twist]) -> Any:
    return to_matrix(list(zip(*(list(S) for S in columns), strict=True)))
