"""Tables of samples: a name and numbers for each column, from dictionaries, tables of other libraries, messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ShapeError, UnknownNameError, quoted, short_repr
from chainrule.motion.columns import is_time
from chainrule.quantities import is_quantity
from chainrule.simulation.assumptions import Assumption

MAX_EXACT = 2**63
"""Whole numbers below it stay whole: nanoseconds since 1970."""


@dataclass(frozen=True)
class RecordedTable:
    """Columns of numbers, nan where a cell is empty."""

    columns: Mapping[str, Array]
    units: Mapping[str, str] = field(default_factory=dict)
    """Units of columns where a line of units, or the object, gave them."""
    degrees: bool | None = None
    """Whether angles are in degrees, where the file says so."""
    assumptions: tuple[Assumption, ...] = ()
    """What the reader took for what."""
    left_out: tuple[str, ...] = ()
    """Columns that hold no numbers."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


def table_of(source: Any) -> RecordedTable:
    """The table in an object."""
    if type(source).__module__.startswith("xarray.") and hasattr(source, "data_vars"):
        return _of_dataset(source)
    plan = _plan_of(source)
    if plan is not None:
        return plan
    if isinstance(source, Mapping):
        return _of_columns(source.items())
    names = getattr(getattr(source, "dtype", None), "names", None)
    if names:
        return _of_columns((name, source[name]) for name in names)
    if hasattr(source, "column_names") and hasattr(source, "column"):  # pyarrow
        return _of_columns((name, source.column(i).to_numpy()) for i, name in enumerate(source.column_names))
    if hasattr(source, "columns") and hasattr(source, "index"):  # pandas, polars has no index
        return _of_frame(source)
    if hasattr(source, "columns") and hasattr(source, "to_dict"):  # polars
        return _of_columns((name, source[name].to_numpy()) for name in source.columns)
    if isinstance(source, Sequence) and len(source) and not isinstance(source, str):
        messages = [_Fields.of(message) for message in source]
        if hasattr(messages[0], "position"):
            return _of_messages(messages)
    raise ShapeError(
        "a recorded motion comes as a file, a dictionary of columns, a pandas or pyarrow table, an array with named "
        f"fields, a list of JointState messages or a JointTrajectory, got {short_repr(source)}"
    )


def _of_columns(columns: Iterable[tuple[Any, Any]], stated: Mapping[str, str] | None = None) -> RecordedTable:
    """The table of columns by name; `stated`: their units, where the object has them."""
    arrays: dict[str, Array] = {}
    units = dict(stated or {})
    left_out: list[str] = []

    def add(name: str, column: Array) -> None:
        if name in arrays:
            raise ShapeError(f"the recording has two columns named {name!r}; rename one of them")
        arrays[name] = column

    for key, values in columns:
        name = str(key)
        if is_quantity(values):
            units[name], values = f"{values.units:~}", values.magnitude
        column = np.asarray(values)
        if column.dtype.kind in "mM":
            column, units[name] = nanoseconds(column) * 1e-9, "s"
        if column.dtype.kind == "u":
            column = column.astype(np.int64 if not column.size or column.max() < MAX_EXACT else float)
        if column.ndim == 2 and column.dtype.kind in "fi":
            for k in range(column.shape[1]):
                add(f"{name}{k + 1}", column[:, k].astype(float))
                units |= {f"{name}{k + 1}": units[name]} if name in units else {}
        elif column.ndim == 1 and column.dtype.kind in "fib":
            add(name, column if column.dtype.kind == "i" else column.astype(float))  # ns since 1970 stay exact
        else:
            left_out.append(name)  # text, such as a file's name, says nothing of the motion
    lengths = {len(column) for column in arrays.values()}
    if len(lengths) > 1:
        sizes = ", ".join(f"{name!r} {len(column)}" for name, column in list(arrays.items())[:6])
        raise ShapeError(f"the columns of a recording must have the same length, got {sizes}")
    if not arrays:
        raise ShapeError("the recording has no columns of numbers")
    return RecordedTable(
        arrays, {name: unit for name, unit in units.items() if name in arrays}, left_out=tuple(left_out)
    )


def nanoseconds(dates: Any) -> Any:
    """Nanoseconds since the first of dates, or of durations since none; whole ones where none is missing."""
    if dates.dtype.kind == "M":
        known = dates[~np.isnat(dates)]
        dates = dates - known[:1] if len(known) else dates - dates
    whole = dates.astype("timedelta64[ns]").astype(np.int64)
    return np.where(np.isnat(dates), np.nan, whole) if np.isnat(dates).any() else whole


def _of_frame(frame: Any) -> RecordedTable:
    """A DataFrame; its index is a column too where it has a name or holds times."""
    columns = [(str(name), _of_series(frame.iloc[:, k])) for k, name in enumerate(frame.columns)]
    names = [name for name, _ in columns]
    index = frame.index
    kind = getattr(getattr(index, "dtype", None), "kind", "O")
    if index.name is not None and str(index.name) not in names:
        columns.append((str(index.name), _of_series(index)))
    elif kind in "mMf" and not any(map(is_time, names)):
        columns.append(("time", _of_series(index)))
    stated = frame.attrs.get("units")
    return _of_columns(columns, {str(k): str(v) for k, v in stated.items()} if isinstance(stated, Mapping) else None)


def _of_series(series: Any) -> Any:
    """The numbers of a Series or an Index of pandas; those of its own types of numbers and dates are NumPy's."""
    kind = getattr(series.dtype, "kind", "O")
    if kind == "M":
        return series.to_numpy(dtype="datetime64[ns]")
    if isinstance(series.dtype, np.dtype) or kind not in "fiu":
        return series.to_numpy()
    return series.to_numpy(dtype=float, na_value=np.nan)


def _of_dataset(data: Any) -> RecordedTable:
    """A Dataset of xarray along time: a column for each variable, or for each label of its other dimension."""
    (along, *others) = [name for name in data.dims if is_time(str(name))] or [None]
    if along is None or others:
        raise ShapeError(
            f"a Dataset of a recording has one dimension of times; these are {quoted(map(str, data.dims))}"
        )
    columns = [(str(along), data.coords[along].values)] if along in data.coords else []
    units = (
        {str(along): str(data.coords[along].attrs["units"])} if columns and "units" in data.coords[along].attrs else {}
    )
    for name, variable in data.data_vars.items():
        rest = [dimension for dimension in variable.dims if dimension != along]
        if along not in variable.dims or len(rest) > 1:
            raise ShapeError(
                f"variable {name!r} must be one motion, with the dimensions time and joint, got {variable.dims}"
            )
        if not rest:
            columns.append((str(name), variable.values))
            units |= {str(name): str(variable.attrs["units"])} if "units" in variable.attrs else {}
            continue
        if rest[0] not in variable.coords:
            raise ShapeError(f"dimension {rest[0]!r} of variable {name!r} has no labels; name its joints")
        table = variable.transpose(along, rest[0])
        said = f"{rest[0]}_unit"
        for k, label in enumerate(table.coords[rest[0]].values.tolist()):
            columns.append((f"{name}.{label}", table.values[:, k]))
            stated = table.coords[said].values[k] if said in table.coords else variable.attrs.get("units")
            units |= {} if stated is None else {f"{name}.{label}": str(stated)}
    return _of_columns(columns, units)


def _of_messages(messages: Sequence[Any]) -> RecordedTable:
    """A list of messages like ROS's sensor_msgs/JointState: a row each, by the names that each gives."""
    names = list(dict.fromkeys(str(name) for message in messages for name in message.name))
    places = {name: k for k, name in enumerate(names)}
    rows, efforts = np.full((2, len(messages), len(names)), np.nan)
    for i, message in enumerate(messages):
        own = [str(name) for name in message.name]
        if len(set(own)) < len(own):
            raise UnknownNameError(
                f"message {i}: {quoted(n for n in dict.fromkeys(own) if own.count(n) > 1)} is given twice"
            )
        positions = np.asarray(message.position, dtype=float)
        if positions.shape != (len(own),):
            raise ShapeError(f"message {i} has {len(own)} names and {positions.size} positions")
        rows[i, [places[name] for name in own]] = positions
        if len(getattr(message, "effort", ())) == len(own):
            efforts[i, [places[name] for name in own]] = message.effort
    stamps = [_stamp(message) for message in messages]
    first = next((stamp[0] for stamp in stamps if stamp), 0)
    times = np.array([(stamp[0] - first) + stamp[1] * 1e-9 if stamp else np.nan for stamp in stamps])
    columns = {name: rows[:, k] for name, k in places.items()}
    if np.isfinite(efforts).any():
        columns |= {f"{name}.effort": efforts[:, k] for name, k in places.items()}
    if np.isnan(times).all():
        return RecordedTable(columns)
    if "time" in columns:
        raise ShapeError("messages have a joint named 'time', beside the times of their headers; rename it")
    return RecordedTable({"time": times, **columns}, {"time": "s"})


class _Fields:
    """A message whose fields came as a dictionary."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        vars(self).update({str(name): self.of(value) for name, value in fields.items()})

    @classmethod
    def of(cls, value: Any) -> Any:
        """The message of a dictionary, anything else as it is."""
        return cls(value) if isinstance(value, Mapping) else value


def _plan_of(source: Any) -> RecordedTable | None:
    """A message like ROS's trajectory_msgs/JointTrajectory, or its fields: a row for each point."""
    plan = _Fields(source) if isinstance(source, Mapping) and {"joint_names", "points"} <= set(source) else source
    if not (hasattr(plan, "joint_names") and hasattr(plan, "points")):
        return None
    names, points = [str(name) for name in plan.joint_names], [_Fields.of(point) for point in plan.points]
    rows = [np.asarray(point.positions, dtype=float) for point in points]
    if not rows or any(row.shape != (len(names),) for row in rows):
        raise ShapeError(f"every point of a JointTrajectory must have a position for each of its {len(names)} joints")
    if len(set(names)) < len(names) or "time" in names:
        raise UnknownNameError(f"a JointTrajectory names each joint once, and none 'time'; got {quoted(names)}")
    spans = [_seconds_and_nanoseconds(point.time_from_start) for point in points]
    times = np.array([seconds + nanoseconds * 1e-9 for seconds, nanoseconds in spans])
    columns = {name: np.array([row[k] for row in rows]) for k, name in enumerate(names)}
    return RecordedTable({"time": times, **columns}, {"time": "s"})


def _stamp(message: Any) -> tuple[int, int] | None:
    """Seconds and nanoseconds of a message's header, in the words of either version of ROS."""
    stamp = getattr(getattr(message, "header", None), "stamp", None)
    if stamp is None:
        return None
    return _seconds_and_nanoseconds(stamp)


def _seconds_and_nanoseconds(stamp: Any) -> tuple[int, int]:
    seconds = getattr(stamp, "sec", getattr(stamp, "secs", 0))
    return seconds, getattr(stamp, "nanosec", getattr(stamp, "nsec", getattr(stamp, "nsecs", 0)))
