"""Collision bodies of robots, and the rule that says which pairs are checked."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.bodies.fitting import cover_with_spheres, fit_capsule
from chainrule.model import Box, Capsule, Sphere

pytestmark = pytest.mark.interpreted

URDF = """<robot name="two">
<link name="base"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
<link name="arm"><collision><origin xyz="0 0 0.5"/><geometry><sphere radius="0.1"/></geometry></collision>
<collision name="tool"><origin xyz="0 0 0.9"/><geometry><capsule radius="0.05" length="0.1"/></geometry></collision></link>
<link name="hand"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="a" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="b" type="prismatic"><parent link="arm"/><child link="hand"/><origin xyz="0 0 1.5"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""


MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
URDF = URDF.replace("</link>", MASS)


def test_bodies_are_the_collision_shapes_of_the_file():
    bodies = cr.load(URDF).bodies
    assert bodies.names == ("base", "arm.0", "arm.tool", "hand")
    assert [type(body.shape) for body in bodies] == [Box, Sphere, Capsule, Sphere]
    assert bodies.pairs == (("base", "hand"),)
    assert {entry.reason for entry in bodies.left_out} == {"neighbours", "one rigid part"}


def test_a_pair_can_be_left_out_and_taken_back_and_is_kept_in_a_file(tmp_path):
    robot = cr.load(URDF)
    without = robot.bodies.without_pair("base", "hand")
    assert without.bodies.pairs == ()
    without.save(tmp_path / "two.toml")
    assert cr.load(tmp_path / "two.toml").bodies.pairs == ()
    again = without.bodies.with_pair("base", "hand").bodies.with_pair("arm", "hand")
    assert again.bodies.pairs == (("base", "hand"), ("arm.0", "hand"), ("arm.tool", "hand"))
    assert robot.bodies.pairs == (("base", "hand"),)
    renamed = again.rename({"hand": "gripper"})
    assert ("base", "gripper") in renamed.bodies.pairs


def test_pairs_that_srdf_disables_are_left_out_with_its_reason():
    srdf = '<robot name="two"><disable_collisions link1="base" link2="hand" reason="Never"/>'
    srdf += '<disable_collisions link1="base" link2="other" reason="Never"/></robot>'
    bodies = cr.load(URDF).with_srdf(srdf).bodies
    assert bodies.pairs == ()
    assert ("base", "hand", "SRDF: Never") in bodies.left_out


BALLS = "".join(
    f'<collision><origin xyz="0 0 {z}"/><geometry><sphere radius="0.1"/></geometry></collision>'
    for z in (0.1, 0.2, 0.3)
)


def test_more_than_two_balls_on_a_link_are_one_body():
    bodies = cr.load(URDF.replace('<link name="hand">', f'<link name="hand">{BALLS}')).bodies
    assert bodies.names == ("base", "arm.0", "arm.tool", "hand")
    assert len(bodies["hand"].shape.radii) == 4


def test_the_bodies_of_a_robot_are_obstacles_for_another():
    robot = cr.load(URDF).reference
    q = [0.5, 0.1]
    world = robot.bodies.as_world(q)
    assert world.names == robot.bodies.names
    away = cr.World().join(world, "other/")
    assert away.names[0] == "other/base"
    apart = robot.distances(q, away)[len(robot.bodies.pairs) :].reshape(3, 4)
    assert (np.diagonal(apart[:, 1:]) < 0).all()  # each moving body is in its own place


def test_files_of_worlds_are_read_as_robots_that_do_not_move():
    sdf = """<sdf version="1.7"><model name="shelf"><static>1</static><link name="shelf">
    <inertial><mass>1</mass></inertial><collision name="board"><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 0.1</size>
    </box></geometry></collision></link></model></sdf>"""
    world = cr.load(sdf, check=False).bodies.as_world()
    assert world.names == ("shelf.board",)
    assert np.allclose(world.numbers, [0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, 1, 0.05])
    pytest.importorskip("mujoco")
    mjcf = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/><body name="post" pos="0 1 0">
    <geom type="cylinder" size="0.1 0.5"/></body></worldbody></mujoco>"""
    assert [type(b.shape).__name__ for b in cr.load(mjcf, check=False).bodies.as_world()] == ["Plane", "Cylinder"]


def test_a_thing_is_held_and_put_down_where_it_is():
    robot = cr.load("panda").reference
    q, later = robot.home(), robot.home() + 0.1
    tip = robot.pose(q)[:3, 3]
    world = cr.World().box("cup", (0.05, 0.05, 0.1), tip + np.array([0, 0, 0.1])).sphere("ball", 0.1, (1, 1, 1))
    holding, rest = robot.bodies.hold(world, "cup", q)
    assert rest.names == ("ball",)
    assert "panda_link8.cup" in holding.bodies.names
    assert any("panda_link8.cup" in pair for pair in holding.bodies.pairs)
    free, after = holding.bodies.put_down(rest, "cup", later)
    assert free.bodies.names == robot.bodies.names
    moved = robot.pose(later) @ np.linalg.inv(robot.pose(q)) @ np.array(world["cup"].origin)
    assert np.allclose(np.array(after["cup"].origin), moved)
    with pytest.raises(cr.ModelError, match="has a body 'cup' already"):
        holding.bodies.hold(world, "cup", q)
    with pytest.raises(cr.UnknownNameError, match="no obstacle named 'pot'"):
        robot.bodies.hold(world, "pot", q)
    with pytest.raises(cr.UnknownNameError, match="no body named 'pot'"):
        robot.bodies.put_down(world, "pot", q)


MESH_URDF = URDF.replace('<sphere radius="0.05"/>', '<mesh filename="hand.obj"/>')


def test_a_mesh_counts_as_a_capsule_or_as_balls_and_the_volumes_are_told(tmp_path):
    corners = [(x, y, z) for x in (0, 0.1) for y in (0, 0.1) for z in (0, 0.4)]
    (tmp_path / "hand.obj").write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "f 1 2 3\nf 6 7 8\nf 1 5 4\n"
    )
    (tmp_path / "two.urdf").write_text(MESH_URDF)
    bodies = cr.load(tmp_path / "two.urdf").bodies
    (fit,) = bodies.fits
    assert fit.body == "hand"
    assert fit.hull_volume == pytest.approx(0.004)
    assert 0.004 < fit.volume < 0.02
    balls = bodies.with_spheres(5).bodies
    assert balls.names == bodies.names
    assert len(balls["hand"].shape.radii) == 5


def test_a_mesh_that_is_not_there_is_told_and_a_bar_stands_for_its_link(tmp_path):
    with pytest.warns(cr.ModelWarning, match=r"link 'hand': .*hand\.obj"):
        bodies = cr.load(MESH_URDF).bodies
    assert "arm.tool" in bodies.names


def test_collision_bodies_are_drawn(tmp_path):
    cr.load("panda").plot(style="collision", path=tmp_path / "bodies.png")
    assert (tmp_path / "bodies.png").stat().st_size > 10_000


def test_links_that_a_robot_does_not_have_are_refused():
    with pytest.raises(cr.UnknownNameError, match="'finger'"):
        cr.load(URDF).bodies.without_pair("base", "finger")
    with pytest.raises(cr.UnknownNameError, match="'finger'"):
        cr.load(URDF).bodies["finger"]


def test_pairs_that_touch_at_home_are_left_out():
    low = cr.load(URDF.replace("0 0 1.5", "0 0 0.1"))
    assert ("base", "hand", "touch at home") in low.bodies.left_out


@pytest.mark.parametrize("name", ["panda", "ur5e", "puma560", "go2", "stewart_platform", "scara", "human_arm"])
def test_bodies_of_bundled_robots_have_pairs_that_are_apart_at_home(name):
    bodies = cr.load(name).bodies
    assert len(bodies)
    assert bodies.pairs
    every = {frozenset(pair) for pair in bodies.pairs} | {frozenset(entry[:2]) for entry in bodies.left_out}
    assert len(every) == len(bodies) * (len(bodies) - 1) // 2


def test_no_point_is_outside_of_its_capsule():
    rng = np.random.default_rng(1)
    for _ in range(5):
        points = rng.normal(size=(200, 3)) * rng.uniform(0.01, 1, 3) + rng.normal(size=3)
        capsule, place = fit_capsule(points)
        local = (np.linalg.inv(np.array(place)) @ np.c_[points, np.ones(200)].T)[:3].T
        local[:, 2] -= np.clip(local[:, 2], -capsule.length / 2, capsule.length / 2)
        assert np.linalg.norm(local, axis=1).max() <= capsule.radius * (1 + 1e-9)


def test_the_surface_of_a_mesh_is_within_its_balls():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1.0]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    centers, radii = cover_with_spheres(points, triangles, 20)
    weights = np.random.default_rng(2).dirichlet([1, 1, 1], size=500)
    surface = np.einsum("kw,mwd->mkd", weights, points[triangles]).reshape(-1, 3)
    gaps = np.linalg.norm(surface[:, None] - centers, axis=2) - radii
    assert gaps.min(axis=1).max() <= 0
    assert len(radii) == 20
    assert radii.max() < 0.5
