"""Requests: wrong arguments of inverse kinematics are refused in the library's own words."""

from dataclasses import replace

import numpy as np
import pytest

import chainrule as cr

SKEWED = np.eye(4)
SKEWED[0, 1] = 0.01
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
ROW = np.eye(4)
ROW[3, 0] = 0.5

WRONG = {
    "skewed": ({"target": SKEWED}, "not a rigid transform.*off by 0.01"),
    "mirrored": ({"target": np.stack([np.eye(4), MIRROR])}, r"not a rigid transform \(row 1\).*mirrors"),
    "last row": ({"target": ROW}, "last row 0 0 0 1.*0.5"),
    "shape": ({"target": np.eye(3)}, r"poses \(..., 4, 4\).*\(3, 3\)"),
    "points for a pose": ({"target": [1, 2, 3]}, r"task 'pose'.*\(3,\)"),
    "link": ({"target": np.eye(4), "link": "panda_link88"}, "did you mean 'panda_link8'"),
    "base": ({"target": np.eye(4), "link": "panda_link0"}, "no joint moves 'panda_link0'"),
    "method": ({"target": np.eye(4), "method": "lma"}, "no method named 'lma'"),
    "task": ({"target": np.eye(4), "task": "poses"}, "did you mean 'pose'"),
    "weights": ({"target": np.eye(4), "weights": [1, 1, 1]}, "six numbers"),
    "negative weights": ({"target": np.eye(4), "weights": [-1, 1, 1, 1, 1, 1]}, "not be negative"),
    "no weights": ({"target": np.eye(4), "task": "position", "weights": [1, 1, 1, 0, 0, 0]}, "nothing is asked for"),
    "axis weights": ({"target": np.eye(4), "task": "axis", "weights": [1, 2, 1, 1, 1, 1]}, "one weight of the rotation"),
    "axis": ({"target": np.eye(4), "task": "axis", "axis": [0, 0, 0]}, "axis must be a direction"),
    "tolerance": ({"target": np.eye(4), "tolerance": 0.0}, "tolerance must be a positive number"),
    "restarts": ({"target": np.eye(4), "restarts": -1}, "restarts must be a whole number, at least 0"),
    "iterations": ({"target": np.eye(4), "max_iterations": 0.5}, "max_iterations must be a whole number"),
    "seed": ({"target": np.eye(4), "seed": -1}, "seed must be a whole number"),
    "start": ({"target": np.eye(4), "q0": [0.0] * 6}, "q0 must have 7 numbers"),
    "batch": ({"target": np.tile(np.eye(4), (2, 1, 1)), "q0": np.zeros((3, 7))}, "do not fit together"),
    "limits": ({"target": np.eye(4), "limits": "yes"}, "limits must be True or False"),
    "posture": ({"target": np.eye(4), "posture": [0.0]}, "posture must have 7 numbers"),
    "posture word": ({"target": np.eye(4), "posture": "middle"}, "posture must be 'center'"),
    "nothing": ({"target": {}}, "empty dictionary"),
    "twice": ({"target": {"panda_link8": np.eye(4)}, "link": "panda_link8"}, "leave out link"),
    "task without link": ({"target": {"panda_link8": np.eye(4)}, "task": {}}, "without an entry for 'panda_link8'"),
    "text": ({"target": "up"}, "must be real numbers"),
    "direction": ({"target": [0.0, 0.0, 0.0], "task": "pointing"}, "length zero"),
    "list of tasks": ({"target": np.eye(4), "task": ["pose"]}, "no task named"),
    "weights of another link": ({"target": np.eye(4), "weights": {"hand": [1] * 6}}, "no target for the weights named 'hand'"),
    "task of another link": (
        {"target": {"panda_link8": np.eye(4)}, "task": {"panda_link8": "pose", "hand": "pose"}},
        "no target for the task named 'hand'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_named(panda, case):
    arguments, words = WRONG[case]
    with pytest.raises(cr.ChainruleError, match=words):
        panda.inverse_kinematics(**arguments)


def test_crossed_limits_are_named():
    model = cr.load("planar_2r").model
    first, second = model.joints
    joints = (first, replace(second, dofs=(replace(second.dofs[0], lower=3.0, upper=2.0),)))
    crossed = cr.Robot(replace(model, joints=joints))
    with pytest.raises(cr.ModelError, match=r"coordinate 1 \('joint2'\) is above its upper one"):
        crossed.inverse_kinematics([1.0, 0.0, 0.0], task="position")
    assert crossed.inverse_kinematics([1.0, 0.0, 0.0], [0.1, 1.0], task="position", limits=False).success


def test_closed_loops_have_no_analytic_solutions_of_their_opened_tree():
    robot = cr.load("four_bar")
    with pytest.raises(cr.ChainruleError, match="closed loops"):
        robot.ik.branches(robot.pose(robot.neutral()))


def test_the_tips_that_may_be_meant_are_those_of_the_robot_itself():
    with pytest.raises(cr.ChainruleError, match="FL_FOOT"):
        cr.load("quadruped").inverse_kinematics([0.0, 0.0, 0.0], task="position")


@pytest.mark.parametrize("order", ["rpy", "zyz", "xyz", "zxz"])
def test_pose_vectors_are_read_in_their_order_of_angles(order):
    arm = cr.load("puma560")
    q = arm.home() + np.array([0.3, -0.2, 0.1, 0.4, 0.5, -0.6])
    x = arm.textbook.pose_vector(q, order=order)
    found = arm.inverse_kinematics(x, q, order=order)
    assert found.success
    np.testing.assert_allclose(arm.pose(found.q), arm.pose(q), atol=1e-6)
    followed = arm.ik.follow(np.stack([x, x]), q, order=order)
    np.testing.assert_allclose(arm.pose(followed.q[1]), arm.pose(q), atol=1e-6)
    branch = arm.ik.branches(x, order=order)
    np.testing.assert_allclose(arm.pose(branch.q[branch.exists][0]), arm.pose(q), atol=1e-6)
    (streamed,) = arm.ik.stream([x], q, order=order)
    assert streamed.success


def test_an_order_of_angles_is_of_pose_vectors_alone():
    arm = cr.load("puma560")
    with pytest.raises(cr.ShapeError, match="order='zyz' is of the angles of pose vectors"):
        arm.inverse_kinematics(np.eye(4), order="zyz")
    with pytest.raises(cr.UnknownNameError, match="order of angles"):
        arm.inverse_kinematics(np.zeros(6), order="zzz")
    with pytest.raises(cr.ShapeError, match="more than one turn; if it is in degrees"):
        arm.inverse_kinematics([0.4, 0.1, 0.3, 0, 180, 0], order="zyz")


@pytest.mark.parametrize("options", [{}, {"task": "position"}, {"tolerance": 1e-4, "restarts": 2}])
def test_a_stream_is_a_chain_of_calls(options):
    robot, q = cr.load("panda"), cr.load("panda").home()
    path = q + 0.1 * np.sin(np.linspace(0, 3, 12))[:, None] * np.arange(7)
    poses = [*robot.pose(path), np.full((4, 4), np.nan), robot.pose(q), robot.pose(q).tolist()]
    poses[5] = poses[5] + 10.0 * (np.arange(4) == 3) * np.array([[1.0], [0], [0], [0]])  # out of reach
    for target, found in zip(poses, robot.ik.stream(poses, q, **options), strict=True):
        expected = robot.inverse_kinematics(target, q, **{"restarts": 0} | options)
        assert np.array_equal(found.q, expected.q)
        assert found.success == expected.success
        assert found.reason == expected.reason
        q = expected.q
