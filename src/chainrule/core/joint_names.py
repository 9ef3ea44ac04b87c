"""Vectors of joints by name: dictionaries, tables, messages of ROS and named tuples as arrays in a robot's order.

Names decide about places, never the order in which numbers come. Packages of tables are not imported: their objects are
recognized by their classes.

A mimic joint has no number of its own in q. Where its name is given nevertheless, as messages of ROS do, its number has
to be what its rule makes of the joint that it follows. In a message, whose numbers are measured, it is left out
instead. An effort of a mimic joint is refused unless it is zero, since it would act on the joint that is followed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array, as_list, one_of, real_array, refuse_lazy, rows_of
from chainrule.core.foreign import refuse_symbols
from chainrule.errors import ShapeError, UnknownNameError, quoted, short_repr
from chainrule.model import Joint, Layout, Model, PolynomialScrew, Quantity
from chainrule.model.layout import UNITS

MIMIC_TOLERANCE = 1e-6
"""How far the given number of a mimic joint may be from what its rule says, relative to 1 + its size."""

MESSAGE_FIELDS: Mapping[str, str] = {"position": "position", "velocity": "velocity", "effort": "effort"}
"""The field of a message such as sensor_msgs/JointState that holds a quantity."""

LABEL_DIMENSIONS = ("joint", "joints", "joint_name", "coordinate", "dof")
"""Dimensions of a DataArray that are taken for the joints' where several have labels."""


class NamedValues(NamedTuple):
    """Numbers by name, in the order in which they were given."""

    names: tuple[str, ...]
    values: tuple[Any, ...]
    is_measured: bool = False
    """Whether they come from a message of ROS."""


def read_joint_array(model: Model, value: Any, quantity: Quantity, what: str, of: str) -> Array:
    """Numbers of the joints, (..., nq) for positions and (..., nv) for others, in the model's order.

    `value` is an array, or has names (see `values_by_name`); `of` describes the joints for messages.
    """
    layout = model.layout
    one_of(UNITS, quantity, "quantity", "read_joints")
    refuse_symbols(value, what)
    if isinstance(value, str) and value.isidentifier() and quantity == "position":
        is_link = value in model.index_of or any(frame.name == value for frame in model.frames)
        hint = f"link={value!r} is the link" if is_link else f"robot.q({value!r}) is a named configuration"
        raise ShapeError(f"{what} must be real numbers, got str ({value}); {hint}")
    named = values_by_name(value, quantity, what)
    if named is not None:
        return array_by_name(model, named, quantity, what)
    return rows_of(value, len(layout.records_of(quantity)), what, of, layout.labeled_units[quantity])


def read_joint_values(model: Model, value: Any, quantity: Quantity | None, what: str) -> Array:
    """Numbers of the degrees of freedom as given, one for all or an array; those with names in the model's order.

    Without a quantity they have no unit that is known, as gains and limits.
    """
    if quantity is not None:
        one_of(UNITS, quantity, "quantity", "read_per_joint")
    named = values_by_name(value, quantity, what)
    if named is not None:
        return array_by_name(model, named, quantity, what)
    return real_array(value, what, None if quantity is None else model.layout.labeled_units[quantity])


def values_by_name(value: Any, quantity: Quantity | None, what: str) -> NamedValues | None:
    """The names and numbers of anything that has names; None for arrays and lists, which have none."""
    kind = type(value)
    if kind is np.ndarray:
        return _of_records(value) if value.dtype.names else None
    if kind in (list, tuple, float, int):
        return None
    package = kind.__module__.partition(".")[0]
    if package == "pandas":
        return _of_pandas(value, what)
    if is_data_array(value):
        return _of_data_array(value, what)
    if isinstance(value, Mapping):
        return NamedValues(tuple(value), tuple(x.data if is_data_array(x) else x for x in value.values()))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return NamedValues(tuple(value._fields), tuple(value))
    labels = getattr(value, "name", None)
    if labels is not None and _are_names(labels) and any(hasattr(value, field) for field in MESSAGE_FIELDS):
        return _of_message(value, labels, quantity, what)
    return None


def _are_names(labels: Any) -> bool:
    """Whether something is a list of names."""
    return isinstance(labels, Sequence) and not isinstance(labels, str) and all(isinstance(x, str) for x in labels)


def _of_records(value: Any) -> NamedValues:
    """A structured array of NumPy: a field for each joint."""
    names = value.dtype.names
    return NamedValues(tuple(names), tuple(value[name] for name in names))


def _of_pandas(value: Any, what: str) -> NamedValues | None:
    """A Series (joints are its index) or a DataFrame (joints are its columns, rows the batch)."""
    if hasattr(value, "columns"):
        labels, kind = list(value.columns), "columns"
        columns = [value.iloc[:, i].to_numpy() for i in range(len(labels))]
    elif hasattr(value, "index") and hasattr(value, "iloc"):
        labels, kind = list(value.index), "index"
        columns = [value.iloc[i] for i in range(len(labels))]
    else:  # a column of an extension type
        return None
    if not all(isinstance(label, str) for label in labels):
        raise ShapeError(
            f"{what} is a pandas {type(value).__name__} whose {kind} is not the names of joints but "
            f"{short_repr(labels)}; name them, or give .to_numpy() if its numbers are in the robot's order"
        )
    return NamedValues(tuple(labels), tuple(columns))


def is_data_array(value: Any) -> bool:
    """Whether a value is a DataArray of xarray."""
    return type(value).__module__.startswith("xarray.") and hasattr(value, "dims") and hasattr(value, "data")


def _of_data_array(value: Any, what: str) -> NamedValues:
    """A DataArray of xarray: one of its dimensions has the names of joints as its labels, the others are the batch."""
    labels, axis = joint_dimension(value, what)
    refuse_lazy(value, what)
    place = (slice(None),) * axis
    return NamedValues(labels, tuple(value.data[(*place, i)] for i in range(len(labels))))


def joint_dimension(value: Any, what: str) -> tuple[tuple[str, ...], int]:
    """The names of joints that label one of the dimensions of a DataArray, and which it is."""
    labeled = [d for d in value.dims if d in value.coords and _are_names(list(value.coords[d].values.tolist()))]
    chosen = [d for d in LABEL_DIMENSIONS if d in labeled] or labeled
    if len(chosen) != 1:
        raise ShapeError(
            f"{what} is a DataArray, and {'none' if not chosen else 'more than one'} of its dimensions "
            f"{tuple(value.dims)} has names of joints as labels; call that dimension 'joint', or give .values if its "
            "numbers are in the robot's order"
        )
    (dimension,) = chosen
    _refuse_other_unit(value, what)
    labels = known_names(map(str, value.coords[dimension].values.tolist()), what)
    return labels, value.dims.index(dimension)


def _refuse_other_unit(value: Any, what: str) -> None:
    """Raise where a DataArray says that its numbers are in a unit that is not SI."""
    unit = value.attrs.get("units")
    known = {text for units in UNITS.values() for text in units.values()}
    if unit is not None and str(unit) not in {*known, "", "radian", "radians", "meter", "meters"}:
        raise ShapeError(
            f"{what} is a DataArray whose attribute 'units' is {short_repr(unit)}; convert it to SI first (rad, m, "
            "rad/s, N m, ..), degrees with np.deg2rad, and change the attribute"
        )


def _of_message(value: Any, labels: Sequence[str], quantity: Quantity | None, what: str) -> NamedValues:
    """A message such as sensor_msgs/JointState: names, and a list of as many numbers for each quantity."""
    field = MESSAGE_FIELDS.get(quantity or "")
    lacking = field or quantity or "numbers of this kind"
    numbers = None if field is None else getattr(value, field, None)
    if numbers is None or not len(numbers):
        raise ShapeError(
            f"{what} is a {type(value).__name__} without {lacking}; give numbers, or a dictionary of joints"
        )
    if len(numbers) != len(labels):
        raise ShapeError(
            f"{what} is a {type(value).__name__} with {len(labels)} names and {len(numbers)} numbers of {field}"
        )
    return NamedValues(known_names(labels, what), tuple(numbers), is_measured=True)


# --- from names to places ---


def array_by_name(
    model: Model, named: NamedValues, quantity: Quantity | None, what: str, start: Array | None = None
) -> Array:
    """Named numbers as an array in the model's order; those that have no name stay as in `start`.

    A name is that of a joint (with a list of numbers, where it has several) or of a component, such as "base.x".
    Without a start every coordinate has to be named. Without a quantity the numbers are one for each velocity, of no
    known unit, such as gains.
    """
    layout, columns = model.layout, _columns(model, named, quantity, what)
    names = layout.names_of(quantity or "velocity")
    missing = [name for name, column in zip(names, columns, strict=True) if column is None]
    if missing and start is None:
        raise ShapeError(f"{what} lacks {_joints_of(layout, missing, quantity)}; {_advice(quantity)}")
    if start is not None:
        columns = [start[..., i] if column is None else column for i, column in enumerate(columns)]
    try:
        wide = np.broadcast_arrays(*[column for column in columns if column is not None])
    except ValueError:
        shapes = {name: column.shape for name, column in zip(names, columns, strict=True) if column is not None}
        raise ShapeError(f"{what}: the batches of its joints do not fit together: {short_repr(shapes, 200)}") from None
    return np.stack(wide, axis=-1).astype(float) if wide else np.zeros(0)


def _joints_of(layout: Layout, missing: Sequence[str], quantity: Quantity | None) -> str:
    """The joints that names stand for, or single components where not all of a joint's are among them."""
    records = layout.records_of(quantity or "velocity")
    count = Counter(record.joint for record in records)
    lacking = Counter(record.joint for record in records if record.name in missing)
    shown = [
        record.joint if lacking[record.joint] == count[record.joint] else record.name
        for record in records
        if record.name in missing
    ]
    unique = list(dict.fromkeys(shown))
    return f"{'joint' if len(unique) == 1 else 'joints'} {quoted(unique)}"


def _advice(quantity: Quantity | None) -> str:
    if quantity == "position":
        return "name all of them, or fill the rest from the neutral configuration with robot.q({...})"
    filler = {"velocity": "robot.qd({...})", "effort": "robot.tau({...})"}.get(quantity or "")
    return "name all of them" + (f", or fill the rest with zeros by {filler}" if filler else "")


def _columns(model: Model, named: NamedValues, quantity: Quantity | None, what: str) -> list[Array | None]:
    """The numbers at each place, None where no name leads there."""
    layout = model.layout
    names = layout.names_of(quantity or "velocity")
    units: Sequence[str | None] = layout.units_of(quantity) if quantity else (None,) * len(names)
    at = {name: i for i, name in enumerate(names)}
    columns: list[Array | None] = [None] * len(names)
    followers: list[tuple[Joint, Any]] = []
    others = {joint.name: joint for joint in model.joints if joint.name not in layout.by_joint}
    for name, value in zip(named.names, named.values, strict=True):
        label = f"{what}: joint {name!r}"
        if isinstance(name, str) and name in at:
            _place(columns, at[name], real_array(value, label, units[at[name]]), label)
        elif isinstance(name, str) and name in layout.by_joint:
            places = layout.by_joint[name]
            where = places.q if quantity == "position" else places.v
            parts = [n.rpartition(".")[2] for n in names[where]]
            own = None if quantity is None else [(part, str(u)) for part, u in zip(parts, units[where], strict=True)]
            rows = rows_of(value, len(parts), label, ", ".join(parts), own)
            for k, i in enumerate(range(where.start, where.stop)):
                _place(columns, i, rows[..., k], label)
        elif isinstance(name, str) and name in others:
            if others[name].mimic is None:
                raise UnknownNameError(f"{label} is fixed, and has no number; leave it out")
            followers.append((others[name], value))
        else:
            known = dict.fromkeys([*layout.joint_names, *names])
            error = UnknownNameError.of("joint", name, known, f"{what}: robot {model.name!r}")
            raise UnknownNameError(f"{error}; a name that is not the robot's has to be left out")
    if not named.is_measured or quantity == "effort":
        for joint, value in followers:
            _check_follower(layout, columns, joint, value, quantity, what)
    return columns


def _place(columns: list[Array | None], i: int, numbers: Array, label: str) -> None:
    if columns[i] is not None:
        raise UnknownNameError(f"{label} is given twice")
    columns[i] = numbers


def _check_follower(
    layout: Layout, columns: Sequence[Array | None], joint: Joint, value: Any, quantity: Quantity | None, what: str
) -> None:
    """Raise where the number given for a mimic joint contradicts its rule."""
    rule, label = joint.mimic, f"{what}: joint {joint.name!r}"
    if rule is None:
        return
    unit = None if quantity is None else UNITS[quantity][joint.kind.units[0]]
    numbers = real_array(value, label, unit)
    if quantity in ("effort", None):
        if np.any(numbers != 0):
            raise ShapeError(
                f"{label} follows {rule.joint!r} and has no effort of its own; leave it out, and add "
                f"{rule.multiplier:g} times it to {rule.joint!r}"
            )
        return
    places = layout.by_joint[rule.joint]
    leader = columns[places.q.start if quantity == "position" else places.v.start]
    if leader is None:
        return  # refused as missing, or filled from a start
    if quantity == "velocity" and isinstance(joint.kind, PolynomialScrew):
        return  # its speed depends on the position too
    expected = joint.follow(leader)[0] if quantity == "position" else rule.multiplier * leader
    with np.errstate(invalid="ignore"):
        apart = np.abs(numbers - expected) > MIMIC_TOLERANCE * (1 + np.abs(expected))
    if apart.any():
        raise ShapeError(
            f"{label} follows {rule.joint!r}, and has to be {short_repr(np.ravel(expected)[:3].tolist())}, got "
            f"{short_repr(np.ravel(numbers)[:3].tolist())}; leave it out"
        )


def names_and_values(layout: Layout, array: Array, is_position: bool) -> dict[str, Any]:
    """The numbers of each joint, by its name: a number or (...) for one coordinate, (..., k) for several."""
    found: dict[str, Any] = {}
    for places in layout.joints:
        where = places.q if is_position else places.v
        part = array[..., where.start] if where.stop - where.start == 1 else array[..., where]
        found[places.joint.name] = float(part) if part.ndim == 0 else part.copy()
    return found


def known_names(labels: Iterable[Any], what: str) -> tuple[str, ...]:
    """A list of names, each given once."""
    chosen = tuple(as_list(labels, what))
    for name in chosen:
        if not isinstance(name, str):
            raise ShapeError(f"{what} must be names, got {short_repr(name)}")
    twice = [name for name in dict.fromkeys(chosen) if chosen.count(name) > 1]
    if twice:
        raise UnknownNameError(f"{what}: {quoted(twice)} is given twice")
    return chosen
