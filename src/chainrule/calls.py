"""Calls with arguments that a function does not take: errors that say what it takes, and where the wish is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import update_wrapper, wraps
from inspect import Parameter, signature
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar

from chainrule.errors import ArgumentError, UnknownAttributeError, nearest, short_repr

P = ParamSpec("P")
R = TypeVar("R")

RADIANS = "angles are in radians: np.radians([...]); robot.degrees has functions with angles in degrees"
TARGET = 'a target is a pose (4, 4); ([x, y, z], rotation) with a rotation of SciPy; or [x, y, z] with task="position"'
WRENCHES = "tip_wrench= is what the tip applies to the world, external={link: wrench} what acts on a link"
HINTS: Mapping[str, Mapping[str, str]] = {
    "": {"degrees": RADIANS, "deg": RADIANS, "unit": RADIANS},
    "target": {
        "all": "robot.ik.branches(target) has all solutions in closed form", "position": TARGET, "quaternion": TARGET,
        "T": TARGET, "pose": TARGET,
    },
    "torque": {"controller": "a controller is the torque: torque=cr.PD(robot, target)"},
    "duration": dict.fromkeys(("T", "tf", "time", "t_end", "t"), "duration= is the time in s"),
    "link": {"end": "link= names a link or frame", "ee": "link= names a link or frame"},
    "tip_wrench": {"wrench": WRENCHES, "f_ext": WRENCHES, "fext": WRENCHES, "Ftip": WRENCHES, "wrenches": WRENCHES},
    "mass": {"weight": "mass= is in kg"},
    "rng": {"seed": "rng=np.random.default_rng(seed)"},
    "links": {"mass": 'links={"LINK": {"mass": 2.0}} names the link', "friction": 'joints={"JOINT": {"viscous": 0.1}}'},
    "sex": {"gender": "sex= is \"male\" or \"female\""},
    "q": {"parameters": 'robot.at({"LINK.mass": ...}) binds numbers of the robot, for every function'},
}  # fmt: skip
"""For functions that have the first name as an argument: what to write instead of one that many expect."""


def call_error(
    function: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> ArgumentError | None:
    """The error of a call with these arguments; None if the function takes them."""
    form = signature(function)
    try:
        form.bind(*arguments, **options)
    except TypeError as error:
        named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        known = [parameter.name for parameter in form.parameters.values() if parameter.kind in named]
        unknown = [option for option in options if option not in known]
        known = known[1:] if known[:1] in (["robot"], ["self"]) and arguments else known
        wrong = f"there is no argument {short_repr(unknown[0])}{_hint(unknown[0], known)}" if unknown else str(error)
        name = function.__name__ if function.__name__ != "__init__" else function.__qualname__.split(".")[-2]
        return ArgumentError(f"{name}: {wrong}; it takes {', '.join(known) or 'nothing'}")
    return None


def _hint(option: str, known: list[str]) -> str:
    for has, words in HINTS.items():
        if option in words and (not has or has in known):
            return f"; {words[option]}"
    close = nearest(option, known, cutoff=0.6)
    return "" if close is None else f"; perhaps {close!r} is meant"


def explains_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Let calls with wrong arguments end in an error that says what the function takes."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        try:
            return function(*arguments, **options)
        except TypeError:
            wrong = call_error(function, arguments, options)
            if wrong is None:
                raise
        raise wrong

    return call


class listing(Generic[R]):  # noqa: N801
    """A function without arguments that lists things; as an attribute of it, any name says that it is called."""

    def __init__(self, function: Callable[[], R]) -> None:
        update_wrapper(self, function)
        self._function = function

    def __call__(self) -> R:
        """The list."""
        return self._function()

    def __reduce__(self) -> str:
        return self._function.__name__

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        called = self._function.__name__
        raise UnknownAttributeError(f"{called} is a function: cr.{called}() lists them; it has no {short_repr(name)}")
