"""Derivations of a robot's equations of motion and velocities, as documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from chainrule.arguments import Array, flag, one_of
from chainrule.core.derived import merged_model
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ArgumentError, UnknownNameError
from chainrule.symbolic.answers.derived import Derivation
from chainrule.symbolic.closed_form.choices import Choices
from chainrule.symbolic.closed_form.summary import notation_of
from chainrule.symbolic.closed_form.wrenches import symbolic_wrenches
from chainrule.symbolic.derivations.accelerations import accelerations
from chainrule.symbolic.derivations.dae import parent_child
from chainrule.symbolic.derivations.final_equations import final_equations
from chainrule.symbolic.derivations.introduction import geometry, introduction
from chainrule.symbolic.derivations.jacobians import link_jacobians
from chainrule.symbolic.derivations.lagrange import lagrange
from chainrule.symbolic.derivations.matrix_form import closed_matrix_form
from chainrule.symbolic.derivations.newton_euler import newton_euler
from chainrule.symbolic.derivations.problem import DerivationProblem, sample_state
from chainrule.symbolic.derivations.recursion import recursion
from chainrule.symbolic.derivations.unit_check import check_in_other_units
from chainrule.symbolic.derivations.velocities import velocities
from chainrule.symbolic.derivations.worked_newton_euler import worked_newton_euler
from chainrule.symbolic.derivations.wrenches import sample_wrenches
from chainrule.symbolic.documents.blocks import Block
from chainrule.symbolic.documents.notation import NOTATIONS, Notation
from chainrule.symbolic.documents.printing import Style


class Method(NamedTuple):
    """A kind of derivation: the title of its document, and the function that writes its sections."""

    title: str
    sections: Callable[[DerivationProblem], list[Block]]
    has_masses: bool = True
    """Whether it is about the equations of motion, which it then ends with; velocities need no masses."""


METHODS: dict[str, Method] = {
    "newton-euler": Method("The Newton-Euler equations", newton_euler),
    "rnea": Method("The recursion in twists and wrenches", recursion),
    "lagrange": Method("Lagrange's equations", lagrange),
    "closed-form": Method("The equations of motion in closed matrix form", closed_matrix_form),
    "dae": Method("The differential-algebraic equations", parent_child),
    "velocities": Method("Velocities from link to link", velocities, has_masses=False),
    "accelerations": Method("Accelerations from link to link", accelerations, has_masses=False),
    "jacobians": Method("Jacobians by the product of exponentials", link_jacobians, has_masses=False),
}
"""Kinds of derivations, by the name that users give."""

IN_NUMBERS: dict[str, tuple[str, Callable[[Mechanism, tuple[Array, Array, Array]], list[Block]]]] = {
    "newton-euler-numbers": ("The Newton-Euler equations in numbers", worked_newton_euler),
}
"""Kinds that put numbers into each formula from the start, for robots of any size: title and sections."""


WITH_TWISTS = ("rnea", "closed-form", "dae", "jacobians")
"""Methods whose capital letters are twists and wrenches."""


def derivation(
    robot: Mechanism,
    method: str = "newton-euler",
    *,
    parameters: str | Mapping[Any, Any] = "symbolic",
    state: Any = None,
    symbols: Mapping[Any, Any] | None = None,
    tip_wrench: Any = None,
    external: Any = None,
    frame: str | None = None,
    notation: str = "chainrule",
    coordinates: str = "q",
    positive: bool = True,
    figures: bool = False,
) -> Derivation:
    """The equations of motion of a robot, or its velocities, derived step by step, with numbers beside the symbols.

    Numbers must agree with the robot's kernels, and units are checked.

    Parameters
    ----------
    robot
        The robot. Loops, joints with quaternions and long chains of joints are refused.
    method
        "newton-euler", in vectors link by link outward and inward; "rnea", the same in twists and wrenches;
        "lagrange", from the energies; "closed-form", from stacked matrices of all links; "dae", from links and joints
        apart; "velocities", from link to link, up to the Jacobian; "accelerations", angular and linear, from link to
        link, by matrices and by the transport theorem; "jacobians", those of the links by the product of exponentials.
        The last three need no masses. "newton-euler-numbers" is for a robot of any size: each formula,
        the numbers of the state put in, and the result.
    parameters
        "symbolic", names for masses, lengths, inertias and angles; "numeric", their numbers; or a dictionary that
        replaces some of the names by numbers.
    state
        The state (q, qd, qdd) of the numbers; by default one of round numbers within the limits.
    symbols
        Symbols of your own, by the names that they replace: {"q_1": theta, "L_1": sympy.Symbol("a")}.
    tip_wrench, external, frame
        Wrenches as of `equations`: True for symbols, names of links, or six numbers, which are those of the sample
        state. They go through every step of the recursions; the other methods have their torques by virtual work.
    figures
        Whether the robot is drawn with its symbols at the sample state, and with what the method speaks of: the free
        bodies of its links, velocities, screw axes. LaTeX has them in TikZ; other forms need the extra `plot`.
    notation, coordinates, positive
        As of `equations`: one notation and one letter throughout the document.

    >>> import chainrule as cr
    >>> print(cr.load("pendulum").derivation("lagrange").title)
    Lagrange's equations of pendulum
    """
    if not isinstance(method, str) or method not in (*METHODS, *IN_NUMBERS):
        raise UnknownNameError.of("method", method, (*METHODS, *IN_NUMBERS), "a derivation")
    if method in IN_NUMBERS:
        title, write = IN_NUMBERS[method]
        if parameters != "symbolic" or symbols is not None:
            raise ArgumentError(f"the derivation {method!r} is in numbers: it takes no parameters and no symbols")
        if not all(wrench is None for wrench in (tip_wrench, external, frame)):
            raise ArgumentError(f'the derivation {method!r} is without wrenches; take "newton-euler"')
        if flag(figures, "derivation: figures") or positive is not True:
            raise ArgumentError(f'the derivation {method!r} has no figures and no symbols; take "newton-euler"')
        one_of(NOTATIONS, notation, "notation")
        Choices.for_call(robot.model.nv, coordinates=coordinates)
        blocks = tuple(write(robot, sample_state(robot, state)))
        written = Notation.of(notation, coordinates, merged_model(robot).bodies).blocks(blocks)
        own = () if notation == "chainrule" else blocks
        return Derivation(f"{title} of {robot.name}", written, plain_blocks=own)
    title, sections, has_masses = METHODS[method]
    one_of(NOTATIONS, notation, "notation")
    choices = Choices.for_call(robot.model.nv, parameters, symbols, coordinates, positive=positive)
    wrenches = symbolic_wrenches(robot, tip_wrench, external, frame, plain=not positive)
    problem = DerivationProblem.of(robot, choices, state, with_masses=has_masses, wrenches=wrenches)
    equations = replace(problem.equations, notation=notation, coordinates=coordinates)
    check_in_other_units(problem)
    start = introduction(problem) if has_masses else geometry(problem)
    blocks = (
        *start,
        *problem.sample(),
        *sample_wrenches(problem),
        *(_figures(problem, method) if flag(figures, "derivation: figures") else ()),
        *sections(problem),
        *(final_equations(problem) if has_masses else ()),
    )
    reserved = frozenset(symbol.name for symbol in problem.equations.parameters)
    style = Style(reserved=reserved, coordinates=tuple(problem.equations.q))
    written = notation_of(equations, has_twists=method in WITH_TWISTS).blocks(blocks)
    groups = equations.symbolic.ring.groups
    own = () if notation == "chainrule" else blocks
    return Derivation(f"{title} of {robot.name}", written, style, equations.alphabet(), groups, own)


def _figures(problem: DerivationProblem, method: str) -> list[Block]:
    from chainrule.figures.derivations import figure_blocks

    return figure_blocks(problem, method)
