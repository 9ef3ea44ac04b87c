"""Derivatives of any function with respect to numbers of the robot itself: lengths, masses, payloads, gravity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import WRENCH_UNITS, Array, names, rows_of
from chainrule.core.declaration import takes_dask
from chainrule.core.dimensions import match_dimensions
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import parameter_dimensions, read_parameters
from chainrule.core.products import jvp
from chainrule.core.reading import read_argument
from chainrule.errors import ShapeError, quoted, short_repr
from chainrule.functions.table import WRENCH_LENGTH, Function, entry_of
from chainrule.model.parameters import own_values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@takes_dask(parameters=parameter_dimensions, arguments=parameter_dimensions)
def by_parameters(
    robot: Mechanism,
    /,
    function: str,
    parameters: Sequence[str] | Mapping[str, ArrayLike],
    arguments: Mapping[str, Any] | Sequence[Any],
    **options: Any,
) -> dict[str, Array]:
    """Derivatives of a function's result with respect to numbers of the robot: by parameter.

    Of one number the derivative has the shape of the result, (..., result); of several, (..., result, k). Exact, by the
    chain rule through the compiled function: one product for each number.

    Parameters
    ----------
    function
        Its name, as of the method: "inverse_dynamics", "pose", "jacobian", "kinetic_energy", ...
    parameters
        Names of parameters, as of `robot.at`: "gravity" (3 numbers), "link2.length", "link2.mass", "elbow.origin" (3),
        "hand.payload" (10), "elbow.viscous", ... The derivatives are those at the robot's own numbers, and for a
        payload at none. A dictionary of names and numbers gives others.
    arguments
        By name, {"q": q, "qd": qd}, or a list in the function's order; also "tip_wrench" and "external.LINK", where the
        function takes wrenches.
    options
        Those of the function, as link and frame.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> found = arm.derivatives.by_parameters("gravity_torque", ["link2.mass", "gravity"], {"q": [0.0, 0.0]})
    >>> found["link2.mass"].round(2).tolist()
    [19.62, 9.81]
    >>> found["gravity"].shape
    (2, 3)
    """
    entry, caller = entry_of(function), "by_parameters"
    if not isinstance(parameters, Mapping):
        chosen = names(parameters, f"{caller}: parameters")
        own = {name: own_values(robot.model, name) for name in chosen}
        parameters = {name: x if len(x) > 1 else x[0] for name, x in own.items()}
    numbers = read_parameters(robot.model, caller, parameters).as_dict()
    if not numbers:
        raise ShapeError(f"{caller}: parameters names none; give some, such as ['gravity']")
    vectors = {
        name: array if name in numbers and array.shape[-1] == 1 else array[..., None, :]
        for name, array in (_read(robot, entry, function, arguments) | numbers).items()
    }
    counts = [array.shape[-1] for array in numbers.values()]
    ends = np.cumsum(counts)
    unit = np.split(np.eye(sum(counts)), ends[:-1], axis=-1)
    tangents = {name: u[..., 0] if u.shape[-1] == 1 else u for name, u in zip(numbers, unit, strict=True)}
    rates = jvp(robot, function, vectors, tangents, **options)
    by_number = np.moveaxis(rates, -1 - len(entry.gives), -1)
    split = zip(numbers, np.split(by_number, ends[:-1], axis=-1), strict=True)
    return {name: part[..., 0] if part.shape[-1] == 1 else part for name, part in split}


def _read(robot: Mechanism, entry: Function, function: str, arguments: Any) -> dict[str, Array]:
    """The arguments of a function as arrays, wrenches included."""
    caller = "by_parameters"
    if isinstance(arguments, (list, tuple)) and len(arguments) == len(entry.takes):
        arguments = dict(zip(entry.arguments, arguments, strict=True))
    if not isinstance(arguments, Mapping):
        raise ShapeError(
            f"{caller}: arguments of {function} must be a dictionary, or a list of {quoted(entry.arguments)}, got "
            f"{short_repr(arguments)}"
        )
    return {
        name: read_argument(robot, caller, name, value)
        if name in entry.arguments
        else rows_of(value, WRENCH_LENGTH, f"{caller}: {name}", "moment and force", WRENCH_UNITS)
        for name, value in match_dimensions(robot.model.layout, arguments, caller).items()
    }
