"""Formats: read, written, converted into each other, and the same robot every time."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import KINDS, state, tree

import chainrule as cr
from chainrule.formats import native
from chainrule.robot.building import to_urdf

pytestmark = pytest.mark.interpreted

few = settings(max_examples=20)


@given(st.integers(0, 10_000))
@few
def test_the_own_format_round_trips_exactly_as_toml_and_as_json(seed):
    robot = tree(seed)
    for text in (native.to_toml(robot.model), native.to_json(robot.model)):
        again = cr.load(text)
        assert again.model == robot.model
        assert again == robot


@pytest.mark.parametrize("name", cr.robots())
def test_bundled_robots_round_trip_through_files(name, tmp_path):
    robot = cr.load(name)
    for suffix in ("toml", "json"):
        path = tmp_path / f"robot.{suffix}"
        robot.save(path)
        assert cr.load(path, check=not name.startswith("puma560")) == robot


@given(st.text(min_size=1, max_size=30))
@few
def test_any_name_survives_the_own_format(name):
    robot = cr.load("planar_2r")
    renamed = type(robot)(replace(robot.model, name=name))
    try:
        text = native.to_toml(renamed.model)
        text.encode()
    except UnicodeEncodeError:
        return  # a lone surrogate is no text
    assert cr.load(text).name == name


@given(st.integers(0, 10_000))
@few
def test_urdf_round_trips_what_urdf_can_express(seed):
    kinds = ["revolute", "continuous", "prismatic", "fixed", "free", "spherical", "planar", "moved"]
    robot = tree(seed, kinds, drives=False, mimic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.ModelWarning)  # of gravity that URDF does not hold, of joints without limits
        again = cr.Robot.from_urdf(to_urdf(robot)).edit(gravity=robot.gravity)
    q, qd, qdd = state(robot, seed)
    order_q, order_v = order(robot, again)
    assert_allclose(
        again.inverse_dynamics(q[order_q], qd[order_v], qdd[order_v]),
        robot.inverse_dynamics(q, qd, qdd)[order_v],
        rtol=1e-8,
        atol=1e-8,
    )
    for link in (*robot.link_names, "tool"):
        assert_allclose(again.pose(q[order_q], link), robot.pose(q, link), atol=1e-9)


def order(robot, other):
    """Places of the other robot's coordinates in this one's."""
    starts, i, j = {}, 0, 0
    for joint in robot.model.moving:
        starts[joint.name] = (range(i, i + joint.kind.nq), range(j, j + joint.kind.nv))
        i, j = i + joint.kind.nq, j + joint.kind.nv
    names = other.joint_names
    return [x for n in names for x in starts[n][0]], [x for n in names for x in starts[n][1]]


def test_urdf_of_a_dh_robot_puts_its_joints_where_they_are():
    robot = cr.load("puma560").edit(joints={"*": {"rotor": 0}}).without_friction()
    again = cr.Robot.from_urdf(to_urdf(robot), check=False)
    q, qd, qdd = state(robot, 1)
    assert again.joint_names == robot.joint_names
    assert_allclose(again.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-9)
    assert_allclose(again.pose(q, "link4"), robot.pose(q, "link4"), atol=1e-12)
    with pytest.warns(cr.ModelWarning, match=r"URDF does not hold gravity, here \(0, -9.81, 0\)"):
        to_urdf(cr.load("planar_2r"))


def test_urdf_refuses_what_it_cannot_express():
    with pytest.raises(cr.FormatError, match=r"joint 'joint1' has a rotor, .*which URDF cannot express"):
        to_urdf(cr.load("puma560"))
    with pytest.raises(cr.FormatError, match="a helical axis"):
        to_urdf(tree(1, ["helical"], drives=False, mimic=False).edit(gravity=[0, 0, -9.81]))


URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/><mass value="2"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial></link>
  <link name="flange"><inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>
  <link name="bare"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 2"/>
    <limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.5" friction="0.25"/></joint>
  <joint name="bolt" type="fixed"><parent link="upper"/><child link="flange"/><origin xyz="0.5 0 0"/></joint>
  <joint name="slide" type="prismatic"><parent link="flange"/><child link="bare"/>
    <mimic joint="shoulder" multiplier="0.5" offset="0.1"/></joint>
</robot>"""


def test_urdf_elements_mean_what_they_say():
    with pytest.warns(cr.ModelWarning) as caught:
        robot = cr.Robot.from_urdf(URDF)
    messages = [str(w.message) for w in caught]
    assert any("link 'bare' has no <inertial>: it is massless" in m for m in messages)
    assert any("joint 'slide' is prismatic but gives no lower and upper limit" in m for m in messages)
    assert robot.joint_names == ("shoulder",)
    assert robot.nv == 1
    upper = robot.model.links[1]
    assert_allclose(
        upper.inertia.entries(), [0.2, 0.1, 0.25, 0, 0, 0], atol=1e-15
    )  # turned by the inertial's own frame
    dof = robot.model.joints[0].dofs[0]
    assert (dof.lower, dof.upper, dof.velocity, dof.effort, dof.viscous, dof.coulomb) == (-1, 2, 3, 4, 0.5, 0.25)
    assert_allclose(robot.mass, 2.5)
    q = np.array([0.4])
    assert_allclose(
        np.linalg.solve(robot.pose(q, "flange"), robot.pose(q, "bare"))[:3, 3], [0.5 * 0.4 + 0.1, 0, 0], atol=1e-12
    )
    # the arm about its axis: 0.25 + 2 * 0.1^2 + 0.01 + 0.5 * 0.5^2
    assert_allclose(robot.mass_matrix(q), [[0.25 + 0.02 + 0.01 + 0.125]], rtol=1e-12)
    assert_allclose(robot.limits.upper, [2])


def test_joint_order_is_depth_first_with_siblings_as_in_the_file():
    text = "<robot name='r'>" + "".join(f"<link name='{n}'/>" for n in "abcde")
    for child, parent in (("c", "a"), ("b", "a"), ("e", "c"), ("d", "b")):
        text += f"<joint name='j{child}' type='continuous'><parent link='{parent}'/><child link='{child}'/></joint>"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = cr.Robot.from_urdf(text + "</robot>")
    assert robot.joint_names == ("jc", "je", "jb", "jd")
    assert robot.link_names == ("a", "c", "e", "b", "d")


def test_floating_base_adds_a_free_joint_even_if_its_name_is_taken():
    robot = cr.Robot.from_urdf(
        to_urdf(cr.load("quadruped").chain("FL_HAA" if False else "base_link")), floating_base=True, check=False
    )
    assert robot.joint_names == ("floating_base_", "floating_base")


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize(
    "name",
    ["panda", "puma560", "ur5", "iiwa14", "scara", "stanford", "planar_3r", "human_arm", "cartesian_3p", "pendulum"],
)
def test_dh_table_of_a_robot_gives_its_poses(name, convention):
    robot = cr.load(name)
    table = robot.textbook.to_dh(convention=convention)
    again = table_robot(table)
    q = np.random.default_rng(0).normal(size=(20, robot.nv))
    assert_allclose(again.pose(q), robot.pose(q), atol=1e-12)
    assert len(table.rows) == robot.nv


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_dh_table_of_a_random_chain_gives_its_poses(seed, convention):
    rng = np.random.default_rng(seed)
    robot = tree(seed, list(rng.choice(["revolute", "prismatic", "fixed"], size=6)), drives=False, mimic=False)
    moving = [j.child for j in robot.model.joints if j.kind.nv]
    chain = robot.chain(moving[-1])
    again = table_robot(chain.textbook.to_dh(convention=convention))
    q = rng.normal(size=(5, chain.nv))
    assert_allclose(again.pose(q), chain.pose(q), atol=1e-10)


def table_robot(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.ModelWarning)
        return cr.Robot.from_dh(
            table.rows, convention=table.convention, types=table.types, base=table.base, tool=table.tool
        )


def test_dh_conventions_place_the_frames_as_the_textbooks_do():
    a, alpha, d, theta, q = 0.3, 0.7, 0.2, 0.4, 0.5

    def Rz(t):
        return np.array([[np.cos(t), -np.sin(t), 0, 0], [np.sin(t), np.cos(t), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])

    def Rx(t):
        return np.array([[1, 0, 0, 0], [0, np.cos(t), -np.sin(t), 0], [0, np.sin(t), np.cos(t), 0], [0, 0, 0, 1]])

    def move(x, z):
        T = np.eye(4)
        T[0, 3], T[2, 3] = x, z
        return T

    row = {"a": a, "alpha": alpha, "d": d, "theta": theta}
    inertia = {"masses": [1.0], "inertias": [(0.1, 0.1, 0.1)]}
    standard = cr.Robot.from_dh([row], convention="standard", **inertia)
    modified = cr.Robot.from_dh([row], convention="modified", **inertia)
    assert_allclose(standard.pose([q]), Rz(theta + q) @ move(0, d) @ move(a, 0) @ Rx(alpha), atol=1e-15)
    assert_allclose(modified.pose([q]), Rx(alpha) @ move(a, 0) @ Rz(theta + q) @ move(0, d), atol=1e-15)
    slider = cr.Robot.from_dh([row], convention="standard", types="P", **inertia)
    assert_allclose(slider.pose([q]), Rz(theta) @ move(0, d + q) @ move(a, 0) @ Rx(alpha), atol=1e-15)
    other = cr.Robot.from_dh(
        [(theta, d, a, alpha)], convention="standard", columns=("theta", "d", "a", "alpha"), **inertia
    )
    assert_allclose(other.pose([q]), standard.pose([q]))


@pytest.mark.parametrize("axes", ["space", "body"])
@pytest.mark.parametrize("name", ["panda", "puma560", "scara", "modern_robotics_3r", "stanford"])
def test_screw_table_of_a_robot_gives_its_poses_and_dynamics(name, axes):
    robot = cr.load(name).edit(joints={"*": {"rotor": 0}}).without_friction()
    table = robot.textbook.to_screws(axes=axes)
    again = cr.Robot.from_screws(
        home=table.home,
        screws=table.screws,
        frames=table.frames,
        inertias=table.inertias,
        axes=axes,
        gravity=robot.gravity,
        normalize=False,
        check=False,
    )
    q, qd, qdd = state(robot, 3)
    assert_allclose(again.pose(q), robot.pose(q), atol=1e-12)
    assert_allclose(again.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-9)


def test_formats_are_told_apart_by_suffix_and_root_element(tmp_path):
    panda = cr.load("panda")
    for suffix in ("urdf", "xml"):
        path = tmp_path / f"panda.{suffix}"
        path.write_text(to_urdf(panda))
        assert cr.load(path).joint_names == panda.joint_names
    mjcf = tmp_path / "pendulum.xml"
    mjcf.write_text(
        "<mujoco><worldbody><body name='rod'><joint name='hinge' axis='0 1 0'/>"
        "<geom type='capsule' size='0.02' fromto='0 0 0 0 0 -1'/></body></worldbody></mujoco>"
    )
    assert cr.load(mjcf).joint_names == ("hinge",)


def test_the_document_of_a_robot_is_plain_and_readable():
    document = json.loads(native.to_json(cr.load("pendulum").model))
    assert document["format"] == "chainrule 1"
    assert document["joint"][0] == {
        "name": "hinge", "type": "continuous", "parent": "base", "child": "rod", "axis": [0.0, 0.0, 1.0],
    }  # fmt: skip


def test_a_robot_of_every_joint_kind_is_named_in_its_file():
    text = native.to_toml(tree(3).model)
    for kind in KINDS:
        assert f'type = "{kind}"' in text or kind == "moved"


def test_a_prefix_without_namespace_is_part_of_the_name():
    text = '<robot name="a"><link name="b"/><drake:joint_filter/></robot>'
    assert cr.Robot.from_urdf(text).link_names == ("b",)
    with pytest.raises(cr.FormatError, match="not well-formed"):
        cr.Robot.from_urdf('<robot name="a"><drake:x><link name="b"></robot>')


def test_joints_may_start_from_a_world_that_is_not_listed():
    text = '<robot name="a"><link name="b"/><joint name="j" type="fixed"><parent link="world"/><child link="b"/></joint></robot>'
    with pytest.warns(cr.ModelWarning, match="link 'world' is not listed"):
        assert cr.Robot.from_urdf(text).link_names == ("world", "b")
