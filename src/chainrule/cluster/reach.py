"""The workspace of billions of postures, and the inverse kinematics of billions of targets, in blocks as tasks.

Postures are counted in cells where they are computed; of targets one bit comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

import chainrule
from chainrule.arguments import whole_number
from chainrule.cluster.checkpoint import Checkpoint
from chainrule.cluster.client import connect
from chainrule.cluster.stream import run_tasks
from chainrule.compile.runtime.threads import run_all, threads
from chainrule.core.derived import fingerprint
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.errors import ShapeError, UnknownNameError, short_repr
from chainrule.inverse_kinematics.reachability import BLOCK_TARGETS, Reachability, Solver, read_volume, solve_blocks
from chainrule.inverse_kinematics.solve import inverse_kinematics
from chainrule.kinematics.cell_table import CellRecords, CellTable, bytes_per_cell, refuse_too_many_cells
from chainrule.kinematics.reach import positive_integer
from chainrule.kinematics.samples import BLOCK_POSTURES, block_of_postures, measure_postures
from chainrule.kinematics.voxels import read_side
from chainrule.kinematics.workspace_map import WorkspaceMap, map_of

if TYPE_CHECKING:
    from distributed import Client

MAX_SAMPLES = 10**13
"""Postures of a map, a month's work of one core."""

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


TARGET_TASK_BLOCKS = 16
"""Blocks of targets of a task: some seconds of work."""

DEFAULT_RESTARTS = 20
"""A target that cannot be reached takes as long as all its restarts, so there are fewer than for single targets."""

OPTIONS = ("method", "limits", "axis", "weights", "tolerance", "posture", "restarts", "max_iterations", "seed")
"""Options of inverse_kinematics that a map of reachability takes."""


@dataclass(frozen=True)
class Sampling:
    """Random postures of a robot, and the cells of side `cell` that the points of a link are counted in."""

    robot: Mechanism
    link: str
    task: str | None
    samples: int
    seed: int
    cell: float

    @property
    def blocks(self) -> int:
        """The number of blocks; the last may have fewer postures."""
        return -(-self.samples // BLOCK_POSTURES)

    def describe(self) -> dict[str, Any]:
        """Everything that shapes the map, in plain values."""
        return {
            "chainrule": chainrule.__version__, "robot": self.robot.name, "digest": fingerprint(self.robot),
            "link": self.link, "task": self.task, "samples": self.samples, "seed": self.seed, "cell": self.cell,
            "block": BLOCK_POSTURES,
        }  # fmt: skip

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
    task: str | None = None,
    seed: int = 0,
    cell: float,
    cluster: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> WorkspaceMap:
    """The map of the workspace; the arguments are those of `robot.workspace`."""
    sampling = Sampling(
        robot,
        find_link(robot, link),
        task,
        positive_integer(samples, "workspace: samples"),
        whole_number(seed, "workspace: rng"),
        read_side(cell),
    )
    if sampling.samples > MAX_SAMPLES:
        raise ShapeError(f"workspace: samples must be at most {MAX_SAMPLES:,}, got {short_repr(samples)}")
    cells = _expected_cells(sampling)
    tables = max(1, int(MAX_THREAD_BYTES / (cells * bytes_per_cell(robot.nq))))
    counted = Checkpoint(checkpoint, sampling.describe(), CellTable(sampling.cell, robot.nq), sampling.blocks)
    with connect(cluster, workers) as client:
        tasks = split_blocks(counted.waiting(), cells, _threads_of(client))
        count = partial(count_blocks, sampling, most_tables=tables)
        try:
            for outcome in run_tasks(
                count, tasks, client, name=_name, in_order=False, progress=progress, doing="sampling postures"
            ):
                counted.add(outcome.task, outcome.get())
        finally:
            counted.write()
    return map_of(robot, sampling.link, sampling.cell, counted.table.cells())


def _expected_cells(sampling: Sampling) -> float:
    """How many cells there will be, at most about, judged by some blocks; too many are refused."""
    first = [sampling.postures(block) for block in range(min(PILOT_BLOCKS, sampling.blocks))]
    measured = [measure_postures(sampling.robot, q, sampling.link, sampling.task) for q in first]
    positions = np.concatenate([part.position for part in measured], axis=1)
    return refuse_too_many_cells(positions, sampling.cell, sampling.robot.nq)


def _threads_of(client: Client | None) -> int:
    """The threads that tasks are divided among."""
    return 1 if client is None else max(1, sum(client.nthreads().values()))


def _name(blocks: range) -> str:
    return f"blocks {blocks.start} to {blocks.stop - 1}"


def split_blocks(waiting: Sequence[range], cells: float, threads: int) -> list[range]:
    """Ranges of blocks as tasks for so many threads, which will fill so many cells."""
    least = max(MIN_TASK_BLOCKS, int(POSTURES_PER_CELL * cells / BLOCK_POSTURES))
    size = max(least, min(sum(map(len, waiting)) // (TASKS_PER_THREAD * threads), MAX_TASK_BLOCKS))
    return [range(start, min(start + size, run.stop)) for run in waiting for start in range(run.start, run.stop, size)]


def count_blocks(sampling: Sampling, blocks: range, *, most_tables: int = 1) -> CellRecords:
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
        measured = measure_postures(sampling.robot, q, sampling.link, sampling.task)
        table.add(measured, q, block * BLOCK_POSTURES)


def reachability(
    robot: Mechanism,
    low: Any,
    high: Any,
    cell: float,
    orientations: Any = None,
    link: str | None = None,
    *,
    task: str | None = None,
    cluster: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Reachability:
    """The places of a box that a link or frame reaches with given orientations, such as a hand with a cup upright.

    The inverse kinematics is solved for the center of each cell with each orientation. Of a target one bit is kept,
    so that a billion of them fit. The result does not depend on processes and machines.

    Parameters
    ----------
    low, high
        The corners of the box (x, y, z), in m; a plane or a line where they have equal numbers.
    cell
        The side of cells, in m.
    orientations
        Rotation matrices (3, 3) or (K, 3, 3), or Rotations of SciPy; None if only the position counts.
    link
        The link or frame; the end-effector unless one is named.
    task
        As in `inverse_kinematics`: "pose" unless given, or "axis", the direction of one axis of the frame alone.
    cluster, workers, progress
        As in `workspace`.
    options
        Of `inverse_kinematics`: tolerance, axis, limits, weights, posture, method, max_iterations, seed, and
        restarts, 20 unless given: of targets that cannot be reached, all of them are tried.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").ik.reachability([0, 0, 0], [2, 2, 0], 0.25)
    <Reachability of 'planar_2r': 8 x 8 x 1 cells of 0.25 m, 1 orientations, 81.2% reached>
    """
    volume = read_volume(low, high, cell, orientations)
    chosen = dict(options)
    for name in chosen:
        if name not in OPTIONS:
            raise UnknownNameError.of("option", name, OPTIONS, "reachability")
    if task is None:
        task = "position" if volume.rotations is None else "pose"
    chosen["task"] = task
    solver = Solver(robot, find_link(robot, link), {"restarts": DEFAULT_RESTARTS} | chosen)
    inverse_kinematics(robot, volume.block(0)[:1], link=solver.link, **{**solver.options, "restarts": 0})  # or refused
    blocks = -(-volume.targets // BLOCK_TARGETS)
    tasks = [range(start, min(start + TARGET_TASK_BLOCKS, blocks)) for start in range(0, blocks, TARGET_TASK_BLOCKS)]
    bits = np.zeros(-(-volume.targets // 8), dtype=np.uint8)
    reasons: Counter[str] = Counter()
    with connect(cluster, workers) as client:
        solve = partial(solve_blocks, solver, volume)
        for outcome in run_tasks(solve, tasks, client, in_order=False, progress=progress, doing="solving targets"):
            solved, failed = outcome.get()
            first = outcome.task.start * BLOCK_TARGETS // 8
            bits[first : first + len(solved)] = solved
            reasons.update(failed)
    return Reachability(robot, solver.link, volume, bits, dict(sorted(reasons.items())))
