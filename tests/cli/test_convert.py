"""chainrule convert: from any format to any that is written, with what is lost on the way."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import chainrule as cr
from chainrule import FormatError, ModelWarning
from chainrule.cli import cli


def run(*words):
    return CliRunner().invoke(cli, ["convert", *map(str, words)])


def text_of(done):
    return f"{done.output}{done.exception or ''}"


MJCF = """<mujoco model="m"><worldbody><body name="b"><joint name="j" axis="0 1 0" armature="0.2" stiffness="3"/>
<geom type="sphere" size="0.1" pos="0 0 0.5"/></body></worldbody></mujoco>"""


def test_an_exact_format_loses_nothing(tmp_path):
    done = run("panda", tmp_path / "panda.toml")
    assert done.exit_code == 0
    assert done.stdout == "read again: nothing differs\n"
    assert "written: " in done.stderr
    assert cr.load(tmp_path / "panda.toml").model.links == cr.load("panda").model.links


def test_what_urdf_cannot_hold_is_said(tmp_path):
    (tmp_path / "arm.xml").write_text(MJCF)
    done = run(tmp_path / "arm.xml", tmp_path / "arm.urdf")
    assert done.exit_code == 0
    assert "lost: rotors (armature) are left out: joints 'j'" in done.stderr
    assert "lost: springs are left out: joints 'j'" in done.stderr
    assert "read again: 'm' and 'm' differ in" in done.stdout
    assert "torques by up to" in done.stdout
    written = cr.load(tmp_path / "arm.urdf")
    given = cr.load(tmp_path / "arm.xml").edit(joints={"*": {"rotor": 0}}).without_spring()
    np.testing.assert_allclose(written.mass_matrix([0.3]), given.mass_matrix([0.3]))


def test_with_exact_it_is_refused(tmp_path):
    (tmp_path / "arm.xml").write_text(MJCF)
    done = run(tmp_path / "arm.xml", tmp_path / "arm.urdf", "--exact")
    assert done.exit_code == 1
    assert "cannot hold all of robot 'm': rotors (armature) are left out" in text_of(done)
    assert not (tmp_path / "arm.urdf").exists()


def test_json(tmp_path):
    (tmp_path / "arm.xml").write_text(MJCF)
    facts = json.loads(run(tmp_path / "arm.xml", tmp_path / "arm.urdf", "--json").stdout)
    assert (facts["robot"], len(facts["lost"]), facts["differences"]["equal"]) == ("m", 2, False)


def test_options_of_loading_count(tmp_path):
    (tmp_path / "a.urdf").write_text(
        '<robot name="r" xmlns:xacro="x"><xacro:arg name="m" default="1"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link><link name="l"><inertial><origin xyz="0 0 1"/><mass value="$(arg m)"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j" type="continuous"><parent link="b"/><child link="l"/></joint></robot>'
    )
    pytest.importorskip("xacro")
    assert run(tmp_path / "a.urdf", tmp_path / "b.toml", "--args", "m:=3", "--xacro", "--floating").exit_code == 0
    robot = cr.load(tmp_path / "b.toml")
    assert (robot.nv, robot.model.links[-1].mass) == (7, 3.0)


def test_mistakes_end_in_one_line(tmp_path):
    (tmp_path / "a.toml").write_text("mine")
    for words, message in (
        (("panda", tmp_path / "a.toml"), "exists; pass --force to overwrite it"),
        (("panda", tmp_path / "a.step"), "end it in .toml or .json (or .urdf, .xml or .sdf)"),
        (("pandaa", tmp_path / "b.toml"), "did you mean 'panda'"),
        (("panda", tmp_path / "none" / "b.toml"), "there is no folder"),
    ):
        done = run(*words)
        assert done.exit_code != 0
        assert message in text_of(done)
    assert run("panda", tmp_path / "a.toml", "--force").exit_code == 0


def test_save_with_losses(tmp_path):
    robot = cr.load("four_bar")
    with pytest.raises(FormatError, match="URDF cannot express"):
        robot.save(tmp_path / "a.urdf")
    with pytest.warns(ModelWarning, match="cannot hold all of it: loops are open: .* are left out.*gravity, here"):
        robot.save(tmp_path / "a.urdf", lossy=True)
    changes = {"lower": [-1.0, -2.0], "upper": [np.inf, 2.0], "coulomb": [0.2, 0.0], "coulomb_negative": [0.1, 0.0]}
    arm = cr.load("planar_2r").edit(joints={"*": {**changes}})
    with pytest.warns(ModelWarning, match=r"a limit on one side gets one of 1e\+09 on the other: joints 'joint1'"):
        arm.save(tmp_path / "b.urdf", lossy=True)
    (dof,) = cr.load(tmp_path / "b.urdf").model.joints[0].dofs
    assert (dof.lower, dof.upper, dof.coulomb, dof.coulomb_negative) == (-1.0, 1e9, 0.2, 0.2)
