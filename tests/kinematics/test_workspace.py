"""Workspaces: known shapes, reach by optimisation, sections, dexterity, pictures and the commands."""

import json
import math
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.cli.main import cli


def test_a_planar_arm_reaches_a_ring():
    arm = cr.Robot.from_dh([(1.0, 0, 0, 0), (0.4, 0, 0, 0)], convention="standard", masses=[1, 1], check=False)
    cloud = arm.workspace(20_000)
    near, far = cloud.radii
    assert 0.6 <= near < 0.61
    assert 1.39 < far <= 1.4
    assert_allclose(cloud.bounds[:, 2], 0, atol=1e-15)
    assert cloud.volume() == 0.0
    assert_allclose(cloud.manipulability, 0.4 * np.abs(np.sin(cloud.q[:, 1])), atol=1e-12)
    for angle in np.linspace(0, 6, 7):
        assert cloud.reach([math.cos(angle), math.sin(angle), 0]).distance == pytest.approx(1.4, abs=1e-9)


def test_a_cartesian_robot_fills_a_box():
    robot = cr.load("cartesian_3p").edit(joints={"*": {"lower": [0.0, -0.5, 0.1], "upper": [1.0, 0.5, 0.9]}})
    cloud = robot.workspace(50_000)
    low, high = cloud.bounds
    assert_allclose(np.sort(high - low), [0.8, 1.0, 1.0], atol=0.01)
    assert cloud.volume(0.05) == pytest.approx(0.8, rel=0.25)  # cells at the surface count whole
    assert_allclose(cloud.manipulability, 1)
    corner = cloud.reach([1, 1, 1])
    assert_allclose(robot.pose(corner.q)[:3, 3], corner.position)
    assert corner.distance == pytest.approx(high.sum() / math.sqrt(3), abs=0.02)
    assert corner.distance >= (cloud.position @ np.ones(3)).max() / math.sqrt(3)


def test_points_are_those_of_their_postures_whatever_the_chunks():
    robot = cr.load("panda")
    cloud = robot.workspace(70_000, "panda_link6", rng=3)
    T = robot.pose(cloud.q[::1000], "panda_link6")
    assert_allclose(cloud.position[::1000], T[:, :3, 3])
    assert_allclose(cloud.approach[::1000], T[:, :3, 2])
    assert_allclose(cloud.manipulability[::1000], robot.manipulability(cloud.q[::1000], "panda_link6"))
    assert (cloud.q >= robot.limits.lower).all()
    assert (cloud.q <= robot.limits.upper).all()
    again = robot.workspace(70_000, "panda_link6", rng=3)
    assert_allclose(again.q, cloud.q)
    assert len(cloud[:5]) == 5


def test_reach_is_farther_than_any_sample_and_within_the_limits():
    cloud = cr.load("panda").workspace(30_000)
    for way in np.random.default_rng(0).normal(size=(5, 3)):
        reach = cloud.reach(way)
        unit = way / np.linalg.norm(way)
        assert (cloud.position @ unit).max() <= reach.distance + 1e-12
        assert reach.distance == pytest.approx(float(reach.position @ unit))
        assert (reach.q >= cloud.robot.limits.lower - 1e-12).all()
        assert (reach.q <= cloud.robot.limits.upper + 1e-12).all()


def test_a_section_holds_what_lies_in_it():
    cloud = cr.load("ur5").workspace(20_000)
    slab = cloud.slice("z", 0.2, 0.1)
    assert 0 < len(slab) < len(cloud)
    assert (np.abs(slab.position[:, 2] - 0.2) <= 0.05).all()
    assert len(slab) == (np.abs(cloud.position[:, 2] - 0.2) <= 0.05).sum()


def test_dexterity_counts_directions():
    flat = cr.load("planar_2r").workspace(5_000).dexterity(0.5)
    assert_allclose(flat.share, 1 / 72)  # z points one way
    assert flat.counts.sum() == 5_000
    round_ = cr.load("panda").workspace(200_000).dexterity(0.2)
    assert round_.share.max() > 0.9
    assert (round_.share <= np.minimum(1, round_.counts / 72)).all()


def test_loops_and_quaternions_have_workspaces_too():
    assert len(cr.load("four_bar").workspace(50)) == 50
    cloud = cr.load("quadruped").workspace(100, "FL_FOOT")
    assert np.isfinite(cloud.manipulability).all()
    assert cloud.reach([0, 0, -1], starts=3).distance > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.robot.workspace(0), "samples must be a positive integer that memory can hold, got 0"),
        (lambda c: c.robot.workspace(1.5), "samples must be a positive integer"),
        (lambda c: c.reach([0, 0, 0]), "direction must be three numbers, not all zero"),
        (lambda c: c.slice("w"), "no axis named 'w'"),
        (lambda c: c.slice("z", 0, 0), "thickness must be positive"),
        (lambda c: c.slice("z", 99).bounds, "has no points"),
        (lambda c: c.volume(0), "cell must be a positive length"),
        (lambda c: c.volume(1e-12), "too small for a cloud of this size"),
        (lambda c: c.robot.workspace(10, rng=-1), "rng must be a random generator or a seed"),
        (lambda c: c.robot.workspace(10, rng="a"), "rng must be a random generator or a seed"),
        (lambda c: c.reach([1, 0, 0], starts=0), "starts must be"),
        (lambda c: c.reach([1, 0, 0], starts=-1), "starts must be"),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(cr.ChainruleError, match=message):
        call(cr.load("planar_2r").workspace(100))


def test_the_benchmark_prints_ratios(monkeypatch, capsys):
    file = Path(__file__).parents[2] / "benchmarks" / "forward_kinematics.py"
    monkeypatch.setattr(sys, "argv", [file.name, "--postures", "500", "--rounds", "1"])
    runpy.run_path(str(file), run_name="__main__")
    assert "ratio" in capsys.readouterr().out


# --- the commands ---


def test_pose_command(tmp_path):
    run = CliRunner().invoke
    shown = run(cli, ["pose", "planar_2r", "--q", "0,90", "--degrees"])
    assert shown.exit_code == 0, shown.output
    assert "position   1.000000  1.000000  0.000000  m" in shown.output
    assert "rpy        0.000000  0.000000  90.000000  deg" in shown.output
    facts = json.loads(run(cli, ["pose", "ur5", "--json", "--link", "wrist_1_link", "--order", "zyz"]).output)
    assert_allclose(facts["pose"], cr.load("ur5").pose(cr.load("ur5").home(), "wrist_1_link"), atol=1e-12)
    assert facts["order"] == "zyz"
    assert "singular" in run(cli, ["pose", "planar_2r", "--q", "0,0"]).output
    assert "manipulability" not in run(cli, ["pose", "planar_2r", "--link", "base"]).output
    picture = tmp_path / "posture.png"
    assert run(cli, ["pose", "panda", "--plot", str(picture)]).exit_code == 0
    assert picture.exists()
    assert run(cli, ["pose", "panda", "--q", "1,2"]).exit_code == 2


def test_workspace_command(tmp_path):
    run = CliRunner().invoke
    picture = tmp_path / "cloud.png"
    done = run(cli, ["workspace", "panda", "--samples", "3000", "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    assert "3000 random postures" in done.output
    assert picture.exists()
    facts = json.loads(run(cli, ["workspace", "planar_2r", "--samples", "500", "--json"]).output)
    assert facts["reach"]["x"] == pytest.approx(2)
    refused = run(cli, ["workspace", "panda", "--samples", "100", "--plot", str(tmp_path / "cloud.docx")])
    assert refused.exit_code == 2
    assert "cloud.docx" in refused.output
