"""Inverse kinematics of a family of robots: places of joints and frames for each target."""

import numpy as np
import pytest
from families import edited
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import tree

import chainrule as cr

ARM = cr.load("planar_2r").with_frame("tool", [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
ARM = ARM.with_end_effector("tool")


@pytest.mark.parametrize("method", ["lm", "newton", "pseudo_inverse", "transpose"])
def test_targets_are_reached_by_the_robot_of_their_own_row(method):
    rng = np.random.default_rng(0)
    q = rng.uniform(0.5, 1.5, (4, 2))
    parameters = {"link1.length": rng.uniform(0.7, 1.3, 4), "tool.origin": [0.4, 0.1, 0.0]}
    target = ARM.at(parameters).pose(q)[:, :3, 3]
    options = {"method": method, "task": "position", "restarts": 0, "max_iterations": 500}
    found = ARM.at(parameters).inverse_kinematics(target, q + 0.1, **options)
    assert found.success.all()
    assert_allclose(ARM.at(parameters).pose(found.q)[:, :3, 3], target, atol=1e-6)
    for k in range(4):
        single = {"link1.length": parameters["link1.length"][k], "tool.origin": parameters["tool.origin"]}
        own = {"link1.length": single["link1.length"]}
        frame = [[1, 0, 0, 0.4], [0, 1, 0, 0.1], [0, 0, 1, 0], [0, 0, 0, 1]]
        one = edited(cr.load("planar_2r"), own).with_frame("tool", frame, link="link2").with_end_effector("tool")
        alone = one.inverse_kinematics(target[k], q[k] + 0.1, **options)
        assert_allclose(found.q[k], alone.q, atol=1e-12)
        same = ARM.at(single).inverse_kinematics(target[k], q[k] + 0.1, **options)
        assert_allclose(same.q, alone.q, atol=1e-12)


@given(seed=st.integers(0, 1000))
@settings(max_examples=4, phases=[Phase.explicit, Phase.generate])
def test_rows_are_robots_edited_one_by_one(seed):
    robot = tree(seed, ["revolute", "prismatic", "fixed", "revolute"], mimic=False).reference
    rng = np.random.default_rng(seed)
    joint = robot.model.joints[-1].name
    parameters = {f"{joint}.pose": rng.uniform(-0.5, 0.5, (2, 6))}
    q = robot.random_state(rng)
    target = robot.at(parameters).pose(q)[:, :3, 3]
    options = {"task": "position", "restarts": 0, "max_iterations": 4, "limits": False}
    found = robot.at(parameters).inverse_kinematics(target, q + 0.05, **options)
    for k in range(2):
        one = edited(robot, {name: rows[k] for name, rows in parameters.items()}).reference
        alone = one.inverse_kinematics(target[k], q + 0.05, **options)
        assert_allclose(found.q[k], alone.q, atol=1e-9)
        assert_allclose(found.error[k], alone.error, atol=1e-9)


def test_random_starts_and_a_posture():
    parameters = {"link1.length": [0.8, 1.2]}
    target = ARM.at(parameters).pose([0.4, 1.0])[:, :3, 3]
    found = ARM.at(parameters).inverse_kinematics(target, task="position")
    assert found.success.all()
    far = ARM.at(parameters).inverse_kinematics([[2.6, 0, 0], [2.6, 0, 0]], task="position", restarts=3)
    assert far.success.tolist() == [False, True]
    three = cr.load("planar_3r")
    lengths = {f"{three.link_names[1]}.length": [0.8, 1.2]}
    target = three.at(lengths).pose([0.4, 0.5, 0.3])[:, :3, 3]
    bent = three.at(lengths).inverse_kinematics(target, task="position", posture=[0.0, 0.5, 0.5])
    assert bent.success.all()
    assert_allclose(three.at(lengths).pose(bent.q)[:, :3, 3], target, atol=1e-6)


def test_what_does_not_fit_is_refused():
    target = [1.0, 0.5, 0.0]
    with pytest.raises(cr.ShapeError, match=r"parameter 'link1.mass' moves no link; leave it out"):
        ARM.at({"link1.mass": 1.0}).inverse_kinematics(target, task="position")
    with pytest.raises(cr.ShapeError, match="parameters must be a dictionary"):
        ARM.at(3).inverse_kinematics(target, task="position")
    with pytest.raises(cr.ShapeError, match=r"do not fit together: target \(2, 3\), 'link1.length' \(3, 1\)"):
        ARM.at({"link1.length": [1, 2, 3]}).inverse_kinematics([target] * 2, task="position")
    linkage = cr.load("four_bar")
    with pytest.raises(cr.ModelError, match="moves a joint or frame of robot 'four_bar', whose closed loops"):
        linkage.at({"crank.origin": [0, 0, 0]}).inverse_kinematics(np.eye(4), link="coupler")
