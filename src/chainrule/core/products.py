"""Products of the Jacobian of any function with vectors: forward, reverse, and the one of the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from chainrule.arguments import WRENCH_UNITS, Array, flag, names, real_array, rows_of, together
from chainrule.compile.backend import Call, active
from chainrule.compile.jacobian_products import JacobianProduct, tangent_lengths
from chainrule.core.declaration import takes_dask
from chainrule.core.derived import backend_of
from chainrule.core.dimensions import match_dimensions
from chainrule.core.evaluation import call_of
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import parameter_dimensions
from chainrule.core.reading import find_link, read_argument
from chainrule.errors import ShapeError, UnknownNameError, quoted, short_repr
from chainrule.functions.table import WRENCH_LENGTH, Function, entry_of
from chainrule.model.parameters import FORMS, is_parameter, parameter_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TIP_WRENCH, APPLIED_WRENCH = "tip_wrench", "wrench"
WORLD = "world"
"""The name of the numbers of a world's obstacles."""
WRENCH = "external."
"""The name of a wrench on a link begins so."""

Vectors = Mapping[str, Any] | Sequence[Any]
"""Vectors by the names of arguments, or in their order; None stands for one that is left out."""


class Inputs(NamedTuple):
    """The arguments of a function as the kernel takes them: the state, then wrenches, then parameters of the robot."""

    names: tuple[str, ...]
    signs: tuple[int, ...]
    """-1 for a wrench that counts with the opposite sign, else 1."""
    loads: tuple[str, ...]
    parameters: tuple[str, ...]


def inputs_of(robot: Mechanism, caller: str, function: str, given: Sequence[str]) -> Inputs:
    """The inputs of a function for arguments of these names, in the kernel's order."""
    entry = entry_of(function)
    missing = [name for name in entry.arguments if name not in given]
    if missing:
        raise ShapeError(f"{caller}: {function} takes {quoted(entry.arguments)}; {quoted(missing)} is not given")
    further = [name for name in given if name not in entry.arguments and not (name == WORLD and entry.is_surrounded)]
    own = APPLIED_WRENCH if entry.acts else TIP_WRENCH
    wrenches = [name for name in further if name == own or name.startswith(WRENCH)]
    parameters = tuple(sorted(name for name in further if name not in wrenches))
    if wrenches and not entry.loaded:
        raise UnknownNameError(f"{caller}: {function} takes no wrenches, got {quoted(wrenches)}")
    for name in parameters:
        if not is_parameter(name):
            known = [*entry.arguments, *([own, f"{WRENCH}LINK"] if entry.loaded else ()), *FORMS]
            raise UnknownNameError.of("argument", name, known, f"{caller}: {function}")
    loads = tuple(find_link(robot) if name == own else name.removeprefix(WRENCH) for name in wrenches)
    tip_sign = 1 if entry.acts else -1
    signs = [tip_sign if name == own else 1 for name in wrenches]
    around = (WORLD,) if entry.is_surrounded and WORLD in given else ()
    order = (*entry.arguments, *wrenches, *around, *parameters)
    return Inputs(order, (*(1 for _ in entry.takes), *signs, *(1 for _ in (*around, *parameters))), loads, parameters)


def open_world(given: Mapping[str, Any], options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The numbers of a world in place of it, and its layout among the options."""
    world = given.get(WORLD)
    others = {name: x for name, x in given.items() if name != WORLD}
    if world is None:
        return others, dict(options)
    if not hasattr(world, "layout"):
        raise ShapeError(f"world must be a cr.World, got {short_repr(world)}")
    return others | ({WORLD: world.numbers} if world.layout else {}), {**options, "obstacles": world.layout}


def call_for(
    robot: Mechanism,
    function: str,
    inputs: Inputs,
    options: Mapping[str, Any],
    products: Sequence[JacobianProduct] = (),
) -> Call:
    """The call of a function, or of its products, with these inputs."""
    chosen = {**options, "loads": inputs.loads} if entry_of(function).loaded and inputs.loads else options
    return call_of(robot, function, chosen, parameters=inputs.parameters, products=products)


class _Request:
    """What a product is asked for, read: the function, its arguments as arrays, and the tangents given."""

    def __init__(
        self, robot: Mechanism, caller: str, function: str, arguments: Vectors, raw: bool, options: Mapping[str, Any]
    ) -> None:
        self.robot, self.caller, self.function = robot, caller, function
        self.entry: Function = entry_of(function)
        self.by_velocities = not flag(raw, f"{caller}: raw")
        named, self.options = open_world(self._by_name(arguments, "arguments", self.entry.arguments), options)
        given = match_dimensions(robot.model.layout, named, caller)
        self.inputs = inputs_of(robot, caller, function, list(given))
        self.call = call_for(robot, function, self.inputs, self.options)
        self.lengths, self.shape = self.call.signature
        self.arrays = {name: self._argument(name, given[name]) for name in self.inputs.names}

    def _by_name(self, value: Any, what: str, order: Sequence[str]) -> dict[str, Any]:
        """Vectors by name; None is left out."""
        if isinstance(value, Mapping):
            found = {names([name], f"{self.caller}: {what}")[0]: vector for name, vector in value.items()}
        elif isinstance(value, (list, tuple)) and len(value) == len(order):
            found = dict(zip(order, value, strict=True))
        else:
            example = ", ".join(f"{name!r}: .." for name in order)
            raise ShapeError(
                f"{self.caller}: {what} of {self.function} must be a dictionary {{{example}}}, or a list of "
                f"{quoted(order)}, got {short_repr(value)}"
            )
        return {name: vector for name, vector in found.items() if vector is not None}

    def _argument(self, name: str, value: Any) -> Array:
        what = f"{self.caller}: {name}"
        place = self.inputs.names.index(name)
        if place < len(self.entry.takes):
            return read_argument(self.robot, self.caller, name, value)
        if place < len(self.entry.takes) + len(self.inputs.loads):
            return self.inputs.signs[place] * rows_of(value, WRENCH_LENGTH, what, "moment and force", WRENCH_UNITS)
        if name == WORLD:
            return rows_of(value, self.lengths[place], what, "the numbers of the obstacles")
        return self._numbers(name, value, what)

    def _numbers(self, name: str, value: Any, what: str) -> Array:
        """Numbers of the robot, or their rates; one number has no dimension of its own."""
        length = parameter_length(self.call.model, name)
        array = real_array(value, what)
        return array[..., None] if length == 1 else rows_of(array, length, what, "the numbers of this parameter")

    def places(self, chosen: Sequence[str], what: str) -> tuple[int, ...]:
        """The places of arguments by name, in the kernel's order."""
        for name in chosen:
            if name not in self.inputs.names:
                raise UnknownNameError.of(
                    "argument", name, self.inputs.names, f"{self.caller}: {what} of {self.function}"
                )
        if not chosen:
            raise ShapeError(f"{self.caller}: {what} names no argument; there are {quoted(self.inputs.names)}")
        return tuple(k for k, name in enumerate(self.inputs.names) if name in chosen)

    def tangents(self, value: Any) -> tuple[tuple[int, ...], dict[str, Array]]:
        """Tangents as arrays, and the places of the arguments that they belong to."""
        given = self._by_name(value, "tangents", self.entry.arguments)
        places = self.places(list(given), "tangents")
        arrays: dict[str, Array] = {}
        for place, size in zip(places, self.sizes(places), strict=True):
            name = self.inputs.names[place]
            of = "those of a velocity" if self._varies_by_velocity(place) else f"as {name}"
            what = f"{self.caller}: tangent of {name}"
            if name in self.inputs.parameters:
                arrays[f"tangent of {name}"] = self._numbers(name, given[name], what)
            else:
                arrays[f"tangent of {name}"] = self.inputs.signs[place] * rows_of(given[name], size, what, of)
        return places, arrays

    def _varies_by_velocity(self, place: int) -> bool:
        return self.by_velocities and place < len(self.entry.takes) and self.entry.takes[place].is_configuration

    def sizes(self, places: Sequence[int]) -> tuple[int, ...]:
        """The number of numbers in the tangent of each argument."""
        return tangent_lengths(self.call.model, self.entry, self.lengths, places, self.by_velocities)

    def cotangent(self, value: Any) -> Array:
        """A cotangent as an array with the numbers of the result in its last dimension."""
        what = f"{self.caller}: cotangent"
        array = real_array(value, what)
        own = array.ndim - len(self.shape)
        if own < 0 or array.shape[own:] != self.shape:
            raise ShapeError(
                f"{what} must have the shape of the result of {self.function}, (..., "
                f"{', '.join(map(str, self.shape))}), got {array.shape}"
            )
        return array.reshape(*array.shape[:own], math.prod(self.shape))

    def evaluate(self, products: Sequence[JacobianProduct], further: Mapping[str, Array]) -> Array:
        """The product, on the arguments and what it takes besides."""
        call = call_for(self.robot, self.function, self.inputs, self.options, products)
        return active(backend_of(self.robot)).evaluate(call, together({**self.arrays, **further}, self.caller))

    def by_argument(self, gradient: Array, places: Sequence[int]) -> dict[str, Array]:
        """The parts of a gradient, by the names of arguments."""
        parts: dict[str, Array] = {}
        start = 0
        for place, size in zip(places, self.sizes(places), strict=True):
            part = gradient[..., start : start + size]
            name = self.inputs.names[place]
            part = part[..., 0] if name in self.inputs.parameters and size == 1 else part
            parts[name] = part if self.inputs.signs[place] > 0 else -part
            start += size
        return parts


def _result_dimensions(given: Mapping[str, Any], shape: tuple[int, ...], key: Any) -> int:
    """The dimensions of a function's result for one state, which a cotangent has too."""
    entry_of(given["function"])
    call: Call = call_of(given["robot"], given["function"], given.get("options", {}))
    return len(call.signature[1])


@takes_dask(arguments=parameter_dimensions, tangents=parameter_dimensions)
def jvp(
    robot: Mechanism, /, function: str, arguments: Vectors, tangents: Vectors, *, raw: bool = False, **options: Any
) -> Array:
    """The rate of a function's result when its arguments change at given rates: the Jacobian times a vector.

    The Jacobian is not formed: the product costs about as much as two evaluations of the function.

    Parameters
    ----------
    function
        Its name, as of the method: "inverse_dynamics", "pose", ...
    arguments
        By name, {"q": q, "qd": qd}, or a list in the function's order. Besides: "tip_wrench" and "external.LINK", where
        the function takes wrenches, and numbers of the robot as of `robot.at`: "gravity", "LINK.mass", ...
    tangents
        The rates of arguments, in the same form; those left out, or None, do not change. The rate of a configuration is
        a velocity (..., nv), so that a quaternion turns by an angular velocity.
    raw
        Whether rates of configurations are those of their nq numbers as stored. A quaternion counts as its unit
        multiple, also in the derivative.
    options
        Those of the function, as link and frame.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.derivatives.jvp("gravity_torque", {"q": [0.5, 0.2]}, {"q": [1.0, 0.0]}).round(3).tolist()
    [-15.726, -6.32]
    """
    request = _Request(robot, "jvp", function, arguments, raw, options)
    places, rates = request.tangents(tangents)
    return request.evaluate([JacobianProduct("jvp", places, request.by_velocities)], rates)


@takes_dask(arguments=parameter_dimensions, cotangent=_result_dimensions)
def vjp(
    robot: Mechanism,
    /,
    function: str,
    arguments: Vectors,
    cotangent: ArrayLike,
    *,
    wrt: Sequence[str] | None = None,
    raw: bool = False,
    **options: Any,
) -> dict[str, Array]:
    """The gradient of a weighted sum of a function's results: a vector times the Jacobian, by argument.

    The Jacobian is not formed: the gradient for all arguments costs about as much as two evaluations of the function.

    Parameters
    ----------
    function, arguments, options
        As of `jvp`.
    cotangent
        The weight of each number of the result, (..., shape of the result).
    wrt
        The arguments whose gradients are wanted, all by default. Each gradient has the batch dimensions of all
        arguments together.
    raw
        Whether the gradient for a configuration is that for its nq numbers as stored, instead of nv velocities.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> gradient = arm.derivatives.vjp("kinetic_energy", {"q": [0.5, 0.2], "qd": [1.0, 2.0]}, 1.0, wrt=["qd"])
    >>> gradient["qd"].round(3).tolist()
    [8.92, 3.98]
    """
    request = _Request(robot, "vjp", function, arguments, raw, options)
    places = request.places(request.inputs.names if wrt is None else names(wrt, "vjp: wrt"), "wrt")
    gradient = request.evaluate(
        [JacobianProduct("vjp", places, request.by_velocities)], {"cotangent": request.cotangent(cotangent)}
    )
    return request.by_argument(gradient, places)


@takes_dask(arguments=parameter_dimensions, cotangent=_result_dimensions, tangents=parameter_dimensions)
def hvp(
    robot: Mechanism,
    /,
    function: str,
    arguments: Vectors,
    cotangent: ArrayLike,
    tangents: Vectors,
    *,
    wrt: Sequence[str] | None = None,
    raw: bool = False,
    **options: Any,
) -> dict[str, Array]:
    """The rate of the gradient that `vjp` gives, when arguments change at given rates: a Hessian times a vector.

    Parameters
    ----------
    function, arguments, tangents, options
        As of `jvp`.
    cotangent, wrt
        As of `vjp`.
    raw
        As of `jvp` and `vjp`. With quaternions and velocities, the product is not that of a symmetric matrix.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.derivatives.hvp("potential_energy", {"q": [0.5, 0.2]}, 1.0, {"q": [1.0, 0.0]})["q"].round(3).tolist()
    [-15.726, -6.32]
    """
    request = _Request(robot, "hvp", function, arguments, raw, options)
    places = request.places(request.inputs.names if wrt is None else names(wrt, "hvp: wrt"), "wrt")
    moving, rates = request.tangents(tangents)
    steps = [
        JacobianProduct("vjp", places, request.by_velocities),
        JacobianProduct("jvp", moving, request.by_velocities),
    ]
    return request.by_argument(request.evaluate(steps, {"cotangent": request.cotangent(cotangent), **rates}), places)
