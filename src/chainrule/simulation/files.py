"""Trajectories in files: .npz and .parquet hold all of one, the robot included; .csv the numbers alone."""

from __future__ import annotations

import json
import zipfile
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ChainruleError, FormatError, ShapeError
from chainrule.formats.native import model_of, to_json
from chainrule.simulation.trajectory import COLUMNS, Happened, Trajectory, column_names, coordinate_names

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

FORMAT = "chainrule trajectory 1"


def save(trajectory: Trajectory, path: str | PathLike[str]) -> None:
    """Write a trajectory, in the format that the end of the path names."""
    write = format_of(path)[0]
    try:
        write(trajectory, Path(path))
    except OSError as error:
        raise FormatError(f"{str(path)!r} cannot be written: {error.strerror or error}") from error


def load(path: str | PathLike[str], robot: Robot | None = None) -> Trajectory:
    """Read a trajectory; its robot is the one it was saved with, unless another is given."""
    read = format_of(path)[1]
    if not Path(path).is_file():
        raise FormatError(f"there is no file {str(path)!r}")
    try:
        return read(Path(path), robot)
    except ChainruleError:
        raise
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise FormatError(f"{str(path)!r} is not a trajectory that chainrule wrote: {error}") from error


def format_of(path: str | PathLike[str]) -> tuple[Any, Any]:
    """What writes and what reads files whose names end so."""
    try:
        suffix = Path(path).suffix.lower()
    except TypeError:
        raise ShapeError(f"path must be a path, got {path!r:.60}") from None
    formats = {
        ".npz": (_save_npz, _load_npz),
        ".parquet": (_save_parquet, _load_parquet),
        ".csv": (_save_csv, _load_csv),
    }
    if suffix not in formats:
        raise ShapeError(f"a trajectory is kept in .npz, .parquet or .csv, got {str(path)!r}")
    return formats[suffix]


def _facts(trajectory: Trajectory) -> str:
    """All of it but the arrays, as JSON."""
    events = [
        {"name": e.name, "t": e.t, "row": list(e.row), "q": e.q.tolist(), "qd": e.qd.tolist()}
        for e in trajectory.events
    ]
    return json.dumps(
        {
            "format": FORMAT, "method": trajectory.method, "status": trajectory.status, "events": events,
            "batch": list(trajectory.batch), "robot": json.loads(to_json(trajectory.robot.model)),
        }
    )  # fmt: skip


def _made(facts: dict[str, Any], robot: Robot | None, t: Array, arrays: dict[str, Array]) -> Trajectory:
    from chainrule.robot.robot import Robot

    if facts.get("format") != FORMAT:
        raise FormatError(f"the file should say format {FORMAT!r}, and says {facts.get('format')!r}")
    owner = Robot(model_of(facts["robot"], "the trajectory's robot")) if robot is None else robot
    _refuse_unfit(owner, t, arrays)
    events = tuple(
        Happened(str(e["name"]), float(e["t"]), tuple(e["row"]), np.array(e["q"]), np.array(e["qd"]))
        for e in facts["events"]
    )
    return Trajectory(owner, t, **arrays, method=str(facts["method"]), status=str(facts["status"]), events=events)


def _refuse_unfit(robot: Robot, t: Array, arrays: dict[str, Array]) -> None:
    widths = {"q": robot.nq, "work": 3, "states": arrays["states"].shape[-1]}
    for name, array in arrays.items():
        expected = (len(t), widths.get(name, robot.nv))
        if array.dtype != np.float64 or array.shape[-2:] != expected:
            raise FormatError(
                f"{name} should be (.., {expected[0]}, {expected[1]}) numbers for robot {robot.name!r}, and is "
                f"{array.shape} of {array.dtype}; was it saved for another robot?"
            )


def _save_npz(trajectory: Trajectory, path: Path) -> None:
    arrays = {name: getattr(trajectory, name) for name in COLUMNS}
    np.savez_compressed(path, t=trajectory.t, facts=np.array(_facts(trajectory)), **arrays)


def _load_npz(path: Path, robot: Robot | None) -> Trajectory:
    with np.load(path, allow_pickle=False) as stored:
        facts = json.loads(str(stored["facts"]))
        return _made(facts, robot, stored["t"], {name: stored[name] for name in COLUMNS})


# --- tables: a line for each sample, and a column "row" that counts the motions of a batch ---


def _table(trajectory: Trajectory) -> dict[str, Array]:
    rows = int(np.prod(trajectory.batch, dtype=int))
    names = column_names(trajectory.robot, trajectory)
    table: dict[str, Array] = {}
    if trajectory.batch:
        table["row"] = np.repeat(np.arange(rows), len(trajectory))
    table["t"] = np.tile(trajectory.t, rows)
    for kind in COLUMNS:
        flat = getattr(trajectory, kind).reshape(rows * len(trajectory), len(names[kind]))
        table |= {f"{kind}.{name}": flat[:, k] for k, name in enumerate(names[kind])}
    return table


def _from_table(table: dict[str, Array], robot: Robot, batch: tuple[int, ...] | None) -> tuple[Array, dict[str, Array]]:
    rows = int(table["row"].max()) + 1 if "row" in table else 1
    t = table["t"].reshape(rows, -1)[0]
    shape = batch if batch is not None else ((rows,) if "row" in table else ())
    q, v = coordinate_names(robot)
    states = [name.removeprefix("states.") for name in table if name.startswith("states.")]
    wanted = {"q": q, **dict.fromkeys(("qd", "qdd", "tau", "friction"), v), "work": ["torque", "friction", "wrenches"]}
    arrays = {}
    for kind, names in {**wanted, "states": states}.items():
        missing = [name for name in names if f"{kind}.{name}" not in table]
        if missing:
            raise FormatError(f"there is no column '{kind}.{missing[0]}', which robot {robot.name!r} needs")
        columns = [table[f"{kind}.{name}"] for name in names]
        stacked = np.stack(columns, axis=-1) if columns else np.zeros((rows * len(t), 0))
        arrays[kind] = stacked.astype(float).reshape((*shape, len(t), len(names)))
    return t.astype(float), arrays


def _save_csv(trajectory: Trajectory, path: Path) -> None:
    import csv

    table = _table(trajectory)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))


def _load_csv(path: Path, robot: Robot | None) -> Trajectory:
    import csv

    if robot is None:
        raise ShapeError("a .csv file holds numbers alone: say whose they are, with Trajectory.load(path, robot)")
    with path.open(newline="", encoding="utf-8") as file:
        names, *lines = list(csv.reader(file))
    numbers = np.array(lines, dtype=float).reshape(len(lines), len(names))
    t, found = _from_table({name: numbers[:, k] for k, name in enumerate(names)}, robot, None)
    arrays: Any = found
    return Trajectory(robot, t, **arrays, method="unknown")


def _parquet() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ShapeError(
            "Parquet files need pyarrow: pip install 'chainrule[parquet]', or save as .npz, which needs nothing"
        ) from None
    return pyarrow, pyarrow.parquet


def _save_parquet(trajectory: Trajectory, path: Path) -> None:
    arrow, parquet = _parquet()
    table = arrow.table(_table(trajectory)).replace_schema_metadata({"chainrule": _facts(trajectory)})
    parquet.write_table(table, path)


def _load_parquet(path: Path, robot: Robot | None) -> Trajectory:
    from chainrule.robot.robot import Robot

    arrow, parquet = _parquet()
    try:
        stored = parquet.read_table(path)
    except arrow.ArrowException as error:
        raise FormatError(f"{str(path)!r} is not a Parquet file: {error}") from error
    facts = json.loads((stored.schema.metadata or {})[b"chainrule"])
    owner = Robot(model_of(facts["robot"], "the trajectory's robot")) if robot is None else robot
    columns = {name: stored[name].to_numpy() for name in stored.column_names}
    t, arrays = _from_table(columns, owner, tuple(facts["batch"]))
    return _made(facts, owner, t, arrays)
