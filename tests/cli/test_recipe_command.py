"""The recipe of cli/__init__.py, followed from outside the package: a command `reach`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import chainrule.cli
from chainrule.cli import cli
from chainrule.cli.console import command, degrees_option, json_option, plain, print_json, robot_options, terminal
from chainrule.cli.joints import CONFIGURATION, positions
from chainrule.cli.main import COMMANDS


@command("chainrule reach planar_2r --q 0,90 --degrees")
@click.option("--q", type=CONFIGURATION, help="Positions, rad or m.")
@degrees_option
@json_option
@robot_options
def reach(robot, q, degrees, as_json):
    """Distance of the end-effector from the base. More about it."""
    x = robot.pose(positions(robot, q, degrees=degrees))[:3, 3]
    distance = float((x @ x) ** 0.5)
    if as_json:
        print_json({"robot": robot.name, "distance": distance})
    else:
        terminal().print(f"{plain(robot.name)}: {distance:.4f} m")


@pytest.fixture(autouse=True)
def added(monkeypatch):
    monkeypatch.setattr(cli, "commands", dict(cli.commands))
    cli.add_command(reach)


def run(*words):
    return CliRunner().invoke(cli, words)


def test_the_command_is_listed_with_its_first_sentence():
    listed = run("--help").stdout
    assert re.search(r"^  reach +Distance of the end-effector from the base\.", listed, re.MULTILINE)
    told = run("reach", "--help").stdout
    assert "More about it" in told
    assert "  chainrule reach planar_2r --q 0,90 --degrees\n" in told
    assert "Exit codes:" in told


def test_it_prints_text_and_json():
    assert run("reach", "planar_2r", "--q", "neutral").stdout == "planar_2r: 2.0000 m\n"
    bent = json.loads(run("reach", "planar_2r", "--q", "0,90", "--degrees", "--json").stdout)
    assert bent == {"robot": "planar_2r", "distance": pytest.approx(2**0.5)}


def test_a_mistake_ends_in_one_line():
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from test_recipe_command import cli, reach; "
        "from chainrule.cli import main; cli.add_command(reach); main()"
    )
    words = [sys.executable, "-c", code, str(Path(__file__).parent), "reach", "planar_2r", "--q", "1,2,3"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: --q: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_misspelled_command_gets_a_suggestion():
    assert "Did you mean" in run("reech").stderr


def test_every_command_of_the_package_is_the_function_of_its_file():
    folder = Path(chainrule.cli.__file__).parent
    shared = {"__init__", "__main__", "main", "console", "joints", "motion_torques"}
    assert {path.stem for path in folder.glob("*.py")} - shared == {*COMMANDS}
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command.name == name
        assert command.help == cli.commands[name].load().help
        assert cli.commands[name].get_short_help_str(60) == command.get_short_help_str(60)
