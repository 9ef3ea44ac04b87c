"""General equations of a derivation, before a robot's own: rules, and the kinds of joints that they are for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chainrule.model import Body
from chainrule.model.joints import Screw
from chainrule.spatial import Vector
from chainrule.symbolic.derivations.problem import DerivationProblem, Quantity
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading

TURNS, SLIDES, OTHER = "turns", "slides", "other"


def rule(name: str, formula: str, unit: str = "") -> Equation:
    """A general equation in LaTeX."""
    return Equation((Formula(name), Formula(formula)), unit)


def kinds_of_motion(bodies: Iterable[Body]) -> set[str]:
    """Whether joints turn about their axes, slide along them, or are other ones."""
    return {_kind_of_motion(body) for body in bodies}


def _kind_of_motion(body: Body) -> str:
    kind = body.joint.kind
    if not isinstance(kind, Screw) or body.joint.mimic:
        return OTHER
    if not kind.turns:
        return SLIDES
    return TURNS if kind.linear == Vector.zero() else OTHER


def link_section(problem: DerivationProblem, body: Body, quantities: Sequence[Quantity]) -> list[Block]:
    """The quantities of a link: a heading, their equations, and their numbers beside those of the kernels."""
    return [Heading(f"Link {body.index}: {body.link.name}", 2), *quantities_with_numbers(problem, quantities)]


def quantities_with_numbers(problem: DerivationProblem, quantities: Sequence[Quantity]) -> list[Block]:
    """Equations of quantities, and their numbers beside those of the kernels."""
    return [*(Equation((Formula(x.name), x.expression), x.unit) for x in quantities), problem.numbers(quantities)]
