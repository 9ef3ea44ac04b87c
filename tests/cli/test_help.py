"""Help of every command: examples that can be typed as they are, exit codes, options of loading, JSON."""

import json
import shlex

import click
import numpy as np
import pytest
from click.testing import CliRunner
from tiers import with_slow

import chainrule as cr
from chainrule.cli import cli
from chainrule.cli.main import COMMANDS
from cli.entry import run

CONTEXT = click.Context(cli)
COMMANDS_OF = {name: cli.get_command(CONTEXT, name) for name in COMMANDS}
EXAMPLES = [line for command in COMMANDS_OF.values() for line in command.examples]
WITH_ROBOT = [name for name, command in COMMANDS_OF.items() if any(p.name == "robot" for p in command.params)]


def strict(text):
    """JSON as its standard has it."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the examples name."""
    place = tmp_path_factory.mktemp("examples")
    robot, t = cr.load("panda"), np.arange(0.0, 2.0, 0.01)
    q = np.degrees(robot.home() + 0.1 * np.sin(t)[:, None])
    heading = ",".join(["t", *robot.joint_names])
    np.savetxt(place / "run.csv", np.column_stack([t, q]), delimiter=",", header=heading, comments="")
    rng = np.random.default_rng(0)
    q = robot.random_state(rng, (20,))
    points = robot.edit({"panda_joint2.offset": 0.01}).pose(q)[:, :3, 3]
    measured = [*robot.joint_names, "x", "y", "z"]
    np.savetxt(
        place / "points.csv", np.column_stack([q, points]), delimiter=",", header=",".join(measured), comments=""
    )
    plane = [[0.4 + x, y, 0.3] for x, y in rng.uniform(-0.1, 0.1, (30, 2))]
    solved = robot.inverse_kinematics(plane, robot.random_state(rng, (30,)), task="position")
    np.savetxt(place / "plane.csv", solved.q[solved.success], delimiter=",", header=heading[2:], comments="")
    w = np.linspace(2.0, 5.0, 7)
    angle = np.outer(np.arange(0.0, 10.0, 0.01), w)
    turned, fast, faster = robot.home() + 0.2 * np.sin(angle), 0.2 * w * np.cos(angle), -0.2 * w * w * np.sin(angle)
    real = robot.edit(joints={"*": {"viscous": 2.0, "coulomb": 1.0}}).with_payload(0.5, (0.05, 0.02, 0.1), (0.01,) * 3)
    tau = real.inverse_dynamics(turned, fast, faster)
    heading = ",".join(["t", *robot.joint_names, *(f"{name} effort" for name in robot.joint_names)])
    rows = np.column_stack([np.arange(0.0, 10.0, 0.01), turned, tau])
    for name in ("log.csv", "other.csv"):
        np.savetxt(place / name, rows, delimiter=",", header=heading, comments="")
    cr.load("ur5").save(place / "arm.urdf")
    box = '<collision><origin xyz="0.6 0.4 0.3"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
    (place / "scene.urdf").write_text(f'<robot name="scene"><link name="world">{box}</link></robot>')
    (place / "motions").mkdir()
    robot.simulate(robot.home(), None, 0.01).save(place / "motions" / "fall.parquet")
    return place


LONG_EXAMPLES = [line for line in EXAMPLES if "study human-arm" in line]


@pytest.mark.parametrize("line", with_slow(EXAMPLES, *LONG_EXAMPLES))
def test_every_example_of_every_help_runs(line, folder, monkeypatch):
    words = shlex.split(line, comments=True)
    assert words[0] == "chainrule"
    if words[1] == "studio":  # which goes on until Ctrl-C
        words += ["--no-browser", "--port", "0", "--seconds", "0.1"]
    if words[1] == "cache":
        monkeypatch.setenv("CHAINRULE_CACHE", str(folder / "kernels"))
    monkeypatch.chdir(folder)
    done = run(*words[1:])
    assert done.returncode == 0, done.stderr
    others = {"convert": ("warning: lost: ",), "study": ("note: ",)}  # notes say how a recording was read
    expected = ("written: ", *others.get(words[1], ()))
    assert all(note.startswith(expected) for note in done.stderr.splitlines()), done.stderr
    assert done.stdout or done.stderr
    if "--json" in words:
        assert len(done.stdout.splitlines()) == 1
        assert strict(done.stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_examples_exit_codes_and_json(name):
    told = CliRunner().invoke(cli, [name, "--help"]).stdout
    command = COMMANDS_OF[name]
    assert command.examples
    for line in command.examples:
        assert line.startswith(f"chainrule {name}")
        assert f"\n  {line}\n" in told
    assert any("--json" in line for line in command.examples)
    assert "  --json " in told
    for code in ("0 ", "1 ", "2 ", "130 "):
        assert f"\n  {code}" in told.partition("Exit codes:")[2]


@pytest.mark.parametrize("name", WITH_ROBOT)
def test_every_robot_is_loaded_with_the_same_options(name):
    told = CliRunner().invoke(cli, [name, "--help"]).stdout
    for option in ("--floating", "--repair", "--strict", "--args KEY:=VALUE", "--xacro", "--search-path DIRECTORY"):
        assert option in told.partition("Options of ROBOT:")[2]
