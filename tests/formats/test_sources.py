"""Robots from paths, folders, texts, bytes, open files and package:// addresses; other things are told what they are."""

import io
import json
import math

import numpy as np
import pytest
from refusals import refused

import chainrule as cr
from chainrule import FormatError, ModelError, Robot, ShapeError
from chainrule.formats import packages

from .samples import DOCUMENT, DOCUMENT_TOML, URDF

pytestmark = pytest.mark.interpreted


MJCF = """<mujoco model="m"><worldbody><body name="b"><joint name="j" axis="0 1 0"/>
<geom type="sphere" size="0.1" pos="0 0 0.5"/></body></worldbody></mujoco>"""
TEXTS = {"urdf": URDF, "mjcf": MJCF, "toml": DOCUMENT_TOML, "json": json.dumps(DOCUMENT)}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_robot_is_read_from_text_bytes_and_open_files_as_from_a_file(tmp_path, text):
    path = tmp_path / "robot.anything"
    path.write_text(text)
    expected = cr.load(text)
    with open(path) as file, open(path, "rb") as binary:
        for thing in (text.encode(), bytearray(text.encode()), path, str(path), io.StringIO(text), file, binary):
            assert cr.load(thing) == expected


def test_content_decides_over_the_suffix(tmp_path):
    (tmp_path / "arm.urdf").write_text(MJCF)
    assert cr.load(tmp_path / "arm.urdf") == Robot.from_mjcf(MJCF)


def test_an_open_file_at_its_end_or_without_text_is_refused(tmp_path):
    file = io.StringIO(URDF)
    file.read()
    refused(lambda: cr.load(file), FormatError, "the open file is empty, or was read to its end before")

    class Strange:
        def read(self, size=-1):
            return 5

    refused(lambda: cr.load(Strange()), FormatError, r"its read\(\) gives int, not text or bytes")
    closed = io.StringIO(URDF)
    closed.close()
    refused(lambda: cr.load(closed), FormatError, "cannot read the open file: I/O operation on closed file")


# --- folders ---


def test_a_folder_is_its_one_robot_file(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.stl").write_bytes(b"solid a")
    (tmp_path / "notes.xml").write_text("<notes/>")
    (tmp_path / "config.json").write_text('{"a": 1}')
    (tmp_path / "arm.urdf").write_text(URDF)
    assert cr.load(tmp_path) == cr.load(str(tmp_path)) == Robot.from_urdf(URDF)


def test_a_folder_is_looked_into_one_level_down(tmp_path):
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf" / "arm.urdf").write_text(URDF)
    assert cr.load(tmp_path).joint_names == ("j",)


def test_a_folder_with_several_robots_lists_them(tmp_path):
    for name in ("left.urdf", "right.urdf"):
        (tmp_path / name).write_text(URDF)
    refused(lambda: cr.load(tmp_path), FormatError, r"2 robot files: 'left.urdf', 'right.urdf'; give the path of one")
    (tmp_path / f"{tmp_path.name}.urdf").write_text(URDF.replace('name="r"', 'name="named"'))
    assert cr.load(tmp_path).name == "named"


def test_a_scene_gives_way_to_the_robot_that_it_includes(tmp_path):
    (tmp_path / "arm.xml").write_text(MJCF)
    (tmp_path / "scene.xml").write_text(
        '<mujoco><include file="arm.xml"/><worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>'
    )
    assert cr.load(tmp_path).name == "m"


def test_a_file_that_another_includes_is_a_part(tmp_path):
    (tmp_path / "arm.xml").write_text('<mujoco model="whole"><include file="part.xml"/></mujoco>')
    (tmp_path / "part.xml").write_text(MJCF.replace(' model="m"', ""))
    assert cr.load(tmp_path).name == "whole"


def test_an_empty_folder_is_refused(tmp_path):
    refused(lambda: cr.load(tmp_path), FormatError, r"is a folder without a robot file; robots come as .urdf")


# --- packages ---


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "ws" / "src" / "my_arm"
    (folder / "urdf").mkdir(parents=True)
    (folder / "urdf" / "arm.urdf").write_text(URDF)
    return folder


ADDRESS = "package://my_arm/urdf/arm.urdf"


def test_packages_are_found_by_search_paths(package, monkeypatch):
    monkeypatch.chdir("/")
    for root in (package, package.parent, package.parent.parent):
        assert cr.load(ADDRESS, search_paths=[root]).joint_names == ("j",)
        assert cr.load(ADDRESS, search_paths=str(root)).joint_names == ("j",)
    assert cr.load("package://my_arm", search_paths=[package.parent]).joint_names == ("j",)
    assert cr.load(f"file://{package}/urdf/arm.urdf").joint_names == ("j",)
    refused(lambda: cr.load(ADDRESS, search_paths=5), ShapeError, "search_paths must be a folder or a list of folders")


@pytest.mark.parametrize("variable", ["ROS_PACKAGE_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH", "SDF_PATH"])
def test_packages_are_found_by_the_environment(package, monkeypatch, variable):
    monkeypatch.setenv(variable, f"/nowhere:{package.parent}")
    assert cr.load(ADDRESS).joint_names == cr.load(ADDRESS.replace("package", "model")).joint_names == ("j",)


def test_packages_of_ament_are_in_share(tmp_path, package, monkeypatch):
    (tmp_path / "install").mkdir()
    package.parent.rename(tmp_path / "install" / "share")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    assert cr.load(ADDRESS).joint_names == ("j",)


def test_packages_are_found_upward_from_a_file(package):
    near = package / "urdf" / "arm.urdf"
    assert packages.resolve(ADDRESS, near) == near
    assert packages.resolve("model://my_arm/urdf/arm.urdf", package / "urdf") == near
    assert packages.resolve("arm.urdf", near) == near
    assert packages.resolve("package://my_arm/none.stl", near) is None
    assert packages.resolve("package:///etc", near) is None
    assert packages.resolve("package://../../etc", near) is None


def test_a_package_is_known_by_the_name_in_its_manifest(package):
    (package / "package.xml").write_text("<package><name>other_name</name></package>")
    for places in ({"near": package / "urdf"}, {"search_paths": [package.parent]}):
        assert packages.resolve("package://other_name/urdf/arm.urdf", **places) == package / "urdf" / "arm.urdf"
    (package / "package.xml").write_text("<package")
    assert packages.resolve("package://other_name/urdf/arm.urdf", package) is None


def test_a_package_that_is_not_there_says_where_was_looked(package, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    refused(
        lambda: cr.load(ADDRESS, search_paths=["/nowhere"]),
        FormatError,
        r"cannot find 'package://my_arm/urdf/arm.urdf': no package 'my_arm': looked in /nowhere, .*search_paths=",
    )
    message = r"package 'my_arm' is in .*my_arm, but has no such file"
    refused(lambda: cr.load("package://my_arm/b.urdf", search_paths=[package.parent]), FormatError, message)
    refused(lambda: cr.load("file:///none.urdf"), FormatError, "there is no file 'file:///none.urdf'")


# --- what is no robot ---

THINGS = [
    ([[0, 0, 1, 0]], "got a table, .*Robot.from_dh"),
    (np.eye(4), "got an array of numbers, .*Robot.from_screws"),
    ({"a": 1}, "got a dictionary"),
    (["a.urdf", "b.urdf"], "got a list, .*one by one"),
    (Robot, "got a class, .*an object of it"),
    (cr.load("pendulum"), "got a robot, .*it is loaded already"),
    (len, "got a function, .*call it"),
    (object(), "got <object object .*, a object"),
]


@pytest.mark.parametrize(("thing", "pattern"), THINGS, ids=[str(i) for i in range(len(THINGS))])
def test_other_things_are_told_what_they_look_like(thing, pattern):
    refused(lambda: cr.load(thing), FormatError, f"(?s)load takes a bundled robot's name, a path.*{pattern}")


def test_an_element_of_xml_is_told_to_be_text():
    from lxml import etree

    refused(lambda: cr.load(etree.fromstring(URDF)), FormatError, "got an XML element, .*tostring")


FILES = [
    ("a.zip", b"PK\x03\x04....", "a zip archive; unpack it"),
    ("a.urdf", b"PK\x03\x04....", "a zip archive; unpack it"),
    ("a.urdf", b"<!DOCTYPE html>\n<html lang='en'>", "a web page; download the raw file"),
    ("a.xml", b"\n<html><body>", "a web page"),
    ("a.stl", b"solid part\n facet normal", "an STL mesh, which has a shape but no joints; load the robot file"),
    ("a.stl", bytes(84), "an STL mesh"),
    ("a.dae", b"<?xml version='1.0'?><COLLADA xmlns='http://x'>", "a COLLADA"),
    ("a.step", b"ISO-10303-21;", "a STEP file"),
    ("a.usd", b"PXR-USDC", "a USD scene"),
    ("a.usda", b"#usda 1.0", "a USD scene"),
    ("a.xml", b"<SimscapeMultibodyImportXML/>", "a Simscape Multibody import file; import it with smimport"),
    ("a.urdf", b"version https://git-lfs.github.com/spec/v1", "a Git LFS pointer, .*git lfs pull"),
    ("a.xml", b"<launch/>", "a ROS launch file"),
    ("package.xml", b"<package/>", "a ROS package manifest"),
    (
        "a.mjb",
        b"\0\0\0\0",
        "a model compiled by MuJoCo; load it with mujoco.MjModel.from_binary_path, and pass that to cr.load",
    ),
    ("a.srdf", b"\0", "an SRDF file, .*srdf=PATH"),
    ("a.yaml", b"a: 1", "a YAML file"),
    ("a.pdf", b"%PDF-1.7", "a PDF document"),
]


@pytest.mark.parametrize(("name", "content", "pattern"), FILES, ids=[str(i) for i in range(len(FILES))])
def test_other_files_are_told_what_they_look_like(tmp_path, name, content, pattern):
    (tmp_path / name).write_bytes(content)
    refused(lambda: cr.load(tmp_path / name), FormatError, f"{name} is not a robot file: it looks like {pattern}")


def test_other_text_is_refused_with_its_beginning():
    refused(
        lambda: cr.load("one\ntwo"), FormatError, r"the given text is no robot .*begins with 'one\\ntwo', and is not"
    )
    refused(lambda: cr.load(b"\xff\xfe\x00"), FormatError, "the given text is no robot")


# --- options ---


def test_a_floating_base_is_an_option_of_every_format():
    for text in (URDF, json.dumps(DOCUMENT)):
        robot = cr.load(text, floating_base=True, check=False)
        assert (robot.model.joints[0].type, robot.model.joints[0].name) == ("free", "floating_base")
    assert cr.load("panda", floating_base=True).nv == 7 + 6


def test_the_floating_base_of_a_model_in_the_world_is_the_body_fixed_to_it():
    fixed = MJCF.replace('<body name="b">', '<body name="a" pos="0 0 1"><geom size="0.1"/><body name="b">').replace(
        "</body>", "</body></body>"
    )
    robot = cr.load(fixed, floating_base=True)
    assert [joint.type for joint in robot.model.joints] == ["free", "revolute"]
    assert robot.nv == 7
    message = "sets free the one body that is fixed to the world, but those on the world are 'b'"
    refused(lambda: cr.load(MJCF, floating_base=True), ModelError, message)
    free = MJCF.replace('<joint name="j" axis="0 1 0"/>', "<freejoint/>")
    refused(lambda: cr.load(free, floating_base=True), ModelError, "has a free base already, joint 'joint0'")


def test_bundled_robots_take_the_options_of_files():
    assert np.isfinite(cr.load("panda", repair=True).mass_matrix(np.zeros(7))).all()


def test_options_of_other_formats_are_refused():
    refused(lambda: cr.load(URDF, args=5, nonsense=1), cr.UnknownNameError, "load has no option named")


# --- tables in degrees ---


def test_a_table_in_degrees_is_the_table_in_radians():
    rows = [(0.1, 90, 0.2, 30), (0.3, -90, 0.0, -15), (0.0, 45, 0.5, 0)]
    limits = {"lower": [-170, -90, 0.1], "upper": [170, 90, 0.4]}
    masses = {"masses": [1, 2, 3], "inertias": [[0.1, 0.1, 0.1]] * 3}
    ours = Robot.from_dh(rows, convention="standard", types="RRP", degrees=True, **limits, **masses)
    radians = [(a, math.radians(alpha), d, math.radians(theta)) for a, alpha, d, theta in rows]
    lower, upper = ([math.radians(x), math.radians(y), z] for x, y, z in limits.values())
    theirs = Robot.from_dh(radians, convention="standard", types="RRP", lower=lower, upper=upper, **masses)
    assert ours == theirs
    table = Robot.from_dh(
        [{"a": 1, "alpha": 90, "d": 0, "theta": 0}], convention="modified", degrees=True, masses=[1], check=False
    )
    assert table.pose([0.0], "link1")[2, 1] == 1.0  # exact, as pi/2 would be
    refused(
        lambda: Robot.from_dh(rows, convention="standard", degrees="yes"), ShapeError, "degrees must be True or False"
    )
