"""Recordings as robots and their programs write them: messages, data sets of LeRobot, logs of UR and Franka."""

import json

import numpy as np
import pytest

import chainrule as cr

ARM, PANDA, GO2 = cr.load("planar_2r"), cr.load("panda"), cr.load("go2")
T = np.arange(40) / 30
Q = np.stack([np.sin(T), np.cos(T)], axis=-1)


def test_messages_of_a_motion_are_read_back():
    motion = ARM.simulate([0.1, 0.2], None, 0.1)
    for kind in ("JointState", "JointTrajectory"):
        back = cr.Trajectory.load(motion.to_messages(kind), ARM, smoothing=None)
        np.testing.assert_allclose(back.q, motion.q, atol=1e-15)
        np.testing.assert_allclose(back.t, motion.t, atol=1e-12)
    assert motion.to_messages()[3]["name"] == ["joint1", "joint2"]


def test_motions_that_messages_cannot_hold_are_refused():
    with pytest.raises(cr.ShapeError, match="quaternions"):
        GO2.simulate(GO2.home(), None, 0.002).to_messages()
    with pytest.raises(cr.ShapeError, match="takes one motion"):
        ARM.simulate(np.zeros((2, 2)), None, 0.01).to_messages()
    with pytest.raises(cr.UnknownNameError, match="JointStat"):
        ARM.simulate([0.0, 0.0], None, 0.01).to_messages("JointStat")
    with pytest.raises(cr.ShapeError, match="every point"):
        cr.Trajectory.load({"joint_names": ["joint1"], "points": [{"positions": [1.0, 2.0]}]}, ARM)


def data_set(folder, version, names, states=Q, splits=1):
    """A small data set of LeRobot with three episodes of the same motion, the second turned by 0.1."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (folder / "meta").mkdir(parents=True)
    features = {"observation.state": {"dtype": "float32", "shape": [2], "names": names}}
    info = {"codebase_version": version, "fps": 30, "total_episodes": 3, "features": features}
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    chunk = folder / "data" / "chunk-000"
    chunk.mkdir(parents=True)
    tables = [
        arrow.table(
            {
                "observation.state": list(states + 0.1 * (k == 1)), "timestamp": T.astype(np.float32),
                "episode_index": np.full(len(T), k),
            }
        )
        for k in range(3)
    ]  # fmt: skip
    if version.startswith("v2"):
        for k, table in enumerate(tables):
            parquet.write_table(table, chunk / f"episode_{k:06d}.parquet")
    else:
        whole = arrow.concat_tables(tables)
        for k, rows in enumerate(np.array_split(np.arange(len(whole)), splits)):
            parquet.write_table(whole.take(rows), chunk / f"file-{k:03d}.parquet")
    return folder


@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
@pytest.mark.parametrize("names", [["joint1.pos", "joint2.pos"], {"motors": ["joint1", "joint2"]}, None])
@pytest.mark.filterwarnings("ignore::chainrule.errors.MotionWarning")
def test_an_episode_of_a_data_set_of_lerobot_is_read(tmp_path, version, names):
    folder = data_set(tmp_path / "set", version, names, splits=2)
    motion = cr.Trajectory.load(folder, ARM, episode=1, degrees=False, smoothing=None)
    np.testing.assert_allclose(motion.q, Q + 0.1, atol=1e-6)
    np.testing.assert_allclose(motion.t, T, atol=1e-6)
    assert f"version {version}, 30 frames a second" in motion.notes[0]


def test_what_a_data_set_of_lerobot_does_not_say_is_asked_for(tmp_path):
    folder = data_set(tmp_path / "set", "v3.0", ["joint1", "joint2"])
    with pytest.raises(cr.ShapeError, match="in which unit"):
        cr.Trajectory.load(folder, ARM, episode=0)
    with pytest.raises(cr.ShapeError, match="has 3 episodes"):
        cr.Trajectory.load(folder, ARM, degrees=True)
    with pytest.raises(cr.ShapeError, match="no episode 7"):
        cr.Trajectory.load(folder, ARM, degrees=True, episode=7)
    with pytest.raises(cr.UnknownNameError, match="actoin"):
        cr.Trajectory.load(folder, ARM, degrees=True, episode=0, feature="actoin")
    with pytest.raises(cr.ShapeError, match="episode is of a data set"):
        cr.Trajectory.load({"t": T, "joint1": T, "joint2": T}, ARM, episode=0)
    (folder / "meta" / "info.json").write_text("{}")
    with pytest.raises(cr.FormatError, match="no description"):
        cr.Trajectory.load(folder, ARM, episode=0, degrees=True)


def log(path, heads, columns):
    path.write_text("\n".join([heads, *(",".join(f"{x:.9g}" for x in row) for row in np.stack(columns, axis=-1))]))
    return path


@pytest.mark.parametrize(
    ("time", "sep", "prefix"), [("time,success_rate,", ",", "state."), ("duration, success rate, ", ", ", "")]
)
@pytest.mark.filterwarnings("ignore::chainrule.errors.MotionWarning")
def test_a_log_of_libfranka_has_times_in_milliseconds(tmp_path, time, sep, prefix):
    q = PANDA.home() + 0.1 * np.sin(T)[:, None]
    heads = time + sep.join(f"{prefix}{name}[{k}]" for name in ("q", "q_d") for k in range(7))
    motion = cr.Trajectory.load(
        log(tmp_path / "franka.csv", heads, [np.arange(40), np.ones(40), *q.T, *q.T]), PANDA, smoothing=None
    )
    np.testing.assert_allclose(motion.t, np.arange(40) / 1000, atol=1e-12)
    np.testing.assert_allclose(motion.q, q, atol=1e-8)
    assert any("libfranka" in note for note in motion.notes)


@pytest.mark.filterwarnings("ignore::chainrule.errors.MotionWarning")
def test_a_log_of_rtde_is_read_by_the_measured_joints(tmp_path):
    robot = cr.load("ur5e")
    q = robot.home() + 0.1 * np.sin(T)[:, None]
    heads = ",".join(
        ["timestamp", *(f"{kind}_{k}" for kind in ("target_q", "actual_q", "actual_qd") for k in range(6))]
    )
    path = log(tmp_path / "rtde.csv", heads, [100 + T, *(0 * q).T, *q.T, *q.T])
    motion = cr.Trajectory.load(path, robot, smoothing=None)
    np.testing.assert_allclose(motion.q, q, atol=1e-8)
    np.testing.assert_allclose(motion.t - motion.t[0], T, atol=1e-6)
