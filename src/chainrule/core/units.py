"""Results with units: quantities of pint, where a user asks for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from chainrule.arguments import Array, flag, refuse_lazy
from chainrule.core.mechanism import Mechanism
from chainrule.core.names import names_and_values
from chainrule.core.tables import import_optional
from chainrule.model import Quantity

JOINT_RESULTS: dict[str, Quantity] = {
    "neutral": "position",
    "home": "position",
    "q": "position",
    "random_state": "position",
    "qd": "velocity",
    "resolved_rate": "velocity",
    "resolved_acceleration": "acceleration",
    "forward_dynamics": "acceleration",
    "tau": "effort",
    "inverse_dynamics": "effort",
    "gravity_torque": "effort",
    "friction_torque": "effort",
    "spring_torque": "effort",
    "bias": "effort",
    "static_torque": "effort",
}
"""Functions with a number for each joint, and what it is."""

UNIFORM_RESULTS = {"kinetic_energy": "J", "potential_energy": "J", "center_of_mass": "m"}
"""Functions whose numbers all have one unit."""

WITH_UNITS = (*JOINT_RESULTS, *UNIFORM_RESULTS, "velocity")
"""Functions whose results can have units."""

P = ParamSpec("P")
R = TypeVar("R")


def quantities_on_request(function: Callable[P, R]) -> Callable[P, R]:
    """A function of a robot whose option `units=True` makes its result a quantity, or several by name."""

    @wraps(function)
    def call(robot: Any, /, *arguments: Any, units: bool = False, **options: Any) -> Any:
        value = cast(Any, function)(robot, *arguments, **options)
        return add_units(robot, function.__name__, value) if flag(units, "units") else value

    return cast(Callable[P, R], call)


def add_units(robot: Mechanism, function: str, value: Array) -> Any:
    """The result of a function as a quantity.

    Results with a number for each joint are one quantity where all joints turn, or all slide; otherwise a dictionary
    of quantities by the names of joints. `velocity` gives the angular and the linear part by name.
    """
    refuse_lazy(value, f"the result of {function}")
    if function in UNIFORM_RESULTS:
        return quantity(value, UNIFORM_RESULTS[function])
    if function == "velocity":
        return {"angular": quantity(value[..., :3], "rad/s"), "linear": quantity(value[..., 3:], "m/s")}
    return _by_joint(robot, value, JOINT_RESULTS[function])


def quantity(value: Any, unit: str) -> Any:
    """A quantity of pint, in the registry that the application uses."""
    registry = import_optional("pint", "results with units").get_application_registry()
    return registry.Quantity(value, "" if unit == "1" else unit)


def _by_joint(robot: Mechanism, value: Array, what: Quantity) -> Any:
    layout = robot.layout
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
