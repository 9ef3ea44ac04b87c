"""A map of a workspace on its way, kept in a file: the cells counted so far, and the blocks that they are of."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.arguments import npz_path
from chainrule.errors import ShapeError, short_repr
from chainrule.formats.arrays import load_arrays, reading, save_arrays
from chainrule.kinematics.cell_table import CellRecords, CellTable

FORMAT = "chainrule workspace checkpoint 1"

SECONDS_BETWEEN_WRITES = 30.0


class Checkpoint:
    """A table of cells and the blocks counted in it, written to a file now and then; to none without a path.

    `facts` say which map it is of, in plain values.
    """

    def __init__(
        self, path: str | PathLike[str] | None, facts: Mapping[str, Any], table: CellTable, blocks: int
    ) -> None:
        self.path = (
            None if path is None else npz_path(path, "checkpoint must be the path of an .npz file", "checkpoint")
        )
        self.facts = {"format": FORMAT, **facts}
        self.table = table
        self.done = np.zeros(blocks, dtype=bool)
        self.is_whole = True
        """Whether the table has exactly the blocks that are done: not while some are being added."""
        self.written = time.monotonic()
        if self.path is not None and self.path.is_file():
            self._read(self.path)

    def waiting(self) -> list[range]:
        """The blocks that are not counted yet."""
        edges = np.flatnonzero(np.diff(np.concatenate([[True], self.done, [True]]).astype(np.int8)))
        return [range(start, stop) for start, stop in edges.reshape(-1, 2).tolist()]

    def add(self, blocks: range, cells: CellRecords) -> None:
        """Count the cells of some blocks."""
        self.is_whole = False
        self.table.merge(cells)
        self.done[blocks.start : blocks.stop] = True
        self.is_whole = True
        if time.monotonic() - self.written > SECONDS_BETWEEN_WRITES:
            self.write()

    def write(self) -> None:
        """Write the file; where adding was interrupted, the one of before stays."""
        if self.path is None or not self.is_whole:
            return
        facts, done = np.array(json.dumps(self.facts)), np.packbits(self.done)
        cells = self.table.cells(sort=False)._asdict()
        save_arrays(self.path, {"facts": facts, "done": done, **cells}, compress=False)
        self.written = time.monotonic()

    def _read(self, path: Path) -> None:
        with reading(path, "a checkpoint of a workspace"):
            stored = load_arrays(path, ("facts", "done", *CellRecords._fields))
            self._refuse_other(json.loads(str(stored["facts"])))
            done = np.unpackbits(stored["done"], count=len(self.done)).astype(bool)
            self.table.merge(CellRecords(**{name: stored[name] for name in CellRecords._fields}))
            self.done = done

    def _refuse_other(self, facts: Any) -> None:
        for name, mine in self.facts.items():
            theirs = facts.get(name) if isinstance(facts, dict) else None
            if theirs != mine:
                raise ShapeError(
                    f"workspace: checkpoint {str(self.path)!r} is of another map: {name} was {short_repr(theirs)}, and "
                    f"is {short_repr(mine)} now; choose another file, or remove that one"
                )
