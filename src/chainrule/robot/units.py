"""The functions of a robot with results that carry their units: quantities of pint."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.core.names import names_and_values
from chainrule.core.tables import import_optional
from chainrule.errors import UnknownNameError
from chainrule.model import Quantity

JOINT_RESULTS: dict[str, Quantity] = {
    "neutral": "position",
    "home": "position",
    "q": "position",
    "random_state": "position",
    "qd": "velocity",
    "resolved_rate": "velocity",
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


class WithUnits:
    """Functions of a robot whose results are quantities of pint. Made by `robot.units`.

    Results with a number for each joint are one quantity where all joints turn, or all slide; otherwise a dictionary
    of quantities by the names of joints. `velocity` gives the angular and the linear part by name.
    """

    def __init__(self, robot: Mechanism) -> None:
        self._robot = robot
        self._registry = import_optional("pint", "robot.units").get_application_registry()

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *JOINT_RESULTS, *UNIFORM_RESULTS, "velocity", "mass", "gravity"})

    def __repr__(self) -> str:
        return f"<{self._robot!r} with units>"

    def __getattr__(self, name: str) -> Any:
        if name == "mass":
            return self._quantity(self._robot.mass, "kg")
        if name == "gravity":
            return self._quantity(self._robot.gravity, "m/s^2")
        if name in JOINT_RESULTS:
            return self._with_result(name, lambda value: self._by_joint(value, JOINT_RESULTS[name]))
        if name in UNIFORM_RESULTS:
            return self._with_result(name, lambda value: self._quantity(value, UNIFORM_RESULTS[name]))
        if name == "velocity":
            return self._with_result(name, self._twist)
        if name.startswith("_"):
            raise AttributeError(name)
        known = [*JOINT_RESULTS, *UNIFORM_RESULTS, "velocity", "mass", "gravity"]
        raise AttributeError(str(UnknownNameError.of("function with units", name, known, "robot.units")))

    def _with_result(self, name: str, convert: Callable[[Any], Any]) -> Callable[..., Any]:
        function = getattr(self._robot, name)

        @wraps(getattr(type(self._robot), name))
        def call(*arguments: Any, **options: Any) -> Any:
            return convert(function(*arguments, **options))

        return call

    def _quantity(self, value: Any, unit: str) -> Any:
        return self._registry.Quantity(value, "" if unit == "1" else unit)

    def _by_joint(self, value: Array, quantity: Quantity) -> Any:
        layout = self._robot.layout
        units = layout.units_of(quantity)
        if len(set(units)) == 1:
            return self._quantity(value, units[0])
        found: dict[str, Any] = {}
        for name, part in names_and_values(layout, np.asarray(value), quantity == "position").items():
            where = layout.by_joint[name].q if quantity == "position" else layout.by_joint[name].v
            found |= self._joint(name, part, units[where], layout.names_of(quantity)[where])
        return found

    def _joint(self, name: str, part: Any, units: tuple[str, ...], names: tuple[str, ...]) -> dict[str, Any]:
        """The quantity of a joint, or of each of its components where their units differ."""
        if len(set(units)) == 1:
            return {name: self._quantity(part, units[0])}
        return {own: self._quantity(part[..., k], units[k]) for k, own in enumerate(names)}

    def _twist(self, value: Array) -> dict[str, Any]:
        return {
            "angular": self._quantity(value[..., :3], "rad/s"),
            "linear": self._quantity(value[..., 3:], "m/s"),
        }


def units(robot: Mechanism) -> WithUnits:
    """The functions of the robot with results that are quantities of pint: `robot.units.gravity_torque(q)`.

    Quantities go in everywhere, with units or without; plain functions give plain arrays in SI.
    """
    return robot.remember("units", lambda: WithUnits(robot))
