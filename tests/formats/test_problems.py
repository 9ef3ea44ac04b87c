"""Problems of a file are told all at once: in one warning by default, in one error with check="strict"."""

import json
import math
import warnings

import numpy as np
import pytest

import chainrule as cr
from chainrule import FormatError, ModelError, ModelWarning, Robot
from chainrule.core.derived import driven_velocities
from chainrule.robot.building import to_urdf

from .samples import DOCUMENT, SECOND, URDF

pytestmark = pytest.mark.interpreted


LEAF = '<link name="b"/><joint name="k" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'

PROBLEMS = [
    ("misspelt axis", "<axis", "<axes", FormatError, r"line 4, <axes> is an unknown element; did you mean <axis>\?"),
    ("misspelt origin", '<origin xyz="0 0 0"', '<orgin xyz="0 0 0"', FormatError, r"<orgin> is an .*did you mean <origin>"),
    ("misspelt attribute", 'upper="1"', 'uper="1"', FormatError, r"unknown attribute 'uper'; there are lower, upper"),
    ("a quaternion", 'rpy="0 0 0"', 'quat_xyzw="0 0 0 1"', FormatError, r"<origin> has an unknown attribute 'quat_xyzw'"),
    ("two masses", "<mass", '<mass value="1"/><mass', FormatError, r"<mass> is given twice in this inertial; keep one"),
    ("negative mass", 'value="1"', 'value="-1"', ModelError, r"robot 'r', link 'a' has a negative mass, -1 kg"),
    ("not positive", 'ixx="1"', 'ixx="-1"', ModelError, r"link 'a' .*not positive definite.*repair=True"),
    ("triangle", 'ixx="1"', 'ixx="3"', ModelError, r"link 'a' .*triangle inequality.*repair=True"),
    ("massless leaf", "</robot>", LEAF, ModelError, r"joint 'k' moves no mass \(links 'b'\), so the mass matrix is singular"),
    ("mimic missing", "</robot>", SECOND.format('<mimic joint="jj"/>'), FormatError, r"joint 'k' mimics 'jj', .*did you mean 'j'"),
    ("mimic itself", "</robot>", SECOND.format('<mimic joint="k"/>'), FormatError, r"joint 'k' mimics 'k', so that it follows itself"),
    ("limits crossed", 'lower="-1"', 'lower="2"', ModelError, r"joint 'j': the lower limit 2.0 is above .*swap them"),
    ("negative speed", 'velocity="5"', 'velocity="-5"', ModelError, r"joint 'j': velocity must not be negative, got -5"),
    ("negative damping", 'damping="0.1"', 'damping="-1"', ModelError, r"joint 'j': viscous must not be negative, got -1"),
    ("no limits", 'lower="-1" upper="1" ', "", FormatError, r"joint 'j' is revolute but gives no lower and upper limit"),
    ("zero effort", 'effort="5"', 'effort="0"', FormatError, r"joint 'j' gives effort=\"0\", which exporters write for an unknown"),
    ("zero velocity", 'velocity="5"', 'velocity="0"', FormatError, r"joint 'j' gives velocity=\"0\", which exporters write"),
]  # fmt: skip
each = pytest.mark.parametrize(
    ("old", "new", "error", "pattern"), [entry[1:] for entry in PROBLEMS], ids=[entry[0] for entry in PROBLEMS]
)


def silent(text, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return Robot.from_urdf(text, **options)


@each
def test_a_file_with_a_problem_is_loaded_with_one_warning(old, new, error, pattern):
    text = URDF.replace(old, new, 1)
    assert text != URDF
    with pytest.warns(ModelWarning, match=pattern) as caught:
        robot = Robot.from_urdf(text)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert robot.pose(robot.neutral(), "a").shape == (4, 4)
    assert any(str(problem) in robot.model.notes for problem in robot.model.problems) or robot.model.notes


@each
@pytest.mark.parametrize("check", ["strict", True])
def test_strict_refuses_it(old, new, error, pattern, check):
    with pytest.raises(error, match=pattern) as caught:
        silent(URDF.replace(old, new, 1), check=check)
    assert type(caught.value) is error
    assert 'check="warn"' in str(caught.value)


@each
def test_unchecked_nothing_is_said(old, new, error, pattern):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Robot.from_urdf(URDF.replace(old, new, 1), check=False)


def test_all_problems_stand_in_one_warning_and_in_one_error():
    text = URDF
    for old, new in (
        ("<axis", "<axes"),
        ('ixx="1"', 'ixx="3"'),
        ('lower="-1"', 'lower="2"'),
        ('effort="5"', 'effort="0"'),
    ):
        text = text.replace(old, new, 1)
    with pytest.warns(ModelWarning) as caught:
        Robot.from_urdf(text)
    assert len(caught) == 1
    told = str(caught[0].message)
    assert told.startswith("robot 'r' has 4 problems:\n  - ")
    with pytest.raises(FormatError, match="robot 'r' has 4 problems") as refused:
        Robot.from_urdf(text, check="strict")
    for words in ("<axes>", "triangle inequality", "lower limit 2.0", 'effort="0"'):
        assert words in told
        assert words in str(refused.value)
    for way in ("repair=True", 'check="strict"', "check=False"):
        assert way in told


def test_equal_problems_share_a_line_and_long_lists_are_cut():
    joints = "".join(
        f'<link name="l{i}"/><joint name="c{i}" type="prismatic"><parent link="a"/><child link="l{i}"/>'
        '<limit lower="0" upper="1" effort="0" velocity="1"/></joint>'
        for i in range(30)
    )
    with pytest.warns(ModelWarning) as caught:
        Robot.from_urdf(URDF.replace("</robot>", joints + "</robot>"))
    text = str(caught[0].message)
    assert "joint 'c0', joint 'c1'" in text
    assert '(30 in all) gives effort="0"' in text
    assert text.count("exporters write") == 1
    wrong = "".join(f'<link name="w{i}"><inertial><mass value="1" m{i}=""/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
                    f'</link><joint name="w{i}" type="fixed"><parent link="a"/><child link="w{i}"/></joint>' for i in range(60))  # fmt: skip
    with pytest.warns(ModelWarning, match="and 20 more") as caught:
        Robot.from_urdf(URDF.replace("</robot>", wrong + "</robot>"))
    assert str(caught[0].message).count("\n") < 50


@pytest.mark.parametrize(
    ("old", "new", "pattern"),
    [
        ('ixx="1"', 'ixx="3"', "repaired: the nearest possible inertia is taken"),
        ('value="1"', 'value="-1"', "repaired: it is taken as massless"),
        ('lower="-1"', 'lower="2"', "repaired: they are swapped"),
        ('velocity="5"', 'velocity="-5"', "repaired: 5 is taken"),
        ('damping="0.1"', 'damping="-0.1"', "repaired: 0.1 is taken"),
        ("</robot>", LEAF, r"repaired: a rotor of .* kg m\^2 \(kg where it slides\) is added"),
    ],
)
def test_repair_mends_and_says_how(old, new, pattern):
    text = URDF.replace(old, new, 1)
    with pytest.warns(ModelWarning, match=pattern) as caught:
        robot = Robot.from_urdf(text, repair=True)
    assert len(caught) == 1
    again = silent(text, repair=True, check="strict")  # what is mended is no reason to refuse
    assert again == robot
    cr.core.validation.validate(robot.model, check="strict", warn=False)


def test_repair_gives_numbers_that_can_be():
    swapped = silent(URDF.replace('lower="-1"', 'lower="2"'), repair=True)
    assert (swapped.limits.lower[0], swapped.limits.upper[0]) == (1.0, 2.0)
    as_is = silent(URDF.replace('lower="-1"', 'lower="2"'))
    assert (as_is.limits.lower[0], as_is.limits.upper[0]) == (-math.inf, math.inf)
    leaf = silent(URDF.replace("</robot>", LEAF), repair=True)
    assert np.isfinite(leaf.forward_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])).all()


def test_a_singular_mass_matrix_is_refused_where_it_is_needed_by_the_joints_names():
    robot = silent(URDF.replace("</robot>", LEAF))
    assert robot.inverse_dynamics([0.1, 0.2], [0, 0], [0, 0]).shape == (2,)
    with pytest.raises(ModelError, match=r"forward_dynamics: .* singular, because 'k' moves no mass"):
        robot.forward_dynamics([0.1, 0.2], [0, 0], [0, 0])
    with pytest.raises(ModelError, match="'k' moves no mass"):
        robot.simulate([0.1, 0.2], [0.0, 0.0], 0.1)


def test_a_robot_with_a_negative_mass_has_inverse_but_no_forward_dynamics():
    robot = silent(URDF.replace('value="1"', 'value="-1"').replace('ixx="1"', 'ixx="-1"').replace('iyy="1"', 'iyy="-1"').replace('izz="1"', 'izz="-1"'))  # fmt: skip
    assert robot.mass_matrix([0.0])[0, 0] < 0
    with pytest.raises(ModelError, match="mass matrix of robot 'r' is singular"):
        robot.forward_dynamics([0.0], [0.0], [0.0])


def test_zero_effort_and_speed_of_a_urdf_are_no_limit_and_the_joint_is_driven():
    robot = silent(URDF.replace('effort="5"', 'effort="0"').replace('velocity="5"', 'velocity="0"'))
    assert robot.limits.effort[0] == math.inf
    assert robot.limits.velocity[0] == math.inf
    assert driven_velocities(robot) == (0,)
    passive = Robot.from_urdf(URDF.replace('effort="5"', 'effort="0" passive="true"'))
    assert driven_velocities(passive) == ()
    assert driven_velocities(Robot.from_urdf(to_urdf(passive))) == ()
    with pytest.raises(FormatError, match="passive='maybe' should be 'true' or 'false'"):
        Robot.from_urdf(URDF.replace('effort="5"', 'effort="0" passive="maybe"'))


def test_mimics_of_mimics_are_followed_to_the_joint_that_moves():
    first = SECOND.format('<mimic joint="m" multiplier="2" offset="0.5"/>')
    middle = (
        '<link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
        '<joint name="m" type="continuous"><parent link="a"/><child link="c"/>'
        '<mimic joint="j" multiplier="-3" offset="0.25"/></joint></robot>'
    )
    text = URDF.replace("</robot>", first).replace("</robot>", middle)
    robot = Robot.from_urdf(text)
    assert robot.joint_names == ("j",)
    follower = next(joint for joint in robot.model.joints if joint.name == "k")
    assert (follower.mimic.joint, follower.mimic.multiplier, follower.mimic.offset) == ("j", -6.0, 1.0)


def test_mimics_that_go_round_and_of_fixed_joints_are_joints_of_their_own():
    leader = URDF.replace('<child link="a"/>', '<child link="a"/><mimic joint="k"/>')
    with pytest.warns(ModelWarning, match="mimics .*so that it follows itself. It is taken as a joint of its own"):
        ring = Robot.from_urdf(leader.replace("</robot>", SECOND.format('<mimic joint="j"/>')))
    assert ring.joint_names == ("j", "k")
    still = URDF.replace("revolute", "fixed").replace("</robot>", SECOND.format('<mimic joint="j"/>'))
    with pytest.warns(
        ModelWarning, match=r"'k' \(continuous\) mimics 'j' \(fixed\), but each must have one coordinate"
    ):
        assert Robot.from_urdf(still).joint_names == ("k",)


def test_a_native_file_with_problems_is_loaded_with_a_warning(tmp_path):
    document = json.loads(json.dumps(DOCUMENT))
    document["link"][1]["inertia"] = [1, 1, 5, 0, 0, 0]
    with pytest.warns(ModelWarning, match="link 'a' has principal moments .* triangle inequality"):
        cr.load(json.dumps(document))
    with pytest.raises(ModelError, match="triangle inequality"):
        cr.load(json.dumps(document), check="strict")
    path = tmp_path / "puma.toml"
    puma = cr.load("puma560")
    puma.save(path)
    with pytest.warns(ModelWarning, match="triangle inequality|positive definite"):
        again = cr.load(path)
    assert again.model.links == puma.model.links
    assert again.model.joints == puma.model.joints


def test_notes_of_mjcf_stand_in_the_same_warning_and_strict_refuses_them():
    text = """<mujoco><worldbody><body name="b" gravcomp="1"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint name="j"/>
    <site name="s"/></body><site name="w"/></worldbody><tendon><spatial name="t"><site site="s"/><site site="w"/></spatial></tendon></mujoco>"""
    with pytest.warns(ModelWarning, match="tendon 't' is not modelled") as caught:
        Robot.from_mjcf(text)
    assert len(caught) == 1
    assert "body 'b' is not modelled" in str(caught[0].message)
    with pytest.raises(ModelError, match=r"(?s)2 problems.*body 'b' is not modelled.*tendon 't' is not modelled"):
        Robot.from_mjcf(text, check="strict")


@pytest.mark.parametrize(
    "check", ["no", "Strict", None, 2, [], object()], ids=["no", "Strict", "None", "2", "list", "object"]
)
def test_a_check_that_is_none_is_refused(check):
    with pytest.raises(cr.ShapeError, match=r'check must be "warn", "strict" .or True., or False'):
        Robot.from_urdf(URDF, check=check)
    with pytest.raises(cr.ShapeError, match=r'check must be "warn", "strict" .or True., or False'):
        Robot.from_dh([(1, 0, 0, 0)], convention="standard", masses=[1], check=check)


def test_robots_built_in_code_are_strict():
    with pytest.raises(ModelError, match=r"link 'link1' has principal moments .*check=\"warn\""):
        Robot.from_dh([(1, 0, 0, 0)], convention="standard", masses=[1], inertias=[(1, 1, 5)])
    with pytest.warns(ModelWarning, match="triangle inequality"):
        Robot.from_dh([(1, 0, 0, 0)], convention="standard", masses=[1], inertias=[(1, 1, 5)], check="warn")


def test_the_same_meaning_is_told_once():
    text = URDF.replace('ixx="1"', 'ixx="3"', 1).replace("</robot>", SECOND.format("").replace('ixx="1"', 'ixx="4"'))
    with pytest.warns(ModelWarning) as caught:
        Robot.from_urdf(text)
    told = str(caught[0].message)
    assert told.count("body that cannot exist") == 1
    assert told.count("(as above)") == 1
