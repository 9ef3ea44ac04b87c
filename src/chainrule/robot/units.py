"""`robot.units`: the functions of a robot with results that carry their units, quantities of pint."""

from __future__ import annotations

from functools import wraps
from typing import Any

from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.core.subject import RobotSubject
from chainrule.core.units import add_units, joint_quantity, quantity
from chainrule.errors import UnknownNameError, import_optional
from chainrule.model import Quantity

PROPERTIES = {"mass": "kg", "gravity": "m/s^2"}
STATES: dict[str, Quantity] = {
    "neutral": "position", "home": "position", "q": "position", "random_state": "position", "qd": "velocity",
    "tau": "effort",
}  # fmt: skip
"""What the functions of states give."""


class WithUnits:
    """Functions of a robot, or of a subject, whose results are quantities of pint. Made by `robot.units`.

    A result is one quantity where all its numbers have one unit; otherwise a dictionary of quantities: by the names of
    joints, or "angular" and "linear", "moment" and "force", "rotation" and "translation".
    """

    def __init__(self, robot: Mechanism, owner: Any) -> None:
        import_optional("pint", "robot.units")
        self._robot, self._owner = robot, owner

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._names()})

    def __repr__(self) -> str:
        return f"<{self._owner!r} with units>"

    def _names(self) -> list[str]:
        kind = type(self._owner)
        own = [*PROPERTIES, *STATES] if self._owner is self._robot else []
        return own + [name for name in dir(kind) if not name.startswith("_") and _entry(getattr(kind, name))]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._owner is self._robot and name in PROPERTIES:
            return quantity(getattr(self._robot, name), PROPERTIES[name])
        function = getattr(type(self._owner), name, None)
        if isinstance(function, property) and isinstance(getattr(self._owner, name), RobotSubject):
            return WithUnits(self._robot, getattr(self._owner, name))
        entry = _entry(function)
        if entry is None and name not in STATES:
            raise AttributeError(str(UnknownNameError.of("function with units", name, self._names(), "robot.units")))
        bound: Any = getattr(self._owner, name)

        @wraps(bound)
        def call(*arguments: Any, **options: Any) -> Any:
            value = bound(*arguments, **options)
            return (
                joint_quantity(self._robot, value, STATES[name])
                if entry is None
                else add_units(self._robot, entry, value, options)
            )

        return call


def _entry(function: Any) -> Any:
    """What is declared of a function's result."""
    return getattr(function, "declaration", None) or getattr(function, "composition", None)


def units(robot: Mechanism) -> WithUnits:
    """The functions of the robot with results that are quantities of pint: `robot.units.gravity_torque(q)`.

    Quantities go in everywhere, with units or without; plain functions give plain arrays in SI.
    """
    return remember(robot, ("view", "units"), lambda: WithUnits(robot, robot))
