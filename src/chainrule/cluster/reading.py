"""States of a robot from a Parquet file, a few rows at a time.

A file holds whole states, with columns of positions, velocities and accelerations, or a recording of positions, which
is smoothed and differentiated as `Trajectory.load` does it. Numbers of a kind stand in a column for each joint, or all
in one column of lists.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, refuse_beyond_memory
from chainrule.core.mechanism import Mechanism
from chainrule.errors import FormatError, MotionWarning, ShapeError, UnknownNameError, quoted
from chainrule.model import Layout
from chainrule.motion.angles import scale_angles
from chainrule.motion.columns import StateColumns, match_states, stated_factors
from chainrule.motion.findings import Findings, list_places
from chainrule.motion.recorded import from_table, read_smoothing
from chainrule.motion.tables import RecordedTable, table_of
from chainrule.simulation.trajectory import Trajectory

ROWS_AT_A_TIME = 1 << 18
"""Rows that are in memory together; with seven joints about 60 MB, results included."""

ROWS_LOOKED_AT = 1 << 12
"""Rows by which angles are judged whether they look like degrees."""

KINDS = ("q", "qd", "qdd")


class StateRows(NamedTuple):
    """Some states, a row each, and the columns that are handed on with them."""

    q: Array
    qd: Array
    qdd: Array
    kept: dict[str, Any]
    """Columns of pyarrow or NumPy by name: the time, the number of the motion, and what else is to be kept."""


@dataclass(frozen=True)
class Reading:
    """Options for reading files: those of `Trajectory.load`, and a few of data sets."""

    columns: Mapping[str, str] = field(default_factory=dict)
    time: str | None = None
    motion: str | None = None
    """The column that numbers the motions of a file."""
    derivatives: str = "auto"
    """"given", "computed", or "auto": given where the file has them."""
    degrees: bool | None = None
    keep: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """Others, for recordings alone: rate, constant, smoothing, cutoff, noise, time_unit, sort."""

    def describe(self) -> dict[str, Any]:
        """The same in plain values."""
        return asdict(self)

    def check(self, robot: Mechanism) -> None:
        """Refuse options that are wrong for any file."""
        if self.keep and self.options.get("sort"):
            raise ShapeError("keep and sort=True: columns that are handed on keep their order, and would not fit")
        read_smoothing(
            robot, self.options.get("smoothing", "spline"), self.options.get("cutoff"), self.options.get("noise")
        )

    def states(self, robot: Mechanism, file: Any, groups: range, notes: Findings) -> Iterator[StateRows]:
        """The states of some row groups of an open Parquet file; what had to be assumed goes into `notes`."""
        schema = file.schema_arrow
        wanted = (*self.keep, self.motion, *self.columns.values())
        self._refuse_missing([name for name in wanted if name is not None], schema.names)
        given = None if self.derivatives == "computed" else self._find_states(robot.model.layout, schema)
        if given is not None:
            yield from self._read_states(robot.model.layout, file, groups, given, notes)
        elif self.derivatives == "given":
            raise FormatError(
                f"there are no columns of positions, velocities and accelerations for all joints of {robot.name!r}; "
                f"there are {quoted(schema.names)}. Say which, with columns={{'q.{robot.coordinate_names[0]}': "
                "'..', ...}, or have velocities computed, with derivatives='computed'"
            )
        elif groups != range(file.num_row_groups):
            raise FormatError("a recording without velocities and accelerations is read whole")  # see split_file
        else:
            yield from self._read_recording(robot, file, notes)

    def holds_states(self, robot: Mechanism, schema: Any) -> bool:
        """Whether a file with this schema is read row by row."""
        return self.derivatives != "computed" and self._find_states(robot.model.layout, schema) is not None

    # Whole states

    def _find_states(self, layout: Layout, schema: Any) -> StateColumns | None:
        """The columns of whole states; None where the file has not all of them."""
        lists = {kind: self.columns.get(kind, kind) for kind in KINDS}
        if all(name in schema.names and is_list(schema.field(name).type) for name in lists.values()):
            titles: dict[str, tuple[str, ...]] = {kind: (name,) for kind, name in lists.items()}
            return StateColumns(self._clock(schema.names), titles, {})
        plain = {name: title for name, title in self.columns.items() if name not in KINDS}
        return match_states(schema.names, layout, columns=plain, time=self.time)

    def _clock(self, names: list[str]) -> str | None:
        if self.time is not None:
            self._refuse_missing([self.time], names)
            return self.time
        return next((name for name in ("t", "time", "timestamp") if name in names), None)

    def _read_states(
        self, layout: Layout, file: Any, groups: range, given: StateColumns, notes: Findings
    ) -> Iterator[StateRows]:
        named = [given.time, self.motion, "row" if "row" in file.schema_arrow.names else None, *self.keep]
        kept = list(dict.fromkeys(name for name in named if name is not None))
        wanted = list(dict.fromkeys([*kept, *(title for titles in given.titles.values() for title in titles)]))
        widths = {"q": layout.nq, "qd": layout.nv, "qdd": layout.nv}
        stated = self._stated_factors(layout, given, is_own=is_own(file.schema_arrow))
        factors: dict[str, Any] = {}
        for kind in KINDS:
            notes.assume(
                kind, f"columns {list_places([repr(title) for title in given.titles[kind]])}", "by their names"
            )
        read = lost = 0
        for batch in file.iter_batches(ROWS_AT_A_TIME, row_groups=list(groups), columns=wanted, use_threads=False):
            arrays = [_rows(batch, given.titles[kind], widths[kind]) for kind in KINDS]
            _refuse_degrees(layout, arrays[0], stated["q"], notes)
            factors = factors or {kind: np.array([1.0 if f is None else f for f in stated[kind]]) for kind in KINDS}
            for k, kind in enumerate(KINDS):
                if (factors[kind] != 1.0).any():
                    arrays[k] = arrays[k] * factors[kind].astype(arrays[k].dtype)
            read += len(batch)
            lost += _count_lost(arrays)
            q, qd, qdd = arrays
            yield StateRows(q, qd, qdd, {name: batch.column(name) for name in kept})
        if lost:
            notes.stated.append(
                f"{lost} of {read} rows have numbers that are missing or not finite; so are their results"
            )

    def _stated_factors(self, layout: Layout, given: StateColumns, *, is_own: bool) -> dict[str, list[float | None]]:
        """Factors to SI units of the columns of each kind; None for angles whose unit nobody has said.

        What holds of positions holds of their derivatives too. Files that the library has written are in SI.
        """
        degrees = False if is_own and self.degrees is None else self.degrees
        found: dict[str, list[float | None]] = {}
        said: set[bool] = set()
        for order, kind in enumerate(KINDS):
            places: Sequence[Any] = layout.coordinates if order == 0 else layout.velocities
            titles = (
                given.titles[kind] if len(given.titles[kind]) == len(places) else [given.titles[kind][0]] * len(places)
            )
            found[kind] = stated_factors(places, titles, given.units, degrees, order)
            angular = [factor for factor, place in zip(found[kind], places, strict=True) if place.unit == "rad"]
            said |= {factor is None for factor in angular}
        if said == {True, False} and any(unit.startswith("deg") for unit in given.units.values()):
            raise FormatError(
                "some columns of positions, velocities and accelerations are in degrees, and others do not say what "
                "they are in; say degrees=True if all are in degrees, or put the unit of each into its heading"
            )
        return found

    # Recordings

    def _read_recording(self, robot: Mechanism, file: Any, notes: Findings) -> Iterator[StateRows]:
        refuse_beyond_memory(4.0 * file.metadata.num_rows * file.metadata.num_columns, "a recording that is read whole")
        whole = file.read(use_threads=False)
        columns = _numbers(whole)
        vector = self.columns.get("q", "q")
        named = self._coordinates(robot.model.layout)
        if vector in columns and columns[vector].ndim == 2:
            positions = columns[vector]
            if positions.shape[1] != robot.nq:
                raise FormatError(f"lists in column {vector!r} have {positions.shape[1]} numbers, and q has {robot.nq}")
            columns |= {f"q.{name}": positions[:, k] for k, name in enumerate(robot.model.layout.coordinate_names)}
            named |= {name: f"q.{name}" for name in robot.model.layout.coordinate_names}
        flat = {name: column for name, column in columns.items() if column.ndim == 1 and name != self.motion}
        for label, rows in self._motions(whole):
            wordy = tuple(name for name in whole.column_names if name not in columns)
            table = replace(table_of({name: column[rows] for name, column in flat.items()}), left_out=wordy)
            motion, assumed = self._differentiate(robot, table, named)
            for row in motion.assumptions:
                notes.assume(*row[:3], is_doubtful=row.is_doubtful)
            for note in motion.notes[len(motion.assumptions) :]:
                kind = notes.assumed if note in assumed else notes.stated
                kind.append(note if label is None else f"{self.motion} {label}: {note}")
            kept = {"t": motion.t} | ({} if label is None else {str(self.motion): np.full(len(motion.t), label)})
            if self.keep and len(motion.t) != len(table):
                raise FormatError("samples were merged, so that the columns of keep=... do not fit the result")
            kept |= {name: _column(whole, name).take(rows) for name in self.keep}
            yield StateRows(motion.q, motion.qd, motion.qdd, kept)

    def _coordinates(self, layout: Layout) -> dict[str, str]:
        """Columns of positions by the names of coordinates; those of velocities and accelerations are not used."""
        named: dict[str, str] = {}
        for name, title in self.columns.items():
            kind, _, rest = name.partition(".")
            if name in layout.coordinate_names or kind not in KINDS:
                named[name] = title
            elif kind == "q" and rest:
                named[rest] = title
        return named

    def _differentiate(self, robot: Mechanism, table: RecordedTable, named: dict[str, str]) -> tuple[Trajectory, str]:
        """The motion of a recording, and which of its notes are warnings.

        Nothing is guessed of its units: a set of files has one unit, and each file would be judged by itself.
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", MotionWarning)
            motion = from_table(
                robot, table, columns=named or None, time=self.time, degrees=self.degrees, guess=False, **self.options
            )
        return motion, " ".join(str(one.message) for one in caught)

    def _motions(self, table: Any) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """The motions of a file one by one: their number or name, and their rows."""
        if self.motion is None:
            yield None, np.arange(len(table))
            return
        column = _column(table, self.motion)
        labels = column.to_numpy(zero_copy_only=False)
        if column.null_count or (labels.dtype.kind == "f" and np.isnan(labels).any()):
            raise FormatError(f"column {self.motion!r} has rows without a value, so that their motion is not known")
        for label in dict.fromkeys(labels.tolist()):
            yield label, np.flatnonzero(labels == label)

    def _refuse_missing(self, names: list[str], there: list[str]) -> None:
        for name in names:
            if name not in there:
                raise UnknownNameError.of("column", name, there, "the file")


def _refuse_degrees(layout: Layout, q: Array, stated: Sequence[float | None], notes: Findings) -> None:
    """Raise where angles make no sense in radians, and nobody has said what they are; some rows are looked at."""
    if len(q) and None in stated:
        scale_angles(q[:: 1 + len(q) // ROWS_LOOKED_AT], layout.coordinates, stated, notes, guess=False)


def is_own(schema: Any) -> bool:
    """Whether the library has written a file, which is in SI then."""
    return b"chainrule" in (schema.metadata or {})


def is_list(kind: Any) -> bool:
    """Whether a column of this type of pyarrow holds lists."""
    return str(kind).startswith(("list", "large_list", "fixed_size_list"))


def _rows(batch: Any, titles: tuple[str, ...], width: int) -> Array:
    """Numbers (rows, width), float32 where all of them are."""
    if len(titles) == 1 and is_list(batch.column(titles[0]).type):
        return read_list(batch.column(titles[0]), titles[0], width)
    columns = [read_numbers(batch.column(title), title) for title in titles]
    kind = np.result_type(np.float32, *(column.dtype for column in columns))
    numbers: Array = np.empty((width, len(batch)), dtype=kind)  # a column stays in one stretch of memory
    for k, column in enumerate(columns):
        numbers[k] = column
    return numbers.T


def _count_lost(arrays: list[Array]) -> int:
    """The number of rows with a number that is not finite."""
    if all(np.isfinite(array.sum()) for array in arrays):  # a sum is finite only where all of its parts are
        return 0
    return int((~np.logical_and.reduce([np.isfinite(array).all(axis=1) for array in arrays])).sum())


def read_list(column: Any, title: str, width: int | None) -> Array:
    """Numbers (rows, width) from a column of lists of one length."""
    if column.null_count:
        raise FormatError(f"column {title!r} has rows without a list")
    numbers = read_numbers(column.flatten(), title)
    rows = len(column)
    found = len(numbers) // rows if rows else width or 0
    lengths_agree = len(numbers) == found * rows and (
        str(column.type).startswith("fixed") or bool((np.diff(column.offsets.to_numpy()) == found).all())
    )
    if not lengths_agree or (width is not None and found != width):
        raise FormatError(f"lists in column {title!r} must have {width or 'the same number of'} numbers each")
    return numbers.reshape(rows, found)


def read_numbers(column: Any, title: str) -> Array:
    """A column as numbers, of float32 or float64; missing ones are not a number."""
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "fiu":
        raise FormatError(f"column {title!r} should hold numbers, and holds {column.type}")
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _column(table: Any, name: str) -> Any:
    """A column of a table of pyarrow, in one piece."""
    column = table.column(name).combine_chunks()
    return column.chunk(0) if hasattr(column, "chunk") and column.num_chunks else column


def _numbers(table: Any) -> dict[str, Array]:
    """The columns of numbers, times and lists of numbers of a table."""
    columns: dict[str, Array] = {}
    for name in table.column_names:
        column = _column(table, name)
        if is_list(column.type):
            if str(column.type.value_type).startswith(("float", "double", "halffloat", "int", "uint")):
                columns[name] = read_list(column, name, None)
        elif not str(column.type).startswith(("string", "large_string", "binary", "struct", "map", "dictionary")):
            columns[name] = column.to_numpy(zero_copy_only=False)
    return columns


def read_columns(columns: Any) -> dict[str, str]:
    """The dictionary of columns that a user gives, checked."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping) or not all(
        isinstance(name, str) and isinstance(title, str) for name, title in columns.items()
    ):
        raise ShapeError("columns must be a dictionary of names: {'q.elbow': 'angle 3'} or {'q': 'observation.state'}")
    return dict(columns)
