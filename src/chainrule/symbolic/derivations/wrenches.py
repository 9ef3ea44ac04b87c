"""The wrench of the tip and those on links in derivations: in the axes of their links, and by virtual work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from chainrule.algorithms.loads import into_frame
from chainrule.core.derived import merged_model
from chainrule.dynamics.dynamics import static_torque
from chainrule.model import Model
from chainrule.spatial import Wrench
from chainrule.symbolic.algebra.ring import to_sympy
from chainrule.symbolic.closed_form.wrenches import SymbolicWrench, wrenches_on_links
from chainrule.symbolic.derivations.problem import DerivationProblem, Quantity, column
from chainrule.symbolic.derivations.rules import quantities_with_numbers, rule
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph, TableBlock

TIP, EXTERNAL = r"F_{\mathrm{tip}}", r"F_{\mathrm{ext},%s}"
"""Names of the wrenches in LaTeX."""

AXES = {
    "world": "in the axes of the base, about the origin of that frame",
    "body": "in the axes of that frame, about its origin",
    "space": "in the axes of the base, about its origin",
}
"""Frame of a wrench -> what its components mean."""


def sample_wrenches(problem: DerivationProblem) -> list[Block]:
    """The table of the wrenches' components, with their numbers at the sample state."""
    wrenches = problem.equations.wrenches
    if not wrenches:
        return []
    rows = tuple(
        (entry.symbol, f"{wrench.values[entry.symbol]:.6g}", entry.unit, _whose(wrench))
        for wrench in wrenches
        for entry in wrench.entries
    )
    text = f"Wrenches of the sample state, {AXES[wrenches[0].frame]}:"
    return [Paragraph(text), TableBlock(("component", "value", "unit", "of"), rows)]


def _whose(wrench: SymbolicWrench) -> str:
    return f"{wrench.link} on its surroundings" if wrench.is_of_tip else f"the surroundings on {wrench.link}"


def wrenches_of_links(problem: DerivationProblem, *, in_parts: bool = False) -> list[Block]:
    """The wrench of the tip in the frame of the tip, and the one on each link in the frame of the link.

    `in_parts` names moments n and forces f apart.
    """
    wrenches = problem.equations.wrenches
    if not wrenches:
        return []
    quantities: list[Quantity] = []
    for wrench in wrenches:
        if wrench.is_of_tip:
            F = into_frame(problem.model, problem.symbols[0], wrench.link, wrench.on(problem.ring), wrench.frame)
            number = into_frame(*_at_sample(problem), wrench.link, Wrench.of(wrench.numbers), wrench.frame)
            quantities += _quantities(TIP, F, number, in_parts=in_parts)
    others = [wrench for wrench in wrenches if not wrench.is_of_tip]
    acting = wrenches_on_links(problem.model, problem.ring, others, problem.symbols[0])
    numbers = problem.wrenches_at_sample(others)
    for index, F in sorted(acting.items()):
        quantities += _quantities(EXTERNAL % index, F, numbers[index], in_parts=in_parts)
    tip = Formula(r"n_{\mathrm{tip}}, f_{\mathrm{tip}}" if in_parts else TIP)
    own = Formula(r"n_{\mathrm{ext},i}, f_{\mathrm{ext},i}" if in_parts else EXTERNAL % "i")
    return [
        Heading("Wrenches", 2),
        Paragraph((
            "What the end-effector applies to its surroundings, ", tip, ", in the end-effector's own frame, and what "
            "these apply to link ", Formula("i"), ", ", own, ", in the frame of the link:",
        )),
        *quantities_with_numbers(problem, quantities),
    ]  # fmt: skip


def _at_sample(problem: DerivationProblem) -> tuple[Model, list[float]]:
    """The model in numbers, and the sample configuration."""
    return merged_model(problem.frictionless), [float(x) for x in problem.state[0]]


def _quantities(name: str, F: Wrench, number: Wrench, *, in_parts: bool) -> list[Quantity]:
    values = [float(x) for x in number]
    if not in_parts:
        return [Quantity(name, column(F), "N m, N", values)]
    return [
        Quantity(name.replace("F", "n", 1), column(F.moment), "N m", values[:3]),
        Quantity(name.replace("F", "f", 1), column(F.force), "N", values[3:]),
    ]


def terms_of_wrenches(problem: DerivationProblem) -> tuple[str, str]:
    """Names of the wrench of the tip and of the one on link i, empty where there is none."""
    wrenches = problem.equations.wrenches
    tip = any(wrench.is_of_tip for wrench in wrenches)
    links = any(not wrench.is_of_tip for wrench in wrenches)
    return (TIP if tip else "", EXTERNAL % "i" if links else "")


def virtual_work(problem: DerivationProblem) -> list[Block]:
    """The section about the torques that the wrenches take, by virtual work."""
    wrenches = problem.equations.wrenches
    if not wrenches:
        return []
    blocks: list[Block] = [
        Heading("Torques of the wrenches"),
        Paragraph((
            "By virtual work, the end-effector applies a wrench ", Formula("F"), " to its surroundings with the "
            "torques ", Formula("J^T F"), ", and a wrench ", Formula("W_i"), " on link ", Formula("i"), " saves ",
            Formula("J_i^T W_i"), "; Jacobians are in the frame of their wrench:",
        )),
    ]  # fmt: skip
    on_links = [wrench for wrench in wrenches if not wrench.is_of_tip]
    for wrench in wrenches:
        k = 0 if wrench.is_of_tip else on_links.index(wrench) + 1
        entries = wrench.torque(problem.model, problem.ring, problem.symbols[0])
        kernel = wrench.sign * static_torque(
            problem.merged, problem.state[0], list(wrench.numbers), wrench.link, frame=wrench.frame
        )
        name = "J^T F" if wrench.is_of_tip else f"-J_{{{k}}}^T W_{{{k}}}"
        blocks += [
            Heading(f"{_whose(wrench)[:1].upper()}{_whose(wrench)[1:]}", 2),
            rule("F" if wrench.is_of_tip else f"W_{{{k}}}", _components(wrench.components)),
            Equation((Formula(name), column(entries)), "N m or N"),
            problem.numbers(_entries(problem, entries, kernel)),
        ]
    return blocks


def _components(components: Sequence[Any]) -> str:
    return r"\left(" + ", ".join(sp.latex(x) for x in components) + r"\right)"


def _entries(problem: DerivationProblem, entries: Sequence[Any], kernel: Any) -> list[Quantity]:
    return problem.torque_quantities("Q", [to_sympy(x) for x in entries], kernel)
