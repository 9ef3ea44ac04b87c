"""chainrule compare: exit codes as of diff, JSON, and errors in one line."""

import json

import pytest
from click.testing import CliRunner

import chainrule as cr
from chainrule.cli import cli


def run(*words):
    return CliRunner().invoke(cli, ["compare", *map(str, words)])


@pytest.fixture
def heavier(tmp_path):
    path = tmp_path / "heavier.toml"
    cr.load("planar_2r").edit(links={"link2": {"mass": 1.2}}).save(path)
    return path


def test_equal_robots_exit_with_0():
    done = run("planar_2r", "planar_2r")
    assert done.exit_code == 0
    assert done.stdout == "'planar_2r' and 'planar_2r' do not differ\n"


def test_different_robots_exit_with_1_and_say_what(heavier):
    done = run("planar_2r", heavier)
    assert done.exit_code == 1
    assert "link 'link2'  mass  1 kg   1.2 kg  0.2 kg" in done.stdout
    assert "torques by up to" in done.stdout
    assert run("planar_2r", heavier, "--tolerance", "0.5").exit_code == 0


def test_json(heavier):
    done = run("planar_2r", heavier, "--json")
    facts = json.loads(done.stdout)
    assert done.exit_code == 1
    assert facts["differences"][0]["quantity"] == "mass"
    assert facts["second"] == str(heavier)
    assert facts["effect"]["torque_joint"] == "joint1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["planar_2r", "planar_9r"], "no robot named 'planar_9r'"),
        (["planar_2r", "missing.urdf"], "missing.urdf"),
        (["planar_2r", "planar_2r", "--tolerance", "-1"], "must not be negative"),
        (["planar_2r", "planar_2r", "--ignore", "limit"], "did you mean 'limits'"),
        (["planar_2r"], "SECOND"),
    ],
)
def test_errors_exit_with_2(words, message):
    done = run(*words)
    assert done.exit_code == 2
    assert message in done.stderr
