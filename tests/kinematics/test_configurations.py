"""Named configurations of robots, and the one that they start from."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.core.closure import closure_of


def test_configurations_are_read_only():
    arm = cr.load("planar_2r").edit(configurations={"bent": [0.3, -1.2]})
    with pytest.raises(TypeError):
        arm.configurations["other"] = np.zeros(2)
    with pytest.raises(ValueError, match="read-only"):
        arm.configurations["bent"][0] = 1.0
    start = arm.edit(configurations={"home": [0.1, 0.2]}).home()
    start[0] = 5.0  # a copy
    assert arm.configurations["bent"].tolist() == [0.3, -1.2]


def test_an_unknown_name_is_refused_with_the_nearest():
    panda = cr.load("panda")
    with pytest.raises(
        cr.UnknownNameError, match="robot 'panda' has no configuration named 'redy'; did you mean 'ready'"
    ):
        panda.configurations["redy"]
    assert panda.configurations.get("redy") is None
    assert "redy" not in panda.configurations


def test_a_configuration_is_replaced_by_one_of_the_same_name():
    arm = cr.load("planar_2r")
    one = arm.edit(configurations={"bent": [0.3, -1.2]}).edit(configurations={"other": [0, 0]})
    two = one.edit(configurations={"bent": [0.5, -1.0]})
    assert [*two.configurations][-2:] == ["bent", "other"]
    assert two.configurations["bent"].tolist() == [0.5, -1.0]
    assert one != two
    assert one.configurations["bent"].tolist() == [0.3, -1.2]
    assert "bent" not in arm.configurations


@pytest.mark.parametrize(
    ("name", "q", "message"),
    [
        (3, [0, 0], "edit: configurations must be a string"),
        ("", [0, 0], "a configuration has no name"),
        ("bent", [0, 0, 0], "configuration 'bent': q must have 2 numbers"),
        ("bent", [[0, 0], [1, 1]], r"'bent' must be one configuration, of shape \(2,\), got \(2, 2\)"),
        ("bent", [0, np.nan], "'bent' must be finite"),
    ],
    ids=["number", "nameless", "length", "batch", "nan"],
)
def test_bad_configurations_are_refused(name, q, message):
    with pytest.raises(cr.ChainruleError, match=message):
        cr.load("planar_2r").edit(configurations={name: q})


def test_a_configuration_outside_the_limits_is_kept_with_a_warning():
    arm = cr.load("panda")
    with pytest.warns(cr.ModelWarning, match="configuration 'zero': 'panda_joint4' is 0 rad, outside its limits -3"):
        kept = arm.edit(configurations={"zero": arm.neutral()})
    assert kept.configurations["zero"].tolist() == [0.0] * 7


def test_a_configuration_with_open_loops_is_kept_with_a_warning():
    linkage = cr.load("four_bar")
    q = closure_of(linkage).neutral + 0.3
    with pytest.warns(cr.ModelWarning, match=r"stays open by .* m.*, robot.loops.close\(q\) closes it"):
        linkage.edit(configurations={"open": q})


def limited(lower, upper):
    arm = cr.load("planar_2r").edit(joints={"*": {"lower": lower, "upper": upper}})
    return cr.Robot(replace(arm.model, configurations=()))


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (-1.0, 1.0, [0.0, 0.0]),
        ([-1.0, -3.0], [1.0, -1.0], [0.0, -2.0]),
        ([0.5, -np.inf], [np.inf, -0.2], [0.5, -0.2]),
        ([0.0, -1.0], [1.0, 0.0], [0.0, 0.0]),
    ],
    ids=["inside", "middle", "one side", "at the limit"],
)
def test_home_without_a_name_is_neutral_moved_inside_the_limits(lower, upper, expected):
    assert limited(lower, upper).home().tolist() == expected


def test_home_closes_loops():
    linkage = cr.Robot(replace(cr.load("four_bar").model, configurations=()))
    home = linkage.home()
    assert closure_of(linkage).is_closed(home)
    opened = linkage.edit(configurations={"home": closure_of(linkage).neutral})
    assert_allclose(opened.home(), closure_of(linkage).neutral)
    arm = cr.load("planar_2r").edit(configurations={"home": [0.3, 0.4]})
    tied = arm.with_constraint("distance", "base", "tip", distance=1.5)
    assert closure_of(tied).is_closed(tied.home())


def test_home_of_a_floating_robot_has_a_unit_quaternion():
    robot = cr.load("planar_2r").edit(configurations={"home": [0.3, 0.4]}).floating()
    assert robot.home().tolist() == [0, 0, 0, 0, 0, 0, 1, 0.3, 0.4]


def test_random_configurations_are_the_uniform_numbers_of_the_generator():
    robot = cr.load("panda")
    q, rng = robot.random_state(np.random.default_rng(3), (50,)), np.random.default_rng(3)
    for k, (low, high) in enumerate(zip(robot.limits.lower, robot.limits.upper, strict=True)):
        assert_allclose(q[:, k], rng.uniform(low, high, 50), rtol=1e-15)
