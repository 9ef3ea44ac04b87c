"""Answers compared with what a robot has: terms in symbols, or numbers at a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link, read_state
from chainrule.dynamics.dynamics import (
    bias,
    coriolis_matrix,
    gravity_torque,
    inverse_dynamics,
    mass_matrix,
    torque_terms,
)
from chainrule.errors import ArgumentError, UnknownNameError
from chainrule.kinematics.manipulability import manipulability
from chainrule.kinematics.poses import jacobian, pose
from chainrule.symbolic.answers.answer import Answer
from chainrule.symbolic.answers.numbers import check_numbers
from chainrule.symbolic.closed_form.equations import equations
from chainrule.symbolic.closed_form.kinematic_terms import TERMS as KINEMATIC
from chainrule.symbolic.closed_form.kinematics import kinematic_equations
from chainrule.symbolic.closed_form.matrices import ARGUMENTS as DYNAMIC

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Numbers = Callable[[Mechanism, Array, Array, Array, str, str], Any]

NUMBERS: dict[str, tuple[str, Numbers]] = {
    "M": ("", lambda robot, q, qd, qdd, link, frame: mass_matrix(robot, q)),
    "g": ("N m or N", lambda robot, q, qd, qdd, link, frame: gravity_torque(robot, q)),
    "h": ("N m or N", lambda robot, q, qd, qdd, link, frame: bias(robot, q, qd)),
    "c": ("N m or N", lambda robot, q, qd, qdd, link, frame: coriolis_matrix(robot, q, qd) @ qd),
    "tau": ("N m or N", lambda robot, q, qd, qdd, link, frame: inverse_dynamics(robot, q, qd, qdd)),
    "T": ("", lambda robot, q, qd, qdd, link, frame: pose(robot, q, link)),
    "position": ("m", lambda robot, q, qd, qdd, link, frame: pose(robot, q, link)[:3, 3]),
    "J": ("", lambda robot, q, qd, qdd, link, frame: jacobian(robot, q, link, frame=frame)),
    "manipulability": ("", lambda robot, q, qd, qdd, link, frame: manipulability(robot, q, link)),
}  # fmt: skip
"""Quantity -> its unit, and the function of its numbers at a state."""


def check(
    robot: Mechanism,
    *,
    q: ArrayLike | None = None,
    qd: ArrayLike = 0,
    qdd: ArrayLike = 0,
    link: str | None = None,
    frame: str = "world",
    symbols: Mapping[Any, Any] | None = None,
    **answers: Any,
) -> Answer:
    r"""Compare answers with the robot: equal, or which entry and which term differ, and how.

    Parameters
    ----------
    q, qd, qdd
        A state: answers are numbers there, right to three digits. Without q they are terms in symbols.
    link, frame
        Of T, J, position and the other kinematic quantities: the end-effector, and "world" by default.
    symbols
        What symbols of the answers are, where their names do not say so: {"a": "L_1"}.
    **answers
        Answers by the names of terms: tau, M, C, c, g, T, position, J and so on; in symbols SymPy expressions and
        matrices or LaTeX, in one's own symbols.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> mine = r"\begin{bmatrix} l_1 c_1 + l_2 c_{12} \\ l_1 s_1 + l_2 c_{12} \\ 0 \end{bmatrix}"
    >>> arm.check(position=mine).differences[0].kind
    'cosine for sine'
    >>> print(arm.check(q=[0, 0], tau=[-29.43, -9.81]))
    tau: wrong
      the part of gravity has the wrong sign
    """
    if not answers:
        raise ArgumentError(
            "check takes answers by the names of terms, such as robot.check(tau=...), robot.check(M=...)"
        )
    found = []
    for name, mine in answers.items():
        if q is None:
            found.append(_in_symbols(robot, name, mine, link, frame, symbols))
        else:
            found.append(_in_numbers(robot, name, mine, (q, qd, qdd), link, frame))
    if len(found) == 1:
        return found[0]
    differences = [replace(d, entry=d.entry or each.name) for each in found for d in each.differences]
    readings = dict.fromkeys(pair for each in found for pair in each.readings)
    return Answer(", ".join(answers), tuple(differences), tuple(readings), sum(each.entries for each in found))


def _in_symbols(robot: Mechanism, name: str, mine: Any, link: str | None, frame: str, symbols: Any) -> Answer:
    if name in DYNAMIC:
        return equations(robot).check(name, mine, symbols=symbols)
    if name in KINEMATIC:
        return kinematic_equations(robot, link, frame=frame).check(name, mine, symbols=symbols)
    raise UnknownNameError.of("term", name, (*DYNAMIC, *KINEMATIC), f"robot {robot.name!r}")


def _in_numbers(
    robot: Mechanism, name: str, mine: Any, state: tuple[Any, Any, Any], link: str | None, frame: str
) -> Answer:
    if name not in NUMBERS:
        raise UnknownNameError.of("quantity in numbers", name, NUMBERS, f"robot {robot.name!r}")
    unit, function = NUMBERS[name]
    q, qd, qdd = read_state(robot, "check", q=state[0], qd=state[1], qdd=state[2])
    if q.ndim != 1:
        raise ArgumentError(f"check compares numbers of one state, and q has shape {q.shape}")
    named = find_link(robot, link) if name in KINEMATIC else ""
    right = function(robot, q, qd, qdd, named, frame)
    parts: dict[str, Array] = {}
    mistakes: dict[str, Any] = {}
    if name in ("tau", "h"):
        parts = {term: values for term, values in torque_terms(robot, q, qd, qdd).items() if np.any(values)}
        left_out = {"total", *(["inertial"] if name == "h" else [])}
        parts = {term: values for term, values in parts.items() if term not in left_out}
    angles = [coordinate.unit == "rad" for coordinate in robot.model.layout.coordinates]
    if any(angles):
        turned = np.where(angles, np.deg2rad(q), q)
        mistakes["angles were taken for degrees: they are radians"] = function(robot, turned, qd, qdd, named, frame)
    return check_numbers(name, right, mine, unit, parts=parts, mistakes=mistakes)
