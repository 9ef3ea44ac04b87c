"""Derivations of a robot's equations of motion, as documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chainrule.core.mechanism import Mechanism
from chainrule.errors import UnknownNameError
from chainrule.symbolic.derivations.final_equations import final_equations
from chainrule.symbolic.derivations.introduction import introduction
from chainrule.symbolic.derivations.lagrange import lagrange
from chainrule.symbolic.derivations.matrix_form import closed_matrix_form
from chainrule.symbolic.derivations.newton_euler import newton_euler
from chainrule.symbolic.derivations.problem import Problem
from chainrule.symbolic.derivations.unit_check import check_in_other_units
from chainrule.symbolic.documents.blocks import Block
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.printing import Style

METHODS: dict[str, tuple[str, Callable[[Problem], list[Block]]]] = {
    "newton-euler": ("The Newton-Euler equations", newton_euler),
    "lagrange": ("Lagrange's equations", lagrange),
    "closed-form": ("The equations of motion in closed matrix form", closed_matrix_form),
}
"""Method -> title of its document, and the function that writes its sections."""


def derive(
    robot: Mechanism,
    method: str = "newton-euler",
    parameters: str | Mapping[Any, Any] = "symbolic",
    state: Any = None,
    symbols: Mapping[Any, Any] | None = None,
) -> Document:
    """The equations of motion of a robot derived step by step, with numbers beside the symbols.

    Numbers must agree with the robot's kernels, and units are checked.

    Parameters
    ----------
    robot
        The robot. Loops, joints with quaternions and long chains of joints are refused.
    method
        "newton-euler", link by link outward and inward; "lagrange", from the energies; "closed-form", from the
        Jacobians of the links.
    parameters
        "symbolic", names for masses, lengths, inertias and angles; "numeric", their numbers; or a dictionary that
        replaces some of the names by numbers.
    state
        The state (q, qd, qdd) of the numbers; by default one of round numbers within the limits.
    symbols
        Symbols of your own, by the names that they replace: {"q_1": theta, "L_1": sympy.Symbol("a")}.

    >>> import chainrule as cr
    >>> print(derive(cr.load("pendulum"), "lagrange").title)
    Lagrange's equations of pendulum
    """
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownNameError.of("method", method, METHODS, "a derivation")
    title, steps = METHODS[method]
    problem = Problem.of(robot, parameters, state, symbols)
    check_in_other_units(problem)
    blocks = (*introduction(problem), *problem.sample(), *steps(problem), *final_equations(problem))
    reserved = frozenset(symbol.name for symbol in problem.equations.parameters)
    style = Style(reserved=reserved, coordinates=tuple(problem.equations.q))
    return Document(f"{title} of {robot.name}", blocks, style)
