"""Maps of workspaces and of reachability through a cluster: the same whatever the tasks and workers."""

from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import chainrule as cr
from chainrule.cluster import checkpoint, reach
from chainrule.kinematics.cell_table import CellTable
from chainrule.kinematics.samples import BLOCK_POSTURES

COUNT = 5 * BLOCK_POSTURES + 7


def assert_equal_maps(one, other):
    for field in fields(one):
        if field.name != "robot":
            assert_array_equal(getattr(one, field.name), getattr(other, field.name), err_msg=field.name)


@pytest.fixture(scope="module")
def arm():
    return cr.load("planar_3r")


@pytest.mark.parametrize("blocks", [1, 2, 64])
def test_neither_workers_nor_tasks_change_a_map(client, arm, monkeypatch, blocks):
    here = arm.workspace(COUNT, cell=0.25, rng=2)
    monkeypatch.setattr(reach, "MIN_TASK_BLOCKS", blocks)
    monkeypatch.setattr(reach, "POSTURES_PER_CELL", 0)
    assert_equal_maps(arm.workspace(COUNT, cell=0.25, rng=2, cluster=client), here)
    assert here.samples == COUNT


def test_errors_of_workers_are_raised_here(client, arm, monkeypatch):
    monkeypatch.setattr(reach, "refuse_too_many_cells", lambda *_: 1.0)
    with pytest.raises(cr.ShapeError, match="would be more than"):
        arm.workspace(COUNT, cell=1e-5, cluster=client)


def test_blocks_are_split_for_threads_and_cells():
    assert reach.split_blocks([range(10)], 1.0, 4) == [range(10)]
    assert reach.split_blocks([range(3, 10), range(12, 90)], 1.0, 4) == [range(3, 10), range(12, 76), range(76, 90)]
    tasks = reach.split_blocks([range(100_000)], 1.0, 2)
    assert len(tasks) == 25
    assert [block for task in tasks for block in task] == list(range(100_000))
    many = reach.split_blocks([range(100_000)], 3e6, 100)
    assert min(map(len, many[:-1])) * BLOCK_POSTURES >= reach.POSTURES_PER_CELL * 2.9e6


def test_a_local_cluster_is_started_and_ended(arm):
    pytest.importorskip("distributed")
    cells = arm.workspace(1000, cell=0.5, workers=1)
    assert_equal_maps(cells, arm.workspace(1000, cell=0.5))


def test_targets_are_solved_by_workers_as_here(client, arm):
    box = ([-3, -3, 0], [3, 3, 0], 0.1, np.eye(3))
    here, there = arm.ik.reachability(*box), arm.ik.reachability(*box, cluster=client)
    assert_array_equal(here.bits, there.bits)
    assert here.reasons == there.reasons
    assert 0 < here.success_rate < 1


@pytest.fixture
def block_by_block(monkeypatch):
    monkeypatch.setattr(reach, "MIN_TASK_BLOCKS", 1)
    monkeypatch.setattr(reach, "POSTURES_PER_CELL", 0)


@pytest.mark.usefixtures("block_by_block")
def test_a_map_that_was_broken_off_goes_on_from_its_checkpoint(arm, tmp_path, monkeypatch):
    path, counted = tmp_path / "part.npz", []
    count = reach._count

    def count_until_interrupted(sampling, blocks, table):
        if len(counted) == 3:
            raise KeyboardInterrupt
        counted.extend(blocks)
        count(sampling, blocks, table)

    monkeypatch.setattr(reach, "_count", count_until_interrupted)
    with pytest.raises(KeyboardInterrupt):
        arm.workspace(COUNT, cell=0.25, checkpoint=path)
    monkeypatch.setattr(reach, "_count", lambda *work: (counted.extend(work[1]), count(*work)))
    whole = arm.workspace(COUNT, cell=0.25, checkpoint=path)
    assert sorted(counted) == list(range(6))  # each block once
    assert_equal_maps(whole, arm.workspace(COUNT, cell=0.25))
    counted.clear()
    assert_equal_maps(arm.workspace(COUNT, cell=0.25, checkpoint=path), whole)
    assert counted == []


@pytest.mark.usefixtures("block_by_block")
def test_a_table_that_was_interrupted_is_not_kept(arm, tmp_path, monkeypatch):
    path = tmp_path / "part.npz"
    merge = CellTable.merge

    def merge_until_interrupted(table, cells):
        merge(table, cells)
        if table.cells().counts.sum() > 2 * BLOCK_POSTURES:
            raise KeyboardInterrupt

    monkeypatch.setattr(CellTable, "merge", merge_until_interrupted)
    with pytest.raises(KeyboardInterrupt):
        arm.workspace(COUNT, cell=0.25, checkpoint=path)
    assert not path.exists()


@pytest.mark.usefixtures("block_by_block")
def test_checkpoints_are_written_now_and_then(arm, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS_BETWEEN_WRITES", -1.0)
    written = []
    write = checkpoint.Checkpoint.write
    monkeypatch.setattr(checkpoint.Checkpoint, "write", lambda self: (written.append(self.done.sum()), write(self)))
    arm.workspace(COUNT, cell=0.25, checkpoint=tmp_path / "part.npz")
    assert written == [1, 2, 3, 4, 5, 6, 6]


def test_other_checkpoints_are_refused(arm, tmp_path):
    path = tmp_path / "part.npz"
    arm.workspace(100, cell=0.5, checkpoint=path)
    with pytest.raises(cr.ShapeError, match="is of another map: samples was 100, and is 200 now; choose another file"):
        arm.workspace(200, cell=0.5, checkpoint=path)
    with pytest.raises(cr.ShapeError, match="another map: robot was 'planar_3r'"):
        cr.load("planar_2r").workspace(100, cell=0.5, checkpoint=path)
    path.write_bytes(b"no archive")
    with pytest.raises(
        cr.FormatError, match="is not a checkpoint of a workspace that chainrule wrote, or it is damaged"
    ):
        arm.workspace(100, cell=0.5, checkpoint=path)
    with pytest.raises(cr.ShapeError, match=r"must be the path of an \.npz file"):
        arm.workspace(100, cell=0.5, checkpoint="part.csv")
    with pytest.raises(cr.FormatError, match="cannot be written"):
        arm.workspace(100, cell=0.5, checkpoint=tmp_path / "nowhere" / "part.npz")
    with pytest.raises(cr.ShapeError, match="samples must be at most 10,000,000,000,000, got"):
        arm.workspace(10**14, cell=0.5)
