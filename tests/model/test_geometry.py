"""Geometry is carried by the model and by every edit, and changes no number of the dynamics."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import KINDS, shapes, state, tree, with_geometry

import chainrule as cr
from chainrule.core.derived import fingerprint, merged_fingerprint
from chainrule.formats.native import from_native, to_json, to_toml
from chainrule.model import Box, Cylinder, Geometry, Link, Mesh, Model, Sphere
from chainrule.spatial import Transform, Vector

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=10)


def places(robot, q):
    """Pose in the world of each geometry, by its shape and role: (n, 4, 4)."""
    return np.array([robot.pose(q, g.link) @ np.array(g.origin.rows(), dtype=float) for g in robot.model.geometries])


@pytest.mark.both_paths
@given(SEEDS)
@few
def test_geometry_changes_no_motion_and_no_kernel(seed):
    plain = tree(seed)
    drawn = with_geometry(plain, seed)
    assert fingerprint(drawn) == fingerprint(plain)
    assert merged_fingerprint(drawn) == merged_fingerprint(plain)
    assert drawn != plain
    q, qd, qdd = state(plain, seed)
    assert np.array_equal(drawn.inverse_dynamics(q, qd, qdd), plain.inverse_dynamics(q, qd, qdd))


def test_robots_that_differ_in_geometry_share_kernels_and_are_not_equal():
    arm = cr.load("planar_2r")
    drawn = with_geometry(arm, 1)
    assert arm != drawn
    assert with_geometry(arm, 1) == drawn
    assert arm.compiled.kernel("gravity_torque") is drawn.compiled.kernel("gravity_torque")


@pytest.mark.both_paths
@given(SEEDS)
@few
def test_merged_links_hand_their_geometry_on_in_place(seed):
    robot = with_geometry(tree(seed, [*KINDS, "fixed", "fixed"]), seed)
    merged = robot.merge_fixed()
    q = robot.random_state(np.random.default_rng(seed))
    assert len(merged.model.geometries) == len(robot.model.geometries)
    assert {g.link for g in merged.model.geometries} <= set(merged.link_names)
    assert_allclose(places(merged, q), places(robot, q), atol=1e-12)


@pytest.mark.both_paths
@given(SEEDS)
@few
def test_native_files_hold_geometry_and_configurations_exactly(seed):
    model = with_geometry(tree(seed), seed).model
    assert from_native(to_toml(model)) == model
    assert from_native(to_json(model)) == model
    assert from_native(to_json(from_native(to_toml(model)))) == model


def test_edits_carry_geometry_along():
    arm = with_geometry(cr.load("planar_3r"), 3)
    q = np.array([0.3, -0.4, 0.5])
    before = places(arm, q)
    locked = arm.lock({"joint2": -0.4})
    assert_allclose(places(locked, q[[0, 2]]), before, atol=1e-12)
    floating = arm.floating()
    assert_allclose(places(floating, [0, 0, 0, 0, 0, 0, 1, *q]), before, atol=1e-12)
    rebased = arm.rebase("link2")
    moved = np.linalg.inv(arm.pose(q, "link2")) @ before
    order = [arm.joint_names.index(name) for name in rebased.joint_names]
    assert_allclose(places(rebased, q[order]), moved, atol=1e-12)
    short = arm.chain("link2")
    assert [g.link for g in short.model.geometries] == ["base", "base", "link1", "link1", "link2", "link2"]
    assert_allclose(places(short, q[:2]), before[:6], atol=1e-12)
    assert arm.with_payload(1.0).scale_masses(2.0).without_friction().model.geometries == arm.model.geometries


def test_attached_robots_keep_their_geometry_under_their_prefix():
    arm = with_geometry(cr.load("planar_2r"), 3)
    both = arm.attach(arm, prefix="right_")
    own, other = both.model.geometries[: len(arm.model.geometries)], both.model.geometries[len(arm.model.geometries) :]
    assert own == arm.model.geometries
    assert [g.link for g in other] == ["right_" + g.link for g in arm.model.geometries]
    assert [g.name for g in other] == [g.name and "right_" + g.name for g in arm.model.geometries]
    q = np.array([0.2, 0.3])
    there = arm.pose(q) @ places(arm, q)
    assert_allclose(places(both, [*q, *q])[len(own) :], there, atol=1e-12)


def test_meshes_are_the_same_in_whatever_folder_the_file_is(tmp_path):
    robot = with_geometry(cr.load("planar_2r"), 7)
    assert Mesh("a.stl", folder="/here") == Mesh("a.stl", folder="/there")
    robot.save(tmp_path / "arm.toml")
    again = cr.load(tmp_path / "arm.toml")
    assert again == robot
    folders = {g.shape.folder for g in again.model.geometries if isinstance(g.shape, Mesh)}
    assert folders == {str(tmp_path)}
    (tmp_path / "elsewhere").mkdir()
    again.save(tmp_path / "elsewhere" / "arm.json")
    moved = cr.load(tmp_path / "elsewhere" / "arm.json")
    assert {g.shape.folder for g in moved.model.geometries if isinstance(g.shape, Mesh)} == {str(tmp_path)}


def built(*geometries):
    return Model.build("arm", [Link("base"), Link("hand")], [], geometries=geometries)


@pytest.mark.parametrize(
    ("geometry", "message"),
    [
        (Geometry("bose", Sphere(1.0)), "geometry 0: the robot has no link named 'bose'; did you mean 'base'"),
        (Geometry("base", Sphere(-1.0)), "geometry 0 on link 'base' is a sphere with the radius -1.0 m, which must be"),
        (Geometry("base", Box(Vector(1, math.inf, 1))), "is a box with the size inf m"),
        (Geometry("base", Cylinder(math.nan, 1.0)), "is a cylinder with the radius nan m"),
        (Geometry("base", Mesh("")), "is a mesh without the path of a file"),
        (Geometry("base", Mesh("a.stl", Vector(1, 0, 1))), "is a mesh with the scale 0, which must be"),
        (Geometry("base", "box"), "is no shape: 'box'"),
        (Geometry("base", Sphere(1.0), role="picture"), "chainrule has no role named 'picture'"),
        (Geometry("base", Sphere(1.0), color=(1, 0, 0)), "its color must be red, green, blue and opacity"),
        (Geometry("base", Sphere(1.0), color=(255, 0, 0, 1)), "each between 0 and 1, got"),
        (
            Geometry("base", Sphere(1.0), Transform.from_xyz_rpy((math.nan, 0, 0)), name="skin"),
            "geometry 'skin' on link 'base': its origin must be finite",
        ),
    ],
    ids=["link", "radius", "size", "nan", "path", "scale", "shape", "role", "rgb", "bytes", "origin"],
)
def test_bad_geometry_is_refused_with_its_place(geometry, message):
    with pytest.raises((cr.ModelError, cr.UnknownNameError), match=message):
        Model.build("arm", [Link("base")], [], geometries=[geometry])


def test_each_shape_is_accepted():
    for shape in shapes(np.random.default_rng(0)):
        assert Model.build("arm", [Link("base")], [], geometries=[Geometry("base", shape)]).geometries[0].shape == shape


NATIVE = 'format = "chainrule 1"\nname = "arm"\n[[link]]\nname = "base"\n[[geometry]]\nlink = "base"\n'


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("radius = 1", "needs shape = a string"),
        ('shape = "cone"', "the format has no shape named 'cone'"),
        ('shape = "sphere"\nradius = "big"', "geometry 0: needs radius = a number"),
        ('shape = "sphere"\nradius = -1', "geometry 0: is a sphere with the radius -1.0 m"),
        ('shape = "sphere"\nradius = 1\nsize = [1, 2, 3]', "the format has no key named 'size'"),
        ('shape = "sphere"\nradius = 1\nrole = "seen"', "the format has no role named 'seen'"),
        ('shape = "sphere"\nradius = 1\ncolor = [1, 2]', "needs color = 4 numbers"),
        ('shape = "mesh"', "needs path = a string"),
        ('shape = "box"\nsize = [1, 2]', "needs size = 3 numbers"),
    ],
    ids=["none", "unknown", "text", "negative", "key", "role", "color", "path", "size"],
)
def test_bad_geometry_in_a_file_is_refused_with_its_place(lines, message):
    with pytest.raises((cr.FormatError, cr.UnknownNameError), match=message):
        from_native(NATIVE + lines)
