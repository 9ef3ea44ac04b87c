"""Views of a robot in other units: `robot.units` has quantities of pint as results, `robot.degrees` angles in degrees.

They have every function of states, of the robot and of its subjects, by what is declared of arguments and results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from chainrule.calls import explains_methods
from chainrule.core.degrees import in_degrees, in_radians, in_radians_by_name
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.core.subject import RobotSubject
from chainrule.core.units import add_units, joint_quantity, quantity
from chainrule.display.words import ROBOT, called_here
from chainrule.errors import UnknownAttributeError, UnknownNameError, import_optional
from chainrule.model import Quantity

Bound = Callable[..., Any]
PROPERTIES = {"mass": "kg", "gravity": "m/s^2"}
STATES: Mapping[str, Quantity] = {
    "neutral": "position", "home": "position", "q": "position", "random_state": "position", "qd": "velocity",
    "tau": "effort",
}  # fmt: skip
"""What the functions give that make states."""


@explains_methods
class View:
    """Functions of a robot, or of a subject, with other units. What it is called stands in `called`.

    They are those of `functions`, where that is given: of the robot with parameters bound.
    """

    called = otherwise = ""
    """What it is called, and what to do where it has no function."""

    def __init__(self, robot: Mechanism, owner: Any, functions: Any = None) -> None:
        self._robot, self._owner = robot, owner
        self._functions = owner if functions is None else functions

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._names()})

    def __repr__(self) -> str:
        return f"<{self._functions!r}: {self.called}>"

    def at(self, parameters: Any) -> View:
        """The same functions with other values of parameters, which are in SI, as of `robot.at`."""
        return type(self)(self._robot, self._robot, self._functions.at(parameters))

    @property
    def reference(self) -> View:
        """The same functions, interpreted."""
        robot = self._robot.reference
        return type(self)(robot, robot, None if self._functions is self._robot else self._functions.reference)

    def _names(self) -> list[str]:
        kind = type(self._owner)
        own = [*STATES] if self._owner is self._robot else []
        return own + [name for name in dir(kind) if not name.startswith("_") and _is_of_states(getattr(kind, name))]

    def _unknown(self, name: str) -> UnknownAttributeError:
        """The error for a name that a robot does not have either: what it is called here, or the nearest."""
        here = called_here(name, ROBOT)
        if here:
            view = here[0].replace("robot.", f"robot.{self.called}.")
            return UnknownAttributeError(f"robot.{self.called} has no function named {name!r}; use {view}")
        error = UnknownNameError.of("function", name, self._names(), f"robot.{self.called}")
        return UnknownAttributeError(str(error))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        function = getattr(type(self._owner), name, None)
        if isinstance(function, property) and isinstance(getattr(self._owner, name), RobotSubject):
            return type(self)(self._robot, getattr(self._owner, name), getattr(self._functions, name))
        state = STATES.get(name) if self._owner is self._robot else None
        if state is None and not _is_of_states(function):
            if not hasattr(type(self._owner), name):
                raise self._unknown(name)
            subject = "" if self._owner is self._robot else f".{type(self._owner).__name__.lower()}"
            raise UnknownAttributeError(
                f"robot.{self.called}{subject} has the functions of states, and {name!r} is none of them; "
                f"robot{subject}.{name} itself has angles in radians and all else in SI{self.otherwise}"
            )
        bound: Bound = getattr(self._functions if state is None else self._owner, name)

        @wraps(bound)
        def call(*arguments: Any, **options: Any) -> Any:
            return self._call(function, state, bound, arguments, options)

        return call

    def _call(self, function: Any, state: Quantity | None, bound: Bound, arguments: Any, options: Any) -> Any:
        raise NotImplementedError


class WithUnits(View):
    """Functions whose results are quantities of pint. Made by `robot.units`.

    A result is one quantity where all its numbers have one unit; otherwise a dictionary of quantities: by the names of
    joints, or "angular" and "linear", "moment" and "force", "rotation" and "translation". Tables, which say their units
    themselves, truths, and numbers without one unit, such as singular values, are as they are.
    """

    called = "units"

    def __init__(self, robot: Mechanism, owner: Any, functions: Any = None) -> None:
        import_optional("pint", "robot.units")
        super().__init__(robot, owner, functions)

    def _names(self) -> list[str]:
        return [*(PROPERTIES if self._functions is self._robot else ()), *super()._names()]

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and self._functions is self._robot and name in PROPERTIES:
            return quantity(getattr(self._robot, name), PROPERTIES[name])
        return super().__getattr__(name)

    def _call(self, function: Any, state: Quantity | None, bound: Bound, arguments: Any, options: Any) -> Any:
        value, entry = bound(*arguments, **options), _entry(function)
        if state is not None:
            return joint_quantity(self._robot, value, state)
        return value if entry is None else add_units(self._robot, entry, value, options)


class InDegrees(View):
    """Functions whose angles are in degrees. Made by `robot.degrees`."""

    called = "degrees"
    otherwise = "; np.radians and np.degrees convert"

    def _names(self) -> list[str]:
        return [*(["limits"] if self._owner is self._robot else ()), *super()._names()]

    def __getattr__(self, name: str) -> Any:
        if name == "limits" and self._owner is self._robot:
            return self._robot.limits.in_degrees()
        return super().__getattr__(name)

    def _call(self, function: Any, state: Quantity | None, bound: Bound, arguments: Any, options: Any) -> Any:
        if state is not None:
            if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in signature(bound).parameters.values()):
                arguments = [in_radians_by_name(self._robot, value, state) for value in arguments]
                options = in_radians_by_name(self._robot, options, state)
            return in_degrees(self._robot, state, bound(*arguments, **options))
        given, out = in_radians(self._robot, bound, arguments, options)
        return in_degrees(self._robot, _entry(function), bound(**given), options, out)


def _is_of_states(function: Any) -> bool:
    """Whether a function takes states, and gives what belongs to them."""
    return hasattr(function, "of_states")


def _entry(function: Any) -> Any:
    """What is declared of a function's result."""
    return getattr(function, "declaration", None) or getattr(function, "composition", None)


def units(robot: Mechanism) -> WithUnits:
    """The functions of the robot with results that are quantities of pint: `robot.units.gravity_torque(q)`.

    Quantities go in everywhere, with units or without; plain functions give plain arrays in SI.
    """
    return remember(robot, ("view", "units"), lambda: WithUnits(robot, robot))


def degrees(robot: Mechanism) -> InDegrees:
    """The functions of the robot with angles in degrees, in and out: `robot.degrees.pose([30.0, 45.0])`.

    Angles, angular velocities and angular accelerations are in degrees, degrees/s and degrees/s^2: in q, qd and qdd,
    in twists, and in pose vectors. All else is in SI, also what has an angle in its unit, such as the entries of a
    Jacobian. Tables, which say their units, and motions (`simulate`, `cr.plan`) are in radians.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.degrees.pose([90.0, 0.0])[:3, 3].round(6).tolist()
    [0.0, 2.0, 0.0]
    >>> arm.degrees.inverse_kinematics([0.0, 1.0, 0.0], [0.0, 90.0], task="position").q.round(3).tolist()
    [30.0, 120.0]
    """
    return remember(robot, ("view", "degrees"), lambda: InDegrees(robot, robot))
