"""Values of parameters of a robot, as users give them: `robot.at({"hand.payload.mass": m})`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, real_array
from chainrule.core.joint_names import is_data_array
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.model import Model
from chainrule.model.parameters import (
    BODY,
    Parameter,
    find_parameters,
    is_parameter,
    parameter_length,
    put_parameters,
    put_values,
)
from chainrule.spatial import Symmetric, Vector
from chainrule.spatial.physical import objection

SHORT_BODIES = (1, 4)
"""Numbers of a body that will do: the mass of a point at the origin, or mass and place of a point."""

Truths = NDArray[np.bool_]


class ParameterValues(NamedTuple):
    """Parameters and their values, an array (..., count) for each."""

    names: tuple[str, ...] = ()
    arrays: tuple[Array, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Array] | None) -> ParameterValues:
        """Arrays (..., count) by name, which have been read before."""
        return cls(tuple(values or {}), tuple((values or {}).values()))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names for messages."""
        return tuple(f"{name!r}" for name in self.names)

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of components of each."""
        return tuple(array.shape[-1] for array in self.arrays)

    def as_dict(self) -> dict[str, Array]:
        """The arrays by name."""
        return dict(zip(self.names, self.arrays, strict=True))


NO_PARAMETERS = ParameterValues()


def bound_parameters(robot: Any) -> ParameterValues:
    """The parameters that are bound to a robot by `robot.at`."""
    values: ParameterValues = robot.__dict__.get("_parameters", NO_PARAMETERS)
    return values


def read_parameters(model: Model, caller: str, given: Any) -> ParameterValues:
    """The parameters of a call, with values that a robot can have."""
    if given is None:
        return NO_PARAMETERS
    if isinstance(given, ParameterValues):
        return given
    if not isinstance(given, Mapping):
        raise ShapeError(
            f"{caller}: parameters must be a dictionary of names and values, such as {{'hand.payload.mass': 2.0}}, "
            f"got {short_repr(given)}"
        )
    names = tuple(given)
    found = find_parameters(model, names)
    values = ParameterValues(names, tuple(_read(parameter, given[parameter.full_name], caller) for parameter in found))
    if any(parameter.kind.form in ("JOINT.static", "JOINT.coulomb") for parameter in found):
        _refuse_weak_hold(model, values, caller)
    return values


def edited_model(model: Model, caller: str, given: Any) -> Model:
    """The model with other values of parameters, one of each, as users give them."""
    values = read_parameters(model, caller, given)
    for name, array in zip(values.names, values.arrays, strict=True):
        if array.ndim > 1:
            raise ShapeError(
                f"{caller}: {name!r} must be one value of one robot, got a batch of shape {array.shape[:-1]}; "
                "robot.at({...}) takes one value for each row"
            )
    edited = put_values(model, values.names, [array.tolist() for array in values.arrays])
    for old, link in zip(model.links, edited.links, strict=True):
        wrong = None if link == old else objection(link.mass, link.com, link.inertia)
        if wrong:
            raise ModelError(
                f"{caller}: link {link.name!r} of robot {model.name!r} {wrong}; give a mass (kg), and an inertia about "
                "the center of mass (kg m^2) that fits it"
            )
    return edited


def parameter_dimensions(given: Mapping[str, Any], shape: tuple[int, ...], key: Any) -> int:
    """The dimensions of one state in the vector of this name, for `takes_dask`: none in a parameter of one number."""
    is_one = isinstance(key, str) and is_parameter(key) and parameter_length(given["robot"].model, key) == 1
    return 0 if is_one else 1


def refuse_moving(model: Model, values: ParameterValues, caller: str) -> None:
    """Raise where parameters move joints in a robot with closed loops, which would have to be closed anew."""
    if not model.constraints:
        return
    for parameter in find_parameters(model, values.names):
        if parameter.kind.moves:
            raise ModelError(
                f"{caller}: parameter {parameter.full_name!r} moves a joint or frame of robot {model.name!r}, whose "
                "closed loops it would open; make a robot of each place, with robot.edit(...)"
            )


def _read(parameter: Parameter, value: Any, caller: str) -> Array:
    what, labels = f"{caller}: {parameter.full_name!r}", parameter.labels
    if is_data_array(value) and value.dims:
        raise ShapeError(
            f"{what} is taken by place, and the dimensions {tuple(value.dims)} of this DataArray would not count; give "
            ".to_numpy(), with its batch in the order of that of the states"
        )
    is_payload = parameter.kind.form == "LINK.payload" and parameter.which is None
    if value is None and is_payload:
        return np.zeros(len(labels))
    count = _last_length(value) if is_payload else len(labels)
    units = labels[:count] if count in SHORT_BODIES else labels
    array = real_array(value, what, labels[0][1] if len(units) == 1 else units).astype(float)
    if len(labels) == 1 or (array.ndim == 0 and is_payload):
        array = array[..., None]
    if is_payload and array.shape[-1] in SHORT_BODIES:
        array = np.concatenate([array, np.zeros((*array.shape[:-1], len(labels) - array.shape[-1]))], axis=-1)
    if array.ndim == 0 or array.shape[-1] != len(labels):
        wanted = ", ".join(f"{name} ({unit})" for name, unit in labels)
        raise ShapeError(
            f"{what} must have {len(labels)} numbers in its last dimension ({wanted}), got shape {array.shape}"
        )
    _refuse_impossible(parameter, array, what)
    return array


def _last_length(value: Any) -> int:
    """The length of the last dimension of arrays, lists or quantities; 1 for one number."""
    values: Any = getattr(value, "magnitude", value)
    while isinstance(values, (list, tuple)):
        if not values or not isinstance(values[0], (list, tuple, np.ndarray)):
            return len(values)
        values = values[0]
    return np.shape(values)[-1] if np.ndim(values) else 1


def _refuse_impossible(parameter: Parameter, array: Array, what: str) -> None:
    """Raise where values are not finite, or such that no robot has them, with the first of them."""
    _refuse(~np.isfinite(array), array, parameter, what, "finite")
    check = parameter.kind.check
    if check == "body" and parameter.which is not None:  # one number of a body
        check = "not negative" if parameter.labels[0][0] == "mass" else None
    if check == "positive":
        _refuse(~(array > 0), array, parameter, what, check)
    elif check == "not negative":
        _refuse(array < 0, array, parameter, what, check)
    elif check == "body":
        rows = array.reshape(-1, len(BODY))
        for row in np.flatnonzero(_suspicious(rows)):
            values = rows[row].tolist()
            wrong = objection(values[0], Vector(*values[1:4]), Symmetric(*values[4:]))
            if wrong:
                raise ModelError(
                    f"{what}{_row(np.unravel_index(row, array.shape[:-1]))}: the body {wrong}; give a mass (kg), and "
                    "an inertia about the center of mass (kg m^2) that fits it"
                )


def _refuse_weak_hold(model: Model, values: ParameterValues, caller: str) -> None:
    """Raise where friction at rest is less than in motion, for values that are given or the robot's own."""
    for joint in put_parameters(
        model, values.names, [list(np.moveaxis(array, -1, 0)) for array in values.arrays]
    ).joints:
        for dof in joint.dofs:
            pairs = ((dof.static, dof.coulomb), (dof.static_negative, dof.coulomb_negative))
            if any(np.any((static > 0) & (static < coulomb)) for static, coulomb in pairs):
                raise ModelError(
                    f"{caller}: parameters make static, the friction at rest, of joint {joint.name!r} less than "
                    "coulomb, that in motion; give both"
                )


def _refuse(wrong: Truths, array: Array, parameter: Parameter, what: str, words: str) -> None:
    if wrong.any():
        *place, column = np.argwhere(wrong)[0]
        name, unit = parameter.labels[column]
        raise ShapeError(f"{what}{_row(place)}: {name} ({unit}) must be {words}, got {array[(*place, column)]:g}")


def _row(place: Any) -> str:
    return f" in row {tuple(int(i) for i in place)}" if len(place) else ""


def _suspicious(rows: Array) -> Truths:
    """Whether each body (rows, 10) needs a closer look: cheap, and true for every body that is impossible.

    A body that has a volume has a second moment of mass, tr(I)/2 - I, that is positive definite: its leading minors
    are positive (Sylvester), and then its inertia fulfils the triangle inequality.
    """
    xx, yy, zz, xy, xz, yz = rows[:, 4:].T
    half = (xx + yy + zz) / 2
    a, b, c = half - xx, half - yy, half - zz
    minor = a * b - xy * xy
    determinant = c * minor - a * yz * yz - b * xz * xz - 2 * xy * xz * yz
    is_solid = (a > 0) & (minor > 0) & (determinant > 0)
    is_point = ~rows[:, 4:].any(axis=1)
    return np.asarray((rows[:, 0] < 0) | ~(is_solid | is_point))
