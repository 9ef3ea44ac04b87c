"""The derivation by Newton and Euler: outward iterations, inward iterations, torques."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainrule.algorithms import vector_form
from chainrule.algorithms.vector_form import UNITS, LinkVectors
from chainrule.dynamics.textbook import newton_euler_table
from chainrule.model import Body
from chainrule.symbolic.derivations.latex_names import link_quantity
from chainrule.symbolic.derivations.problem import DerivationProblem, Quantity, column
from chainrule.symbolic.derivations.rules import (
    OTHER,
    SLIDES,
    TURNS,
    kinds_of_motion,
    link_section,
    quantities_with_numbers,
    rule,
)
from chainrule.symbolic.derivations.worked_newton_euler import INWARD, OUTWARD, WorkedLink, substitutions, work
from chainrule.symbolic.derivations.wrenches import terms_of_wrenches, wrenches_of_links
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph


def newton_euler(problem: DerivationProblem) -> list[Block]:
    """The sections about outward iterations, inward iterations, and torques."""
    problem.estimate_terms("its Newton-Euler equations", lambda *state: _entries(vector_form.newton_euler(*state)[0]))
    rows, torques = vector_form.newton_euler(problem.model, *problem.symbols, problem.acting)
    problem.limit_terms("its Newton-Euler equations", _entries(rows))
    table = newton_euler_table(problem.frictionless, *problem.state, **problem.loads)
    bodies = problem.model.bodies
    worked = work(problem.frictionless, problem.state, **problem.loads)
    blocks: list[Block] = [Heading("Outward iterations: from the base to the tips"), *_outward_rule(bodies)]
    for body, row in zip(bodies, rows, strict=True):
        blocks += _link(problem, body, row, table, OUTWARD) + _with_numbers(worked[body.index - 1], OUTWARD)
    blocks += [Heading("Inward iterations: from the tips to the base"), *_inward_rule(problem)]
    blocks += wrenches_of_links(problem, in_parts=True)
    for body, row in list(zip(bodies, rows, strict=True))[::-1]:
        blocks += _link(problem, body, row, table, INWARD) + _with_numbers(worked[body.index - 1], INWARD)
    blocks += [Heading("Joint torques and forces"), *_torque_rule(bodies)]
    quantities = problem.torque_quantities(r"\tau", column(torques), table.tau)
    return [*blocks, *quantities_with_numbers(problem, quantities)]


def _entries(rows: Sequence[LinkVectors]) -> list[Any]:
    """All entries of the Newton-Euler table."""
    return [x for row in rows for name in UNITS for x in getattr(row, name)]


def _link(problem: DerivationProblem, body: Body, row: LinkVectors, table: object, names: Sequence[str]) -> list[Block]:
    i = body.index
    quantities = []
    for name in names:
        kernel = getattr(table, name)[i - 1]
        quantities.append(Quantity(link_quantity(name, i), column(getattr(row, name)), UNITS[name], kernel))
    return link_section(problem, body, quantities)


def _with_numbers(link: WorkedLink, names: Sequence[str]) -> list[Block]:
    return [Paragraph("With the numbers of the sample state put in:"), *substitutions(link, names, apart=False)]


def _outward_rule(bodies: Sequence[Body]) -> list[Block]:
    """The general equations for the kinds of joints of this robot."""
    carried, spun = r"R_i^T \omega_p", r"R_i^T \dot{\omega}_p"
    moved = (
        r"R_i^T \left(\dot{\omega}_p \times P_i + \omega_p \times \left(\omega_p \times P_i\right) + \dot{v}_p\right)"
    )
    blocks: list[Block] = [
        Paragraph((
            "Link ", Formula("i"), " on its parent ", Formula("p"), ". The base is at rest, and gravity is an "
            "acceleration of it upwards:",
        )),
        Equation((Formula(r"\omega_0 = \dot{\omega}_0 = 0, \quad \dot{v}_0"), Formula("-g_0"))),
    ]  # fmt: skip
    kinds = kinds_of_motion(bodies)
    if TURNS in kinds:
        turned = rf" + {carried} \times \hat{{z}}_i \dot{{q}}_i + \hat{{z}}_i \ddot{{q}}_i"
        blocks += [
            Paragraph(("A joint that turns about the axis ", Formula(r"\hat{z}_i"), ":")),
            rule(r"\omega_i", carried + r" + \hat{z}_i \dot{q}_i", "rad/s"),
            rule(r"\dot{\omega}_i", spun + turned, "rad/s^2"),
            rule(r"\dot{v}_i", moved, "m/s^2"),
        ]  # fmt: skip
    if SLIDES in kinds:
        slid = r" + 2 \omega_i \times \hat{z}_i \dot{q}_i + \hat{z}_i \ddot{q}_i"
        blocks += [
            Paragraph(("A joint that slides along the axis ", Formula(r"\hat{z}_i"), ":")),
            rule(r"\omega_i", carried, "rad/s"),
            rule(r"\dot{\omega}_i", spun, "rad/s^2"),
            rule(r"\dot{v}_i", moved + slid, "m/s^2"),
        ]
    if OTHER in kinds:
        slid = r" + 2 \left(R_i^T \omega_p\right) \times v_J + \omega_J \times v_J + \dot{v}_J"
        blocks += [
            Paragraph((
                "Any other joint, with the screws ", Formula("S_i"), " in the frame of the link: its twist and the "
                "rate of that are",
            )),
            Equation((Formula(r"\left(\omega_J, v_J\right)"), Formula(r"S_i \dot{q}_i"))),
            Equation((
                Formula(r"\left(\dot{\omega}_J, \dot{v}_J\right)"), Formula(r"S_i \ddot{q}_i + \dot{S}_i \dot{q}_i"),
            )),
            rule(r"\omega_i", carried + r" + \omega_J", "rad/s"),
            rule(r"\dot{\omega}_i", spun + rf" + {carried} \times \omega_J + \dot{{\omega}}_J", "rad/s^2"),
            rule(r"\dot{v}_i", moved + slid, "m/s^2"),
        ]  # fmt: skip
    com = r"\dot{\omega}_i \times P_{Ci} + \omega_i \times \left(\omega_i \times P_{Ci}\right) + \dot{v}_i"
    return [
        *blocks,
        Paragraph("Then the centre of mass, and what Newton and Euler say of it:"),
        rule(r"\dot{v}_{Ci}", com, "m/s^2"),
        rule("F_i", r"m_i \dot{v}_{Ci}", "N"),
        rule("N_i", r"I_i \dot{\omega}_i + \omega_i \times I_i \omega_i", "N m"),
    ]


def _inward_rule(problem: DerivationProblem) -> list[Block]:
    tip, own = terms_of_wrenches(problem)
    f, n = r"F_i + \sum_k R_k f_k", r"N_i + P_{Ci} \times F_i + \sum_k \left(R_k n_k + P_k \times R_k f_k\right)"
    f, n = (f + r" - f_{\mathrm{ext},i}", n + r" - n_{\mathrm{ext},i}") if own else (f, n)
    last = Paragraph((
        "The end-effector counts as one more such link, with ", Formula(r"f_{n+1} = f_{\mathrm{tip}}"), " and ",
        Formula(r"n_{n+1} = n_{\mathrm{tip}}"), ", what it applies to its surroundings.",
    ))  # fmt: skip
    words = "Link ", Formula("i"), " gives its motion what it takes, and every link ", Formula("k"), " that it carries:"
    return [
        Paragraph(words),
        rule("f_i", f, "N"),
        rule("n_i", n, "N m"),
        *([last] if tip else []),
    ]


def _torque_rule(bodies: Sequence[Body]) -> list[Block]:
    kinds = kinds_of_motion(bodies)
    text = (
        "The motor supplies what goes along the axis of its joint; rotors and springs add theirs, and friction follows "
        "below."
    )
    blocks: list[Block] = [Paragraph(text)]
    if TURNS in kinds:
        blocks.append(rule(r"\tau_i", r"n_i \cdot \hat{z}_i", "N m, a joint that turns"))
    if SLIDES in kinds:
        blocks.append(rule(r"\tau_i", r"f_i \cdot \hat{z}_i", "N, a joint that slides"))
    if OTHER in kinds:
        blocks.append(rule(r"\tau_i", r"S_i^T \left(n_i, f_i\right)", "N m or N"))
    return blocks
