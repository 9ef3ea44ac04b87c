"""`chainrule plan` does what `cr.plan` does."""

import json

import numpy as np
import pytest

import chainrule as cr
from cli.entry import run


def test_a_motion_and_its_json(tmp_path):
    words = ("panda", "--to", "panda_joint1=0.5", "--to", "0.5,-0.5,0,-2,0,1.8,0.5")
    told = json.loads(run("plan", *words, "--json").stdout)
    panda = cr.load("panda")
    points = [panda.home(), panda.home() + 0.5 * np.eye(7)[0], [0.5, -0.5, 0, -2, 0, 1.8, 0.5]]
    expected = cr.plan(panda, points)
    assert told["duration"] == pytest.approx(expected.duration)
    np.testing.assert_allclose(told["q"], points)
    np.testing.assert_allclose(told["largest_velocity"], expected.peak.velocity)
    saved = tmp_path / "motion.csv"
    done = run("plan", *words, "--save", str(saved))
    assert done.stdout.startswith(f"a motion of {expected.duration:.6g} s")
    assert f"written: {saved}" in done.stderr.replace("\n", "")
    assert len(saved.read_text().splitlines()) > 50


def test_a_pose_that_keeps_clear_in_degrees():
    words = ("--xyz", "0.5,0.2,0.4", "--rpy", "180,0,0", "--degrees", "--clearance", "0.01", "--json")
    told = json.loads(run("plan", "panda", *words).stdout)
    panda = cr.load("panda")
    T = panda.pose(np.radians(told["q"][-1]))
    np.testing.assert_allclose(T[:3, 3], [0.5, 0.2, 0.4], atol=1e-5)
    assert panda.clearance(np.radians(told["q"])).min() >= 0.01


def test_a_goal_a_turn_away_is_refused_or_reached_another_turn_away():
    words = ("ur5e", "--from", "0,-1.5,1.5,-0.3,-1.5,0", "--to", "0,-1.5,1.5,5.48,-1.5,0", "--clearance", "0.005")
    refused = run("plan", *words)
    assert not refused.stdout
    assert "coordinate 'wrist_1_joint' would turn" in refused.stderr.replace("\n", " ")
    assert "--turns lets it end" in refused.stderr.replace("\n", " ")
    told = json.loads(run("plan", *words, "--turns", "--json").stdout)
    assert told["q"][-1][3] == pytest.approx(5.48 - 2 * np.pi)


SCENE = """<robot name="scene"><link name="world">
<collision><origin xyz="0.55 0 0.35"/><geometry><box size="0.3 0.02 0.7"/></geometry></collision></link></robot>"""


def test_a_world_from_a_file(tmp_path):
    file = tmp_path / "scene.urdf"
    file.write_text(SCENE)
    ends = ("--from", "-0.8,0.2,0,-1.8,0,1.57,0.78", "--to", "0.8,0.2,0,-1.8,0,1.57,0.78")
    told = json.loads(run("plan", "panda", *ends, "--world", str(file), "--clearance", "0.01", "--json").stdout)
    free = json.loads(run("plan", "panda", *ends, "--clearance", "0.01", "--json").stdout)
    assert told["duration"] > 1.1 * free["duration"]


@pytest.mark.parametrize(
    ("words", "message", "status"),
    [
        ((), "say where to", 2),
        (("--xyz", "1,1,1"), "give --xyz and --rpy", 2),
        (("--to", "home", "--link", "panda_link3"), "--link is the one", 2),
        (("--to", "panda_joint1=0.1", "--time-limit", "3"), "--time-limit is for plans that keep clear", 2),
        (("--to", "panda_joint1=9"), "--ignore-limits", 1),
        (("--to", "panda_joint1=0.1", "--clearance", "0.5"), "--clearance", 1),
        (("--xyz", "1.5,0.2,0.4", "--rpy", "3.14,0,0"), "pose 0 has no configuration", 1),
    ],
)
def test_wrong_words_end_in_a_line(words, message, status):
    done = run("plan", "panda", *words)
    assert done.returncode == status
    assert message in " ".join(done.stderr.split())
