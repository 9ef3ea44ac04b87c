"""Data sets: results equal the library's own, nothing finished is done again, bad files are set aside."""

import json
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from processes import POSIX_ONLY

import chainrule as cr
from chainrule.cluster import pieces, products

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("fsspec")

ARM = cr.load("planar_2r")
JOINTS = ARM.model.layout.velocity_names
ROWS = 40


def states(seed, rows=ROWS, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=(3, rows, 2)).astype(dtype)


def table_of(x, **more):
    kinds = zip(("q", "qd", "qdd"), x, strict=True)
    columns = {f"{kind}.{name}": part[:, k] for kind, part in kinds for k, name in enumerate(JOINTS)}
    return pa.table({"t": np.arange(len(x[0])) * 1e-2, **columns, **more})


def write(path, table, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, **options)


def read(path, prefix="tau."):
    table = pq.read_table(path, partitioning=None)
    return np.stack([table[name].to_numpy() for name in table.column_names if name.startswith(prefix)], axis=1)


@pytest.fixture
def motions(tmp_path):
    """Four files of two subjects."""
    for k in range(4):
        write(tmp_path / "in" / f"subject={k // 2}" / f"{k}.parquet", table_of(states(k)))
    return tmp_path


def test_torques_are_those_of_the_robot_under_the_names_of_the_files(motions):
    data = cr.dataset(motions / "in")
    assert len(data) == 4
    assert data.partitions == {"subject": ("0", "1")}
    report = data.torques(ARM, motions / "out")
    assert (report.rows, len(report.written), report.kept, dict(report.set_aside)) == (4 * ROWS, 4, (), {})
    for k in range(4):
        path = motions / "out" / f"subject={k // 2}" / f"{k}.parquet"
        assert_array_equal(read(path), ARM.inverse_dynamics(*states(k)))
        assert_array_equal(pq.read_table(path, partitioning=None)["t"].to_numpy(), np.arange(ROWS) * 1e-2)
    again = data.torques(ARM, motions / "out")
    assert (len(again.written), len(again.kept), again.rows) == (0, 4, 4 * ROWS)


def test_terms_wrenches_and_any_function(motions):
    data, x = cr.dataset(str(motions / "in" / "*" / "*.parquet")), states(1)
    data.terms(ARM, motions / "terms")
    assert_array_equal(read(motions / "terms/subject=0/1.parquet", "gravity."), ARM.gravity_torque(x[0]))
    data.wrenches(ARM, motions / "wrenches", compression="zstd")
    wrenches = ARM.joint_wrenches(*x).reshape(ROWS, -1)
    assert_array_equal(read(motions / "wrenches/subject=0/1.parquet", tuple(ARM.joint_names)), wrenches)
    data.where(subject=0).evaluate(ARM, "mass_matrix", motions / "M")
    assert_array_equal(read(motions / "M/subject=0/1.parquet", "mass_"), ARM.mass_matrix(x[0]).reshape(ROWS, 4))
    data.where(subject=["1"]).evaluate(ARM, "jacobian", motions / "J", options={"frame": "body"})
    expected = ARM.jacobian(states(2)[0], frame="body").reshape(ROWS, -1)
    assert_array_equal(read(motions / "J/subject=1/2.parquet", "jacobian"), expected)


def test_a_cluster_writes_the_same(motions, client):
    data = cr.dataset(motions / "in")
    report = data.torques(ARM, motions / "out", cluster=client)
    assert len(report.written) == 4
    data.torques(ARM, motions / "here")
    for k in range(4):
        name = f"subject={k // 2}/{k}.parquet"
        assert pq.read_table(motions / "out" / name).equals(pq.read_table(motions / "here" / name))
    here, there = data.statistics(ARM, by="subject"), data.statistics(ARM, by="subject", cluster=client)
    for name in here:
        for key, array in here[name].arrays().items():
            assert_array_equal(there[name].arrays()[key], array)


def test_float32_stays_and_columns_are_handed_on(tmp_path):
    x = states(3, dtype=np.float32)
    write(tmp_path / "a.parquet", table_of(x, label=[f"row {k}" for k in range(ROWS)], emg=np.arange(ROWS)))
    cr.dataset(tmp_path / "a.parquet", keep=["label", "emg"]).torques(ARM, tmp_path / "out")
    found = pq.read_table(tmp_path / "out/a.parquet")
    assert found["label"][3].as_py() == "row 3"
    assert found["emg"].to_pylist() == list(range(ROWS))
    assert found.schema.field("tau.joint1").type == pa.float32()
    assert_array_equal(read(tmp_path / "out/a.parquet"), ARM.inverse_dynamics(*x))


def test_columns_of_lists_and_degrees(tmp_path):
    x = states(4)
    lists = {
        name: pa.FixedSizeListArray.from_arrays(np.rad2deg(part).ravel(), 2)
        for name, part in zip("abc", x, strict=True)
    }
    write(tmp_path / "a.parquet", pa.table({"timestamp": np.arange(ROWS), **lists}))
    data = cr.dataset(tmp_path / "a.parquet", columns={"q": "a", "qd": "b", "qdd": "c"}, degrees=True)
    data.torques(ARM, tmp_path / "out")
    assert_allclose(read(tmp_path / "out/a.parquet"), ARM.inverse_dynamics(*x), rtol=1e-12)
    assert "timestamp" in pq.read_schema(tmp_path / "out/a.parquet").names
    uneven = pa.array([[1.0, 2.0], [3.0]])
    write(tmp_path / "b.parquet", pa.table({"a": uneven, "b": uneven, "c": uneven}))
    with pytest.raises(cr.FormatError, match="lists in column 'a' must have 2 numbers each"):
        cr.dataset(tmp_path / "b.parquet", columns={"q": "a", "qd": "b", "qdd": "c"}).torques(ARM, tmp_path / "out2")


def test_degrees_in_headings_and_columns_by_name(tmp_path):
    x = states(5)
    table = table_of(x)
    headings = [
        "time",
        *(f"{kind}_{name} [deg{per}]" for kind, per in (("q", ""), ("qd", "/s"), ("qdd", "/s^2")) for name in JOINTS),
    ]
    degrees = [table["t"], *(np.rad2deg(column.to_numpy()) for column in table.columns[1:])]
    write(tmp_path / "a.parquet", pa.table(dict(zip(headings, degrees, strict=True))))
    cr.dataset(tmp_path / "a.parquet").torques(ARM, tmp_path / "out")
    assert_allclose(read(tmp_path / "out/a.parquet"), ARM.inverse_dynamics(*x), rtol=1e-12)
    renamed = table.rename_columns(["t", "a", "b", "c", "d", "e", "f"])
    write(tmp_path / "b.parquet", renamed)
    kinds = ["joint1", "q.joint2", "qd.joint1", "qd.joint2", "qdd.joint1", "qdd.joint2"]
    data = cr.dataset(tmp_path / "b.parquet", columns=dict(zip(kinds, "abcdef", strict=True)))
    data.torques(ARM, tmp_path / "out2")
    assert_array_equal(read(tmp_path / "out2/b.parquet"), ARM.inverse_dynamics(*x))


def test_saved_trajectories_are_states(tmp_path):
    motion = ARM.simulate([[0.3, 0.1], [0.2, -0.4]], None, 0.1, [1.0, -0.5], dt=0.01)
    motion.save(tmp_path / "swing.parquet")
    cr.dataset(tmp_path / "swing.parquet").torques(ARM, tmp_path / "out")
    assert_allclose(read(tmp_path / "out/swing.parquet"), motion.tau.reshape(-1, 2), atol=1e-9)
    assert pq.read_table(tmp_path / "out/swing.parquet")["row"].to_pylist() == [0] * 11 + [1] * 11


def recording(path, start, episode=None):
    t = np.linspace(0, 1, 101)
    q = np.stack([start + np.sin(3 * t), 0.2 * np.cos(2 * t)], axis=1)
    more = {} if episode is None else {"episode": np.full(len(t), episode)}
    table = pa.table({"t": t, "joint1": q[:, 0], "joint2": q[:, 1], **more})
    if path is not None:
        write(path, table)
    return table


def test_recordings_are_differentiated_as_when_loaded(tmp_path):
    recording(tmp_path / "a.parquet", 0.3)
    loaded = cr.Trajectory.load(tmp_path / "a.parquet", ARM)
    report = cr.dataset(tmp_path / "a.parquet").torques(ARM, tmp_path / "out")
    assert_array_equal(read(tmp_path / "out/a.parquet"), loaded.tau)
    assert report.notes["a.parquet"] == loaded.notes
    smooth = cr.Trajectory.load(tmp_path / "a.parquet", ARM, smoothing="lowpass", cutoff=4.0)
    cr.dataset(tmp_path / "a.parquet", smoothing="lowpass", cutoff=4.0).torques(ARM, tmp_path / "out2")
    assert_array_equal(read(tmp_path / "out2/a.parquet"), smooth.tau)
    two = pa.concat_tables([recording(None, 0.3, 7), recording(None, 0.5, 8)])
    write(tmp_path / "two.parquet", two)
    cr.dataset(tmp_path / "two.parquet", motion="episode").torques(ARM, tmp_path / "out3")
    found = read(tmp_path / "out3/two.parquet")
    assert_array_equal(found[:101], loaded.tau)
    assert pq.read_table(tmp_path / "out3/two.parquet")["episode"].to_pylist() == [7] * 101 + [8] * 101
    positions = pa.FixedSizeListArray.from_arrays(np.stack([two["joint1"], two["joint2"]], axis=1).ravel(), 2)
    write(
        tmp_path / "lists.parquet",
        pa.table({"timestamp": two["t"], "episode": two["episode"], "state": positions, "task": ["x"] * 202}),
    )
    cr.dataset(tmp_path / "lists.parquet", motion="episode", columns={"q": "state"}).torques(ARM, tmp_path / "out4")
    assert_array_equal(read(tmp_path / "out4/lists.parquet"), found)
    with pytest.raises(cr.FormatError, match="no columns of positions, velocities and accelerations"):
        cr.dataset(tmp_path / "a.parquet", derivatives="given").torques(ARM, tmp_path / "out5")


def test_what_is_finished_is_not_done_again_and_what_changed_is(motions, monkeypatch):
    data = cr.dataset(motions / "in")
    made = []
    make = products.Results.make

    def interrupted(self, piece, *rest):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(piece.name)
        return make(self, piece, *rest)

    monkeypatch.setattr(products.Results, "make", interrupted)
    with pytest.raises(KeyboardInterrupt):
        data.torques(ARM, motions / "out")
    monkeypatch.undo()
    report = data.torques(ARM, motions / "out")
    assert set(report.kept) == set(made)
    assert len(report.written) == 2
    changed, damaged = motions / "in/subject=0/0.parquet", motions / "out/subject=1/3.parquet"
    write(changed, table_of(states(9)))
    os.utime(changed, ns=(1, 1))
    damaged.write_bytes(damaged.read_bytes()[:100])
    report = cr.dataset(motions / "in").torques(ARM, motions / "out")
    assert set(report.written) == {"subject=0/0.parquet", "subject=1/3.parquet"}
    assert_array_equal(read(motions / "out/subject=0/0.parquet"), ARM.inverse_dynamics(*states(9)))
    with pytest.raises(cr.ShapeError, match="holds other results: robot was"):
        data.torques(ARM.with_payload(1.0), motions / "out")
    with pytest.raises(cr.ShapeError, match="holds other results: product was"):
        data.terms(ARM, motions / "out")


def test_bad_files_are_set_aside_and_done_when_mended(motions):
    folder = motions / "in" / "subject=1"
    good = (folder / "3.parquet").read_bytes()
    middle = bytearray(good)
    middle[50:90] = bytes(40)
    bad = {"cut": good[:-200], "empty": b"", "text": b"not Parquet", "flipped": bytes(middle)}
    for name, content in bad.items():
        (folder / f"{name}.parquet").write_bytes(content)
    write(folder / "other.parquet", pa.table({"x": [1.0, 2.0]}))
    write(folder / "words.parquet", table_of(states(0)).set_column(1, "q.joint1", [["a"] * ROWS]))
    write(folder / "none.parquet", table_of(states(0, 0)))
    (folder / "folder.parquet").mkdir()
    with pytest.warns(cr.MotionWarning, match="files are set aside"):
        report = cr.dataset(motions / "in").torques(ARM, motions / "out")
    aside = {name.removeprefix("subject=1/").removesuffix(".parquet") for name in report.set_aside}
    assert aside >= {"cut", "empty", "text", "other", "words", "none"}
    assert aside <= {*bad, "other", "words", "none"}  # flipped bytes of a page may be numbers
    assert len(report.written) + len(aside) == 11
    assert "has no column for" in report.set_aside["subject=1/other.parquet"]
    assert "should hold numbers" in report.set_aside["subject=1/words.parquet"]
    assert "no rows" in report.set_aside["subject=1/none.parquet"]
    assert json.loads((motions / "out/_set_aside.json").read_text()) == dict(report.set_aside)
    for name in (*bad, "other", "words", "none"):
        (folder / f"{name}.parquet").write_bytes(good)
    report = cr.dataset(motions / "in").torques(ARM, motions / "out")
    assert not report.set_aside
    assert len(report.written) == 7


def test_rows_that_are_not_finite_are_counted(tmp_path):
    x = states(6)
    x[1, 3, 0], x[0, 5, 1] = np.nan, np.inf
    write(tmp_path / "a.parquet", table_of(x))
    report = cr.dataset(tmp_path).torques(ARM, tmp_path / "out")
    lost = "2 of 40 rows have numbers that are missing or not finite; so are their results"
    assert report.notes["a.parquet"][-1] == lost
    assert np.isfinite(read(tmp_path / "out/a.parquet")).all(axis=1).sum() == ROWS - 2


def test_large_files_are_split_between_row_groups(tmp_path, monkeypatch):
    x = states(7, 1000)
    write(tmp_path / "in/a.parquet", table_of(x), row_group_size=100)
    monkeypatch.setattr(pieces, "PIECE_BYTES", 12_000)
    report = cr.dataset(tmp_path / "in").torques(ARM, tmp_path / "out")
    assert len(report.written) > 2
    assert report.rows == 1000
    assert_array_equal(
        np.concatenate([read(tmp_path / "out" / name) for name in report.written]), ARM.inverse_dynamics(*x)
    )
    recording(tmp_path / "recorded/a.parquet", 0.3)
    monkeypatch.setattr(pieces, "PIECE_BYTES", 10)
    assert cr.dataset(tmp_path / "recorded").torques(ARM, tmp_path / "out2").written == ("a.parquet",)


def test_addresses_of_fsspec(tmp_path):
    import fsspec

    system = fsspec.filesystem("memory")
    for k in range(2):
        with system.open(f"/motions/day={k}/a.parquet", "wb") as file:
            pq.write_table(table_of(states(k)), file)
    data = cr.dataset("memory://motions/*/*.parquet")
    assert data.partitions == {"day": ("0", "1")}
    report = data.torques(ARM, "memory://torques")
    assert len(report.written) == 2
    with system.open("/torques/day=1/a.parquet", "rb") as file:
        assert pq.read_table(file)["tau.joint1"].to_numpy().tolist() == ARM.inverse_dynamics(*states(1))[:, 0].tolist()
    assert len(data.torques(ARM, "memory://torques").kept) == 2
    system.rm("/motions", recursive=True)
    system.rm("/torques", recursive=True)


def test_memory_of_this_process_is_refused_on_a_cluster(motions, client):
    with pytest.raises(cr.ShapeError, match="is in the memory of this process, which workers"):
        cr.dataset(motions / "in").torques(ARM, "memory://results", cluster=client)


def test_statistics_of_all_and_by_partition(motions):
    data = cr.dataset(motions / "in")
    found = data.statistics(ARM, motions / "statistics", by="subject")
    tau = np.concatenate([ARM.inverse_dynamics(*states(k)) for k in range(4)])
    assert list(found) == ["angle", "speed", "acceleration", "torque", "power"]
    assert_allclose(found["torque"].mean, tau.mean(axis=0))
    assert_array_equal(found["torque"].maximum, tau.max(axis=0))
    where = int(tau[:, 0].argmax())
    assert found["torque"].maximum_label[0] == f"subject={where // ROWS // 2}/{where // ROWS}.parquet"
    assert found["torque"].maximum_row[0] == where % ROWS
    assert_allclose(found.groups["1"]["torque"].mean, tau[2 * ROWS :].mean(axis=0))
    again = data.statistics(ARM, motions / "statistics", by="subject")
    assert len(again.report.kept) == 4
    assert_array_equal(again["power"].mean, found["power"].mean)
    with pytest.raises(cr.UnknownNameError, match="has no quantity named 'torqe'; did you mean 'torque'"):
        found["torqe"]


def test_a_robot_for_each_partition(motions):
    arms = {"0": ARM, "1": ARM.with_payload(2.0)}
    data = cr.dataset(motions / "in")
    data.torques(lambda parts: arms[parts["subject"]], motions / "out")
    assert_array_equal(read(motions / "out/subject=1/2.parquet"), arms["1"].inverse_dynamics(*states(2)))
    arms["1"] = ARM
    report = data.torques(lambda parts: arms[parts["subject"]], motions / "out")
    assert set(report.written) == {"subject=1/2.parquet", "subject=1/3.parquet"}
    with pytest.raises(cr.ShapeError, match="robot must be a Robot, or a function that gives one; it gave 7"):
        data.torques(lambda parts: 7, motions / "out2")


def test_results_do_not_mix_with_what_is_read(motions):
    """Results beside or below the motions are not read as motions the next time."""
    cr.dataset(motions / "in").torques(ARM, motions / "in" / "_torques")
    assert len(cr.dataset(motions / "in")) == 4
    cr.dataset(motions / "in").torques(ARM, motions / "in" / "torques")
    assert len(cr.dataset(motions / "in")) == 4
    assert len(cr.dataset(f"{motions}/in/**/*.parquet")) == 4
    assert len(cr.dataset(motions / "in/torques")) == 4
    with pytest.raises(cr.ShapeError, match="holds results of a data set alone; to read them, name their folder"):
        cr.dataset(f"{motions}/*/torques/*/*.parquet")


def test_results_never_replace_what_is_read(motions):
    (motions / "link").symlink_to(motions / "in")
    for given, folder in (("in", "in"), ("in", "link"), ("in/subject=0/0.parquet", "in/subject=0"), ("link", "in")):
        with pytest.raises(cr.ShapeError, match=r"would replace .*choose another folder"):
            cr.dataset(motions / given).torques(ARM, motions / folder)
    assert_array_equal(read(motions / "in/subject=0/0.parquet", "qd."), states(0)[1])


def positions(rows=ROWS, scale=1.0, **more):
    t = np.arange(rows) * 1e-2
    return pa.table({"t": t, JOINTS[0]: scale * np.sin(t), JOINTS[1]: scale * np.cos(t), **more})


def test_columns_of_any_kind_go_along_with_recordings(tmp_path):
    """Names of motions and labels in words, lists of whole numbers and of 16 bits."""
    words = ["reach"] * 20 + ["lift"] * 20
    write(tmp_path / "in/a.parquet", positions(act=words, note=[f"row {k}" for k in range(ROWS)]))
    cr.dataset(tmp_path / "in", motion="act", keep=["note"], degrees=False).torques(ARM, tmp_path / "out")
    table = pq.read_table(tmp_path / "out/a.parquet")
    assert table["act"].to_pylist() == words
    assert table["note"].to_pylist() == [f"row {k}" for k in range(ROWS)]
    for kind in (pa.int32(), pa.float16()):
        lists = pa.array([[np.float16(1), np.float16(2)]] * ROWS).cast(pa.list_(kind))
        write(tmp_path / f"{kind}/a.parquet", pa.table({"t": np.arange(ROWS) * 1e-2, "q": lists}))
        cr.dataset(tmp_path / str(kind), degrees=False).torques(ARM, tmp_path / f"{kind}-out")
        found = read(tmp_path / f"{kind}-out/a.parquet")
        assert_allclose(found, np.tile(ARM.gravity_torque([1.0, 2.0]), (ROWS, 1)), atol=1e-6)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (positions(act=pa.array([1] * 20 + [None] * 20)), {"motion": "act"}, "column 'act' has rows without a value"),
        (positions().set_column(1, JOINTS[0], pa.array(["x"] * ROWS)), {}, "columns without numbers are left out: 'joint1'"),
        (positions(), {"keep": ["t"], "sort": True}, "keep and sort=True"),
        (positions(), {"columns": {"qd.joint1": "nope"}}, "no column named 'nope'"),
    ],
)  # fmt: skip
def test_recordings_that_are_refused(tmp_path, table, options, message):
    write(tmp_path / "in/a.parquet", table)
    with pytest.raises(cr.ChainruleError, match=message):
        cr.dataset(tmp_path / "in", **options).torques(ARM, tmp_path / "out")


def test_columns_of_recordings_by_the_names_of_states(tmp_path):
    """columns={"q.elbow": ..} means the same for recordings and for states; velocities are not used."""
    table = positions()
    write(tmp_path / "a/a.parquet", table)
    write(tmp_path / "b/a.parquet", table.rename_columns(["t", "u", "v"]))
    cr.dataset(tmp_path / "a", degrees=False).torques(ARM, tmp_path / "1")
    names = {"q.joint1": "u", "joint2": "v", "qd.joint1": "v"}
    cr.dataset(tmp_path / "b", columns=names, degrees=False).torques(ARM, tmp_path / "2")
    assert_array_equal(read(tmp_path / "1/a.parquet"), read(tmp_path / "2/a.parquet"))


def test_what_is_assumed_about_files_is_a_warning(tmp_path):
    table = positions()
    write(tmp_path / "in/twice.parquet", table.take([0, *range(table.num_rows)]))
    write(tmp_path / "in/well.parquet", table_of(states(0)))
    with pytest.warns(cr.MotionWarning, match=r"look at 1 of 2 files.*1 samples repeat the time"):
        report = cr.dataset(tmp_path / "in").torques(ARM, tmp_path / "out")
    assert report.notes["twice.parquet"][:2] == (
        "times: column 't' (by its name)",
        "unit of time: s (nothing states \
another; samples are 0.01 s apart)",
    )
    assert report.notes["well.parquet"] == (
        "q: columns 'q.joint1', 'q.joint2' (by their names)",
        "qd: columns 'qd.joint1', 'qd.joint2' (by their names)",
        "qdd: columns 'qdd.joint1', 'qdd.joint2' (by their names)",
        "unit of angles: rad (nothing states one: taken as radians, which nothing contradicts; say degrees=True if not)",
    )


def test_angles_that_look_like_degrees_are_set_aside_until_somebody_says_so(tmp_path):
    """Each file is looked at by itself, and all of them have one unit: it is not guessed from some."""
    write(tmp_path / "in/recording.parquet", positions(scale=200.0))
    write(tmp_path / "in/states.parquet", table_of(200 * states(0)))
    with pytest.raises(cr.FormatError, match=r"nothing says whether angles are in degrees, and 'joint.' reaches"):
        cr.dataset(tmp_path / "in").torques(ARM, tmp_path / "out")
    degrees = cr.dataset(tmp_path / "in", degrees=True).torques(ARM, tmp_path / "said")
    assert len(degrees.written) == 2
    expected = ARM.inverse_dynamics(*np.radians(200 * states(0)))
    assert_allclose(read(tmp_path / "said/states.parquet"), expected, rtol=1e-12)
    cr.dataset(tmp_path / "in", degrees=False).torques(ARM, tmp_path / "radians")
    assert_array_equal(read(tmp_path / "radians/states.parquet"), ARM.inverse_dynamics(*(200 * states(0))))


def test_files_of_the_library_are_in_si_whatever_turns_they_have(tmp_path):
    spin = cr.load("pendulum").reference.simulate([0.0], [30.0], 1.0)
    (tmp_path / "in").mkdir()
    spin.save(tmp_path / "in/spin.parquet")
    assert abs(spin.q).max() > 4 * np.pi
    report = cr.dataset(tmp_path / "in").torques(cr.load("pendulum"), tmp_path / "out")
    assert len(report.written) == 1


def test_units_of_columns_hold_for_every_container(tmp_path):
    """Headings in mm and deg/s, of states in a data set as of a recording that is loaded."""
    robot = cr.load("scara").reference
    t = np.arange(ROWS)[:, None] * 1e-2 * [1.0, 1.2, 0.5, 0.7]
    x = np.stack([0.1 * np.cos(t) - 0.1, -0.1 * np.sin(t), -0.1 * np.cos(t)])
    places = robot.model.layout.coordinates
    scale = [1e3 if place.unit == "m" else 180 / np.pi for place in places]
    units = ["mm" if place.unit == "m" else "deg" for place in places]
    headings = [f"{kind}.{place.name} [{unit}{rate}]" for kind, rate in (("q", ""), ("qd", "/s"), ("qdd", "/s^2"))
                for place, unit in zip(places, units, strict=True)]  # fmt: skip
    columns = [x[i][:, k] * scale[k] for i in range(3) for k in range(4)]
    write(tmp_path / "in/a.parquet", pa.table(dict(zip(headings, columns, strict=True))))
    cr.dataset(tmp_path / "in").torques(robot, tmp_path / "out")
    assert_allclose(read(tmp_path / "out/a.parquet"), robot.inverse_dynamics(*x), rtol=1e-12)
    loaded = cr.Trajectory.load(tmp_path / "in/a.parquet", robot, rate=100.0, smoothing=None)
    assert_allclose(loaded.q, x[0], atol=1e-12)
    for wrong, words in ((" [deg]", "some columns .* are in degrees"), (" [turns/s]", "its unit is 'turns/s'")):
        renamed = [heading.replace(" [deg/s]", wrong if wrong != " [deg]" else "") for heading in headings]
        write(tmp_path / f"{wrong}/a.parquet", pa.table(dict(zip(renamed, columns, strict=True))))
        with pytest.raises(cr.ChainruleError, match=words):
            cr.dataset(tmp_path / wrong).torques(robot, tmp_path / f"{wrong}-out")


def test_names_in_capitals_are_read(tmp_path):
    write(tmp_path / "A.PARQUET", table_of(states(0)))
    assert [file.name for file in cr.dataset(tmp_path)] == ["A.PARQUET"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: cr.dataset(d / "nothing"), cr.FormatError, "nothing' cannot be read"),
        (lambda d: cr.dataset(d / "*.parquet"), cr.ShapeError, "there are no Parquet files in"),
        (lambda d: cr.dataset(7), cr.ShapeError, "the paths of a data set must be a list"),
        (lambda d: cr.dataset([d, 7]), cr.ShapeError, "a path, a pattern or a list of them, got 7"),
        (lambda d: cr.dataset([d / "in/subject=0/0.parquet", d / "twin/0.parquet"]), cr.ShapeError, "two files of the data set"),
        (lambda d: cr.dataset(d / "in", cutof=3), cr.UnknownNameError, "did you mean 'cutoff'"),
        (lambda d: cr.dataset(d / "in", smoothing="low").torques(ARM, d / "x"), cr.UnknownNameError, "smoothing named 'low'"),
        (lambda d: cr.dataset(d / "in", derivatives="no"), cr.UnknownNameError, "derivatives"),
        (lambda d: cr.dataset(d / "in", columns=["a"]), cr.ShapeError, "columns must be a dictionary"),
        (lambda d: cr.dataset(d / "in", time=3), cr.ShapeError, "time must be the name of a column"),
        (lambda d: cr.dataset(d / "in", keep=3), cr.ShapeError, "keep must be a list"),
        (lambda d: cr.dataset(d / "in", keep=["emg"]).torques(ARM, d / "x"), cr.FormatError, "no column named 'emg'"),
        (lambda d: cr.dataset("nosuch://x/y.parquet"), cr.FormatError, "Protocol not known"),
        (lambda d: cr.dataset(""), cr.ShapeError, "'' is no path"),
        (lambda d: cr.dataset(f"zip://a::{d}/a.zip"), cr.FormatError, "an address within an address"),
        (lambda d: cr.dataset(d / "in").torques(ARM, "nosuch://x"), cr.FormatError, "cannot be written .*Protocol not known"),
        (lambda d: cr.dataset(d / "in").torques(ARM, d / "twin/0.parquet/x"), cr.FormatError, "results cannot be written"),
        (lambda d: cr.dataset(d / "in").torques(ARM, "a\0b"), cr.ShapeError, "is no path"),
        (lambda d: cr.dataset(d / "in").where(day=1), cr.UnknownNameError, "no partition named 'day'"),
        (lambda d: cr.dataset(d / "in").where(subject=9), cr.UnknownNameError, "value of 'subject'"),
        (lambda d: cr.dataset(d / "in").torques("planar_2r", d / "x"), cr.ShapeError, "robot must be a Robot"),
        (lambda d: cr.dataset(d / "in").torques(lambda p: {}[p["subject"]], d / "x"), cr.ShapeError, "raised KeyError: '0', for the partitions"),
        (lambda d: cr.dataset(d / "in").torques(ARM, 7), cr.ShapeError, "results go into a folder"),
        (lambda d: cr.dataset(d / "in").torques(ARM, d / "twin/0.parquet"), cr.ShapeError, "is a file"),
        (lambda d: cr.dataset(d / "in").torques(ARM, d / "x", worker=2), cr.UnknownNameError, "did you mean 'workers'"),
        (lambda d: cr.dataset(d / "in").torques(ARM, d / "x", compression="zip"), cr.UnknownNameError, "compression"),
        (lambda d: cr.dataset(d / "in").evaluate(ARM, "mas_matrix", d / "x"), cr.UnknownNameError, "did you mean 'mass_matrix'"),
        (lambda d: cr.dataset(d / "in").evaluate(ARM, "forward_dynamics", d / "x"), cr.ShapeError, "forward_dynamics needs tau"),
        (lambda d: cr.dataset(d / "in").statistics(ARM, by="day"), cr.UnknownNameError, "no partition named 'day'"),
        (lambda d: cr.dataset(d / "in").torques(cr.load("panda"), d / "x"), cr.FormatError, "no file of the data set could be read"),
    ],
)  # fmt: skip
def test_mistakes_are_told(motions, call, error, message):
    write(motions / "twin" / "0.parquet", table_of(states(0)))
    with pytest.raises(error, match=message):
        call(motions)


def test_a_folder_that_cannot_be_written(motions):
    if os.geteuid() == 0:
        folder = "/proc/nothing"
    else:
        folder = motions / "locked"
        folder.mkdir(mode=0o500)
    with pytest.raises(cr.FormatError, match="results cannot be written to"):
        cr.dataset(motions / "in").torques(ARM, folder)


def test_unfinished_files_of_dead_workers_are_swept_and_those_of_living_ones_stay(motions):
    fcntl = pytest.importorskip("fcntl", reason="no locks of files here")
    data = cr.dataset(motions / "in")
    data.torques(ARM, motions / "out")
    dead, root = motions / "out/subject=0/.unfinished-aaa-1-0.parquet", motions / "out/.unfinished-aaa-_chainrule.json"
    alive = motions / "out/subject=0/.unfinished-bbb-1-0.parquet"
    for path in (dead, root, alive):
        path.write_bytes(b"half")
    with alive.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as another run that is writing it
        data.torques(ARM, motions / "out")
    assert (dead.exists(), root.exists(), alive.exists()) == (False, False, True)


def test_a_file_that_is_being_written_is_locked_until_it_has_its_name(tmp_path):
    from chainrule.cluster.files import Folder

    def fill(file):
        file.write(b"half")
        file.flush()
        Folder.at(tmp_path, {}).sweep(["a/b"])
        file.write(b" and half")

    Folder.at(tmp_path, {}).write("a/b", fill)
    assert [path.read_bytes() for path in (tmp_path / "a").iterdir()] == [b"half and half"]


KILLED = """
import os, signal, sys
from pyarrow import parquet
import chainrule as cr
write_table, count = parquet.ParquetWriter.write_table, []

def die_in_the_third(self, table, *rest, **options):
    write_table(self, table, *rest, **options)
    count.append(table)
    if len(count) == 3:
        self.file_handle.flush() if self.file_handle else None
        os.kill(os.getpid(), signal.SIGKILL)

parquet.ParquetWriter.write_table = die_in_the_third
cr.dataset(sys.argv[1]).torques(cr.load("planar_2r").reference, sys.argv[2])
"""


@POSIX_ONLY
def test_a_run_that_was_killed_in_the_middle_of_a_result_goes_on_and_leaves_nothing_half_done(motions, tmp_path):
    command = [sys.executable, "-c", KILLED, str(motions / "in"), str(tmp_path / "out")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert len(list((tmp_path / "out").rglob(".unfinished-*"))) == 1
    report = cr.dataset(motions / "in").torques(ARM.reference, tmp_path / "out")
    assert (len(report.kept), len(report.written)) == (2, 2)
    cr.dataset(motions / "in").torques(ARM.reference, tmp_path / "whole")
    names = sorted(
        str(path.relative_to(tmp_path / "whole")) for path in (tmp_path / "whole").rglob("*") if path.is_file()
    )
    assert names == sorted(
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    for name in names:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_result_in_which_a_bit_was_flipped_is_made_again(motions):
    """Whatever the bit: of the numbers, which have checksums, or of the footer, which has none."""
    data, result = cr.dataset(motions / "in"), motions / "out/subject=0/0.parquet"
    data.torques(ARM, motions / "out")
    good, table = result.read_bytes(), pq.read_table(result, partitioning=None)
    rng = np.random.default_rng(0)
    again = 0
    for place in range(5, len(good), 97):
        flipped = bytearray(good)
        flipped[place] ^= 1 << rng.integers(8)
        result.write_bytes(flipped)
        report = data.torques(ARM, motions / "out")
        again += len(report.written)
        assert len(report.written) + len(report.kept) == 4
        assert pq.read_table(result, partitioning=None).equals(table), place
    assert again > 5


def test_an_interrupt_leaves_no_unfinished_files(motions, monkeypatch):
    def stop(self, folder, piece, key):
        (motions / "out/subject=0").mkdir(exist_ok=True)
        (motions / f"out/subject=0/.unfinished-{folder.run}-1-0.parquet").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(products.Results, "find", stop)
    with pytest.raises(KeyboardInterrupt):
        cr.dataset(motions / "in").torques(ARM, motions / "out")
    assert os.listdir(motions / "out/subject=0") == []


def test_no_warnings_where_all_is_well(motions):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cr.dataset(motions / "in").torques(ARM, motions / "out")
