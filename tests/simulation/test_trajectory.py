"""Trajectories: parts, resampling, columns by name, pictures."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

from .motions import START


def test_a_trajectory_is_cut_resampled_and_read_by_name(arm):
    motion = arm.simulate(START, None, 1.0, [0.3, 0.1])
    assert len(motion) == 1001
    assert np.allclose(motion[100:200:10].t, np.arange(0.1, 0.2, 0.01))
    assert np.allclose(motion.between(0.25, 0.5).t[[0, -1]], [0.25, 0.5])
    coarse = arm.simulate(START, None, 1.0, [0.3, 0.1], record=10)
    fine = coarse.resample(1e-3)
    assert np.abs(fine.q - motion.q).max() < 1e-6
    assert np.abs(fine.qd - motion.qd).max() < 1e-4
    assert np.array_equal(coarse.resample(coarse.t).q, coarse.q)
    assert np.array_equal(motion.column("q.upper_hinge"), motion.q[:, 0])
    assert motion.energy.shape == (1001,)
    assert motion.constraint_residual.shape == (1001, 0)


def test_quaternions_are_resampled_on_their_sphere():
    robot = cr.load("quadruped").edit(gravity=[0, 0, 0])
    motion = robot.simulate(robot.neutral(), np.full(robot.nv, 0.5), 0.2, record=20, limits=False)
    assert np.abs(np.linalg.norm(motion.resample(1e-3).q[:, 3:7], axis=1) - 1).max() < 1e-14


def test_a_plot_is_written_and_refuses_what_it_cannot_write(arm, tmp_path):
    motion = arm.simulate(START, None, 0.1)
    motion.plot(tmp_path / "run.png", joints=["upper_hinge"])
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(cr.ShapeError, match="png"):
        motion.plot(tmp_path / "run.xyz")
    with pytest.raises(cr.UnknownNameError):
        motion.plot(joints=["elbow"])


def test_the_components_of_a_free_joint_are_columns_with_names():
    robot = cr.load("quadruped")
    motion = robot.simulate(robot.neutral(), None, 0.01, limits=False)
    base = robot.joint_names[0]
    assert np.array_equal(motion.column(f"q.{base}.x"), motion.q[:, 0])
    assert np.array_equal(motion.column(f"q.{base}.qw"), motion.q[:, 6])
    assert np.array_equal(motion.column(f"qd.{base}.vz"), motion.qd[:, 5])
    with pytest.raises(cr.UnknownNameError, match=rf"{base}\.[xyz]"):
        motion.column(f"q.{base}.X")


def test_a_plot_shows_all_components_of_the_joints_that_are_named():
    robot = cr.load("quadruped")
    motion = robot.simulate(robot.neutral(), None, 0.01, limits=False)
    figure = motion.plot(joints=[robot.joint_names[0]])
    _, velocities, *_ = figure.axes
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [label.rpartition(".")[2] for label in labels][:7] == ["x", "y", "z", "qx", "qy", "qz", "qw"]
    assert len(velocities.lines) == 6
