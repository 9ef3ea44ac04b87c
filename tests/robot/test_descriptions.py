"""Robots of the package robot_descriptions, from a cache that the test has filled, and without a network."""

import sys
import types

import pytest
from peers import robots_folder
from refusals import refused

import chainrule as cr
from chainrule import FormatError, MissingPackageError, UnknownNameError
from chainrule.robot import descriptions

pytest.importorskip("robot_descriptions")


def described(monkeypatch, name, **paths):
    module = types.ModuleType(f"robot_descriptions.{name}")
    vars(module).update(paths)
    monkeypatch.setitem(sys.modules, f"robot_descriptions.{name}", module)


def test_a_urdf_description_is_loaded_by_name(monkeypatch):
    folder = robots_folder() / "panda_description"
    paths = {"REPOSITORY_PATH": str(folder.parent.parent), "PACKAGE_PATH": str(folder)}
    described(monkeypatch, "panda_description", URDF_PATH=str(folder / "urdf" / "panda.urdf"), **paths)
    assert cr.load("panda_description", check=False) == cr.load(folder / "urdf" / "panda.urdf", check=False)


def test_an_mjcf_description_is_loaded_by_name(monkeypatch, tmp_path):
    (tmp_path / "a.xml").write_text('<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>')
    described(monkeypatch, "panda_mj_description", MJCF_PATH=str(tmp_path / "a.xml"))
    assert cr.load("panda_mj_description").nv == 1


def test_a_xacro_description_is_loaded_with_its_arguments(monkeypatch, tmp_path):
    pytest.importorskip("xacro")
    package = tmp_path / "fr3_pkg"
    package.mkdir()
    text = '<robot name="r" xmlns:xacro="x"><xacro:arg name="a" default="0"/><link name="$(arg a)$(arg b)"/></robot>'
    (package / "fr3.xacro").write_text(text.replace("<link", '<xacro:arg name="b" default="0"/><link'))
    described(
        monkeypatch, "fr3_description", XACRO_PATH=str(package / "fr3.xacro"), XACRO_ARGS={"a": "x"},
        XACRO_PACKAGE_PATHS={"fr3_pkg": str(package)},
    )  # fmt: skip
    assert cr.load("fr3_description", args={"b": "y"}).model.links[0].name == "xy"


def test_without_a_network_the_failure_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_TERMINAL_PROMPT", "0")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")  # no server answers there, whatever network there is
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "url.http://127.0.0.1:9/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://")
    monkeypatch.delitem(sys.modules, "robot_descriptions.ur10e_description", raising=False)
    message = r"robot_descriptions could not fetch 'ur10e_description': \w+: .*; it downloads with git .*check git"
    refused(lambda: cr.load("ur10e_description"), FormatError, message)


def test_unknown_names_are_compared_with_those_of_the_package(monkeypatch):
    refused(
        lambda: cr.load("pandda_description"),
        UnknownNameError,
        r"robot_descriptions has no robot named .* did you mean",
    )
    refused(
        lambda: cr.load("ur10e_descriptio"),
        UnknownNameError,
        r"did you mean 'ur10e_description', which robot_descriptions has\?",
    )
    described(monkeypatch, "ur3e_description")
    refused(lambda: cr.load("ur3e_description"), FormatError, r"ur3e_description has none of URDF_PATH, MJCF_PATH")
    assert descriptions.find("a/b_description") is None


def test_without_the_package_its_installation_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    words = r"'ur10e_description' is not bundled, .* package robot_descriptions, which is not installed: .*pip install"
    with pytest.raises(MissingPackageError, match=words):
        cr.load("ur10e_description")
    refused(lambda: cr.load("pandaa"), UnknownNameError, r"did you mean 'panda'\?")
