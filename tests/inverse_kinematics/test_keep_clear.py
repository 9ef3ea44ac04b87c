"""Inverse kinematics that keeps clear: what it finds is clear, and what it does not find has a reason with names."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

ARM = cr.load("panda")
SHELF = (
    cr.World()
    .box("bottom", size=(0.4, 0.8, 0.02), xyz=(0.55, 0, 0.2))
    .box("top", size=(0.4, 0.8, 0.02), xyz=(0.55, 0, 0.6))
    .box("back", size=(0.02, 0.8, 0.4), xyz=(0.75, 0, 0.4))
)


def poses_in_the_shelf(count, seed=0):
    """Poses that some clear configuration has."""
    q = ARM.random_state(np.random.default_rng(seed), (200 * count,))
    T = ARM.pose(q)
    x, y, z = T[:, :3, 3].T
    inside = (x > 0.4) & (np.abs(y) < 0.36) & (z > 0.24) & (z < 0.56)
    return T[inside & (ARM.clearance(q, SHELF) >= 0.01)][:count]


def test_what_can_be_reached_clear_is_found_clear():
    T = poses_in_the_shelf(100)
    found = ARM.inverse_kinematics(T, world=SHELF, clearance=0.01)
    assert found.success.mean() >= 0.99
    good = found.q[found.success]
    assert ARM.clearance(good, SHELF).min() >= 0.01
    assert np.abs(ARM.pose(good) - T[found.success]).max() < 1e-5
    assert (good >= ARM.limits.lower).all()
    assert (good <= ARM.limits.upper).all()
    assert np.allclose(found.clearance, ARM.clearance(found.q, SHELF))
    plain = ARM.inverse_kinematics(T)
    assert (ARM.clearance(plain.q, SHELF) < 0.01).any()


def test_one_target_and_shapes_of_batches():
    T = poses_in_the_shelf(4)
    one = ARM.inverse_kinematics(T[0], world=SHELF)
    assert one
    assert one.q.shape == (7,)
    assert one.in_the_way == ""
    batch = ARM.inverse_kinematics(T.reshape(2, 2, 4, 4), world=SHELF)
    assert batch.q.shape == (2, 2, 7)
    assert batch.success.shape == batch.clearance.shape == batch.in_the_way.shape == batch.reason.shape == (2, 2)
    assert batch.error.shape == (2, 2, 2)


def test_what_is_in_the_way_is_named():
    T = np.stack([poses_in_the_shelf(1)[0]] * 2)
    T[1, :3, 3] = 0.5, 0.0, 0.2  # in the board
    found = ARM.inverse_kinematics(T, world=SHELF, restarts=20)
    assert found.success.tolist() == [True, False]
    assert found.reason.tolist() == ["", "in the way"]
    assert "'bottom'" in found.in_the_way[1]
    assert "'bottom'" in repr(found)
    assert np.abs(ARM.pose(found.q[1]) - T[1]).max() < 1e-5  # reached, but for what is in the way


def test_a_start_chooses_the_nearest_of_what_is_clear():
    T = poses_in_the_shelf(20)
    starts = np.broadcast_to(ARM.home(), (len(T), 7))
    found = ARM.inverse_kinematics(T, starts, world=SHELF, clearance=0.01)
    assert found.success.mean() >= 0.95
    assert ARM.clearance(found.q[found.success], SHELF).min() >= 0.01


def test_a_redundant_arm_moves_away_with_its_target_kept():
    T = poses_in_the_shelf(400)
    few = ARM.inverse_kinematics(T, world=SHELF, clearance=0.02, restarts=0)
    plain = ARM.inverse_kinematics(T, restarts=0)
    could = plain.success & (ARM.clearance(plain.q, SHELF) >= 0.02)
    assert few.success.sum() > could.sum()
    assert np.abs(ARM.pose(few.q[few.success]) - T[few.success]).max() < 1e-5


def test_targets_out_of_reach_keep_their_reason():
    far = np.eye(4)
    far[:3, 3] = 3.0, 0.0, 0.0
    found = ARM.inverse_kinematics(np.stack([far, far * np.nan]), world=SHELF)
    assert found.reason.tolist() == ["not reached", "not finite"]
    assert not found.success.any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"world": 3}, "world must be a cr.World"),
        ({"world": SHELF, "history": True}, "keep clear are found without history"),
        ({"clearance": "much"}, "clearance"),
        ({"world": SHELF, "device": "cuda"}, "world is for searches on the CPU"),
    ],
)
def test_what_it_does_not_take_is_refused(options, words):
    with pytest.raises(cr.ChainruleError, match=words):
        ARM.inverse_kinematics(np.eye(4), **options)
