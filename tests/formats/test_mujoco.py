"""Compiled models of MuJoCo as robots: the same poses, mass matrices and bias forces as MuJoCo itself."""

import math
import sys

import numpy as np
import pytest
from peers import robots_folder, stripped
from refusals import refused

import chainrule as cr
from chainrule import FormatError, ModelError, ModelWarning, Robot
from chainrule.model import Free, Spherical
from chainrule.robot.building import from_mujoco

pytestmark = [pytest.mark.both_paths, pytest.mark.peer]

mujoco = pytest.importorskip("mujoco")

GEOM = '<geom type="box" size="0.05 0.1 0.2" pos="0.1 0 0.2" euler="20 30 40"/>'
ARM = f"""<mujoco model="arm"><compiler angle="degree"/><option gravity="1 2 -9"/><worldbody>
<body name="a" pos="0 0 0.3" euler="10 20 30">{GEOM}
 <joint name="slide" type="slide" axis="1 0.2 0" ref="0.1"/>
 <joint name="hinge" axis="0 1 0.3" pos="0.1 0 0.05" ref="15" range="-90 80" armature="0.2" damping="0.3" frictionloss="0.4"
  stiffness="2" springref="25" actuatorfrcrange="-5 3"/>
 <body name="b" pos="0.2 0 0.1">{GEOM}<joint name="ball" type="ball" pos="0 0.05 0"/><site name="tool" pos="0 0 0.3" euler="0 90 0"/>
  <body pos="0 0 0.4">{GEOM}</body></body></body>
<body name="free">{GEOM}<freejoint name="float"/></body></worldbody>
<actuator><motor joint="slide" gear="3" armature="0.5" damping="0.1" forcerange="-2 2"/></actuator>
<keyframe><key name="home" qpos="0.1 0.2 1 0 0 0 1 2 3 0 1 0 0"/></keyframe></mujoco>"""
COUPLED = f"""<mujoco><worldbody><body name="a">{GEOM}<joint name="x" axis="0 1 0" ref="10"/></body>
<body name="b" pos="1 0 0">{GEOM}<joint name="y" axis="1 0 0" ref="-20"/></body>
<body name="c" pos="2 0 0">{GEOM}<joint name="z" axis="0 0 1"/><site name="s" pos="0 0 1"/></body></worldbody>
<equality><joint joint1="y" joint2="x" polycoef="0.1 2 0 0 0"/><connect body1="a" body2="c" anchor="0.1 0.2 0.3"/>
<weld body1="b" body2="c" anchor="0.1 0 0"/><joint joint1="z" joint2="x" polycoef="0 1 1 0 0"/></equality>
<keyframe><key qpos="0.1 0.2 0.3"/></keyframe></mujoco>"""


def mapping(robot, model, q, qd):
    """MuJoCo's qpos, P with qvel = P qd, and the part of qacc that qd makes."""
    qpos, P, drift = np.zeros(model.nq), np.zeros((model.nv, robot.nv)), np.zeros(model.nv)
    for body in robot.model.bodies:
        kind = body.joint.kind
        if not kind.nv:
            continue
        joint = model.joint(body.joint.name)
        at, v, own = joint.qposadr[0], joint.dofadr[0], np.array(body.coordinates(q.tolist()), dtype=float)
        mine = slice(body.first_v, body.first_v + kind.nv)
        if isinstance(kind, Free):
            qpos[at : at + 7] = own[[0, 1, 2, 6, 3, 4, 5]]
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, qpos[at + 3 : at + 7])
            R = R.reshape(3, 3)
            P[v : v + 3, mine][:, 3:], P[v + 3 : v + 6, mine][:, :3] = R, np.eye(3)
            drift[v : v + 3] = R @ np.cross(qd[mine][:3], qd[mine][3:])
        elif kind.nq == 4:
            qpos[at : at + 4], P[v : v + 3, mine] = own[[3, 0, 1, 2]], np.eye(3)
        else:
            qpos[at], P[v, body.first_v] = own[0], body.multiplier
    return qpos, P, drift


def assert_agrees(robot, model, tolerance=1e-10):
    robot = robot.without_friction().without_spring()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_SPRING
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_DAMPER
    data = mujoco.MjData(model)
    rng = np.random.default_rng(2)
    q = robot.integrate(robot.neutral(), rng.uniform(-1, 1, robot.nv))
    qd, qdd = rng.uniform(-1, 1, (2, robot.nv))
    data.qpos[:], P, drift = mapping(robot, model, q, qd)
    data.qvel[:] = P @ qd
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    for i in range(model.nbody):
        name = model.body(i).name
        if name and i:
            X = np.eye(4)
            X[:3, :3], X[:3, 3] = data.xmat[i].reshape(3, 3), data.xpos[i]
            np.testing.assert_allclose(robot.pose(q, name), X, atol=tolerance)
    scale = max(1.0, np.abs(M).max())
    np.testing.assert_allclose(robot.mass_matrix(q), P.T @ M @ P, atol=tolerance * scale)
    theirs = P.T @ (M @ (P @ qdd + drift) + data.qfrc_bias)
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, qd, qdd), theirs, atol=tolerance * max(1, np.abs(theirs).max())
    )


def load_arm():
    """The arm, with the warning of efforts that differ by direction."""
    with pytest.warns(ModelWarning, match="'hinge': its efforts are limited to -5 and 3; the larger counts here"):
        return cr.load(mujoco.MjModel.from_xml_string(ARM))


def test_a_compiled_model_moves_as_in_mujoco():
    model, robot = mujoco.MjModel.from_xml_string(ARM), load_arm()
    assert robot.name == "arm"
    assert_agrees(robot, model)


def test_properties_of_joints_are_taken_over():
    robot = load_arm()
    by_name = {joint.name: joint for joint in robot.model.joints}
    hinge, slide = by_name["hinge"].dofs[0], by_name["slide"].dofs[0]
    assert (hinge.lower, hinge.upper) == pytest.approx((-math.pi / 2, math.radians(80)))
    assert (hinge.armature, hinge.viscous, hinge.coulomb, hinge.stiffness, hinge.effort) == (0.2, 0.3, 0.4, 2, 5)
    assert hinge.rest == pytest.approx(math.radians(25))
    assert (slide.armature, slide.viscous, slide.effort) == pytest.approx((4.5, 0.9, 6))
    assert isinstance(by_name["ball"].kind.inner, Spherical)
    np.testing.assert_allclose(robot.configurations["home"], [0.1, 0.2, 0, 0, 0, 1, 1, 2, 3, 1, 0, 0, 0])
    assert [frame.name for frame in robot.model.frames] == ["tool"]
    assert len(robot.model.geometries) == 4
    assert tuple(robot.gravity) == (1, 2, -9)


def test_a_text_and_its_compiled_model_are_one_robot():
    with pytest.warns(ModelWarning):
        ours, theirs = cr.load(ARM), load_arm()
    rng = np.random.default_rng(4)
    q, (qd, qdd) = ours.integrate(ours.neutral(), rng.uniform(-1, 1, ours.nv)), rng.uniform(-1, 1, (2, ours.nv))
    np.testing.assert_allclose(theirs.inverse_dynamics(q, qd, qdd), ours.inverse_dynamics(q, qd, qdd), atol=1e-10)
    assert [(joint.name, joint.type) for joint in theirs.model.joints] == [(j.name, j.type) for j in ours.model.joints]


def test_equalities_become_mimics_and_constraints():
    theirs, ours = cr.load(mujoco.MjModel.from_xml_string(COUPLED)), Robot.from_mjcf(COUPLED)
    mimics = [{j.name: j.mimic for j in robot.model.joints if j.mimic} for robot in (ours, theirs)]
    assert mimics[1]["y"].joint == "x"
    assert (mimics[1]["y"].multiplier, mimics[1]["y"].offset) == pytest.approx(
        (mimics[0]["y"].multiplier, mimics[0]["y"].offset)
    )
    np.testing.assert_array_equal(theirs.configurations["key0"], [0.1])
    q = np.array([0.3])
    np.testing.assert_allclose(theirs.loops.residual(q), ours.loops.residual(q), atol=1e-12)
    assert [constraint.kind for constraint in theirs.model.constraints] == ["point", "weld"]


def test_a_specification_is_compiled():
    spec = mujoco.MjSpec.from_string(COUPLED.partition("<equality>")[0] + "</mujoco>")
    assert cr.load(spec).nv == 3
    spec.worldbody.add_body(name="empty").add_joint()
    refused(lambda: cr.load(spec), FormatError, "the MjSpec does not compile: .*mass and inertia of moving bodies")


@pytest.mark.parametrize(
    "name",
    ["panda_description/urdf/panda.urdf", "talos_data/robots/talos_reduced.urdf", "go2_description/urdf/go2.urdf"],
)
@pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")
def test_real_robots_compiled_by_mujoco(name):
    text = stripped(robots_folder() / name, floating="panda" not in name, for_mujoco=True)
    model = mujoco.MjModel.from_xml_string(text)
    assert_agrees(cr.load(model), model, 1e-9)


def test_files_and_texts_are_read_by_the_compiler(tmp_path):
    tube = '<mujoco><worldbody><replicate count="3" offset="1 0 0"><body><joint axis="0 1 0"/><geom size="0.1" pos="0 0 1"/></body></replicate></worldbody></mujoco>'
    (tmp_path / "a.xml").write_text(tube)
    assert cr.load(tmp_path / "a.xml").nv == 3
    assert cr.load(tube).nv == 3
    refused(lambda: cr.load("<mujoco><wrong/></mujoco>"), FormatError, "line 1, <wrong>: MuJoCo refuses it: ")


def test_what_is_not_modelled_is_said():
    text = f"""<mujoco><option density="1.2"/><worldbody><body name="a" gravcomp="1">{GEOM}<joint name="x" damping="1 2"/>
    <site name="s"/><body name="m">{GEOM}<joint name="q" type="ball" range="0 30"/><site name="r"/></body></body></worldbody>
    <tendon><spatial name="t"><site site="s"/><site site="r"/></spatial></tendon></mujoco>"""
    with pytest.warns(ModelWarning) as caught:
        cr.load(mujoco.MjModel.from_xml_string(text))
    for note in ("tendon 't'", "fluid", "gravcomp", "damping is not linear", "limit on its angle"):
        assert note in str(caught[0].message)
    spring = f'<mujoco><worldbody><body>{GEOM}<joint type="free" name="s" stiffness="2"/></body></worldbody></mujoco>'
    message = r"joint 's' \(free\) has a spring, which only hinges, slides and balls can have here"
    refused(lambda: cr.load(mujoco.MjModel.from_xml_string(spring)), ModelError, message)


def test_other_things_and_a_missing_package(monkeypatch):
    refused(lambda: from_mujoco("arm.xml"), FormatError, "from_mujoco takes a mujoco.MjModel or MjSpec, got str")
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(cr.MissingPackageError, match="needs the package mujoco, which is not installed"):
        cr.load(COUPLED)
