"""The derivation in twists and wrenches: forward iterations, backward iterations, torques."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from chainrule.algorithms import rnea
from chainrule.algorithms.joint_forces import drive_torque
from chainrule.algorithms.rnea import UNITS, LinkRow
from chainrule.core.link_tables import RneaTable
from chainrule.dynamics.textbook import rnea_table
from chainrule.model import Body, PosedBody
from chainrule.symbolic.algebra.ring import to_matrix, to_sympy
from chainrule.symbolic.derivations.latex_names import subscript
from chainrule.symbolic.derivations.problem import DerivationProblem, Quantity, column
from chainrule.symbolic.derivations.rules import link_section, quantities_with_numbers, rule
from chainrule.symbolic.derivations.wrenches import terms_of_wrenches, wrenches_of_links
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph

LETTERS = {"V": "V", "V_dot": r"\dot{V}", "F": "F"}


def recursion(problem: DerivationProblem) -> list[Block]:
    """The sections about screws, forward iterations, backward iterations, and torques."""
    problem.estimate_terms("its twists and wrenches", lambda *state: _entries(rnea.recursion(*state)))
    rows = rnea.recursion(problem.model, *problem.symbols, problem.acting)
    problem.limit_terms("its twists and wrenches", _entries(rows))
    table = rnea_table(problem.frictionless, *problem.state, **problem.loads)
    bodies = problem.model.at(problem.symbols[0])
    blocks: list[Block] = [Heading("Screws, inertias and poses"), *_geometry_rule(problem)]
    for body in bodies:
        blocks += _geometry(problem, body, table)
    blocks += [Heading("Forward iterations: from the base to the tips"), *_forward_rule(problem, bodies)]
    for body, row in zip(bodies, rows, strict=True):
        blocks += _link(problem, body.body, row, table, ("V", "V_dot"))
    blocks += [Heading("Backward iterations: from the tips to the base"), *_backward_rule(problem)]
    blocks += wrenches_of_links(problem)
    for body, row in list(zip(bodies, rows, strict=True))[::-1]:
        blocks += _link(problem, body.body, row, table, ("F",))
    return [*blocks, *_torques(problem, bodies, rows, table)]


def _entries(rows: Sequence[LinkRow]) -> list[Any]:
    """All entries of the twists, accelerations and wrenches."""
    return [x for row in rows for name in UNITS for x in getattr(row, name)]


def _geometry_rule(problem: DerivationProblem) -> list[Block]:
    several = any(body.joint.kind.nv > 1 for body in problem.model.bodies)
    note = Paragraph("A joint with several coordinates has the product of such exponentials, the last one first.")
    return [
        Paragraph((
            "Joint ", Formula("i"), " has the screw ", Formula("A_i"), " in the frame of its link ", Formula("i"),
            ", whose spatial inertia about the origin of that frame is ", Formula("G_i"), "; the frame of the parent ",
            Formula("p"), " has there the pose ", Formula("T_{i,p}"), ", which at home is ", Formula("M_{i,p}"), ":",
        )),
        rule("T_{i,p}", r"e^{-\left[A_i\right] q_i} \, M_{i,p}"),
        *([note] if several else []),
    ]  # fmt: skip


def _geometry(problem: DerivationProblem, body: PosedBody, table: RneaTable) -> list[Block]:
    """M, A, G and T of a link."""
    i, p = body.index, body.parent
    kind = body.body.joint.kind
    home = body.body.joint.origin * kind.transform([0] * kind.nq)
    T = to_matrix(body.T.inverse().rows())
    problem.check_number(f"T_{{{i},{p}}}", T, table.T[i - 1])
    screws = [column(S) for _, S in body.S]
    return [
        Heading(f"Link {i}: {body.body.link.name}", 2),
        Equation((Formula(f"M_{{{i},{p}}}"), to_matrix(home.inverse().rows()))),
        Equation((Formula(subscript("A", i)), sp.Matrix.hstack(*screws))),
        Equation((Formula(subscript("G", i)), to_matrix(body.inertia.matrix()))),
        Equation((Formula(f"T_{{{i},{p}}}"), T)),
    ]


def _forward_rule(problem: DerivationProblem, bodies: Sequence[PosedBody]) -> list[Block]:
    acceleration = r"\mathrm{Ad}_{T_{i,p}} \dot{V}_p + \mathrm{ad}_{V_i} A_i \dot{q}_i + A_i \ddot{q}_i"
    rates = [S for body in bodies for S in body.S_rate(problem.symbols[1])]
    varying = any(to_sympy(x) != 0 for S in rates for x in S)
    base = sp.Matrix([0, 0, 0, *(-to_sympy(x) for x in problem.model.gravity)])
    return [
        Paragraph((
            "The base is at rest, and gravity is an acceleration ", Formula(r"\dot{V}_0 = \left(0, -g_0\right)"),
            " of it. Twists and their rates are in the frames of the links, angular part first:",
        )),
        Equation((Formula(r"\dot{V}_0"), base), "rad/s^2, m/s^2"),
        rule("V_i", r"\mathrm{Ad}_{T_{i,p}} V_p + A_i \dot{q}_i", "rad/s, m/s"),
        rule(r"\dot{V}_i", acceleration + (r" + \dot{A}_i \dot{q}_i" if varying else ""), "rad/s^2, m/s^2"),
    ]  # fmt: skip


def _backward_rule(problem: DerivationProblem) -> list[Block]:
    tip, own = terms_of_wrenches(problem)
    wrench = r"\sum_k \mathrm{Ad}_{T_{k,i}}^T F_k + G_i \dot{V}_i - \mathrm{ad}_{V_i}^T G_i V_i"
    wrench += f" - {own}" if own else ""
    return [
        Paragraph((
            "Through joint ", Formula("i"), " goes the wrench that the motion of link ", Formula("i"), " takes, and "
            "those of the links ", Formula("k"), " that it carries. An end-effector that applies the wrench ",
            Formula(r"F_{\mathrm{tip}}"), " to its surroundings counts as one more such link, with ",
            Formula(r"F_{n+1} = F_{\mathrm{tip}}"), ":" if tip else "; here it is zero:",
        )),
        rule("F_i", wrench, "N m, N"),
    ]  # fmt: skip


def _link(problem: DerivationProblem, body: Body, row: LinkRow, table: RneaTable, names: Sequence[str]) -> list[Block]:
    i = body.index
    quantities = [
        Quantity(subscript(LETTERS[name], i), column(getattr(row, name)), UNITS[name], getattr(table, name)[i - 1])
        for name in names
    ]
    return link_section(problem, body, quantities)


def _torques(
    problem: DerivationProblem, bodies: Sequence[PosedBody], rows: Sequence[LinkRow], table: RneaTable
) -> list[Block]:
    """Torques of the joints: wrenches along screws, with rotors and springs."""
    tau = drive_torque(problem.model, *problem.symbols)
    for body, row in zip(bodies, rows, strict=True):
        for k, S in body.S:
            tau[k] = tau[k] + S.dot(row.F)
    return [
        Heading("Joint torques and forces"),
        Paragraph(
            "The power of a joint is that of its wrench, so that the motor supplies the part along the screw; rotors "
            "and springs add theirs, and friction follows below."
        ),
        rule(r"\tau_i", "F_i^T A_i", "N m or N"),
        *quantities_with_numbers(problem, problem.torque_quantities(r"\tau", column(tau), table.tau)),
    ]
