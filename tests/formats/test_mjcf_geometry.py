"""MJCF geoms as geometry, keyframes as configurations, actuators as effort limits, nested files: as MuJoCo has them."""

import math

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.formats.mjcf import from_mjcf
from chainrule.formats.native import from_native, to_toml
from chainrule.model import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from chainrule.spatial import Vector

INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def body(content="", sections="", joint='<joint name="turn"/>'):
    return f'<mujoco>{sections}<worldbody><body name="arm">{joint}{INERTIAL}{content}</body></worldbody></mujoco>'


def pose(T):
    return np.array(T.rows(), dtype=float)


# --- geoms ---


def test_each_shape_has_the_sizes_that_mujoco_gives_it():
    text = body(
        '<geom name="ball" size="0.1"/><geom name="block" type="box" size="0.1 0.2 0.3" pos="1 2 3" euler="0 0 90"/>'
        '<geom name="pill" type="capsule" size="0.1 0.4"/><geom name="can" type="cylinder" size="0.1 0.4"/>'
        '<geom name="egg" type="ellipsoid" size="0.1 0.2 0.3"/>'
        '<geom name="rod" type="capsule" size="0.05" fromto="0 0 0 1 1 1"/>'
    )
    model = from_mjcf(text)
    shapes = {g.name: g.shape for g in model.geometries}
    rod = shapes.pop("rod")
    assert shapes == {
        "ball": Sphere(0.1), "block": Box(Vector(0.2, 0.4, 0.6)), "pill": Capsule(0.1, 0.8), "can": Cylinder(0.1, 0.8),
        "egg": Ellipsoid(Vector(0.1, 0.2, 0.3)),
    }  # fmt: skip
    assert_allclose([rod.radius, rod.length], [0.05, math.sqrt(3)])
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    for g in model.geometries:
        i = theirs.geom(g.name).id
        T = pose(g.origin)
        assert_allclose(T[:3, 3], data.geom_xpos[i], atol=1e-12)
        assert_allclose(T[:3, :3], data.geom_xmat[i].reshape(3, 3), atol=1e-9)


def test_contact_tells_visual_from_collision():
    model = from_mjcf(
        body(
            '<geom name="seen" size="1" contype="0" conaffinity="0"/><geom name="hit" size="1"/>'
            '<geom name="half" size="1" contype="0"/><geom name="styled" class="skin" size="1"/>',
            '<default><default class="skin"><geom contype="0" conaffinity="0" rgba="0 1 0 1"/></default></default>',
        )
    )
    assert {g.name: g.role for g in model.geometries} == {
        "seen": "visual",
        "hit": "collision",
        "half": "collision",
        "styled": "visual",
    }
    assert model.geometries[3].color == (0.0, 1.0, 0.0, 1.0)


def test_colors_come_from_the_geom_or_from_its_material():
    assets = '<asset><material name="gold" rgba="1 0.8 0 1"/><material name="bright" rgba="2 0 0 1"/></asset>'
    model = from_mjcf(
        body(
            '<geom size="1" material="gold"/><geom size="1" rgba="0 0 1 0.5" material="gold"/><geom size="1"/>'
            '<geom size="1" material="bright"/>',
            assets,
        )
    )
    assert [g.color for g in model.geometries] == [(1, 0.8, 0, 1), (0, 0, 1, 0.5), None, (1, 0, 0, 1)]


def test_frames_around_a_geom_move_it_and_the_world_carries_geoms():
    text = (
        '<mujoco><worldbody><geom name="floor" type="plane" size="0 2 0.1"/><body name="arm"><joint/>'
        f'{INERTIAL}<frame pos="1 0 0" euler="0 0 90"><geom name="ball" size="0.1" pos="1 0 0"/></frame>'
        "</body></worldbody></mujoco>"
    )
    floor, ball = from_mjcf(text).geometries
    assert floor == Geometry("world", Plane(math.inf, 4.0), role="collision", name="floor")
    assert_allclose(pose(ball.origin)[:3, 3], [1, 1, 0], atol=1e-15)
    assert from_native(to_toml(from_mjcf(text))) == from_mjcf(text)


def test_meshes_keep_path_scale_and_place(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "hand.obj").write_text(TETRAHEDRON)
    text = body(
        '<geom name="hand" type="mesh" mesh="hand" pos="1 0 0" euler="30 0 0"/>',
        '<compiler meshdir="meshes"/><asset>'
        '<mesh name="hand" file="hand.obj" scale="2 2 2" refpos="0.1 0.2 0.3" refquat="0.5 0.5 0.5 0.5"/></asset>',
    )
    (tmp_path / "arm.xml").write_text(text)
    (hand,) = from_mjcf(tmp_path / "arm.xml").geometries
    assert hand.shape == Mesh("meshes/hand.obj", Vector(2.0, 2.0, 2.0))
    assert hand.shape.folder == str(tmp_path)
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    place = theirs.geom("hand").id
    vertices = theirs.mesh_vert[: theirs.mesh_vertnum[0]]
    world = vertices @ data.geom_xmat[place].reshape(3, 3).T + data.geom_xpos[place]
    file = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * 2.0
    T = pose(hand.origin)
    mine = file @ T[:3, :3].T + T[:3, 3]
    assert_allclose(sorted(map(tuple, mine.round(5))), sorted(map(tuple, world.round(5))), atol=2e-5)


@pytest.mark.parametrize(
    ("geom", "assets", "message"),
    [
        ('<geom type="mesh" mesh="m"/>', '<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>', "without a file"),
        (
            '<geom type="mesh" mesh="m"/>',
            '<mesh name="m" file="m.obj" scale="1 2 3" refquat="1 1 0 0"/>',
            "scaled by different factors",
        ),
        ('<geom type="sdf" mesh="m"/>', '<mesh name="m" file="m.obj"/>', "distance field is no shape here"),
    ],
    ids=["inline", "skewed", "distance"],
)
def test_geoms_that_are_no_shape_here_are_left_out_with_one_note(geom, assets, message, tmp_path):
    (tmp_path / "m.obj").write_text(TETRAHEDRON)
    (tmp_path / "arm.xml").write_text(body(geom * 2, f"<asset>{assets}</asset>"))
    model = from_mjcf(tmp_path / "arm.xml")
    assert model.geometries == ()
    (note,) = model.notes
    assert note.startswith("2 geoms ('geom0', 'geom1') left out of the geometry: ")
    assert message in note


def test_shapes_fitted_to_a_mesh_are_those_of_mujoco():
    asset = '<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>'
    text = body('<geom type="box" mesh="m"/><geom type="sphere" mesh="m"/>', f"<asset>{asset}</asset>")
    theirs = mujoco.MjModel.from_xml_string(text)
    box, ball = from_mjcf(text).geometries
    assert_allclose([*box.shape.size], 2 * theirs.geom_size[0])
    assert_allclose(ball.shape.radius, theirs.geom_size[1][0])
    assert_allclose([*box.origin.translation], theirs.geom_pos[0])


# --- keyframes ---

KEYS = """<mujoco><worldbody>
  <body name="trunk" pos="0 0 1" quat="1 1 0 0"><freejoint name="base"/><geom size="0.1"/>
    <body><joint name="hip" ref="30"/><geom size="0.1" pos="0.3 0 0"/>
      <body><joint name="ankle" type="ball"/><geom size="0.1" pos="0 0.3 0"/></body>
      <body><joint name="toe" axis="0 1 0"/><geom size="0.1" pos="0 0 0.3"/></body></body></body>
</worldbody>
<equality><joint joint1="toe" joint2="hip" polycoef="0 2"/></equality>
<keyframe>
  <key name="home" qpos="1 2 3 0 0 2 0  0.5  0.5 0.5 0.5 -0.5  0.7"/>
  <key qpos="0 0 0 1 0 0 0  0  1 0 0 0  0"/>
  <key name="start"/>
</keyframe></mujoco>"""


def test_keyframes_are_configurations():
    robot = cr.Robot(from_mjcf(KEYS))
    theirs = mujoco.MjModel.from_xml_string(KEYS)
    assert [*robot.configurations] == ["home", "key1", "start"]
    data = mujoco.MjData(theirs)
    for k, q in enumerate(robot.configurations.values()):
        expected = theirs.key_qpos[k]
        assert_allclose(q[:3], expected[:3])
        assert_allclose(q[3:7], expected[[4, 5, 6, 3]], atol=1e-12)
        assert_allclose(q[7], expected[7])
        assert_allclose(q[8:], expected[[9, 10, 11, 8]], atol=1e-12)
        data.qpos[:] = expected
        mujoco.mj_forward(theirs, data)
        ankle = theirs.body(3).id
        assert_allclose(robot.pose(q, robot.link_names[3])[:3, 3], data.xpos[ankle], atol=1e-9)
    assert np.array_equal(robot.home(), robot.configurations["home"])


def test_a_keyframe_without_a_name_takes_one_that_is_free():
    model = from_mjcf(body(sections='<keyframe><key name="key1"/><key qpos="0.5"/></keyframe>'))
    assert [(c.name, c.positions) for c in model.configurations] == [
        ("key1", (("turn", 0.0),)),
        ("key1_", (("turn", 0.5),)),
    ]


# --- effort limits ---

ACTUATORS = {
    "motor": ('<motor joint="turn" ctrlrange="-2 2" gear="50"/>', 100.0),
    "motor, force": ('<motor joint="turn" ctrlrange="-2 2" forcerange="-1.5 1.5" gear="50"/>', 75.0),
    "motor, force alone": ('<motor joint="turn" forcerange="-3 3" gear="-10"/>', 30.0),
    "motor, unlimited": ('<motor joint="turn" gear="50"/>', math.inf),
    "motor, switched off": ('<motor joint="turn" ctrllimited="false" ctrlrange="-2 2"/>', math.inf),
    "motor, one way": ('<motor joint="turn" ctrlrange="0 4" gear="2"/>', 8.0),
    "general": ('<general joint="turn" ctrlrange="-2 2" gainprm="7" gear="3"/>', 42.0),
    "general servo": (
        '<general joint="turn" ctrlrange="-2 2" gainprm="7" biastype="affine" biasprm="0 -7" forcerange="-5 5"/>', 5.0,
    ),
    "position": ('<position joint="turn" kp="100" ctrlrange="-9 9" forcerange="-87 87" gear="2"/>', 174.0),
    "position, unlimited": ('<position joint="turn" kp="100" ctrlrange="-9 9"/>', math.inf),
    "velocity": ('<velocity joint="turn" kv="100" forcerange="-8 8"/>', 8.0),
    "two": ('<motor joint="turn" ctrlrange="-2 2"/><motor joint="turn" ctrlrange="-1 1" gear="-3"/>', 5.0),
    "two, one unlimited": ('<motor joint="turn" ctrlrange="-2 2"/><motor joint="turn"/>', math.inf),
    "by class": ('<motor class="strong" joint="turn"/>', 12.0),
}  # fmt: skip


@pytest.mark.parametrize("name", ACTUATORS)
@pytest.mark.parametrize("joint", ["", 'actuatorfrcrange="-20 20"'], ids=["", "bounded"])
def test_efforts_are_the_largest_that_mujoco_gives(name, joint):
    elements, effort = ACTUATORS[name]
    effort = min(effort, 20.0) if joint else effort
    classes = '<default><default class="strong"><general forcerange="-4 4" gear="3"/></default></default>'
    text = body(sections=f"{classes}<actuator>{elements}</actuator>", joint=f'<joint name="turn" {joint}/>')
    model = from_mjcf(text)
    assert model.joints[0].dofs[0].effort == pytest.approx(effort)
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    largest = 0.0
    gears = theirs.actuator_gear[:, 0]
    for sign in (-1, 1):
        data.ctrl[:], data.qpos[:] = sign * 1e9 * np.sign(gears), -sign * 1e7
        mujoco.mj_forward(theirs, data)
        largest = max(largest, abs(data.qfrc_actuator[0]))
    assert largest == pytest.approx(effort) if math.isfinite(effort) else largest > 1e6
    assert cr.load(theirs, check=False).limits.effort[0] == pytest.approx(effort)


def test_an_actuator_with_several_controls_does_not_shift_those_of_others():
    ball = '<body name="b"><joint name="ball" type="ball"/><geom size="0.1"/></body>'
    actuators = '<orientation joint="ball" kp="1"/><motor joint="turn" ctrlrange="-2 2" armature="3"/>'
    text = body(sections=f"<actuator>{actuators}</actuator>").replace("</worldbody>", f"{ball}</worldbody>")
    assert mujoco.MjModel.from_xml_string(text).nu > 2
    dof = from_mjcf(text).joints[0].dofs[0]
    assert (dof.effort, dof.rotor) == (2.0, 3.0)


def test_efforts_that_differ_with_direction_are_noted():
    model = from_mjcf(body(sections='<actuator><motor joint="turn" ctrlrange="-1 4" gear="2"/></actuator>'))
    assert model.notes == ("joint 'turn': its actuators give -2 to 8; the larger counts here, both ways",)


def test_controls_that_are_not_clamped_limit_nothing():
    option = '<option><flag clampctrl="disable"/></option>'
    model = from_mjcf(body(sections=f'{option}<actuator><motor joint="turn" ctrlrange="-1 1"/></actuator>'))
    assert math.isinf(model.joints[0].dofs[0].effort)


# --- files in files ---


def part(name, mass, inner=""):
    return (
        f'<mujocoinclude><body name="{name}"><joint/><inertial pos="0 0 0" mass="{mass}" diaginertia="1 1 1"/>{inner}'
        "</body></mujocoinclude>"
    )


MAIN = '<mujoco><worldbody><include file="sub/b.xml"/></worldbody></mujoco>'
MESHED = (
    '<mujoco>{}<asset><mesh name="m" file="m.obj"/></asset><worldbody><body><joint/><geom type="mesh" mesh="m"/></body>'
    "</worldbody></mujoco>"
)
WHOLE = '<mujoco><include file="sub/b.xml"/></mujoco>'
LONG = TETRAHEDRON.replace("v 1 0 0", "v 2 0 0")
MESHDIR = MESHED.format('<compiler meshdir="meshes"/>')
NESTED = {
    "beside the part": {"sub/b.xml": part("b", 1, '<include file="c.xml"/>'), "sub/c.xml": part("c", 2)},
    "beside the main file": {"sub/b.xml": part("b", 1, '<include file="c.xml"/>'), "c.xml": part("c", 3)},
    "in both": {"sub/b.xml": part("b", 1, '<include file="c.xml"/>'), "c.xml": part("c", 3), "sub/c.xml": part("c", 2)},
    "from the main file": {"sub/b.xml": part("b", 1, '<include file="sub/c.xml"/>'), "sub/c.xml": part("c", 2)},
    "upward": {"sub/b.xml": part("b", 1, '<include file="../c.xml"/>'), "c.xml": part("c", 2)},
    "deep": {
        "sub/b.xml": part("b", 1, '<include file="deep/c.xml"/>'),
        "sub/deep/c.xml": part("c", 2, '<include file="d.xml"/>'),
        "sub/deep/d.xml": part("d", 5),
    },
    "half way": {
        "sub/b.xml": part("b", 1, '<include file="deep/c.xml"/>'),
        "sub/deep/c.xml": part("c", 2, '<include file="d.xml"/>'),
        "sub/d.xml": part("d", 5),
    },
    "twice": {"sub/b.xml": part("b", 1, '<include file="c.xml"/><include file="../sub/c.xml"/>'), "sub/c.xml": part("c", 2)},
    "empty": {"sub/b.xml": "<mujocoinclude/>"},
    "mesh beside the part": {"main.xml": WHOLE, "sub/b.xml": MESHED.format(""), "sub/m.obj": LONG},
    "mesh beside the main file": {"main.xml": WHOLE, "sub/b.xml": MESHED.format(""), "m.obj": LONG},
    "mesh in both": {"main.xml": WHOLE, "sub/b.xml": MESHED.format(""), "m.obj": TETRAHEDRON, "sub/m.obj": LONG},
    "meshdir": {"main.xml": WHOLE, "sub/b.xml": MESHDIR, "meshes/m.obj": LONG, "sub/m.obj": TETRAHEDRON},
    "meshdir of the part": {"main.xml": WHOLE, "sub/b.xml": MESHDIR, "sub/meshes/m.obj": LONG},
    "meshdir passed by": {"main.xml": WHOLE, "sub/b.xml": MESHDIR, "sub/m.obj": LONG},
}  # fmt: skip


MISSING = {"meshdir of the part": "meshes/m.obj"}
"""What MuJoCo does not find, and no longer reads the model."""


@pytest.mark.parametrize("name", NESTED)
def test_nested_files_are_found_where_mujoco_finds_them(name, tmp_path):
    for file, text in {"main.xml": MAIN, **NESTED[name]}.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    try:
        theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "main.xml"))
    except ValueError as error:
        theirs = str(error)
    if isinstance(theirs, str) and name not in MISSING:
        with pytest.raises(cr.FormatError):
            from_mjcf(tmp_path / "main.xml")
        return
    ours = from_mjcf(tmp_path / "main.xml")
    if isinstance(theirs, str):
        assert ours.notes[0] == f"the mesh file {MISSING[name]!r} cannot be found"
        return
    assert_allclose([link.mass for link in ours.links[1:]], theirs.body_mass[1:], rtol=1e-6)
    for geometry in ours.geometries:
        if isinstance(geometry.shape, Mesh):
            assert (tmp_path / geometry.shape.folder / geometry.shape.path).is_file()


def test_an_empty_part_is_refused(tmp_path):
    (tmp_path / "main.xml").write_text(MAIN.replace("sub/", ""))
    (tmp_path / "b.xml").write_text("<mujocoinclude/>")
    with pytest.raises(cr.FormatError, match=r"includes b\.xml, which has no elements; remove one of them"):
        from_mjcf(tmp_path / "main.xml")
