"""A subject of a robot: a small object bound to it, such as `robot.loops`, whose methods are free functions."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NoReturn, ParamSpec, TypeVar, overload

from chainrule.calls import explain_once
from chainrule.core.mechanism import Mechanism
from chainrule.display.text import lines_of
from chainrule.errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")


class RobotSubject:
    """Functions of a robot in one subject, as its methods: `help` leads to them."""

    def __init__(self, robot: Any) -> None:
        self._robot = robot

    @property
    def robot(self) -> Any:
        """The robot that it belongs to."""
        return self._robot

    def __call__(self, *arguments: Any, **options: Any) -> NoReturn:
        """A subject is no function."""
        name = f"robot.{type(self).__name__.lower()}"
        names = [name for name in dir(type(self)) if not name.startswith("_") and name != "robot"]
        raise ArgumentError(f"{name} is a subject, not a function; it has {', '.join(names)}")

    if not TYPE_CHECKING:  # type checkers know the names

        def __getattr__(self, name: str) -> Any:
            from chainrule.robot.advice import unknown_attribute

            raise AttributeError(name) if name.startswith("_") else unknown_attribute(self, name)

    def __repr__(self) -> str:
        names = ", ".join(name for name in dir(type(self)) if not name.startswith("_") and name != "robot")
        return "\n".join(lines_of([f"<{type(self).__name__.lower()} of robot {self._robot.name!r}: {names}>"]))


class method(Generic[P, R]):  # noqa: N801
    """A function of a robot as a method of a subject: it takes the subject's robot."""

    def __init__(self, function: Callable[Concatenate[Any, P], R]) -> None:
        self.function = explain_once(function)
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, subject: None, owner: type[Any]) -> Callable[Concatenate[Mechanism, P], R]: ...
    @overload
    def __get__(self, subject: RobotSubject, owner: type[Any]) -> Callable[P, R]: ...
    def __get__(self, subject: RobotSubject | None, owner: type[Any]) -> Any:
        return self.function if subject is None else MethodType(self.function, subject.robot)
