"""What a reader takes for what: one rule for angles, lengths, times and columns, in every container, and one table."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import chainrule as cr
from chainrule.motion.units import split_heading

pytestmark = pytest.mark.interpreted

TWO = cr.load("planar_2r").reference
"""Joints without limits."""
PANDA = cr.load("panda").reference
SCARA = cr.load("scara").reference
NAMED = TWO.rename({"joint1": "shoulder", "joint2": "elbow"})
K = np.arange(60)
T = 0.01 * K
X = 0.5 + 0.1 * np.sin(T)
Y = 0.2 + 0.1 * np.cos(T)
PANDA_Q = np.array([0.1, 0.2, 0.3, -1.5, 0.5, 1.6, 0.7]) + 0.1 * np.sin(T)[:, None]


def load(columns, robot=TWO, **options):
    return cr.Trajectory.load(columns, robot, smoothing=None, **options)


def panda_table(q):
    return {"t": T} | {name: q[:, k] for k, name in enumerate(PANDA.joint_names)}


# --- angles ---


def test_one_joint_beyond_its_limits_does_not_make_radians_degrees():
    arm = cr.human_arm(75, 1.75).reference
    q = np.tile([0.9, 0.3, -0.2, 1.3, 0.0, 0.1, 0.0], (300, 1))
    t = np.arange(0, 3, 0.01)
    q[:, 6] = np.radians(24) * np.sin(2 * t)  # the range ends at 20 degrees
    with pytest.warns(cr.MotionWarning, match="beyond joint limits: 'wrist_deviation'"):
        motion = load({"t": t, **{name: q[:, k] for k, name in enumerate(arm.joint_names)}}, arm)
    np.testing.assert_allclose(motion.q, q, atol=1e-12)


@pytest.mark.parametrize("q", [3.0 * PANDA_Q, 0.06 * np.degrees(PANDA_Q)], ids=["large", "small"])
def test_angles_within_a_turn_are_radians_whatever_limits_say(q):
    """Small motions in degrees too: nothing in the numbers tells, and the rule does not look."""
    with pytest.warns(cr.MotionWarning, match="beyond joint limits"):
        motion = load(panda_table(q), PANDA)
    np.testing.assert_allclose(motion.q, q, atol=1e-12)
    assert ("unit of angles", "rad") in [row[:2] for row in motion.assumptions]


def test_degrees_are_taken_only_where_nothing_else_is_possible():
    words = r"in radians 7 of 7 joints would be up to \d+ times beyond.*'panda_joint6' reaches 9\d.* taken as DEGREES"
    with pytest.warns(cr.MotionWarning, match=words):
        motion = load(panda_table(np.degrees(PANDA_Q)), PANDA)
    np.testing.assert_allclose(motion.q, PANDA_Q, atol=1e-12)
    one_out = np.degrees(PANDA_Q) + 180 * np.eye(7)[3]  # outside its limits in degrees, too
    with pytest.raises(
        cr.ShapeError, match=r"nothing says whether angles are in degrees.*say degrees=True or degrees=Fal"
    ):
        load(panda_table(one_out), PANDA)


@pytest.mark.parametrize("offset", [6.0, 20.0], ids=["across a turn", "three turns"])
def test_a_joint_that_turns_on_is_refused_until_somebody_says_so(offset):
    q = PANDA_Q + offset * np.eye(7)[6]
    with pytest.raises(cr.ShapeError, match=r"'panda_joint7' reaches .* turns in radians, its limits being -2.897 to"):
        load(panda_table(q), PANDA)
    with pytest.warns(cr.MotionWarning, match="beyond joint limits"):
        np.testing.assert_allclose(load(panda_table(q), PANDA, degrees=False).q, q, atol=1e-12)


def test_many_turns_of_joints_without_limits_are_refused_until_somebody_says_so():
    turning = {"t": T, "joint1": 0.5 * K, "joint2": X}
    with pytest.raises(
        cr.ShapeError, match=r"'joint1' reaches 29\.\d: 4\.\d+ turns in radians; say degrees=True or degrees=F"
    ):
        load(turning)
    np.testing.assert_allclose(load(turning, degrees=False).q[:, 0], 0.5 * K)
    np.testing.assert_allclose(load({"t": T, "joint1 [rad]": 0.5 * K, "joint2 [rad]": X}).q[:, 0], 0.5 * K)


def test_single_samples_that_jump_say_nothing_of_units():
    q = np.repeat(PANDA_Q, 4, axis=0)
    q[50, 2] = 500.0
    with pytest.warns(cr.MotionWarning, match="jumps"):
        motion = cr.Trajectory.from_samples(PANDA, 0.01, q, smoothing=None)
    np.testing.assert_allclose(motion.q[:49], q[:49], atol=1e-12)


def test_a_batch_has_one_unit():
    """One motion of it is small enough for radians; it was recorded with the other."""
    q = np.degrees(np.stack([PANDA_Q, 0.01 * PANDA_Q]))
    with pytest.warns(cr.MotionWarning, match="DEGREES"):
        motion = cr.Trajectory.from_samples(PANDA, T, q, smoothing=None)
    np.testing.assert_allclose(np.degrees(motion.q), q, atol=1e-9)


def test_a_heading_in_degrees_beside_one_without_a_unit_is_refused():
    with pytest.raises(cr.ShapeError, match=r"'joint1 \[deg\]' is in degrees, and nothing says what 'joint2' are in"):
        load({"t": T, "joint1 [deg]": 20 * X, "joint2": X})
    both = load({"t": T, "joint1 [deg]": 20 * X, "joint2": 20 * X}, degrees=True)
    np.testing.assert_allclose(both.q, np.radians(20 * np.stack([X, X], axis=1)))
    np.testing.assert_allclose(load({"t": T, "joint1 [deg]": 20 * X, "joint2_rad": X}).q[:, 1], X)


def test_a_user_does_not_overrule_what_a_file_states(tmp_path):
    rows = "\n".join(f"{t:.2f}\t{x:.4f}\t{x:.4f}" for t, x in zip(T, 20 * X, strict=True))
    path = tmp_path / "run.mot"
    path.write_text(f"run\ninDegrees=yes\nendheader\ntime\tjoint1\tjoint2\n{rows}\n")
    np.testing.assert_allclose(load(path, degrees=True).q[:, 0], np.radians(20 * X), atol=1e-6)
    with pytest.raises(cr.ShapeError, match="says inDegrees=yes, and degrees=False says the opposite"):
        load(path, degrees=False)
    with pytest.raises(cr.ShapeError, match="its times are in 'us', and time_unit='ms' says the opposite"):
        load({"t [us]": 1e6 * T, "joint1": X, "joint2": X}, time_unit="ms")


@pytest.mark.parametrize(
    ("title", "bare", "unit"),
    [
        ("elbow", "elbow", None),
        ("elbow [deg]", "elbow", "deg"),
        ("elbow(rad)", "elbow", "rad"),
        ("elbow_deg", "elbow", "deg"),
        ("elbow angle degrees", "elbow angle", "deg"),
        ("elbow °", "elbow", "deg"),
        ("elbow[º/s]", "elbow", "deg/s"),
        ("elbow_vel_deg_s", "elbow_vel", "deg/s"),
        ("elbow.vel.rad/s", "elbow.vel", "rad/s"),
        ("acc [deg/s²]", "acc", "deg/s^2"),
        ("lift_mm", "lift", "mm"),
        ("Time (µs)", "Time", "us"),
        ("timestamp_usec", "timestamp", "us"),
        ("q[0]", "q[0]", None),
        ("q[0] [deg]", "q[0]", "deg"),
        ("deg", "deg", None),
        ("elbow [furlong]", "elbow", "furlong"),
    ],
)
def test_units_in_headings(title, bare, unit):
    assert split_heading(title) == (bare, unit)


@pytest.mark.parametrize(
    "titles", [("joint1 °", "joint2[°]"), ("joint1 (º)", "joint2_deg"), ("q.joint1 degrees", "joint2.deg")]
)
def test_every_spelling_of_degrees_counts(titles):
    motion = load({"t": T, titles[0]: 20 * X, titles[1]: 20 * X})
    np.testing.assert_allclose(motion.q, np.radians(20 * np.stack([X, X], axis=1)))


def test_the_unit_tells_positions_from_rates_and_torques():
    columns = {"joint1 [rad]": X, "joint1 [rad/s]": 9 * X, "joint1 [Nm]": 8 * X, "joint2_deg": Y, "joint2_deg_s": 7 * Y}
    motion = load({"t": T, **columns})
    np.testing.assert_allclose(motion.q, np.stack([X, np.radians(Y)], axis=1))
    with pytest.raises(cr.UnknownNameError, match=r"no column for 'joint1'; did you mean 'joint1 \[deg/s\]'"):
        load({"t": T, "joint1 [deg/s]": X, "joint2 [deg]": Y})


def test_lengths_in_mm_are_stated_or_told():
    q = np.stack([X, X, -0.2 * X, X])
    known = load({"t": T, "joint1": X, "joint2": X, "joint3 [mm]": 1e3 * q[2], "joint4": X}, SCARA)
    np.testing.assert_allclose(known.q[:, 2], q[2])
    with pytest.warns(cr.MotionWarning, match=r"in mm it would be within them: put the unit .* 'joint3 \[mm\]'"):
        load({"t": T, "joint1": X, "joint2": X, "joint3": 1e3 * q[2], "joint4": X}, SCARA)


# --- times ---

SINCE_1970 = np.array([1_700_000_000])


@pytest.mark.parametrize(
    ("t", "expected"),
    [
        (T, T),
        (T - 0.3, T - 0.3),
        (5.0 * T, 5.0 * T),
        (0.1 * T, 0.1 * T),
        (SINCE_1970 + T, T),
        (3.8e9 + T, T),
        (np.datetime64("2026-01-01T10:00:00") + K * np.timedelta64(10, "ms"), T),
    ],
    ids=["s", "negative", "slow", "quick", "since 1970", "since 1904", "dates"],
)
def test_times_are_seconds(t, expected, recwarn):
    np.testing.assert_allclose(load({"time": t, "joint1": X, "joint2": Y}).t, expected, atol=1e-6)
    assert not recwarn.list


@pytest.mark.parametrize(("scale", "unit"), [(10**3, "ms"), (10**6, "us"), (10**9, "ns")])
def test_times_since_1970_in_other_units_are_told_by_date_and_step_together(scale, unit):
    whole = SINCE_1970 * scale + K * (scale // 100)
    with pytest.warns(cr.MotionWarning, match=f"taken as {unit} since 1970, which is 2023-11-14.* 0.01 s apart"):
        motion = load({"time": whole, "joint1": X, "joint2": Y})
    np.testing.assert_allclose(motion.t, T, atol=1e-12)
    np.testing.assert_allclose(load({"time": whole, "joint1": X, "joint2": Y}, time_unit=unit).t, T, atol=1e-12)
    np.testing.assert_allclose(
        load({f"time_{unit}": whole.astype(np.uint64), "joint1": X, "joint2": Y}).t, T, atol=1e-12
    )


@pytest.mark.parametrize(
    ("t", "words"),
    [
        (345_000_000 + 10_000 * K, "from 345000000 on, samples would be 1e\\+04 s apart; say time_unit='us' \\(0.01 s"),
        (1_700_000_000 + 10_000 * K, "say time_unit='us'"),  # a date in s, half an hour since boot in us
        (345_000 + 10 * K, "say time_unit='ms' \\(0.01 s apart\\), or time_unit='s' if they are"),
        (16.6667 * K, "samples would be 16.67 s apart; say time_unit='ms'"),
        (K, "or rate=... if these are numbers of frames"),
        (738_000 + T / 86_400, "1.157e-07 s apart"),
        (10_000_000 * K, "say time_unit='ns' \\(0.01 s apart\\)"),
        (SINCE_1970 + K // 10, "1 s apart"),
    ],
    ids=["us since boot", "us for half an hour", "ms", "ms with fractions", "frames", "days", "ns", "whole seconds"],
)
def test_times_that_no_recording_has_in_seconds_are_refused(t, words):
    with pytest.raises(cr.ShapeError, match=f"nothing states the unit of time.*{words}"):
        load({"time": t, "joint1": X, "joint2": Y})
    with pytest.raises(cr.ShapeError, match=f"nothing states the unit of time.*{words}"):
        cr.Trajectory.from_samples(TWO, t, np.stack([X, Y], axis=1))


@pytest.mark.parametrize("step", [0.5, 0.833333], ids=["2 kHz in ms", "1200 Hz in ms"])
def test_slow_samples_whose_unit_nobody_states_are_told(step, recwarn):
    with pytest.warns(cr.MotionWarning, match=f"unit of time: s .* samples are {step:.3g} s apart, which is slow"):
        motion = load({"time": step * K, "joint1": X, "joint2": Y})
    np.testing.assert_allclose(motion.t, step * K)
    recwarn.clear()
    load({"time [s]": step * K, "joint1": X, "joint2": Y})
    assert load({"time [ms]": step * K, "joint1": X, "joint2": Y}).duration == pytest.approx(59e-3 * step)
    assert not recwarn.list


def test_what_is_refused_for_its_unit_can_be_stated_in_a_heading():
    with pytest.raises(cr.ShapeError, match=r"or put the unit into the heading, such as 'time \[ms\]'"):
        load({"time": 10 * K, "joint1": X, "joint2": Y})
    with pytest.raises(cr.ShapeError, match=r"or put the unit into the headings, such as 'joint1 \[deg\]'"):
        load({"time": T, "joint1": 100 * X + 50, "joint2": Y})


def test_an_interval_that_no_recording_has_is_refused():
    q = np.stack([X, Y], axis=1)
    with pytest.raises(cr.ShapeError, match=r"samples would be 10 s apart; say time_unit='ms'"):
        cr.Trajectory.from_samples(TWO, 10, q)
    assert cr.Trajectory.from_samples(TWO, 10, q, time_unit="ms", smoothing=None).duration == pytest.approx(0.59)


def test_numbers_of_frames_take_a_rate():
    np.testing.assert_allclose(load({"time": K + 7, "joint1": X, "joint2": Y}, rate=100.0).t, T)
    with pytest.raises(cr.ShapeError, match=r"rate=100 and the column 'time' both say when"):
        load({"time": T, "joint1": X, "joint2": Y}, rate=100.0)


def test_two_columns_of_times_are_refused():
    both = {"time": T, "timestamp": 1.7e9 + T, "joint1": X, "joint2": Y}
    with pytest.raises(
        cr.ShapeError, match="columns 'time', 'timestamp' could all be the times; say which, with time="
    ):
        load(both)
    np.testing.assert_allclose(load(both, time="timestamp").t, T, atol=1e-6)


@pytest.mark.parametrize("count", [12, 30, 60, 200])
@pytest.mark.parametrize("apart", [1e-9, 1e-6, 1e-4])
def test_samples_of_nearly_one_time_are_one_sample(count, apart):
    t = np.sort(np.r_[np.arange(count) * 0.02, np.arange(count) * 0.02 + apart])
    with pytest.warns(cr.MotionWarning, match=f"{count} samples repeat the time of another, or come within"):
        motion = cr.Trajectory.from_samples(TWO, t, np.c_[np.sin(t), np.cos(t)])
    assert len(motion) == count
    assert abs(motion.qdd + np.c_[np.sin(motion.t), np.cos(motion.t)]).max() < 0.02


def test_wrenches_and_gaps_of_samples_go_with_their_times():
    t = np.sort(np.r_[T, T + 1e-7])
    q = np.c_[np.sin(t), np.cos(t)]
    push = np.zeros((len(t), 6))
    push[:, 4] = np.cos(t)
    q[7, 0] = np.nan
    with pytest.warns(cr.MotionWarning):
        motion = cr.Trajectory.from_samples(TWO, t, q, smoothing=None, tip_wrench=push)
    own = np.zeros((60, 6))
    own[:, 4] = np.cos(motion.t)
    expected = TWO.inverse_dynamics(motion.q, motion.qd, motion.qdd, tip_wrench=own)
    np.testing.assert_allclose(motion.tau, expected, atol=1e-6)


@pytest.mark.parametrize("t", [(1.7e9 + T).astype(np.float32), np.where(K > 20, 0.2, T)], ids=["float32", "stuck"])
def test_clocks_that_stand_still_are_refused(t):
    with pytest.raises(
        cr.ShapeError, match=r"samples have the time .* the clock stood still, its times have too few digits"
    ):
        load({"time": t, "joint1": X, "joint2": Y})


# --- columns ---


@pytest.mark.parametrize(
    "titles",
    [("q[0]", "q[1]"), ("actual_q_0", "actual_q_1"), ("q1 [rad]", "q2 [rad]"), ("Joint 1", "Joint 2"), ("q01", "q02")],
)
def test_numbered_columns_are_positions_in_the_robots_order(titles):
    others = {"a1": 9 * X, "a2": 9 * X, "qd1": 9 * X, "qd2": 9 * X, "target_q_0": 9 * X, "target_q_1": 9 * X}
    with pytest.warns(cr.MotionWarning, match="taken in the robot's order, 'shoulder', 'elbow'"):
        motion = load({"t": T, **others, titles[0]: X, titles[1]: Y}, NAMED)
    np.testing.assert_allclose(motion.q, np.stack([X, Y], axis=1))


@pytest.mark.parametrize(
    "columns",
    [{"a1": X, "a2": X}, {"qd1": X, "qd2": X}, {"q1 [rad/s]": X, "q2 [rad/s]": X}, {"target_q_0": X, "target_q_1": X}],
)
def test_numbered_columns_of_other_things_are_not_positions(columns):
    with pytest.raises(cr.UnknownNameError, match="no column for 'shoulder', 'elbow'"):
        load({"t": T, **columns}, NAMED)


@pytest.mark.parametrize("columns", [{"q1": X, "q2": X, "theta1": X, "theta2": X}, {"q1": X, "q_1": X, "q2": X}])
def test_numbered_columns_that_may_be_either_are_refused(columns):
    with pytest.raises(cr.ShapeError, match="could all be positions in the robot's order"):
        load({"t": T, **columns}, NAMED)


def test_headings_of_opensim_4():
    arm = cr.human_arm(75, 1.75).reference
    q = np.tile([0.9, 0.3, -0.2, 1.3, 0.0, 0.1, 0.0], (60, 1)) + 0.1 * np.sin(T)[:, None]
    columns = {"time": T}
    for k, name in enumerate(arm.joint_names):
        joint = name.partition("_")[0]
        columns |= {f"/jointset/{joint}/{name}/value": q[:, k], f"/jointset/{joint}/{name}/speed": 9 * q[:, k]}
    columns["/jointset/elbow_flexion/other/value"] = 9 * X
    np.testing.assert_allclose(load(columns, arm).q, q)


def test_the_unit_of_a_table_of_xarray_holds_for_all_its_joints():
    xarray = pytest.importorskip("xarray")
    coords = {"time": T, "joint": ["joint1", "joint2"]}
    q = xarray.DataArray(np.degrees(np.stack([X, Y], axis=1)), coords, ("time", "joint"), attrs={"units": "deg"})
    np.testing.assert_allclose(load(xarray.Dataset({"q": q})).q, np.stack([X, Y], axis=1), atol=1e-12)


def test_names_that_end_like_units_are_names():
    robot = TWO.rename({"joint1": "joint_s", "joint2": "joint_m"})
    np.testing.assert_allclose(load({"t": T, "joint_s": X, "joint_m": Y}, robot).q, np.stack([X, Y], axis=1))
    np.testing.assert_allclose(load({"t": T, "joint_s_deg": X, "joint_m [deg]": Y}, robot).q[:, 1], np.radians(Y))
    extremes = {"elbow": X, "elbow_min": Y, "elbow_max": Y, "shoulder": Y}
    np.testing.assert_allclose(load({"t": T, **extremes}, NAMED).q[:, 1], X)


def test_two_columns_of_one_name_are_refused_in_every_container():
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(np.stack([T, X, Y, Y], axis=1), columns=["t", "joint1", "joint2", "joint2"])
    for source in (frame, arrow.Table.from_arrays([T, X, Y, Y], names=list(frame.columns)), {1: T, "1": X}):
        with pytest.raises(cr.ShapeError, match=r"two columns named '(joint2|1)'"):
            load(source)
    with pytest.raises(cr.ShapeError, match="two columns named 'q1'"):
        load({"t": T, "q": np.stack([X, Y], axis=1), "q1": X}, NAMED)
    message = SimpleNamespace(name=["joint1", "joint2", "joint2"], position=[0.1, 0.2, 0.3], header=None)
    with pytest.raises(cr.UnknownNameError, match="message 0: 'joint2' is given twice"):
        load([message] * 10, rate=100.0)


def test_the_same_data_are_the_same_motion_in_every_container(tmp_path):
    """In degrees and ms, said in the headings or beside the numbers."""
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    xarray = pytest.importorskip("xarray")
    parquet = pytest.importorskip("pyarrow.parquet")
    pint = pytest.importorskip("pint")
    titles = ["time [ms]", "joint1 [deg]", "joint2 [deg]"]
    columns = dict(zip(titles, (1e3 * T, np.degrees(X), np.degrees(Y)), strict=True))
    frame = pandas.DataFrame(columns)
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    np.savez(tmp_path / "a.npz", **columns)
    own_types = frame.convert_dtypes().rename(columns={"time [ms]": "t_ms"})
    beside = frame.rename(columns=dict(zip(titles, ("t", "joint1", "joint2"), strict=True)))
    beside.attrs["units"] = {"t": "ms", "joint1": "deg", "joint2": "deg"}
    labels = {
        "joint": ["joint2", "joint1"],
        "joint_unit": ("joint", ["deg", "deg"]),
        "time": ("time", 1e3 * T, {"units": "ms"}),
    }
    data = xarray.Dataset({"q": (("joint", "time"), np.degrees(np.stack([Y, X])))}, coords=labels)
    dated = pandas.DataFrame({"joint1 [deg]": np.degrees(X), "joint2 [deg]": np.degrees(Y)},
                             index=pandas.to_datetime(T, unit="s", utc=True))  # fmt: skip
    Q = pint.UnitRegistry().Quantity
    quantities = {"t": Q(1e3 * T, "ms"), "joint1": Q(np.degrees(X), "deg"), "joint2": Q(np.degrees(Y), "deg")}
    records = np.rec.fromarrays([1e3 * T, np.degrees(X), np.degrees(Y)], names=["t_ms", "joint1_deg", "joint2_deg"])
    sources = [columns, frame, own_types, beside, arrow.table(columns), data, dated, quantities, records]
    for source in (*sources, tmp_path / "a.parquet", tmp_path / "a.csv", tmp_path / "a.npz"):
        motion = load(source)
        np.testing.assert_allclose(motion.q, np.stack([X, Y], axis=1), atol=1e-9)
        np.testing.assert_allclose(motion.t, T, atol=1e-9)
    own = TWO.simulate([0.1, 0.2], None, 0.2, record=10)
    np.testing.assert_allclose(load(own.to_xarray(), degrees=False).q, own.q, atol=1e-9)


# --- the table ---


def test_the_table_comes_first_in_the_notes_and_stays_in_files(tmp_path):
    table = {"clock [ms]": 1e3 * T, "joint1 [deg]": np.degrees(X), "EMG": X}
    motion = cr.Trajectory.load(table, TWO, time="clock [ms]", constant={"joint2": 0.5})
    assert [str(row) for row in motion.assumptions] == [
        "columns not used: 'EMG'",
        "times: column 'clock [ms]' (as time=... says)",
        "unit of time: ms (as the recording says)",
        "joint1: column 'joint1 [deg]' in deg (by its name)",
        "joint2: 0.5 rad (as constant=... says)",
    ]
    assert motion.notes[:5] == tuple(map(str, motion.assumptions))
    assert "quintic smoothing spline" in motion.notes[-1]
    for name in ("a.npz", "a.parquet"):
        motion.save(tmp_path / name)
        again = cr.Trajectory.load(tmp_path / name)
        assert (again.assumptions, again.notes) == (motion.assumptions, motion.notes)
    assert motion[:30].then(motion[29:]).assumptions == motion.assumptions
