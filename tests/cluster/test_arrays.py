"""Dask arrays on a cluster of processes: the robot travels, and each worker compiles a function once."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import chainrule as cr

da = pytest.importorskip("dask.array")


def robots_and_kernels():
    """The robots that came to a worker under one name, and how many kernels of theirs were made there."""
    from chainrule.compile.runtime import memory_cache
    from chainrule.core import pickling

    names = [robot.name for robot in pickling._latest.values()]
    calls = [key for key in memory_cache._kept if getattr(key, "function", None) == "inverse_dynamics"]
    return names.count("traveller"), len([call for call in calls if call.model.name == "traveller"])


def test_arrays_are_computed_on_the_cluster_with_one_robot_in_each_worker(client):
    arm = cr.load("planar_2r").edit(name="traveller")
    q = np.random.default_rng(0).normal(size=(40, 2))
    lazy = da.from_array(q, chunks=(5, 2))
    expected = arm.inverse_dynamics(q, q, q)
    for _ in range(2):
        assert_array_equal(client.compute(arm.inverse_dynamics(lazy, lazy, lazy)).result(), expected)
    found = list(client.run(robots_and_kernels).values())
    assert any(found)
    assert all(counts in ((0, 0), (1, 1)) for counts in found)


def test_inverse_kinematics_on_the_cluster(client):
    arm = cr.load("planar_2r")
    points = np.random.default_rng(0).uniform(-1, 1, size=(12, 3)) * [1, 1, 0]
    wanted = arm.inverse_kinematics(points, task="position", restarts=3)
    lazy = arm.inverse_kinematics(da.from_array(points, chunks=(5, 3)), task="position", restarts=3)
    q, reason = client.gather(client.compute([lazy.q, lazy.reason]))
    assert_array_equal(q, wanted.q)
    assert_array_equal(reason, wanted.reason)
