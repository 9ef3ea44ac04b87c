"""Options of functions: their defaults, which may follow from the robot, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chainrule.algorithms import jacobians, regressor
from chainrule.algorithms.euler import ORDERS
from chainrule.arguments import flag, names, one_of
from chainrule.core.closure import closure_of
from chainrule.core.derived import driven_velocities
from chainrule.core.reading import find_joints, find_link
from chainrule.errors import ShapeError, UnknownNameError, short_repr
from chainrule.functions.table import Option
from chainrule.model import Model


def indices(what: str, size: Callable[[Model], int]) -> Callable[[Any, Any], tuple[int, ...]]:
    """A check of a list of indices, each in range and named once."""

    def check(robot: Any, value: Any) -> tuple[int, ...]:
        most = size(robot.model)
        if not isinstance(value, Sequence) or not all(isinstance(k, int) and 0 <= k < most for k in value):
            raise ShapeError(f"{what} must be a list of indices from 0 to {most - 1}, got {short_repr(value)}")
        if len(set(value)) < len(value):
            raise UnknownNameError(f"{what} names an index twice: {short_repr(value)}")
        return tuple(value)

    return check


def _count_of_rows(robot: Any, value: Any) -> int | None:
    """A number of equations, or None where it is not known."""
    most = len(robot.model.rows)
    if value is not None and not (isinstance(value, int) and 0 <= value <= most):
        raise ShapeError(f"rank must be a whole number from 0 to {most}, or None, got {short_repr(value)}")
    return value


def _links(robot: Any, value: Any) -> tuple[str, ...]:
    """A check of a list of links or frames."""
    loads = names(value, "loads")
    for name in loads:
        robot.model.locate(name)
    return loads


def _one_link(robot: Any, value: Any) -> tuple[str, ...]:
    loads = _links(robot, value)
    if len(loads) != 1:
        raise ShapeError(f"static_torque takes one load, the link that applies the wrench, got {value!r}")
    return loads


def chosen_parts(value: Any) -> tuple[str, ...]:
    """Parts of a robot that have parameters, by their names, in the order in which their parameters come."""
    chosen = {one_of(regressor.PARTS, part, "part of a robot") for part in names(value, "parts")}
    return tuple(part for part in regressor.PARTS if part in chosen)


LINK = Option(lambda robot, options: find_link(robot), find_link)
RELATIVE_TO = Option(None, find_link)
FRAMES_OF_OTHERS = {
    "local": "body", "LOCAL": "body", "ee": "body", "end": "body", "tool": "body", "tip": "body",
    "LOCAL_WORLD_ALIGNED": "world", "WORLD": "space", "base": "world",
}  # fmt: skip
"""Frames of Pinocchio and of habit, and what they are called here."""


def frame_of_jacobian(value: Any) -> str:
    """The frame of a twist, a wrench or a Jacobian; one of other libraries leads to what it is called here."""
    if isinstance(value, str) and value in FRAMES_OF_OTHERS:
        raise UnknownNameError(
            f"chainrule has no frame named {value!r}; that is {FRAMES_OF_OTHERS[value]!r}. There are: 'world', at the "
            "frame's origin in base axes; 'body', in the frame's own axes; 'space', at the base's origin"
        )
    return one_of(jacobians.FRAMES, value, "frame")


FRAME = Option("world", lambda robot, value: frame_of_jacobian(value))
"""The axes and the point of every twist, wrench, Jacobian, velocity and acceleration, in and out."""
WITH_GRAVITY = Option(False, lambda robot, value: flag(value, "gravity"))
HALF = Option(False, lambda robot, value: flag(value, "half"))
ORDER = Option("rpy", lambda robot, value: one_of(ORDERS, value, "order of angles"))
JOINTS = Option(lambda robot, options: robot.joint_names, find_joints)
PARTS = Option(regressor.PARTS, lambda robot, value: chosen_parts(value))
ENTRIES = Option(None, lambda robot, value: value, is_public=False)
"""Sums of entries of the regressor in its place, each as (row, column, factor) of its terms."""
LOADS = Option((), _links, is_public=False)
ONE_LOAD = Option(lambda robot, options: (find_link(robot),), _one_link, is_public=False)
ROWS = Option(
    lambda robot, options: closure_of(robot).rows, indices("rows", lambda model: len(model.rows)), is_public=False
)
RANK = Option(lambda robot, options: min(len(options["rows"]), closure_of(robot).rank), _count_of_rows, is_public=False)
ACTUATED = Option(
    lambda robot, options: driven_velocities(robot), indices("actuated", lambda model: model.nv), is_public=False
)
HELD = Option((), indices("held", lambda model: model.nv), is_public=False)

OF_LINK = {"link": LINK, "frame": FRAME}
LOADED = {"loads": LOADS, "frame": FRAME}
"""Options of functions that take wrenches."""
SOLVED = {"rows": ROWS, "rank": RANK}
"""Options of loops, where their equations are solved."""
DRIVEN = {**SOLVED, "actuated": ACTUATED}
"""Options of loops, where torques are those of the driven joints."""
PROJECTED = {**SOLVED, "held": HELD}
"""Options of loops, where motions are projected on those that keep them closed."""
