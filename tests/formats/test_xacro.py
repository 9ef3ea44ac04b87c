"""Xacro files are expanded by the package xacro; what it refuses, and what it lacks, is said."""

import sys

import pytest
from refusals import refused

import chainrule as cr
from chainrule import FormatError, ModelWarning, Robot, ShapeError
from chainrule.formats import registry

from .samples import INERTIA, URDF

pytest.importorskip("xacro")

HEAD = '<robot name="{}" xmlns:xacro="http://www.ros.org/wiki/xacro">'
MACRO = f"""<xacro:macro name="arm" params="mass">
<link name="base"/><link name="a"><inertial><origin xyz="0 0 ${{length / 2}}"/><mass value="${{mass}}"/>{INERTIA}</inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/></joint></xacro:macro>"""
BODY = """<xacro:arg name="mass" default="2"/><xacro:property name="length" value="0.5"/>"""
CALL = """<xacro:arm mass="$(arg mass)"/>"""
XACRO = f"{HEAD.format('r')}{BODY}{MACRO}{CALL}</robot>"


def test_a_xacro_file_is_a_robot_with_arguments(tmp_path):
    (tmp_path / "arm.urdf.xacro").write_text(XACRO)
    for thing in (tmp_path / "arm.urdf.xacro", tmp_path):
        robot = cr.load(thing)
        assert (robot.model.links[1].mass, robot.model.links[1].com.z) == (2.0, 0.25)
        assert cr.load(thing, args={"mass": 3}).model.links[1].mass == 3.0
    assert cr.load(XACRO, xacro=True) == cr.load(XACRO.encode(), xacro=True) == robot


def test_a_program_is_run_only_by_its_name_or_on_request(tmp_path):
    """An expression of xacro can do anything; a file that calls itself URDF is data."""
    mark = tmp_path / "mark"
    leave = f"${{[a:=[],a.append(b.gi_frame.f_back.f_back.f_back for b in a),[x for x in a[0]][0].f_builtins['open']('{mark}','w')][-1]}}"
    program = XACRO.replace('value="0.5"', f'value="{leave}"')
    (tmp_path / "arm.urdf").write_text(program)
    (tmp_path / "arm.xml").write_text(program)
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "arm.urdf").write_text(program)
    words = (
        r"is xacro inside, a program .*; if you trust it, pass xacro=True, or give the file a name that ends in .xacro"
    )
    for thing in (tmp_path / "arm.urdf", str(tmp_path / "arm.xml"), tmp_path / "only", program, program.encode()):
        refused(lambda thing=thing: cr.load(thing), FormatError, words)
        refused(lambda thing=thing: cr.load(thing, args={"mass": 1}), FormatError, words)
        refused(lambda thing=thing: cr.load(thing, xacro=False), FormatError, "run it yourself and give its result")
    with (tmp_path / "arm.urdf").open() as file:
        refused(lambda: cr.load(file), FormatError, words)
    (tmp_path / "trusted.xacro").write_text(XACRO)
    refused(
        lambda: cr.load(tmp_path / "trusted.xacro", xacro=False), FormatError, "run it yourself and give its result"
    )
    refused(lambda: cr.load(tmp_path / "trusted.xacro", xacro="yes"), ShapeError, "xacro")
    assert not mark.exists()
    assert cr.load("panda", xacro=True) == cr.load("panda", check=False)  # a permission, which others do not need


def test_truth_values_are_written_as_xacro_writes_them():
    text = f'{HEAD.format("r")}<xacro:arg name="hand" default="false"/><link name="base"/><xacro:if value="$(arg hand)"><link name="hand"/><joint name="f" type="fixed"><parent link="base"/><child link="hand"/></joint></xacro:if></robot>'
    assert [len(cr.load(text, args={"hand": hand}, xacro=True).model.links) for hand in (False, True)] == [1, 2]


def test_packages_are_found_in_includes(tmp_path, monkeypatch):
    package = tmp_path / "ws" / "my_arm"
    (package / "xacro").mkdir(parents=True)
    (package / "xacro" / "macro.xacro").write_text(
        f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro">{MACRO}</robot>'
    )
    text = f'{HEAD.format("r")}{BODY}<xacro:include filename="$(find my_arm)/xacro/macro.xacro"/>{CALL}</robot>'
    (package / "xacro" / "arm.urdf.xacro").write_text(text)
    assert cr.load(package / "xacro" / "arm.urdf.xacro").joint_names == ("j",)  # upward from the file
    assert cr.load(package).joint_names == ("j",)  # the macro alone is no robot
    refused(
        lambda: cr.load(text, xacro=True),
        FormatError,
        r"cannot find 'package://my_arm': no package 'my_arm': .*search_paths",
    )
    assert cr.load(text, search_paths=[tmp_path / "ws"], xacro=True).joint_names == ("j",)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ws"))
    assert cr.load(text, xacro=True).joint_names == ("j",)


def test_a_made_urdf_is_preferred_to_its_xacro(tmp_path):
    (tmp_path / "arm.urdf.xacro").write_text(XACRO)
    (tmp_path / "arm.urdf").write_text(URDF)
    assert cr.load(tmp_path) == Robot.from_urdf(URDF)


def test_a_urdf_that_xacro_made_is_urdf():
    text = URDF.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ')
    assert registry.reader_of(registry.source.content_of(text)).name == "urdf"
    refused(lambda: cr.load(text, args={"a": 1}), FormatError, "is urdf, and the option 'args' is for xacro files")
    refused(lambda: Robot.from_urdf(XACRO), FormatError, "this is xacro, .*use chainrule.load, or run xacro on it")


WRONG = [
    (XACRO.replace("length / 2", "length / 0"), r"cannot be expanded by xacro: .*division by zero"),
    (XACRO.replace("length / 2", "height / 2"), r"name 'height' is not defined"),
    (XACRO.replace("length / 2", "length /"), r"cannot be expanded by xacro"),
    (
        XACRO.replace('<xacro:arg name="mass" default="2"/>', ""),
        r"needs the argument 'mass'; pass args=\{'mass': ...\}",
    ),
    (XACRO.replace("xacro:arm mass", "xacro:leg mass"), r"unknown macro name: xacro:leg"),
    (f'{HEAD.format("r")}<xacro:include filename="none.xacro"/></robot>', r"No such file or directory: .*none.xacro"),
    (XACRO.replace("${mass}", "${().__class__}"), r"Use of invalid name|cannot be expanded"),
    (XACRO.replace("</robot>", ""), r"the given text is not well-formed XML"),
    (f"<!DOCTYPE r>{XACRO}", r"document type declaration"),
]


@pytest.mark.parametrize(("text", "pattern"), WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_what_xacro_refuses_is_said(text, pattern, capfd):
    refused(lambda: cr.load(text, xacro=True), FormatError, pattern)
    assert capfd.readouterr() == ("", "")


def test_a_wrong_file_spoils_nothing_for_the_next():
    refused(lambda: cr.load(WRONG[0][0], xacro=True), FormatError, "division by zero")
    assert cr.load(XACRO, xacro=True).joint_names == ("j",)


def test_arguments_that_the_file_does_not_use_are_a_warning():
    with pytest.warns(ModelWarning, match=r"does not use the arguments 'mas'; those that it uses are 'mass'"):
        cr.load(XACRO, args={"mas": 3}, xacro=True)
    for wrong in (5, ["mass"], {1: 2}):
        refused(
            lambda wrong=wrong: cr.load(XACRO, args=wrong, xacro=True),
            ShapeError,
            "args must be a dictionary of names and values",
        )


def test_what_xacro_prints_is_a_warning(capfd):
    text = XACRO.replace(BODY, BODY + '${xacro.warning("mind the gap")}')
    with pytest.warns(ModelWarning, match=r"xacro says: .*mind the gap"):
        cr.load(text, xacro=True)
    assert capfd.readouterr() == ("", "")


def test_without_the_package_its_installation_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    words = r"is a xacro file, .*package xacro, which is not installed: .*pip install .*or run the program xacro"
    with pytest.raises(cr.MissingPackageError, match=words):
        cr.load(XACRO, xacro=True)
