"""A bad edit, file name or option is refused by name, and leaves nothing behind."""

import math

import numpy as np
import pytest
from refusals import refused

import chainrule as cr
from chainrule import FormatError, ModelError, Robot, ShapeError, UnknownNameError

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")]

NAN = math.nan
Z = [0.0, 0.0]


def arm():
    return cr.load("planar_2r")


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
    ("gravity of two", lambda r: r.edit(gravity=[0, -9.81]), ShapeError, r"gravity must have 3 numbers .*got 2"),
    ("gravity scalar", lambda r: r.edit(gravity=9.81), ShapeError, r"gravity must have 3 numbers .*single number 9.81"),
    ("gravity nan", lambda r: r.edit(gravity=[0, 0, NAN]), ShapeError, r"gravity must be finite"),
    ("scale zero", lambda r: r.scale_masses(0), ModelError, r"factor of the masses must be positive, got 0"),
    ("scale word", lambda r: r.scale_masses("2"), ShapeError, r"factor must be real numbers, got str"),
    ("scale factors", lambda r: r.scale_masses([1, 2]), ShapeError, r"factor must be one number"),
    ("frame scaled", lambda r: r.with_frame("f", 2 * np.eye(4)), ShapeError, r"origin is not a rigid transform.*orthonormal"),
    ("frame mirrored", lambda r: r.with_frame("f", np.diag([1, 1, -1, 1])), ShapeError, r"mirrors; .*right-handed"),
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
    ("convention", lambda r: r.textbook.to_dh(convention="dh"), FormatError, r"'standard' or 'modified' \(Craig\), got 'dh'; it is never guessed"),
    ("axes", lambda r: r.textbook.to_screws(axes="world"), FormatError, r"axes must be 'space' or 'body', got 'world'"),
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


def test_edits_refuse_limits_that_cannot_be_instead_of_dropping_them():
    robot = cr.load("panda")
    name = robot.joint_names[0]
    with pytest.raises(
        cr.ModelError, match=r"joint 'panda_joint1': the lower limit 2.0 is above the upper limit 1.0; swap"
    ):
        robot.edit(joints={name: {"lower": 2.0, "upper": 1.0}})
    with pytest.raises(cr.ModelError, match=r"joint 'panda_joint1': the lower limit 3.0 is above"):
        robot.edit(joints={name: {"lower": 3.0}})
    with pytest.raises(cr.ModelError, match="effort must not be negative"):
        robot.edit(joints={"*": {"effort": -1.0}})
