"""Paths: each configuration from the one before, without jumps, and what is not reached is marked."""

import numpy as np
import pytest

import chainrule as cr


def test_a_path_is_followed_without_jumps(panda):
    start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.7])
    end = start + np.array([0.5, 0.4, 0.3, 0.2, 0.1, -0.3, 0.2])
    t = np.linspace(0, 2, 200)
    poses = cr.plan_pose(np.stack([panda.pose(start), panda.pose(end)]), times=2.0)(t)[0]
    path = panda.follow(poses, start, times=t)
    assert path.success.all()
    assert path.q.shape == (200, 7)
    assert path.largest_step < 0.02
    assert not path.too_fast.any()
    np.testing.assert_allclose(panda.pose(path.q), poses, atol=1e-6)
    quick = panda.follow(poses, start, times=t / 100)
    assert quick.too_fast.any()
    assert "exceeded by 'panda_joint" in str(quick)
    slow = panda.reference.follow(poses[:10], start)
    np.testing.assert_allclose(slow.q, path.q[:10], atol=1e-6)


def test_paths_come_in_batches_and_mark_what_they_do_not_reach(panda):
    start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.7])
    poses = np.tile(panda.pose(start), (2, 50, 1, 1))
    poses[0, :, 0, 3] += np.linspace(0, 0.1, 50)
    poses[1, :, 0, 3] += np.linspace(0, 1.5, 50)  # out of reach in the end
    path = panda.follow(poses, start)
    assert path.success.shape == (2, 50)
    assert path.success[0].all()
    assert path.success[1, 0]
    assert not path.success[1, -1]
    assert np.isfinite(path.q).all()
    assert panda.follow(poses[0]).success.all()
    with pytest.raises(cr.ShapeError, match="without times"):
        path.speeds


def test_the_beginning_is_the_configuration_for_the_first_pose(panda, rng):
    """Without q0, a path begins where inverse kinematics of its first pose ends."""
    poses = np.tile(panda.pose(panda.random_state(rng)), (3, 1, 1))
    start = panda.inverse_kinematics(poses[0]).q
    np.testing.assert_array_equal(panda.follow(poses).q, panda.follow(poses, start).q)


def test_velocities_of_a_floating_robot_have_names(rng):
    robot = cr.load("quadruped")
    foot = robot.model.tips[0]
    q = robot.random_state(rng)
    points = robot.pose(q, foot)[:3, 3] + np.linspace(0, 1, 4)[:, None] * [0.1, 0.0, 0.0]
    path = robot.follow(points, q, foot, task="position", times=[0.0, 1e-4, 2e-4, 3e-4])
    assert path.success.all()
    assert path.velocity_names == robot.layout.velocity_names


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"poses": np.eye(4)}, "must be a path"),
        ({"poses": np.full((3, 4, 4), np.nan)}, "must be finite"),
        ({"poses": np.tile(np.eye(4), (3, 1, 1)), "times": [0, 1]}, "one for each of the 3 poses"),
        ({"poses": np.tile(np.eye(4), (3, 1, 1)), "times": [0, 2, 1]}, "must increase"),
        ({"poses": {"panda_link8": np.tile(np.eye(4), (3, 1, 1))}}, "path of one link"),
        ({"poses": np.tile(np.eye(4), (2, 3, 1, 1)), "q0": np.zeros((5, 7))}, "does not fit the batch"),
    ],
)
def test_wrong_paths_are_named(panda, arguments, words):
    with pytest.raises(cr.ShapeError, match=words):
        panda.follow(**arguments)


def test_a_message_about_long_arrays_is_short(panda):
    poses = np.full((5000, 4, 4), np.nan)
    with pytest.raises(cr.ChainruleError) as caught:
        panda.follow(poses, np.zeros(7))
    assert len(str(caught.value)) < 400
