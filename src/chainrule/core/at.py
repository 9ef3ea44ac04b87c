"""`robot.at({...})`: the functions of a robot with other numbers of its own, for all states or for each of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar

from chainrule.arguments import holds_lazy
from chainrule.core.dask import takes_dask
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameters import OpenNumbers, dimensions_of_numbers, read_parameters
from chainrule.core.subject import RobotSubject

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Mechanism)
Numbers = OpenNumbers | Mapping[str, Any]
"""Numbers that are read, or, where there are Dask arrays among them, as they were given."""


def at(robot: Mechanism, numbers: Mapping[str, ArrayLike]) -> At:
    """The functions of this robot with other numbers in place of its own.

    One compiled function serves them all, so that a thousand payloads cost no more than one. Arrays have the batch
    dimensions of the states, or broadcast with them.

    Parameters
    ----------
    numbers
        By name: "gravity" (3), "gravity.z", "LINK.mass" (the inertia grows with it), "LINK.com" (3), "LINK.com.x",
        "LINK.inertia" (6), "LINK.inertia.xx", "LINK.inertial" (mass, com, inertia: 10), "LINK.length",
        "LINK.payload" (10) and "LINK.payload.mass", a body besides what is there, "JOINT.origin" (3), "JOINT.origin.z",
        "JOINT.pose" (xyz and rpy: 6), "JOINT.viscous", "JOINT.coulomb", "JOINT.static", "JOINT.rotor", "JOINT.gear",
        "JOINT.stiffness", "JOINT.rest"; "*.viscous", a number for each degree of freedom of the robot. A number is an
        array with the batch dimensions; several numbers are its last dimension.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.at({"link2.mass": np.array([1.0, 2.0])}).gravity_torque([0.0, 0.0]).round(2).tolist()
    [[29.43, 9.81], [49.05, 19.62]]
    """
    is_lazy = isinstance(numbers, Mapping) and any(holds_lazy(value) for value in numbers.values())
    return At(robot, numbers if is_lazy else read_parameters(robot.model, "at", numbers))


class At:
    """Functions of a robot with numbers bound. Made by `robot.at`.

    It has the functions of the table, those composed of them, `simulate`, `simulation`, `sensitivities` and
    `inverse_kinematics`. What makes another robot is not here: `robot.edit` does.
    """

    def __init__(self, robot: Mechanism, numbers: Numbers) -> None:
        self._robot = robot
        self._numbers = numbers

    def __repr__(self) -> str:
        names = self._numbers if isinstance(self._numbers, Mapping) else self._numbers.names
        return f"<{self._robot!r} at {', '.join(names)}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_functions_of(type(self._robot))})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _with_numbers(self._robot, self._numbers, self._robot, name)


class AtSubject:
    """Functions of a subject with numbers bound."""

    def __init__(self, subject: RobotSubject, numbers: Numbers) -> None:
        self._subject = subject
        self._numbers = numbers

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_functions_of(type(self._subject))})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _with_numbers(self._subject.robot, self._numbers, self._subject, name)


def _with_numbers(robot: Mechanism, numbers: Numbers, owner: Any, name: str) -> Any:
    """A function of a robot or of its subject, with numbers bound."""
    function = getattr(type(owner), name, None)
    if isinstance(function, property) and isinstance(getattr(owner, name), RobotSubject):
        return AtSubject(getattr(owner, name), numbers)
    if function is None or not follows_numbers(function):
        what = f"robot {robot.name!r}" if owner is robot else repr(owner)
        raise AttributeError(
            f"{name!r} of {what} does not take bound numbers; robot.edit(...) makes a robot with other numbers"
        )

    @wraps(MethodType(function, robot))  # a signature without the robot
    def call(*arguments: Any, **options: Any) -> Any:
        rows = numbers if isinstance(numbers, Mapping) else _rows(numbers, (*arguments, *options.values()))
        if rows and not hasattr(function, "takes_numbers"):
            signature(function).bind(robot, *arguments, **options)  # which refuses arguments that it does not have
            named = dict(zip(list(signature(function).parameters)[1:], arguments, strict=False))
            return on_chunks(robot, dict(rows), function=function, **named, **options)
        return function(bind(robot, numbers), *arguments, **options)

    return call


def _rows(numbers: OpenNumbers, arguments: Sequence[Any]) -> Mapping[str, Any]:
    """Numbers as they are given, where they are those of each state of Dask arrays, and are cut as these are."""
    if all(array.ndim == 1 for array in numbers.arrays) or not any(map(holds_lazy, arguments)):
        return {}
    return {name: x[..., 0] if x.shape[-1] == 1 else x for name, x in numbers.as_dict().items()}


@takes_dask(numbers=dimensions_of_numbers)
def on_chunks(robot: Mechanism, numbers: Mapping[str, Any], *, function: Callable[..., Any], **arguments: Any) -> Any:
    """A function with numbers bound that come in chunks, as its arguments do."""
    return function(bind(robot, read_parameters(robot.model, "at", numbers)), **arguments)


def follows_numbers(function: Any) -> bool:
    """Whether a function computes with the numbers that are bound to a robot."""
    return any(hasattr(function, mark) for mark in ("declaration", "composition", "takes_numbers"))


def takes_numbers(function: F) -> F:
    """Mark a function that reads the numbers bound to a robot itself."""
    function.takes_numbers = True  # type: ignore[attr-defined]
    return function


def bind(robot: M, numbers: Numbers | None) -> M:
    """The robot with numbers bound, for the functions that follow them; it shares what the robot has computed."""
    if numbers is None or (isinstance(numbers, OpenNumbers) and not numbers.names):
        return robot
    kind = type(robot)
    twin = kind.__new__(kind)
    kept = ("_model", "_backend", "_remembered", "_merged")
    twin.__dict__.update({name: robot.__dict__[name] for name in kept if name in robot.__dict__})
    twin.__dict__["_numbers"], twin.__dict__["_origin"] = numbers, robot
    return twin


def unbind(robot: M) -> tuple[M, Any]:
    """A robot without the numbers that are bound to it, and these; None where there are none."""
    return robot.__dict__.get("_origin", robot), robot.__dict__.get("_numbers")


def _functions_of(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_") and follows_numbers(getattr(kind, name, None))}
