"""`chainrule calibrate` and `chainrule excite` do what `cr.calibrate` and `cr.excite` do."""

import json

import numpy as np
import pytest

import chainrule as cr
from cli.entry import run

ARM = cr.load("planar_2r")
REAL = ARM.edit({"link1.length": 1.02, "joint2.offset": 0.05})
WORDS = ("calibrate", "planar_2r")
ASKED = ("--parameters", "link1.length,joint2.offset")


@pytest.fixture
def table(tmp_path):
    q = ARM.random_state(np.random.default_rng(0), (20,))
    path = tmp_path / "poses.csv"
    T = REAL.pose(q)
    quaternions = np.stack(
        [0 * q[:, 0], 0 * q[:, 0], np.sin(q.sum(axis=1) / 2 + 0.025), np.cos(q.sum(axis=1) / 2 + 0.025)]
    )
    rows = np.column_stack([np.degrees(q), T[:, :3, 3], quaternions.T])
    np.savetxt(path, rows, delimiter=",", header="joint1,joint2,x,y,z,qx,qy,qz,qw", comments="")
    return path


def test_a_table_of_poses_gives_a_corrected_robot(table, tmp_path):
    done = run(*WORDS, "--table", str(table), *ASKED, "--degrees", "--save", str(tmp_path / "real.toml"), "--json")
    told = json.loads(done.stdout)
    assert told["parameters"] == {"link1.length": pytest.approx(1.02), "joint2.offset": pytest.approx(0.05)}
    assert "written: " in done.stderr
    q = [0.3, 0.4]
    np.testing.assert_allclose(cr.load(tmp_path / "real.toml").pose(q), REAL.pose(q), atol=1e-9)
    assert "joint2.offset" in run(*WORDS, "--table", str(table), *ASKED, "--degrees").stdout


def test_wrong_tables_end_in_one_line(table, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("joint1,x,y,z\n1,2,3,4\n1,3,3,4\n")
    for words, expected in (
        ((str(other), *ASKED), "has no columns 'joint2'"),
        ((str(tmp_path / "none.csv"), *ASKED), "there is no file"),
        ((str(table), "--parameters", "joint3.offset"), "no joint named 'joint3'"),
        ((str(table), *ASKED), "in the order of q, and q in radians?"),
    ):
        done = run(*WORDS, "--table", *words)
        assert done.returncode == 1
        assert expected in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_an_excitation_is_saved_as_a_motion(tmp_path):
    path = tmp_path / "excite.csv"
    words = ("excite", "planar_2r", "--velocity", "2", "--starts", "1", "--harmonics", "3", "--duration", "4")
    done = run(*words, "--save", str(path), "--rate", "200", "--json")
    told = json.loads(done.stdout)
    motion = cr.Trajectory.load(path, ARM)
    expected = cr.excite(ARM, 4.0, velocity=2.0, starts=1, harmonics=3)
    assert told["condition"] == pytest.approx(expected.condition)
    assert motion.t[-1] == pytest.approx(4.0)
    np.testing.assert_allclose(motion.q[::100], expected(motion.t[::100])[0], atol=1e-6)
    done = run("excite", "planar_2r")
    assert done.returncode == 1
    assert "give --velocity or --acceleration" in done.stderr
