"""SDF with the meaning of its specification: against Drake, which reads it with the library of Gazebo, and by hand."""

import math

import numpy as np
import pytest
from refusals import refused

import chainrule as cr
from chainrule import FormatError, ModelError, ModelWarning, Robot, UnknownNameError
from chainrule.model import Box, Mesh

INERTIA = """<inertial><pose{frame}>0.1 -0.05 0.2 0.3 -0.2 0.5</pose><mass>{mass}</mass><inertia><ixx>0.03</ixx>
<iyy>0.04</iyy><izz>0.05</izz><ixy>0.002</ixy><ixz>-0.001</ixz><iyz>0.003</iyz></inertia></inertial>"""


def link(name, mass=1.5, pose="", more=""):
    return f'<link name="{name}">{pose}{INERTIA.format(frame="", mass=mass)}{more}</link>'


def joint(name, type_, parent, child, axes=("0 0 1",), pose="", more=""):
    tags = "".join(
        f"<axis{'2' * k}><xyz>{xyz}</xyz><limit><lower>-2</lower><upper>2</upper></limit></axis{'2' * k}>"
        for k, xyz in enumerate(axes)
    )
    return (
        f'<joint name="{name}" type="{type_}"><parent>{parent}</parent><child>{child}</child>{pose}{tags}{more}</joint>'
    )


def sdf(*parts, version="1.7", name="arm", attributes=""):
    return f'<sdf version="{version}"><model name="{name}"{attributes}>{"".join(parts)}</model></sdf>'


FIXED = '<joint name="mount" type="fixed"><parent>world</parent><child>base</child></joint>'
P = "<pose>0.2 0.1 0.4 0.3 -0.5 0.7</pose>"
PA = "<pose>0.3 -0.1 0.6 -0.4 0.2 1.1</pose>"
JP = "<pose>0.05 0.02 -0.1 0.6 0.1 -0.3</pose>"
CHAIN = (P, link("base"), link("a", 2.0, PA), FIXED)
MODELS = {
    "link and joint poses": sdf(*CHAIN, joint("j", "revolute", "base", "a", ("0.3 -1 0.5",), JP)),
    "prismatic": sdf(*CHAIN, joint("j", "prismatic", "base", "a", ("0 1 0",), JP)),
    "continuous": sdf(*CHAIN, joint("j", "continuous", "base", "a", ("0 1 0",)), version="1.10"),
    "universal": sdf(*CHAIN, joint("j", "universal", "base", "a", ("1 0 0", "0 1 0"), JP)),
    "screw": sdf(*CHAIN, joint("j", "screw", "base", "a", ("0 0 1",), JP, "<screw_thread_pitch>0.3</screw_thread_pitch>"), version="1.10"),
    "old screw": sdf(*CHAIN, joint("j", "screw", "base", "a", ("0 1 0",), JP, "<thread_pitch>7.0</thread_pitch>")),
    "axis in the model, by version": sdf(*CHAIN, joint("j", "revolute", "base", "a", ("0.3 -1 0.5",), JP), version="1.4"),
    "axis in the model, by flag": sdf(*CHAIN, joint("j", "revolute", "base", "a", ("0.3 -1 0.5",), JP).replace("</xyz>", "</xyz><use_parent_model_frame>true</use_parent_model_frame>"), version="1.6"),
    "axis in the joint in 1.5": sdf(*CHAIN, joint("j", "revolute", "base", "a", ("0.3 -1 0.5",), JP), version="1.5"),
    "axis in another frame": sdf(*CHAIN, joint("j", "revolute", "base", "a", ("0.3 -1 0.5",), JP).replace("<xyz>", '<xyz expressed_in="base">')),
    "poses relative to others": sdf(
        link("base", 1.0, P), link("a", 2.0, '<pose relative_to="j">0 0.1 0 0 0 0.2</pose>'), FIXED,
        joint("j", "revolute", "base", "a", ("0 1 0",), '<pose relative_to="f">0.1 0 0 0 0.3 0</pose>'),
        '<frame name="f" attached_to="base"><pose>0 0 0.3 0.1 0 0</pose></frame><frame name="tool" attached_to="a"/>',
    ),
    "joints that name frames": sdf(
        *CHAIN, '<frame name="f" attached_to="base"><pose>0 0 0.3 0.1 0 0</pose></frame>',
        '<frame name="g" attached_to="a"><pose>0 0.2 0 0.4 0 0</pose></frame>', joint("j", "revolute", "f", "g", ("0 1 0",), JP),
    ),
    "degrees and quaternions": sdf(
        link("base", 1.0, '<pose degrees="true">0 0 1 30 -60 90</pose>'), FIXED,
        link("a", 2.0, '<pose rotation_format="quat_xyzw">0.1 0 0.2 0.5 0.5 -0.5 0.5</pose>'), joint("j", "revolute", "base", "a"),
        version="1.9",
    ),
    "placement frame": sdf(P, link("base", 1.0, PA), link("a", 2.0), FIXED, joint("j", "revolute", "base", "a"), attributes=' placement_frame="base"', version="1.8"),
    "a nested model": sdf(
        P, link("base"), FIXED, f'<model name="inner"><pose>0.1 0.2 0.3 0 0.4 0</pose>{link("a", 2.0, PA)}{link("b", 1.0)}{joint("k", "revolute", "a", "b", ("0 1 0",))}</model>',
        joint("j", "revolute", "base", "inner::a", ("1 0 0",)), version="1.8",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", MODELS.values(), ids=MODELS)
def test_poses_masses_and_torques_are_those_of_drake(text):
    pytest.importorskip("pydrake")
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    robot = cr.load(text)
    assert plant.num_positions() == robot.nq
    rng = np.random.default_rng(3)
    q, qd = rng.uniform(-1, 1, (2, robot.nq))
    context = plant.CreateDefaultContext()
    theirs, rates, order = np.zeros(robot.nq), np.zeros(robot.nq), np.zeros(robot.nq, dtype=int)
    joints = {plant.get_joint(index).name(): plant.get_joint(index) for index in plant.GetJointIndices()}
    for places in robot.model.layout.joints:
        peer = joints[places.joint.name.rpartition("::")[2]]
        theirs[peer.position_start() :][: places.joint.kind.nq] = q[places.q]
        rates[peer.velocity_start() :][: places.joint.kind.nv] = qd[places.v]
        order[places.v] = range(peer.velocity_start(), peer.velocity_start() + places.joint.kind.nv)
    plant.SetPositions(context, theirs)
    plant.SetVelocities(context, rates)
    for body in robot.model.links[1:]:
        peer = plant.GetBodyByName(body.name.rpartition("::")[2])
        X = plant.EvalBodyPoseInWorld(context, peer).GetAsMatrix4()
        np.testing.assert_allclose(robot.pose(q, body.name), X, atol=1e-13)
    M = plant.CalcMassMatrix(context)[np.ix_(order, order)]
    np.testing.assert_allclose(robot.mass_matrix(q), M, atol=1e-12)
    gravity = plant.CalcGravityGeneralizedForces(context)[order]
    np.testing.assert_allclose(robot.gravity_torque(q), -gravity, atol=1e-12)
    bias = plant.CalcBiasTerm(context)[order]
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, 0 * qd), bias - gravity, atol=1e-12)


def test_frames_keep_their_names_and_places():
    robot = cr.load(MODELS["poses relative to others"])
    assert [frame.name for frame in robot.model.frames] == ["f", "tool"]
    np.testing.assert_allclose(robot.pose([0.3], "tool"), robot.pose([0.3], "a"), atol=1e-15)
    robot = cr.load(MODELS["a nested model"])
    assert [body.name for body in robot.model.links] == ["world", "base", "inner::a", "inner::b"]


def test_limits_friction_springs_rotors_and_mimics():
    axis = """<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1e16</upper><effort>7</effort><velocity>-1</velocity></limit>
    <dynamics><damping>0.1</damping><friction>0.2</friction><spring_stiffness>3</spring_stiffness><spring_reference>0.4</spring_reference></dynamics></axis>
    <drake:rotor_inertia>0.01</drake:rotor_inertia><drake:gear_ratio>10</drake:gear_ratio>"""
    follower = '<axis><xyz>0 1 0</xyz><mimic joint="j"><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic></axis>'
    text = sdf(
        *CHAIN, link("b"), joint("j", "revolute", "base", "a", (), "", axis), joint("k", "revolute", "a", "b", (), "", follower),
        attributes=' xmlns:drake="drake.mit.edu"', version="1.11",
    )  # fmt: skip
    robot = Robot.from_sdf(text)
    (dof,) = robot.model.layout.joints[0].joint.dofs
    assert (dof.lower, dof.upper, dof.effort, dof.velocity) == (-1, math.inf, 7, math.inf)
    assert (dof.viscous, dof.coulomb, dof.stiffness, dof.rest, dof.armature) == (0.1, 0.2, 3, 0.4, 1.0)
    mimic = next(j.mimic for j in robot.model.joints if j.name == "k")
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("j", 2.0, pytest.approx(0.3))
    assert robot.nv == 1


def test_a_free_model_is_fixed_where_it_stands_or_set_free():
    text = sdf(P, link("base"))
    assert cr.load(text).nv == 0
    np.testing.assert_allclose(cr.load(text).pose([], "base")[:3, 3], [0.2, 0.1, 0.4])
    free = cr.load(text, floating_base=True)
    assert (free.nv, free.model.joints[0].name) == (6, "floating_base")
    with pytest.warns(ModelWarning, match=r"the links 'base', 'a' are not joined to the rest: they are fixed"):
        cr.load(sdf(link("base"), link("a")))


def test_a_static_model_does_not_move():
    assert cr.load(sdf("<static>true</static>", *CHAIN, joint("j", "revolute", "base", "a"))).nv == 0


def test_loops_become_constraints():
    text = sdf(*CHAIN, link("b"), joint("j", "revolute", "base", "a"), joint("k", "revolute", "base", "b"), "{}")
    for type_, kind, equations in (("ball", "point", 3), ("fixed", "weld", 6)):
        robot = cr.load(text.format(joint("loop", type_, "a", "b", ())))
        (constraint,) = robot.model.constraints
        assert (constraint.kind, constraint.size, constraint.link_a, constraint.link_b) == (kind, equations, "a", "b")
        np.testing.assert_allclose(robot.loops.residual(np.zeros(2)), 0, atol=1e-12)
    with pytest.warns(ModelWarning, match=r"'loop' closes a loop: its limits, friction and spring are not modelled"):
        robot = cr.load(text.format(joint("loop", "revolute", "a", "b", ("0.3 -1 0.5",), JP)))
    assert robot.model.constraints[0].kind == "hinge"
    np.testing.assert_allclose(robot.loops.residual(np.zeros(2)), 0, atol=1e-12)
    with pytest.warns(ModelWarning, match=r"'loop' \(prismatic\) closes a loop, .*it is not modelled"):
        cr.load(text.format(joint("loop", "prismatic", "a", "b")))


def test_what_is_not_modelled_is_said():
    base = sdf(*CHAIN, joint("j", "revolute", "base", "a"), "{}")
    notes = {
        link("c", 1.0, "<gravity>false</gravity>") + joint("c", "fixed", "a", "c", ()): "'c' has gravity switched off",
        link("c", 1.0, "<kinematic>true</kinematic>") + joint("c", "fixed", "a", "c", ()): "'c' is kinematic",
        '<link name="c"/>' + joint("c", "fixed", "a", "c", ()): "'c' has no <inertial>: SDF gives it a mass of 1 kg",
        joint("g", "gearbox", "base", "a"): "'g' is a gearbox, which couples two others: it is not modelled",
    }
    for element, note in notes.items():
        with pytest.warns(ModelWarning, match=note):
            cr.load(base.format(element))


WRONG = [
    ("<sdf><model name='m'/></sdf>", FormatError, "needs its version, such as version='1.7', got None"),
    ("<sdf version='2.0'><model name='m'/></sdf>", FormatError, "is of version 2.0; versions 1.2 to 1.12 are read"),
    ("<sdf version='1.7'/>", FormatError, "has no <model>"),
    ("<sdf version='1.7'><model name='m'/></sdf>", FormatError, "has no links; a robot needs at least one"),
    (sdf(link("base"), "<jiont name='a'/>"), FormatError, "unknown element; did you mean <joint>"),
    (sdf(link("base").replace("mass>", "mas>")), FormatError, "unknown element; did you mean <mass>"),
    (sdf(link("base"), joint("j", "revolute", "base", "none")), FormatError, "has no frame named 'none'"),
    (sdf(link("base"), joint("j", "revolute", "base", "base")), FormatError, "joins link 'base' to itself"),
    (sdf(*CHAIN, joint("j", "turning", "base", "a")), FormatError, "unknown joint type 'turning'; SDF has revolute"),
    (sdf(*CHAIN, joint("j", "revolute", "base", "a", ())), FormatError, "is revolute and needs an <axis>"),
    (sdf(*CHAIN, joint("j", "universal", "base", "a")), FormatError, "is universal and needs an <axis2>"),
    (sdf(*CHAIN, joint("j", "screw", "base", "a")), FormatError, "is a screw and needs its <screw_thread_pitch>"),
    (sdf(*CHAIN, joint("j", "revolute", "base", "a", ("0 0 0",))), FormatError, "has a zero axis"),
    (sdf(*CHAIN, joint("j", "revolute", "base", "a", ("0 1",))), FormatError, "should be 3 numbers, got 2"),
    (sdf(link("base", 1.0, "<pose>0 0 0 0 0 up</pose>")), FormatError, "should be numbers separated by spaces"),
    (sdf(link("base", 1.0, "<pose>0 0 0 0 0 nan</pose>")), FormatError, "is not finite"),
    (sdf(link("base", 1.0, '<pose relative_to="f"/>'), '<frame name="f"><pose relative_to="base"/></frame>'), FormatError, "go in a circle: base -> f -> base"),
    (sdf(link("base", 1.0, '<pose frame="f">0 0 0 0 0 0</pose>'), version="1.5"), FormatError, "is of SDF 1.5 and 1.6"),
    (sdf(link("base").replace("<inertial>", '<inertial auto="true">')), FormatError, "is to be computed from shapes"),
    (sdf(link("base"), "<include><uri>model://none</uri></include>"), FormatError, "cannot find 'model://none'"),
    (sdf(link("base"), "<include><uri>https://x.y/z</uri></include>"), FormatError, "in the network, which is not read"),
    (sdf(link("base"), link("base")), FormatError, "has a name that another link, or the world, has"),
    (sdf(link("base"), "<static>maybe</static>"), FormatError, "'maybe' should be true or false"),
    (sdf(link("base", -1.0)), ModelError, "has a negative mass"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "error", "pattern"), WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_what_is_wrong_is_refused_by_line_and_name(text, error, pattern):
    refused(lambda: Robot.from_sdf(text, check="strict"), error, pattern)


def test_other_formats_are_no_sdf():
    refused(lambda: Robot.from_sdf("<robot/>"), FormatError, "is not SDF: its root element is <robot>, not <sdf>")


def world(*parts):
    return f'<sdf version="1.7"><world name="w"><gravity>0 0 -3.7</gravity>{"".join(parts)}</world></sdf>'


def test_a_world_gives_its_model_and_its_gravity():
    ground = f'<model name="ground"><static>true</static>{link("floor")}</model>'
    arm = MODELS["link and joint poses"].partition("<model")[2].rpartition("</sdf>")[0]
    with pytest.warns(ModelWarning, match=r"the models 'ground' of the file are left out"):
        robot = cr.load(world(ground, "<model", arm))
    assert (robot.name, robot.nv, robot.model.gravity.z) == ("arm", 1, -3.7)
    two = world("<model", arm, f'<model name="other">{link("x")}</model>')
    refused(lambda: cr.load(two), FormatError, r"has 2 models \('arm', 'other'\); choose one with model='arm'")
    refused(lambda: cr.load(two, model="oter"), UnknownNameError, "has no model named 'oter'; did you mean 'other'")
    with pytest.warns(ModelWarning, match="'arm' of the file are left out"):
        assert cr.load(two, model="other").name == "other"


def test_included_models_are_found_by_their_folders(tmp_path, monkeypatch):
    folder = tmp_path / "models" / "hand"
    folder.mkdir(parents=True)
    (folder / "model.config").write_text(
        "<model><sdf version='1.4'>old.sdf</sdf><sdf version='1.10'>new.sdf</sdf></model>"
    )
    (folder / "new.sdf").write_text(sdf(link("palm"), name="hand"))
    assert cr.load(folder).name == "hand"  # the newest version
    text = sdf(*CHAIN, joint("j", "revolute", "base", "a"), "<include><uri>model://hand</uri><name>left</name><pose>0 0 1 0 0 0</pose></include>", joint("k", "revolute", "a", "left::palm", ("0 1 0",)))  # fmt: skip
    robot = cr.load(text, search_paths=[tmp_path / "models"])
    assert [body.name for body in robot.model.links] == ["world", "base", "a", "left::palm"]
    np.testing.assert_allclose(robot.pose([0.0, 0.0], "left::palm")[:3, :3], robot.pose([0.0, 0.0], "base")[:3, :3])
    (tmp_path / "models" / "arm.sdf").write_text(text)
    assert cr.load(tmp_path / "models" / "arm.sdf") == robot  # upward from the file
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "models"))
    assert cr.load(text) == robot
    (folder / "new.sdf").write_text(sdf(link("palm"), "<include><uri>model://hand</uri></include>", name="hand"))
    refused(lambda: cr.load(text), FormatError, "nests models deeper than 30 levels; a model may include itself")


def test_geometry_is_kept():
    shapes = """<visual name="v"><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>
    <material><diffuse>1 0 0 1</diffuse></material></visual>
    <collision name="c"><geometry><mesh><uri>model://arm/a.stl</uri><scale>2 2 2</scale></mesh></geometry></collision>"""
    first, second = cr.load(sdf(link("base", more=shapes))).model.geometries
    assert (first.shape, first.role, first.color, first.link) == (Box(first.shape.size), "visual", (1, 0, 0, 1), "base")
    assert (tuple(first.shape.size), first.origin.translation.z) == ((1, 2, 3), 1)
    assert isinstance(second.shape, Mesh)
    assert (second.shape.path, second.role, second.shape.scale.x) == ("model://arm/a.stl", "collision", 2)
    odd = '<visual name="v"><geometry><heightmap/></geometry></visual>'
    with pytest.warns(ModelWarning, match=r"the geometry of visual 'v' on link 'base' is a heightmap: it is left out"):
        cr.load(sdf(link("base", more=odd)))
