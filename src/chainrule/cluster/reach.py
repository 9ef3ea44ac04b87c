"""The workspace of billions of postures: blocks of postures as tasks, counted in cells where they are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import whole_number
from chainrule.cluster.client import connect
from chainrule.cluster.stream import run_tasks
from chainrule.compile.load.threads import run_all, threads
from chainrule.core.mechanism import Mechanism
from chainrule.kinematics.cell_table import Cells, CellTable, bytes_per_cell, refuse_too_many_cells
from chainrule.kinematics.reach import positive_integer, read_side
from chainrule.kinematics.samples import BLOCK_POSTURES, block_of_postures, measure_postures
from chainrule.kinematics.workspace_map import WorkspaceMap

if TYPE_CHECKING:
    from distributed import Client

PILOT_BLOCKS = 4
"""Blocks by which the number of cells is estimated before the work begins."""

TASKS_PER_THREAD = 8
"""Tasks for each thread of a cluster, so that they end at about the same time."""

MIN_TASK_BLOCKS, MAX_TASK_BLOCKS = 64, 4096
"""Blocks of a task: from a tenth of a second to some seconds."""

POSTURES_PER_CELL = 32
"""Postures of a task for each cell, at least: filling a table and merging it costs as much as some postures a cell."""

MAX_THREAD_BYTES = 1_000_000_000
"""Memory that the tables of a process's threads may take together."""


@dataclass(frozen=True)
class Sampling:
    """Random postures of a robot, and the cells of side `cell` that the points of a link are counted in."""

    robot: Mechanism
    link: str
    part: str | None
    samples: int
    seed: int
    cell: float

    @property
    def blocks(self) -> int:
        """The number of blocks; the last may have fewer postures."""
        return -(-self.samples // BLOCK_POSTURES)

    def postures(self, block: int) -> Any:
        """The postures of a block."""
        return block_of_postures(
            self.robot, self.seed, block, min(BLOCK_POSTURES, self.samples - block * BLOCK_POSTURES)
        )


def map_workspace(
    robot: Mechanism,
    samples: int,
    link: str | None = None,
    *,
    part: str | None = None,
    seed: int = 0,
    cell: float,
    cluster: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> WorkspaceMap:
    """The map of the workspace; the arguments are those of `robot.workspace`."""
    sampling = Sampling(
        robot,
        robot.link(link),
        part,
        positive_integer(samples, "workspace: samples"),
        whole_number(seed, "workspace: rng"),
        read_side(cell),
    )
    cells = _expected_cells(sampling)
    tables = max(1, int(MAX_THREAD_BYTES / (cells * bytes_per_cell(robot.nq))))
    total = CellTable(sampling.cell, robot.nq)
    with connect(cluster, workers) as client:
        tasks = split_blocks(sampling.blocks, cells, _threads_of(client))
        count = partial(count_blocks, sampling, most_tables=tables)
        for outcome in run_tasks(
            count, tasks, client, name=_name, in_order=False, progress=progress, doing="sampling postures"
        ):
            total.merge(outcome.get())
    return WorkspaceMap.of(robot, sampling.link, sampling.cell, total.cells())


def _expected_cells(sampling: Sampling) -> float:
    """How many cells there will be, at most about, judged by some blocks; too many are refused."""
    first = [sampling.postures(block) for block in range(min(PILOT_BLOCKS, sampling.blocks))]
    measured = [measure_postures(sampling.robot, q, sampling.link, sampling.part) for q in first]
    positions = np.concatenate([part.position for part in measured], axis=1)
    return refuse_too_many_cells(positions, sampling.cell, sampling.robot.nq)


def _threads_of(client: Client | None) -> int:
    """The threads that tasks are divided among."""
    return 1 if client is None else max(1, sum(client.nthreads().values()))


def _name(blocks: range) -> str:
    return f"blocks {blocks.start} to {blocks.stop - 1}"


def split_blocks(blocks: int, cells: float, threads: int) -> list[range]:
    """Blocks as tasks for so many threads, which will fill so many cells."""
    least = max(MIN_TASK_BLOCKS, int(POSTURES_PER_CELL * cells / BLOCK_POSTURES))
    size = max(least, min(blocks // (TASKS_PER_THREAD * threads), MAX_TASK_BLOCKS))
    return [range(start, min(start + size, blocks)) for start in range(0, blocks, size)]


def count_blocks(sampling: Sampling, blocks: range, *, most_tables: int = 1) -> Cells:
    """The cells of some blocks, on as many threads as there are, each with a table of its own."""
    parts = max(1, min(threads(), most_tables, len(blocks)))
    tables = [CellTable(sampling.cell, sampling.robot.nq) for _ in range(parts)]
    ends = [blocks.start + len(blocks) * k // parts for k in range(parts + 1)]
    run_all([partial(_count, sampling, range(ends[k], ends[k + 1]), table) for k, table in enumerate(tables)])
    for table in tables[1:]:
        tables[0].merge(table.cells(sort=False))
    return tables[0].cells(sort=False)


def _count(sampling: Sampling, blocks: Sequence[int], table: CellTable) -> None:
    for block in blocks:
        q = sampling.postures(block)
        measured = measure_postures(sampling.robot, q, sampling.link, sampling.part)
        table.add(measured, q, block * BLOCK_POSTURES)
