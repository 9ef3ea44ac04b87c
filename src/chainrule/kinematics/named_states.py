"""States by the names of joints: a configuration from some of them, and the numbers of a state by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, is_lazy, real_array
from chainrule.calls import RADIANS
from chainrule.core.declaration import takes_dask
from chainrule.core.joint_names import array_by_name, names_and_values, values_by_name
from chainrule.core.mechanism import Mechanism
from chainrule.core.plausibility import warn_of_degrees
from chainrule.core.reading import read_joints, refuse_zero_quaternions
from chainrule.core.tables import batch_dimensions
from chainrule.errors import ArgumentError, ShapeError, UnknownNameError, import_optional
from chainrule.kinematics.configurations import home, neutral
from chainrule.model import Quantity
from chainrule.model.configurations import HOME

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@takes_dask()
def q(robot: Mechanism, /, *given: Any, **joints: Any) -> Array:
    """A configuration by the names of joints; those that are not named are at the neutral one: (..., nq).

    Parameters
    ----------
    given
        What to start from or to change, each over the one before: the name of a configuration of the robot, a whole
        configuration (..., nq), or a dictionary of joints. Names that are no Python words go into a dictionary.
    joints
        Positions of joints, in rad or m: a number, an array for a batch, a list for a joint of several coordinates.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("scara")
    >>> arm.q(joint2=0.5).tolist()
    [0.0, 0.5, 0.0, 0.0]
    >>> cr.load("scara").floating().q({"joint2": 0.5, "floating_base.z": 1.2})[:3].tolist()
    [0.0, 0.0, 1.2]
    """
    _refuse_degrees(robot, joints, "q")
    state = neutral(robot)
    for entry in (*given, joints):
        if isinstance(entry, str):
            state = _configuration(robot, entry)
            continue
        state = _with_changes(robot, state, entry, "position", "q")
    refuse_zero_quaternions(robot, state, "q")
    if given or joints:
        warn_of_degrees(robot, np.asarray(state), "q")
    return state


@takes_dask()
def qd(robot: Mechanism, /, *given: Any, **joints: Any) -> Array:
    """Velocities by the names of joints, in rad/s or m/s; zero where none is named: (..., nv). As `q`."""
    return _from_zero(robot, given, joints, "velocity", "qd")


@takes_dask()
def tau(robot: Mechanism, /, *given: Any, **joints: Any) -> Array:
    """Torques and forces by the names of joints, in N m or N; zero where none is named: (..., nv). As `q`."""
    return _from_zero(robot, given, joints, "effort", "tau")


def _refuse_degrees(robot: Mechanism, joints: Mapping[str, Any], what: str) -> None:
    """Refuse an option that is taken for the name of a joint."""
    if "degrees" in joints and "degrees" not in robot.coordinate_names:
        raise ArgumentError(f"{what}: there is no joint 'degrees'; {RADIANS}")


def _from_zero(robot: Mechanism, given: Sequence[Any], joints: Any, quantity: Quantity, what: str) -> Array:
    _refuse_degrees(robot, joints, what)
    state = np.zeros(robot.nv)
    for entry in (*given, joints):
        state = _with_changes(robot, state, entry, quantity, what)
    return state


def _with_changes(robot: Mechanism, state: Array, entry: Any, quantity: Quantity, what: str) -> Array:
    """Numbers of the joints with those that an entry names changed, or all of them where it has no names."""
    named = values_by_name(entry, quantity, what)
    if named is None:
        return read_joints(robot, entry, quantity, what).astype(float)
    return array_by_name(robot.model, named, quantity, what, state)


def _configuration(robot: Mechanism, name: str) -> Array:
    """A configuration of the robot by its name."""
    known: Mapping[str, Array] = {"neutral": neutral(robot), HOME: home(robot), **robot.configurations}
    if name not in known:
        raise UnknownNameError.of("configuration", name, known, f"robot {robot.name!r}")
    return np.array(known[name], dtype=float)


@takes_dask()
def by_name(robot: Mechanism, values: ArrayLike) -> dict[str, Any]:
    """The numbers of each joint, by its name: of q (..., nq), or of qd, qdd or tau (..., nv).

    A number for one state and a joint of one coordinate; an array (...) for a batch; (..., k) for a joint of several
    coordinates. `robot.q(by_name(q))` is q again.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").states.by_name([0.1, 0.2])
    {'joint1': 0.1, 'joint2': 0.2}
    """
    if values_by_name(values, "position", "by_name") is not None:
        return names_and_values(robot.model.layout, read_joints(robot, values, "position", "by_name"), is_position=True)
    array = real_array(values, "by_name", robot.model.layout.labeled_units["position"])
    is_position = array.shape[-1:] != (robot.nv,) or robot.nq == robot.nv
    array = read_joints(robot, array, "position" if is_position else "velocity", "by_name")
    return names_and_values(robot.model.layout, array, is_position)


def to_pandas(robot: Mechanism, values: ArrayLike | Mapping[str, ArrayLike]) -> Any:
    """Numbers of the joints as a table of pandas with the names of joints, which the robot takes back by name.

    Parameters
    ----------
    values
        q (..., nq), or qd, qdd or tau (..., nv): a Series for one state, a DataFrame with a row for each of several.
        Or a dictionary of such arrays for one state, as `torque_terms` gives: a row for each joint.

    Returns
    -------
    Series or DataFrame
    """
    pandas = import_optional("pandas", "to_pandas")
    if isinstance(values, Mapping):
        arrays = {str(name): real_array(value, f"to_pandas: {name}") for name, value in values.items()}
        shapes = {array.shape for array in arrays.values()}
        if len(shapes) != 1 or len(shape := shapes.pop()) != 1:
            raise ShapeError("to_pandas takes a dictionary of arrays (n,) of one state; take one row of a batch")
        return pandas.DataFrame(arrays, index=list(_names(robot, shape[0], "to_pandas")))
    array = real_array(values, "to_pandas")
    names = list(_names(robot, array.shape[-1] if array.ndim else -1, "to_pandas"))
    if array.ndim == 1:
        return pandas.Series(array, index=names)
    return pandas.DataFrame(array.reshape(math.prod(array.shape[:-1]), array.shape[-1]), columns=names)


def to_xarray(robot: Mechanism, values: ArrayLike) -> Any:
    """q (..., nq), or qd, qdd or tau (..., nv), as a DataArray of xarray whose last dimension has the joints' names."""
    xarray = import_optional("xarray", "to_xarray")
    array: Any = values if is_lazy(values) else real_array(values, "to_xarray")
    names = list(_names(robot, array.shape[-1] if array.ndim else -1, "to_xarray"))
    dims = [*batch_dimensions(array.ndim - 1), "joint"]
    return xarray.DataArray(array, dims=dims, coords={"joint": names})


def _names(robot: Mechanism, length: int, caller: str) -> tuple[str, ...]:
    """The names of as many numbers."""
    if length == robot.nv:
        return robot.velocity_names
    if length == robot.nq:
        return robot.coordinate_names
    raise ShapeError(
        f"{caller}: robot {robot.name!r} has {robot.nq} coordinates and {robot.nv} velocities, and the last dimension "
        f"is {length}"
    )
