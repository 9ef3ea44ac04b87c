"""Motions that are replayed: files of the library, tables, markers, uploads, and the study."""

import io
import tempfile
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import chainrule as cr
from chainrule import study
from chainrule.simulation.columns import COLUMNS
from chainrule.studio.player import recordings
from chainrule.studio.player.recordings import activities, read_recording, read_upload, rows, study_recording

ARM = cr.load("planar_2r")
SWING = ARM.simulate([0.3, 0.4], None, 0.2, dt=0.01)


def test_a_saved_trajectory_comes_back(tmp_path):
    SWING.save(tmp_path / "swing.npz")
    found = read_recording(tmp_path / "swing.npz", ARM)
    assert found.title == "swing.npz"
    assert found.robot is ARM
    assert_array_equal(found.motion.q, SWING.q)
    assert_array_equal(found.motion.tau, SWING.tau)


def test_a_saved_trajectory_of_another_robot_has_its_own(tmp_path):
    SWING.save(tmp_path / "swing.npz")
    found = read_recording(tmp_path / "swing.npz", cr.load("pendulum"))
    assert found.robot.name == "planar_2r"
    assert_array_equal(found.motion.q, SWING.q)


def test_a_table_of_angles_is_of_the_robot_shown():
    t = np.linspace(0.0, 1.0, 101)
    text = "time,joint1,joint2\n" + "".join(f"{x:.4f},{np.sin(x):.6f},{0.1 * x:.6f}\n" for x in t)
    found = read_upload("run.csv", text.encode(), ARM)
    assert_allclose(found.motion.q[:, 0], np.sin(t), atol=1e-4)
    torques = ARM.inverse_dynamics(found.motion.q, found.motion.qd, found.motion.qdd)
    assert_allclose(found.motion.tau, torques, atol=1e-9)
    assert found.notes


def test_uploads_leave_nothing_behind_and_name_no_place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(cr.ChainruleError) as caught:
        read_upload("../../etc/passwd.csv", b"no numbers here", ARM)
    assert "passwd.csv" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.exe", b"MZ", r"run\.exe: a motion is read from \.csv"),
        ("run.npz", b"PK", "run.npz"),
        ("run.csv", b"t,joint1,joint2\n0,0,0\n", "run.csv|samples"),
        ("run", b"", "a motion is read from"),
    ],
)
def test_files_that_hold_no_motion_are_refused(name, content, message):
    with pytest.raises(cr.ChainruleError, match=message):
        read_upload(name, content, ARM)


def test_uploads_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(recordings, "MAX_UPLOAD_BYTES", 1024)
    with pytest.raises(cr.FormatError, match=r"run\.csv has 0 MiB; at most 0 MiB are taken"):
        read_upload("run.csv", b"0" * 2000, ARM)


def test_a_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(recordings, "MAX_UNPACKED_BYTES", 2**20)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("q.npy", bytes(2**22))
    with pytest.raises(cr.FormatError, match=r"bomb\.npz would unpack to 4 MiB; at most 1 MiB are read"):
        read_upload("bomb.npz", packed.getvalue(), ARM)


def test_long_recordings_are_refused(monkeypatch):
    monkeypatch.setattr(recordings, "MAX_SAMPLES", 10)
    packed = io.BytesIO()
    np.savez(packed, time=np.linspace(0.0, 1.0, 50), joint1=np.zeros(50), joint2=np.zeros(50))
    with pytest.raises(cr.FormatError, match="more than 10 samples"):
        read_upload("long.npz", packed.getvalue(), ARM)


def test_a_study_is_replayed_with_its_torques():
    title, name = next(iter(activities().items()))
    found = study_recording(name)
    expected = study.run(study.Subject.human(), activities=[name], rate=100.0, progress=False).examples[name]
    assert found.title == title
    assert_array_equal(found.motion.q, expected.motion.q)
    assert_array_equal(found.motion.tau, expected.total)
    assert "synthetic" in found.notes[0]


def test_motions_of_a_batch_are_spread_over_it():
    batch = ARM.simulate(np.linspace(0.0, 0.5, 10)[:, None] * np.ones(2), None, 0.05, dt=0.01)
    chosen = rows(batch, 4)
    assert_allclose([one.q[0, 0] for one in chosen], np.linspace(0.0, 0.5, 10)[[0, 3, 6, 9]])
    assert rows(SWING, 4) == [SWING]
    nothing = replace(batch, **{name: getattr(batch, name)[:0] for name in COLUMNS})
    with pytest.raises(cr.ShapeError, match="a batch without motions"):
        rows(nothing, 4)
