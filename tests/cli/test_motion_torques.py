"""`chainrule torque --motion`: torques of a recorded motion."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import chainrule as cr
from chainrule.cli import cli


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("motion") / "run.csv"
    robot, t = cr.load("panda"), np.arange(0.0, 2.0, 0.01)
    q = robot.home() + 0.1 * np.sin(np.outer(t, np.arange(1, 8)))
    heading = ",".join(["t", *(f"a{k}" for k in range(6))])
    np.savetxt(path, np.column_stack([t, q[:, :6]]), delimiter=",", header=heading, comments="")
    return path


COLUMNS = [word for k in range(6) for word in ("--column", f"panda_joint{k + 1}=a{k}")]


def call(*words):
    return CliRunner().invoke(cli, ["torque", "panda", *map(str, words)])


def test_it_prints_peaks_with_units_and_notes(run, tmp_path):
    done = call("--motion", run, *COLUMNS, "--constant", "panda_joint7=0.1", "--save", tmp_path / "out.npz")
    assert done.exit_code == 0, done.output
    assert "N m" in done.output
    assert "smoothed by a quintic smoothing spline" in done.output
    assert done.stdout.startswith("note: separator: ")  # what was assumed comes first
    assert done.stdout.index("note: unit of angles: rad") < done.stdout.index("200 samples")
    assert len(cr.Trajectory.load(tmp_path / "out.npz")) == 200


def test_json_has_the_same_numbers_as_the_library(run):
    done = call("--motion", run, *COLUMNS, "--constant", "panda_joint7=0.1", "--json")
    facts = json.loads(done.stdout)
    columns = {f"panda_joint{k + 1}": f"a{k}" for k in range(6)}
    motion = cr.Trajectory.load(run, cr.load("panda"), columns=columns, constant={"panda_joint7": 0.1})
    assert np.allclose(facts["peak_torque"], np.abs(motion.tau).max(axis=0))
    assert facts["main_cause"][1] == "gravity"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--q", "home"], "leave out --q"),
        (["--column", "elbow"], "--column elbow: give a name"),
        (["--constant", "panda_joint7=x"], "'x' should be a number"),
        ([], "--column ..., or where a joint stood"),
    ],
)
def test_mistakes_are_named_in_its_own_words(run, words, expected):
    done = call("--motion", run, *words)
    assert done.exit_code
    assert expected in (done.output + str(done.exception))


def test_options_of_a_motion_need_one():
    assert "belong to --motion" in call("--cutoff", "5").output


def test_angles_that_nobody_stated_are_refused_with_the_option_that_states_them(tmp_path):
    t = np.arange(0.0, 1.0, 0.01)
    table = np.column_stack([t, *(50 * np.sin(t + k) for k in range(7))])
    heading = ",".join(["t", *(f"panda_joint{k + 1}" for k in range(7))])
    np.savetxt(tmp_path / "run.csv", table, delimiter=",", header=heading, comments="")
    done = call("--motion", tmp_path / "run.csv")
    assert "; say --degrees, or put the unit into the headings" in str(done.exception)
