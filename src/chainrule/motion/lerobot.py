"""Data sets of LeRobot, versions 2 and 3: info.json says what the columns of its Parquet files are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.arguments import Array, whole_number, word
from chainrule.errors import FormatError, ShapeError, UnknownNameError, quoted
from chainrule.motion.tables import RecordedTable
from chainrule.simulation.assumptions import Assumption
from chainrule.simulation.files import import_parquet

INFO = Path("meta") / "info.json"
STATE = "observation.state"


def is_lerobot(path: Path) -> bool:
    """Whether a path is the folder of such a data set."""
    return (path / INFO).is_file()


def read_lerobot(path: Path, episode: Any, feature: Any, degrees: Any) -> RecordedTable:
    """The positions of joints in one episode."""
    try:
        info = json.loads((path / INFO).read_text(encoding="utf-8"))
        features, fps, version = info["features"], float(info["fps"]), str(info.get("codebase_version", "?"))
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise FormatError(f"{str(path / INFO)!r} is no description of a data set of LeRobot: {error}") from error
    chosen = STATE if feature is None else word(feature, "feature")
    if chosen not in features:
        raise UnknownNameError.of("feature", chosen, list(features), f"data set {path.name!r}")
    if degrees is None:
        raise ShapeError(
            f"data set {path.name!r} does not say in which unit its angles are, as none of LeRobot does; say "
            "degrees=True or degrees=False. Values normalized to a joint's range have neither: scale them first"
        )
    if episode is None:
        raise ShapeError(
            f"data set {path.name!r} has {info.get('total_episodes', 'several')} episodes; say episode=..."
        )
    number = whole_number(episode, "episode", least=0)
    values, times = _read_episode(path, number, chosen)
    names = _names(features[chosen].get("names"), values.shape[1], chosen)
    facts = (
        Assumption(
            "episode", f"{number} of {path.name!r}, version {version}, {fps:g} frames a second", "as episode=... says"
        ),
        Assumption("feature", repr(chosen), "as feature=... says" if feature is not None else "the state of the robot"),
    )
    columns = {"timestamp": times, **{name: values[:, k] for k, name in enumerate(names)}}
    return RecordedTable(columns, {"timestamp": "s"}, assumptions=facts)


def _read_episode(path: Path, number: int, feature: str) -> tuple[Array, Array]:
    """The rows (T, k) of a feature in an episode, and their times (T,), from one of the files of the data set."""
    arrow, parquet = import_parquet()
    files = sorted((path / "data").glob(f"chunk-*/episode_{number:06d}.parquet")) or sorted(
        (path / "data").glob("chunk-*/file-*.parquet")
    )
    wanted = [feature, "timestamp", "episode_index"]
    parts = []
    try:
        for file in files:
            table = parquet.read_table(file, columns=wanted, partitioning=None)
            here = np.flatnonzero(table.column("episode_index").to_numpy() == number)
            if len(here):
                rows = table.take(arrow.array(here))
                parts.append(
                    (np.array(rows.column(feature).to_pylist(), dtype=float), rows.column("timestamp").to_numpy())
                )
    except (arrow.ArrowException, KeyError, ValueError, OSError) as error:
        raise FormatError(f"data set {path.name!r}: {type(error).__name__}: {error}") from error
    if not parts:
        raise ShapeError(f"data set {path.name!r} has no episode {number} in {len(files)} files")
    values, times = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return values.reshape(len(values), -1), times.reshape(-1).astype(float)


def _names(names: Any, count: int, feature: str) -> list[str]:
    """The names of a feature's numbers, without LeRobot's ending ".pos"; q1, q2, .. where it has none."""
    if isinstance(names, dict) and len(names) == 1:  # {"motors": [...]}, {"axes": [...]}
        (names,) = names.values()
    if names is None:
        return [f"q{k + 1}" for k in range(count)]
    found = [str(name).removesuffix(".pos") for name in names] if isinstance(names, list) else []
    if len(found) != count or len(set(found)) != count:
        raise ShapeError(
            f"feature {feature!r} has {count} numbers in a row, and its names are {quoted(map(str, names))}"
        )
    return found
