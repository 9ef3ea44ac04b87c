"""The last section of every derivation: the equations of motion by their terms, with numbers."""

from __future__ import annotations

from chainrule.dynamics.dynamics import inverse_dynamics, mass_matrix, torque_terms
from chainrule.symbolic.closed_form.summary import VELOCITY_TERM, name_and_words, sum_of_terms, terms_not_zero
from chainrule.symbolic.derivations.problem import DerivationProblem, Quantity
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph


def final_equations(problem: DerivationProblem) -> list[Block]:
    """The section with the equations of motion by their terms, checked against the kernels."""
    equations, robot = problem.equations, problem.robot
    q, qd, qdd = problem.state
    terms = torque_terms(robot, q, qd, qdd)
    kernels = {
        VELOCITY_TERM: terms["centrifugal"] + terms["coriolis"], "g": terms["gravity"], r"\tau_s": terms["spring"],
        r"\tau_f": terms["friction"],
    }  # fmt: skip
    tau = inverse_dynamics(robot, q, qd, qdd, **problem.loads)
    kernels[name_and_words(equations, "external")[0]] = tau - inverse_dynamics(robot, q, qd, qdd)
    blocks: list[Block] = [
        Heading("The equations of motion"),
        Paragraph("All terms together, by their causes. Entries that are not listed are zero."),
        sum_of_terms(equations),
    ]
    quantities: list[Quantity] = []
    for name, words, matrix in terms_not_zero(equations):
        blocks += [Paragraph(f"{words}:"), Equation((Formula(name), matrix))]
        if name == "M":
            quantities += problem.matrix_quantities("M", matrix, mass_matrix(robot, q))
        else:
            letter = "Q" if matrix is equations.external else name
            quantities += problem.torque_quantities(letter, matrix, kernels[name])
    quantities += problem.torque_quantities(r"\tau", equations.tau, tau)
    return [*blocks, problem.numbers(quantities), _units(problem)]


def _units(problem: DerivationProblem) -> Paragraph:
    if problem.is_symbolic:
        return Paragraph("Units: every term of every quantity that has a unit beside it was found to have that unit.")
    return Paragraph(
        "Units: the numbers among the parameters have lost theirs; the units given beside the equations were checked "
        "by computing the robot again in pounds, feet and minutes."
    )
