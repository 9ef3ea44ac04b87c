"""Visual and collision geometry of URDF files: read, written back, and never a reason to refuse a robot."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from peers import robots_folder
from trees import tree, with_geometry

import chainrule as cr
from chainrule.formats.native import from_native, to_json, to_toml
from chainrule.formats.urdf import from_urdf, to_urdf
from chainrule.model import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from chainrule.model.edits import rebuild
from chainrule.spatial import Transform, Vector

few = settings(max_examples=10)

TEXT = """<robot name="arm">
  <material name="steel"><color rgba="0.5 0.5 0.6 1"/></material>
  <link name="base">
    <visual name="plate">
      <origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/>
      <geometry><box size="0.4 0.3 0.2"/></geometry>
      <material name="steel"/>
    </visual>
    <visual><geometry><mesh filename="package://arm/meshes/base.dae" scale="0.001 0.001 -0.001"/></geometry>
      <material name="paint"><color rgba="1 0 0 0.5"/></material></visual>
    <collision name="hull"><geometry><cylinder radius="0.2" length="0.3"/></geometry></collision>
  </link>
  <link name="hand">
    <visual><geometry><sphere radius="0.1"/></geometry><material name="paint"/></visual>
    <visual><geometry><capsule radius="0.1" length="0.5"/></geometry></visual>
    <collision><geometry><mesh filename="meshes/hand.stl"/></geometry></collision>
  </link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="hand"/></joint>
</robot>"""


def read(text):
    return from_urdf(text).geometries


def test_each_shape_is_read_with_its_place_color_and_name():
    plate, mesh, hull, ball, capsule, hand = read(TEXT)
    assert plate.shape == Box(Vector(0.4, 0.3, 0.2))
    assert (plate.link, plate.role, plate.name, plate.color) == ("base", "visual", "plate", (0.5, 0.5, 0.6, 1.0))
    assert_allclose(
        np.array(plate.origin.rows(), dtype=float), [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]]
    )
    assert mesh == Geometry(
        "base", Mesh("package://arm/meshes/base.dae", Vector(0.001, 0.001, -0.001)), color=(1.0, 0.0, 0.0, 0.5)
    )
    assert hull == Geometry("base", Cylinder(0.2, 0.3), role="collision", name="hull")
    assert ball == Geometry("hand", Sphere(0.1), color=(1.0, 0.0, 0.0, 0.5))
    assert capsule == Geometry("hand", Capsule(0.1, 0.5))
    assert hand == Geometry("hand", Mesh("meshes/hand.stl"), role="collision")


def test_a_mesh_knows_the_folder_of_the_file(tmp_path):
    (tmp_path / "arm.urdf").write_text(TEXT)
    model = from_urdf(tmp_path / "arm.urdf")
    assert {g.shape.folder for g in model.geometries if isinstance(g.shape, Mesh)} == {str(tmp_path)}
    assert {g.shape.path for g in model.geometries if isinstance(g.shape, Mesh)} == {
        "package://arm/meshes/base.dae",
        "meshes/hand.stl",
    }
    assert {g.shape.folder for g in read(TEXT) if isinstance(g.shape, Mesh)} == {None}
    assert model == from_urdf(TEXT)


def test_it_is_written_back():
    model = from_urdf(TEXT)
    assert from_urdf(to_urdf(model)).geometries == model.geometries


def in_arm(visual):
    return f'<robot name="arm"><link name="base">{visual}</link></robot>'


@pytest.mark.parametrize(
    ("visual", "message"),
    [
        ("<visual/>", "needs a <geometry> element with a shape in it"),
        ("<collision><geometry/></collision>", "needs a <geometry> element with a shape in it"),
        ("<visual><geometry><cone/></geometry></visual>", "is no shape of URDF, which has box, sphere"),
        ('<visual><geometry><box size="1 2"/></geometry></visual>', "should be 3 numbers, got 2"),
        ('<visual><geometry><sphere radius="-1"/></geometry></visual>', "is a sphere with the radius -1.0 m"),
        ('<visual><geometry><sphere radius="inf"/></geometry></visual>', "is not finite"),
        ("<visual><geometry><mesh/></geometry></visual>", "needs the attribute 'filename'"),
        ('<visual><geometry><mesh filename="a" scale="0 1 1"/></geometry></visual>', "with the scale 0.0"),
        ('<visual><origin xyz="a b c"/><geometry><sphere radius="1"/></geometry></visual>', "should be numbers"),
    ],
    ids=["nothing", "empty", "cone", "box", "negative", "infinite", "file", "scale", "origin"],
)
def test_wrong_geometry_is_left_out_with_a_note(visual, message):
    model = from_urdf(in_arm(visual))
    assert model.geometries == ()
    assert len(model.notes) == 1
    assert "link 'base' has geometry that cannot be read" in model.notes[0]
    assert message in model.notes[0]
    assert model.notes[0].endswith("It is left out; dynamics does not need it")


@pytest.mark.parametrize("rgba", ["1 0 0", "255 0 0 1", "red"])
def test_a_wrong_color_is_left_out_with_a_note(rgba):
    material = f'<material name="paint"><color rgba="{rgba}"/></material>'
    model = from_urdf(in_arm(f'<visual><geometry><sphere radius="1"/></geometry>{material}</visual>'))
    assert model.geometries == (Geometry("base", Sphere(1.0)),)
    assert len(model.notes) == 1
    assert "<color>: rgba=" in model.notes[0]


def test_a_material_that_nothing_defines_is_no_color():
    model = from_urdf(in_arm('<visual><geometry><sphere radius="1"/></geometry><material name="x"/></visual>'))
    assert model.geometries == (Geometry("base", Sphere(1.0)),)
    assert model.notes == ()


def test_geometry_that_urdf_has_not_is_left_out_with_a_warning():
    arm = cr.load("planar_2r")
    geometries = [
        Geometry("base", Plane()),
        Geometry("link1", Ellipsoid(Vector(1, 2, 3))),
        Geometry("link2", Sphere(1.0)),
    ]
    with pytest.warns(
        cr.ModelWarning, match="no such geometry, which is left out: the plane on link 'base', the ellips"
    ):
        text = to_urdf(rebuild(arm.edit(gravity=[0, 0, -9.81]).model, geometries=geometries))
    assert [g.shape for g in from_urdf(text).geometries] == [Sphere(1.0)]


def test_names_with_control_characters_cannot_be_written():
    arm = cr.load("planar_2r").edit(gravity=[0, 0, -9.81])
    model = rebuild(arm.model, geometries=[Geometry("base", Mesh("a\x00.stl"))])
    with pytest.raises(cr.FormatError, match="a name or a path with characters that XML does not allow"):
        to_urdf(model)


BROKEN = ("falcon_description/urdf/falcon.urdf", "ur_description/urdf/ur3.urdf")
"""Files that are no robots: a joint to a link that there is not, and no links."""


def files():
    paths = {str(path.relative_to(robots_folder())): path for path in sorted(robots_folder().rglob("*.urdf"))}
    return {name: path for name, path in paths.items() if name not in BROKEN}


def near(a: Transform, b: Transform) -> bool:
    return np.allclose(np.array(a.rows(), dtype=float), np.array(b.rows(), dtype=float), atol=1e-12)


@pytest.mark.parametrize("path", files().values(), ids=files())
def test_real_robots_are_written_back_and_read_again(path):
    model = from_urdf(path)
    assert from_native(to_toml(model)) == model
    assert from_native(to_json(model)) == model
    again = from_urdf(to_urdf(model))
    assert [link.name for link in again.links] == [link.name for link in model.links]
    assert len(again.geometries) == len(model.geometries)
    for a, b in zip(again.geometries, model.geometries, strict=True):
        assert (a.link, a.shape, a.role, a.color, a.name) == (b.link, b.shape, b.role, b.color, b.name)
        assert near(a.origin, b.origin)
    for a, b in zip(again.joints, model.joints, strict=True):
        assert (a.name, a.dofs, a.mimic) == (b.name, b.dofs, b.mimic)
        assert a.type == b.type or (a.type, b.type) == ("continuous", "revolute")  # one without limits
        assert near(a.origin, b.origin)
    for a, b in zip(again.links, model.links, strict=True):
        assert_allclose([a.mass, *a.com, *a.inertia.entries()], [b.mass, *b.com, *b.inertia.entries()], rtol=1e-12)
    twice = from_urdf(to_urdf(again))
    assert twice.links == again.links


@pytest.mark.parametrize("robot", ["panda_description/urdf/panda.urdf", "ur_description/urdf/ur5_robot.urdf"])
@pytest.mark.filterwarnings("ignore:You passed package dir")  # Pinocchio's, of its own arguments
def test_geometry_stands_where_pinocchio_has_it(robot):
    pin = pytest.importorskip("pinocchio")
    path = robots_folder() / robot
    ours = cr.Robot(from_urdf(path))
    model = pin.buildModelFromUrdf(str(path))
    folders = [str(robots_folder().parent.parent)]
    shapes = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION, folders)
    data, placed = model.createData(), shapes.createData()
    q = np.linspace(-1, 1, model.nq)
    q[7:] = 0.02  # the fingers of panda, of which one follows the other here
    pin.updateGeometryPlacements(model, data, shapes, placed, q)
    theirs = {
        (g.name.rpartition("_")[0], g.name): placed.oMg[i].homogeneous for i, g in enumerate(shapes.geometryObjects)
    }
    mine = [g for g in ours.model.geometries if g.role == "collision"]
    assert len(mine) == len(theirs) > 5
    full = dict(zip(ours.joint_names, q[: ours.nq], strict=True))
    state = [full[name] for name in ours.joint_names]
    for geometry, ((link, _), place) in zip(
        sorted(mine, key=lambda g: g.link), sorted(theirs.items(), key=lambda x: x[0][0]), strict=True
    ):
        assert geometry.link == link
        assert_allclose(ours.pose(state, link) @ np.array(geometry.origin.rows(), dtype=float), place, atol=1e-9)


@given(st.integers(0, 10_000))
@few
def test_random_robots_are_written_back(seed):
    robot = with_geometry(tree(seed, ["revolute", "continuous", "prismatic", "fixed", "planar"], drives=False), seed)
    plain = [g for g in robot.model.geometries if not isinstance(g.shape, (Plane, Ellipsoid))]
    model = rebuild(robot.edit(gravity=[0, 0, -9.81]).model, geometries=plain)
    again = from_urdf(to_urdf(model))
    places = {g.link for g in again.geometries}
    assert places == {g.link for g in plain}
    assert len(again.geometries) == len(plain)
    assert all(math.isfinite(x) for g in again.geometries for row in g.origin.rows() for x in row)


def test_limits_of_a_continuous_joint_are_ignored_with_a_note():
    text = TEXT.replace("</joint>", '<limit lower="-1" upper="2"/></joint>')
    model = from_urdf(text)
    assert math.isinf(model.joints[0].dofs[0].upper)
    note = "joint 'turn' is continuous but gives a lower and upper limit, which URDF ignores: taken as unlimited"
    assert note in model.notes
    assert note not in from_urdf(text.replace('"-1" upper="2"', '"0" upper="0"')).notes


def test_limits_of_a_continuous_joint_survive_in_what_is_written():
    arm = cr.Robot(from_urdf(TEXT)).edit(joints={"*": {"lower": -1.0, "upper": 2.0}})
    assert arm.model.joints[0].type == "continuous"
    again = from_urdf(to_urdf(arm.model))
    assert (again.joints[0].dofs[0].lower, again.joints[0].dofs[0].upper) == (-1.0, 2.0)
    assert again.joints[0].type == "revolute"
