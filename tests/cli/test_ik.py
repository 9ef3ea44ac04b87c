"""`chainrule ik` does what `inverse_kinematics` does."""

import json

import numpy as np
import pytest

import chainrule as cr
from cli.entry import run


def facts(*words):
    done = run("ik", *words, "--json")
    assert not done.stderr
    return json.loads(done.stdout)


def test_newton_with_its_history(tmp_path):
    picture = tmp_path / "newton.png"
    words = ("planar_2r", "--xyz", "0,1.6,0", "--q0", "0.1,1", "--method", "newton", "--history")
    told = facts(*words, "--plot", str(picture))
    expected = cr.load("planar_2r").inverse_kinematics(
        [0, 1.6, 0], [0.1, 1], method="newton", task="position", history=True
    )
    for name in ("q", "error", "step"):
        np.testing.assert_allclose(told["history"][name], getattr(expected.history, name))
    assert (told["rank"], told["equations"]) == (2, 3)
    assert picture.stat().st_size > 10_000
    printed = run("ik", *words).stdout.splitlines()
    assert printed[0].split() == ["iteration", "error,", "m", "error,", "rad", "step", "joint1", "joint2"]
    assert printed[1].split() == ["0", "1.57", "0", "1.78", "0.100000", "1.000000"]
    assert printed[-1] == "of the task's 3 equations, 2 are independent on this robot"


def test_a_pose_vector_in_degrees():
    told = facts("planar_2r", "--pose", "1,1,0,0,0,90", "--q0", "10,80", "--degrees", "--history", "--method", "newton")
    assert told["q"] == pytest.approx([0, 90], abs=1e-4)
    assert told["history"]["q"][0] == pytest.approx([10, 80])
    assert told["history"]["error"][0][1] == pytest.approx(0, abs=1e-9)  # 10 + 80 degrees already
    assert told["history"]["step"][0] == pytest.approx(np.diff(told["history"]["q"][:2], axis=0)[0])


def test_tasks_weights_tolerance_and_search():
    arm = cr.load("planar_3r")
    told = facts("planar_3r", "--direction", "0,1,0", "--axis", "1,0,0", "--q0", "0.1,0.2,0.3")
    T = arm.pose(told["q"])
    np.testing.assert_allclose(T[:3, 0], [0, 1, 0], atol=1e-6)
    rough = facts("planar_3r", "--pose", "1,1,0,0,0,2", "--weights", "0,0,0,1,1,0", "--tolerance", "1e-2", "--q0", "1,1,1",
                  "--restarts", "0", "--max-iterations", "50", "--seed", "3")  # fmt: skip
    assert rough["success"]
    np.testing.assert_allclose(arm.pose(rough["q"])[:2, 3], [1, 1], atol=1e-2)
    near = facts("planar_3r", "--xyz", "1,1,0", "--posture", "0.2,1,0.5")
    assert near["success"]
    assert np.abs(np.array(near["q"]) - [0.2, 1, 0.5]).max() < 1.0
    part = facts("planar_3r", "--xyz", "1,1,0", "--rpy", "0,0,0.3", "--task", "position")
    assert part["equations"] == 3


def test_solutions_in_closed_form_say_which_joints_are_free():
    pose = cr.load("ur5").textbook.pose_vector([0.4, -1.0, 1.3, 0.3, 0.0, 0.7])
    x, y, z, *angles = (repr(float(number)) for number in pose)
    words = ("ur5", f"--xyz={x},{y},{z}", f"--rpy={','.join(angles)}", "--all")
    told = facts(*words)
    assert ["wrist_3_joint"] in told["free"]
    assert len(told["free"]) == len(told["q"])
    number = told["free"].index(["wrist_3_joint"]) + 1
    assert f"free in solution {number}: wrist_3_joint" in run("ik", *words).stdout
