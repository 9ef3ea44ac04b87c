"""Functions of a robot, each declared once: its algorithm, arguments, options and result, beside its docstring.

    @function(rnea.gravity_torque, takes=(Q,), gives=(EFFORTS,), on_any_frames=True, answer="...")
    def gravity_torque(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
        '''g(q): torques that hold the robot still against gravity: (..., n).'''

The method, kernels, exports, derivatives, `robot.at`, `robot.units`, PyTorch, JAX, CasADi, Dask arrays and data sets
come from that. A docstring is all that the function needs. Where it has a body, that comes first: what it returns is
the result, and `BY_ALGORITHM` goes on to the algorithm.

How to add a function: write the algorithm in `algorithms/`, declare it in the file of its subject, and list it in
`robot/robot.py` or in the subject's class.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from chainrule.arguments import checked_out, holds_lazy
from chainrule.calls import call_error, says_what_it_takes
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import NO_PARAMETERS, ParameterValues
from chainrule.core.reading import NO_LOADS, find_link, load_on, read_wrenches
from chainrule.functions.table import ARGUMENTS, POSES, Argument, Dimensions, Function, register

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")

BY_ALGORITHM: Any = None
"""What a function with a body returns where the algorithm computes the result."""

WRENCH = "wrench"
"""The argument of a function whose link applies a wrench to its surroundings."""


def function(compute: Callable[..., Any], *, subject: str | None = None, **facts: Any) -> Callable[[F], F]:
    """Declare a function: `compute(model, *arguments, **options)` is its algorithm; facts are those of `Function`.

    With a subject its name is "subject.name", as it is called on the robot.
    """

    def declare(stub: F) -> F:
        name = stub.__name__ if subject is None else f"{subject}.{stub.__name__}"
        entry = register(Function(name, compute, **facts))
        parameters = tuple(signature(stub).parameters)[1:]

        @takes_dask()
        @wraps(stub)
        def method(robot: Any, /, *arguments: Any, **options: Any) -> Any:
            result = stub(robot, *arguments, **options)  # which also refuses arguments that it does not have
            if result is not BY_ALGORITHM:
                return result
            return answer(robot, entry, {**dict(zip(parameters, arguments, strict=False)), **options})

        cast(Any, method).declaration = entry
        return cast(F, says_what_it_takes(method))

    return declare


def takes_dask(*, by_reference: bool = False, **dimensions: Dimensions) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function of a robot take Dask arrays, and tables over them, wherever it takes arrays.

    Its results are then Dask arrays, by the same names; nothing is computed. Each argument has one dimension for one
    state, unless `dimensions` says otherwise by the argument's name. With `by_reference` the robot's reference tells
    the shapes of the results: where an empty batch would compile something.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(robot: Any, /, *arguments: Any, **options: Any) -> Any:
            if "dask" in sys.modules and (any(map(holds_lazy, arguments)) or any(map(holds_lazy, options.values()))):
                from chainrule.core.dask import LazyArguments

                given = LazyArguments(call, robot, dimensions, arguments, options)
                return given.on_chunks(robot.reference if by_reference else robot)
            try:
                return cast(Any, function)(robot, *arguments, **options)
            except TypeError:
                wrong = call_error(function, (robot, *arguments), options)
                if wrong is None:
                    raise
            raise wrong

        if any(is_state(name) for name in signature(function).parameters):
            cast(Any, call).of_states = True
        return says_what_it_takes(cast(Callable[P, R], call))

    return decorate


def is_state(parameter: str) -> bool:
    """Whether a parameter of this name is a part of a state, or a pose."""
    return parameter in POSES or (parameter in ARGUMENTS and ARGUMENTS[parameter].quantity != "effort")


def variant(compute: Callable[..., Any], name: str, of: str, **facts: Any) -> None:
    """Declare a function without a method of its own: that of another one evaluates it, `when` its arguments say so."""
    register(Function(name, compute, variant_of=of, **facts))


def answer(robot: Mechanism, entry: Function, given: dict[str, Any], bound: ParameterValues = NO_PARAMETERS) -> Any:
    """The result of a declared function, for arguments by name, with parameters of the robot bound."""
    for argument in entry.takes:
        given[argument.name] = rates_or_zeros(robot, argument, given.get(argument.name))
    loads = NO_LOADS
    if entry.acts:
        loads = load_on(find_link(robot, given.pop("link", None)), given[WRENCH], entry.name, WRENCH)
    elif entry.loaded:
        loads = read_wrenches(robot, entry.name, given.get("tip_wrench"), given.get("external"))
    out, chosen = given.get("out"), entry.own(given)
    values = evaluate(robot, entry.name, loads, parameters=bound if bound.names else None, out=out, **chosen)
    finish = entry.finish(robot.model, {**chosen, "loads": loads.links})
    return values if finish is None else finish(values)


def rates_or_zeros(robot: Mechanism, argument: Argument, value: Any) -> Any:
    """An argument as it is given; zeros for rates that are left out, or given as the number 0."""
    if argument.is_configuration or not (value is None or (type(value) in (int, float) and value == 0)):
        return value
    return np.zeros(argument.length(robot.model))


def composition(gives: tuple[Any, ...] | None = None, *, unit: str = "") -> Callable[[F], F]:
    """Declare a function that is composed of others: it takes Dask arrays, and parameters bound by `robot.at`.

    gives, unit: its result, as of `Function`, where that is one array. It is written into `out`, if the function
    has that option.
    """

    def declare(stub: F) -> F:
        @takes_dask()
        @wraps(stub)
        def method(robot: Any, /, *arguments: Any, **options: Any) -> Any:
            result, out = stub(robot, *arguments, **options), options.get("out")
            if out is None:
                return result
            place = checked_out(out, np.shape(result), np.asarray(result).dtype, stub.__name__)
            place[...] = result
            return place

        entry = Function(stub.__name__, stub, (), gives or (), unit=unit)
        cast(Any, method).composition = entry if gives is not None else None
        return cast(F, method)

    return declare
