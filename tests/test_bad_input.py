"""Whatever a user gets wrong is refused by name, with what to do; nothing crashes, hangs or gives a wrong number."""

import copy
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from trees import tree

import chainrule as cr
from chainrule import FormatError, ModelError, Robot, ShapeError, UnknownNameError
from chainrule.model import Joint, Link, Model, Moved, Screw
from chainrule.spatial import Rotation, Transform, Vector

pytestmark = pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")

NAN, INF = math.nan, math.inf
Z = [0.0, 0.0]


def refused(call, error, pattern):
    """The call raises an error of the library that is also a ValueError, and says what the pattern says."""
    with pytest.raises(error, match=pattern) as caught:
        call()
    assert isinstance(caught.value, cr.ChainruleError)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def arm():
    return cr.load("planar_2r")


# --- states ---


STATES = [
    ("short", [0.0], r"q must have 2 numbers .*'planar_2r': joint1, joint2\), got 1 in shape \(1,\)"),
    ("long", [0.0] * 3, r"q must have 2 numbers .*got 3"),
    ("scalar", 0.3, r"q must have 2 numbers .*got the single number 0.3"),
    ("column", np.zeros((2, 1)), r"q must have 2 numbers in its last dimension .*got 1 in shape \(2, 1\)"),
    ("ragged", [[0, 0], [0]], r"q must be a rectangular array .*different lengths"),
    ("string", "0, 0", r"q must be real numbers, got str \(0, 0\)"),
    ("numerals", ["0", "0"], r"q must be real numbers, got list"),
    ("none", None, r"q must be real numbers, got NoneType"),
    ("complex", [1j, 0], r"q must be real numbers, got numbers of type complex128"),
    ("objects", np.array([object(), 1], dtype=object), r"q must be real numbers, got ndarray"),
    ("booleans", [True, False], r"q must be real numbers, got numbers of type bool"),
    ("dictionary", {"joint1": 0}, r"q must be real numbers, got dict"),
    ("integers beyond a float", [10**400, 0], r"q must be real numbers"),
    ("masked", np.ma.array([1.0, 2.0], mask=[True, False]), r"q has masked entries.*fill them first"),
]


@pytest.mark.parametrize("function", ["pose", "mass_matrix", "gravity_torque"])
@pytest.mark.parametrize(("q", "pattern"), [s[1:] for s in STATES], ids=[s[0] for s in STATES])
def test_a_state_that_is_none_is_refused_by_name(function, q, pattern):
    refused(lambda: getattr(arm(), function)(q), ShapeError, rf"{function}: {pattern}")


def test_an_array_that_cannot_be_read_says_why():
    class Tensor:
        def __array__(self, *_, **__):
            raise RuntimeError("call detach() first")

    refused(
        lambda: arm().pose(Tensor()), ShapeError, r"q must be an array of numbers, got Tensor: call detach\(\) first"
    )


FUNCTIONS = {
    "pose": "q", "poses": "q", "jacobian": "q", "analytic_jacobian": "q", "gravity_torque": "q", "mass_matrix": "q",
    "spring_torque": "q", "potential_energy": "q", "center_of_mass": "q", "center_of_mass_jacobian": "q",
    "centroidal_momentum_matrix": "q", "friction_torque": "v", "twists": "qv", "jacobian_derivative": "qv",
    "coriolis_matrix": "qv", "kinetic_energy": "qv", "momentum": "qv", "centroidal_momentum": "qv", "bias": "qv",
    "apply_inverse_mass": "qv", "accelerations": "qvv", "inverse_dynamics": "qvv", "forward_dynamics": "qvv",
    "joint_wrenches": "qvv",
}  # fmt: skip


@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e308], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("robot", [cr.load("panda"), tree(1)], ids=["panda", "every joint"])
def test_what_is_not_finite_in_a_state_stays_in_its_row(robot, function, value):
    rng = np.random.default_rng(0)
    state = [robot.random_state(rng, 3) if a == "q" else rng.normal(size=(3, robot.nv)) for a in FUNCTIONS[function]]
    before = getattr(robot, function)(*state)
    for k, argument in enumerate(state):
        spoilt = argument.copy()
        spoilt[1, 3] = value
        after = getattr(robot, function)(*state[:k], spoilt, *state[k + 1 :])
        np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
        alone = getattr(robot, function)(*(a[1] for a in state[:k]), spoilt[1], *(a[1] for a in state[k + 1 :]))
        np.testing.assert_array_equal(np.isfinite(alone), np.isfinite(after[1]))
        if math.isnan(value) and robot.name == "panda" and function != "spring_torque":
            assert np.isnan(after[1]).any()


CALLS = [
    ("batches", lambda r: r.inverse_dynamics(np.zeros((2, 2)), Z, np.zeros((3, 2))), ShapeError,
     r"inverse_dynamics: the leading \(batch\) dimensions .* do not fit together: q \(2, 2\), qd \(2,\), qdd \(3, 2\)"),
    ("link", lambda r: r.pose(Z, "link3"), UnknownNameError,
     r"robot 'planar_2r' has no link or frame named 'link3'; did you mean 'link"),
    ("no near link", lambda r: r.jacobian(Z, "wheel"), UnknownNameError, r"named 'wheel'; there are: 'base', 'link1'"),
    ("link that is no name", lambda r: r.pose(Z, 5), UnknownNameError, r"named by a string, not by 5"),
    ("empty link", lambda r: r.with_frame("f", link=""), UnknownNameError, r"no link or frame named ''; there are"),
    ("empty link of a table", lambda r: r.to_dh("", convention="standard"), UnknownNameError, r"no link or frame named ''"),
    ("Jacobian frame", lambda r: r.jacobian(Z, frame="spce"), UnknownNameError, r"'spce'; did you mean 'space'\?"),
    ("joint", lambda r: r.joint_wrenches(Z, Z, Z, joints=["joint"]), UnknownNameError, r"no joint named 'joint'; did you"),
    ("tip wrench", lambda r: r.inverse_dynamics(Z, Z, Z, [1, 2, 3]), ShapeError,
     r"tip_wrench must have 6 numbers .*\(moment and force\), got 3"),
    ("wrench", lambda r: r.inverse_dynamics(Z, Z, Z, None, {"link1": [1, 2, 3]}), ShapeError,
     r"wrenches\['link1'\] must have 6 numbers .*got 3"),
    ("wrench on no link", lambda r: r.bias(Z, Z, None, {"lnk1": [0] * 6}), UnknownNameError, r"'lnk1'; did you mean 'link1'"),
    ("static wrench", lambda r: r.static_torque(Z, 5), ShapeError, r"static_torque: tip_wrench must have 6 numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "pattern"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS])
def test_a_bad_argument_is_refused_by_name(call, error, pattern):
    refused(lambda: call(arm()), error, pattern)


def test_a_zero_quaternion_is_no_orientation():
    robot = cr.load("quadruped")
    q = np.stack([robot.neutral()] * 2)
    q[1, 3:7] = 0
    refused(lambda: robot.mass_matrix(q), ShapeError, r"quaternion of joint 'floating_base' .*is zero.*\(0, 0, 0, 1\)")
    for w in (0.0, 1e-200):
        refused(
            lambda w=w: robot.lock({"floating_base": [0] * 6 + [w]}), ShapeError,
            r"position of joint 'floating_base' has a zero quaternion.*\(0, 0, 0, 1\) turns nothing",
        )  # fmt: skip


def test_without_an_end_effector_the_tips_are_named():
    refused(lambda: cr.load("quadruped").with_payload(1.0), ModelError, r"has 4 tips \('FL_FOOT'.*link=\.\.\.")


# --- edits ---


EDITS = [
    ("lock what", lambda r: r.lock(["joint1"]), ShapeError, r"lock takes a dictionary of joint names .*got list"),
    ("lock whom", lambda r: r.lock({"joint": 0}), UnknownNameError, r"no joint named 'joint'; did you mean 'joint"),
    ("lock length", lambda r: r.lock({"joint1": Z}), ShapeError, r"'joint1' \(continuous\) takes 1 coordinates .*got 2"),
    ("lock nested", lambda r: r.lock({"joint1": [[0.1]]}), ShapeError, r"'joint1' must be a number or a list .*\(1, 1\)"),
    ("lock nan", lambda r: r.lock({"joint1": NAN}), ShapeError, r"position of joint 'joint1' must be finite, got nan"),
    ("lock word", lambda r: r.lock({"joint1": "a"}), ShapeError, r"position of joint 'joint1' must be real numbers"),
    ("payload negative", lambda r: r.with_payload(-1), ModelError, r"payload has a negative mass, -1 kg; correct its mass"),
    ("payload word", lambda r: r.with_payload("1"), ShapeError, r"mass must be real numbers, got str"),
    ("payload none", lambda r: r.with_payload(None), ShapeError, r"mass must be real numbers, got NoneType"),
    ("payload masses", lambda r: r.with_payload([1, 2]), ShapeError, r"mass must be one number, got shape \(2,\)"),
    ("payload nan", lambda r: r.with_payload(NAN), ShapeError, r"mass must be finite, got nan"),
    ("payload com", lambda r: r.with_payload(1, [0, 0]), ShapeError, r"com must have 3 numbers .*\(x, y, z\), got 2"),
    ("payload inertia", lambda r: r.with_payload(1, inertia=[1, 1]), ShapeError, r"inertia must be 3 numbers \(xx, yy, zz\), 6"),
    ("payload triangle", lambda r: r.with_payload(1, inertia=[1, 1, 3]), ModelError, r"violate the triangle inequality"),
    ("payload skew", lambda r: r.with_payload(1, inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]), ShapeError, r"symmetric matrix"),
    ("payload overflows", lambda r: r.with_payload(1e308, [1e308, 0, 0]), ModelError, r"link 'link2'.* must be finite numbers"),
    ("gravity of two", lambda r: r.with_gravity([0, -9.81]), ShapeError, r"gravity must have 3 numbers .*got 2"),
    ("gravity scalar", lambda r: r.with_gravity(9.81), ShapeError, r"gravity must have 3 numbers .*single number 9.81"),
    ("gravity nan", lambda r: r.with_gravity([0, 0, NAN]), ShapeError, r"gravity must be finite"),
    ("scale zero", lambda r: r.scale_masses(0), ModelError, r"factor of the masses must be positive, got 0"),
    ("scale word", lambda r: r.scale_masses("2"), ShapeError, r"factor must be real numbers, got str"),
    ("scale factors", lambda r: r.scale_masses([1, 2]), ShapeError, r"factor must be one number"),
    ("frame scaled", lambda r: r.with_frame("f", 2 * np.eye(4)), ShapeError, r"origin is not a rigid transform.*orthonormal"),
    ("frame mirrored", lambda r: r.with_frame("f", np.diag([1, 1, -1, 1])), ShapeError, r"and mirrors; .*right-handed"),
    ("frame 3 by 3", lambda r: r.with_frame("f", np.eye(3)), ShapeError, r"origin must be a 4-by-4 .*\(3, 3\)"),
    ("frame last row", lambda r: r.with_frame("f", np.diag([1, 1, 1, 2])), ShapeError, r"last row 0 0 0 1"),
    ("frame twice", lambda r: r.with_frame("tip"), ModelError, r"has 2 frames named 'tip'; give each frame a name"),
    ("frame as link", lambda r: r.with_frame("link1"), ModelError, r"frame 'link1' has the name of a link; rename"),
    ("frame nameless", lambda r: r.with_frame(["f"]), ModelError, r"a frame has no name but \['f'\]; give each"),
    ("frame surrogate", lambda r: r.with_frame("\ud800"), ModelError, r"half a surrogate pair.*rename"),
    ("attach nothing", lambda r: r.attach("panda"), ShapeError, r"attach takes a Robot.*got 'panda'; cr.load"),
    ("attach itself", lambda r: r.attach(r), ModelError, r"has 2 links named 'base'.*prefix="),
    ("attach prefix", lambda r: r.attach(r, prefix=2), ShapeError, r"a string as prefix, got prefix=2"),
    ("attach where", lambda r: r.attach(r, "tipp", prefix="b_"), UnknownNameError, r"'tipp'; did you mean 'tip'\?"),
    ("rebase frame", lambda r: r.rebase("tip"), ModelError, r"'tip' is a frame; the base must be a link, such as 'link2'"),
    ("chain", lambda r: r.chain("link"), UnknownNameError, r"no link or frame named 'link'; did you mean"),
    ("chain without its leader", lambda r: cr.load("panda_hand").chain("panda_rightfinger"), ModelError,
     r"'panda_finger_joint2' follows 'panda_finger_joint1', which is not between .*lock that one first"),
    ("end-effector", lambda r: r.with_end_effector("tp"), UnknownNameError, r"'tp'; did you mean 'tip'\?"),
    ("suffix", lambda r: r.save("robot.yaml"), FormatError, r"format from 'robot.yaml': end it in .toml or .json"),
    ("folder", lambda r: r.save("/no/such/folder/robot.toml"), FormatError, r"cannot write '/no/such.*No such file"),
    ("path", lambda r: r.save(None), FormatError, r"expected the path of a robot file.*got None"),
    ("convention", lambda r: r.to_dh(convention="dh"), FormatError, r"'standard' or 'modified', got 'dh'; it is never guessed"),
    ("axes", lambda r: r.to_screws(axes="world"), FormatError, r"axes must be 'space' or 'body', got 'world'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "pattern"), [c[1:] for c in EDITS], ids=[c[0] for c in EDITS])
def test_a_bad_edit_is_refused_by_name(call, error, pattern):
    refused(lambda: call(arm()), error, pattern)


def test_a_refused_edit_leaves_no_file_behind(tmp_path):
    refused(lambda: cr.load("puma560").save(tmp_path / "puma.urdf"), FormatError, r"a rotor.*URDF cannot express")
    assert not list(tmp_path.iterdir())


def test_the_base_moves_across_joints_whose_frame_is_not_the_childs():
    """They were refused, or lost their offset: standard DH makes them."""
    rows = [(1, 0.3, 0.2, 0), (1, 0.1, 0, 0.5)]
    robot = Robot.from_dh(rows, convention="standard", masses=[1, 1], inertias=[[1, 1, 1]] * 2)
    turned = robot.rebase("link2")
    q = {"joint1": 0.4, "joint2": -0.7}
    back = turned.pose([q[name] for name in turned.joint_names], "base")
    np.testing.assert_allclose(back @ robot.pose(list(q.values()), "link2"), np.eye(4), atol=1e-12)


# --- tables ---


def dh(rows=((1, 0, 0, 0), (1, 0, 0, 0)), **options):
    return Robot.from_dh(rows, **{"convention": "standard", "masses": [1, 1], "inertias": [[1, 1, 1]] * 2, **options})


TABLES = [
    ("no rows", lambda: Robot.from_dh([], convention="standard"), FormatError, r"the DH table has no rows"),
    ("rows none", lambda: dh(None), ShapeError, r"rows must be a list, got NoneType"),
    ("row scalar", lambda: dh([1, 2]), ShapeError, r"DH row 1 must be a list, got int"),
    ("row of three", lambda: dh([(1, 0, 0), (1, 0, 0)]), ShapeError, r"row 1 must have 4 numbers \(a, alpha, d, theta\), got 3"),
    ("row word", lambda: dh([(1, 0, 0, 0), (1, "0", 0, 0)]), ShapeError, r"DH row 2: alpha must be real numbers, got str"),
    ("row nan", lambda: dh([(1, 0, NAN, 0)] * 2), ShapeError, r"DH row 1: d must be finite"),
    ("row key", lambda: dh([{"alpah": 0}] * 2), UnknownNameError, r"no column named 'alpah'; did you mean 'alpha'"),
    ("row keys missing", lambda: dh([{"a": 1, "alpha": 0}] * 2), ShapeError, r"DH row 1 has no d, theta; give it all"),
    ("convention", lambda: dh(convention="std"), FormatError, r"'standard' or 'modified', got 'std'"),
    ("types short", lambda: dh(types="R"), ShapeError, r"types must have a letter for each of the 2 rows, got 1"),
    ("types unknown", lambda: dh(types="RX"), FormatError, r"'R' \(revolute\) or 'P' \(prismatic\), got 'RX'"),
    ("types empty", lambda: dh(types=["", ""]), FormatError, r"'R' \(revolute\) or 'P'"),
    ("types words", lambda: dh(types=["Rubbish", "P"]), FormatError, r"got \['Rubbish', 'P'\]"),
    ("columns", lambda: dh(columns="a"), FormatError, r"columns must be a, alpha, d and theta in some order"),
    ("masses short", lambda: dh(masses=[1]), ShapeError, r"masses must have 2 numbers, one for each joint"),
    ("rotors long", lambda: dh(rotors=[1] * 3), ShapeError, r"rotors must have 2 numbers, one for each joint"),
    ("inertias alone", lambda: dh(masses=None), ShapeError, r"coms and inertias need masses too; give masses="),
    ("inertias scalar", lambda: dh(inertias=5), ShapeError, r"inertias must be a list, got int"),
    ("mass negative", lambda: dh(masses=[1, -1]), ModelError, r"link 'link2' has a negative mass, -1 kg"),
    ("rotor nan", lambda: dh(rotors=[NAN, 1]), ModelError, r"joint 'joint1': rotor must be finite numbers, got nan"),
    ("rotor without gear", lambda: dh(rotors=[1, 1], gears=[0, 1]), ModelError, r"rotor behind a gear of ratio 0.*1 for a"),
    ("limit nan", lambda: dh(lower=[NAN, 0]), ModelError, r"joint 'joint1': lower must be a number, got nan; leave it out"),
    ("limit infinite", lambda: dh(lower=[INF, 0]), ModelError, r"limits inf and inf leave no position"),
    ("limits crossed", lambda: dh(lower=[1, 1], upper=[0, 2]), ModelError, r"lower limit 1.0 is above .* 0.0; swap them"),
    ("friction negative", lambda: dh(viscous=[-1, 1]), ModelError, r"joint 'joint1': viscous must not be negative, got -1"),
    ("tool", lambda: dh(tool=np.eye(3)), ShapeError, r"tool must be a 4-by-4"),
    ("name", lambda: dh(name=5), ModelError, r"a robot has no name but 5"),
    ("too large", lambda: dh(masses=[1e308] * 2, coms=[[1e10, 0, 0]] * 2), ModelError, r"link 'link1'.*must be finite"),
    ("too large together", lambda: dh([(1e160, 0, 0, 0)] * 2, inertias=None), ModelError, r"far too large"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "pattern"), [c[1:] for c in TABLES], ids=[c[0] for c in TABLES])
def test_a_bad_dh_table_is_refused_by_name(call, error, pattern):
    refused(call, error, pattern)


HOME = np.array([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
SCREWS = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0.0]]).T
G = np.eye(6)


def changed(matrix, *entries):
    matrix = np.array(matrix, dtype=float)
    for i, j, value in entries:
        matrix[i, j] = value
    return matrix


def screws(**options):
    return Robot.from_screws(**{"home": HOME, "screws": SCREWS, "inertias": [G, G], **options})


MOMENT_ONLY = changed(np.diag([1, 1, 1, 0, 0, 0]), (2, 4, 1), (4, 2, 1), (1, 5, -1), (5, 1, -1))

SCREW_TABLES = [
    ("transposed", lambda: screws(screws=SCREWS.T), ShapeError, r"shape \(6, n\), .*got \(2, 6\); it looks transposed"),
    ("flat", lambda: screws(screws=SCREWS[:, 0]), ShapeError, r"screws must have shape \(6, n\)"),
    ("zero", lambda: screws(screws=SCREWS * [0, 1]), ModelError, r"screws: column 0 is zero; a joint needs an axis"),
    ("tiny", lambda: screws(screws=SCREWS * 1e-200, normalise=True), ModelError, r"screws: column 0 is zero"),
    ("nan", lambda: screws(screws=SCREWS * NAN), ShapeError, r"screws must be finite"),
    ("home scaled", lambda: screws(home=2 * HOME), ShapeError, r"home is not a rigid transform.*orthonormal"),
    ("home mirrored", lambda: screws(home=np.diag([1, 1, -1, 1])), ShapeError, r"home is not .*and mirrors"),
    ("home none", lambda: screws(home=None), ShapeError, r"home must be real numbers, got NoneType"),
    ("frames short", lambda: screws(frames=[HOME]), ShapeError, r"frames must have 3 transforms, M01 to M2,3.*got 1"),
    ("frames scalar", lambda: screws(frames=5), ShapeError, r"frames must be a list, got int"),
    ("frames none", lambda: screws(frames=[HOME, None]), ShapeError, r"frames\[1\] must be real numbers, got NoneType"),
    ("frames astray", lambda: screws(frames=[np.eye(4)] * 3), ModelError, r"home and the product of the frames differ by 2"),
    ("G short", lambda: screws(inertias=[G]), ShapeError, r"6-by-6 matrix for each of the 2 screws, got 1"),
    ("G 3 by 3", lambda: screws(inertias=[np.eye(3), G]), ShapeError, r"inertias\[0\] must be a 6-by-6"),
    ("G two masses", lambda: screws(inertias=[changed(G, (3, 3, 5)), G]), ModelError, r"inertias\[0\] is not a spatial inertia"),
    ("G asymmetric", lambda: screws(inertias=[G, changed(G, (0, 1, 0.5))]), ModelError, r"inertias\[1\] is not a spatial"),
    ("G negative", lambda: screws(inertias=[-G, G]), ModelError, r"link 'link1' has a negative mass"),
    ("G moment without mass", lambda: screws(inertias=[MOMENT_ONLY, G]), ModelError, r"inertias\[0\] has a first moment .*no mass"),
    ("axes", lambda: screws(axes="tool"), FormatError, r"axes must be 'space' or 'body', got 'tool'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "pattern"), [c[1:] for c in SCREW_TABLES], ids=[c[0] for c in SCREW_TABLES])
def test_a_bad_list_of_screws_is_refused_by_name(call, error, pattern):
    refused(call, error, pattern)


HUMANS = [
    ((0,), ModelError, r"body mass must be a positive number in kg, got 0"),
    ((70, -1), ModelError, r"body height must be a positive number in m, got -1"),
    ((NAN,), ShapeError, r"body mass must be finite"),
    (("70",), ShapeError, r"body mass must be real numbers, got str"),
    (([70],), ShapeError, r"body mass must be one number"),
    ((10**400,), ShapeError, r"body mass must be real numbers"),
    ((1e308, 1e308), ModelError, r"link 'upper_arm': .*must be finite"),
    ((70, 1.7, "winters"), UnknownNameError, r"'winters'; did you mean 'winter'"),
    ((70, 1.7, ["winter"]), UnknownNameError, r"no anthropometric table named \['winter'\]"),
    ((70, 1.7, "winter", None), ModelError, r"a robot has no name but None"),
]


@pytest.mark.parametrize(("arguments", "error", "pattern"), HUMANS, ids=[str(h[0])[:30] for h in HUMANS])
def test_a_body_that_cannot_be_is_refused(arguments, error, pattern):
    refused(lambda: cr.human_arm(*arguments), error, pattern)


# --- URDF ---


INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
URDF = f"""<robot name="r"><link name="base"/>
<link name="a"><inertial><origin xyz="0 0 1" rpy="0 0 0"/><mass value="1"/>{INERTIA}</inertial></link>
<joint name="j" type="revolute"><origin xyz="0 0 0" rpy="0 0 0"/><parent link="base"/><child link="a"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="5" velocity="5"/><dynamics damping="0.1" friction="0.2"/></joint>
</robot>"""
SECOND = """<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="k" type="continuous"><parent link="a"/><child link="b"/>{}</joint></robot>"""
LOOSE = """<link name="x"/><link name="y"/><joint name="p" type="fixed"><parent link="x"/><child link="y"/></joint>
<joint name="q" type="fixed"><parent link="y"/><child link="x"/></joint></robot>"""

URDFS = [
    ("misspelt axis", "<axis", "<axes", FormatError, r"line 4, <axes>: unknown element; did you mean <axis>\?"),
    ("misspelt origin", '<origin xyz="0 0 0"', '<orgin xyz="0 0 0"', FormatError, r"<orgin>: .*did you mean <origin>"),
    ("misspelt attribute", 'upper="1"', 'uper="1"', FormatError, r"unknown attribute 'uper'; there are lower, upper"),
    ("a quaternion", 'rpy="0 0 0"', 'quat_xyzw="0 0 0 1"', FormatError, r"<origin>: unknown attribute 'quat_xyzw'"),
    ("zero axis", 'axis xyz="0 0 1"', 'axis xyz="0 0 0"', FormatError, r"<joint name='j'>: has a zero axis; .*xyz='0 0 1'"),
    ("tiny axis", 'axis xyz="0 0 1"', 'axis xyz="0 0 1e-160"', FormatError, r"'j'>: has a zero axis"),
    ("two numbers", 'axis xyz="0 0 1"', 'axis xyz="0 1"', FormatError, r"<axis>: xyz='0 1' should be 3 numbers, got 2"),
    ("commas", 'xyz="0 0 0"', 'xyz="0,0,0"', FormatError, r"xyz='0,0,0' should be numbers separated by spaces"),
    ("underscore", 'value="1"', 'value="1_0"', FormatError, r"<mass>: value='1_0' should be numbers"),
    ("other digits", 'value="1"', 'value="\u0661"', FormatError, "<mass>: value='\u0661' should be numbers"),
    ("xacro number", 'value="1"', 'value="${m}"', FormatError, r"<mass>: value='\$\{m\}' should be numbers"),
    ("xacro", "<link name", '<x:macro xmlns:x="http://www.ros.org/wiki/xacro"/><link name', FormatError, r"run the program xacro"),
    ("no value", ' value="1"', "", FormatError, r"line 2, <mass>: needs the attribute 'value', one number"),
    ("no ixx", 'ixx="1" ', "", FormatError, r"<inertia>: needs the attribute 'ixx', one number"),
    ("no mass", '<mass value="1"/>', "", FormatError, r"<inertial>: needs a <mass> element"),
    ("two masses", "<mass", '<mass value="2"/><mass', FormatError, r"2 <mass> elements in this inertial; keep one"),
    ("negative mass", 'value="1"', 'value="-1"', ModelError, r"robot 'r', link 'a' has a negative mass, -1 kg; masses are"),
    ("not positive", 'ixx="1"', 'ixx="-1"', ModelError, r"link 'a' .*not positive definite.*repair=True"),
    ("triangle", 'ixx="1"', 'ixx="3"', ModelError, r"link 'a' .*triangle inequality.*repair=True .*check=False"),
    ("type", 'type="revolute"', 'type="hinge"', FormatError, r"'j'>: unknown joint type 'hinge'; URDF has revolute"),
    ("no type", 'type="revolute"', "", FormatError, r"'j'>: needs the attribute 'type'"),
    ("no parent", '<parent link="base"/>', "", FormatError, r"'j'>: needs a <parent> element"),
    ("unknown parent", '<parent link="base"/>', '<parent link="bas"/>', UnknownNameError, r"'j' has no link named 'bas'; .*'base'"),
    ("nameless", 'name="j"', 'name=""', FormatError, r"<joint name=''>: needs the attribute 'name'"),
    ("same links", '<link name="a">', '<link name="base">', ModelError, r"2 links named 'base'; give each link a name"),
    ("same joints", "</robot>", SECOND.replace('"k"', '"j"'), ModelError, r"2 joints named 'j'; give each joint a name"),
    ("two roots", "</robot>", '<link name="x"/></robot>', ModelError, r"2 root links \('base', 'x'\); connect them"),
    ("own parent", '<parent link="base"/>', '<parent link="a"/>', ModelError, r"form a loop that the base 'base' does not reach"),
    ("loop", "</robot>", '<joint name="l" type="fixed"><parent link="a"/><child link="base"/></joint></robot>', ModelError,
     r"the joints form a loop: 'a' <- 'base' <- 'a'"),
    ("loose loop", "</robot>", LOOSE, ModelError, r"loop that the base 'base' does not reach: 'y' <- 'x' <- 'y'"),
    ("two parents", "</robot>", SECOND.replace('child link="b"', 'child link="a"'), ModelError,
     r"'a' is the child of both joint 'j' and joint 'k'.*one parent"),
    ("massless leaf", "</robot>",
     '<link name="b"/><joint name="k" type="continuous"><parent link="a"/><child link="b"/></joint></robot>', ModelError,
     r"joint 'k' moves no mass \(links 'b'\).*give the link an inertia or the joint a rotor"),
    ("mimic missing", "</robot>", SECOND.format('<mimic joint="jj"/>'), UnknownNameError, r"'k', mimic.*'jj'; did you mean 'j'"),
    ("mimic itself", "</robot>", SECOND.format('<mimic joint="k"/>'), ModelError, r"joint 'k' mimics 'k'"),
    ("mimic nan", "</robot>", SECOND.format('<mimic joint="j" offset="nan"/>'), FormatError, r"<mimic>: offset='nan' is not finite"),
    ("limits crossed", 'lower="-1"', 'lower="2"', ModelError, r"joint 'j': the lower limit 2.0 is above .*swap them"),
    ("negative speed", 'velocity="5"', 'velocity="-5"', ModelError, r"joint 'j': velocity must not be negative"),
    ("negative damping", 'damping="0.1"', 'damping="-1"', ModelError, r"joint 'j': viscous must not be negative"),
    ("other root", "<robot", "<robots", FormatError, r"not well-formed XML"),
    ("cut off", "</joint>\n</robot>", "", FormatError, r"not well-formed XML: .*it may be truncated"),
    ("doctype", "<robot", "<!DOCTYPE robot><robot", FormatError, r"document type declaration .*remove it"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "error", "pattern"), [u[1:] for u in URDFS], ids=[u[0] for u in URDFS])
def test_a_bad_urdf_is_refused_by_file_line_and_name(old, new, error, pattern):
    assert old in URDF
    refused(lambda: Robot.from_urdf(URDF.replace(old, new, 1)), error, pattern)


NUMBERS = (
    "xyz", "rpy", "value", "ixx", "iyy", "izz", "ixy", "ixz", "iyz", "lower", "upper", "effort", "velocity", "damping",
    "friction",
)  # fmt: skip


@pytest.mark.parametrize("attribute", NUMBERS)
@pytest.mark.parametrize("word", ["nan", "inf", "-Infinity", "1e999"])
def test_no_number_of_a_urdf_may_be_infinite_or_none(attribute, word):
    start = URDF.index(f' {attribute}="') + len(attribute) + 3
    end = URDF.index('"', start)
    spoilt = " ".join([word] * len(URDF[start:end].split()))
    refused(
        lambda: Robot.from_urdf(URDF[:start] + spoilt + URDF[end:]),
        FormatError,
        rf"{attribute}='{word}.* is not finite",
    )


def test_mimics_of_mimics_and_of_fixed_joints_are_refused():
    leader = URDF.replace('<child link="a"/>', '<child link="a"/><mimic joint="k"/>')
    ring = leader.replace("</robot>", SECOND.format('<mimic joint="j"/>'))
    refused(lambda: Robot.from_urdf(ring), ModelError, r"joint 'j' mimics 'k', which mimics 'j': name that one instead")
    still = URDF.replace("revolute", "fixed").replace("</robot>", SECOND.format('<mimic joint="j"/>'))
    refused(
        lambda: Robot.from_urdf(still), ModelError, r"'k' \(continuous\) mimics 'j' \(fixed\), but only joints with one"
    )


def test_a_robot_without_masses_has_kinematics_and_no_dynamics():
    robot = Robot.from_urdf(URDF[: URDF.index("<inertial>")] + URDF[URDF.index("</inertial>") + 11 :])
    assert robot.pose([0.0]).shape == (4, 4)
    assert any("no masses" in note for note in robot.model.notes)
    refused(
        lambda: robot.mass_matrix([0.0]), ModelError, r"mass_matrix: robot 'r' has no masses.*give its links masses"
    )
    again = robot.with_frame("f").with_frame("g")
    assert again.model.notes == robot.model.notes


def test_an_encoding_named_in_text_is_that_of_the_file_it_came_from():
    for start in ('<?xml version="1.0" encoding="ISO-8859-1"?>', '<?xml version="1.0" encoding="utf-16"?>', "\ufeff"):
        assert Robot.from_urdf(start + URDF.replace('name="r"', 'name="rüber"')).name == "rüber"


def test_extensions_of_urdf_by_other_programs_pass():
    extended = URDF.replace("</robot>", '<gazebo reference="a"><mu>1</mu></gazebo><ros2_control/></robot>')
    extended = extended.replace('effort="5"', 'effort="5" acceleration="3"').replace(
        "<axis", "<safety_controller/><axis"
    )
    assert Robot.from_urdf(extended) == Robot.from_urdf(URDF)


# --- files ---


BOMB = (
    '<!DOCTYPE b [<!ENTITY a0 "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    + ']><robot name="&a9;"><link name="l"/></robot>'
)

FILES = [
    ("empty.urdf", b"", r"empty.urdf is not well-formed XML: Document is empty"),
    ("empty.toml", b"", r"empty.toml is not a chainrule robot: it should say format = 'chainrule 1'"),
    ("empty.json", b"", r"empty.json is not valid JSON"),
    ("garbage.urdf", bytes(range(256)) * 9, r"garbage.urdf is not well-formed XML: .*no XML at all"),
    ("garbage.toml", bytes(range(256)) * 9, r"garbage.toml is not UTF-8 text .*save it as UTF-8"),
    ("utf16.toml", 'format = "chainrule 1"'.encode("utf-16"), r"utf16.toml is not UTF-8 text"),
    ("list.json", b"[]", r"list.json should hold a table, in braces, and holds a list"),
    ("nested.json", b'{"a":' * 100_000, r"nested.json nests its tables too deeply"),
    ("nested.toml", b"a=" + b"[" * 100_000, r"nested.toml nests its tables too deeply"),
    ("digits.json", b'{"format": ' + b"1" * 5000 + b"}", r"digits.json cannot be read: .*5000 digits"),
    ("digits.toml", b"format = " + b"1" * 5000, r"digits.toml cannot be read: .*5000 digits"),
    ("twice.json", b'{"name": 1, "name": 2}', r"twice.json cannot be read: the key 'name' is given twice; keep one"),
    ("twice.toml", b"name = 1\nname = 2", r"twice.toml is not valid TOML: Cannot overwrite a value"),
    ("bomb.urdf", BOMB.encode(), r"bomb.urdf .*amplification|document type declaration"),
    ("deep.urdf", b"<robot>" + b"<a>" * 5000, r"deep.urdf is not well-formed XML: .*256 levels"),
    (
        "long.urdf",
        b'<robot name="' + b"a" * 20_000_000,
        r"long.urdf is not well-formed XML: .*no robot file needs texts of 10 MB",
    ),
    ("other.urdf", b"<html/>", r"other.urdf is not URDF: its root element is <html>, not <robot>"),
    ("mjcf.urdf", b"<mujoco/>", r"mjcf.urdf is not URDF: .*use Robot.from_mjcf"),
    ("other.xml", b"<html/>", r"other.xml is not URDF"),
    ("robot.step", b"", r"cannot tell the format of '.*robot.step': robots come as .urdf, .xml, .toml or .json"),
]


@pytest.mark.parametrize(("name", "content", "pattern"), FILES, ids=[f[0] for f in FILES])
def test_a_file_that_holds_no_robot_is_refused_by_name(tmp_path, name, content, pattern):
    path = tmp_path / name
    path.write_bytes(content)
    assert len(refused(lambda: cr.load(path), FormatError, pattern)) < 500


def test_files_in_other_encodings_are_read_as_they_say(tmp_path):
    for encoding in ("utf-16", "utf-8-sig"):
        (tmp_path / "r.urdf").write_bytes(URDF.encode(encoding))
        assert cr.load(tmp_path / "r.urdf") == Robot.from_urdf(URDF)
    (tmp_path / "r.toml").write_bytes(b"\xef\xbb\xbf" + DOCUMENT_TOML.encode())
    assert cr.load(tmp_path / "r.toml") == Robot.from_native(DOCUMENT_TOML)


def test_external_entities_are_not_read(tmp_path):
    (tmp_path / "secret").write_text("SECRET")
    for entity in ("a", "% a"):
        text = f'<!DOCTYPE r [<!ENTITY {entity} SYSTEM "file://{tmp_path}/secret">]><robot name="r"><link name="&a;"/></robot>'
        message = refused(
            lambda text=text: Robot.from_urdf(text), FormatError, r"document type declaration|not well-formed"
        )
        assert "SECRET" not in message


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    refused(lambda: cr.load(tmp_path / "none.urdf"), FormatError, r"cannot read '.*none.urdf': No such file")
    (tmp_path / "folder.urdf").mkdir()
    refused(lambda: cr.load(tmp_path / "folder.urdf"), FormatError, r"is a folder; give the path of a robot file in it")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.urdf")
        refused(lambda: cr.load(tmp_path / "pipe.urdf"), FormatError, r"pipe.urdf' is not a regular file")
    (tmp_path / "loop.urdf").symlink_to(tmp_path / "loop.urdf")
    refused(lambda: cr.load(tmp_path / "loop.urdf"), FormatError, r"cannot read '.*loop.urdf'")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read_is_refused_by_name(tmp_path):
    path = tmp_path / "locked.urdf"
    path.write_text(URDF)
    path.chmod(0)
    refused(lambda: cr.load(path), FormatError, r"cannot read '.*locked.urdf': Permission denied")


LOADS = [
    (None, {}, FormatError, r"expected the path of a robot file.*got None"),
    (5, {}, FormatError, r"expected the path of a robot file.*got 5"),
    (b"panda", {}, FormatError, r"expected the path of a robot file.*got b'panda'"),
    ("pandaa", {}, UnknownNameError, r"chainrule has no robot named 'pandaa'; did you mean 'panda'\?"),
    (Path("panda"), {}, FormatError, r"cannot tell the format of 'panda'"),
    ("", {}, UnknownNameError, r"no robot named ''; there are: 'cartesian_3p'"),
    ("a\0.urdf", {}, FormatError, r"cannot read 'a\\x00.urdf': embedded null"),
    ("<robot/>", {}, FormatError, r"load takes a name or a path; for text, use Robot.from_urdf"),
    ("panda", {"floating_base": True}, FormatError, r"bundled robot 'panda' takes no options, got floating_base; edit it"),
    ("x.toml", {"floating_base": True}, UnknownNameError, r"from_native has no option named 'floating_base'; there are: 'check'"),
    ("x.urdf", {"chek": False}, UnknownNameError, r"from_urdf has no option named 'chek'; did you mean 'check'"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "options", "error", "pattern"), LOADS, ids=[repr(l[0]) for l in LOADS])
def test_what_cannot_be_loaded_is_refused_by_name(what, options, error, pattern):
    refused(lambda: cr.load(what, **options), error, pattern)


@pytest.mark.parametrize("make", [Robot.from_urdf, Robot.from_native, Robot.from_mjcf])
def test_constructors_refuse_what_is_neither_path_nor_text(make):
    for what in (None, 5, b"<robot/>", ["robot.urdf"]):
        refused(lambda what=what: make(what), FormatError, r"expected the path of a robot file")
    refused(lambda: make(""), FormatError, r"path or text of the robot is empty; give")
    refused(lambda: make("<a>\ud800</a>"), FormatError, r"not Unicode: surrogates not allowed at character 3")


# --- chainrule's own format ---


BODY = {"mass": 1.0, "com": [0, 0, 0.1], "inertia": [1, 1, 1, 0, 0, 0]}
DOCUMENT = {
    "format": "chainrule 1", "name": "r", "gravity": [0, 0, -9.81], "end_effector": "tip", "notes": ["n"],
    "link": [{"name": "base"}, *({"name": name, **BODY} for name in "abcd")],
    "joint": [
        {"name": "j", "type": "revolute", "parent": "base", "child": "a", "axis": [0, 0, 1],
         "origin": {"xyz": [0, 0, 0], "rpy": [0, 0, 0]}, "lower": -1, "upper": 1, "velocity": 1, "effort": 1,
         "viscous": 0.1, "coulomb": 0.1, "coulomb_negative": 0.1, "rotor": 0.1, "gear": 2, "stiffness": 1, "rest": 0},
        {"name": "k", "type": "helical", "parent": "a", "child": "b", "axis": [0, 0, 1], "pitch": 0.1,
         "offset": {"xyz": [0, 0, 1], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
         "mimic": {"joint": "j", "multiplier": 2, "offset": 0.1}},
        {"name": "u", "type": "universal", "parent": "b", "child": "c", "axis": [0, 0, 1], "axis2": [1, 0, 0],
         "dof": [{"lower": -1, "upper": 1}, {"viscous": 0.1}]},
        {"name": "s", "type": "screw", "parent": "c", "child": "d", "screw": [0, 0, 1, 0, 0, 0.1]},
    ],
    "frame": [{"name": "tip", "link": "d", "origin": {"xyz": [0, 0, 1]}}],
}  # fmt: skip
DOCUMENT_TOML = 'format = "chainrule 1"\nname = "r"\n[[link]]\nname = "base"\n'


def places(value, place=()):
    """Every place in a document, outermost first."""
    if place:
        yield place
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*place, key))


def put(place, value):
    document = copy.deepcopy(DOCUMENT)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return document


LIMITS = {"lower": (-INF,), "upper": (INF,), "velocity": (INF,), "effort": (INF,)}
FITTING = {"notes": (["x"], []), "dof": ([],), "origin": ({},), "offset": ({},)}  # what may stand there after all


@pytest.mark.parametrize(
    "value",
    [None, True, [1, 2], ["x"], {"a": 1}, [[0]], [], NAN, INF, -INF, 10**400, [NAN] * 3, [True] * 3, "", {}],
    ids=str,
)
def test_a_value_of_the_wrong_type_is_refused_wherever_it_stands(value):
    assert Robot.from_native(json.dumps(DOCUMENT)).n == 4
    for place in places(DOCUMENT):
        if value in LIMITS.get(place[-1], ()) or value in FITTING.get(place[-1], ()) or (place[-2:-1] == ("notes",)):
            continue
        if isinstance(value, dict) and place[-2:-1] == ("dof",) and not value:
            continue
        text = json.dumps(put(place, value))
        refused(lambda text=text: Robot.from_native(text), cr.ChainruleError, r"the given text|robot 'r'")


def test_an_unknown_key_is_refused_wherever_it_stands():
    tables = [place for place in places(DOCUMENT) if isinstance(_at(place), dict)]
    assert len(tables) == 16
    for place in [(), *tables]:
        refused(
            lambda place=place: Robot.from_native(json.dumps(put((*place, "massa"), 1))), UnknownNameError,
            r"the given text.*no key named 'massa'; (did you mean|there are)",
        )  # fmt: skip


def _at(place):
    inner = DOCUMENT
    for key in place:
        inner = inner[key]
    return inner


JOINT = {"name": "s", "parent": "c", "child": "d"}
NATIVE = [
    ("format", put(("format",), "chainrule 2"), FormatError, r"should say format = 'chainrule 1', and says 'chainrule 2'"),
    ("end-effector", put(("end_effector",), "tp"), UnknownNameError, r"'tp'; did you mean 'tip'"),
    ("end-effectors", put(("end_effector",), ["tip"]), FormatError, r"needs end_effector = a string, got \['tip'\]"),
    ("mass", put(("link", 1, "mass"), "1"), FormatError, r"link 'a': needs mass = a number, got '1'"),
    ("com of two", put(("link", 1, "com"), [0, 0]), FormatError, r"link 'a': needs com = 3 numbers in brackets"),
    ("com without mass", put(("link", 1), {"name": "a", "com": [0, 0, 1]}), FormatError, r"link 'a': needs mass = a number, got None"),
    ("huge", put(("link", 1, "mass"), 10**400), FormatError, r"link 'a': needs mass = a number, got 1000.{0,60}$"),
    ("type", put(("joint", 0, "type"), "revolut"), UnknownNameError, r"no joint type named 'revolut'; did you mean 'revolute'"),
    ("mirror", put(("joint", 1, "offset", "rotation", 2), [0, 0, -1]), FormatError, r"not a rotation matrix.*right-handed"),
    ("stretch", put(("joint", 1, "offset", "rotation", 2), [0, 0, 2]), FormatError, r"not a rotation matrix: it is off by 3"),
    ("rotation nan", put(("joint", 1, "offset", "rotation", 2), [0, 0, NAN]), FormatError, r"finite numbers"),
    ("rpy and rotation", put(("joint", 1, "offset", "rpy"), [0, 0, 0]), FormatError, r"both rpy and rotation; keep one"),
    ("mimic nan", put(("joint", 1, "mimic", "multiplier"), NAN), ModelError, r"joint 'k': multiplier and offset of mimic must be"),
    ("zero axis", put(("joint", 0, "axis"), [0, 0, 0]), FormatError, r"joint 'j': has a zero axis; .*\[0, 0, 1\]"),
    ("zero screw", put(("joint", 3, "screw"), [0] * 6), ModelError, r"joint 's' has a zero axis"),
    ("tiny screw", put(("joint", 3, "screw"), [0, 0, 1e-200, 0, 0, 1]), ModelError, r"joint 's' has a zero axis"),
    ("parallel axes", put(("joint", 2, "axis2"), [0, 0, -2]), ModelError, r"joint 'u' is universal, but .*parallel; turn one"),
    ("fixed along", put(("joint", 3), {**JOINT, "type": "fixed", "axis": [0, 0, 1]}), FormatError, r"axis is not for this fixed"),
    ("fixed screw", put(("joint", 3), {**JOINT, "type": "fixed", "screw": [0, 0, 1, 0, 0, 0]}), FormatError, r"screw is not for"),
    ("pitch", put(("joint", 0, "pitch"), 1), FormatError, r"pitch is not for this revolute joint, which takes axis; remove it"),
    ("axis and screw", put(("joint", 3, "axis"), [0, 0, 1]), FormatError, r"axis is not for this screw joint, which takes screw"),
    ("revolute that slides", put(("joint", 3), {**JOINT, "type": "revolute", "screw": [0, 0, 0, 0, 0, 1]}), FormatError,
     r"screw of a revolute joint must turn"),
    ("prismatic that turns", put(("joint", 3), {**JOINT, "type": "prismatic", "screw": [0, 0, 1, 0, 0, 1]}), FormatError,
     r"screw of a prismatic joint must not turn"),
    ("planar", put(("joint", 3), {**JOINT, "type": "planar", "axis": [0, 1, 1]}), ModelError, r"normal of a planar joint must be"),
    ("friction of many", put(("joint", 2, "viscous"), 1), FormatError, r"viscous belongs to one degree of freedom.*dof = \["),
    ("dof count", put(("joint", 2, "dof"), [{}]), ModelError, r"'u' \(universal\) has 2 degrees of freedom, but properties for 1"),
    ("spring of a ball", put(("joint", 3), {**JOINT, "type": "spherical", "dof": [{"stiffness": 1}, {}, {}]}), ModelError,
     r"spherical joint cannot carry a spring"),
    ("surrogate", put(("name",), "\ud800"), ModelError, r"half a surrogate pair"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "error", "pattern"), [n[1:] for n in NATIVE], ids=[n[0] for n in NATIVE])
def test_a_bad_document_is_refused_by_place(document, error, pattern):
    refused(lambda: Robot.from_native(json.dumps(document)), error, pattern)


def test_a_joint_hidden_behind_an_offset_is_checked_too():
    def robot(axis, offset):
        kind = Moved(Screw.revolute(axis), Transform(Rotation.identity(), offset))
        model = Model.build("r", [Link("base"), Link("a", 1.0)], [Joint("j", "base", "a", kind)])
        return Robot(model).scale_masses(1.0)

    refused(lambda: robot(Vector(0.0, 0.0, NAN), Vector.zero()), ModelError, r"joint 'j': axis must be finite")
    refused(
        lambda: robot(Vector(0.0, 0.0, 1.0), Vector(0.0, NAN, 0.0)), ModelError, r"joint 'j': offset must be finite"
    )


def test_an_offset_of_a_fixed_joint_counts_in_every_function():
    fixed = {
        "name": "f",
        "type": "fixed",
        "parent": "c",
        "child": "d",
        "origin": {"xyz": [1, 0, 0]},
        "offset": {"xyz": [0, 2, 0]},
    }
    robot = Robot.from_native(json.dumps(put(("joint", 3), fixed)))
    q = robot.neutral()
    np.testing.assert_allclose(robot.pose(q, "d"), robot.poses(q)[robot.link_names.index("d")])


# --- the command line ---


def cli(*words):
    return subprocess.run([sys.executable, "-m", "chainrule.cli", *words], capture_output=True, text=True, check=False)


COMMANDS = [
    (("info", "pandaa"), 1, r"no robot named 'pandaa'; did you mean 'panda'"),
    (("info", "[/red]"), 1, r"cannot tell the format of '\[/red\]'"),
    (("torque", "planar_2r", "--q", "1"), 1, r"q must have 2 numbers"),
    (("torque", "planar_2r", "--q", "a,b"), 2, r"'a,b' should be numbers separated by commas"),
    (("torque", "planar_2r", "--tip-wrench", "1,2,3"), 1, r"tip_wrench must have 6 numbers"),
    (("torque", "planar_2r", "--degrees", "--q", "1,2,3"), 1, r"q must have 2 numbers .*got 3"),
    (("demo", "none.urdf"), 1, r"cannot read 'none.urdf'"),
    (("dmeo",), 2, r"No such command 'dmeo'"),
]


@pytest.mark.parametrize(("words", "code", "pattern"), COMMANDS, ids=[" ".join(c[0]) for c in COMMANDS])
def test_a_bad_command_ends_in_one_line_and_no_traceback(words, code, pattern):
    done = cli(*words)
    assert done.returncode == code
    assert re.search(pattern, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_names_are_shown_as_they_are_whatever_a_terminal_would_make_of_them(tmp_path):
    path = tmp_path / "names.json"
    joint = {"name": "\\[j]", "type": "continuous", "parent": "[bold]b[/]", "child": ":smile:", "axis": [0, 0, 1]}
    links = [{"name": "[bold]b[/]"}, {"name": ":smile:", **BODY}]
    document = {
        "format": "chainrule 1",
        "name": "[red]r\x1b[31m\u202e",
        "notes": ["\x9b[/]"],
        "link": links,
        "joint": [joint],
    }
    path.write_text(json.dumps(document))
    for command in ("info", "demo"):
        done = cli(command, str(path))
        assert done.returncode == 0, done.stderr
        for name in ("[red]r\\x1b[31m\\u202e", "[bold]b[/]", ":smile:", "\\[j]"):
            assert name in done.stdout
        assert not {"\x1b", "\x9b", "\u202e"} & set(done.stdout)


def test_a_state_without_a_number_is_shown_as_such():
    assert cli("torque", "planar_2r", "--q", "nan,0").stdout.count("nan") >= 4


def test_a_robot_that_cannot_move_can_still_be_shown(tmp_path):
    (tmp_path / "still.urdf").write_text('<robot name="still"><link name="base"/></robot>')
    for command in ("info", "torque", "demo"):
        done = cli(command, str(tmp_path / "still.urdf"))
        assert done.returncode == 0, done.stderr


# --- large files ---


BIG = """<link name="l{i}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>{pad}</link>
<joint name="j{i}" type="{kind}"><parent link="l{parent}"/><child link="l{i}"/><axis xyz="0 0 1"/></joint>
"""


def big(count, *, star=False, kind="continuous", pad=""):
    rows = (BIG.format(i=i, parent=0 if star else i - 1, kind=kind, pad=pad) for i in range(1, count))
    return '<robot name="big"><link name="l0"/>\n' + "".join(rows) + "</robot>"


SIZES = [5_000, pytest.param(100_000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("kind", ["continuous", "fixed"])
@pytest.mark.parametrize("star", [False, True], ids=["chain", "star"])
def test_a_robot_of_many_links_loads(tmp_path, count, kind, star):
    (tmp_path / "big.urdf").write_text(big(count, star=star, kind=kind))
    robot = cr.load(tmp_path / "big.urdf")
    assert len(robot.link_names) == count
    assert robot.n == (count - 1 if kind == "continuous" else 0)
    assert robot.pose(robot.neutral(), f"l{count - 1}").shape == (4, 4)
    assert robot.mass == (count - 1 if kind == "continuous" else 0)


@pytest.mark.parametrize("count", SIZES)
def test_a_large_robot_with_a_fault_is_refused_in_few_words(count):
    loop = f'<joint name="x" type="fixed"><parent link="l{count - 1}"/><child link="l0"/></joint></robot>'
    message = refused(
        lambda: Robot.from_urdf(big(count).replace("</robot>", loop)), ModelError, r"the joints form a loop"
    )
    assert len(message) < 300
    roots = '<robot name="r">' + "".join(f'<link name="l{i}"/>' for i in range(count)) + "</robot>"
    message = refused(lambda: Robot.from_urdf(roots), ModelError, rf"has {count} root links .*connect them")
    assert len(message) < 300


@pytest.mark.parametrize("count", [5_000, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_a_large_robot_in_the_own_format_loads_as_it_was_saved(tmp_path, count, suffix):
    robot = Robot.from_urdf(big(count))
    robot.save(tmp_path / f"big{suffix}")
    assert cr.load(tmp_path / f"big{suffix}") == robot


@pytest.mark.parametrize("megabytes", [5, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("pad", ["visuals", "comments", "names"])
def test_a_padded_file_loads_as_without_its_padding(tmp_path, megabytes, pad):
    filling = {
        "visuals": "<visual><geometry><box size='1 1 1'/></geometry></visual>\n",
        "comments": "<!-- nothing to see here -->\n",
        "names": f"<visual name='{'x' * 1_000_000}'/>",
    }[pad]
    padded = big(11, pad=filling * (megabytes * 100_000 // len(filling) + 1))
    assert len(padded) > megabytes * 1_000_000
    (tmp_path / "padded.urdf").write_text(padded)
    assert cr.load(tmp_path / "padded.urdf") == Robot.from_urdf(big(11))


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(300 * 1024 * 1024)
    refused(lambda: cr.load(path), FormatError, r"huge.urdf' has 300 MiB; files over 256 MiB are not read")


def test_an_endless_attribute_is_quoted_in_part(tmp_path):
    spoilt = URDF.replace('xyz="0 0 0"', f'xyz="{"0 " * 100_000}"', 1)
    message = refused(lambda: Robot.from_urdf(spoilt), FormatError, r"should be 3 numbers, got 100000")
    assert len(message) < 300


PANDA = cr.load("panda")
ZEROS = [0.0] * 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cr.Robot("panda"), r"a Robot is made of a Model.*cr.load takes names and paths"),
        (lambda: PANDA.pose(ZEROS, ["panda_link1"]), "named by a string"),
        (
            lambda: PANDA.inverse_dynamics(ZEROS, ZEROS, ZEROS, wrenches=[1]),
            "wrenches must be a dictionary of link names",
        ),
        (lambda: PANDA.joint_wrenches(ZEROS, ZEROS, ZEROS, joints=5), "joints must be a list of names"),
        (lambda: PANDA.joint_wrenches(ZEROS, ZEROS, ZEROS, joints=["panda_joint9"]), "did you mean 'panda_joint"),
        (lambda: PANDA.random_state(5), "rng must be a NumPy random generator"),
        (lambda: PANDA.random_state(shape=-1), "shape must be a size or a tuple of sizes"),
        (lambda: PANDA.random_state(shape="ab"), "shape must be a size or a tuple of sizes"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named(call, message):
    with pytest.raises(cr.ChainruleError, match=message):
        call()


def test_a_quaternion_too_short_to_have_a_direction_is_refused():
    robot = cr.load("quadruped")
    q = robot.neutral()
    q[3:7] = [0, 0, 0, 1e-200]
    with pytest.raises(cr.ShapeError, match="is zero, which is no"):
        robot.mass_matrix(q)
