"""Inverse kinematics of targets in Parquet files: each row as by the robot itself, in whichever columns it stands."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import chainrule as cr

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("fsspec")

ROBOT = cr.load("planar_3r")
COUNT = 30


@pytest.fixture(scope="module")
def poses():
    T = ROBOT.pose(ROBOT.random_state(np.random.default_rng(0), (COUNT,)))
    T[3, :3, 3] = [9.0, 0.0, 0.0]  # too far away
    return T


def table_of(form, T):
    p, R = T[:, :3, 3], Rotation.from_matrix(T[:, :3, :3])
    quaternion, rpy = R.as_quat(), R.as_euler("xyz")
    lists = {
        "pose": T.reshape(len(T), 16),
        "list of 7": np.concatenate([p, quaternion], axis=1),
        "list of 6": np.concatenate([p, rpy], axis=1),
    }
    if form in lists:
        return {"pose": lists[form].tolist()}
    columns = dict(zip(("x", "y", "z"), p.T, strict=True))
    if form == "quaternion":
        columns = {f"position.{axis}": column for axis, column in columns.items()}
        return columns | dict(zip((f"orientation.{c}" for c in "xyzw"), quaternion.T, strict=True))
    if form == "degrees":
        return columns | dict(zip(("roll", "pitch", "yaw"), np.degrees(rpy).T, strict=True))
    return columns  # points


def write(path, columns, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, **options)


def read(path):
    return pq.read_table(path, partitioning=None)


FORMS = ["pose", "list of 7", "list of 6", "quaternion", "degrees", "points"]


@pytest.mark.parametrize("form", FORMS)
def test_solutions_are_those_of_the_robot(tmp_path, poses, form):
    write(tmp_path / "in" / "a.parquet", table_of(form, poses) | {"name": [f"t{k}" for k in range(COUNT)]})
    data = cr.dataset(tmp_path / "in", keep=["name"], degrees=form == "degrees")
    task = "position" if form == "points" else "pose"
    report = data.inverse_kinematics(ROBOT, tmp_path / "out", options={"task": task, "restarts": 10})
    assert (report.rows, report.written) == (COUNT, ("a.parquet",))
    table = read(tmp_path / "out" / "a.parquet")
    targets = poses[:, :3, 3] if form == "points" else poses
    answer = ROBOT.inverse_kinematics(targets, task=task, restarts=10)
    assert_array_equal(table["success"].to_numpy(), answer.success)
    assert table["reason"].to_pylist() == answer.reason.tolist()
    assert table["reason"][3].as_py() == "not reached"
    q = np.stack([table[f"q.{name}"].to_numpy() for name in ROBOT.coordinate_names], axis=1)
    reached = ROBOT.pose(q[answer.success])
    assert_allclose(reached[:, :3, 3], poses[answer.success, :3, 3], atol=1e-5)
    if task == "pose":
        assert_allclose(reached, poses[answer.success], atol=1e-5)
    assert table["name"].to_pylist() == [f"t{k}" for k in range(COUNT)]
    assert table["error.position"].to_numpy()[answer.success].max() < 1e-5


def test_what_is_finished_is_not_solved_again(tmp_path, poses):
    for k in range(3):
        write(tmp_path / "in" / f"{k}.parquet", table_of("pose", poses[10 * k : 10 * k + 10]))
    data = cr.dataset(tmp_path / "in")
    assert len(data.inverse_kinematics(ROBOT, tmp_path / "out").written) == 3
    (tmp_path / "out" / "1.parquet").unlink()
    again = data.inverse_kinematics(ROBOT, tmp_path / "out")
    assert (again.written, again.kept) == (("1.parquet",), ("0.parquet", "2.parquet"))
    with pytest.raises(cr.ShapeError, match="holds other results"):
        data.inverse_kinematics(ROBOT, tmp_path / "out", options={"seed": 3})


def test_workers_solve_the_same(tmp_path, poses, client):
    for k in range(3):
        write(tmp_path / "in" / f"{k}.parquet", table_of("quaternion", poses[10 * k : 10 * k + 10]))
    data = cr.dataset(tmp_path / "in")
    data.inverse_kinematics(ROBOT, tmp_path / "here")
    data.inverse_kinematics(ROBOT, tmp_path / "there", cluster=client)
    for k in range(3):
        assert read(tmp_path / "here" / f"{k}.parquet").equals(read(tmp_path / "there" / f"{k}.parquet"))


def test_rows_that_are_no_targets_concern_themselves_alone(tmp_path, poses):
    columns = table_of("quaternion", poses[4:10])
    columns["orientation.x"] = columns["orientation.x"] * 0
    for c in "yzw":
        columns[f"orientation.{c}"][1] = 0.0
    columns["position.x"][2] = np.nan
    write(tmp_path / "in" / "a.parquet", columns)
    cr.dataset(tmp_path / "in").inverse_kinematics(ROBOT, tmp_path / "out")
    reasons = read(tmp_path / "out" / "a.parquet")["reason"].to_pylist()
    assert [k for k, reason in enumerate(reasons) if reason == "not finite"] == [1, 2]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0]}, "there are no columns of targets: x, y, z and .* Say which"),
        ({"pose": [[1.0, 2.0]]}, r"lists in column 'pose' have 2 numbers, and should have 3 \(x, y, z\)"),
        ({"x": ["a"], "y": ["b"], "z": ["c"]}, "column 'x' should hold numbers"),
    ],
)
def test_files_without_targets_are_set_aside(tmp_path, columns, message):
    write(tmp_path / "in" / "a.parquet", columns)
    with pytest.raises(cr.FormatError, match=message):
        cr.dataset(tmp_path / "in").inverse_kinematics(ROBOT, tmp_path / "out")


def test_names_of_columns_can_be_given(tmp_path, poses):
    write(tmp_path / "in" / "a.parquet", {"goal": table_of("pose", poses[:2])["pose"]})
    data = cr.dataset(tmp_path / "in", columns={"pose": "goal"})
    assert data.inverse_kinematics(ROBOT, tmp_path / "out").rows == 2
    with pytest.raises(cr.FormatError, match="no column named 'none'"):
        cr.dataset(tmp_path / "in", columns={"pose": "goal"}, keep=["none"]).inverse_kinematics(ROBOT, tmp_path / "b")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"restart": 1}, "no option named 'restart'"), ({"method": "none"}, "none"), ({"link": "none"}, "none")],
)
def test_wrong_options_are_refused_before_anything_is_read(tmp_path, poses, options, message):
    write(tmp_path / "in" / "a.parquet", table_of("pose", poses[:2]))
    with pytest.raises(cr.ChainruleError, match=message):
        cr.dataset(tmp_path / "in").inverse_kinematics(ROBOT, tmp_path / "out", options=options)
    assert not (tmp_path / "out").exists()


def test_angles_that_look_like_degrees_have_to_be_said(tmp_path, poses):
    write(tmp_path / "in" / "a.parquet", table_of("degrees", poses))
    with pytest.raises(cr.FormatError, match=r"nothing says whether roll, pitch and yaw are in degrees.*reach 1\d\d"):
        cr.dataset(tmp_path / "in").inverse_kinematics(ROBOT, tmp_path / "out")
