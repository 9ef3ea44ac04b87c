"""The command line, typed as a person would, right and wrong."""

import json
import subprocess
import sys

import pytest

from cli.entry import run


def run_process(*words):
    return subprocess.run([sys.executable, "-m", "chainrule.cli", *words], capture_output=True, text=True, check=False)


def test_python_runs_the_package_as_the_command():
    for module in ("chainrule", "chainrule.cli"):
        done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("chainrule, version ")


def test_demo_shows_a_robot_and_its_identities():
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("holds") == 3
    assert "FAILS" not in done.stdout
    assert "panda_link7" in done.stdout
    assert "centrifugal" in done.stdout


@pytest.mark.parametrize("robot", ["puma560", "quadruped", "planar_rp", "human_arm"])
def test_demo_runs_on_any_robot(robot, monkeypatch):
    monkeypatch.setenv("CHAINRULE_KERNELS", "off")
    done = run("demo", robot)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("holds") == 3


def test_info_prints_the_tree_joints_and_source():
    done = run("info", "puma560")
    assert done.returncode == 0
    for words in ("6 degrees of freedom", "joint3", "Corke", "17.4", "gravity: (0, 0, -9.81)"):
        assert words in done.stdout


def test_info_without_a_robot_lists_them():
    assert "iiwa14" in run("info").stdout


def test_torque_of_a_state_as_a_table_and_as_json():
    assert "29.43" in run("torque", "planar_2r", "--q", "neutral").stdout
    done = run("torque", "planar_2r", "--q", "90,0", "--degrees", "--json")
    assert json.loads(done.stdout)["gravity"] == pytest.approx([0, 0], abs=1e-9)
    pushed = run("torque", "planar_2r", "--q", "0 0", "--tip-wrench", "0,0,0,0,1,0", "--json")
    assert json.loads(pushed.stdout)["tip wrench"] == pytest.approx([2, 1])
    assert list(json.loads(pushed.stdout))[-2:] == ["tip wrench", "total"]
    wall = ("torque", "planar_2r", "--q", "90 0", "--degrees", "--tip-wrench", "0,0,0,10,0,0")
    assert json.loads(run(*wall, "--json").stdout)["tip wrench"] == pytest.approx([-20, -10])
    along = run(*wall, "--frame", "body", "--json")
    assert json.loads(along.stdout)["tip wrench"] == pytest.approx([0, 0], abs=1e-12)


def test_info_says_order_units_and_frames():
    text = " ".join(run("info", "quadruped").stdout.split())
    assert "q, qd and tau are in the order of the table; quaternions are (x, y, z, w)" in text
    assert "angular part first; of the frame's origin, in base axes (frame world)" in text
    assert "moment first; about the frame's origin, in base axes (frame world)" in text
    assert "center of mass m, link axes" in text
    assert "m/s^2, in base axes" in text
    said = json.loads(run("info", "planar_2r", "--json").stdout)["conventions"]
    assert set(said) == {"order", "velocities and Jacobians", "wrenches"}
    assert "quaternion" not in said["order"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("torque", "panda", "--q", "1,2"), "--q: robot 'panda' has 7 coordinates (panda_joint1, "),
        (("torque", "panda", "--q", "one"), "robot 'panda' has no configuration named 'one'; did you mean"),
        (("info", "pandas"), "did you mean 'panda'"),
        (("info", "missing.urdf"), "cannot read 'missing.urdf'"),
        (("info", "robot.step"), "cannot read 'robot.step'"),
        (("torqe", "panda"), "No such command"),
        (("torque",), "Missing argument"),
    ],
)
def test_mistakes_get_one_line_and_no_traceback(words, message):
    done = run(*words)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_names_from_a_file_are_printed_as_they_are(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(
        "<robot name='[red]x[/red]'><link name='base'/><link name='[bold]'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='[/]' type='continuous'><parent link='base'/>"
        "<child link='[bold]'/></joint></robot>"
    )
    done = run("info", str(path))
    assert done.returncode == 0, done.stderr
    assert "[red]x[/red]" in done.stdout
    assert "[bold]" in done.stdout


def test_export_writes_c(tmp_path):
    done = run("export", "planar_2r", "--function", "mass_matrix", "--function", "bias", "-o", str(tmp_path / "arm.c"))
    assert done.returncode == 0, done.stderr
    assert "void arm_mass_matrix(const double *x0, double *out)" in (tmp_path / "arm.h").read_text()
    wrong = run("export", "planar_2r", "--function", "mass", "-o", str(tmp_path / "arm.c"))
    assert "did you mean 'mass_matrix'" in wrong.stderr


def test_cache_is_shown_and_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAINRULE_CACHE", str(tmp_path / "kernels"))
    assert "0 kernels" in run_process("cache").stdout
    run_process("torque", "planar_2r")
    shown = run_process("cache").stdout
    assert "torque_terms of planar_2r, float64" in shown
    assert "removed" in run_process("cache", "--clear").stdout
    assert "0 kernels" in run_process("cache").stdout


def test_bench_prints_ratios_and_writes_figures(tmp_path):
    done = run("bench", "planar_3r", "--states", "512", "--seconds", "0.01", "--quick", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "batch ratio" in done.stdout
    assert json.loads((tmp_path / "planar_3r.json").read_text())["chainrule"]["inverse_dynamics"]["batch"] > 0
