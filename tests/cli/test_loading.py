"""Loading robots by any command: problems in a file, --strict, --repair, --floating, --args, --search-path."""

import json

import pytest

from cli.entry import run

WRONG = """<robot name="wrong"><link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="0.1" izz="0.1"/></inertial></link>
<link name="hand"><inertial><mass value="-2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="arm"/><child link="hand"/><axis xyz="0 1 0"/></joint>
</robot>"""

XACRO = """<robot name="grown" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="1"/>
<link name="base"/><link name="arm"><inertial><mass value="$(arg mass)"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


@pytest.fixture
def wrong(tmp_path):
    path = tmp_path / "wrong.urdf"
    path.write_text(WRONG)
    return str(path)


@pytest.mark.parametrize("command", ["info", "torque", "pose", "demo"])
def test_problems_of_a_file_are_one_line_that_says_what_to_do(wrong, command):
    done = run(command, wrong)
    assert done.returncode == 0
    assert done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("warning: robot 'wrong' has 2 problems, the first: link 'arm' ")
    assert line.endswith(f"`chainrule doctor {wrong}` lists all, --repair mends what it can")
    assert "=True" not in line


def test_strict_refuses_a_file_and_lists_its_problems(wrong):
    done = run("torque", wrong, "--strict")
    assert done.returncode == 1
    assert not done.stdout
    assert done.stderr.startswith("error: robot 'wrong' has 2 problems:\n")
    assert "link 'hand' has a negative mass, -2 kg" in done.stderr
    assert "pass --repair to mend what it can or leave out --strict" in done.stderr


def test_repair_says_how_a_line_each(wrong):
    done = run("torque", wrong, "--repair")
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("warning: ") for line in lines)
    assert any("repaired: the nearest possible inertia is taken" in line for line in lines)


def test_the_doctor_speaks_of_options(wrong):
    done = run("doctor", wrong)
    assert done.returncode == 1
    assert "do: --repair: " in done.stdout
    assert "repair=True" not in done.stdout


def test_any_robot_can_float():
    told = json.loads(run("info", "planar_2r", "--floating", "--json").stdout)
    assert told["dof"] == 8
    assert [c["name"] for c in told["coordinates"]][:2] == ["floating_base.x", "floating_base.y"]
    state = ("torque", "planar_2r", "--floating", "--qd", "floating_base.wz=180", "--json")
    slow, fast = (json.loads(run(*state, *more).stdout)["centrifugal"] for more in (("--degrees",), ()))
    assert max(map(abs, fast)) > 1000 * max(map(abs, slow)) > 0


def test_arguments_of_xacro_reach_the_file(tmp_path):
    pytest.importorskip("xacro")
    path = tmp_path / "grown.xacro"
    path.write_text(XACRO)
    told = json.loads(run("info", str(path), "--args", "mass:=7.5", "--json").stdout)
    assert told["links"][1]["mass"] == 7.5
    path.rename(tmp_path / "grown.urdf")
    refused = run("info", str(tmp_path / "grown.urdf"))
    assert refused.returncode == 1
    assert "is xacro inside, a program" in refused.stderr
    assert "if you trust it, pass --xacro, or" in refused.stderr
    assert run("info", str(tmp_path / "grown.urdf"), "--xacro").returncode == 0
    examined = run("doctor", str(tmp_path / "grown.urdf"), "--xacro")
    assert examined.returncode == 1
    assert "run it yourself and give its result" in examined.stdout
    refused = run("info", "ur5", "--args", "mass:=7.5")
    assert refused.returncode == 1
    assert refused.stderr == "error: ur5.toml is native, and --args is for xacro files\n"


def test_packages_are_looked_for_in_folders_that_exist(tmp_path):
    (tmp_path / "arms" / "urdf").mkdir(parents=True)
    (tmp_path / "arms" / "urdf" / "arm.urdf").write_text(WRONG.replace("-2", "2").replace('ixx="1"', 'ixx="0.1"'))
    done = run("info", "package://arms/urdf/arm.urdf", "--search-path", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    missing = run("info", "package://arms/urdf/arm.urdf", "--search-path", str(tmp_path / "nowhere"))
    assert missing.returncode == 2
    assert missing.stderr.startswith("error: --search-path: Directory ")
