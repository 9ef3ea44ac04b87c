"""Files of trajectories: what is saved comes back."""

from __future__ import annotations

import json

import numpy as np
import pytest

import chainrule as cr

from .motions import START


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_a_saved_trajectory_comes_back_as_it_was(arm, tmp_path, suffix, batch):
    event = cr.Event(lambda t, q, qd: q[..., 0], name="low", terminal=False)
    motion = arm.simulate(np.tile(START, (*batch, 1)), None, 0.6, cr.PID(arm, [0.1, 0.1], 9.0, 1.0, 1.0), events=event)
    path = tmp_path / f"run{suffix}"
    motion.save(path)
    back = cr.Trajectory.load(path, arm if suffix == ".csv" else None)
    for name in ("t", "q", "qd", "qdd", "tau", "friction", "work", "states"):
        a, b = getattr(motion, name), getattr(back, name)
        assert np.array_equal(a.reshape(b.shape), b), name
    assert back.robot == arm
    if suffix != ".csv":
        assert back.q.shape == motion.q.shape
        assert [e.t for e in back.events] == [e.t for e in motion.events]
        assert (back.method, back.status) == (motion.method, motion.status)


def test_files_that_are_no_trajectories_are_refused(arm, tmp_path):
    for name, content in (("a.npz", b"nonsense"), ("a.parquet", b"nonsense"), ("a.csv", b"t,q\n0,x\n"), ("b.csv", b"")):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(cr.ChainruleError):
            cr.Trajectory.load(path, arm)
    np.savez(tmp_path / "other.npz", t=np.zeros(3))
    for wrong in ("other.npz", "missing.npz", "a.txt"):
        with pytest.raises(cr.ChainruleError):
            cr.Trajectory.load(tmp_path / wrong)
    motion = arm.simulate(START, None, 0.1)
    with pytest.raises(cr.ShapeError, match="npz"):
        motion.save(tmp_path / "run.xlsx")
    motion.save(tmp_path / "run.csv")
    with pytest.raises(cr.ShapeError, match="robot"):
        cr.Trajectory.load(tmp_path / "run.csv")
    with pytest.raises(cr.FormatError, match="panda"):
        cr.Trajectory.load(tmp_path / "run.csv", cr.load("panda"))


def test_a_table_names_the_components_of_a_free_joint(tmp_path):
    robot = cr.load("quadruped")
    motion = robot.simulate(robot.neutral(), None, 0.01, limits=False)
    motion.save(tmp_path / "motion.csv")
    names = (tmp_path / "motion.csv").read_text().partition("\n")[0]
    assert f",qd.{robot.joint_names[0]}.vz," in names
    back = cr.Trajectory.load(tmp_path / "motion.csv", robot)
    assert np.array_equal(back.q, motion.q)
    assert np.array_equal(back.friction, motion.friction)


def test_files_say_the_unit_of_every_column(tmp_path):
    robot = cr.load("planar_rp")
    motion = robot.simulate([0.3, 1.2], duration=0.01)
    motion.save(tmp_path / "motion.npz")
    facts = json.loads(str(np.load(tmp_path / "motion.npz")["facts"]))
    turn, slide = robot.joint_names
    assert facts["units"]["t"] == "s"
    assert [facts["units"][f"{kind}.{turn}"] for kind in ("q", "qd", "qdd", "tau")] == [
        "rad",
        "rad/s",
        "rad/s^2",
        "N m",
    ]
    assert [facts["units"][f"{kind}.{slide}"] for kind in ("q", "qd", "qdd", "tau")] == ["m", "m/s", "m/s^2", "N"]
    assert facts["units"]["work.torque"] == "J"
    assert len(facts["units"]) == 1 + 2 * 5 + 3
