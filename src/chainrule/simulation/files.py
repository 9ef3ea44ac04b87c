"""Files of trajectories: .npz and .parquet hold all of one, the robot included; .csv holds the numbers alone."""

from __future__ import annotations

import json
import operator
import zipfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array, file_path
from chainrule.core.validation import refuse_impossible_values
from chainrule.errors import FormatError, ShapeError, import_optional
from chainrule.formats.arrays import load_arrays, reading, write_whole
from chainrule.formats.native import model_of, to_json
from chainrule.model import Model
from chainrule.simulation.assumptions import Assumption
from chainrule.simulation.columns import COLUMNS, WORKS, column_names, column_units
from chainrule.simulation.events import EventRecord

FORMAT = "chainrule trajectory 1"

DIGEST = b"chainrule digest"
"""Where a Parquet file has the SHA-256 of its facts: footers have no checksum of their own."""

MAX_HEADING = 1 << 20
"""Characters of the longest line of names that is looked at."""

MAX_COUNT = 1 << 40
"""Length of the longest axis of a batch that a file may announce."""


class StoredMotion(NamedTuple):
    """Everything that a file holds of a trajectory."""

    model: Model
    t: Array
    arrays: Mapping[str, Array]
    """One for each of COLUMNS."""
    method: str = "unknown"
    status: str = "finished"
    events: tuple[EventRecord, ...] = ()
    notes: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()

    @property
    def batch(self) -> tuple[int, ...]:
        """The shape of the batch, () for one motion."""
        return self.arrays["q"].shape[:-2]


class FileFormat(NamedTuple):
    """The two functions of a kind of file."""

    write: Callable[[StoredMotion, Path], None]
    read: Callable[[Path, Model | None], StoredMotion]


def save(motion: StoredMotion, path: str | PathLike[str]) -> None:
    """Write a motion, in the format of the path's extension."""
    form = format_of(path)
    write_whole(path, lambda part: form.write(motion, part))


def load(path: str | PathLike[str], model: Model | None = None) -> StoredMotion:
    """Read a motion; its model is the one it was saved with, unless another is given."""
    form = format_of(path)
    with reading(path, "a trajectory"):
        return form.read(Path(path), model)


def is_own(path: str | PathLike[str]) -> bool:
    """Whether a file looks like one that `save` wrote, by the names in it; its numbers are not read."""
    place = file_path(path)
    suffix = place.suffix.lower()
    if suffix not in (".npz", ".parquet", ".csv") or not place.is_file():
        return suffix in (".npz", ".parquet", ".csv")
    try:
        if suffix == ".npz":
            with zipfile.ZipFile(place) as archive:
                return "facts.npy" in archive.namelist()
        if suffix == ".parquet":
            _, parquet = import_parquet()
            return b"chainrule" in (parquet.read_schema(place).metadata or {})
        with place.open(encoding="utf-8", errors="replace") as file:
            names = file.readline(MAX_HEADING).strip().split(",")
        return f"work.{WORKS[0]}" in names
    except ShapeError:
        raise
    except Exception:  # damaged: the reader says how
        return True


def format_of(path: str | PathLike[str]) -> FileFormat:
    """The (writer, reader) pair for the path's extension."""
    suffix = file_path(path).suffix.lower()
    formats = {
        ".npz": FileFormat(_save_npz, _load_npz),
        ".parquet": FileFormat(_save_parquet, _load_parquet),
        ".csv": FileFormat(_save_csv, _load_csv),
    }
    if suffix not in formats:
        raise ShapeError(f"a trajectory is kept in .npz, .parquet or .csv, got {str(path)!r}")
    return formats[suffix]


# --- everything except the arrays, as JSON ---


def _metadata(motion: StoredMotion) -> str:
    events = [
        {"name": e.name, "t": e.t, "row": list(e.row), "q": e.q.tolist(), "qd": e.qd.tolist()} for e in motion.events
    ]
    layout, states = motion.model.layout, motion.arrays["states"].shape[-1]
    names, units = column_names(layout, states), column_units(layout, states)
    per_column = {f"{kind}.{x}": unit for kind in COLUMNS for x, unit in zip(names[kind], units[kind], strict=True)}
    return json.dumps(
        {
            "format": FORMAT, "method": motion.method, "status": motion.status, "events": events,
            "batch": list(motion.batch), "notes": list(motion.notes),
            "assumptions": list(motion.assumptions), "robot": json.loads(to_json(motion.model)),
            "units": {"t": "s", **per_column},
        }
    )  # fmt: skip


def _facts(text: str | bytes) -> dict[str, Any]:
    """The metadata of a file, with each entry of its type."""
    facts = json.loads(text)
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        found = facts.get("format") if isinstance(facts, dict) else facts
        raise FormatError(f"the file should say format {FORMAT!r}, and says {found!r:.60}")
    types = {
        "method": str, "status": str, "events": list, "batch": list, "robot": dict, "notes": list, "assumptions": list,
    }  # fmt: skip
    for key, type_ in types.items():
        if not isinstance(facts.get(key), type_):
            raise FormatError(f"the file's {key!r} should be a {type_.__name__}, and is {facts.get(key)!r:.60}")
    if not all(isinstance(note, str) for note in facts["notes"]):
        raise FormatError(f"the file's 'notes' should be a list of texts, and is {facts['notes']!r:.60}")
    rows, kinds = facts["assumptions"], [str, str, str, bool]
    if not all(isinstance(row, list) and [*map(type, row)] == kinds for row in rows):
        raise FormatError(f"the file's 'assumptions' should be rows of three texts and a flag, and are {rows!r:.60}")
    if not all(_is_count(n) for n in facts["batch"]):
        raise FormatError(f"the file's 'batch' should be the lengths of a batch, and is {facts['batch']!r:.60}")
    return facts


def _is_count(n: object) -> bool:
    return isinstance(n, int) and not isinstance(n, bool) and 0 <= n < MAX_COUNT


def _model(facts: dict[str, Any], given: Model | None) -> Model:
    """The model that is given, or the one in the file, refused if it is no valid robot."""
    if given is not None:
        return given
    model = model_of(facts["robot"], "the trajectory's robot")
    return refuse_impossible_values(model)  # robots that were used unchecked are stored as well


def _assemble(facts: dict[str, Any], model: Model, t: Array, arrays: dict[str, Array]) -> StoredMotion:
    """A motion from metadata and arrays, refused where they do not fit the model."""
    _refuse_unfit(model, t, arrays)
    batch = arrays["q"].shape[:-2]
    events = tuple(_event(entry, model, batch) for entry in facts["events"])
    rows = tuple(Assumption(*row) for row in facts["assumptions"])
    return StoredMotion(model, t, arrays, facts["method"], facts["status"], events, tuple(facts["notes"]), rows)


def _event(entry: Any, model: Model, batch: tuple[int, ...]) -> EventRecord:
    if not isinstance(entry, dict):
        raise FormatError(f"an event in the file should be a table, and is {entry!r:.60}")
    name, row = entry.get("name"), entry.get("row")
    fits = isinstance(row, list) and len(row) == len(batch) and all(_is_count(i) for i in row)
    if not isinstance(name, str) or not isinstance(row, list) or not fits or any(map(operator.ge, row, batch)):
        raise FormatError(
            f"an event in the file should have a name and a row of the batch {batch}, and has {name!r:.60} and "
            f"{row!r:.60}"
        )
    t, q, qd = (np.array(entry.get(key), dtype=float) for key in ("t", "q", "qd"))
    if t.shape != () or q.shape != (model.nq,) or qd.shape != (model.nv,):
        raise FormatError(
            f"event {name!r:.60} in the file should have a time, {model.nq} coordinates and {model.nv} velocities, and "
            f"has {t.shape}, {q.shape} and {qd.shape}"
        )
    return EventRecord(name, float(t), tuple(row), q, qd)


def _refuse_unfit(model: Model, t: Array, arrays: dict[str, Array]) -> None:
    """An error where an array does not have the shape that the model needs."""
    if t.ndim != 1 or t.dtype != np.float64 or not np.isfinite(t).all():
        raise FormatError(f"t should be a list of finite times, and is {t.shape} of {t.dtype}")
    widths = {"q": model.nq, "work": len(WORKS), "states": arrays["states"].shape[-1] if arrays["states"].ndim else 0}
    for name, array in arrays.items():
        expected = (len(t), widths.get(name, model.nv))
        if array.dtype != np.float64 or array.shape[-2:] != expected or array.shape[:-2] != arrays["q"].shape[:-2]:
            raise FormatError(
                f"{name} should be (.., {expected[0]}, {expected[1]}) numbers for robot {model.name!r}, and is "
                f"{array.shape} of {array.dtype}; was it saved for another robot?"
            )


# --- .npz ---


def _save_npz(motion: StoredMotion, path: Path) -> None:
    arrays: Any = motion.arrays
    with path.open("wb") as file:
        np.savez_compressed(file, t=motion.t, facts=np.array(_metadata(motion)), **arrays)


def _load_npz(path: Path, model: Model | None) -> StoredMotion:
    stored = load_arrays(path, ("facts", "t", *COLUMNS))
    text, t, arrays = str(stored["facts"]), stored["t"], {name: stored[name] for name in COLUMNS}
    facts = _facts(text)
    return _assemble(facts, _model(facts, model), t, arrays)


# --- tables: a line for each sample, and a column "row" that counts the motions of a batch ---


def _table(motion: StoredMotion) -> dict[str, Array]:
    """The columns of a motion by name."""
    rows, samples = int(np.prod(motion.batch, dtype=int)), len(motion.t)
    names = column_names(motion.model.layout, motion.arrays["states"].shape[-1])
    table: dict[str, Array] = {}
    if motion.batch:
        table["row"] = np.repeat(np.arange(rows), samples)
    table["t"] = np.tile(motion.t, rows)
    for kind in COLUMNS:
        flat = motion.arrays[kind].reshape(rows * samples, len(names[kind]))
        table |= {f"{kind}.{name}": flat[:, k] for k, name in enumerate(names[kind])}
    return table


def _from_table(table: dict[str, Array], model: Model, batch: tuple[int, ...] | None) -> tuple[Array, dict[str, Array]]:
    """The times and arrays of a motion, from its columns."""
    if "t" not in table:
        raise FormatError("there is no column 't'")
    rows, t = _rows(table)
    shape = batch if batch is not None else ((rows,) if "row" in table else ())
    arrays = {}
    states = sum(name.startswith("states.") for name in table)
    for kind, names in column_names(model.layout, states).items():
        missing = [name for name in names if f"{kind}.{name}" not in table]
        if missing:
            raise FormatError(f"there is no column '{kind}.{missing[0]}', which robot {model.name!r} needs")
        columns = [table[f"{kind}.{name}"] for name in names]
        stacked = np.stack(columns, axis=-1) if columns else np.zeros((rows * len(t), 0))
        arrays[kind] = stacked.astype(float).reshape((*shape, len(t), len(names)))
    return t.astype(float), arrays


def _rows(table: dict[str, Array]) -> tuple[int, Array]:
    """The number of motions in a table, and their times; refused where rows are out of order."""
    times = np.asarray(table["t"], dtype=float)
    if "row" not in table:
        return 1, times
    numbers = np.asarray(table["row"], dtype=float)
    rows = len(np.unique(numbers))
    samples = len(times) // max(rows, 1)
    if len(numbers) != rows * samples or not np.array_equal(numbers, np.repeat(np.arange(rows), samples)):
        raise FormatError("the column 'row' should count the motions, 0 for every sample of the first, then 1, and on")
    t = times[:samples]
    if not np.array_equal(times, np.tile(t, rows)):
        raise FormatError("the column 't' should hold the same times for every row")
    return rows, t


def _save_csv(motion: StoredMotion, path: Path) -> None:
    import csv

    table = _table(motion)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))


def _load_csv(path: Path, model: Model | None) -> StoredMotion:
    import csv

    if model is None:
        raise ShapeError("a .csv file holds numbers alone: say whose they are, with Trajectory.load(path, robot)")
    with path.open(newline="", encoding="utf-8") as file:
        names, *lines = list(csv.reader(file)) or [[]]
    if len(set(names)) < len(names) or not names:
        raise FormatError("the first line should name the columns, each once")
    numbers = np.array(lines, dtype=float).reshape(len(lines), len(names))
    t, arrays = _from_table({name: numbers[:, k] for k, name in enumerate(names)}, model, None)
    _refuse_unfit(model, t, arrays)
    return StoredMotion(model, t, arrays)


def import_parquet() -> tuple[Any, Any]:
    """pyarrow and its Parquet module."""
    parquet = import_optional("pyarrow.parquet", "a Parquet file", ", or save as .npz, which needs nothing")
    return import_optional("pyarrow", "a Parquet file"), parquet


def _save_parquet(motion: StoredMotion, path: Path) -> None:
    arrow, parquet = import_parquet()
    text = _metadata(motion).encode()
    table = arrow.table(_table(motion)).replace_schema_metadata({"chainrule": text, DIGEST: sha256(text).hexdigest()})
    parquet.write_table(table, path, write_page_checksum=True)


def _load_parquet(path: Path, model: Model | None) -> StoredMotion:
    arrow, parquet = import_parquet()
    try:
        stored = parquet.read_table(path, partitioning=None, page_checksum_verification=True)
    except arrow.ArrowException as error:
        raise FormatError(f"{str(path)!r} is not a Parquet file: {error}") from error
    metadata = (stored.schema.metadata or {}).get(b"chainrule")
    if metadata is None:
        raise FormatError(f"{str(path)!r} is a Parquet file, but holds no trajectory of chainrule")
    if stored.schema.metadata.get(DIGEST) != sha256(metadata).hexdigest().encode():
        raise FormatError(f"{str(path)!r} is damaged: what it says of its robot and columns is not what was written")
    facts = _facts(metadata)
    owner = _model(facts, model)
    columns = {name: stored[name].to_numpy() for name in stored.column_names}
    t, arrays = _from_table(columns, owner, tuple(facts["batch"]))
    return _assemble(facts, owner, t, arrays)
