"""Calls with arguments that a function does not take: errors that say what it takes, and where the wish is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import update_wrapper, wraps
from inspect import Parameter, signature
from types import FunctionType
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar, cast

from chainrule.errors import ArgumentError, UnknownAttributeError, nearest, short_repr

P = ParamSpec("P")
R = TypeVar("R")

RADIANS = "angles are in radians: np.radians([...]); robot.degrees has functions with angles in degrees"
TARGET = 'a target is a pose (4, 4); ([x, y, z], rotation) with a rotation of SciPy; or [x, y, z] with task="position"'
TASKS = 'task="position", "orientation" or "axis" follows a part of the pose'
WRENCHES = "tip_wrench= is what the tip applies to the world, external={link: wrench} what acts on a link"
GRAVITY = "a robot in another field is robot.edit(gravity=(0, 0, -9.81))"
HINTS: Mapping[str, Mapping[str, str]] = {
    "": {
        "degrees": RADIANS, "deg": RADIANS, "unit": RADIANS,
        "gravity": GRAVITY, "g": GRAVITY,
    },
    "target": {
        "all": "robot.ik.branches(target) has all solutions in closed form", "position": TARGET, "quaternion": TARGET,
        "T": TARGET, "pose": TARGET,
    },
    "task": dict.fromkeys(("mask", "we", "position_only", "only_position"), TASKS),
    "tolerance": dict.fromkeys(("tol", "eps", "ilimit", "tolerances"), "tolerance= is in m and rad"),
    "torque": {
        "controller": "a controller is the torque: torque=cr.PD(robot, target)",
        "u": "torque= takes numbers, a controller, or a function of (t, q, qd)",
        "tau": "torque= takes numbers, a controller, or a function of (t, q, qd)",
        "method": "integrator= names the method", "solver": "integrator= names the method",
    },
    "duration": dict.fromkeys(
        ("T", "tf", "time", "t_end", "t_final", "t", "tspan", "t_span"), "duration= is the time in s"
    ),
    "times": dict.fromkeys(
        ("duration", "t", "T", "time", "tf"), "times= is the duration in s, or the time of each way-point"
    ),
    "waypoints": dict.fromkeys(("points", "n", "dt"), "the plan is a function: q, qd, qdd = plan(t), for any times"),
    "relative_to": {"frame": "relative_to= names the frame in which the pose is; the base unless one is given"},
    "link": dict.fromkeys(("end", "ee", "tool", "end_effector"), "link= names a link or frame"),
    "frame": dict.fromkeys(
        ("linear_first", "reference_frame", "reference", "rf"),
        'the angular part is first; frame="world", "body" or "space"',
    ),
    "tip_wrench": {"wrench": WRENCHES, "f_ext": WRENCHES, "fext": WRENCHES, "Ftip": WRENCHES, "wrenches": WRENCHES},
    "mass": {"weight": "mass= is in kg"},
    "rng": {"seed": "rng=np.random.default_rng(seed)"},
    "links": {"mass": 'links={"LINK": {"mass": 2.0}} names the link', "friction": 'joints={"JOINT": {"viscous": 0.1}}'},
    "sex": {"gender": "sex= is \"male\" or \"female\""},
    "qd": dict.fromkeys(("dq", "qdot", "q_dot", "v", "dtheta"), "qd= are the velocities, qdd= the accelerations"),
    "q": {
        "theta": "q= are the joint positions", "thetalist": "q= are the joint positions",
        "parameters": 'robot.at({"LINK.mass": ...}) binds numbers of the robot, for every function',
    },
}  # fmt: skip
"""For functions that have the first name as an argument: what to write instead of one that many expect."""

CHOICES: Mapping[str, str] = {
    "convention": 'convention="standard" or convention="modified" (Craig)',
    "target": "a configuration, a plan of cr.plan, or a function of the time",
    "draw": 'such as {"q0": ("normal", mean, std)}',
    "thing": "a robot's name (cr.robots() lists them) or the path of a file",
    "path": "where to write it",
}
"""What an argument may be that has to be given."""


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
        positional = [p.name for p in form.parameters.values() if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
        bound = bool(arguments) and known[:1] in (["robot"], ["self"], ["cls"])
        known, positional = known[bound:], positional[bound:]
        missing = next((p for p in known if str(error).endswith(f"argument: {p!r}")), "")
        if unknown:
            wrong = f"there is no argument {short_repr(unknown[0])}{_hint(unknown[0], known)}"
        elif "too many positional" in str(error) and 0 < len(positional) < len(known):
            wrong = f"{error}: those after {positional[-1]} are given by their names"
        else:
            wrong = str(error) + (f", {CHOICES[missing]}" if missing in CHOICES else "")
        name = type(arguments[0]).__name__ if function.__name__.startswith("__") else function.__name__
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

    return says_what_it_takes(call)


def says_what_it_takes(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function whose calls with wrong arguments end in an error that says what it takes."""
    cast(Any, function).says_what_it_takes = True
    return function


def explain_once(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which explains its arguments: itself where it does so already."""
    return function if hasattr(function, "says_what_it_takes") else explains_arguments(function)


def explains_construction(kind: type[R]) -> type[R]:
    """Let a class that is called with wrong arguments end in an error that says what it takes."""
    cast(Any, kind).__init__ = explains_arguments(kind.__init__)
    return kind


def explains_methods(kind: type[R]) -> type[R]:
    """Let a class, and its public methods, that are called with wrong arguments say what they take."""
    for name, value in list(vars(kind).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        if isinstance(value, (classmethod, staticmethod)):
            setattr(kind, name, type(value)(explain_once(value.__func__)))
        elif isinstance(value, FunctionType):
            setattr(kind, name, explain_once(value))
    return kind


class listing(Generic[R]):  # noqa: N801
    """A function without arguments that lists things; as an attribute of it, any name says that it is called."""

    def __init__(self, function: Callable[[], R]) -> None:
        update_wrapper(self, function)
        self._function = function

    def __call__(self, *arguments: Any, **options: Any) -> R:
        """The list."""
        if arguments or options:
            raise ArgumentError(f"{self._function.__name__}: it takes nothing, and lists them all")
        return self._function()

    def __reduce__(self) -> str:
        return self._function.__name__

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        called = self._function.__name__
        raise UnknownAttributeError(f"{called} is a function: cr.{called}() lists them; it has no {short_repr(name)}")
