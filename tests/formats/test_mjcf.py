"""MJCF, which MuJoCo compiles: the robots move as in MuJoCo, by poses, mass matrix and bias; what it refuses is told."""

from __future__ import annotations

import math
import struct
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from chainrule import ModelWarning, Robot, load
from chainrule.algorithms import kinematics
from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.rnea import bias
from chainrule.errors import ChainruleError, FormatError, MissingPackageError, ModelError
from chainrule.formats.mjcf import from_mjcf
from chainrule.formats.source import only_within
from chainrule.formats.urdf import from_urdf
from chainrule.model import Fixed, Free, Mesh, Model
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
    held = {theirs.eq_obj1id[i]: theirs.eq_data[i][0] for i in range(theirs.neq) if theirs.eq_obj2id[i] < 0}
    moving = [body for body in ours.bodies if body.joint.kind.nv]
    assert len(moving) + len(held) == theirs.njnt
    for body in moving:
        if not body.joint.mimic:
            kind = body.joint.kind
            q[body.first_q : body.first_q + kind.nq] = kind.integrate(
                kind.neutral(), rng.uniform(-1, 1, kind.nv).tolist()
            )
    for k, constant in held.items():
        data.qpos[theirs.jnt_qposadr[k]] += constant
    for k, body in zip([k for k in range(theirs.njnt) if k not in held], moving, strict=True):
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


def test_a_joint_that_is_held_at_a_constant_is_fixed_and_so_are_those_that_follow_it() -> None:
    bodies = "".join(
        f"<body name='b{i}' pos='.1 0 {i}'><joint name='j{i}' axis='0 1 .3' pos='0 .1 0' ref='{20 * i}'/>{INERTIAL}</body>"
        for i in range(4)
    )
    held = "<equality><joint joint1='j2' joint2='j1' polycoef='.1 2'/><joint joint1='j1' polycoef='.3'/></equality>"
    model = from_mjcf(world(bodies, after=held + "<keyframe><key qpos='1 2 3 4'/></keyframe>"))
    assert {joint.name: joint.type for joint in model.joints} == {
        "j0": "revolute", "j1": "fixed", "j2": "fixed", "j3": "revolute"
    }  # fmt: skip
    theirs = mujoco.MjModel.from_xml_string(world(bodies))
    data = mujoco.MjData(theirs)
    data.qpos[:] = [0.4, theirs.qpos0[1] + 0.3, theirs.qpos0[2] + 0.1 + 2 * 0.3, 0.7]
    mujoco.mj_forward(theirs, data)
    _compare_poses(model, theirs, data, [0.4, 0.7])
    assert model.configurations[0].positions == (("j0", 1.0), ("j3", 4.0))
    assert model.notes == ()


@pytest.mark.parametrize(
    ("equalities", "free"),
    [
        pytest.param([(1, 0, 0.3, 2.0), (1, 2, 0.1, -0.5)], (2, 3), id="it follows two"),
        pytest.param([(1, 0, 0.3, 2.0), (2, 3, 0.2, 4.0), (1, 2, 0.0, 0.7)], (3,), id="two that follow are tied"),
        pytest.param([(1, 0, 0.3, 2.0), (1, None, 0.4, 0.0)], (2, 3), id="it follows, and is held"),
        pytest.param([(1, None, 0.4, 0.0), (1, 2, 0.1, -0.5)], (0, 3), id="it is held, and follows"),
        pytest.param([(1, 0, 0.3, 2.0), (0, 1, -0.15, 0.5)], (0, 2, 3), id="both follow each other"),
    ],
)
def test_either_joint_of_a_linear_equality_may_lead(
    equalities: list[tuple[int, int | None, float, float]], free: tuple[int, ...]
) -> None:
    bodies = "".join(
        f"<body name='b{i}' pos='.1 0 {i}'><joint name='j{i}' axis='0 1 .3' pos='0 .1 0' ref='{20 * i}'/>{INERTIAL}</body>"
        for i in range(4)
    )
    ties = "".join(
        f"<joint joint1='j{y}'" + (f" joint2='j{x}'" if x is not None else "") + f" polycoef='{a0} {a1}'/>"
        for y, x, a0, a1 in equalities
    )
    model = from_mjcf(world(bodies, after=f"<equality>{ties}</equality>"))
    assert model.notes == ()
    assert [c.name for c in model.layout.coordinates] == [f"j{i}" for i in free]
    theirs = mujoco.MjModel.from_xml_string(world(bodies))
    data = mujoco.MjData(theirs)
    rows, values = [np.eye(4)[i] for i in free], [0.4 + i for i in range(len(free))]
    for y, x, a0, a1 in equalities:
        rows.append(np.eye(4)[y] - (0.0 if x is None else a1 * np.eye(4)[x]))
        values.append(a0 + rows[-1] @ theirs.qpos0)
    data.qpos[:] = np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]
    mujoco.mj_forward(theirs, data)
    _compare_poses(model, theirs, data, values[: len(free)])


def test_what_is_not_modelled_is_noted() -> None:
    two = "<body name='b'><joint name='j'/>{0}<site name='s'/></body><body name='c'><joint name='k' type='ball' range='0 50'/>{0}</body>"
    extra = "<body name='m' mocap='true'/><body name='g' gravcomp='1'><freejoint/><geom size='.1'/></body>"
    joint = "<joint name='q' actuatorfrcrange='-1 2' range='2 1' stiffness='1' springyield='3' damping='1 2'/>"
    model = from_mjcf(
        world(
            two.format(INERTIAL) + extra + hinged(INERTIAL, joint).replace("'b'", "'d'"),
            "<option density='1.2'/>",
            "<equality><connect name='pin' body1='b' body2='c' anchor='0 0 0'/><joint joint1='j' polycoef='1'/>"
            "<joint joint1='j' joint2='q'/><joint name='curve' joint1='q' joint2='j' polycoef='0 1 1'/>"
            "<tendon name='taut' tendon1='rope'/></equality>"
            "<tendon><fixed name='rope'><joint joint='j' coef='1'/></fixed></tendon>"
            "<actuator><motor name='winch' tendon='rope' armature='1'/></actuator>",
        )
    )
    assert set(model.notes) == {
        "joint 'k': the limit on its angle is not modelled",
        "mocap body 'm' is fixed where the file puts it",
        "the gravity compensation (gravcomp) of body 'g' is not modelled: it has its full weight",
        "joint 'q': its damping is not linear; the linear part alone is modelled",
        "joint 'q': its range ends before it begins, and limits nothing",
        "joint 'q': its spring yields (springyield), which is not modelled",
        "joint 'q': its efforts are limited to -1 and 2; the larger counts here, both ways",
        "the armature and damping of 'winch' do not act on a joint: they are not modelled",
        "equality constraint 'curve' is not modelled: joint 'q' moves without it",
        "equality constraint 'taut' is not modelled",
        "tendon 'rope' is not modelled",
        "the forces of the fluid around the model (option density and viscosity) are not modelled",
    }
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


@pytest.mark.parametrize("place", ["", "scale='1 2 -3'", "refpos='1 2 3' refquat='1 1 0 2' scale='1 2 3'"])
@pytest.mark.parametrize("file", ["part.STL", "part.obj", "part.msh"])
def test_meshes_weigh_what_mujoco_says(folder: Path, file: str, place: str) -> None:
    path = folder / "model.xml"
    path.write_text(_with_mesh(f"file='{file}' {place}", "density='700'"))
    compare(path)


def test_meshes_in_the_xml_weigh_what_mujoco_says() -> None:
    vertex = " ".join(str(x) for x in POINTS.ravel())
    face = " ".join(str(i) for t in TRIANGLES for i in t)
    compare(_with_mesh(f"name='part' vertex='{vertex}' face='{face}'"))
    compare(_with_mesh(f"name='part' vertex='{vertex}'"))
    compare(
        _with_mesh(f"name='part' class='big' vertex='{vertex}'").replace(
            "<asset>", "<default><default class='big'><mesh scale='2 2 2'/></default></default><asset>"
        )
    )


def test_mesh_files_are_found_without_their_folders_where_the_compiler_says_so(folder: Path) -> None:
    path = folder / "model.xml"
    text = _with_mesh("file='somewhere/part.STL'").replace("meshdir", "strippath='true' assetdir")
    path.write_text(text)
    compare(path)


def test_a_model_without_its_meshes_is_loaded_with_one_warning_that_names_them(folder: Path) -> None:
    mesh = "<geom type='mesh' mesh='{}'/>"
    bodies = (
        f"<body name='a'><joint name='i'/>{INERTIAL}{mesh.format('lost')}</body>"
        f"<body name='b'><joint name='j'/>{mesh.format('gone')}<geom size='.1' mass='1'/><geom type='box' mesh='lost'/></body>"
        f"<body name='c'><joint name='k'/>{mesh.format('part')}</body>"
    )
    assets = (
        "<mesh file='lost.stl' scale='1e-3 1e-3 1e-3'/><mesh name='gone' file='x/gone.dae'/><mesh file='part.STL'/>"
    )
    path = folder / "model.xml"
    path.write_text(world(bodies, f"<compiler meshdir='meshes'/><asset>{assets}</asset>"))
    with pytest.warns(ModelWarning) as caught:
        robot = Robot.from_mjcf(path)
    (warning,) = [str(warning.message) for warning in caught]
    assert "the mesh files 'meshes/lost.stl', 'meshes/x/gone.dae' cannot be found" in warning
    assert "the mass and inertia of 'b' come from files that cannot be found: taken as massless" in warning
    assert "1 geom ('geom3') left out of the geometry: it is fitted to a mesh that cannot be found" in warning
    a, b, c = robot.model.links[1:]
    assert (a.mass, b.mass) == (2.0, 0.0)
    whole = world(bodies[bodies.index("<body name='c'>") :], "<asset><mesh file='meshes/part.STL'/></asset>")
    (folder / "whole.xml").write_text(whole)
    assert c.inertia == from_mjcf(folder / "whole.xml").links[1].inertia
    assert {g.shape.path: tuple(g.origin.translation) for g in robot.model.geometries if isinstance(g.shape, Mesh)} == {
        "meshes/lost.stl": (0.0, 0.0, 0.0), "meshes/x/gone.dae": (0.0, 0.0, 0.0), "meshes/part.STL": (0.0, 0.0, 0.0)
    }  # fmt: skip
    with pytest.raises(ModelError, match=r"'meshes/lost\.stl'"):
        Robot.from_mjcf(path, check="strict")


def test_a_model_given_as_text_has_no_folder_for_its_meshes() -> None:
    asset = "<asset><mesh name='part' file='part.stl'/></asset>"
    model = from_mjcf(world(hinged(INERTIAL + "<geom type='mesh' mesh='part'/>"), asset))
    assert model.links[1].mass == 2
    assert model.notes == ("the mesh file 'part.stl' cannot be found",)


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
    with pytest.raises(FormatError, match=r"leg\.xml, line 2, <joint name='hip'>: MuJoCo refuses it: axis too small"):
        from_mjcf(main)
    (tmp_path / "leg.xml").write_text("<mujocoinclude><include file='main.xml'/></mujocoinclude>")
    with pytest.raises(FormatError, match="is already included"):
        from_mjcf(main)


def test_models_attach_others_with_their_meshes(folder: Path) -> None:
    part = "<body name='arm' pos='.1 0 0'><joint name='j' axis='0 1 0'/><geom type='mesh' mesh='part' pos='.1 .2 .3'/></body>"
    (folder / "part.xml").write_text(world(part, "<compiler meshdir='meshes'/><asset><mesh file='part.obj'/></asset>"))
    attached = "<attach model='sample' body='arm' prefix='{}'/>"
    path = folder / "model.xml"
    frames = "".join(f"<frame pos='{k} 0 0'>{attached.format(k)}</frame>" for k in range(2))
    path.write_text(world(frames, "<asset><model file='part.xml'/></asset>"))
    model = compare(path)
    assert [joint.name for joint in model.joints] == ["0j", "1j"]
    assert [(g.link, g.shape.path, g.shape.folder) for g in model.geometries] == [
        (name, "meshes/part.obj", str(folder)) for name in ("0arm", "1arm")
    ]
    (folder / "part.xml").write_text("<mujoco>\n<worldbody><body name='arm' size='1'/></worldbody></mujoco>")
    with pytest.raises(FormatError, match=r"part\.xml, line 2, <body name='arm'>: MuJoCo refuses it: .*'size'"):
        from_mjcf(path)
    (folder / "part.xml").write_text(world(attached, "<asset><model file='model.xml'/></asset>"))
    with pytest.raises(FormatError, match=r"part\.xml, line 1, <model>: attaches model\.xml to itself"):
        from_mjcf(path)


def test_copies_are_made() -> None:
    rod = "<replicate count='3' offset='1 0 0'><body><joint axis='0 1 0'/><geom size='.1' pos='0 0 1'/></body></replicate>"
    assert compare(world(rod)).nv == 3


def test_links_are_kept_where_mujoco_would_fuse_them_and_pictures_where_it_would_drop_them() -> None:
    seen = "<geom size='.1' contype='0' conaffinity='0'/>"
    bodies = hinged(INERTIAL + seen + "<body name='tool' pos='0 0 1'><geom size='.1'/></body>")
    model = from_mjcf(world(bodies, "<compiler fusestatic='true' discardvisual='true'/>"))
    assert [link.name for link in model.links] == ["world", "b", "tool"]
    assert [(g.link, g.role) for g in model.geometries] == [("b", "visual"), ("tool", "collision")]


ALL_SECTIONS = world(
    hinged(INERTIAL) + "<camera name='c' pos='0 0 1' target='b'/><light dir='0 0 -1'/><frame name='f' euler='0 0 9'><site/></frame>",
    "<option timestep='0.01' integrator='RK4'><flag contact='disable'/></option><size njmax='100' nkey='1000000000'/>"
    "<statistic center='0 0 1'/><visual><global fovy='40'/><rgba joint='1 0 0 1'/></visual>"
    "<default><geom rgba='1 0 0 1'/><default class='k'><motor gear='2'/><position kp='3'/></default></default>"
    "<asset><texture name='t' file='wood.png' type='2d'/><material name='m' texture='t'/><texture file='sky.png'/>"
    "<hfield name='h' file='hills.png' size='1 1 1 1'/></asset>"
    "<contact><exclude body1='b' body2='world'/></contact><custom><numeric name='n' data='1 2'/></custom>",
    "<actuator><motor joint='j' class='k'/><position joint='j' kp='1'/><muscle joint='j'/></actuator>"
    "<sensor><jointpos joint='j'/><framepos objtype='body' objname='b'/><clock/></sensor>"
    "<keyframe><key name='k' qpos='0.1'/></keyframe>",
)  # fmt: skip


def test_what_plays_no_part_may_be_there_without_its_files(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(ALL_SECTIONS)
    model = from_mjcf(tmp_path / "model.xml")
    assert model.nv == 1
    assert model.notes == ()


def test_warnings_of_mujoco_are_notes_and_go_nowhere_else(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def own(words: str) -> None:
        pass

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(own)
    try:
        (note,) = from_mjcf(SAMPLES["total mass"]).notes
        assert mujoco.get_mju_user_warning() is own
    finally:
        mujoco.set_mju_user_warning(before)
    assert note.startswith("MuJoCo says: compiler attribute 'settotalmass' is deprecated")
    assert [*tmp_path.iterdir()] == []
    assert capfd.readouterr() == ("", "")


BAD = {
    "<robot name='r'/>": "not MJCF: its root element is <robot>, not <mujoco>; it looks like URDF",
    "<mujocoinclude/>": "load the file that includes it",
    "<mujoco>\n<worldbodies/></mujoco>": "the given text, line 2, <worldbodies>: MuJoCo refuses it: Schema violation",
    "<mujoco><include file='x.xml'/></mujoco>": "a model given as text has no folder",
    "<mujoco><include/></mujoco>": "needs the attribute 'file'",
    "<mujoco><include file='x.xml'><option/></include></mujoco>": "has elements inside",
    world("<joint/>"): "<joint>: MuJoCo refuses it: World body cannot have joints",
    world("<body name='b' poss='1 2 3'/>"): "<body name='b'>: MuJoCo refuses it: Schema violation: unrecognized attribute: 'poss'",
    world("<body pos='1 2'/>"): "<body>: MuJoCo refuses it: attribute 'pos' does not have enough data",
    world("<body pos='1 2 x'/>"): "bad format in attribute 'pos'",
    world("<body quat='0 0 0 0'/>"): "zero quaternion is not allowed",
    world("<body name='a' quat='1e200 1e200 0 0'/>"): "the given text: body 'a' has no orientation",
    world("<body name='a'/><body name='a'/>"): "<body name='a'>: MuJoCo refuses it: repeated name 'a' in body",
    world("<body/>", "<default class='mine'/>"): "top-level default class 'main' cannot be renamed",
    world(hinged("<geom/>")): "size 0 must be positive in geom",
    world(hinged("")): "<body name='b'>: MuJoCo refuses it: mass and inertia of moving bodies must be larger",
    world(hinged("<geom type='mesh' mesh='m'/>")): "MuJoCo refuses it: mesh 'm' not found",
    world(hinged("<inertial pos='0 0 0' mass='1' diaginertia='1 1 9'/>")): "inertia must satisfy A + B >= C",
    world(hinged(INERTIAL + INERTIAL)): "unique element 'inertial' found 2 times",
    world(hinged(INERTIAL, "<joint axis='0 0 0'/>")): "axis too small in joint",
    world(hinged(INERTIAL), after="<equality><joint joint1='j' joint2='k'/></equality>"): "unknown element 'k'",
    world(hinged(INERTIAL), after="<actuator><motor joint='k'/></actuator>"): "unknown transmission target 'k'",
    world(hinged(INERTIAL), after="<keyframe><key name='k' qpos='1 2'/></keyframe>"): "keyframe 'k': invalid qpos size",
}  # fmt: skip


@pytest.mark.parametrize("xml", BAD)
def test_nonsense_is_refused_with_its_place(xml: str) -> None:
    with pytest.raises(FormatError) as error:
        from_mjcf(xml)
    assert BAD[xml] in str(error.value)
    assert "the given text" in str(error.value)


def _nested(tag: str, count: int, inside: str) -> str:
    return f"<{tag}>" * count + inside + f"</{tag.split()[0]}>" * count


BOMBS = {
    "copies": world("<replicate count='1000000'><body/></replicate>"),
    "copies of copies": world(_nested("replicate count='10'", 9, "<body/>")),
    "copies of a frame": world(
        "<frame name='f0'><body/></frame>"
        + "".join(
            f"<frame name='f{k + 1}'>" + "".join(f"<attach frame='f{k}' prefix='{k}{side}'/>" for side in "ab") + "</frame>"
            for k in range(30)
        )
    ),
    "a frame in itself": world("<frame name='f'><body/><attach frame='f' prefix='a'/></frame>"),
    "a soft body": world("<flexcomp name='s' type='grid' count='300 300 300' spacing='.1 .1 .1' dim='3' mass='1'/>"),
    "a shape": world("", "<asset><mesh name='m' builtin='cone' params='1000000000 1'/></asset>"),
}  # fmt: skip


@pytest.mark.parametrize("what", BOMBS)
def test_a_short_text_does_not_ask_for_much(what: str) -> None:
    with pytest.raises(
        FormatError, match=r"the given text, line 1, <\w+.*>: (makes more than 5000 copies|asks for .* 1000 is)"
    ):
        from_mjcf(BOMBS[what])


@pytest.mark.parametrize(
    "before",
    [
        "<size nkey='1000000000' nuser_body='1000000000'/>", "<compiler><lengthrange mode='all' inttotal='1e300'/></compiler>",
        "<asset><texture name='t' builtin='flat' width='1000000' height='1000000'/></asset>",
        "<asset><hfield name='h' nrow='1000000' ncol='1000000' size='1 1 1 1'/></asset>", "<sensor><user dim='2000000000'/></sensor>",
    ],
)  # fmt: skip
def test_what_plays_no_part_takes_no_memory_and_no_time(before: str) -> None:
    assert from_mjcf(world(hinged(INERTIAL), before, "<actuator><motor joint='j'/></actuator>")).nv == 1


def test_files_outside_the_folder_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "open").mkdir()
    (tmp_path / "secret" / "a.obj").write_text("v 0 0 0\n")
    (tmp_path / "secret" / "a.xml").write_text(world(hinged(INERTIAL)))
    path = tmp_path / "open" / "model.xml"
    for folder in ("..", str(tmp_path)):
        for file in ("a.xml", "no.xml"):
            named = f"file='{folder}/secret/{file}'"
            soft = world(f"<flexcomp name='s' type='mesh' {named}/>")
            for text in (f"<mujoco><include {named}/></mujoco>", world("", f"<asset><model {named}/></asset>"), soft):
                path.write_text(text)
                with only_within(tmp_path / "open"), pytest.raises(FormatError, match="is not read: it is outside"):
                    from_mjcf(path)
        for file in ("a.obj", "no.obj"):
            named = f"{folder}/secret/{file}"
            path.write_text(world("", f"<asset><mesh file='{named}'/></asset>"))
            with only_within(tmp_path / "open"):
                assert from_mjcf(path).notes == (f"the mesh file {named!r} cannot be found",)


def test_damaged_meshes_are_refused_by_name(folder: Path) -> None:
    (folder / "meshes" / "bad.stl").write_bytes(b"x" * 200)
    (folder / "meshes" / "bad.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 5\n")
    path = folder / "model.xml"
    for file in ("bad.stl", "bad.obj"):
        path.write_text(_with_mesh(f"name='part' file='{file}'"))
        with pytest.raises(FormatError, match=r"model\.xml, line 1, <mesh name='part'>: MuJoCo refuses it: "):
            from_mjcf(path)


def test_urdf_given_as_mjcf_and_the_other_way_round_say_so() -> None:
    with pytest.raises(ChainruleError, match="from_mjcf"):
        from_urdf("<mujoco/>")
    with pytest.raises(ChainruleError, match="from_urdf"):
        from_mjcf("<robot name='r'/>")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    for read in (Robot.from_mjcf, load):
        with pytest.raises(
            MissingPackageError, match=r"is MJCF, .* needs the package mujoco, which is not installed: .*pip inst"
        ):
            read(ARM)
