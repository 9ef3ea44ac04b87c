"""robot.compare: every kind of difference is found, named, and given numbers with units."""

import json
from dataclasses import replace

import numpy as np
import pytest

import chainrule as cr
from chainrule.model import Geometry
from chainrule.model.geometry import Box, Sphere
from chainrule.spatial import Transform, Vector


def only(comparison):
    """The single difference."""
    assert len(comparison) == 1, str(comparison)
    return next(iter(comparison))


@pytest.mark.parametrize("name", cr.robots())
def test_a_robot_does_not_differ_from_itself(name):
    result = cr.load(name).compare(cr.load(name))
    assert not result
    assert len(result) == 0
    assert result.effect is None
    assert str(result) == f"{name!r} and {name!r} do not differ"
    assert result.to_dict()["equal"] is True


CHANGES = [
    (lambda r: r.edit(links={"link2": {"mass": 1.5}}), "link 'link2'", "mass", "1 kg", "1.5 kg", 0.5, "kg"),
    (lambda r: r.edit(links={"link2": {"com": (1, 0, 0.3)}}), "link 'link2'", "center of mass", "(1, 0, 0) m", "(1, 0, 0.3) m", 0.3, "m"),
    (lambda r: r.edit(links={"link2": {"inertia": (1, 2, 2)}}), "link 'link2'", "inertia", "(0, 0, 0) kg m^2", "(1, 2, 2) kg m^2", 2.0, "kg m^2"),
    (lambda r: r.edit(joints={"joint2": {"xyz": (1.5, 0, 0)}}), "joint 'joint2'", "origin (place)", "(1, 0, 0) m", "(1.5, 0, 0) m", 0.5, "m"),
    (lambda r: r.edit(joints={"joint1": {"upper": 2.0}}), "joint 'joint1'", "upper limit", "none", "2 rad", None, "rad"),
    (lambda r: r.edit(joints={"joint1": {"effort": 2.0}}), "joint 'joint1'", "effort limit", "none", "2 N m", None, "N m"),
    (lambda r: r.edit(joints={"joint1": {"viscous": 2.0}}), "joint 'joint1'", "viscous friction", "0 N m s/rad", "2 N m s/rad", 2.0, "N m s/rad"),
    (lambda r: r.edit(joints={"joint1": {"rotor": 2.0}}), "joint 'joint1'", "rotor", "0 kg m^2", "2 kg m^2", 2.0, "kg m^2"),
    (lambda r: r.edit(joints={"joint1": {"gear": 3.0}}), "joint 'joint1'", "gear", "1", "3", 2.0, ""),
    (lambda r: r.edit(joints={"joint1": {"stiffness": 3.0}}), "joint 'joint1'", "stiffness", "0 N m/rad", "3 N m/rad", 3.0, "N m/rad"),
    (lambda r: r.edit(gravity=(0, 0, -1.62)), "robot", "gravity", None, "(0, 0, -1.62) m/s^2", None, "m/s^2"),
    (lambda r: r.with_end_effector("link1"), "robot", "end-effector", "tip", "link1", None, ""),
    (lambda r: r.with_frame("camera"), "frame 'camera'", "is there", "no", "yes", None, ""),
    (lambda r: r.with_constraint("distance", "base", "tip", distance=1.5), "constraint 'distance0'", "is there", "no", "yes", None, ""),
    (lambda r: r.edit(configurations={"stretched": [0.1, 0.0]}), "configuration 'stretched'", "is there", "no", "yes", None, ""),
]  # fmt: skip


@pytest.mark.parametrize(("change", "element", "quantity", "first", "second", "size", "unit"), CHANGES)
def test_each_difference_is_named_with_its_numbers(change, element, quantity, first, second, size, unit):
    arm = cr.load("planar_2r")
    found = only(arm.compare(change(arm)))
    assert (found.element, found.quantity, found.second, found.unit) == (element, quantity, second, unit)
    assert first is None or found.first == first
    if size is not None:
        assert found.size == pytest.approx(size)
    assert element in str(found)
    assert found.second in str(found)


def test_orientations_axes_and_kinds():
    arm = cr.load("planar_2r")
    turned = only(arm.compare(arm.edit(joints={"joint2": {"rpy": (0.1, 0, 0)}}), states=5))
    assert (turned.quantity, turned.unit) == ("origin (orientation)", "deg")
    tilted = only(arm.compare(arm.edit(joints={"joint2": {"axis": (0, 1, 0)}})))
    assert (tilted.quantity, tilted.size, tilted.unit) == ("axis", 90.0, "deg")
    locked = [d.quantity for d in arm.compare(arm.lock({"joint2": 0.0}))]
    assert "type" in locked


def test_frames_constraints_and_configurations_with_other_numbers():
    arm = cr.load("planar_2r")
    T = np.eye(4)
    T[0, 3] = 0.5
    one, two = arm.with_frame("camera", link="link1"), arm.with_frame("camera", T, link="link1")
    assert only(one.compare(two)).size == pytest.approx(0.5)
    moved = [d.quantity for d in one.compare(arm.with_frame("camera", T, link="link2"))]
    assert moved == ["link", "origin (place)"]
    near, far = (arm.with_constraint("distance", "base", "tip", distance=d, name="rod") for d in (1.5, 1.6))
    assert only(near.compare(far)).quantity == "distance"
    tied = arm.with_constraint("point", "link1", "tip", name="rod")
    assert {"kind", "first end"} <= {d.quantity for d in near.compare(tied)}
    a, b = (arm.edit(configurations={"x": q}) for q in ([0.1, 0.2], [0.1, 0.3]))
    found = only(a.compare(b))
    assert (found.element, found.quantity, found.unit) == ("configuration 'x'", "joint2", "rad")


def test_geometry_is_compared_link_by_link():
    model = cr.load("planar_2r").model

    def robot(*shapes):
        return cr.Robot(replace(model, geometries=tuple(Geometry("link1", shape) for shape in shapes)))

    ball = Sphere(0.1)
    assert only(robot().compare(robot(ball))).second == "1 shapes"
    found = only(robot(ball).compare(robot(Box(Vector(1.0, 2.0, 3.0)))))
    assert (found.first, found.second) == ("sphere 0.1", "box (1, 2, 3)")
    moved = cr.Robot(replace(model, geometries=(Geometry("link1", ball, Transform.from_xyz_rpy((1, 0, 0))),)))
    assert only(robot(ball).compare(moved)).quantity == "visual geometry (place)"
    assert not robot().compare(robot(ball), ignore=["geometry"])


def test_order_and_parts_in_one_only():
    arm, hand = cr.load("panda"), cr.load("panda_hand")
    missing = {d.element: (d.first, d.second) for d in arm.compare(hand) if d.quantity == "is there"}
    assert missing["joint 'panda_finger_joint1'"] == ("no", "yes")
    assert arm.compare(hand).effect is None
    quadruped = cr.load("quadruped")
    names = quadruped.joint_names
    swapped = quadruped.rename({names[1]: names[4], names[4]: names[1]})
    assert "order of joints in q" in [d.quantity for d in quadruped.compare(swapped)]


def test_mimic_rules():
    hand = cr.load("panda_hand")
    model = hand.model
    joints = tuple(replace(j, mimic=replace(j.mimic, multiplier=2.0)) if j.mimic else j for j in model.joints)
    found = only(hand.compare(cr.Robot(replace(model, joints=joints))))
    assert (found.quantity, found.first) == ("follows", "1 panda_finger_joint1 + 0")


def test_what_a_difference_means():
    arm = cr.load("planar_2r")
    effect = arm.compare(arm.with_payload(1.0), states=50).effect
    assert effect.torque > 1.0
    assert effect.torque_joint == "joint1"
    assert 0 < effect.torque_share <= 1
    assert (effect.link, effect.distance, effect.angle) == ("tip", 0.0, 0.0)
    longer = arm.compare(arm.edit(joints={"joint2": {"xyz": (1.1, 0, 0)}})).effect
    assert longer.distance == pytest.approx(0.1)
    turned = arm.compare(arm.edit(joints={"joint2": {"rpy": (0.2, 0, 0)}})).effect
    assert turned.angle > 0.1
    assert "over 100 random states, they differ: torques by up to" in str(turned)


def test_joints_in_another_order_are_compared_by_name():
    def arm(first, second):
        builder = [("a", first), ("b", second)]
        text = '<robot name="two"><link name="base"/>'
        for name, length in builder:
            text += f'<link name="{name}"><inertial><origin xyz="{length} 0 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
            text += f'<joint name="j{name}" type="continuous"><parent link="base"/><child link="{name}"/><axis xyz="0 1 0"/></joint>'
        return text + "</robot>"

    one = cr.Robot.from_urdf(arm(1.0, 2.0))
    text = arm(1.0, 2.0)
    start, middle, end = text.partition('<link name="b">')
    head, cut, first = start.partition('<link name="a">')
    swapped = head + middle + end.removesuffix("</robot>") + cut + first + "</robot>"
    two = cr.Robot.from_urdf(swapped)
    assert two.joint_names == ("jb", "ja")
    result = one.compare(two)
    assert [d.quantity for d in result] == ["order of joints in q"]
    assert result.effect.torque == pytest.approx(0.0, abs=1e-12)


def test_robots_without_masses_compare_poses_only():
    def arm(length):
        return cr.Robot.from_dh([(1, 0, 0, 0), (length, 0, 0, 0)], convention="standard", check=False)

    one, two = arm(1.0), arm(1.5)
    effect = one.compare(two).effect
    assert effect.torque is None
    assert effect.distance == pytest.approx(0.5)
    assert "torques" not in str(effect)


def test_names_that_differ_by_prefix_or_case_are_hinted_at():
    panda = cr.load("panda")
    other = panda.rename(lambda name: name.replace("panda_", "fr3_"))
    hints = panda.compare(other).hints
    assert any("'panda_joint1' and 'fr3_joint1'" in hint for hint in hints)
    shouted = panda.rename(str.upper)
    assert any("'panda_link1' and 'PANDA_LINK1'" in hint for hint in panda.compare(shouted).hints)
    assert panda.compare(cr.load("stewart_platform")).hints == ()
    prefixed = cr.load("planar_2r").rename(lambda name: f"left/{name}")
    assert any("'joint1' and 'left/joint1'" in hint for hint in cr.load("planar_2r").compare(prefixed).hints)


def test_tolerance_and_rounding():
    ur5 = cr.load("ur5")
    name = ur5.link_names[2]
    mass = ur5.links[name].mass
    inertia = ur5.links[name].inertia
    assert not ur5.compare(ur5.edit(links={name: {"mass": mass * (1 + 1e-12), "inertia": inertia}}))
    nearly = ur5.edit(links={name: {"mass": mass * (1 + 1e-6), "inertia": inertia}})
    assert ur5.compare(nearly)
    assert not ur5.compare(nearly, tolerance=1e-5)


def test_ways_of_writing_the_same_joint_do_not_differ(tmp_path):
    ur5 = cr.load("ur5")
    ur5.save(tmp_path / "ur5.urdf")
    assert not ur5.compare(cr.load(tmp_path / "ur5.urdf"), tolerance=1e-6, ignore=["configurations"])


def test_real_files_against_the_bundled_robots():
    peers = pytest.importorskip("peers")
    folder = peers.robots_folder()
    ur5 = cr.load("ur5").compare(cr.Robot.from_urdf(peers.stripped(folder / "ur_description/urdf/ur5_robot.urdf")))
    assert ur5.effect.torque < 1e-9
    assert {d.quantity for d in ur5} <= {"is there", "end-effector"}


def test_to_dict_is_plain():
    arm = cr.load("planar_2r")
    facts = arm.compare(arm.edit(links={"link2": {"mass": 1.5}})).to_dict()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["differences"][0]["size"] == 0.5
    assert facts["effect"]["states"] == 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"other": "panda"}, "compare takes another Robot, got 'panda'"),
        ({"tolerance": -1.0}, "tolerance must not be negative"),
        ({"tolerance": "x"}, "tolerance must be real numbers"),
        ({"states": 0}, "states must be a whole number, at least 1"),
        ({"ignore": ["limit"]}, "no part named 'limit'; did you mean 'limits'"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    arm = cr.load("planar_2r")
    with pytest.raises(cr.ChainruleError, match=message):
        arm.compare(**{"other": arm, **options})
