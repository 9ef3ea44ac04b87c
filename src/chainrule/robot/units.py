"""The functions of a robot with results that carry their units: quantities of pint."""

from __future__ import annotations

from functools import wraps
from typing import Any

from chainrule.core.mechanism import Mechanism
from chainrule.core.tables import import_optional
from chainrule.core.units import WITH_UNITS, add_units, quantity
from chainrule.errors import UnknownNameError


class WithUnits:
    """Functions of a robot whose results are quantities of pint. Made by `robot.units`.

    Results with a number for each joint are one quantity where all joints turn, or all slide; otherwise a dictionary
    of quantities by the names of joints. `velocity` gives the angular and the linear part by name.
    """

    def __init__(self, robot: Mechanism) -> None:
        import_optional("pint", "robot.units")
        self._robot = robot

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *WITH_UNITS, "mass", "gravity"})

    def __repr__(self) -> str:
        return f"<{self._robot!r} with units>"

    def __getattr__(self, name: str) -> Any:
        if name == "mass":
            return quantity(self._robot.mass, "kg")
        if name == "gravity":
            return quantity(self._robot.gravity, "m/s^2")
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in WITH_UNITS:
            known = [*WITH_UNITS, "mass", "gravity"]
            raise AttributeError(str(UnknownNameError.of("function with units", name, known, "robot.units")))
        function = getattr(self._robot, name)

        @wraps(getattr(type(self._robot), name))
        def call(*arguments: Any, **options: Any) -> Any:
            return add_units(self._robot, name, function(*arguments, **options))

        return call


def units(robot: Mechanism) -> WithUnits:
    """The functions of the robot with results that are quantities of pint: `robot.units.gravity_torque(q)`.

    Quantities go in everywhere, with units or without; plain functions give plain arrays in SI.
    """
    return robot.remember("units", lambda: WithUnits(robot))
