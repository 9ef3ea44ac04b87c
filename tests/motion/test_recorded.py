"""Recorded motions: what is found in samples, what is assumed, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import chainrule as cr

from .signals import ARM, swing, with_noise

pytestmark = pytest.mark.interpreted


T = np.arange(0.0, 4.0, 0.01)
Q = swing(T)[0]


def recorded(q=Q, t=T, **options):
    return cr.Trajectory.from_samples(ARM, t, q, **options)


def test_torques_power_energy_and_wrenches_come_with_it():
    motion = recorded(smoothing=None)
    assert np.array_equal(motion.tau, ARM.inverse_dynamics(motion.q, motion.qd, motion.qdd))
    assert np.allclose(sum(motion.terms[k] for k in motion.terms if k != "total"), motion.tau, atol=1e-12)
    assert np.array_equal(motion.power, motion.tau * motion.qd)
    assert motion.joint_wrenches(frame="body").shape == (400, 7, 6)
    assert abs(motion.energy_error).max() < 1e-3 * abs(motion.work[:, 0]).max()
    assert motion.method == "recorded"


def test_wrenches_along_the_motion_count_in_torques_and_in_work():
    push = np.zeros((400, 6))
    push[:, 5] = np.linspace(0.0, 30.0, 400)
    motion = recorded(tip_wrench=push, smoothing=None)
    assert np.allclose(motion.tau, ARM.inverse_dynamics(motion.q, motion.qd, motion.qdd, tip_wrench=push))
    assert abs(motion.work[:, 2]).max() > 0.1
    assert abs(motion.energy_error).max() < 2e-3 * abs(motion.work[:, 0]).max()
    with pytest.raises(cr.ShapeError, match="one for each of the 400 samples"):
        recorded(tip_wrench=push[:100])
    with pytest.raises(cr.UnknownNameError, match="elbow"):
        recorded(external={"elbow": np.zeros(6)})


def test_a_batch_of_motions_is_a_batch():
    both = recorded(np.stack([Q, Q[::-1]]), smoothing=None)
    assert both.batch == (2,)
    assert np.allclose(both.row(1).qdd, both.row(0).qdd[::-1], atol=1e-6)


def test_degrees_that_are_stated_are_said_in_no_warning(recwarn):
    motion = recorded(np.degrees(Q), degrees=True, smoothing=None)
    assert np.allclose(motion.q, Q)
    assert not recwarn.list


def test_degrees_that_are_not_stated_are_inferred_and_said():
    with pytest.warns(cr.MotionWarning, match="taken as DEGREES; say degrees=True"):
        motion = recorded(np.degrees(Q), smoothing=None)
    assert np.allclose(motion.q, Q)
    assert any("DEGREES" in note for note in motion.notes)


def test_radians_that_nothing_contradicts_are_a_note(recwarn):
    assert any("taken as radians" in note for note in recorded().notes)
    assert not recwarn.list


def test_wrapped_angles_are_unwrapped_and_said():
    arm = cr.load("pendulum")
    q = np.linspace(0.0, 20.0, 400)[:, None]
    with pytest.warns(cr.MotionWarning, match=r"wraps and undone: .*3 times"):
        motion = cr.Trajectory.from_samples(arm, T, np.angle(np.exp(1j * q)), degrees=False, smoothing=None)
    assert np.allclose(motion.q, q)


def test_repeated_times_become_their_mean():
    t, q = np.repeat(T, 2), np.repeat(Q, 2, axis=0)
    q[::2] += 0.001
    q[1::2] -= 0.001
    with pytest.warns(cr.MotionWarning, match="400 samples repeat the time"):
        motion = recorded(q, t, smoothing=None)
    assert len(motion) == 400
    assert np.allclose(motion.q, Q)


def test_time_that_goes_backwards_is_refused_or_sorted():
    order = np.random.default_rng(0).permutation(400)
    with pytest.raises(cr.ShapeError, match=r"time goes backwards at sample \d+, .*sort=True"):
        recorded(Q[order], T[order])
    with pytest.warns(cr.MotionWarning, match="samples were sorted"):
        assert np.allclose(recorded(Q[order], T[order], sort=True, smoothing=None).q, Q)


def test_gaps_jumps_missing_numbers_and_limits_are_found_in_one_warning():
    q = Q.copy()
    q[100:110, 2] = np.nan
    q[200, 3] += 0.8
    q[:, 0] += 4.0
    keep = np.r_[0:250, 290:400]
    with pytest.warns(cr.MotionWarning) as caught:
        motion = recorded(q[keep], T[keep], degrees=False)
    (text,) = [str(warning.message) for warning in caught]
    assert "gaps in time: 2.49 to 2.9 s" in text
    assert "'panda_joint3' (10 samples from 1 to 1.09 s)" in text
    assert "'panda_joint4' by" in text
    assert "at 2 s" in text
    assert "beyond joint limits: 'panda_joint1'" in text
    assert np.isfinite(motion.tau).all()


def test_times_in_other_units_and_dates():
    step = np.timedelta64(10, "ms")
    dates = np.datetime64("2026-01-01T10:00:00") + step * np.arange(400)
    for t, options in ((T * 1e3, {"time_unit": "ms"}), (dates, {}), (0.01, {}), (T * 1e9, {"time_unit": "ns"})):
        assert np.allclose(recorded(Q, t, smoothing=None, **options).t, T)
    with pytest.warns(cr.MotionWarning, match="taken as ns since 1970"):
        assert np.allclose(recorded(Q, 1.7e18 + T * 1e9, smoothing=None).t, T, atol=1e-6)
    with pytest.raises(cr.ShapeError, match=r"10 s apart; say time_unit='ms' \(0.01 s apart\), or time_unit='s' if"):
        recorded(Q, np.round(T * 1e3))


@pytest.mark.parametrize(
    ("t", "q", "words"),
    [
        (T[:10], Q, "a time for each of the 400 samples"),
        (T, Q[0], "a row for each sample"),
        (T[:4], Q[:4], "at least 6 samples"),
        (np.where(T == 1.0, np.nan, T), Q, "the time of sample 100 is nan"),
        (T, Q[:, :6], "must have 7 numbers"),
        (T, np.where(np.arange(7) == 2, np.nan, Q), "'panda_joint3' has numbers in only 0 of 400"),
        (-0.01, Q, "the time between two samples"),
        (T, np.empty((0, 400, 7)), "holds no motion"),
    ],
    ids=["few times", "one sample", "short", "time nan", "columns", "no numbers", "step", "no motions"],
)
def test_bad_samples_are_refused(t, q, words):
    with pytest.raises(cr.ShapeError, match=words):
        recorded(q, t)


def test_a_robot_without_masses_has_no_torques():
    with pytest.warns(cr.ModelWarning, match="no masses"):
        arm = cr.Robot.from_dh([(1, 0, 0, 0), (1, 0, 0, 0)], convention="standard")
    motion = cr.Trajectory.from_samples(arm, T, np.stack([np.sin(T), np.cos(T)], axis=1))
    assert np.isnan(motion.tau).all()
    assert np.isfinite(motion.qdd).all()


def test_quaternions_are_smoothed_on_the_manifold():
    robot = cr.load("planar_2r").floating()
    t = np.arange(0.0, 5.0, 0.005)
    turn = Rotation.from_rotvec(np.stack([np.sin(t), 2 * np.cos(0.7 * t), 0.5 * t], axis=1)).as_quat()
    signs = np.where(np.random.default_rng(0).random(len(t)) < 0.5, -1.0, 1.0)
    place = np.stack([np.sin(t), 0.1 * t**2, np.cos(2 * t)], axis=1)
    q = np.concatenate([place, turn * signs[:, None], np.stack([np.sin(t), np.cos(t)], axis=1)], axis=1)
    motion = cr.Trajectory.from_samples(robot, t, q, smoothing=None)
    between = robot.difference(motion.q[:-1], motion.q[1:]) / 0.005
    assert np.allclose(between[5:-5], (motion.qd[1:] + motion.qd[:-1])[5:-5] / 2, atol=1e-4)
    assert np.allclose(
        np.diff(motion.qd, axis=0)[5:-5] / 0.005, (motion.qdd[1:] + motion.qdd[:-1])[5:-5] / 2, atol=1e-3
    )
    q[3, 3:7] *= 5
    with pytest.raises(cr.ShapeError, match="sample 3: the quaternion"):
        cr.Trajectory.from_samples(robot, t, q)


def test_notes_are_kept_in_files(tmp_path):
    motion = recorded(with_noise(Q))
    for name in ("a.npz", "a.parquet"):
        motion.save(tmp_path / name)
        again = cr.Trajectory.load(tmp_path / name)
        assert (again.notes, again.method) == (motion.notes, "recorded")


def test_motions_are_joined_where_they_meet():
    motion = recorded(smoothing=None)
    joined = motion[:200].then(motion[199:])
    assert np.allclose(joined.t, motion.t)
    assert np.allclose(joined.work, motion.work)
    assert np.array_equal(joined.tau, motion.tau)
    with pytest.raises(cr.ShapeError, match=r"starts .* rad away from where this one ends"):
        motion[:100].then(motion[200:])
    with pytest.raises(cr.ShapeError, match="at a pause"):
        motion[:200].then(motion[199:], pause=1.0)
    with pytest.raises(cr.ShapeError, match="another motion of robot 'panda'"):
        motion.then(cr.load("pendulum").simulate([1.0], None, 0.1))


# --- tables ---


def table(**changes):
    return {"t": T} | {name: Q[:, k] for k, name in enumerate(ARM.joint_names)} | changes


def write(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


NAMES = list(ARM.joint_names)
DIALECTS = {
    "plain": (["t", *NAMES], ",", ".", 1.0),
    "semicolon and decimal comma": (["time", *NAMES], ";", ",", 1.0),
    "tabs and units": (["Time [s]", *(f"{name} [deg]" for name in NAMES)], "\t", ".", np.degrees(1)),
    "plotjuggler": (["__time", *(f"/joint_states/{name}/position" for name in NAMES)], ",", ".", 1.0),
    "blanks": (["t", *(f"q.{name}" for name in NAMES)], " ", ".", 1.0),
    "suffix": (["timestamp", *(f"{name}_pos" for name in NAMES)], ",", ".", 1.0),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_files_of_every_dialect_are_read(tmp_path, dialect, recwarn):
    heading, separator, point, scale = DIALECTS[dialect]
    rows = (separator.join(f"{x:.9g}".replace(".", point) for x in (t, *q)) for t, q in zip(T, scale * Q, strict=True))
    path = write(tmp_path / "run.csv", ["# a comment", separator.join(heading), *rows])
    motion = cr.Trajectory.load(path, ARM, smoothing=None)
    assert np.allclose(motion.q, Q, atol=1e-7)
    assert np.allclose(motion.t, T)
    assert not [warning for warning in recwarn.list if issubclass(warning.category, cr.MotionWarning)]


def test_the_header_of_an_opensim_file_says_degrees(tmp_path, recwarn):
    rows = ("\t".join(f"{x:.9g}" for x in (t, *q)) for t, q in zip(T, np.degrees(Q), strict=True))
    head = ["run", "version=1", "nRows=400", "nColumns=8", "inDegrees=yes", "endheader", "\t".join(["time", *NAMES])]
    motion = cr.Trajectory.load(write(tmp_path / "run.mot", [*head, *rows]), ARM, smoothing=None)
    assert np.allclose(motion.q, Q, atol=1e-7)
    assert not recwarn.list


def test_a_line_of_units_is_heeded(tmp_path):
    rows = (",".join(f"{x:.9g}" for x in (1e3 * t, *q)) for t, q in zip(T, np.degrees(Q), strict=True))
    head = [",".join(["time", *NAMES]), ",".join(["ms", *["deg"] * 7])]
    motion = cr.Trajectory.load(write(tmp_path / "run.csv", [*head, *rows]), ARM, smoothing=None)
    assert np.allclose(motion.q, Q, atol=1e-7)
    assert np.allclose(motion.t, T)


def test_tables_of_other_programs_are_read():
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(table())[["panda_joint3", "t", *[name for name in NAMES if name != "panda_joint3"]]]
    dated = frame.drop(columns="t").set_index(pandas.to_datetime(T, unit="s", origin="2026-01-01"))
    fields = np.rec.fromarrays(list(table().values()), names=list(table()))
    for source in (table(), frame, frame.set_index("t"), dated, arrow.table(table()), fields):
        motion = cr.Trajectory.load(source, ARM, smoothing=None)
        assert np.allclose(motion.q, Q)
        assert np.allclose(motion.t, T)


def test_messages_like_joint_states_are_read():
    names = NAMES[::-1]
    messages = [
        SimpleNamespace(
            header=SimpleNamespace(stamp=SimpleNamespace(sec=1_700_000_000 + int(t), nanosec=round((t % 1) * 1e9))),
            name=names,
            position=q[::-1],
        )
        for t, q in zip(T, Q, strict=True)
    ]
    motion = cr.Trajectory.load(messages, ARM, smoothing=None)
    assert np.allclose(motion.q, Q)
    assert np.allclose(motion.t, T, atol=1e-8)


def test_parquet_files_of_others_are_read(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(table()), tmp_path / "run.parquet")
    assert np.allclose(cr.Trajectory.load(tmp_path / "run.parquet", ARM, smoothing=None).q, Q)


def test_columns_are_mapped_by_hand():
    renamed = {"clock": T} | {f"a{k}x": Q[:, k] for k in range(7)}
    columns = {name: f"a{k}x" for k, name in enumerate(NAMES)}
    assert np.allclose(cr.Trajectory.load(renamed, ARM, columns=columns, time="clock", smoothing=None).q, Q)
    with pytest.raises(cr.UnknownNameError, match="no column named 'a9x'"):
        cr.Trajectory.load(renamed, ARM, columns=columns | {NAMES[0]: "a9x"}, time="clock")
    with pytest.raises(cr.ShapeError, match="named twice"):
        cr.Trajectory.load(renamed, ARM, columns=columns | {NAMES[0]: "a1x"}, time="clock")


def test_numbered_columns_are_taken_by_place_and_said():
    numbered = {"t": T} | {f"q{k + 1}": Q[:, k] for k in range(7)}
    with pytest.warns(cr.MotionWarning, match="taken in the robot's order"):
        assert np.allclose(cr.Trajectory.load(numbered, ARM, smoothing=None).q, Q)


def test_velocities_in_a_table_are_not_taken_for_positions():
    both = table() | {f"{name}_vel": 100.0 * np.ones(400) for name in NAMES}
    motion = cr.Trajectory.load(both, ARM, smoothing=None)
    assert np.allclose(motion.q, Q)
    assert any("columns not used: 'panda_joint1_vel'" in note for note in motion.notes)


def test_joints_without_a_column_are_refused_or_constant():
    part = {key: value for key, value in table().items() if key != "panda_joint7"}
    with pytest.raises(cr.UnknownNameError, match=r"no column for 'panda_joint7'.*constant="):
        cr.Trajectory.load(part, ARM)
    motion = cr.Trajectory.load(part, ARM, constant={"panda_joint7": 0.3}, smoothing=None)
    assert np.allclose(motion.q[:, 6], 0.3)


def test_a_table_without_times_needs_a_rate():
    timeless = {key: value for key, value in table().items() if key != "t"}
    with pytest.raises(cr.ShapeError, match="no column of times"):
        cr.Trajectory.load(timeless, ARM)
    assert np.allclose(cr.Trajectory.load(timeless, ARM, rate=100.0, smoothing=None).t, T)


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"panda_joint1 (deg)": Q[:, 0], "panda_joint1": None}, {"degrees": False}, "says the opposite"),
        ({"panda_joint1 (mm)": Q[:, 0], "panda_joint1": None}, {}, "its unit is 'mm'; it should be deg or rad"),
        ({"q.panda_joint1": Q[:, 0]}, {}, "could all be the position of 'panda_joint1'"),
        ({"t": T[:100]}, {}, "the same length"),
        ({}, {"time_unit": "fortnight"}, "unit of time must be one of"),
        ({}, {"smoothing": "spline", "speling": 1}, "no option named 'speling'"),
    ],
    ids=["degrees", "unit", "twice", "lengths", "fortnight", "option"],
)
def test_tables_that_contradict_are_refused(changes, options, words):
    columns = {key: value for key, value in (table() | changes).items() if value is not None}
    with pytest.raises(cr.ChainruleError, match=words):
        cr.Trajectory.load(columns, ARM, **options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no rows of numbers"),
        ("hello\nworld\n", "no rows of numbers"),
        ("1,2,3\n4,5,6\n", "no line before them"),
        ("t,t,a\n1,2,3\n", "two columns named 't'"),
        ("t,a\n1,2\n3,x\n", "line 3: 'x' is not a number"),
        ("t,a\n1,2\n3,4,5\n", "differ in their number of columns"),
        ("t,a\n" + "1,2\n" * 30 + "3,4,5\n", "line 32: 3 cells"),
        ("\x00\x01\x02", "not a text file"),
    ],
)
def test_damaged_text_is_refused(tmp_path, text, words):
    path = tmp_path / "run.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(cr.FormatError, match=words):
        cr.Trajectory.load(path, ARM)


def test_files_that_are_not_there_or_not_recordings_are_refused(tmp_path):
    with pytest.raises(cr.FormatError, match="there is no file"):
        cr.Trajectory.load(tmp_path / "no.csv", ARM)
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(cr.FormatError, match="recordings come as"):
        cr.Trajectory.load(tmp_path / "a.docx", ARM)
    with pytest.raises(cr.ShapeError, match="say whose they are"):
        cr.Trajectory.load(table())
    with pytest.raises(cr.ShapeError, match="comes as a file"):
        cr.Trajectory.load(5, ARM)
    with pytest.raises(cr.ShapeError, match="must be a Robot"):
        cr.Trajectory.load(table(), "panda")


def test_large_files_are_parsed_in_parts_at_the_speed_of_c(tmp_path, monkeypatch):
    from chainrule.motion import text

    monkeypatch.setattr(text, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(text, "_number", None)  # nothing goes cell by cell
    rows = [",".join(f"{x:.9g}" for x in (t, *q)) for t, q in zip(T, Q, strict=True)]
    path = write(tmp_path / "run.csv", [",".join(["t", *NAMES]), *rows[:200], "# a remark", *rows[200:]])
    assert np.allclose(cr.Trajectory.load(path, ARM, smoothing=None).q, Q, atol=1e-7)


def test_empty_cells_are_missing_numbers(tmp_path):
    rows = [",".join(f"{x:.9g}" for x in (t, *q)) for t, q in zip(T, Q, strict=True)]
    rows[50] = rows[50].rsplit(",", 1)[0] + ","
    rows[51] = rows[51].rsplit(",", 1)[0] + ",NaN"
    path = write(tmp_path / "run.csv", [",".join(["t", *NAMES]), *rows])
    with pytest.warns(cr.MotionWarning, match=r"'panda_joint7' \(2 samples from 0.5 to 0.51 s\)"):
        assert np.allclose(cr.Trajectory.load(path, ARM, smoothing=None).q, Q, atol=1e-6)


def test_wrenches_of_a_force_plate_are_in_base_axes():
    arm = cr.load("planar_2r")
    t = np.arange(0.0, 1.0, 0.01)
    q = np.stack([np.sin(t), np.cos(t)], axis=-1)
    push = np.array([0, 0, 0, 3.0, -1.0, 0])
    plain = cr.Trajectory.from_samples(arm, t, q, smoothing=None)
    motion = cr.Trajectory.from_samples(arm, t, q, smoothing=None, tip_wrench=push)
    expected = np.einsum("tij,i->tj", arm.jacobian(motion.q), push)
    np.testing.assert_allclose(motion.tau - plain.tau, expected, atol=1e-9)
    carried = motion.joint_wrenches(push, frame="world")
    own = arm.joint_wrenches(motion.q, motion.qd, motion.qdd, tip_wrench=push, frame="world")
    np.testing.assert_array_equal(carried, own)
    with pytest.raises(cr.UnknownNameError, match="no frame named 'wrld'; did you mean 'world'"):
        cr.Trajectory.from_samples(arm, t, q, smoothing=None, tip_wrench=push, frame="wrld")


def test_measured_torques_go_with_their_samples():
    tau = np.arange(400.0 * 7).reshape(400, 7)
    tau[5, 2] = np.nan
    order = np.r_[0:100, 101, 100, 102:400]
    with pytest.warns(cr.MotionWarning, match="sorted"):
        motion = recorded(Q[order], T[order], tau=tau[order], sort=True, smoothing=None)
    assert np.array_equal(motion.tau, tau, equal_nan=True)
    assert motion.method == "recorded with torques"
    assert any(row.what == "torques" for row in motion.assumptions)
    assert np.isfinite(motion.work).all()
    assert recorded(smoothing=None).method == "recorded"
    with pytest.raises(cr.ShapeError, match="a row for each sample"):
        recorded(tau=tau[:-1])


def test_measured_torques_of_a_table_are_found_by_headings_or_named():
    arm = cr.load("planar_2r")
    q = {"time": T, "joint1": np.sin(T), "joint2": np.cos(T)}
    table = q | {"joint1.torque [Nmm]": 2000 * np.sin(T), "joint2 effort": np.cos(T)}
    motion = cr.Trajectory.load(table, arm, tau=True, smoothing=None)
    assert np.allclose(motion.tau, np.stack([2 * np.sin(T), np.cos(T)], axis=-1))
    assert not any("not used" in note for note in motion.notes)
    crossed = {"joint1": "joint2 effort", "joint2": "joint1.torque [Nmm]"}
    named = cr.Trajectory.load(table, arm, tau=crossed, smoothing=None)
    assert np.allclose(named.tau[:, 0], np.cos(T))
    with pytest.raises(cr.ShapeError, match="two joints"):
        cr.Trajectory.load(table, arm, tau={"joint1": "joint2 effort"})
    with pytest.raises(cr.UnknownNameError, match="no column of the torque of 'joint1'"):
        cr.Trajectory.load(q, arm, tau=True)
    message = [
        SimpleNamespace(header=None, name=["joint2", "joint1"], position=[np.cos(t), np.sin(t)], effort=[1.0, 2.0])
        for t in T
    ]
    told = cr.Trajectory.load(message, arm, rate=100.0, tau=True, smoothing=None)
    assert told.tau[7].tolist() == [2.0, 1.0]
