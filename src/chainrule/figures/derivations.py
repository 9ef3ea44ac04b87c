"""The figures of a derivation: its robot with its symbols, and what the method speaks of, at the sample state."""

from __future__ import annotations

from chainrule.figures.figure import Figure
from chainrule.figures.free_body import free_body
from chainrule.figures.posture import Posture
from chainrule.figures.screws import screw_figure
from chainrule.figures.textbook import figure_of
from chainrule.figures.velocities import velocity_figure
from chainrule.symbolic.derivations.problem import DerivationProblem
from chainrule.symbolic.documents.blocks import Block, FigureBlock, Heading


def figure_blocks(problem: DerivationProblem, method: str) -> list[Block]:
    """The section of figures, at the sample state."""
    robot, (q, qd, qdd) = problem.robot, problem.state
    figures: list[Figure] = [figure_of(Posture.of(robot, "derivation", q, problem.equations.symbolic.choices))]
    if method == "newton-euler":
        links = [body.link.name for body in problem.model.bodies]
        figures += [free_body(problem.frictionless, q, qd, qdd, link=link, **problem.loads) for link in links]
    elif method in ("velocities", "accelerations"):
        figures.append(velocity_figure(robot, q, qd))
    elif method in ("jacobians", "rnea"):
        figures.append(screw_figure(robot, q))
    return [Heading("Figures at the sample state"), *map(FigureBlock, figures)]
