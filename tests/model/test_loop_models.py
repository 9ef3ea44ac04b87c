"""Models with closed loops: edits, files, MuJoCo's equalities, and what is refused."""

import json
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import KINDS, looped, moving

import chainrule as cr
from chainrule.core.validation import validate
from chainrule.formats.native import from_native, to_json, to_toml
from chainrule.model import Fixed, Model
from chainrule.robot.building import to_urdf
from chainrule.spatial import Rotation, Transform, Vector

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=8)
ALL = ("point", "hinge", "weld", "distance")


def at(x, y, z=0.0):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


# --- edits and formats ---------------------------------------------------------------------------------------------


def test_edits_carry_constraints_along():
    robot = cr.load("four_bar")
    q, qd, qdd = moving(robot, 10)
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert robot.scale_masses(2).without_friction().model.constraint_names == ("pin",)
    assert_allclose(robot.scale_masses(2).inverse_dynamics(q, qd, qdd), 2 * tau, rtol=1e-9)
    stand = cr.Robot(Model.build("stand", [cr.load("pendulum").model.links[0]], []))
    mounted = stand.attach(robot, prefix="left_").attach(robot, stand.link_names[0], prefix="right_")
    mounted = mounted.edit(gravity=robot.gravity)
    assert mounted.model.constraint_names == ("left_pin", "right_pin")
    twice = [np.concatenate([x, x]) for x in (q, qd, tau)]
    assert_allclose(mounted.forward_dynamics(*twice), np.concatenate([qdd, qdd]), rtol=1e-8)
    turned = robot.rebase("rocker_link")
    order = [robot.joint_names.index(name) for name in turned.joint_names]
    for x in (q, np.ones(3)):
        assert_allclose(turned.loops.poses(x[order]), robot.loops.poses(x), atol=1e-12)
    floating = robot.floating()
    free = np.concatenate([[0, 0, 0, 0, 0, 0, 1.0], q])
    assert_allclose(floating.loops.residual(free), robot.loops.residual(q), atol=1e-14)
    assert_allclose(floating.loops.jacobian(free)[:, :6], 0)
    locked = robot.lock({"crank": float(q[0])})
    assert locked.loops.mobility().dof == 0
    with pytest.raises(cr.ModelError, match=r"constraint 'pin' ties 'rocker_link'.*without_constraint\('pin'\)"):
        robot.chain("coupler_link")
    assert robot.without_constraint("pin").chain("coupler_link").nv == 2


def test_merging_fixed_joints_keeps_constraints_on_frames():
    robot, q = looped(3, ALL, [*KINDS, "fixed", "fixed"])
    merged = robot.merge_fixed()
    assert any(isinstance(joint.kind, Fixed) for joint in robot.model.joints)
    assert_allclose(merged.reference.loops.poses(q), robot.reference.loops.poses(q), atol=1e-12)


@pytest.mark.interpreted
@given(SEEDS)
@few
def test_the_round_trip_is_exact(seed):
    robot, _ = looped(seed, ALL)
    for text in (to_toml(robot.model), to_json(robot.model)):
        assert from_native(text) == robot.model


def test_urdf_cannot_say_it_and_says_so():
    with pytest.raises(cr.FormatError, match=r"has loops, closed by 'pin', which URDF cannot express"):
        to_urdf(cr.load("four_bar"))


TIED = """<mujoco><worldbody>
<body name='a' pos='.1 .2 .3' euler='10 20 30'><freejoint/><geom size='.1'/><site name='sa' pos='.01 .02 .03' euler='5 6 7'/></body>
<body name='b' pos='-.1 .5 .3' euler='-10 50 30'><joint type='hinge' ref='20'/><geom size='.1'/>
<site name='sb' pos='.04 .02 -.03' euler='50 6 7'/><body name='c' pos='.3 .2 .1' euler='30 10 20'>
<joint type='ball' pos='.1 0 0'/><joint type='slide' ref='.1'/><geom size='.1'/></body></body></worldbody>
<equality>{}</equality></mujoco>"""
EQUALITIES = (
    "<connect name='t' body1='a' body2='b' anchor='.1 .2 .3'/>", "<connect name='t' body1='c' anchor='.1 .2 .3'/>",
    "<weld name='t' body1='a' body2='c'/>", "<weld name='t' body1='a' body2='b' anchor='.3 .2 .1'/>",
    "<weld name='t' body1='a' body2='b' relpose='.3 .2 .1 1 1 0 0'/>",
    "<weld name='t' body1='a' body2='b' relpose='.3 .2 .1 1 1 0 0' anchor='.5 .6 .7'/>",
    "<connect name='t' site1='sa' site2='sb'/>", "<weld name='t' site1='sa' site2='sb'/>",
)  # fmt: skip


@pytest.mark.parametrize("equality", EQUALITIES)
def test_equalities_are_open_by_as_much_as_in_mujoco(equality):
    xml = TIED.format(equality)
    theirs, ours = mujoco.MjModel.from_xml_string(xml), cr.Robot.from_mjcf(xml)
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(0)
    for spread in (0.0, 0.3, 1.0):
        data.qpos[:] = theirs.qpos0 + spread * rng.normal(size=theirs.nq)
        mujoco.mj_normalizeQuat(theirs, data.qpos)
        mujoco.mj_forward(theirs, data)
        q = data.qpos.copy()
        q[3:7], q[8:12] = np.roll(q[3:7], -1), np.roll(q[8:12], -1)
        X = Transform.of(ours.loops.poses(q)[0].tolist())
        gap = data.efc_pos[: data.nefc]
        assert_allclose(X.translation.norm(), np.linalg.norm(gap[:3]), atol=1e-12)
        if len(gap) > 3:
            assert_allclose(np.sin(X.rotation.log().norm() / 2), np.linalg.norm(gap[3:]), atol=1e-9)
    assert ours.model.constraint_names == ("t",)
    assert not ours.model.notes


def test_a_stiff_loop_of_mujoco_accelerates_alike():
    rod = "<geom type='box' size='{0} .01 .01' pos='{0} 0 0' mass='{1}'/>"
    xml = f"""<mujoco><option gravity='0 -9.81 0'/><worldbody>
    <body name='crank' euler='0 0 90'><joint name='q1' axis='0 0 1'/>{rod.format(0.05, 0.1)}
    <body name='coupler' pos='.1 0 0' euler='0 0 -36.86989764584402'><joint name='q2' axis='0 0 1'/>{rod.format(0.25, 0.5)}</body></body>
    <body name='rocker' pos='.3 0 0' euler='0 0 90'><joint name='q3' axis='0 0 1'/>{rod.format(0.25, 0.5)}</body></worldbody>
    <equality><connect body1='coupler' body2='rocker' anchor='.5 0 0' solimp='0.9999 0.9999 0.001'/></equality></mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(xml), cr.Robot.from_mjcf(xml)
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(theirs)
    data.qfrc_applied[:] = [0.3, 0.0, 0.0]
    mujoco.mj_forward(theirs, data)
    mine = ours.forward_dynamics(np.zeros(3), np.zeros(3), [0.3, 0.0, 0.0])
    assert_allclose(data.qacc, mine, rtol=2e-3, atol=2e-3 * np.abs(mine).max())


# --- bad input -----------------------------------------------------------------------------------------------------

BAR = cr.load("four_bar")
BAD = {
    "unknown kind": (("pivot", "ground", "coupler_link"), {}, "no kind of constraint named 'pivot'"),
    "unknown link": (("point", "ground", "copler_link"), {}, "did you mean 'coupler_link'"),
    "same link": (("point", "ground", "ground"), {}, "ties link 'ground' to itself"),
    "zero distance": (("distance", "ground", "coupler_link"), {"distance": 0.0}, "the distance must be positive, got 0.0"),
    "negative distance": (("distance", "ground", "coupler_link"), {"distance": -1.0}, "must be positive"),
    "no distance": (("distance", "ground", "coupler_link"), {}, "needs a distance"),
    "too much": (("point", "ground", "coupler_link"), {"distance": 1.0}, "which has no distance"),
    "nan distance": (("distance", "ground", "coupler_link"), {"distance": np.nan}, "distance must be finite"),
    "bad origin": (("point", "ground", "coupler_link", np.zeros((4, 4))), {}, "origin_a is not a rigid transform"),
    "taken name": (("point", "ground", "coupler_link"), {"name": "pin"}, "2 constraints named 'pin'"),
    "no name": (("point", "ground", "coupler_link"), {"name": ""}, "a constraint has no name"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_constraint_is_refused_by_name(case):
    arguments, options, message = BAD[case]
    with pytest.raises(cr.ChainruleError) as error:
        BAR.with_constraint(*arguments, **options)
    assert message in str(error.value)


def test_a_bad_file_is_refused_with_its_place():
    document = json.loads(to_json(BAR.model))
    for change, message in (
        ({"kind": "pont"}, "did you mean 'point'"), ({"link_a": "nope"}, "no link or frame named 'nope'"),
        ({"distance": 2.0}, "which has no distance"), ({"origin": {}}, "no key named 'origin'"),
        ({"origin_a": {"xyz": [0, 0]}}, "constraint"), ({"kind": 3}, "kind"), ({"distance": "far"}, "distance"),
    ):  # fmt: skip
        entry = {**document["constraint"][0], **change}
        with pytest.raises(cr.ChainruleError) as error:
            cr.load(json.dumps({**document, "constraint": [entry]}))
        assert message in str(error.value)
    infinite = replace(BAR.model.constraints[0], origin_a=Transform(Rotation.identity(), Vector(np.inf, 0.0, 0.0)))
    with pytest.raises(cr.ModelError, match="constraint 'pin': origin_a must be finite"):
        validate(replace(BAR.model, constraints=(infinite,)))


@pytest.mark.parametrize(
    ("equality", "message"),
    [
        ("<connect body1='a' body2='z' anchor='0 0 0'/>", "unknown element 'z'"),
        ("<connect body1='a' body2='a' anchor='0 0 0'/>", "element 'a' is repeated"),
        ("<weld body1='a' site1='sa' site2='sb'/>", "at most one of ('site1', 'site2')"),
        ("<weld body1='a' bodi2='b'/>", "unrecognized attribute: 'bodi2'"),
    ],
)
def test_bad_equalities_are_refused_with_their_place(equality, message):
    with pytest.raises(cr.FormatError) as error:
        cr.Robot.from_mjcf(TIED.format(equality))
    assert "the given text, line 6, <" in str(error.value)
    assert message in str(error.value)


def test_what_cannot_be_closed_is_named_with_its_gap():
    apart = cr.load("planar_2r").with_constraint("point", "base", "tip", at(3, 0), name="too_far")
    with pytest.raises(cr.ModelError, match=r"cannot be closed.*constraint 'too_far' stays open by 1 m"):
        apart.loops.close([0.3, 0.2])
    with pytest.raises(cr.ModelError, match="'too_far' stays open"):
        apart.forward_dynamics([0.3, 0.2], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(cr.ModelError, match=r"with 'crank', 'rocker' held.*or hold fewer joints"):
        BAR.loops.close([0.0, 0.0, 1.0], hold=["crank", "rocker"])


def test_axes_that_are_opposed_do_not_count_as_closed():
    flipped = np.diag([1.0, -1.0, -1.0, 1.0])
    flipped[:3, 3] = 0.5, 0, 0
    robot = BAR.without_constraint("pin").with_constraint(
        "hinge", "coupler_link", "rocker_link", at(0.5, 0), flipped, name="pin"
    )
    assert_allclose(robot.loops.residual(robot.neutral()), 0, atol=1e-12)
    with pytest.raises(cr.ModelError, match=r"constraint 'pin' stays open by .* and 180 degrees"):
        robot.loops.close(robot.neutral())
    turned = np.diag([-1.0, -1.0, 1.0, 1.0])
    welded = BAR.without_constraint("pin").with_constraint("weld", "ground", "crank_link", turned, name="stuck")
    q = welded.loops.close([np.pi / 2 - 0.4, 0.0, 0.0])  # the residual's other zero is half a turn away
    assert_allclose(np.exp(1j * q[0]), np.exp(1j * np.pi / 2), atol=1e-8)


def test_motions_that_open_a_loop_are_refused():
    q, rest = BAR.neutral(), np.zeros(3)
    with pytest.raises(cr.ModelError, match="inverse_dynamics: with this qdd, constraint 'pin' is violated by"):
        BAR.inverse_dynamics(q, rest, [1.0, 0.0, 0.0])
    with pytest.raises(cr.ModelError, match="with 'crank', 'rocker' held, constraint 'pin' is violated"):
        BAR.loops.consistent_velocity(q, [1.0, 0.0, 0.0], hold=["crank", "rocker"])
    with pytest.raises(cr.ModelError, match="the configuration is not closed: constraint 'pin' stays open"):
        BAR.loops.mobility([0.1, 0.0, 0.0])


@pytest.mark.interpreted
def test_joints_that_cannot_drive_a_motion_are_named():
    q, qd, qdd = moving(cr.load("stewart_platform"), 11)
    with pytest.raises(
        cr.ModelError, match=r"actuated joints \('leg1', 'leg2'\) cannot produce .* 6 degrees of freedom"
    ):
        cr.load("stewart_platform").loops.torques(q, qd, qdd, actuated=["leg1", "leg2"])
    q, qd, qdd = moving(BAR, 12)
    with pytest.raises(cr.ModelError, match=r"actuated joints \(none\)"):
        BAR.loops.torques(q, qd, qdd, actuated=[])


def test_names_and_options_are_checked():
    with pytest.raises(cr.UnknownNameError, match="no joint named 'krank'; did you mean 'crank'"):
        BAR.loops.close(BAR.neutral(), hold=["krank"])
    with pytest.raises(cr.ShapeError, match="hold must be a list of names"):
        BAR.loops.close(BAR.neutral(), hold="crank")
    with pytest.raises(cr.UnknownNameError, match="no constraint named 'pins'; did you mean 'pin'"):
        BAR.without_constraint("pins")
    with pytest.raises(cr.ShapeError, match="rows must be a list of indices from 0 to 2"):
        BAR.compiled.kernel("forward_dynamics", rows=(0, 7))
    with pytest.raises(cr.ShapeError, match="mobility takes one configuration"):
        BAR.loops.mobility(np.zeros((2, 3)))
    with pytest.raises(cr.ShapeError, match="q must have 3 numbers"):
        BAR.loops.residual([0.0])
