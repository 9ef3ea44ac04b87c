"""Results with units: quantities of pint, made from what the declaration of a function says of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array, refuse_lazy
from chainrule.core.dask import parts_of
from chainrule.core.joint_names import names_and_values
from chainrule.core.mechanism import Mechanism
from chainrule.errors import import_optional
from chainrule.functions.table import Axis, Function
from chainrule.model import Quantity


def quantity(value: Any, unit: str) -> Any:
    """A quantity of pint, in the registry that the application uses."""
    registry = import_optional("pint", "results with units").get_application_registry()
    return registry.Quantity(value, "" if unit in ("", "1") else unit)


def add_units(robot: Mechanism, entry: Function, value: Any, options: Mapping[str, Any]) -> Any:
    """The result of a function as a quantity, or as several by name where units differ.

    A named tuple keeps its names, and so does a dictionary; a table says its units itself. Numbers
    of joints that turn and slide are by the names of joints; twists and wrenches have an angular and a linear part;
    rows and columns of a matrix are by their names.
    """
    if isinstance(value, dict):
        return {name: _of_array(robot, part, entry.dimensions(options)[1:], entry) for name, part in value.items()}
    if entry.named is not None:
        parts = (_of_array(robot, *part, entry) for part in zip(value, entry.gives_parts, strict=True))
        return entry.named(*parts)
    if parts_of(value):
        return value
    return _of_array(robot, value, entry.dimensions(options), entry)


def _of_array(robot: Mechanism, value: Any, dimensions: Sequence[Any], entry: Function) -> Any:
    refuse_lazy(value, f"the result of {entry.name}")
    array = np.asarray(value)
    if entry.parts:
        return {name: quantity(array[index], unit) for name, (index, unit) in entry.parts.items()}
    axes = [(k - len(dimensions), axis) for k, axis in enumerate(dimensions) if isinstance(axis, Axis)]
    if len(axes) == 1 and axes[0][1].quantity is not None and not entry.unit:
        return joint_quantity(robot, array, axes[0][1].quantity)
    return _split(robot, array, axes, entry.unit)


def _split(robot: Mechanism, value: Array, axes: Sequence[tuple[int, Axis]], unit: str) -> Any:
    """A quantity; where units differ along a dimension, a dictionary of them by its names."""
    if not axes:
        return quantity(value, unit)
    (k, axis), *rest = axes  # dimensions count from the last one, so that those behind keep their index
    units = axis.units(robot.model)
    if len(set(units)) <= 1:
        return _split(robot, value, rest, _product(unit, *units[:1]))
    if axis.parts:
        parts = {
            name: (np.moveaxis(np.moveaxis(value, k, 0)[part], 0, k), units[part][0])
            for name, part in axis.parts.items()
        }
    else:
        layout = robot.model.layout
        names = layout.velocity_names if len(units) == robot.nv else layout.coordinate_names
        parts = {name: (np.moveaxis(value, k, 0)[i], units[i]) for i, name in enumerate(names)}
    return {name: _split(robot, part, rest, _product(unit, own)) for name, (part, own) in parts.items()}


def _product(*units: str) -> str:
    return " * ".join(f"({unit})" for unit in units if unit not in ("", "1"))


def joint_quantity(robot: Mechanism, value: Array, what: Quantity) -> Any:
    """Numbers of the joints as one quantity where all joints turn, or all slide; else by the names of joints."""
    layout = robot.model.layout
    units = layout.units_of(what)
    if len(set(units)) == 1:
        return quantity(value, units[0])
    found: dict[str, Any] = {}
    for name, part in names_and_values(layout, np.asarray(value), what == "position").items():
        where = layout.by_joint[name].q if what == "position" else layout.by_joint[name].v
        found |= _joint(name, part, units[where], layout.names_of(what)[where])
    return found


def _joint(name: str, part: Any, units: tuple[str, ...], names: tuple[str, ...]) -> dict[str, Any]:
    """The quantity of a joint, or of each of its components where their units differ."""
    if len(set(units)) == 1:
        return {name: quantity(part, units[0])}
    return {own: quantity(part[..., k], units[k]) for k, own in enumerate(names)}
