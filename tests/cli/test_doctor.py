"""`chainrule doctor`: findings in words and as JSON, and exit codes that say whether anything is serious."""

import json

import pytest
from click.testing import CliRunner

import chainrule as cr
from chainrule.cli import cli
from chainrule.robot.building import to_urdf

pytestmark = pytest.mark.interpreted


def run(*words):
    return CliRunner().invoke(cli, ["doctor", *map(str, words)])


def test_a_sound_robot_ends_with_0():
    done = run("panda")
    assert done.exit_code == 0
    assert done.stdout.startswith("robot 'panda': 0 serious, 0 suspicious")


def test_a_serious_finding_ends_with_1_and_json_is_plain():
    done = run("puma560", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["serious"] == 1
    assert "triangle inequality" in told["findings"][0]["what"]


def test_repair_leaves_notes(tmp_path):
    cr.load("puma560").save(tmp_path / "arm.toml")
    assert run(tmp_path / "arm.toml").exit_code == 1
    mended = run(tmp_path / "arm.toml", "--repair")
    assert mended.exit_code == 0
    assert "repaired" in mended.stdout


def test_a_file_that_cannot_be_loaded_is_a_serious_finding(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="r"><link name="a"/><link name="b"/></robot>')
    done = run(path)
    assert done.exit_code == 1
    assert "serious: the file cannot be loaded: robot 'r' has 2 root links ('a', 'b')" in done.stdout


def test_a_robot_that_is_not_there_is_an_error():
    done = run("pandaa")
    assert done.exit_code == 1
    assert isinstance(done.exception, cr.UnknownNameError)
    assert not done.stdout


def test_other_commands_tell_of_many_problems_in_one_line(tmp_path):
    text = to_urdf(cr.load("ur5")).replace("<axis", "<axes", 1).replace("<mass value", "<mass worth", 1)
    path = tmp_path / "arm.urdf"
    path.write_text(text.replace("<mass worth", '<mass worth="" value', 1))
    done = CliRunner().invoke(cli, ["pose", str(path)])
    assert done.exit_code == 0
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("warning: robot 'ur5' has 2 problems, the first: arm.urdf, line ")
    assert f"`chainrule doctor {path}` lists all" in done.stderr
