"""What is made of the pieces of a data set: Parquet files of results, and statistics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Protocol

import numpy as np

from chainrule.cluster.files import Folder
from chainrule.cluster.pieces import FilePiece, Finished
from chainrule.cluster.reading import StateRows
from chainrule.cluster.result_columns import MEASURED, measure
from chainrule.core.evaluation import require
from chainrule.errors import FormatError
from chainrule.robot.robot import Robot
from chainrule.simulation.files import import_parquet
from chainrule.statistics.statistics import Statistics

MARK = b"chainrule"
"""Where a Parquet file of results has the facts that shaped it."""


class ColumnFunction(Protocol):
    """A computation whose results are columns: of states, or of targets."""

    @property
    def name(self) -> str:
        """The name of what is computed."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Its options."""

    def check(self, robot: Robot) -> None:
        """Refuse what cannot be computed for a robot."""

    def columns(self, robot: Robot, states: Any, /) -> dict[str, Any]:
        """The results for some rows."""


@dataclass(frozen=True)
class Results:
    """A Parquet file for each piece, with the results of a computation."""

    computation: ColumnFunction
    compression: str

    def describe(self) -> dict[str, Any]:
        """Everything that shapes it, in plain values."""
        return {"computes": self.computation.name, "options": dict(self.computation.options)}

    def check(self, robot: Robot) -> None:
        """Refuse what cannot be computed for a robot."""
        self.computation.check(robot)

    def find(self, folder: Folder, piece: FilePiece, key: str) -> Finished | None:
        """The record of a piece that is finished; the file is read, since its bytes may have changed since."""
        _, parquet = import_parquet()
        try:
            with folder.open(piece.name) as file, parquet.ParquetFile(file, page_checksum_verification=True) as found:
                facts = json.loads(found.schema_arrow.metadata[MARK])
                if facts["key"] != key or facts["columns"] != _columns(found.schema_arrow):
                    return None
                rows = sum(len(part) for part in found.iter_batches())
                return Finished(piece, "kept", rows) if rows == found.metadata.num_rows else None
        except Exception:  # there is none, or it is damaged: it is made again
            return None

    def make(
        self, piece: FilePiece, robot: Robot, states: Iterator[Any], folder: Folder | None, facts: str
    ) -> Finished:
        """Compute, and write the file."""
        assert folder is not None
        arrow, parquet = import_parquet()
        rows = 0

        def fill(sink: Any) -> None:
            nonlocal rows
            writer = None
            try:
                for part in states:
                    columns = part.kept | self.computation.columns(robot, part)
                    table = arrow.table({name: arrow.array(values) for name, values in columns.items()})
                    if writer is None:
                        known = json.loads(facts) | {"columns": _columns(table.schema)}
                        schema = table.schema.with_metadata({MARK: json.dumps(known)})
                        writer = parquet.ParquetWriter(
                            sink,
                            schema,
                            compression=self.compression,
                            use_dictionary=False,
                            write_statistics=False,
                            write_page_checksum=True,
                        )
                    writer.write_table(table)
                    rows += len(table)
            finally:
                if writer is not None:
                    writer.close()
            if writer is None:
                raise FormatError("the file has no rows")

        folder.write(piece.name, fill)
        return Finished(piece, "written", rows)


@dataclass(frozen=True)
class SummaryProduct:
    """Statistics of each piece, of MEASURED; in a file of its own where there is a folder."""

    def describe(self) -> dict[str, Any]:
        """Everything that shapes it, in plain values."""
        return {"statistics": MEASURED}

    def check(self, robot: Robot) -> None:
        """Refuse robots without masses."""
        require(robot, "inverse_dynamics")

    def find(self, folder: Folder, piece: FilePiece, key: str) -> Finished | None:
        """The statistics of a piece that is finished."""
        try:
            with folder.open(_npz(piece)) as file, np.load(file, allow_pickle=False) as stored:
                facts = json.loads(str(stored["facts"]))
                if facts["key"] != key:
                    return None
                arrays = {kind: [name for name in stored.files if name.startswith(f"{kind}/")] for kind in MEASURED}
                found = {
                    kind: Statistics.from_arrays({name.partition("/")[2]: stored[name] for name in names})
                    for kind, names in arrays.items()
                }
                return Finished(piece, "kept", int(facts["rows"]), statistics=found)
        except Exception:  # there is none, or it is damaged: it is made again
            return None

    def make(
        self, piece: FilePiece, robot: Robot, states: Iterator[StateRows], folder: Folder | None, facts: str
    ) -> Finished:
        """Collect the statistics, and write them."""
        names = {"angle": robot.model.layout.coordinate_names}
        collected: dict[str, Statistics] = {}
        rows = 0
        for part in states:
            for kind, values in measure(robot, part).items():
                own = names.get(kind, robot.model.layout.velocity_names)
                new = Statistics.of(values, rows, label=piece.name, names=own)
                collected[kind] = collected[kind].merge(new) if kind in collected else new
            rows += len(part.q)
        if not rows:
            raise FormatError("the file has no rows")
        if folder is not None:
            arrays: Any = {
                f"{kind}/{name}": array for kind, one in collected.items() for name, array in one.arrays().items()
            }
            stored = json.dumps(json.loads(facts) | {"rows": rows})
            folder.write(_npz(piece), lambda file: np.savez_compressed(file, facts=np.array(stored), **arrays))
        return Finished(piece, "written", rows, statistics=collected)


def _columns(schema: Any) -> dict[str, str]:
    """The types of the columns of a Parquet file, by name: of its footer, which has no checksum."""
    return {field.name: str(field.type) for field in schema}


def _npz(piece: FilePiece) -> str:
    return str(PurePosixPath(piece.name).with_suffix(".npz"))
