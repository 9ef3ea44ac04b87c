"""The derivation from the parent-child DAE to the ODE: links and joints apart, then unknowns eliminated."""

from __future__ import annotations

from typing import Any

from chainrule.dynamics.dae import blocks as blocks_of
from chainrule.dynamics.dynamics import bias, mass_matrix
from chainrule.dynamics.textbook import matrix_form as kernel_matrix_form
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.ring import to_matrix
from chainrule.symbolic.closed_form.dae import Elimination, eliminate, system_without_torque
from chainrule.symbolic.closed_form.matrix_form import link_rows
from chainrule.symbolic.derivations.latex_names import subscript
from chainrule.symbolic.derivations.problem import DerivationProblem
from chainrule.symbolic.derivations.wrenches import terms_of_wrenches, wrenches_of_links
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph, TableBlock


def parent_child(problem: DerivationProblem) -> list[Block]:
    """The sections about the equations of links and joints, their index, and the way to the ODE."""
    q, qd, _ = problem.symbols

    def entries(model: Any, q: Any, qd: Any, _: Any) -> list[Any]:
        return [x for row in eliminate(model, system_without_torque(model, q, qd)).J for x in row]

    problem.estimate_terms("the elimination of its DAE", entries)
    found = eliminate(problem.model, system_without_torque(problem.model, q, qd, problem.acting))
    problem.limit_terms("the elimination of its DAE", [found.A, found.J, found.dV0, found.h])
    start = [*_links_and_joints(problem), *wrenches_of_links(problem)]
    return [*start, *_matrices(problem, found), *_index(problem), *_elimination(problem, found)]


def _links_and_joints(problem: DerivationProblem) -> list[Block]:
    tip, own = terms_of_wrenches(problem)
    last = Paragraph((
        "The end-effector gives its surroundings ", Formula(r"F_{\mathrm{tip}}"), ", which counts as the wrench of one "
        "more link that it carries.",
    ))  # fmt: skip
    balance = r"\mathrm{ad}_{V_i}^T G_i V_i + W_i - \sum_c \mathrm{Ad}_{c}^T W_c" + (f" + {own}" if own else "")
    return [
        Heading("Links and joints apart"),
        Paragraph((
            "A link has the twist ", Formula(r"V_i = (\omega, v)"), " and the inertia ", Formula(r"G_i"),
            ", the joint between its parent ", Formula("p"), " and it the screws ", Formula("S_i"), " and the wrench ",
            Formula("W_i = (m, f)"), " from parent to child, all in the frame of the link. Newton and Euler, with the "
            "wrenches of the links ", Formula("c"), " that it carries, which act back:",
        )),
        Equation((
            Formula(r"G_i \dot{V}_i"),
            Formula(balance),
        )),
        *([last] if tip else []),
        Paragraph(("The joint lets the link move along its screws alone, ", Formula(r"\mathrm{Ad}_i"), " being the "
                   "adjoint from the parent's frame to the link's, and its motor supplies what goes along them:")),
        Equation((Formula("V_i"), Formula(r"\mathrm{Ad}_i V_p + S_i \dot{q}_i"))),
        Equation((Formula(r"\tau_i"), Formula("S_i^T W_i"))),
        Paragraph((
            "Gravity is an acceleration of the base upwards, ", Formula(r"\dot{V}_0 = (0, -g_0)"), ". Rates of ",
            Formula("q"), " and ", Formula("V"), " are in these equations, those of ", Formula("W"), " in none: "
            "differential-algebraic equations (DAE).",
        )),
    ]  # fmt: skip


def _matrices(problem: DerivationProblem, found: Elimination) -> list[Block]:
    """The adjoint, the screws and the inertia of every link."""
    kernel = kernel_matrix_form(problem.robot, *problem.state[:2])
    blocks: list[Block] = []
    for body in problem.model.bodies:
        i, rows = body.index, link_rows(body.index)
        S = to_matrix([row[body.first_v : body.first_v + body.joint.kind.nv] for row in found.S[rows]])
        G = to_matrix([row[rows] for row in found.inertia[rows]])
        numbers = [(found.S, kernel.S, "S"), (found.inertia, kernel.inertia, r"G"), (found.A, kernel.A, "A")]
        for ours, theirs, name in numbers:
            problem.check_number(subscript(name, i), to_matrix(ours[rows]), theirs[rows])
        blocks += [Heading(f"Link {i}: {body.link.name}", 2), Equation((Formula(subscript("S", i)), S))]
        if body.parent:
            parent = slice(6 * (body.parent - 1), 6 * body.parent)
            Ad = to_matrix([row[parent] for row in found.A[rows]])
            blocks.append(Equation((Formula(subscript(r"\mathrm{Ad}", i)), Ad)))
        blocks.append(Equation((Formula(subscript(r"G", i)), G)))
    return blocks


def _index(problem: DerivationProblem) -> list[Block]:
    """How often the joints must be differentiated, and the system that this leads to."""
    links, n = len(problem.model.bodies), problem.model.nv
    rows, columns = blocks_of(problem.model, ())
    places = system_without_torque(problem.model, *problem.symbols[:2]).entries
    rate = r"\mathrm{Ad}_i \dot{V}_p + S_i \ddot{q}_i + \mathrm{ad}_{V_i} S_i \dot{q}_i + \dot{S}_i \dot{q}_i"
    table = [(row.name, *("#" if _meets(places, row, column) else "" for column in columns)) for row in rows]
    return [
        Heading("Index"),
        Paragraph(
            f"{12 * links + n} equations. The joints tie velocities to each other, and the wrenches are in no equation "
            "of theirs: to find a rate of every unknown, the joints must be differentiated twice, and the DAE has the "
            "index 2. Differentiated once, they have rates:"
        ),
        Equation((
            Formula(r"\dot{V}_i"),
            Formula(rate),
        )),
        Paragraph((
            "Together with Newton-Euler and the torques, they are one linear system for ", Formula(r"\dot{V}"), ", ",
            Formula("W"), " and ", Formula(r"\ddot{q}"), ", of index 1: its matrix is regular. Blocks that are not "
            "empty:",
        )),
        TableBlock(("", *(column.name for column in columns)), tuple(table)),
    ]  # fmt: skip


def _elimination(problem: DerivationProblem, found: Elimination) -> list[Block]:
    """From the DAE to the ODE."""
    robot, (q, qd, _) = problem.frictionless, problem.state
    M, h, J, dV0 = (to_matrix(rows) for rows in (found.M, found.h, found.J, found.dV0))
    quantities = problem.matrix_quantities("M", M, mass_matrix(robot, q))
    quantities += problem.torque_quantities("h", h, bias(robot, q, qd, **problem.loads))
    problem.check_number("J", J, kernel_matrix_form(problem.robot, q, qd).J)
    dofs = [dof for joint in problem.model.joints for dof in joint.dofs]
    rotors, springs = (any(not is_zero(getattr(dof, name)) for dof in dofs) for name in ("rotor", "stiffness"))
    own = (r" + M_r \ddot{q}" if rotors else "") + (r" + \tau_s" if springs else "")
    rest_of_links = r"J^T \left(G \dot{V}_{00} + p\right)"
    stacked = r"L^T \left(G \dot{V} + p\right)"
    return [
        Heading("From the DAE to the ODE"),
        Paragraph((
            "All links in one column, with the adjoints in ", Formula("A"), ". A link comes after its parent, so that ",
            Formula(r"L = (1 - A)^{-1}"), " is the sum of the powers of ", Formula("A"), ". First, the joints "
            "give the accelerations of the links:",
        )),
        Equation((
            Formula(r"\dot{V}"), Formula(r"L S \ddot{q} + L c"), Formula(r"J \ddot{q} + \dot{V}_{00}"),
        )),
        Equation((Formula("J"), J)),
        Equation((Formula(r"\dot{V}_{00}"), dV0)),
        Paragraph(("Second, Newton and Euler give the wrenches, with ", Formula(r"p = -\mathrm{ad}_V^T G V"),
                   ", less the wrenches on the links:" if problem.acting else ":")),
        Equation((Formula("W"), Formula(stacked))),
        Paragraph(("Third, the torques leave the equations of the joints alone, an ODE", *_drives(rotors, springs))),
        Equation((Formula(r"\tau"), Formula("S^T W" + own), Formula(r"M \ddot{q} + h"))),
        Equation((Formula("M"), Formula("J^T G J" + (" + M_r" if rotors else "")), M)),
        Equation((Formula("h"), Formula(rest_of_links + (r" + \tau_s" if springs else "")), h)),
        problem.numbers(quantities),
    ]  # fmt: skip


def _drives(rotors: bool, springs: bool) -> list[Any]:
    """Words about what acts in the joints beside the links."""
    words: list[Any] = []
    if rotors:
        words += [", with the inertias of rotors ", Formula("M_r")]
    if springs:
        words += [", with the torques of springs ", Formula(r"\tau_s")]
    return [*words, ":"]


def _meets(places: Any, row: Any, column: Any) -> bool:
    return any(
        (i, j) in places
        for i in range(row.start, row.start + row.size)
        for j in range(column.start, column.start + column.size)
    )
