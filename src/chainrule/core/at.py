"""`robot.at({...})`: the functions of a robot with other values of parameters, for all states or each of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chainrule.arguments import checked_out, holds_lazy, real_array, together
from chainrule.core.dask import parts_of, with_parts
from chainrule.core.declaration import takes_dask
from chainrule.core.derived import backend_of
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import ParameterValues, parameter_dimensions, read_parameters
from chainrule.core.reading import read_argument
from chainrule.core.subject import RobotSubject
from chainrule.errors import ShapeError
from chainrule.functions.table import ARGUMENTS, POSES
from chainrule.model.parameters import put_parameters

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Mechanism)
Parameters = ParameterValues | Mapping[str, Any]
"""Values of parameters that are read, or, where there are Dask arrays among them, as they were given."""


def at(robot: Mechanism, parameters: Mapping[str, ArrayLike]) -> At:
    """The functions of this robot with other values of its parameters.

    One compiled function serves them all, so that a thousand payloads cost no more than one. Arrays have the batch
    dimensions of the states, or broadcast with them.

    Parameters
    ----------
    parameters
        By name: "gravity" (3), "gravity.z", "LINK.mass" (the inertia grows with it), "LINK.com" (3), "LINK.com.x",
        "LINK.inertia" (6), "LINK.inertia.xx", "LINK.inertial" (mass, com, inertia: 10), "LINK.length",
        "LINK.payload" (10) and "LINK.payload.mass", a body besides what is there, "JOINT.origin" (3), "JOINT.origin.z",
        "JOINT.pose" (xyz and rpy: 6), "JOINT.turn" (3) and "JOINT.offset" (q + offset), both besides what is there,
        "JOINT.viscous", "JOINT.coulomb", "JOINT.static", "JOINT.rotor", "JOINT.gear", "JOINT.stiffness", "JOINT.rest";
        "*.viscous", a value for each degree of freedom of the robot. A value is an array with the batch dimensions; a
        parameter of several components has them in the last dimension.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.at({"link2.mass": np.array([1.0, 2.0])}).gravity_torque([0.0, 0.0]).round(2).tolist()
    [[29.43, 9.81], [49.05, 19.62]]
    """
    is_lazy = isinstance(parameters, Mapping) and any(holds_lazy(value) for value in parameters.values())
    return At(robot, parameters if is_lazy else read_parameters(robot.model, "at", parameters))


class At:
    """Functions of a robot with parameters bound. Made by `robot.at`.

    It has the functions of states, `simulate`, `simulation`, `sensitivities` and `inverse_kinematics`, and the views
    `at`, `units`, `degrees`, `reference`, `torch`, `jax` and `casadi`. What makes another robot is not here:
    `robot.edit` does.
    """

    def __init__(self, robot: Mechanism, parameters: Parameters) -> None:
        self._robot = robot
        self._parameters = parameters

    def __repr__(self) -> str:
        names = self._parameters if isinstance(self._parameters, Mapping) else self._parameters.names
        return f"<{self._robot!r} at {', '.join(names)}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_functions_of(type(self._robot))})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _with_parameters(self._robot, self._parameters, self._robot, name)

    def at(self, parameters: Mapping[str, ArrayLike]) -> At:
        """The functions of the robot with other values of these parameters too."""
        return at(self._robot, {**_as_given(self._parameters), **parameters})


class AtSubject:
    """Functions of a subject with parameters bound."""

    def __init__(self, subject: RobotSubject, parameters: Parameters) -> None:
        self._subject = subject
        self._parameters = parameters

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_functions_of(type(self._subject))})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _with_parameters(self._subject.robot, self._parameters, self._subject, name)


def _with_parameters(robot: Mechanism, parameters: Parameters, owner: Any, name: str) -> Any:
    """A function of a robot or of its subject, with parameters bound."""
    function = getattr(type(owner), name, None)
    if function is not None and not callable(function):  # a property
        value = getattr(owner, name)
        if isinstance(value, RobotSubject):
            return AtSubject(value, parameters)
        if callable(getattr(value, "at", None)):  # another view of the robot
            return value.at(_as_given(parameters))
    if function is None or not takes_bound(function):
        what = f"robot {robot.name!r}" if owner is robot else repr(owner)
        raise AttributeError(
            f"{name!r} of {what} does not take bound parameters; robot.edit(...) makes a robot with other values"
        )

    @wraps(MethodType(function, robot))  # a signature without the robot
    def call(*arguments: Any, **options: Any) -> Any:
        if hasattr(function, "reads_model"):
            return _on_edited(robot, parameters, function, arguments, options)
        rows = parameters if isinstance(parameters, Mapping) else _rows(parameters, (*arguments, *options.values()))
        if rows and not hasattr(function, "takes_parameters"):
            signature(function).bind(robot, *arguments, **options)  # which refuses arguments that it does not have
            named = dict(zip(list(signature(function).parameters)[1:], arguments, strict=False))
            return on_chunks(robot, dict(rows), function=function, **named, **options)
        return function(bind(robot, parameters), *arguments, **options)

    return call


def _on_edited(
    robot: Mechanism, parameters: Parameters, function: Callable[..., Any], arguments: Sequence[Any], options: Any
) -> Any:
    """A function that reads the model itself: of a robot with these values, or of one for each row of values."""
    values = read_parameters(robot.model, "at", parameters)
    given = dict(signature(function).bind(robot, *arguments, **options).arguments)
    (robot_name, _), out = next(iter(given.items())), given.pop("out", None)
    del given[robot_name]
    if all(array.ndim == 1 for array in values.arrays):
        edited = _edit(robot, values, ())
        return function(edited, **given) if out is None else function(edited, **given, out=out)
    caller = function.__name__
    for name, value in given.items():
        parts = value.values() if isinstance(value, Mapping) else (value,)
        if name not in ARGUMENTS and any(_has_rows(part, 2 if name in POSES else 1) for part in parts):
            raise ShapeError(f"{caller}: where a parameter has several values, {name} must be one for all of them")
    states = {
        name: real_array(x, f"{caller}: {name}")
        if isinstance(x, (list, np.ndarray))
        else read_argument(robot, caller, name, x)
        for name, x in given.items()
        if name in ARGUMENTS and x is not None
    }
    arrays = together(states | dict(zip(values.labels, values.arrays, strict=True)), caller)
    own = ParameterValues(values.names, tuple(arrays[len(states) :]))
    batch = arrays[0].shape[:-1]
    rows = []
    for row in np.ndindex(batch):
        given |= {name: array[row] for name, array in zip(states, arrays, strict=False)}
        rows.append(function(_edit(robot.reference, own, row), **given))
    result = _stack(rows, batch)
    if out is None:
        return result
    place = checked_out(out, result.shape, result.dtype, caller)
    place[...] = result
    return place


def _has_rows(value: Any, dimensions: int) -> bool:
    return isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) > dimensions


def _edit(robot: M, values: ParameterValues, row: tuple[int, ...]) -> M:
    """A robot with one row of values as its own."""
    numbers = [array[row].tolist() for array in values.arrays]
    return type(robot)(put_parameters(robot.model, values.names, numbers), backend_of(robot))


def _stack(rows: Sequence[Any], batch: tuple[int, ...]) -> Any:
    """Results of single states as one of a batch: their arrays are stacked, part by part."""
    first = rows[0]
    if isinstance(first, (np.ndarray, np.generic, float)):
        return np.array(rows).reshape(*batch, *np.shape(first))
    parts = {name: _stack([parts_of(row)[name] for row in rows], batch) for name in parts_of(first)}
    return with_parts(first, parts) if parts else first


def _rows(parameters: ParameterValues, arguments: Sequence[Any]) -> Mapping[str, Any]:
    """Values as they are given, where they are those of each state of Dask arrays, and are cut as these are."""
    if all(array.ndim == 1 for array in parameters.arrays) or not any(map(holds_lazy, arguments)):
        return {}
    return _as_given(parameters)


def _as_given(parameters: Parameters) -> Mapping[str, Any]:
    """Values of parameters by name, those of one number without a dimension of their own."""
    if isinstance(parameters, Mapping):
        return parameters
    return {name: x[..., 0] if x.shape[-1] == 1 else x for name, x in parameters.as_dict().items()}


@takes_dask(bound=parameter_dimensions)
def on_chunks(robot: Mechanism, bound: Mapping[str, Any], *, function: Callable[..., Any], **arguments: Any) -> Any:
    """A function on one chunk of Dask arrays, with the values of the parameters in that chunk bound."""
    return function(bind(robot, read_parameters(robot.model, "at", bound)), **arguments)


def takes_bound(function: Any) -> bool:
    """Whether a function computes with the parameters that are bound to a robot."""
    return any(hasattr(function, mark) for mark in ("declaration", "composition", "takes_parameters", "reads_model"))


def takes_parameters(function: F) -> F:
    """Mark a function that reads the parameters bound to a robot itself."""
    function.takes_parameters = True  # type: ignore[attr-defined]
    return function


def reads_model(function: F) -> F:
    """Mark a function that reads the model of a robot itself: with parameters bound, it takes an edited robot."""
    function.reads_model = True  # type: ignore[attr-defined]
    return function


def bind(robot: M, parameters: Parameters | None) -> M:
    """The robot with parameters bound, for the functions that take them; it shares what the robot has computed."""
    if parameters is None or (isinstance(parameters, ParameterValues) and not parameters.names):
        return robot
    kind = type(robot)
    twin = kind.__new__(kind)
    kept = ("_model", "_backend", "_remembered", "_merged")
    twin.__dict__.update({name: robot.__dict__[name] for name in kept if name in robot.__dict__})
    twin.__dict__["_parameters"], twin.__dict__["_origin"] = parameters, robot
    return twin


def unbind(robot: M) -> tuple[M, Any]:
    """A robot without the parameters that are bound to it, and these; None where there are none."""
    return robot.__dict__.get("_origin", robot), robot.__dict__.get("_parameters")


def _functions_of(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_") and takes_bound(getattr(kind, name, None))}
