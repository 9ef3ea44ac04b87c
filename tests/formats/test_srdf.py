"""Group states of SRDF files are named configurations."""

from math import pi

import pytest
from numpy.testing import assert_allclose
from peers import robots_folder

import chainrule as cr
from chainrule.formats.native import from_native, to_toml
from chainrule.formats.srdf import with_srdf
from chainrule.model import Joint, Link, Model, Spherical


def srdf(*states):
    return f'<?xml version="1.0"?>\n<robot name="arm">{"".join(states)}</robot>'


def state(name, group="arm", **joints):
    inner = "".join(f'<joint name="{joint}" value="{value}"/>' for joint, value in joints.items())
    return f'<group_state name="{name}" group="{group}">{inner}</group_state>'


def bare(name):
    """A bundled robot without its own configurations."""
    model = cr.load(name).model
    return cr.Robot(Model.build(model.name, model.links, model.joints, model.frames, model.gravity, model.end_effector))


def test_a_state_of_part_of_the_robot_leaves_the_rest_at_home():
    hand = bare("panda_hand")
    arm = dict(zip(hand.joint_names[:7], [0, -pi / 4, 0, -3 * pi / 4, 0, pi / 2, pi / 4], strict=True))
    states = (state("open", "hand", panda_finger_joint1=0.035, panda_finger_joint2=0.035), state("home", **arm))
    robot = hand.with_srdf(srdf(*states))
    assert_allclose(robot.configurations["open"], [*arm.values(), 0.035])
    assert_allclose(robot.configurations["home"], [*arm.values(), 0.0])
    assert robot.home().tolist() == robot.configurations["home"].tolist()
    alone = hand.with_srdf(srdf(states[0]))
    middle = hand.home()
    assert_allclose(alone.configurations["open"], [*middle[:7], 0.035])
    assert (alone.configurations["open"] <= alone.limits.upper).all()
    assert from_native(to_toml(robot.model)) == robot.model


def test_states_of_two_groups_with_one_name_are_one_configuration():
    arm = bare("planar_3r").with_srdf(
        srdf(state("up", "a", joint1=0.1, joint2=0.2), state("up", "b", joint2=0.2, joint3=0.3))
    )
    assert arm.configurations["up"].tolist() == [0.1, 0.2, 0.3]


def test_states_that_contradict_each_other_are_kept_apart():
    text = srdf(state("up", "a", joint1=0.1), state("up", "b", joint1=0.5))
    with pytest.warns(
        cr.ModelWarning, match="gives 'joint1' another position than the state 'up' before it. It is called"
    ):
        arm = bare("planar_2r").with_srdf(text)
    assert {name: q.tolist() for name, q in arm.configurations.items()} == {"up": [0.1, 0.0], "b/up": [0.5, 0.0]}


def test_a_state_replaces_the_configuration_of_its_name():
    arm = cr.load("planar_2r").with_srdf(srdf(state("straight", joint1=0.1, joint2=0.0)))
    assert arm.configurations["straight"].tolist() == [0.1, 0.0]
    assert "home" in arm.configurations


def test_load_takes_the_file_beside_the_robot(tmp_path):
    (tmp_path / "arm.srdf").write_text(srdf(state("bent", joint1=0.1, joint2=0.2)))
    cr.load("planar_2r").edit(gravity=[0, 0, -9.81]).save(tmp_path / "arm.urdf")
    robot = cr.load(tmp_path / "arm.urdf", srdf=tmp_path / "arm.srdf")
    assert robot.configurations["bent"].tolist() == [0.1, 0.2]
    assert cr.load("planar_2r", srdf=srdf(state("bent", joint1=0.5))).configurations["bent"][0] == 0.5
    with pytest.warns(cr.ModelWarning, match="is no joint of robot 'planar_2r'"):
        cr.load(tmp_path / "arm.urdf", srdf=srdf(state("bent", elbow=1)))


def test_joints_with_several_coordinates_take_as_many_numbers():
    model = Model.build("arm", [Link("base"), Link("a")], [Joint("ball", "base", "a", Spherical())])
    found = with_srdf(model, srdf(state("turned", ball="0 0 0.6 0.8")))
    assert cr.Robot(found).configurations["turned"].tolist() == [0, 0, 0.6, 0.8]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (srdf(state("up", elbow=1)), "<joint name='elbow'> is no joint of robot 'planar_2r'. It is left out"),
        (srdf(state("up", joint1="high")), "cannot be read .*value='high' should be numbers"),
        (srdf(state("up", joint1="1 2")), "cannot be read .*should be one number, got 2"),
        (srdf('<group_state group="arm"/>'), "cannot be read .*needs the attribute 'name'"),
    ],
    ids=["unknown", "text", "two", "nameless"],
)
def test_what_does_not_fit_is_told_and_left_out(text, message):
    with pytest.warns(cr.ModelWarning, match=message):
        cr.load("planar_2r").with_srdf(text)
    cr.load("planar_2r").with_srdf(text, check=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco/>", "is not SRDF, which has <group_state> elements in a <robot>"),
        ('<robot name="a"><link name="b"/></robot>', "is not SRDF, .* it is URDF"),
        ("<robot", "is not well-formed XML"),
        ("nowhere.srdf", "cannot read 'nowhere.srdf'"),
    ],
    ids=["mjcf", "urdf", "broken", "missing"],
)
def test_other_files_are_refused(text, message):
    with pytest.raises(cr.FormatError, match=message):
        cr.load("planar_2r").with_srdf(text)


PAIRS = [
    ("talos_data/robots/talos_reduced.urdf", "talos_data/srdf/talos.srdf"),
    ("solo_description/robots/solo12.urdf", "solo_description/srdf/solo.srdf"),
    ("go1_description/urdf/go1.urdf", "go1_description/srdf/go1.srdf"),
    ("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf"),
    ("z1_description/urdf/z1.urdf", "z1_description/srdf/z1.srdf"),
]


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(("urdf", "file"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_states_of_real_robots_are_those_of_pinocchio(urdf, file, floating):
    pin = pytest.importorskip("pinocchio")
    path = str(robots_folder() / urdf)
    robot = cr.Robot.from_urdf(path, check=False, floating_base=floating)
    robot = robot.with_srdf(robots_folder() / file, check=False)
    theirs = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(path)
    pin.loadReferenceConfigurations(theirs, str(robots_folder() / file), False)
    states = {entry.key(): entry.data() for entry in theirs.referenceConfigurations}
    assert states
    compared = 0
    for name, q in states.items():
        ours = dict(zip(robot.coordinate_names, robot.configurations[name], strict=True))
        for index in range(1, theirs.njoints):
            joint, label = theirs.joints[index], theirs.names[index]
            if label == "root_joint":
                assert_allclose([*ours.values()][:7], q[:7], atol=1e-12)
            elif joint.nq == 1 and label in ours and q[joint.idx_q]:
                assert ours[label] == pytest.approx(q[joint.idx_q])
                compared += 1
    assert compared > 1
