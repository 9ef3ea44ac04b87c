"""Joint values as they are typed: numbers, names, configurations, degrees."""

import json
import math

import click
import numpy as np
import pytest
from click.testing import CliRunner

import chainrule as cr
from chainrule.cli import cli
from chainrule.cli.joints import CONFIGURATION, JOINT_VALUES, gains, positions, velocities
from cli.entry import run as run_main

PANDA = cr.load("panda")


def values(kind, text, option="--q"):
    return kind.convert(text, click.Option([option]), None)


def at(robot, text, **options):
    return positions(robot, values(CONFIGURATION, text), **options)


def rates(robot, text, **options):
    return velocities(robot, values(JOINT_VALUES, text, "--qd"), **options)


def run(*words):
    return CliRunner().invoke(cli, words)


def facts(*words):
    done = run(*words, "--json")
    assert done.exit_code in (0, 1), done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("text", ["0,1,2,3,4,5,6", "0 1 2 3 4 5 6", "0, 1, 2, 3, 4, 5, 6", "0,1,2,3,4,5,6,"])
def test_numbers_come_in_the_order_of_the_joints(text):
    assert at(PANDA, text).tolist() == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "text",
    ["panda_joint4=-2,panda_joint6=1.5", "panda_joint6=1.5 panda_joint4=-2", " panda_joint4 = -2 , panda_joint6 = 1.5"],
)
def test_joints_by_name_leave_the_others_at_home(text):
    expected = positions(PANDA, None)
    expected[[3, 5]] = -2, 1.5
    assert at(PANDA, text).tolist() == expected.tolist()


def test_home_is_within_the_limits_where_neutral_is_not():
    home = at(PANDA, "home")
    assert np.all((home >= PANDA.limits.lower) & (home <= PANDA.limits.upper))
    assert home.tolist() == positions(PANDA, None).tolist()
    assert at(PANDA, "neutral").tolist() == [0] * 7
    assert at(PANDA, "neutral,panda_joint4=-1").tolist() == [0, 0, 0, -1, 0, 0, 0]


def test_degrees_are_for_angles_alone():
    robot = cr.load("planar_2r").floating()
    q = at(robot, "floating_base.x=2,joint1=90", degrees=True)
    assert q[0] == 2
    assert q[-2] == pytest.approx(math.pi / 2)
    assert np.linalg.norm(q[3:7]) == 1


def test_degrees_are_for_the_angular_velocities_of_quaternions_too():
    robot = cr.load("planar_2r").floating()
    v = rates(robot, "90,0,0,1,0,0,0,180", degrees=True)
    assert v.tolist() == pytest.approx([math.pi / 2, 0, 0, 1, 0, 0, 0, math.pi])
    v = rates(robot, "floating_base.wz=90,floating_base.vx=3", degrees=True)
    assert v.tolist() == pytest.approx([0, 0, math.pi / 2, 3, 0, 0, 0, 0])


WRONG = [
    (
        CONFIGURATION,
        "1,2",
        r"robot 'panda' has 7 coordinates \(panda_joint1, .*\), got 2 numbers; or name some of them",
    ),
    (CONFIGURATION, "1", r"got 1 number; or name some of them, such as --q panda_joint7=0.5"),
    (CONFIGURATION, "rady", r"robot 'panda' has no configuration named 'rady'"),
    (CONFIGURATION, "panda_jiont1=2", r"did you mean 'panda_joint1'"),
    (CONFIGURATION, "panda_joint1=two", r"'panda_joint1=two' is neither a number nor the name of a configuration"),
    (CONFIGURATION, "0,x,0", r"'x' is not a number"),
    (CONFIGURATION, "panda_joint1=1,panda_joint1=2", r"'panda_joint1' is given twice"),
    (CONFIGURATION, "", r"there are no numbers"),
    (CONFIGURATION, "=3", r"'=3' is neither a number"),
    (JOINT_VALUES, "home", r"'home' is neither a number nor a name with a number, such as elbow=0.5"),
    (JOINT_VALUES, "90deg", r"'90deg' is neither a number"),
]


@pytest.mark.parametrize(("kind", "text", "message"), WRONG, ids=[w[1] or "nothing" for w in WRONG])
def test_what_does_not_fit_is_refused_by_the_name_of_its_option(kind, text, message):
    with pytest.raises(click.BadParameter, match=message):
        (positions if kind is CONFIGURATION else velocities)(PANDA, values(kind, text))


def test_a_robot_without_coordinates_takes_no_numbers(tmp_path):
    (tmp_path / "still.urdf").write_text('<robot name="still"><link name="base"/></robot>')
    with pytest.raises(click.BadParameter, match="robot 'still' has no coordinates, got 1 number"):
        at(cr.load(tmp_path / "still.urdf"), "1")


def test_gains_are_one_number_a_list_or_names():
    robot = cr.load("planar_2r")
    assert gains(robot, None) is None
    assert gains(robot, values(JOINT_VALUES, "7", "--kp")) == 7
    assert gains(robot, values(JOINT_VALUES, "7,8", "--kp")).tolist() == [7, 8]
    assert gains(robot, values(JOINT_VALUES, "joint2=8", "--kp")) == {"joint2": 8}
    with pytest.raises(click.BadParameter, match="robot 'planar_2r' has no joint named 'joint3'"):
        gains(robot, values(JOINT_VALUES, "joint3=8", "--kp"))
    with pytest.raises(click.BadParameter, match="has 2 degrees of freedom"):
        gains(robot, values(JOINT_VALUES, "1,2,3", "--kp"))


def test_gains_that_are_typed_reach_the_controller():
    held = ("simulate", "planar_2r", "--controller", "pd", "--duration", "0.01", "--q0", "0,0", "--qd0", "1,1")
    tau = {kd: facts(*held, "--kd", kd)["largest_tau"] for kd in ("0", "10", "0,10", "joint1=0,joint2=10")}
    assert tau["0"] == pytest.approx([29.43, 9.81], abs=0.1)  # gravity alone
    assert tau["10"] == pytest.approx([19.43, 0.36], abs=0.1)  # gravity less 10 N m s at 1 rad/s
    assert tau["0,10"] == tau["joint1=0,joint2=10"]
    assert tau["0,10"][0] == pytest.approx(29.43)
    assert tau["0,10"][1] < 3


def test_a_controller_holds_the_panda_out_of_the_box():
    for controller in ("pd", "pid", "computed-torque"):
        done = run("simulate", "panda", "--controller", controller, "--duration", "1", "--json")
        assert done.exit_code == 0
        assert not done.stderr
        held = json.loads(done.stdout)
        assert held["q"] == pytest.approx(held["q0"], abs=1e-6)
        assert held["energy_error"] < 1e-6


def test_a_controller_brings_joints_to_a_target_by_name():
    moved = ("simulate", "panda", "--controller", "pd", "--duration", "2", "--target", "panda_joint4=-100", "--degrees")
    there = facts(*moved)
    assert there["q"][3] == pytest.approx(-100, abs=0.5)
    assert there["energy_error"] < 1e-4
    assert facts(*moved, "--kp", "panda_joint4=5")["q"][3] != pytest.approx(-100, abs=0.5)


def test_every_command_says_names_and_units():
    turned = facts("pose", "planar_2r", "--q", "neutral,joint2=90", "--degrees")
    assert turned["coordinates"] == ["joint1", "joint2"]
    assert turned["units"] == ["deg", "deg"]
    assert turned["q"] == pytest.approx([0, 90])
    assert turned["position"] == pytest.approx([1, 1, 0])
    held = facts("torque", "planar_rp", "--q", "90,1", "--degrees")
    assert held["units"] == ["deg", "m"]
    assert held["torque_units"] == ["N m", "N"]
    solved = facts("ik", "planar_2r", "--xyz", "1,1,0", "--degrees")
    assert solved["success"] is True
    assert sorted(round(abs(x)) for x in solved["q"]) in ([0, 90], [90, 90])
    assert solved["error_units"] == ["m", "deg"]
    every = facts("ik", "planar_2r", "--xyz", "1,1,0", "--rpy", "0,0,90", "--degrees", "--all")
    assert every["units"] == ["deg", "deg"]
    assert [round(x) for x in every["q"][0]] in ([0, 90], [90, -90])
    moved = facts("simulate", "planar_2r", "--duration", "0.01", "--q0", "30,0", "--qd0", "0,90", "--degrees")
    assert moved["q0"] == pytest.approx([30, 0])
    assert moved["velocity_units"] == ["deg/s", "deg/s"]
    assert moved["qd"][1] == pytest.approx(90, abs=20)
    cloud = facts("workspace", "planar_2r", "--samples", "100", "--degrees")
    assert cloud["best"]["coordinates"] == ["joint1", "joint2"]
    assert abs(cloud["best"]["q"][0]) > math.pi


def test_numbers_that_look_like_degrees_are_asked_about():
    typed = ("pose", "panda", "--q", "0,-45,0,-135,0,90,45")
    with pytest.warns(cr.ModelWarning, match="and -45 degrees would be within them"):
        at(PANDA, typed[-1])
    assert facts(*typed, "--degrees")["q"][3] == pytest.approx(-135)


@pytest.mark.filterwarnings("always::chainrule.errors.ModelWarning")
def test_the_question_about_degrees_is_asked_once_and_names_the_option():
    done = run_main("ik", "panda", "--xyz", "0.4,0,0.4", "--q0", "0,-45,0,-135,0,90,45")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("if these are degrees, give --degrees\n")


def test_info_as_json_has_joints_links_and_limits():
    told = facts("info", "panda", "--degrees")
    assert told["dof"] == 7
    assert told["velocities"][3]["name"] == "panda_joint4"
    assert told["velocities"][3]["upper"] == pytest.approx(-4.0, abs=0.01)
    assert told["velocities"][3]["effort_unit"] == "N m"
    assert told["links"][1]["mass"] == pytest.approx(4.97068)
    free = facts("info", "planar_2r")
    assert free["velocities"][0]["lower"] == "-Infinity"
    assert {row["robot"] for row in facts("info")} == set(cr.robots())


def test_demo_as_json_has_identities_that_hold():
    told = facts("demo", "planar_2r")
    assert [check["holds"] for check in told["identities"]] == [True] * 3
    assert np.array(told["mass_matrix"]).shape == (2, 2)
    assert told["coordinates"] == ["joint1", "joint2"]
