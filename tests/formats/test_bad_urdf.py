"""A bad URDF is refused by file, line and name."""

import pytest
from refusals import refused

from chainrule import FormatError, ModelError, Robot, UnknownNameError

from .samples import SECOND, URDF

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")]

LOOSE = """<link name="x"/><link name="y"/><joint name="p" type="fixed"><parent link="x"/><child link="y"/></joint>
<joint name="q" type="fixed"><parent link="y"/><child link="x"/></joint></robot>"""

URDFS = [
    ("zero axis", 'axis xyz="0 0 1"', 'axis xyz="0 0 0"', FormatError, r"<joint name='j'>: has a zero axis; .*xyz='0 0 1'"),
    ("tiny axis", 'axis xyz="0 0 1"', 'axis xyz="0 0 1e-160"', FormatError, r"'j'>: has a zero axis"),
    ("two numbers", 'axis xyz="0 0 1"', 'axis xyz="0 1"', FormatError, r"<axis>: xyz='0 1' should be 3 numbers, got 2"),
    ("commas", 'xyz="0 0 0"', 'xyz="0,0,0"', FormatError, r"xyz='0,0,0' should be numbers separated by spaces"),
    ("underscore", 'value="1"', 'value="1_0"', FormatError, r"<mass>: value='1_0' should be numbers"),
    ("other digits", 'value="1"', 'value="\u0661"', FormatError, "<mass>: value='\u0661' should be numbers"),
    ("xacro number", 'value="1"', 'value="${m}"', FormatError, r"<mass>: value='\$\{m\}' should be numbers"),
    ("xacro", "<link name", '<x:macro xmlns:x="http://www.ros.org/wiki/xacro"/><link name', FormatError, r"use chainrule.load, or run xacro on it"),
    ("no value", ' value="1"', "", FormatError, r"line 2, <mass>: needs the attribute 'value', one number"),
    ("no ixx", 'ixx="1" ', "", FormatError, r"<inertia>: needs the attribute 'ixx', one number"),
    ("no mass", '<mass value="1"/>', "", FormatError, r"<inertial>: needs a <mass> element"),
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
    ("mimic nan", "</robot>", SECOND.format('<mimic joint="j" offset="nan"/>'), FormatError, r"<mimic>: offset='nan' is not finite"),
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


def test_a_robot_without_masses_has_kinematics_and_no_dynamics():
    robot = Robot.from_urdf(URDF[: URDF.index("<inertial>")] + URDF[URDF.index("</inertial>") + 11 :])
    assert robot.pose([0.0]).shape == (4, 4)
    assert any("robot 'r' has no masses" in note for note in robot.model.notes)
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
