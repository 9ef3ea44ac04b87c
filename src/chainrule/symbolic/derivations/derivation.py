"""Derivations of a robot's equations of motion, as documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from chainrule.errors import UnknownNameError
from chainrule.symbolic.derivations.lagrange import lagrange
from chainrule.symbolic.derivations.matrix_form import matrices
from chainrule.symbolic.derivations.newton_euler import newton_euler
from chainrule.symbolic.derivations.opening import opening
from chainrule.symbolic.derivations.other_units import check_by_other_units
from chainrule.symbolic.derivations.result import result
from chainrule.symbolic.derivations.setting import Setting
from chainrule.symbolic.documents.document import Block, Document

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

METHODS: dict[str, tuple[str, Callable[[Setting], list[Block]]]] = {
    "newton-euler": ("The Newton-Euler equations", newton_euler),
    "lagrange": ("Lagrange's equations", lagrange),
    "closed-form": ("The equations of motion in closed matrix form", matrices),
}


def derive(
    robot: Robot,
    method: str = "newton-euler",
    parameters: str | Mapping[Any, Any] = "symbolic",
    state: Any = None,
) -> Document:
    """How a robot's equations of motion come about, step by step.

    method: "newton-euler", iteration by iteration; "lagrange", from the energies; "closed-form", from the Jacobians of
    the links. state: (q, qd, qdd) for the numbers beside the symbols, which must agree with the robot's kernels; round
    numbers within the limits if left out. Units are checked on the way.

    >>> import chainrule as cr
    >>> print(derive(cr.load("pendulum"), "lagrange").title)
    Lagrange's equations of pendulum
    """
    if method not in METHODS:
        raise UnknownNameError.of("method", method, METHODS, "a derivation")
    title, steps = METHODS[method]
    setting = Setting.of(robot, parameters, state)
    check_by_other_units(setting)
    blocks = (*opening(setting), *setting.sample(), *steps(setting), *result(setting))
    return Document(f"{title} of {robot.name}", blocks)
