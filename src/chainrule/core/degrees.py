"""Angles in degrees: arguments of functions in radians, results in degrees, by what is declared of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, cast

import numpy as np

from chainrule.arguments import Array, checked_out, is_lazy, is_rotation, pose_matrices
from chainrule.calls import call_error
from chainrule.core.dask import JOINT_ARGUMENTS, parts_of, with_parts
from chainrule.core.dimensions import match_dimensions
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_joints
from chainrule.functions.table import POSES, Axis, Function
from chainrule.model import Quantity
from chainrule.quantities import is_quantity

ANGULAR = frozenset({"rad", "rad/s", "rad/s^2"})
"""Units of what is in degrees."""

DEGREE = math.pi / 180
MOTIONS = ("twist", "acceleration")
"""Arguments with an angular and a linear part, or with the part that the task says."""


def in_radians(
    robot: Mechanism, function: Callable[..., Any], arguments: Any, options: Mapping[str, Any]
) -> tuple[dict[str, Any], Any]:
    """The arguments of a function by name, with angles in radians, and the array that its result is written into."""
    wrong = call_error(function, tuple(arguments), options)
    if wrong is not None:
        raise wrong
    given = dict(signature(function).bind(*arguments, **options).arguments)
    out = given.pop("out", None)
    states = {name: value for name, value in given.items() if name in JOINT_ARGUMENTS}
    given |= match_dimensions(robot.model.layout, states, function.__name__)  # arrays have no names of dimensions
    for name, value in given.items():
        if name in JOINT_ARGUMENTS:
            given[name] = _joints_in_radians(robot, value, JOINT_ARGUMENTS[name], name)
        elif name in POSES:
            given[name] = _pose_in_radians(value)
        elif name in MOTIONS:
            given[name] = _motion_in_radians(value, given.get("task", "pose"))
    return given, out


def in_radians_by_name(robot: Mechanism, value: Any, quantity: Quantity) -> Any:
    """A state, or the numbers of some joints by name; the name of a configuration is as it is."""
    if not isinstance(value, Mapping):
        return value if isinstance(value, str) else _joints_in_radians(robot, value, quantity, quantity)
    units, names = robot.model.layout.units_of(quantity), robot.model.layout.names_of(quantity)
    by_name: dict[str, Any] = {name: _factors([unit])[0] for name, unit in zip(names, units, strict=True)}
    for name, place in robot.model.layout.by_joint.items():
        own = units[place.q if quantity == "position" else place.v]
        by_name[name] = _factors(own) if len(own) > 1 else _factors(own)[0]
    return {
        name: x if is_quantity(x) or name not in by_name else _number(x) * by_name[name] for name, x in value.items()
    }


def _number(x: Any) -> Any:
    return x if is_lazy(x) else np.asarray(x, dtype=float)


def _factors(units: Any) -> Array:
    """What a number of each unit is multiplied by: radians of a degree, or 1."""
    return np.array([DEGREE if unit in ANGULAR else 1.0 for unit in units])


def _has_units(value: Any) -> bool:
    return is_quantity(value) or (isinstance(value, (list, tuple)) and any(map(_has_units, value)))


def _joints_in_radians(robot: Mechanism, value: Any, quantity: Quantity, name: str) -> Any:
    if value is None or quantity == "effort" or _has_units(value) or (type(value) in (int, float) and value == 0):
        return value
    if isinstance(value, Mapping):
        return in_radians_by_name(robot, value, quantity)
    factors = _factors(robot.model.layout.units_of(quantity))
    return (value if is_lazy(value) else read_joints(robot, value, quantity, name)) * factors


def _pose_in_radians(value: Any) -> Any:
    """A target: of pose vectors (..., 6) the angles in radians, other poses as they are."""
    if isinstance(value, Mapping):
        return {link: _pose_in_radians(target) for link, target in value.items()}
    if is_rotation(value) or is_lazy(value) or _has_units(value):
        return value
    array = pose_matrices(value, "target")
    if not isinstance(array, np.ndarray):
        try:
            array = np.asarray(array, dtype=float)
        except (TypeError, ValueError):  # a pair of a point and a rotation
            return value
    return array * _factors(["m"] * 3 + ["rad"] * 3) if array.shape[-1:] == (6,) else value


def _motion_in_radians(value: Any, task: Any) -> Any:
    if _has_units(value) or task == "position":
        return value
    numbers = _number(value)
    return numbers * _factors(["rad"] * 3 + ["m"] * (numbers.shape[-1] - 3))


def in_degrees(
    robot: Mechanism, of: Function | Quantity | None, value: Any, options: Any = None, out: Any = None
) -> Any:
    """A result with its angles in degrees: that of a declared function, numbers of the joints, or named parts.

    It is written into `out` where an array is given.
    """
    result = _convert(robot, of, value, options or {})
    if out is None:
        return result
    place = checked_out(out, np.shape(result), np.asarray(result).dtype, of.name if isinstance(of, Function) else "out")
    place[...] = result
    return place


def _convert(robot: Mechanism, of: Function | Quantity | None, value: Any, options: Mapping[str, Any]) -> Any:
    if isinstance(of, str):
        return value / _factors(robot.model.layout.units_of(of))
    if of is None or not (isinstance(value, (np.ndarray, np.generic)) or is_lazy(value)):
        return _parts_in_degrees(robot, value)
    if of.parts:
        array = np.array(value)
        for index, unit in of.parts.values():
            array[index] /= _factors([unit])[0]
        return array
    dimensions = of.dimensions(options)
    axes = [(k, axis) for k, axis in enumerate(dimensions) if isinstance(axis, Axis)]
    if len(axes) != 1 or of.unit:
        return value
    (k, axis) = axes[0]
    factors = _factors(axis.units(robot.model))
    return value / factors.reshape(-1, *(1,) * (len(dimensions) - k - 1)) if (factors != 1).any() else value


def _parts_in_degrees(robot: Mechanism, value: Any) -> Any:
    """A result of several parts, with those in degrees that have the name of an argument: q, qd, qdd."""
    parts = {
        name: _convert(robot, JOINT_ARGUMENTS[name], part, {})
        for name, part in parts_of(value).items()
        if name in ("q", "qd", "qdd")
    }
    return with_parts(value, cast(Any, parts_of(value)) | parts) if parts else value
