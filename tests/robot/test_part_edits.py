"""Edits of one link or joint: numbers, lengths, names. What no body can have is refused with its reason."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrule as cr
from chainrule.model import Geometry, Link
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from chainrule.model.lengths import Stretch, link_length
from chainrule.spatial import Symmetric, Transform, Vector
from chainrule.spatial.physical import objection
from chainrule.spatial.shapes import box, cylinder, rod

# --- one grammar ---


def test_every_number_of_a_joint_is_edited_by_part_and_number():
    arm = cr.load("panda")
    by_name = {
        "panda_joint2.upper": 1.0, "panda_joint2.effort": 5.0, "panda_joint2.viscous": 0.1, "panda_link2.mass": 2.0
    }  # fmt: skip
    by_part = arm.edit(
        links={"panda_link2": {"mass": 2.0}}, joints={"panda_joint2": {"upper": 1.0, "effort": 5.0, "viscous": 0.1}}
    )
    assert arm.edit(by_name) == by_part
    assert (by_part.limits.upper[1], by_part.limits.effort[1]) == (1.0, 5.0)
    with pytest.raises(cr.ModelError, match=r"joint 'panda_joint8' is fixed, so it has no 'upper'"):
        arm.edit({"panda_joint8.upper": 1.0})
    with pytest.raises(cr.UnknownNameError, match=r"robot 'panda' has no parameter named 'panda_joint2\.uper'"):
        arm.edit({"panda_joint2.uper": 1.0})
    with pytest.raises(
        cr.UnknownNameError, match=r"'panda_joint2\.upper' .* stays as it is; robot\.edit\(.* makes a robot"
    ):
        arm.at({"panda_joint2.upper": 1.0})


# --- links ---


def test_a_link_with_other_numbers():
    panda = cr.load("panda")
    new = panda.edit(links={"panda_link4": {"mass": 2.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.2, 0.25)}})
    link = new.links["panda_link4"]
    assert link.mass == 2.0
    assert link.com.tolist() == [0.1, 0.2, 0.3]
    assert np.diag(link.inertia).tolist() == [0.1, 0.2, 0.25]
    assert panda.links["panda_link4"].mass != 2.0
    others = [a == b for a, b in zip(panda.model.links, new.model.links, strict=True)]
    assert others.count(False) == 1


def test_a_heavier_link_of_the_same_shape():
    ur5 = cr.load("ur5")
    name = ur5.link_names[3]
    heavy = ur5.edit(links={name: {"mass": 2 * ur5.links[name].mass}})
    np.testing.assert_allclose(heavy.links[name].inertia, 2 * ur5.links[name].inertia)
    kept = ur5.edit(links={name: {"mass": 1.0, "inertia": ur5.links[name].inertia}})
    np.testing.assert_allclose(kept.links[name].inertia, ur5.links[name].inertia)


def test_all_links_made_heavier_one_by_one_are_scale_masses():
    robot = cr.load("ur5")
    heavy = robot
    for link in robot.links.values():
        heavy = heavy.edit(links={link.name: {"mass": 1.7 * link.mass}})
    q = np.linspace(0.1, 0.6, 6)
    np.testing.assert_allclose(heavy.mass_matrix(q), robot.scale_masses(1.7).mass_matrix(q), rtol=1e-12)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"mass": -1.0}, "link 'panda_link4' of robot 'panda' has a negative mass, -1 kg"),
        ({"inertia": (1.0, 1.0, 3.0)}, "violate the triangle inequality"),
        ({"inertia": (-1.0, 1.0, 1.0)}, "not positive definite"),
        ({"inertia": (1.0, 1.0)}, "edit: link 'panda_link4': inertia must be 3 numbers"),
        ({"mass": float("nan")}, "edit: link 'panda_link4': mass must be finite"),
        ({"com": (0, 0)}, "edit: link 'panda_link4': com must have 3 numbers"),
        ({"length": 0.0}, "edit: link 'panda_link4': length must be a positive number of meters"),
        ({"length": -0.1}, "edit: link 'panda_link4': length must be a positive number of meters"),
        ({"toward": "panda_joint5"}, "edit: link 'panda_link4': toward says how the length is measured"),
    ],
)
def test_impossible_links_are_refused(numbers, message):
    with pytest.raises(cr.ChainruleError, match=message):
        cr.load("panda").edit(links={"panda_link4": {**numbers}})


@pytest.mark.parametrize("name", [3, ("panda_link4",), None])
def test_a_link_is_named_by_a_string(name):
    with pytest.raises(cr.ShapeError, match="edit: a name in links must be a string"):
        cr.load("panda").edit(links={name: {"mass": 1.0}})


def test_an_unknown_link_suggests():
    with pytest.raises(cr.UnknownNameError, match="no link named 'panda_lin4'; did you mean 'panda_link4'"):
        cr.load("panda").edit(links={"panda_lin4": {"mass": 1.0}})


# --- length ---


def test_a_longer_link_moves_the_rest():
    arm = cr.load("planar_2r").edit(links={"link1": {"length": 2.0}})
    np.testing.assert_allclose(arm.pose([0.0, 0.0])[:3, 3], [3.0, 0.0, 0.0])
    np.testing.assert_allclose(arm.links["link1"].com, [2.0, 0.0, 0.0])
    direct = (
        cr.load("planar_2r")
        .edit(joints={"joint2": {"xyz": (2.0, 0.0, 0.0)}})
        .edit(links={"link1": {"com": (2.0, 0.0, 0.0)}})
    )
    np.testing.assert_allclose(arm.mass_matrix([0.3, 0.4]), direct.mass_matrix([0.3, 0.4]))


def test_the_inertia_of_a_stretched_rod_and_box():
    def stretched(body, factor):
        link = Stretch(Vector(0.0, 0.0, 1.0), factor).link(Link("x", body.mass, Vector.zero(), body.inertia))
        return link.inertia.entries()

    assert stretched(rod(2.0, 0.5), 3.0) == pytest.approx(rod(2.0, 1.5).inertia.entries())
    assert stretched(box(2.0, 0.1, 0.2, 0.5), 0.4) == pytest.approx(box(2.0, 0.1, 0.2, 0.2).inertia.entries())
    assert stretched(cylinder(2.0, 0.1, 0.5), 2.0) == pytest.approx(cylinder(2.0, 0.1, 1.0).inertia.entries())


@given(
    st.lists(st.floats(0.1, 2.0), min_size=3, max_size=3),
    st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3),
    st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).filter(lambda v: np.linalg.norm(v) > 0.1),
    st.floats(0.05, 20.0),
)
def test_stretched_bodies_are_possible_and_the_way_back_leads_back(sizes, turn, direction, factor):
    u = Vector(*(np.array(direction) / np.linalg.norm(direction)).tolist())
    R = Transform.from_xyz_rpy((0, 0, 0), turn).rotation
    link = Link("x", 1.5, Vector(0.1, -0.2, 0.3), box(1.5, *sizes).inertia.rotate(R))
    long = Stretch(u, factor).link(link)
    assert objection(long.mass, long.com, long.inertia) is None
    back = Stretch(u, 1 / factor).link(long)
    scale = max(abs(x) for x in (*link.inertia.entries(), *long.inertia.entries()))
    np.testing.assert_allclose(back.inertia.entries(), link.inertia.entries(), atol=1e-9 * scale)
    np.testing.assert_allclose([*back.com], [*link.com], atol=1e-9)


def test_a_stretched_cloud_of_points_has_that_inertia():
    rng = np.random.default_rng(0)
    points, u, factor = rng.normal(size=(50, 3)), np.array([0.6, 0.0, 0.8]), 1.7

    def body(p):
        c = p.mean(axis=0)
        d = p - c
        I = (d**2).sum() * np.eye(3) - d.T @ d
        return c, I

    c, I = body(points)
    link = Link("x", 50.0, Vector(*c), Symmetric.of(I.tolist()))
    long = Stretch(Vector(*u), factor).link(link)
    c2, I2 = body(points + np.outer(points @ u, u) * (factor - 1))
    np.testing.assert_allclose([*long.com], c2)
    np.testing.assert_allclose([[*row] for row in long.inertia], I2)


@pytest.mark.parametrize("name", ["ur5", "puma560", "stanford", "human_arm", "modern_robotics_3r", "iiwa14"])
def test_every_link_with_a_length_gets_it_and_the_old_one_back(name):
    robot = cr.load(name)
    q = np.full(robot.nq, 0.3)
    for link in robot.link_names:
        try:
            old = float(link_length(robot.model, link).norm())
        except cr.ModelError:
            continue
        new = robot.edit(links={link: {"length": 2 * old}})
        assert float(link_length(new.model, link).norm()) == pytest.approx(2 * old)
        back = new.edit(links={link: {"length": old}})
        np.testing.assert_allclose(back.pose(q), robot.pose(q), atol=1e-12)
        np.testing.assert_allclose(back.mass_matrix(q), robot.mass_matrix(q), rtol=1e-9, atol=1e-12)


def test_lengths_of_standard_dh_lie_before_the_links_frame():
    rows = [(0.4, 0, 0, 0), (0.3, 0, 0, 0)]
    options = {"convention": "standard", "masses": [1, 1], "coms": [(-0.2, 0, 0), (-0.1, 0, 0)],
               "inertias": [(0.01, 0.01, 0.01)] * 2}  # fmt: skip
    arm = cr.Robot.from_dh(rows, **options)
    long = arm.edit(links={"link1": {"length": 0.8, "inertia": (0.01, 0.01, 0.01)}})
    rows[0] = (0.8, 0, 0, 0)
    options["coms"] = [(-0.4, 0, 0), (-0.1, 0, 0)]
    again = cr.Robot.from_dh(rows, **options)
    q = [0.4, -0.7]
    np.testing.assert_allclose(long.pose(q), again.pose(q), atol=1e-12)
    np.testing.assert_allclose(long.mass_matrix(q), again.mass_matrix(q), atol=1e-12)


def test_an_axis_beside_the_links_frame_is_moved_with_it():
    robot = cr.load("modern_robotics_3r").rebase(cr.load("modern_robotics_3r").link_names[-1])
    q = [0.1, 0.2, 0.3]
    robot.inverse_dynamics(q, q, q)
    for link in robot.link_names[1:-1]:
        old = float(link_length(robot.model, link).norm())
        back = robot.edit(links={link: {"length": 1.5 * old}}).edit(links={link: {"length": old}})
        np.testing.assert_allclose(back.poses(q), robot.poses(q), atol=1e-12)


def test_a_link_without_length_is_refused():
    with pytest.raises(cr.ModelError, match="link 'panda_link1' of robot 'panda' has no length"):
        cr.load("panda").edit(links={"panda_link1": {"length": 0.3}})
    with pytest.raises(cr.ModelError, match="link 'link6' of robot 'puma560' has no length"):
        cr.load("puma560").edit(links={"link6": {"length": 0.3}})


def test_several_directions_need_one_named():
    robot = cr.load("quadruped")
    base = next(link.name for link in robot.links.values() if len(link.children) > 1)
    with pytest.raises(cr.ModelError, match=f"link '{base}' of robot 'quadruped' carries .* in different directions"):
        robot.edit(links={base: {"length": 1.0}})
    child = robot.links[base].children[0]
    before = robot.joints[robot.links[child].joint].xyz
    after = robot.edit(links={base: {"length": 2 * np.linalg.norm(before), "toward": child}})
    np.testing.assert_allclose(after.joints[after.links[child].joint].xyz, 2 * before)
    with pytest.raises(cr.UnknownNameError, match=f"link '{base}' of robot 'quadruped' has no joint, link or frame"):
        robot.edit(links={base: {"length": 1.0, "toward": "nothing_like_it"}})
    with pytest.raises(cr.ModelError, match="has no length toward 'panda_link2'"):
        cr.load("panda").edit(links={"panda_link1": {"length": 1.0, "toward": "panda_link2"}})


def test_the_only_frame_of_a_last_link_is_its_end():
    arm = cr.load("iiwa14")
    np.testing.assert_allclose(
        arm.edit(links={"iiwa_link_7": {"length": 0.09}}).frames["iiwa_flange"].xyz, [0, 0, 0.09]
    )


def test_loops_and_geometry_move_along():
    linkage = cr.load("four_bar")
    tied = linkage.model.constraints[0]
    link = linkage.model.links[linkage.model.locate(tied.link_a)[0]].name
    place = tied.origin_a.translation
    robot = linkage.with_frame("end", np.array(Transform.from_xyz_rpy([*place]).rows(), dtype=float), link=link)
    if place.norm() > 0 and not robot.links[link].children:
        new = robot.edit(links={link: {"length": 2 * float(place.norm())}})
        np.testing.assert_allclose([*new.model.constraints[0].origin_a.translation], [*(place * 2)])
    along_x = Transform.from_xyz_rpy((0.5, 0.1, 0.0), (0.0, np.pi / 2, 0.0))
    shapes = [
        (Box(Vector(1.0, 0.1, 0.1)), Transform.identity(), Box(Vector(2.0, 0.1, 0.1))),
        (Cylinder(0.1, 1.0), along_x, Cylinder(0.1, 2.0)),
        (Capsule(0.1, 1.0), along_x, Capsule(0.1, 2.0)),
        (Cylinder(0.1, 1.0), Transform.identity(), Cylinder(0.1, 1.0)),
        (Ellipsoid(Vector(1.0, 0.5, 0.5)), Transform.identity(), Ellipsoid(Vector(2.0, 0.5, 0.5))),
        (Mesh("a.stl"), Transform.identity(), Mesh("a.stl", Vector(2.0, 1.0, 1.0))),
        (Sphere(0.1), Transform.identity(), Sphere(0.1)),
    ]
    model = cr.load("planar_2r").model
    model = replace(model, geometries=tuple(Geometry("link1", shape, origin) for shape, origin, _ in shapes))
    long = cr.Robot(model).edit(links={"link1": {"length": 2.0}}).model
    assert [g.shape for g in long.geometries] == [new for *_, new in shapes]
    assert [*long.geometries[1].origin.translation] == pytest.approx([1.0, 0.1, 0.0])


# --- joints ---


def test_a_joint_with_other_numbers():
    arm = cr.load("planar_2r")
    new = arm.edit(
        joints={
            "joint2": {
                "lower": -1,
                "upper": 2,
                "velocity": 3,
                "effort": 4,
                "viscous": 0.1,
                "coulomb": 0.2,
                "rotor": 1e-3,
                "gear": 50,
            }
        }
    )
    joint = new.joints["joint2"]
    assert (joint.lower, joint.upper, joint.velocity, joint.effort) == (-1.0, 2.0, 3.0, 4.0)
    assert (joint.viscous, joint.coulomb, joint.coulomb_negative) == (0.1, 0.2, 0.2)
    assert joint.armature == pytest.approx(2.5)
    assert new.joints["joint1"] == arm.joints["joint1"]


def test_an_axis_and_an_origin():
    arm = cr.load("planar_2r").edit(joints={"joint2": {"axis": (0, 2, 0), "rpy": (0.1, 0, 0)}})
    joint = arm.joints["joint2"]
    assert joint.axis.tolist() == [0, 1, 0]
    np.testing.assert_allclose(joint.rpy, [0.1, 0, 0])
    np.testing.assert_allclose(joint.xyz, cr.load("planar_2r").joints["joint2"].xyz)
    T = np.array(Transform.from_xyz_rpy((1, 2, 3), (0.1, 0.2, 0.3)).rows(), dtype=float)
    np.testing.assert_allclose(arm.edit(joints={"joint2": {"origin": T}}).joints["joint2"].origin, T)


def test_axes_of_other_kinds():
    slider = cr.load("planar_rp")
    name = next(j.name for j in slider.joints.values() if j.type == "prismatic")
    assert slider.edit(joints={name: {"axis": (0, 0, -3)}}).joints[name].axis.tolist() == [0, 0, -1]
    stewart = cr.load("stewart_platform")
    new = stewart.edit(joints={"universal1": {"axis": [[0, 1, 0], [0, 0, 1]]}})
    assert new.joints["universal1"].axis.tolist() == [[0, 1, 0], [0, 0, 1]]
    with pytest.raises(cr.ShapeError, match=r"joint 'universal1' is universal and has two axes: axis must be two"):
        stewart.edit(joints={"universal1": {"axis": [0, 1, 0]}})
    with pytest.raises(cr.ShapeError, match="axis must be two directions, got 5"):
        stewart.edit(joints={"universal1": {"axis": 5}})
    with pytest.raises(cr.ModelError, match="joint 'platform_pose' is free and has no axis"):
        stewart.edit(joints={"platform_pose": {"axis": [0, 1, 0]}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lower": 2.0, "upper": 1.0}, "lower"),
        ({"viscous": -1.0}, "viscous"),
        ({"efort": 1.0}, "edit: joint 'joint2' has no number named 'efort'; did you mean 'effort'"),
        ({"axis": (0, 0, 0)}, "axis must not be zero"),
        ({"axis": [[0, 0, 1]]}, "axis must be three numbers"),
        ({"origin": np.eye(4), "xyz": (0, 0, 0)}, "give either origin, or xyz and rpy"),
        ({"origin": np.ones((4, 4))}, "not a rigid transform"),
        ({"lower": [1.0, 2.0]}, r"lower must be one number, got shape \(2,\)"),
    ],
)
def test_impossible_joints_are_refused(options, message):
    with pytest.raises(cr.ChainruleError, match=message):
        cr.load("planar_2r").edit(joints={"joint2": {**options}})


def test_fixed_joints_have_no_limits_and_unknown_ones_suggest():
    with pytest.raises(cr.ModelError, match="joint 'panda_joint8' is fixed, so it has no 'lower'"):
        cr.load("panda").edit(joints={"panda_joint8": {"lower": 0.0}})
    with pytest.raises(cr.UnknownNameError, match="no joint named 'joint3'; did you mean"):
        cr.load("planar_2r").edit(joints={"joint3": {"lower": 0.0}})


# --- names ---


def test_names_change_everywhere_at_once():
    robot = cr.load("panda_hand")
    new = robot.rename({"panda_finger_joint1": "grip", "panda_hand": "hand", "panda_link7": "wrist"})
    assert new.joints["panda_finger_joint2"].mimic[0] == "grip"
    assert new.links["panda_leftfinger"].parent == "hand"
    q = robot.random_state(np.random.default_rng(0))
    np.testing.assert_array_equal(new.mass_matrix(q), robot.mass_matrix(q))
    swapped = cr.load("planar_2r").rename({"joint1": "joint2", "joint2": "joint1"})
    assert swapped.joint_names == ("joint2", "joint1")


def test_names_of_loops_frames_and_configurations():
    linkage = cr.load("stewart_platform")
    new = linkage.rename(lambda name: f"s_{name}")
    assert new.model.constraint_names == tuple(f"s_{name}" for name in linkage.model.constraint_names)
    q = linkage.loops.close(linkage.neutral())
    np.testing.assert_array_equal(new.loops.residual(q), linkage.loops.residual(q))
    flange = cr.load("iiwa14").rename({"iiwa_flange": "tool"})
    assert flange.end_effector == "tool"
    floating = cr.load("planar_2r").floating()
    named = floating.edit(configurations={"up": [0, 0, 1, 0, 0, 0, 1, 0.2, 0.3]})
    again = named.rename({"floating_base": "body", "joint1": "shoulder"})
    up = next(dict(c.positions) for c in again.model.configurations if c.name == "up")
    assert (up["body.z"], up["shoulder"]) == (1.0, 0.2)


def test_a_link_and_a_joint_of_the_same_name():
    robot = cr.load("planar_2r").rename({"joint2": "elbow"}).rename(links={"link2": "elbow"})
    with pytest.raises(cr.ModelError, match="'elbow' is a link and a joint of robot 'planar_2r'; say which"):
        robot.rename({"elbow": "x"})
    assert robot.rename(joints={"elbow": "x"}).joint_names == ("joint1", "x")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": {"joint3": "x"}}, "no link, joint or frame named 'joint3'; did you mean"),
        ({"names": {"joint1": "joint2"}}, "joint2"),
        ({"names": {"joint1": ""}}, "the new name of 'joint1' must be a string that is not empty"),
        ({"names": {"joint1": 3}}, "the new name of 'joint1' must be a string that is not empty"),
        ({"names": ["joint1"]}, "names must be a dictionary of old and new names"),
        ({"links": {"joint1": "x"}}, "no link or frame named 'joint1'"),
        ({"joints": {"link1": "x"}}, "no joint named 'link1'"),
    ],
)
def test_wrong_names_are_refused(options, message):
    with pytest.raises(cr.ChainruleError, match=message):
        cr.load("planar_2r").rename(**options)


def test_another_name_for_the_robot():
    assert cr.load("planar_2r").edit(name="arm").name == "arm"
    with pytest.raises(cr.ShapeError, match="edit: name must not be empty"):
        cr.load("planar_2r").edit(name="")
    with pytest.raises(cr.ShapeError, match="edit: name must be a string"):
        cr.load("planar_2r").edit(name=3)


def test_published_inertias_that_no_body_has_stay_as_published():
    puma = cr.load("puma560")  # whose first link has no mass and one moment only
    assert puma.edit(links={"link1": {"com": (0.0, 0.0, 0.1)}}).links["link1"].inertia[1, 1] == 0.35


def test_a_function_of_names_that_fails_is_named():
    with pytest.raises(cr.ModelError, match="rename: the function of names fails for 'base': "):
        cr.load("planar_2r").rename(int)
