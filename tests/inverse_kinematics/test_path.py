"""Paths: each configuration from the one before, without jumps, and what is not reached is marked."""

import numpy as np
import pytest

import chainrule as cr


def test_a_path_is_followed_without_jumps(panda):
    start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.7])
    end = start + np.array([0.5, 0.4, 0.3, 0.2, 0.1, -0.3, 0.2])
    t = np.linspace(0, 2, 200)
    poses = cr.plan_pose(np.stack([panda.pose(start), panda.pose(end)]), times=2.0)(t)[0]
    path = panda.ik.follow(poses, start, times=t)
    assert path.success.all()
    assert path.q.shape == (200, 7)
    assert path.largest_step < 0.02
    assert not path.too_fast.any()
    np.testing.assert_allclose(panda.pose(path.q), poses, atol=1e-6)
    quick = panda.ik.follow(poses, start, times=t / 100)
    assert quick.too_fast.any()
    assert "exceeded by 'panda_joint" in " ".join(str(quick).split())
    slow = panda.reference.ik.follow(poses[:10], start)
    np.testing.assert_allclose(slow.q, path.q[:10], atol=1e-6)


def test_paths_come_in_batches_and_mark_what_they_do_not_reach(panda):
    start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.7])
    poses = np.tile(panda.pose(start), (2, 50, 1, 1))
    poses[0, :, 0, 3] += np.linspace(0, 0.1, 50)
    poses[1, :, 0, 3] += np.linspace(0, 1.5, 50)  # out of reach in the end
    path = panda.ik.follow(poses, start)
    assert path.success.shape == (2, 50)
    assert path.success[0].all()
    assert path.success[1, 0]
    assert not path.success[1, -1]
    assert np.isfinite(path.q).all()
    assert panda.ik.follow(poses[0]).success.all()
    with pytest.raises(cr.ShapeError, match="without times"):
        path.speeds


def test_the_beginning_is_the_configuration_for_the_first_pose(panda, rng):
    """Without q0, a path begins where inverse kinematics of its first pose ends."""
    poses = np.tile(panda.pose(panda.random_state(rng)), (3, 1, 1))
    start = panda.inverse_kinematics(poses[0]).q
    np.testing.assert_array_equal(panda.ik.follow(poses).q, panda.ik.follow(poses, start).q)


def test_a_motion_of_the_hand_gives_q_qd_and_qdd(panda):
    start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.7])
    end = start + np.array([0.5, 0.4, 0.3, 0.2, 0.1, -0.3, 0.2])
    t = np.linspace(0, 2, 801)
    motion = cr.plan_pose(np.stack([panda.pose(start), panda.pose(end)]), times=2.0)
    path = panda.ik.follow(motion, start, times=t)
    T, V, A = motion(t)
    assert path.success.all()
    np.testing.assert_allclose(panda.pose(path.q), T, atol=1e-6)
    np.testing.assert_allclose(panda.velocity(path.q, path.qd), V, atol=1e-9)
    np.testing.assert_allclose(panda.acceleration(path.q, path.qd, path.qdd), A, atol=1e-9)
    # they are each other's derivatives, along the null space of the seven joints too
    np.testing.assert_allclose(np.gradient(path.q, t, axis=0)[2:-2], path.qd[2:-2], atol=2e-3)
    np.testing.assert_allclose(np.gradient(path.qd, t, axis=0)[2:-2], path.qdd[2:-2], atol=5e-3)
    same = panda.ik.follow(T, start, times=t, velocities=V, accelerations=A)
    np.testing.assert_array_equal(same.qdd, path.qdd)


def test_poses_alone_give_velocities_by_a_spline():
    arm = cr.load("planar_2r")
    t = np.linspace(0, 1, 101)
    q = np.stack([0.3 + 0.5 * np.sin(2 * t), 0.9 + 0.4 * t**2], axis=-1)
    path = arm.ik.follow(arm.pose(q)[:, :3, 3], q[0], times=t, task="position", tolerance=1e-12)
    np.testing.assert_allclose(path.qd, np.stack([np.cos(2 * t), 0.8 * t], axis=-1), atol=1e-6)
    np.testing.assert_allclose(path.qdd, np.stack([-2 * np.sin(2 * t), 0.8 + 0 * t], axis=-1), atol=1e-3)
    circle = arm.ik.follow(arm.pose(q)[:, :3, 3], q[0], task="position")
    with pytest.raises(cr.ShapeError, match=r"without times=.* there are no velocities"):
        circle.qd
    with pytest.raises(cr.ShapeError, match="need at least 3 poses, got 2; give the motion of the link"):
        arm.ik.follow(arm.pose(q[:2])[:, :3, 3], q[0], times=[0.0, 1.0], task="position").qd


def test_hand_velocities_of_a_planar_arm_by_position():
    arm = cr.load("planar_2r").reference
    motion = cr.plan_pose(arm.pose([[0.3, 0.9], [0.8, 1.2]]), times=1.0)
    t = np.linspace(0, 1, 11)
    path = arm.ik.follow(motion, [0.3, 0.9], times=t, task="position")
    np.testing.assert_allclose(arm.velocity(path.q, path.qd)[:, 3:], motion(t)[1][:, 3:], atol=1e-9)
    np.testing.assert_allclose(arm.acceleration(path.q, path.qd, path.qdd)[:, 3:], motion(t)[2][:, 3:], atol=1e-9)


def test_wrong_motions_are_refused():
    arm = cr.load("planar_2r").reference
    motion = cr.plan_pose(arm.pose([[0.3, 0.9], [0.8, 1.2]]), times=1.0)
    t = np.linspace(0, 1, 5)
    T, V, A = motion(t)
    for call, message in (
        (lambda: arm.ik.follow(motion, [0.3, 0.9]), "give times=.*, at which the motion is followed"),
        (lambda: arm.ik.follow(motion, [0.3, 0.9], times=t, velocities=V), "a motion has its own velocities"),
        (
            lambda: arm.ik.follow(lambda t: 3.0, [0.3, 0.9], times=t),
            "a motion gives poses, velocities and accelerations",
        ),
        (lambda: arm.ik.follow(T, [0.3, 0.9], times=t, velocities=V), "accelerations=.* and times=.* go together"),
        (lambda: arm.ik.follow(T, [0.3, 0.9], velocities=V, accelerations=A), "and times=.* go together"),
        (lambda: arm.ik.follow(T, [0.3, 0.9], times=t, velocities=V[:3], accelerations=A), "must be one for each pose"),
        (
            lambda: arm.ik.follow(T, [0.3, 0.9], times=t, velocities=V * np.nan, accelerations=A),
            "velocities must be finite",
        ),
        (lambda: arm.ik.follow(motion, [0.3, 0.9], times=t, task="axis"), "for the tasks 'pose', 'position' and"),
    ):
        with pytest.raises(cr.ShapeError, match=message):
            call()
    floating = arm.floating()
    with pytest.raises(cr.ShapeError, match="the numbers of q are not those of qd"):
        floating.ik.follow(
            floating.pose(np.stack([floating.neutral()] * 3)), floating.neutral(), times=[0.0, 1.0, 2.0]
        ).qd


def test_velocities_of_a_floating_robot_have_names(rng):
    robot = cr.load("quadruped")
    foot = robot.model.tips[0]
    q = robot.random_state(rng)
    points = robot.pose(q, foot)[:3, 3] + np.linspace(0, 1, 4)[:, None] * [0.1, 0.0, 0.0]
    path = robot.ik.follow(points, q, foot, task="position", times=[0.0, 1e-4, 2e-4, 3e-4])
    assert path.success.all()
    assert path.velocity_names == robot.model.layout.velocity_names


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
        panda.ik.follow(**arguments)


def test_a_message_about_long_arrays_is_short(panda):
    poses = np.full((5000, 4, 4), np.nan)
    with pytest.raises(cr.ChainruleError) as caught:
        panda.ik.follow(poses, np.zeros(7))
    assert len(str(caught.value)) < 400
