"""A data set in pieces, and what a worker does with one: see whether it is done, read it, make its product whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple, Protocol

import chainrule
from chainrule.cluster.files import DataFile, Folder, open_file
from chainrule.core.derived import fingerprint
from chainrule.errors import ChainruleError, FormatError, ShapeError, short_repr
from chainrule.motion.findings import Findings
from chainrule.robot.robot import Robot
from chainrule.simulation.files import import_parquet
from chainrule.statistics.statistics import Statistics

FORMAT = "chainrule results 1"

PIECE_BYTES = 128 << 20
"""Bytes of a file that one task takes; larger files of states are split between row groups."""

BATCH_BYTES, BATCH_FILES = 32 << 20, 100
"""Bytes and number of small files that one task takes together."""

RobotOf = Robot | Callable[[dict[str, str]], Robot]
"""A robot, or the one for a file by its partitions."""


class FilePiece(NamedTuple):
    """A file, or some of its row groups."""

    file: DataFile
    first: int = 0
    last: int | None = None
    """Of the row groups, the one after the last; None for all of them."""

    @property
    def name(self) -> str:
        """Its name below the folder of results."""
        if self.last is None:
            return self.file.name
        place = PurePosixPath(self.file.name)
        return str(place.with_name(f"{place.stem}.groups-{self.first:05d}{place.suffix}"))


@dataclass(frozen=True)
class Finished:
    """A piece and what became of it: "written", "kept" from an earlier run, or "set aside" for a reason."""

    piece: FilePiece
    status: str
    rows: int = 0
    reason: str = ""
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """Those of the notes that a user should look at."""
    statistics: Mapping[str, Statistics] = field(default_factory=dict)


class RowReader(Protocol):
    """A way to read rows of a Parquet file: states of a robot, or targets."""

    def describe(self) -> dict[str, Any]:
        """Everything that shapes it, in plain values."""

    def check(self, robot: Robot) -> None:
        """Refuse what is wrong for any file."""

    def holds_states(self, robot: Robot, schema: Any) -> bool:
        """Whether a file with this schema is read row by row."""

    def states(self, robot: Robot, file: Any, groups: range, notes: Findings) -> Iterator[Any]:
        """Rows of some row groups of an open file; what had to be assumed goes into `notes`."""


class PieceProduct(Protocol):
    """A thing that is made of each piece."""

    def describe(self) -> dict[str, Any]:
        """Everything that shapes it, in plain values."""

    def check(self, robot: Robot) -> None:
        """Refuse what cannot be made for a robot."""

    def find(self, folder: Folder, piece: FilePiece, key: str) -> Finished | None:
        """The record of a piece that an earlier run has finished with this key; None where there is none."""

    def make(
        self, piece: FilePiece, robot: Robot, states: Iterator[Any], folder: Folder | None, facts: str
    ) -> Finished:
        """Make it, and write it whole, with the facts of which `key` is one."""


@dataclass(frozen=True)
class Work:
    """The same work for every piece of a data set."""

    robot: RobotOf
    reading: RowReader
    product: PieceProduct
    folder: Folder | None
    storage: Mapping[str, Any]

    def robot_for(self, file: DataFile) -> Robot:
        """The robot of a file."""
        if isinstance(self.robot, Robot):
            return self.robot
        try:
            robot = self.robot(file.partitions)
        except Exception as error:  # of a function of the user's
            raise ShapeError(
                f"the function that gives the robot of a file raised {type(error).__name__}: {error}, for the "
                f"partitions {file.partitions}"
            ) from error
        if not isinstance(robot, Robot):
            raise ShapeError(f"robot must be a Robot, or a function that gives one; it gave {short_repr(robot)}")
        return robot

    def describe(self) -> dict[str, Any]:
        """Everything that shapes results, in plain values."""
        robot = self.robot
        named = {"name": robot.name, "digest": fingerprint(robot)} if isinstance(robot, Robot) else "by partition"
        facts = {
            "format": FORMAT,
            "chainrule": chainrule.__version__,
            "robot": named,
            "product": self.product.describe(),
            "reading": self.reading.describe(),
        }
        plain: dict[str, Any] = json.loads(json.dumps(facts, default=repr))
        return plain

    def finish(self, pieces: Sequence[FilePiece]) -> list[Finished]:
        """Do the work of some pieces; what is wrong with a file is in its record."""
        return [self._finish_one(piece) for piece in pieces]

    def _finish_one(self, piece: FilePiece) -> Finished:
        try:
            robot = self.robot_for(piece.file)
            facts = self.describe() | {"digest": fingerprint(robot), "file": piece.file.name}
            facts |= {"size": piece.file.size, "stamp": piece.file.stamp, "groups": [piece.first, piece.last]}
            key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
            found = None if self.folder is None else self.product.find(self.folder, piece, key)
            if found is not None:
                return found
            notes = Findings()
            with self.states(piece, robot, notes) as states:
                made = self.product.make(piece, robot, states, self.folder, json.dumps(facts | {"key": key}))
            return replace(made, notes=tuple(notes), doubts=tuple(notes.doubts))
        except ChainruleError as error:
            return Finished(piece, "set aside", reason=" ".join(str(error).split())[:500])

    @contextmanager
    def states(self, piece: FilePiece, robot: Robot, notes: Findings) -> Iterator[Iterator[Any]]:
        """The states of a piece, a few rows at a time; what is wrong with its file is a FormatError."""

        def read() -> Generator[Any, None, None]:
            try:
                with open_parquet(piece.file, self.storage) as found:
                    groups = range(piece.first, found.num_row_groups if piece.last is None else piece.last)
                    yield from self.reading.states(robot, found, groups, notes)
            except ChainruleError:
                raise
            except Exception as error:  # what pyarrow raises for damaged files is not documented
                what = " ".join(str(error).split())[:200]
                raise FormatError(f"the file cannot be read: {type(error).__name__}: {what}") from error

        parts = read()
        try:
            yield parts
        finally:
            parts.close()

    def split(self, file: DataFile) -> list[FilePiece]:
        """A large file in pieces of some row groups each, where its rows are states of their own."""
        try:
            with open_parquet(file, self.storage) as found:
                if not self.reading.holds_states(self.robot_for(file), found.schema_arrow):
                    return [FilePiece(file)]
                sizes = [found.metadata.row_group(k).total_byte_size for k in range(found.num_row_groups)]
        except Exception:  # the worker says what is wrong with it
            return [FilePiece(file)]
        starts, taken = [0], 0
        for k, size in enumerate(sizes):
            if taken and taken + size > PIECE_BYTES:
                starts.append(k)
                taken = 0
            taken += size
        return [FilePiece(file, a, b) for a, b in zip(starts, [*starts[1:], len(sizes)], strict=True)]

    def tasks(self, files: Iterable[DataFile]) -> Iterator[tuple[FilePiece, ...]]:
        """Pieces for one task each: many small files together, large ones split."""
        batch: list[FilePiece] = []
        size = 0
        for file in files:
            if file.size > 2 * PIECE_BYTES:
                yield from ((piece,) for piece in self.split(file))
                continue
            if batch and (size + file.size > BATCH_BYTES or len(batch) == BATCH_FILES):
                yield tuple(batch)
                batch, size = [], 0
            batch.append(FilePiece(file))
            size += file.size
        if batch:
            yield tuple(batch)


@contextmanager
def open_parquet(file: DataFile, storage: Mapping[str, Any]) -> Iterator[Any]:
    """A Parquet file to read."""
    _, parquet = import_parquet()
    with (
        open_file(file.path, storage) as source,
        parquet.ParquetFile(source, page_checksum_verification=True) as found,  # of files that have checksums
    ):
        yield found
