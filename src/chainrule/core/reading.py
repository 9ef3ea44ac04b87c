"""What users pass to a robot's functions, read and checked: states, joints, links, wrenches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.algorithms.jacobians import FRAMES
from chainrule.arguments import MAX_DIMENSIONS, WRENCH_UNITS, Array, named_dofs, names, rows_of, together
from chainrule.core.dimensions import match_dimensions
from chainrule.core.foreign import refuse_symbols
from chainrule.core.joint_names import read_joint_array, read_joint_values
from chainrule.errors import ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.functions.table import ARGUMENTS, WRENCH_LENGTH
from chainrule.model import Quantity, edits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism


class Loads(NamedTuple):
    """Wrenches (moment, force) that the world applies to links or frames."""

    links: tuple[str, ...] = ()
    wrenches: tuple[Array, ...] = ()
    labels: tuple[str, ...] = ()
    """What each is called in messages."""


NO_LOADS = Loads()


def find_link(robot: Mechanism, name: str | None = None) -> str:
    """The link or frame of this name, or the end-effector where none is named; an unknown name is refused."""
    chosen = robot.model.tip if name is None else name
    try:
        robot.model.locate(chosen)
    except UnknownNameError as error:
        if isinstance(chosen, str) and chosen in FRAMES:
            raise UnknownNameError(f"{error}; axes are chosen by frame={chosen!r}") from None
        raise
    return chosen


def find_joints(robot: Mechanism, joints: Sequence[str]) -> tuple[str, ...]:
    """Names of joints, fixed and mimic ones too; an unknown name is refused."""
    chosen = names(joints, "joints")
    known = {joint.name for joint in robot.model.joints}
    for name in chosen:
        if name not in known:
            edits.find_joint(robot.model, name)
    return chosen


def find_velocities(robot: Mechanism, caller: str, joints: Sequence[str]) -> tuple[int, ...]:
    """The places in qd of joints, by their names; those without coordinates of their own are refused."""
    for name in joints:
        edits.find_joint(robot.model, name)
        if name not in robot.model.layout.by_joint:
            raise ModelError(f"{caller}: joint {name!r} has no coordinate of its own to hold")
    return robot.model.layout.velocities_of(joints)


def read_state(robot: Mechanism, caller: str, /, **arguments: ArrayLike) -> list[Array]:
    """Arguments as arrays with equal batch dimensions, checked; errors name the caller and the argument."""
    return together(read_arguments(robot, caller, arguments), caller)


def read_arguments(robot: Mechanism, caller: str, arguments: Mapping[str, Any]) -> dict[str, Array]:
    """Arguments of one call as arrays; dimensions of a batch that have names are matched by them."""
    matched = match_dimensions(robot.model.layout, arguments, caller)
    return {name: read_argument(robot, caller, name, value) for name, value in matched.items()}


def read_argument(robot: Mechanism, caller: str, name: str, value: ArrayLike) -> Array:
    """One argument as an array whose last dimension has the right length."""
    argument = ARGUMENTS[name]
    length = argument.length(robot.model)
    if not argument.is_configuration and type(value) in (int, float) and value == 0:
        return np.zeros(length)
    is_plain = type(value) is np.ndarray and value.dtype == np.float64 and 0 < value.ndim <= MAX_DIMENSIONS
    if is_plain and value.shape[-1] == length:  # type: ignore[union-attr]
        array: Array = value  # type: ignore[assignment]
    else:
        array = read_joints(robot, value, argument.quantity, f"{caller}: {name}")
    if argument.is_configuration and robot.model.quaternions:
        refuse_zero_quaternions(robot, array, f"{caller}: {name}")
    return array


def read_joints(robot: Mechanism, value: Any, quantity: Quantity, what: str) -> Array:
    """Numbers of the joints as an array in the robot's order, (..., nq) or (..., nv), from an array or by names."""
    if isinstance(value, Mapping):
        value = match_dimensions(robot.model.layout, {what: value}, what)[what]
    return read_joint_array(robot.model, value, quantity, what, describe_coordinates(robot))


def read_per_joint(robot: Mechanism, value: Any, what: str, quantity: Quantity | None = None) -> Array:
    """One number for all degrees of freedom, or numbers (..., nv), or by names; of no known unit: gains, limits."""
    return read_joint_values(robot.model, value, quantity, what)


def describe_coordinates(robot: Mechanism) -> str:
    """The joints whose numbers an argument holds, for messages about its length."""
    return f"robot {robot.name!r}: {named_dofs(robot.joint_names)}"


def refuse_zero_quaternions(robot: Mechanism, q: Array, what: str) -> None:
    """Raise where a quaternion in q is zero, which is no orientation."""
    for joint, i in robot.model.quaternions:
        with np.errstate(all="ignore"):
            squares = (q[..., i : i + 4] ** 2).sum(axis=-1)
        if not squares.all():
            raise ShapeError(
                f"{what}: the quaternion of joint {joint!r} (places {i} to {i + 3}) is zero, which is no "
                "orientation; robot.neutral() has (0, 0, 0, 1) there"
            )


def read_wrenches(
    robot: Mechanism, caller: str, tip_wrench: ArrayLike | None = None, external: Mapping[str, ArrayLike] | None = None
) -> Loads:
    """The wrenches of a call, checked.

    `tip_wrench` is what the end-effector applies to its surroundings, so that it counts with the opposite sign;
    `external[link]` is what the world applies to that link.
    """
    if tip_wrench is None and external is None:
        return NO_LOADS
    if external is not None and not isinstance(external, Mapping):
        raise ShapeError(
            f"{caller}: external must be a dictionary of link names and wrenches, got {short_repr(external)}"
        )
    links: list[str] = []
    arrays: list[Array] = []
    labels: list[str] = []
    for name, wrench in (external or {}).items():
        robot.model.locate(name)
        links.append(name)
        labels.append(f"external[{name!r}]")
        arrays.append(_six(wrench, f"{caller}: {labels[-1]}"))
    if tip_wrench is not None:
        links.append(robot.model.tip)
        labels.append("tip_wrench")
        arrays.append(-_six(tip_wrench, f"{caller}: tip_wrench"))
    return Loads(tuple(links), tuple(arrays), tuple(labels))


def load_on(link: str, wrench: Any, caller: str, label: str = "tip_wrench") -> Loads:
    """One wrench on one link."""
    return Loads((link,), (_six(wrench, f"{caller}: {label}"),), (label,))


def _six(wrench: Any, what: str) -> Array:
    refuse_symbols(wrench, what)
    return rows_of(wrench, WRENCH_LENGTH, what, "moment and force", WRENCH_UNITS)
