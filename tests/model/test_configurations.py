"""Named configurations follow the coordinates of the robot through every edit."""

import math

import pytest

import chainrule as cr
from chainrule.formats.native import from_native, to_json, to_toml
from chainrule.model import Configuration, Joint, Link, Model, Screw, Spherical
from chainrule.spatial import Vector

pytestmark = pytest.mark.interpreted


Z = Screw.revolute(Vector(0.0, 0.0, 1.0))


def build(*configurations, kind=Z):
    links = [Link("base"), Link("a"), Link("b")]
    joints = [Joint("first", "base", "a", Z), Joint("second", "a", "b", kind)]
    return Model.build("arm", links, joints, configurations=configurations)


def arm():
    robot = cr.Robot(build())
    return robot.edit(configurations={"home": [0.1, 0.2]}).edit(configurations={"bent": [0.3, 0.4]})


def of(robot):
    return {name: q.tolist() for name, q in robot.configurations.items()}


def test_coordinates_that_are_not_listed_are_neutral():
    model = build(Configuration("half", (("second.qx", 0.6), ("second.qw", 0.8))), kind=Spherical())
    assert of(cr.Robot(model)) == {"half": [0.0, 0.6, 0.0, 0.0, 0.8]}
    assert of(cr.Robot(build(Configuration("rest"), kind=Spherical()))) == {"rest": [0.0, 0.0, 0.0, 0.0, 1.0]}


def test_positions_are_kept_in_the_order_of_the_robot():
    first = build(Configuration("bent", (("second", 1.0), ("first", 2.0))))
    assert first == build(Configuration("bent", (("first", 2.0), ("second", 1.0))))


@pytest.mark.parametrize(
    ("configurations", "message"),
    [
        ([Configuration("bent", (("third", 1.0),))], "configuration 'bent': the robot has no coordinate named 'third'"),
        ([Configuration("bent", (("secnod", 1.0),))], "did you mean 'second'"),
        ([Configuration("bent", (("first", math.nan),))], "'first' must be a finite number, got nan"),
        ([Configuration("bent", (("first", "up"),))], "'first' must be a finite number, got 'up'"),
        ([Configuration("bent", (("first", 1.0), ("first", 2.0)))], "has 2 positions named 'first'"),
        ([Configuration("bent"), Configuration("bent")], "robot 'arm' has 2 configurations named 'bent'"),
        ([Configuration("")], "a configuration has no name"),
    ],
    ids=["unknown", "misspelled", "nan", "text", "twice", "same", "nameless"],
)
def test_bad_configurations_are_refused(configurations, message):
    with pytest.raises((cr.ModelError, cr.UnknownNameError), match=message):
        build(*configurations)


def test_a_zero_quaternion_is_refused():
    with pytest.raises(cr.ModelError, match="configuration 'bent': the quaternion of joint 'second' is zero"):
        build(Configuration("bent", (("second.qw", 0.0),)), kind=Spherical())


def test_locked_joints_leave_the_configurations():
    assert of(arm().lock({"first": 1.0})) == {"home": [0.2], "bent": [0.4]}
    assert of(arm().lock({"first": 1.0}).merge_fixed()) == {"home": [0.2], "bent": [0.4]}
    assert of(arm().lock({"first": 1.0, "second": 1.0})) == {"home": [], "bent": []}


def test_cut_joints_leave_the_configurations():
    assert of(arm().chain("a")) == {"home": [0.1], "bent": [0.3]}


def test_a_free_base_stands_at_its_neutral_place():
    assert of(arm().floating())["home"] == [0, 0, 0, 0, 0, 0, 1, 0.1, 0.2]


def test_a_robot_held_by_another_link_keeps_its_coordinates():
    rebased = arm().rebase("b")
    assert rebased.joint_names == ("second", "first")
    assert of(rebased) == {"home": [0.2, 0.1], "bent": [0.4, 0.3]}


def test_attached_robots_take_their_own_configuration_of_the_name_or_their_home():
    gripper = cr.Robot(build()).edit(configurations={"home": [0.7, 0.8]}).edit(configurations={"open": [0.9, 1.0]})
    whole = arm().attach(gripper, prefix="g_")
    assert whole.joint_names == ("first", "second", "g_first", "g_second")
    assert of(whole) == {
        "home": [0.1, 0.2, 0.7, 0.8],
        "bent": [0.3, 0.4, 0.7, 0.8],
        "open": [0.1, 0.2, 0.9, 1.0],
    }
    bare = cr.Robot(build())
    assert of(bare.attach(gripper, prefix="g_"))["open"] == [0.0, 0.0, 0.9, 1.0]


def test_two_arms_on_one_base_share_their_home():
    torso = cr.Robot(Model.build("torso", [Link("torso")], []))
    both = torso.attach(arm(), prefix="left_").attach(arm(), "torso", prefix="right_")
    assert of(both)["home"] == [0.1, 0.2, 0.1, 0.2]


def test_files_hold_configurations_whose_coordinates_have_any_name():
    links = [Link("base"), Link("a")]
    model = Model.build(
        "arm",
        links,
        [Joint('a "quoted" joint.1', "base", "a", Z)],
        configurations=[Configuration("home, sweet", (('a "quoted" joint.1', 0.1),)), Configuration("none")],
    )
    assert from_native(to_toml(model)) == model
    assert from_native(to_json(model)) == model


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("positions = 3", "needs positions = a table of coordinates and numbers in braces, got 3"),
        ('positions = { a = "up" }', "needs positions = a table of coordinates and numbers"),
        ("positions = { a = 1 }", "the robot has no coordinate named 'a'"),
        ("q = [1, 2]", "the format has no key named 'q'"),
    ],
    ids=["number", "text", "unknown", "key"],
)
def test_bad_configurations_in_a_file_are_refused(lines, message):
    text = 'format = "chainrule 1"\nname = "arm"\n[[link]]\nname = "base"\n[[configuration]]\nname = "home"\n'
    with pytest.raises((cr.FormatError, cr.UnknownNameError), match=message):
        from_native(text + lines)
