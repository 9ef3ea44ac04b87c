"""chainrule identify: tables of positions and torques in, a robot and a report out."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import chainrule as cr
from chainrule.cli import cli

ARM = cr.load("planar_2r")


def run(*words):
    return CliRunner().invoke(cli, ["identify", "planar_2r", *map(str, words)])


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    t = np.arange(0.0, 8.0, 0.01)
    w = np.array([1.3, 2.1])
    q, qd, qdd = np.sin(np.outer(t, w)), w * np.cos(np.outer(t, w)), -w * w * np.sin(np.outer(t, w))
    tau = ARM.with_payload(0.5).inverse_dynamics(q, qd, qdd) + np.random.default_rng(0).normal(0, 0.02, q.shape)
    path = tmp_path_factory.mktemp("log") / "run.csv"
    rows = np.column_stack([t, q, tau])
    np.savetxt(path, rows, delimiter=",", header="time,joint1,joint2,joint1.torque,current2", comments="")
    return path


def test_a_payload_is_identified_reported_and_saved(recording, tmp_path):
    options = ("--parameters", "tip.payload", "--torque", "joint2=current2", "--torque", "joint1=joint1.torque")
    done = run(recording, *options, "--json", "--report", tmp_path / "fit.html", "--save", tmp_path / "fit.toml")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert abs(told["parameters"]["tip.payload.mass"] - 0.5) < 0.01
    assert told["identifiable"]["tip.payload.mass"]
    page = (tmp_path / "fit.html").read_text()
    assert page.count("<svg") == 4
    assert "tip.payload.mass" in page
    assert "What to measure next" in page
    assert abs(cr.load(tmp_path / "fit.toml").mass - ARM.mass - 0.5) < 0.01


def test_wrong_calls_end_in_a_line(recording):
    done = run(recording)
    assert done.exit_code == 1
    assert "no column of the torque of 'joint2'" in str(done.exception)
    assert run(recording, "--torque", "joint2").exit_code == 2
    assert run().exit_code == 2
