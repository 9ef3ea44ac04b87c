"""MJCF: the models read are MuJoCo's own, by poses, mass matrix and bias; and what cannot be one is refused."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import mujoco
import numpy as np
import pytest

from chainrule.algorithms import kinematics
from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.rnea import bias
from chainrule.errors import ChainruleError, FormatError
from chainrule.formats.mjcf.reader import from_mjcf
from chainrule.formats.urdf import from_urdf
from chainrule.model import Fixed, Free, Model
from chainrule.model.edits import merge_fixed
from chainrule.spatial import Quaternion

pytestmark = [pytest.mark.interpreted, pytest.mark.peer]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo logs its warnings to a file in the working directory."""
    monkeypatch.chdir(tmp_path)


def compare(xml: str | Path, seed: int = 0, tolerance: float = 1e-9) -> Model:
    """Read a model here and with MuJoCo, and compare them in random states."""
    theirs = mujoco.MjModel.from_xml_path(str(xml)) if isinstance(xml, Path) else mujoco.MjModel.from_xml_string(xml)
    ours = from_mjcf(xml)
    assert tuple(ours.gravity) == pytest.approx(_gravity(theirs))
    merged = merge_fixed(ours)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        data = mujoco.MjData(theirs)
        q, qd, G, drift = _random_state(ours, theirs, data, rng)
        mujoco.mj_forward(theirs, data)
        M = np.zeros((theirs.nv, theirs.nv))
        for i, unit in enumerate(np.eye(theirs.nv)):
            mujoco.mj_mulM(theirs, data, M[i], unit)
        scale = 1 + np.abs(M).max(initial=0)
        np.testing.assert_allclose(_square(mass_matrix(ours, q)), G.T @ M @ G, atol=tolerance * scale)
        np.testing.assert_allclose(_square(mass_matrix(merged, q)), G.T @ M @ G, atol=tolerance * scale)
        dry = np.zeros(theirs.nv)
        if not theirs.opt.disableflags & (
            mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        ):
            dry = theirs.dof_frictionloss * np.sign(data.qvel)
        # a free joint's armature resists changes of the body's own coordinates here, of the world's in MuJoCo
        free = np.diag(theirs.dof_armature)
        expected = G.T @ ((M - free) @ drift + data.qfrc_bias - data.qfrc_passive + dry)
        scale = 1 + np.abs(expected).max(initial=0)
        np.testing.assert_allclose(bias(ours, q, qd), expected, atol=10 * tolerance * scale)
        _compare_poses(ours, theirs, data, q)
    return ours


def _gravity(theirs: mujoco.MjModel) -> tuple[float, ...]:
    off = theirs.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    return (0.0, 0.0, 0.0) if off else tuple(theirs.opt.gravity)


def _square(rows: list[list[float]]) -> np.ndarray:
    return np.array(rows, dtype=float).reshape(len(rows), len(rows))


def _random_state(ours, theirs, data, rng):
    """q and qd here, written to `data` for MuJoCo; G with qvel = G qd, and the drift dG/dt qd of a free body."""
    q = [0.0] * ours.nq
    qd = rng.uniform(-1, 1, ours.nv)
    G, drift = np.zeros((theirs.nv, ours.nv)), np.zeros(theirs.nv)
    moving = [body for body in ours.bodies if body.joint.kind.nv]
    assert len(moving) == theirs.njnt
    for body in moving:
        if not body.joint.mimic:
            kind = body.joint.kind
            q[body.first_q : body.first_q + kind.nq] = kind.integrate(
                kind.neutral(), rng.uniform(-1, 1, kind.nv).tolist()
            )
    for k, body in enumerate(moving):
        own = body.coordinates(q)
        at_q, at_v, nv = theirs.jnt_qposadr[k], theirs.jnt_dofadr[k], body.joint.kind.nv
        columns = slice(body.first_v, body.first_v + nv)
        G[at_v : at_v + nv, columns] = np.eye(nv) * body.multiplier
        if isinstance(body.joint.kind, Free):
            R = np.array([list(row) for row in Quaternion(*own[3:]).rotation()])
            omega, v = qd[columns][:3], qd[columns][3:]
            G[at_v : at_v + 6, columns] = np.block([[np.zeros((3, 3)), R], [np.eye(3), np.zeros((3, 3))]])
            drift[at_v : at_v + 3] = R @ np.cross(omega, v)
            own = [*own[:3], own[6], *own[3:6]]
        elif nv == 3:
            own = [own[3], *own[:3]]
        data.qpos[at_q : at_q + len(own)] = own
    data.qvel[:] = G @ qd
    return q, qd.tolist(), G, drift


def _compare_poses(ours, theirs, data, q) -> None:
    poses = kinematics.poses(ours, q)
    bodies = [link.name for link in ours.links if "/" not in link.name]
    assert len(bodies) == theirs.nbody
    for i, name in enumerate(bodies):
        if theirs.body(i).name:
            assert theirs.body(i).name == name
        T = poses[ours.index_of[name]]
        np.testing.assert_allclose(list(T.translation), data.xpos[i], atol=1e-9)
        np.testing.assert_allclose([x for row in T.rotation for x in row], data.xmat[i], atol=1e-9)
    for frame in ours.frames:
        T = kinematics.pose(ours, q, frame.name)
        site = data.site(frame.name.removeprefix("site/"))
        np.testing.assert_allclose(list(T.translation), site.xpos, atol=1e-9)
        np.testing.assert_allclose([x for row in T.rotation for x in row], site.xmat, atol=1e-9)


def world(bodies: str, before: str = "", after: str = "") -> str:
    return f"<mujoco model='sample'>{before}<worldbody>{bodies}</worldbody>{after}</mujoco>"


def hinged(contents: str, joint: str = "<joint name='j' axis='0 1 0'/>") -> str:
    return f"<body name='b' pos='.1 .2 .3' euler='10 20 30'>{joint}{contents}</body>"


ARM = """
<mujoco model="arm">
  <compiler angle="radian" autolimits="true" eulerseq="XYZ"/>
  <option gravity="0.5 -1 -9.7"/>
  <default>
    <joint damping="0.8" armature="0.05" frictionloss="0.3"/>
    <default class="link">
      <geom type="capsule" size="0.04" density="900"/>
      <default class="wrist"><joint axis="0 1 0" damping="0.1"/><geom size="0.02"/></default>
    </default>
  </default>
  <worldbody>
    <light pos="0 0 3"/><camera name="eye" pos="1 1 1"/>
    <geom type="plane" size="1 1 .1"/>
    <site name="origin" pos="0 0 .1"/>
    <body name="base" pos="0 0 .1" childclass="link">
      <geom type="cylinder" size=".1 .05" density="1000"/>
      <body name="shoulder" pos="0 0 .1">
        <joint name="pan" axis="0 0 2" range="-2.5 2.5"/>
        <joint name="lift" axis="0 1 0" pos="0 0 .05" range="-1 1" actuatorfrcrange="-40 40"/>
        <geom fromto="0 0 0 .3 0 .1"/>
        <body name="forearm" pos=".3 0 .1" euler="0.1 0.2 0.3">
          <joint name="elbow" axis="0 1 0" pos="0 0.02 0" ref="0.4" stiffness="3" springref="0.2"/>
          <inertial pos=".1 .01 0" mass="1.5" fullinertia=".01 .02 .025 .001 -.002 .0005"/>
          <geom type="box" size="1 1 1" mass="100"/>
          <body name="hand" pos=".25 0 0" childclass="wrist">
            <joint name="roll" class="link" axis="1 0 0"/>
            <joint name="bend"/>
            <geom fromto="0 0 0 .1 0 0"/>
            <geom type="ellipsoid" size=".03 .05 .02" pos=".1 0 0" zaxis="1 1 0" mass=".2"/>
            <site name="grip" pos=".12 0 0" xyaxes="0 1 0 -1 0 1"/>
            <site name="hand" pos="0 0 .1"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="pan" gear="50"/></actuator>
  <sensor><jointpos joint="pan"/></sensor>
  <keyframe><key name="home"/></keyframe>
</mujoco>
"""

QUADRUPED = """
<mujoco model="walker">
  <compiler inertiafromgeom="true" inertiagrouprange="1 3"/>
  <default><geom group="2"/><joint axis="0 1 0" limited="true" range="-60 60"/>
    <default class="seen"><geom group="0" contype="0" conaffinity="0"/></default></default>
  <worldbody>
    <body name="trunk" pos="0 0 .5" quat="2 0 0 1">
      <freejoint name="root"/>
      <inertial pos="0 0 0" mass="99" diaginertia="1 1 1"/>
      <geom type="box" size=".3 .1 .05" pos=".02 .01 0"/>
      <geom class="seen" type="box" size="1 1 1"/>
      <frame pos=".3 0 0" euler="0 0 15">
        <frame pos="0 .1 0">
          <body name="left"><joint name="l1" pos="0 0 .01"/><geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02"/>
            <body name="left_shin" pos="0 0 -.2"><joint name="l2"/><geom type="cylinder" fromto="0 0 0 .01 0 -.2" size=".015"/></body></body>
        </frame>
        <body name="right" pos="0 -.1 0" axisangle="1 1 0 25"><joint name="r1" type="ball" pos=".01 .02 .03" damping=".1" armature=".01" limited="false"/>
          <geom type="capsule" size=".02 .1" pos="0 0 -.1"/></body>
      </frame>
      <body name="head" pos="-.3 0 0"><geom type="sphere" size=".07"/></body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("xml", [ARM, QUADRUPED], ids=["arm", "quadruped"])
def test_realistic_robots_are_mujocos(xml: str) -> None:
    compare(xml)


INERTIAL = "<inertial pos='.1 .2 .3' mass='2' diaginertia='.1 .2 .25' axisangle='1 2 3 40'/>"

SAMPLES = {
    "inertial": world(hinged(INERTIAL)),
    "geoms": world(
        hinged(
            "<geom size='.1'/><geom type='box' size='.1 .2 .3' pos='1 0 0' euler='10 20 30'/>"
            "<geom type='capsule' size='.1 .2' zaxis='1 2 3'/><geom type='cylinder' size='.1 .2' mass='3' zaxis='0 0 -1'/>"
            "<geom type='ellipsoid' size='.1 .2 .3' xyaxes='1 1 0 0 1 1' density='300'/>"
            "<geom type='box' size='.3 .3 .3' mass='0'/>"
        )
    ),
    "fromto": world(
        hinged("".join(f"<geom type='{t}' size='.1 .7' fromto='0 .1 .2 .5 .6 -.7'/>" for t in ("capsule", "cylinder", "box", "ellipsoid")))
    ),
    "slide, ball and slide in one body": world(
        hinged(INERTIAL, "<joint type='slide' axis='1 1 0'/><joint type='ball' pos='.1 .2 .3'/><joint type='slide' axis='0 1 0'/>")
    ),
    "four anchored joints in one body": world(
        hinged(
            INERTIAL,
            "<joint pos='.1 0 0'/><joint axis='0 1 0' pos='0 .2 0'/><joint type='slide' axis='1 0 1' pos='3 3 3'/>"
            "<joint axis='1 0 0' pos='0 0 .3' ref='30'/>",
        )
    ),
    "refs and springs": world(
        hinged(INERTIAL, "<joint axis='1 0 0' pos='0 1 0' ref='40' stiffness='5' springref='-20' range='-10 90'/>")
        + hinged(INERTIAL, "<joint type='slide' ref='.5' stiffness='5' springref='.2'/>").replace("'b'", "'c'")
    ),
    "free joint with damping and armature": world(
        "<body name='b' pos='1 2 3' euler='10 20 30'><joint type='free' damping='.7' armature='.3'/>" + INERTIAL + "</body>"
    ),
    "ball with damping, armature and friction": world(
        hinged(INERTIAL, "<joint type='ball' damping='.7' armature='.3' frictionloss='.2' pos='0 1 0'/>")
    ),
    "intrinsic and extrinsic euler": world(hinged(INERTIAL), "<compiler eulerseq='zYx'/>"),
    "radian": world(hinged(INERTIAL, "<joint ref='.3'/>"), "<compiler angle='radian'/>"),
    "joints, geoms and inertials in frames": world(
        "<frame pos='1 0 0' quat='1 1 0 0'><body name='b' pos='0 1 0'><frame euler='0 30 0' pos='0 0 .2'><joint pos='.1 0 0' axis='1 0 0'/>"
        f"<joint type='ball' pos='.1 .2 .3'/>{INERTIAL}<site name='s' euler='1 2 3'/></frame></body>"
        "<body name='c'><frame pos='0 0 1'><joint/><geom type='box' size='.1 .2 .3'/><frame zaxis='1 0 0'><geom size='.2' pos='1 0 0'/>"
        "<body name='d'><joint axis='1 0 0'/><geom size='.1'/></body></frame></frame></body></frame>"
    ),
    "welded bodies": world(
        hinged(INERTIAL + "<body name='w' pos='1 0 0' zaxis='1 1 1'><geom size='.1'/><body name='x' pos='0 1 0'><geom size='.2'/></body></body>")
        + "<body name='still' pos='1 1 1'><geom type='plane' size='1 1 1'/><geom size='1'/></body>"
    ),
    "inertiafromgeom true": world(hinged(INERTIAL + "<geom size='.2'/>"), "<compiler inertiafromgeom='true'/>"),
    "inertiafromgeom true without mass": world(
        hinged(INERTIAL + "<geom size='.2' mass='0'/>"), "<compiler inertiafromgeom='true'/>"
    ),
    "inertiafromgeom false": world(
        "<body name='a'><geom size='.3'/>" + hinged(INERTIAL + "<geom size='.2'/>") + "</body>",
        "<compiler inertiafromgeom='false'/>",
    ),
    "bounds": world(
        hinged("<inertial pos='1 2 3' mass='.1' diaginertia='.1 .2 .25' quat='1 2 3 4'/><body name='c'/>"),
        "<compiler boundmass='.7' boundinertia='.15'/>",
    ),
    "balance": world(
        hinged("<inertial pos='1 2 3' mass='.1' fullinertia='1 2 9 .1 .2 .3'/>"), "<compiler balanceinertia='true'/>"
    ),
    "total mass": world(
        hinged(INERTIAL + "<body name='c'><joint/><geom size='.1'/></body>"), "<compiler settotalmass='7' boundmass='3'/>"
    ),
    "flags": world(
        hinged(INERTIAL, "<joint stiffness='3' damping='2' frictionloss='1' springref='50'/>"),
        "<option><flag gravity='disable' spring='disable' damper='disable' frictionloss='disable'/></option>",
    ),
    "no constraints": world(hinged(INERTIAL, "<joint frictionloss='1'/>"), "<option><flag constraint='disable'/></option>"),
    "rotors of actuators": world(
        hinged(INERTIAL, "<joint name='j' armature='.1' damping='.2'/>")
        + hinged(INERTIAL, "<joint name='k' type='ball'/>").replace("'b'", "'c'"),
        "<default><general armature='.02'/><motor damping='.3'/></default>",
        "<actuator><motor joint='j' gear='3'/><position joint='j' gear='-2' kp='1'/>"
        "<motor jointinparent='k' gear='2 1 1' armature='.5'/></actuator>",
    ),
    "sections in two parts": "<mujoco><compiler angle='radian'/><option gravity='0 1 0'/><default><geom size='.3 .2 .1'/></default>"
    "<worldbody><body name='a' euler='1 0 0'><joint/><geom type='box' size='.5'/></body></worldbody><compiler eulerseq='ZYX'/>"
    "<option timestep='.01'/><default class='main'><geom density='5'/></default>"
    "<worldbody><body name='c' euler='1 2 0'><joint axis='1 0 0'/><geom type='box' size='.5 .4'/></body></worldbody></mujoco>",
    "orientation over the class's": world(
        hinged("<geom type='box' size='.1 .2 .3' quat='1 2 3 4'/><geom type='box' size='.1 .2 .3'/>"),
        "<default><geom euler='20 30 40'/></default>",
    ),
    "no joints at all": world("<body name='a' pos='1 2 3'><geom size='.1'/></body>"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_mujocos(name: str) -> None:
    compare(SAMPLES[name])


def test_a_free_joint_with_rotors_says_along_which_axes() -> None:
    (note,) = from_mjcf(SAMPLES["free joint with damping and armature"]).notes
    assert note.startswith("joint 'joint0': its armature and dry friction act along the body's axes here")


def test_a_chain_of_200_bodies() -> None:
    link = "<body name='b{}' pos='.01 0 0'><joint axis='0 1 0' armature='1'/><geom size='.01'/>"
    model = from_mjcf(world("".join(link.format(i) for i in range(200)) + "</body>" * 200))
    assert model.nv == 200
    assert [link.name for link in model.links] == ["world", *(f"b{i}" for i in range(200))]


@pytest.mark.parametrize("seed", range(25))
def test_random_trees_are_mujocos(seed: int) -> None:
    compare(_random_model(np.random.default_rng(seed)), seed)


def _random_model(rng: np.random.Generator) -> str:
    """Bodies with random joints, anchors, frames, geoms and inertials, hung at random."""

    def words(n: int, low: float = -1.0, high: float = 1.0) -> str:
        return " ".join(repr(float(x)) for x in rng.uniform(low, high, n))

    def pose() -> str:
        turns = [
            f"quat='{words(4)}'",
            f"euler='{words(3, -180, 180)}'",
            f"axisangle='{words(3)} {words(1, -180, 180)}'",
            f"xyaxes='{words(6)}'",
        ]
        return f"pos='{words(3)}' {rng.choice([*turns, f'''zaxis='{words(3)}' ''', ''])}"

    def geom() -> str:
        shape = rng.choice(["sphere", "box", "capsule", "cylinder", "ellipsoid"])
        weight = rng.choice([f"mass='{words(1, 0.1, 2)}'", f"density='{words(1, 100, 2000)}'", ""])
        long = shape != "sphere" and rng.random() < 0.3
        return f"<geom type='{shape}' size='{words(3, 0.05, 0.3)}' {weight} " + (
            f"fromto='{words(6)}'/>" if long else f"{pose()}/>"
        )

    def joint(kind: str) -> str:
        extras = f"armature='{words(1, 0, 1)}' damping='{words(1, 0, 1)}' frictionloss='{words(1, 0, 1)}'"
        spring = (
            f"stiffness='{words(1, 0, 5)}' springref='{words(1)}' ref='{words(1)}'"
            if kind in ("hinge", "slide")
            else ""
        )
        return f"<joint type='{kind}' axis='{words(3)}' pos='{words(3)}' {extras} {spring}/>"

    def framed(text: str) -> str:
        return f"<frame {pose()}>{text}</frame>" if rng.random() < 0.3 else text

    def body(i: int, children: dict[int, list[int]], top: bool) -> str:
        kinds = ["hinge", "slide", "ball"]
        joints = [joint(str(k)) for k in rng.choice(kinds[:2], rng.integers(0, 4))]
        if rng.random() < 0.2:
            joints = [joint("slide"), joint("ball")]
        if top and rng.random() < 0.3:
            joints = ["<freejoint/>"]
        weight = "".join(framed(geom()) for _ in range(rng.integers(1, 4)))
        if rng.random() < 0.3:
            a, b = rng.uniform(0.5, 1, 2)
            weight += framed(f"<inertial {pose()} mass='{words(1, 0.5, 2)}' diaginertia='{a} {b} {(a + b) * 0.8}'/>")
        inside = (
            "".join(framed(x) if "free" not in x else x for x in joints)
            + weight
            + framed(f"<site name='s{i}' {pose()}/>")
        )
        return f"<body name='b{i}' {pose()}>{inside}{''.join(framed(body(k, children, False)) for k in children[i])}</body>"

    count = int(rng.integers(2, 8))
    children: dict[int, list[int]] = {i: [] for i in range(count)}
    tops = [0]
    for i in range(1, count):
        parent = int(rng.integers(-1, i))
        (tops if parent < 0 else children[parent]).append(i)
    sequence = "".join(rng.choice(list("xyzXYZ"), 3))
    return world(
        "".join(framed(body(i, children, True)) for i in tops),
        f"<compiler eulerseq='{sequence}'/><option gravity='{words(3)}'/>",
    )


def test_limits_efforts_and_rest_are_mujocos() -> None:
    model = from_mjcf(ARM)
    lift, elbow = (next(j for j in model.joints if j.name == name) for name in ("lift", "elbow"))
    assert (lift.dofs[0].lower, lift.dofs[0].upper, lift.dofs[0].effort) == (-1.0, 1.0, 40.0)
    assert (elbow.dofs[0].lower, elbow.dofs[0].stiffness, elbow.dofs[0].rest) == (-math.inf, 3.0, 0.2)
    degrees = from_mjcf(SAMPLES["refs and springs"])
    assert degrees.joints[0].dofs[0].upper == pytest.approx(math.pi / 2)
    unlimited = from_mjcf(world(hinged(INERTIAL, "<joint name='j' limited='false' range='-10 10'/>")))
    assert unlimited.joints[0].dofs[0].upper == math.inf


def test_names_are_made_where_there_are_none_and_never_clash() -> None:
    model = from_mjcf(
        world(
            "<body><joint/><joint/><geom size='.1'/><body name='body1'><geom size='.1'/></body></body>"
            "<body name='body1_/joint0'><joint name='joint1'/><geom size='.1'/><site name='body1'/><site/></body>"
        )
    )
    assert [link.name for link in model.links] == ["world", "body1_/joint0_", "body1_", "body1", "body1_/joint0"]
    assert [joint.name for joint in model.joints] == ["joint0", "joint1_", "body1_fixed", "joint1"]
    assert [(frame.name, frame.link) for frame in model.frames] == [("site/body1", "body1_/joint0")]
    assert isinstance(model.joints[2].kind, Fixed)
    assert model.end_effector is None


COUPLED = world(
    "".join(
        f"<body name='b{i}'><joint name='j{i}' axis='0 1 0' ref='{20 * i}' type='{'slide' if i == 3 else 'hinge'}'/>{INERTIAL}</body>"
        for i in range(5)
    ),
    after="<equality><joint joint1='j2' joint2='j1' polycoef='.3 2'/><joint joint1='j1' joint2='j0'/>"
    "<joint joint1='j3' joint2='j2' polycoef='0 .5 0 0 0'/><joint name='off' active='false' joint1='j4' joint2='j0'/></equality>",
)


def test_linear_joint_equalities_become_mimics() -> None:
    model = compare(COUPLED)
    mimics = {joint.name: joint.mimic for joint in model.joints}
    assert [name for name, mimic in mimics.items() if mimic is None] == ["j0", "j4"]
    assert {mimics[name].joint for name in ("j1", "j2", "j3")} == {"j0"}
    # at the pose of the file every coordinate equals its ref, but for the constant terms
    y1, y2, y3 = (mimics[name].multiplier * 0.0 + mimics[name].offset for name in ("j1", "j2", "j3"))
    assert y1 == pytest.approx(math.radians(20))
    assert y2 == pytest.approx(math.radians(40) + 0.3)
    assert y3 == pytest.approx(60 + 0.5 * 0.3)
    assert model.notes == ()


def test_what_is_not_modelled_is_noted() -> None:
    two = "<body name='b'><joint name='j'/>{0}<site name='s'/></body><body name='c'><joint name='k' type='ball' range='0 50'/>{0}</body>"
    extra = "<body name='m' mocap='true'/><body name='g' gravcomp='1'><freejoint align='true'/><geom size='.1'/></body>"
    model = from_mjcf(
        world(
            two.format(INERTIAL)
            + extra
            + hinged(INERTIAL, "<joint name='q' actuatorfrcrange='-1 2'/>").replace("'b'", "'d'"),
            "<option density='1.2'/>",
            "<equality><connect name='pin' body1='b' body2='c' anchor='0 0 0'/><joint joint1='j' polycoef='1'/>"
            "<joint name='curve' joint1='j' joint2='q' polycoef='0 1 1'/></equality>"
            "<tendon><fixed name='rope'><joint joint='j' coef='1'/></fixed></tendon>"
            "<actuator><motor name='winch' tendon='rope' armature='1'/></actuator>",
        )
    )
    assert model.notes == (
        "joint 'k': the limit on its angle is not modelled",
        "mocap body 'm' is fixed where the file puts it",
        "the gravity compensation (gravcomp) of body 'g' is not modelled: it has its full weight",
        "joint 'joint2': MuJoCo moves a body that carries no other to its centre of mass (align); here its frame stays in place",
        "joint 'q': its efforts are limited to -1 and 2; the larger counts here, both ways",
        "the armature and damping of 'winch' do not act on a joint: they are not modelled",
        "equality constraint <joint> in line 1 of the given text is not modelled",
        "equality constraint 'curve' is not modelled",
        "tendon 'rope' is not modelled",
        "the forces of the fluid around the model (option density and viscosity) are not modelled",
    )  # fmt: skip
    assert [(c.name, c.kind) for c in model.constraints] == [("pin", "point")]


# an L-shaped prism, which is not convex
_OUTLINE = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]
_CAP = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
POINTS = np.array([(x, y, z) for z in (0, 0.75) for x, y in _OUTLINE]) / 8
TRIANGLES = (
    [(c, b, a) for a, b, c in _CAP]
    + [(a + 6, b + 6, c + 6) for a, b, c in _CAP]
    + [t for i in range(6) for j in [(i + 1) % 6] for t in ((i, j, j + 6), (i, j + 6, i + 6))]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the prism in every format."""
    folder = tmp_path_factory.mktemp("mjcf")
    (folder / "meshes").mkdir()
    facets = [POINTS[list(t)] for t in TRIANGLES]
    binary = b"".join(struct.pack("<12fH", 0, 0, 0, *facet.ravel(), 0) for facet in facets)
    (folder / "meshes" / "part.STL").write_bytes(b" " * 80 + struct.pack("<I", len(facets)) + binary)
    text = "".join(
        "facet normal 0 0 0 outer loop " + " ".join(f"vertex {x} {y} {z}" for x, y, z in facet) + " endloop endfacet\n"
        for facet in facets
    )
    (folder / "meshes" / "ascii.stl").write_text(f"solid part\n{text}endsolid part\n")
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in POINTS)
    sides = "".join(f"f {i + 1}//1 {(i + 1) % 6 + 1}//1 {(i + 1) % 6 + 7}//1 {i - 6}//1\n" for i in range(6))
    caps = "".join(f"f {a + 1}//1 {b + 1}//1 {c + 1}//1\n" for a, b, c in TRIANGLES[:8])
    (folder / "meshes" / "part.obj").write_text(f"# a part\nvn 0 0 1\n{vertices}{caps}{sides}")
    counts = struct.pack("<4i", len(POINTS), 0, 0, len(TRIANGLES))
    arrays = POINTS.astype("<f4").tobytes() + np.array(TRIANGLES, dtype="<i4").tobytes()
    (folder / "meshes" / "part.msh").write_bytes(counts + arrays)
    return folder


def _with_mesh(mesh: str, geom: str = "mass='2'") -> str:
    return world(
        hinged(f"<geom type='mesh' mesh='part' {geom} pos='.1 0 0' euler='10 20 30'/>"),
        f"<compiler meshdir='meshes'/><asset><mesh {mesh}/></asset>",
    )


@pytest.mark.parametrize("mode", ["legacy", "exact", "convex", "shell", None])
@pytest.mark.parametrize("place", ["", "scale='1 2 -3'", "refpos='1 2 3' refquat='1 1 0 2' scale='1 2 3'"])
@pytest.mark.parametrize("file", ["part.STL", "part.obj", "part.msh"])
def test_meshes_weigh_what_mujoco_says(folder: Path, file: str, place: str, mode: str | None) -> None:
    inertia = f"inertia='{mode}'" if mode else ""
    path = folder / "model.xml"
    path.write_text(_with_mesh(f"file='{file}' {place} {inertia}", "density='700'"))
    compare(path, tolerance=1e-6)


def test_meshes_in_the_xml_weigh_what_mujoco_says() -> None:
    vertex = " ".join(str(x) for x in POINTS.ravel())
    face = " ".join(str(i) for t in TRIANGLES for i in t)
    compare(_with_mesh(f"name='part' vertex='{vertex}' face='{face}'"), tolerance=1e-6)
    compare(_with_mesh(f"name='part' vertex='{vertex}'"), tolerance=1e-6)
    compare(_with_mesh(f"name='part' class='big' vertex='{vertex}'").replace("<asset>", "<default><default class='big'><mesh scale='2 2 2'/></default></default><asset>"), tolerance=1e-6)  # fmt: skip


def test_text_stl_is_read_as_binary_stl_is(folder: Path) -> None:
    path = folder / "model.xml"
    path.write_text(_with_mesh("name='part' file='ascii.stl' inertia='exact'"))
    text = from_mjcf(path)
    path.write_text(
        _with_mesh("name='part' file='somewhere/part.STL' inertia='exact'").replace(
            "meshdir", "strippath='true' assetdir"
        )
    )
    binary = from_mjcf(path)
    for a, b in zip(text.links, binary.links, strict=True):
        assert a.mass == pytest.approx(b.mass)
        assert a.inertia.entries() == pytest.approx(b.inertia.entries())


def test_meshes_are_not_read_where_the_inertia_is_stated() -> None:
    xml = world(
        hinged(INERTIAL + "<geom type='mesh' mesh='part'/>"), "<asset><mesh name='part' file='missing.stl'/></asset>"
    )
    assert from_mjcf(xml).links[1].mass == 2


def test_included_files_are_part_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "common.xml").write_text(
        "<mujocoinclude><compiler angle='radian'/><include file='defaults.xml'/></mujocoinclude>"
    )
    (tmp_path / "defaults.xml").write_text("<mujoco><default><geom size='.1 .2 .3' type='box'/></default></mujoco>")
    (tmp_path / "leg.xml").write_text(
        "<mujocoinclude><body name='leg' euler='1 0 0'><joint name='hip'/><geom/></body></mujocoinclude>"
    )
    main = tmp_path / "main.xml"
    main.write_text("<mujoco><include file='common.xml'/><worldbody><body name='a'><joint axis='1 0 0'/><geom/><include file='leg.xml'/></body></worldbody></mujoco>")  # fmt: skip
    assert [link.name for link in compare(main).links] == ["world", "a", "leg"]
    (tmp_path / "leg.xml").write_text(
        "<mujocoinclude>\n<body name='leg'><joint name='hip' axis='0 0 0'/></body></mujocoinclude>"
    )
    with pytest.raises(FormatError, match=r"leg\.xml, line 2, <joint name='hip'>: axis='0 0 0' has no direction"):
        from_mjcf(main)
    (tmp_path / "leg.xml").write_text("<mujocoinclude><include file='main.xml'/></mujocoinclude>")
    with pytest.raises(FormatError, match="is already included"):
        from_mjcf(main)


BAD = {
    "<robot name='r'/>": "not MJCF: its root element is <robot>, not <mujoco>; it looks like URDF",
    "<mujocoinclude/>": "load the file that includes it",
    "<mujoco><worldbodies/></mujoco>": "line 1, <worldbodies>: is not a section of MJCF; did you mean 'worldbody'",
    "<mujoco><include file='x.xml'/></mujoco>": "a model given as text has no folder",
    "<mujoco><include/></mujoco>": "needs the attribute 'file'",
    "<mujoco><worldbody pos='0 0 0'/></mujoco>": "the world has none",
    world("<joint/>"): "belongs into a <body>: the world does not move",
    world("<bodi/>"): "is not an element that MJCF knows in <worldbody>",
    world("<body poss='1 2 3'/>"): "an attribute 'poss' that MJCF does not know; did you mean 'pos'",
    world("<body pos='1 2'/>"): "pos='1 2' should be 3 numbers, got 2",
    world("<body pos='1 2 x'/>"): "should be numbers separated by spaces",
    world("<body quat='0 0 0 0'/>"): "quat is zero",
    world("<body quat='1 0 0 0' euler='1 0 0'/>"): "its orientation as quat and as euler; keep one",
    world("<body xyaxes='1 0 0 2 0 0'/>"): "xyaxes='1 0 0 2 0 0' has no direction",
    world("<body name='a'/><body name='a'/>"): "a name that another body has",
    world("<body name='world'/>"): "a name that another body has",
    world("<body><joint name='j'/></body><body><joint name='j'/></body>"): "a name that another joint has",
    world("<body><replicate count='2'/></body>"): "<replicate>: is not supported: write out the copies",
    world("<composite/>"): "<composite>: is not supported",
    world("<flexcomp/>"): "deformable bodies are not supported",
    world("<body><attach model='m'/></body>"): "write out the attached model",
    world("<body><plugin plugin='p'/></body>"): "forces of plugins are not supported",
    world("<frame scale='2'/>"): "scales what it contains",
    world("<body childclass='no'/>"): "no default class named 'no'; there are: 'main'",
    world("<body/>", "<default class='mine'/>"): "the outermost default class is 'main'",
    world("<body/>", "<default><default/></default>"): "needs the attribute 'class'",
    world("<body/>", "<default><default class='a'/><default class='a'/></default>"): "two default classes named 'a'",
    world("<body/>", "<compiler angle='deg'/>"): "angle='deg' should be one of degree, radian",
    world("<body/>", "<compiler eulerseq='xyw'/>"): "three letters of x, y, z, X, Y, Z",
    world("<body/>", "<compiler coordinate='global'/>"): "coordinate='global' is not supported",
    world("<body/>", "<compiler inertiafromgeoms='true'/>"): "did you mean 'inertiafromgeom'",
    world(hinged("<geom/>")): "a sphere needs 1 positive size, got size=None",
    world(hinged("<geom type='box' size='1 2'/>")): "a box needs 3 positive sizes, got size='1 2'",
    world(hinged("<geom size='1 2 3 4'/>")): "at most 3 numbers, got 4",
    world(hinged("<geom type='cone' size='1'/>")): "type='cone' should be one of sphere",
    world(hinged("<geom size='1' mass='-1'/>")): "negative mass or density",
    world(hinged("<geom size='1' shellinertia='true'/>")): "is a hollow sphere (shellinertia)",
    world(hinged("<geom size='1' fromto='0 0 0 1 1 1'/>")): "only capsule, cylinder, box and ellipsoid",
    world(hinged("<geom type='capsule' size='1' fromto='0 0 0 0 0 0'/>")): "the same point twice",
    world(hinged("<geom type='capsule' size='1' pos='1 0 0' fromto='0 0 0 0 0 1'/>")): "both pos and fromto",
    world(hinged("<geom type='mesh' mesh='m'/>")): "no mesh named 'm'",
    world("", "<asset><mesh file='a.stl'/><mesh name='a' file='b.stl'/></asset>"): "two meshes named 'a'",
    world(hinged("<geom mesh='m'/>")): "is a sphere fitted to a mesh",
    world(hinged("<geom type='sdf' mesh='m'/>")): "signed distance field",
    world(hinged("<inertial mass='1' diaginertia='1 1 1'/>")): "needs the attribute 'pos'",
    world(hinged("<inertial pos='0 0 0' diaginertia='1 1 1'/>")): "needs the attribute 'mass'",
    world(hinged("<inertial pos='0 0 0' mass='1'/>")): "needs the attribute 'diaginertia'",
    world(hinged("<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>")): "negative mass",
    world(hinged("<inertial pos='0 0 0' mass='1' diaginertia='1 1 1' fullinertia='1 1 1 0 0 0'/>")): "keep one",
    world(hinged("<inertial pos='0 0 0' mass='1' quat='0 1 0 0' fullinertia='1 1 1 0 0 0'/>")): "and an orientation",
    world(hinged(INERTIAL + INERTIAL)): "is the second <inertial> of its body",
    world(hinged(INERTIAL, "<joint type='spherical'/>")): "type='spherical' should be one of hinge, slide, ball, free",
    world(hinged(INERTIAL, "<joint axis='0 0 0'/>")): "axis='0 0 0' has no direction",
    world(hinged(INERTIAL, "<joint range='1 -1'/>")): "range='1 -1' should be a smaller number and a larger one",
    world(hinged(INERTIAL, "<joint limited='true'/>")): "should be a smaller number and a larger one",
    world(hinged(INERTIAL, "<joint range='0 1'/>"), "<compiler autolimits='false'/>"): "has range but not limited",
    world(hinged(INERTIAL, "<joint type='ball' range='1 2'/>")): "the first number of range should be 0",
    world(hinged(INERTIAL, "<joint type='free' stiffness='1'/>")): "a free joint with a spring is not supported",
    world(hinged(INERTIAL, "<joint damping='1 2'/>")): "damping='1 2' is not linear",
    world(hinged(INERTIAL, "<joint stiffness='1' springyield='2'/>")): "a spring that yields",
    world(hinged(INERTIAL, "<joint springdamper='1 2'/>")): "give stiffness and damping instead",
    world(hinged(INERTIAL, "<freejoint/><joint/>")): "has a free joint and others",
    world("<body>" + hinged(INERTIAL, "<freejoint/>") + "</body>"): "only children of the world can be free",
    world("<body mocap='true'><joint/></body>"): "is a mocap body",
    world(hinged(INERTIAL), after="<equality><joint joint1='j' joint2='k'/></equality>"): "no joint named 'k'",
    world(hinged(INERTIAL), after="<equality><joint joint1='j' joint2='j'/></equality>"): "couples joint 'j' to itself",
    world(hinged(INERTIAL), after="<actuator><motor joint='k' armature='1'/></actuator>"): "no joint named 'k'",
}  # fmt: skip


@pytest.mark.parametrize("xml", BAD)
def test_nonsense_is_refused_with_its_place(xml: str) -> None:
    with pytest.raises(FormatError) as error:
        from_mjcf(xml)
    assert BAD[xml] in str(error.value)
    assert "the given text" in str(error.value)


def test_mesh_files_that_cannot_be_used_are_named(folder: Path) -> None:
    path = folder / "model.xml"
    path.write_text(_with_mesh("name='part' file='lost.stl'", "name='shape'"))
    with pytest.raises(
        FormatError, match=r"<geom name='shape'>: needs its mesh file .*lost\.stl.*give its body an <inertial>"
    ):
        from_mjcf(path)
    (folder / "meshes" / "bad.stl").write_bytes(b"x" * 200)
    (folder / "meshes" / "bad.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 5\n")
    (folder / "meshes" / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (folder / "meshes" / "inside.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n"
    )
    cases = {
        "file='bad.stl'": "do not fit the",
        "file='bad.obj'": "a corner that is not among its 3 vertices",
        "file='part.dae'": "its extension should be .stl, .obj, .msh",
        "file='open.obj' inertia='exact'": "is not closed",
        "file='inside.obj' inertia='exact'": "counter-clockwise seen from outside",
        "vertex='0 0 0 1 0 0 0 1 0 1 1 0'": "has no convex hull",
        "file='part.obj' refquat='0 0 0 0'": "refquat is zero",
        "builtin='sphere' params='2'": "is made by MuJoCo",
        "vertex='0 0 0 1 0 0 0 1 0 1 1 1' face='0 1 4'": "three indices of them for each triangle",
    }
    for mesh, message in cases.items():
        path.write_text(_with_mesh(f"name='part' {mesh}"))
        with pytest.raises(FormatError) as error:
            from_mjcf(path)
        assert message in str(error.value)


def test_urdf_given_as_mjcf_and_the_other_way_round_say_so() -> None:
    with pytest.raises(ChainruleError, match="from_mjcf"):
        from_urdf("<mujoco/>")
    with pytest.raises(ChainruleError, match="from_urdf"):
        from_mjcf("<robot name='r'/>")
