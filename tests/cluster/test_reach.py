"""Maps of workspaces and of reachability through a cluster: the same whatever the tasks and workers."""

from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import chainrule as cr
from chainrule.cluster import reach
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
    assert_equal_maps(arm.workspace(COUNT, cell=0.25, rng=2, cluster=client), here)
    assert here.samples == COUNT


def test_errors_of_workers_are_raised_here(client, arm, monkeypatch):
    monkeypatch.setattr(reach, "refuse_too_many_cells", lambda *_: 1.0)
    with pytest.raises(cr.ShapeError, match="would be more than"):
        arm.workspace(COUNT, cell=1e-5, cluster=client)


def test_blocks_are_split_for_threads_and_cells():
    assert reach.split_blocks(10, 1.0, 4) == [range(10)]
    tasks = reach.split_blocks(100_000, 1.0, 2)
    assert len(tasks) == 25
    assert [block for task in tasks for block in task] == list(range(100_000))
    many = reach.split_blocks(100_000, 3e6, 100)
    assert min(map(len, many[:-1])) * BLOCK_POSTURES >= reach.POSTURES_PER_CELL * 2.9e6


def test_a_local_cluster_is_started_and_ended(arm):
    pytest.importorskip("distributed")
    cells = arm.workspace(1000, cell=0.5, workers=1)
    assert_equal_maps(cells, arm.workspace(1000, cell=0.5))


def test_targets_are_solved_by_workers_as_here(client, arm):
    box = ([-3, -3, 0], [3, 3, 0], 0.1, np.eye(3))
    here, there = arm.reachability(*box), arm.reachability(*box, cluster=client)
    assert_array_equal(here.bits, there.bits)
    assert here.reasons == there.reasons
    assert 0 < here.success_rate < 1
