"""Inverse kinematics of robots with closed loops: the target reached, every loop closed, the limits kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import chainrule as cr
from chainrule.core.closure import closure_of

TASKS = {"four_bar": "position", "five_bar": "position", "delta": "position", "stewart_platform": "pose"}


def targets(robot, task, q):
    T = robot.pose(q)
    return T if task == "pose" else T[..., :3, 3]


@pytest.mark.parametrize("name", TASKS)
def test_every_reachable_target_is_reached_with_the_loops_closed(name):
    robot, task = cr.load(name), TASKS[name]
    q = robot.random_state(np.random.default_rng(5), (12,))
    found = robot.inverse_kinematics(targets(robot, task, q), task=task)
    assert found.success.all()
    assert closure_of(robot).is_closed(found.q).all()
    assert ((found.q >= robot.model.layout.lower) & (found.q <= robot.model.layout.upper)).all()
    assert_allclose(targets(robot, task, found.q), targets(robot, task, q), atol=2e-6)


def test_the_legs_of_the_stewart_platform_have_the_lengths_that_the_pose_asks_for():
    """The classical inverse kinematics: a leg is as long as the distance of its two points."""
    robot = cr.load("stewart_platform")
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec([0.1, -0.15, 0.2]).as_matrix()
    T[:3, 3] = 0.05, -0.03, 0.75
    found = robot.inverse_kinematics(T, q0=robot.home())
    assert found.success
    poses = dict(zip(robot.link_names, robot.poses(robot.home()), strict=True))
    for k, constraint in enumerate(robot.model.constraints, 1):
        foot = poses[f"cylinder{k}"][:3, 3]
        top = np.array(list(constraint.origin_b.translation), dtype=float)
        longer = np.linalg.norm(T[:3, :3] @ top + T[:3, 3] - foot) - np.linalg.norm(
            top + poses["platform"][:3, 3] - foot
        )
        assert robot.states.by_name(found.q)[f"leg{k}"] == pytest.approx(longer, abs=2e-6)


def test_the_arms_of_the_delta_stand_as_the_three_circles_say():
    """Each elbow lies on the circle of its arm and on the sphere of its forearm about the platform's corner."""
    robot = cr.load("delta")
    point = np.array([0.03, -0.02, -0.18])
    q = robot.states.by_name(robot.inverse_kinematics(point, q0=robot.home(), task="position").q)
    base, platform = (side / (2 * np.sqrt(3)) for side in (0.4573, 0.115))
    for k in range(3):
        c, s = np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3)
        x, y = c * point[0] + s * point[1] + platform - base, -s * point[0] + c * point[1]
        A, B, C = -2 * 0.112 * x, 2 * 0.112 * point[2], 0.232**2 - 0.112**2 - x**2 - y**2 - point[2] ** 2
        angles = np.arctan2(B, A) + np.array([1, -1]) * np.arccos(C / np.hypot(A, B))
        apart = (angles - q[f"arm{k + 1}"] + np.pi) % (2 * np.pi) - np.pi
        assert np.abs(apart).min() < 1e-5


def test_targets_out_of_reach_say_so_and_give_a_closed_configuration():
    robot = cr.load("five_bar")
    found = robot.inverse_kinematics([[0.0, 0.44, 0.0], [0.0, 2.0, 0.0]], task="position", restarts=3)
    assert found.success.tolist() == [True, False]
    assert found.reason.tolist() == ["", "not reached"]
    assert closure_of(robot).is_closed(found.q).all()
    far = np.eye(4)
    far[2, 3] = 1.4
    assert cr.load("stewart_platform").inverse_kinematics(far, restarts=2).reason == "limits"


def test_newton_s_method_counts_the_equations_of_the_loops():
    robot = cr.load("stewart_platform")
    T = robot.pose(robot.home())
    T[0, 3] += 0.05
    assert robot.inverse_kinematics(T, q0=robot.home(), method="newton").success
    five_bar = cr.load("five_bar")
    planar = five_bar.inverse_kinematics([0.0, 0.4, 0.0], five_bar.home(), task="position", method="newton")
    assert planar.success
    assert (planar.rank, planar.equations) == (2, 3)
    four_bar = cr.load("four_bar").reference
    link = four_bar.link_names[-1]
    with pytest.raises(
        cr.ShapeError, match=r"as many degrees of freedom as .*, and 2 degrees of freedom meet 1 of them"
    ):
        five_bar.inverse_kinematics([0.0, 1.0, 0.0], task="pointing", axis=(1, 0, 0), method="newton")
    assert four_bar.inverse_kinematics(four_bar.pose(four_bar.home(), link), four_bar.home(), link).rank == 1


def test_a_path_is_followed_with_the_loops_closed():
    robot = cr.load("five_bar")
    s = np.linspace(0, 2 * np.pi, 30)
    points = np.stack([0.05 * np.cos(s), 0.4 + 0.04 * np.sin(s), 0 * s], axis=-1)
    path = robot.ik.follow(points, q0=robot.home(), task="position")
    assert path.success.all()
    assert closure_of(robot).is_closed(path.q).all()
    assert path.largest_step < 0.3


def test_a_redundant_mechanism_approaches_a_posture():
    """Two degrees of freedom, one equation: the other one is free to approach a posture."""
    robot = cr.load("five_bar")
    weights = [0, 0, 0, 1, 0, 0]
    found = robot.inverse_kinematics([0.02, 0.4, 0.0], q0=robot.home(), task="position", weights=weights)
    assert found.success
    near = robot.inverse_kinematics(
        [0.02, 0.4, 0.0], q0=robot.home(), task="position", weights=weights, posture=[0.3, np.nan, np.nan, np.nan]
    )
    assert near.success
    assert closure_of(robot).is_closed(near.q)
    assert abs(near.q[0] - 0.3) < min(abs(found.q[0] - 0.3), 1e-3)


def test_the_wrong_way_round_is_no_solution():
    """A hinge that is closed with its axes opposed counts as open."""
    arm = cr.build("loop", along="x").link("ground").revolute("a", axis="z")
    arm = arm.link("one", length=1.0, mass=1.0, radius=0.05).spherical("ball")
    arm = arm.link("two", length=1.0, mass=1.0, radius=0.05)
    there, end = np.eye(4), np.eye(4)
    there[:2, 3], end[0, 3] = (1.0, 1.0), 1.0
    robot = arm.robot().with_constraint("hinge", "ground", "two", there, end)
    upside_down = [np.pi / 2, 1.0, 0.0, 0.0, 0.0]  # turned by half a turn about the first link
    found = robot.inverse_kinematics([0.0, 1.0, 0.0], q0=upside_down, link="two", task="position", restarts=5)
    assert found.success
    assert robot.loops.poses(found.q)[0, 2, 2] == pytest.approx(1.0)
