import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule import study
from chainrule.study import markers as mk

PLACEMENT = {
    "SHO": ("upper_arm", (0.0, 0.0, 0.0)), "UA1": ("upper_arm", (0.05, 0.02, -0.12)), "ELB": ("elbow", (0.0, 0.0, 0.0)),
    "FA1": ("forearm", (0.04, -0.03, -0.1)), "FA2": ("forearm", (-0.03, 0.04, -0.15)), "WRI": ("wrist", (0.0, 0.0, 0.0)),
    "HA1": ("hand", (0.03, 0.01, -0.05)), "HA2": ("hand", (-0.02, -0.02, -0.06)),
}  # fmt: skip


@pytest.fixture(scope="module")
def moved(person):
    """A motion of the arm, and the places of its markers."""
    motion = study.run(person, ["drink_with_cup"], rate=50).examples["drink_with_cup"].motion
    places = []
    for link, point in PLACEMENT.values():
        T = person.robot.pose(motion.q, link)
        places.append(T[:, :3, 3] + T[:, :3, :3] @ np.array(point))
    return motion, mk.Markers(tuple(PLACEMENT), motion.t, np.stack(places, axis=1))


def write_trc(path, markers, unit="mm", header_frames=None):
    """A file as the public description of TRC has it."""
    factor = {"mm": 1000, "m": 1}[unit]
    frames = len(markers.t) if header_frames is None else header_frames
    rate = 1 / (markers.t[1] - markers.t[0])
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate:g}\t{rate:g}\t{frames}\t{len(markers.names)}\t{unit}\t{rate:g}\t1\t{frames}",
        "Frame#\tTime\t" + "\t\t\t".join(markers.names),
        "\t\t" + "\t".join(f"{a}{k + 1}" for k in range(len(markers.names)) for a in "XYZ"),
        "",
    ]
    for k, (t, row) in enumerate(zip(markers.t, markers.places * factor, strict=True), start=1):
        cells = "\t".join("" if np.isnan(x) else f"{x:.6f}" for x in row.ravel())
        lines.append(f"{k}\t{t:.6f}\t{cells}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_angles_come_back_from_a_file_of_markers(moved, person, tmp_path):
    motion, markers = moved
    read = mk.read_markers(write_trc(tmp_path / "drink.trc", markers))
    np.testing.assert_allclose(read.places, markers.places, atol=1e-8)
    solved = mk.solve_markers(person, read, PLACEMENT, up="z")
    np.testing.assert_allclose(solved.q, motion.q, atol=1e-4)
    assert solved.rms_residual < 1e-5
    assert any("root mean square distance" in note for note in solved.notes)
    assert any("spline" in note or "smooth" in note for note in solved.trajectory.notes)
    result = study.run(person, motions={"drink": solved.trajectory})
    assert result.overall["elbow_flexion"].peak_torque > 2


def test_noise_is_fitted_by_all_markers_together(moved, person):
    motion, markers = moved
    noisy = mk.Markers(
        markers.names, markers.t, markers.places + np.random.default_rng(0).normal(0, 0.002, markers.places.shape)
    )
    solved = mk.solve_markers(person, noisy, PLACEMENT, up="z")
    assert 0.001 < solved.rms_residual < 0.004
    assert np.degrees(np.abs(solved.trajectory.q - motion.q)).max() < 8


def test_missing_markers_are_told_and_bridged(moved, person):
    motion, markers = moved
    places = markers.places.copy()
    places[40:60, 3] = np.nan
    places[100:110] = np.nan
    with pytest.warns(cr.MotionWarning, match=r"marker 'FA1' is missing in 30 of.*10 frames had too few markers"):
        solved = mk.solve_markers(person, mk.Markers(markers.names, markers.t, places), PLACEMENT, up="z")
    assert np.isnan(solved.q[100:110]).all()
    np.testing.assert_allclose(solved.q[40:60], motion.q[40:60], atol=1e-4)
    assert np.isfinite(solved.trajectory.q).all()


def test_exchanged_and_jumping_markers_and_units_are_found(moved):
    _, markers = moved
    places = markers.places.copy()
    places[50:, [1, 7]] = places[50:, [7, 1]]
    places[120, 0] += 0.3
    found = " | ".join(mk.Markers(markers.names, markers.t, places).findings())
    assert "'UA1' and 'HA2' seem to be exchanged at 1 s" in found
    assert "'SHO' jumps by up to 0.52 m" in found
    assert "millimeters" in " ".join(mk.Markers(markers.names, markers.t, 1000 * markers.places).findings())
    assert not markers.findings()


def test_a_wrong_placement_is_refused_or_told(moved, person):
    _, markers = moved
    wrong = {**PLACEMENT, "HA2": ("upper_arm", (0.0, 0.0, 0.2))}
    with pytest.raises(cr.ShapeError, match=r"too far from their points.*'HA2' \(\d+ mm\).*max_distance=None"):
        mk.solve_markers(person, markers, wrong, up="z")
    with pytest.warns(cr.MotionWarning, match="far from their points"):
        solved = mk.solve_markers(person, markers, wrong, up="z", max_distance=None)
    assert np.sqrt(np.mean(solved.residuals[:, list(PLACEMENT).index("HA2")] ** 2)) > 0.1
    with pytest.raises(cr.ShapeError, match="max_distance must be a positive number in m, or None"):
        mk.solve_markers(person, markers, wrong, up="z", max_distance=0.0)


def test_points_are_calibrated_in_a_known_posture(person):
    robot = person.robot
    q = robot.configurations["reaching"]
    names = ("forearm_1", "forearm_2", "hand.a", "Upper Arm 1")
    T = {link: robot.pose(q, link) for link in ("forearm", "hand", "upper_arm")}
    points = np.array([[0.1, 0, 0], [0, 0.1, 0.02], [0, 0, 0.05], [0.02, 0.03, -0.1]])
    links = ("forearm", "forearm", "hand", "upper_arm")
    places = np.stack([T[link][:3, :3] @ p + T[link][:3, 3] for link, p in zip(links, points, strict=True)])
    placed = mk.calibrate(robot, mk.Markers(names, np.array([0.0, 1.0]), np.stack([places, places])), q)
    assert [link for link, _ in placed.values()] == list(links)
    np.testing.assert_allclose([point for _, point in placed.values()], points, atol=1e-12)
    with pytest.raises(cr.UnknownNameError, match="name of no link"):
        mk.calibrate(robot, mk.Markers(("nose",), np.array([0.0, 1.0]), np.zeros((2, 1, 3))), q)


def test_a_trunk_is_taken_out(moved, person):
    """The same motion in a room, by a person who stands somewhere and faces another way."""
    motion, markers = moved
    a = 0.7
    turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    at = np.array([2.0, -1.0, 1.4])
    trunk = np.array([[0, 0.2, -0.5], [0, 0.2, 0.1], [0, 0, 0], [0, 0.4, 0]])
    everything = np.concatenate([markers.places, np.broadcast_to(trunk, (len(motion), 4, 3))], axis=1) @ turn.T + at
    names = (*markers.names, "PELV", "C7", "RSHO", "LSHO")
    solved = mk.solve_markers(
        person, mk.Markers(names, markers.t, everything), PLACEMENT, trunk=mk.Trunk("PELV", "C7", "RSHO", "LSHO")
    )
    np.testing.assert_allclose(solved.q, motion.q, atol=1e-4)


LABS = {
    "y": lambda x, y, z: (x, z, -y), "-y": lambda x, y, z: (x, -z, y), "z": lambda x, y, z: (x, y, z),
    "-z": lambda x, y, z: (x, -y, -z), "x": lambda x, y, z: (z, y, -x), "-x": lambda x, y, z: (-z, y, x),
}  # fmt: skip
"""A place, forward, left and up from the shoulder, in laboratories by the axis that points up."""


@pytest.mark.parametrize("up", LABS)
def test_gravity_is_along_the_axis_that_points_up(moved, person, up):
    motion, markers = moved
    places = np.stack(LABS[up](*np.moveaxis(markers.places, -1, 0)), axis=-1)
    solved = mk.solve_markers(person, mk.Markers(markers.names, markers.t, places), PLACEMENT, up=up)
    np.testing.assert_allclose(solved.q, motion.q, atol=1e-4)
    assert not any(row.is_doubtful for row in solved.trajectory.assumptions)


def test_the_axis_that_points_up_is_not_assumed(moved, person):
    _, markers = moved
    with pytest.raises(cr.ShapeError, match="nothing says which axis of the markers points up"):
        mk.solve_markers(person, markers, PLACEMENT)
    for other in ("Y up", ""):
        with pytest.raises(cr.UnknownNameError, match="points up"):
            mk.solve_markers(person, markers, PLACEMENT, up=other)
    with pytest.raises(cr.ShapeError, match="leave out up="):
        mk.solve_markers(person, markers, PLACEMENT, up="z", trunk=mk.Trunk("SHO", "ELB", "WRI", "HA1"))


def trc_with(path, headings, rows, count=3):
    """A file of TRC with such a line of names."""
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"100\t100\t2\t{count}\tm\t100\t1\t2",
        "Frame#\tTime\t" + headings,
        "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3",
        *(f"{k + 1}\t{0.01 * k}\t{row}" for k, row in enumerate(rows)),
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_column_without_a_name_shifts_no_marker(tmp_path):
    rows = ["1\t1\t1\t9\t9\t9\t3\t3\t3"] * 2
    read = mk.read_markers(trc_with(tmp_path / "a.trc", "A\t\t\t\t\t\tC\t\t", rows))
    assert read.names == ("A", "C")
    np.testing.assert_array_equal(read.places[0], [[1, 1, 1], [3, 3, 3]])
    assert "without a name are left out: number 2 of 3" in " ".join(read.notes)
    read = mk.read_markers(trc_with(tmp_path / "a.trc", "A\tB\tC", rows))  # names that stand close together
    np.testing.assert_array_equal(read.of("C"), np.full((2, 3), 3.0))
    assert "left out" not in " ".join(read.notes)
    short = mk.read_markers(trc_with(tmp_path / "a.trc", "A\t\t\tB\t\t\tC\t\t", ["1\t1\t1"] * 2))  # C not seen
    assert np.isnan(short.of("C")).all()


@pytest.mark.parametrize(
    ("headings", "count"),
    [
        ("A\t\t\tC\t\t", 3),  # the name of one of three is not there, nor its place
        ("A\tC", 3),
        ("A\t\t\tC\t\t", 2),  # more columns than markers
        ("A\t\t\tB\t\t\tC\t\t", 2),
        ("\t\t\t\t\t", 3),
    ],
)
def test_names_that_do_not_fit_their_columns_are_refused(tmp_path, headings, count):
    path = trc_with(tmp_path / "a.trc", headings, ["1\t1\t1\t9\t9\t9\t3\t3\t3"] * 2, count)
    with pytest.raises(cr.FormatError, match="write a name above"):
        mk.read_markers(path)


BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Arm
  {
    OFFSET 0 10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 5 0 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.5
1 2 3 0 0 0 0 0 0
1 2 3 90 0 0 0 0 0
1 2 3 90 90 0 90 0 0
"""


def test_joints_of_bvh_are_markers(tmp_path):
    path = tmp_path / "walk.bvh"
    path.write_text(BVH)
    read = mk.read_markers(path, unit="m")
    assert read.names == ("Hips", "Arm", "Arm_end")
    assert read.t.tolist() == [0, 0.5, 1.0]
    np.testing.assert_allclose(read.of("Arm"), [[1, 12, 3], [-9, 2, 3], [1, 2, 13]], atol=1e-9)
    np.testing.assert_allclose(read.of("Arm_end")[:2], [[6, 12, 3], [-9, 7, 3]], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(read.of("Arm_end") - read.of("Arm"), axis=1), 5)
    assert "cm is assumed" in " ".join(mk.read_markers(path).notes)


def six_channels(path, rows):
    """A file whose joints all have translations, as motion capture programs write them."""
    joints = "{\n OFFSET %s\n CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
    path.write_text(
        "HIERARCHY\nROOT Hips\n" + joints % "0 90 0" + "JOINT Knee\n" + joints % "0 -40 0"
        + "JOINT Foot\n" + joints % "0 -45 0" + "End Site\n{\nOFFSET 0 -5 10\n}\n}\n}\n}\n"
        + f"MOTION\nFrames: {len(rows)}\nFrame Time: 0.01\n" + "\n".join(rows) + "\n"
    )  # fmt: skip
    return path


def test_translations_of_joints_do_not_double_bones(tmp_path):
    turned = "0 90 0 0 0 0  0 -40 0 90 0 0  0 -45 0 0 0 0"
    read = mk.read_markers(six_channels(tmp_path / "a.bvh", ["0 90 0 0 0 0  0 -40 0 0 0 0  0 -45 0 0 0 0", turned]))
    np.testing.assert_allclose(read.places[0, :, 1], [0.9, 0.5, 0.05, 0.0], atol=1e-12)
    np.testing.assert_allclose(read.of("Foot")[1], [0.45, 0.5, 0], atol=1e-12)
    assert "'Hips', 'Knee', 'Foot' are places in the parent" in " ".join(read.notes)
    shifts = mk.read_markers(six_channels(tmp_path / "a.bvh", ["0 0.1 0 0 0 0  0 0 0 0 0 0  0 0 0 0 0 0"] * 2))
    np.testing.assert_allclose(shifts.places[0, :, 1], [0.901, 0.501, 0.051, 0.001], atol=1e-12)
    assert "are added to offsets" in " ".join(shifts.notes)
    with pytest.raises(cr.FormatError, match=r"'Knee' stay near zero.*'Hips' do not"):
        mk.read_markers(six_channels(tmp_path / "a.bvh", ["0 90 0 0 0 0  0 0 0 0 0 0  0 -45 0 0 0 0"] * 2))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("HIERARCHY", "HIERARCHIE", "expected 'HIERARCHY'"),
        ("Frames: 3", "Frames: 4", "are stated"),
        ("Frame Time: 0.5", "Frame Time: 0", "time between them"),
        ("1 2 3 0 0 0 0 0 0", "1 2 3 0 0 0 0 0 x", "must be numbers"),
        ("OFFSET 0 10 0", "OFFSET 0 ten 0", "should be a number"),
        ("3 Zrotation Xrotation Yrotation", "1 Wrotation", "not known"),
        ("MOTION", "", "expected 'MOTION'"),
        ("    }\n  }\n}\n", "    }\n", "not expected|ends too early"),
    ],
)
def test_wrong_bvh_is_refused(tmp_path, old, new, words):
    path = tmp_path / "walk.bvh"
    path.write_text(BVH.replace(old, new, 1))
    with pytest.raises(cr.FormatError, match=words):
        mk.read_markers(path)


@pytest.mark.parametrize("letter", ["\f", "\x1c", "\x85", "\u2028"])
def test_letters_that_end_a_line_for_some_end_none_of_a_file_of_markers(tmp_path, letter):
    path = trc_with(tmp_path / "a.trc", f"EL{letter}BOW\t\t\tWRIST\t\t", ["1\t2\t3\t4\t5\t6"] * 2, count=2)
    assert mk.read_markers(path).of(f"EL{letter}BOW").tolist() == [[1, 2, 3]] * 2


def test_names_of_markers_may_be_in_the_code_of_old_programs(tmp_path):
    path = trc_with(tmp_path / "a.trc", "ELLE\t\t\tHAND\t\t", ["1\t2\t3\t4\t5\t6"] * 2, count=2)
    path.write_bytes(path.read_bytes().replace(b"HAND", "HÄND".encode("latin-1")))
    assert mk.read_markers(path).names == ("ELLE", "HÄND")


def test_times_in_ms_and_frames_that_are_missing_at_the_end_are_told(moved, person, tmp_path):
    _, markers = moved
    slow = mk.Markers(markers.names, 1e3 * markers.t, markers.places)
    assert any("their times look like milliseconds" in line for line in slow.findings())
    path = write_trc(tmp_path / "a.trc", markers)
    lines = path.read_text().split("\n")
    path.write_text("\n".join(lines[:40]) + "\n")
    with pytest.warns(cr.MotionWarning, match=f"the header states {len(markers.t)} frames, and there are "):
        mk.solve_markers(person, mk.read_markers(path), PLACEMENT, up="z")


def test_wrong_trc_is_refused(moved, tmp_path):
    _, markers = moved
    path = write_trc(tmp_path / "a.trc", markers)
    text = path.read_text()
    for old, new, words in (
        ("PathFileType", "Path", "no TRC file"),
        ("\tmm\t", "\t\t", "does not say its unit"),
        ("\tmm\t", "\tfurlong\t", "no unit of length"),
        ("1\t0.000000\t", "1\tzero\t", "should be numbers"),
        ("2\t0.020000\t", "2\t0.000000\t", "increase"),
        ("UA1", "SHO", "same name, 'SHO'; rename"),
    ):
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(cr.FormatError, match=words):
            mk.read_markers(path)
    path.write_text("\n".join(text.splitlines()[:5]))
    with pytest.raises(cr.FormatError):
        mk.read_markers(path)
    path.write_bytes(b"PathFileType\x00\x01")
    with pytest.raises(cr.FormatError, match="not a text file"):
        mk.read_markers(path)
    assert "states 7 frames" in " ".join(mk.read_markers(write_trc(path, markers, header_frames=7)).notes)
    with pytest.raises(cr.FormatError, match="no file"):
        mk.read_markers(tmp_path / "none.trc")
    with pytest.raises(cr.FormatError, match=r"\.trc, \.c3d or \.bvh"):
        mk.read_markers(tmp_path / "none.xyz")
    with pytest.raises(cr.UnknownNameError, match="unit of length"):
        mk.read_markers(path, unit="ft")


def test_c3d_is_read(moved, tmp_path):
    c3d = pytest.importorskip("c3d")
    _, markers = moved
    path = tmp_path / "a.c3d"
    writer = c3d.Writer(point_rate=50.0)
    writer.set_point_labels(list(markers.names))
    for k, row in enumerate(markers.places * 1000):
        points = np.zeros((len(row), 5), dtype=np.float32)
        points[:, :3] = row
        if k == 7:
            points[2, :3], points[2, 3] = 0, -1
        writer.add_frames([(points, np.array([[]]))])
    with path.open("wb") as handle, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer.write(handle)
    read = mk.read_markers(path, unit="mm")
    assert read.names == markers.names
    np.testing.assert_allclose(np.delete(read.places, 7, axis=0), np.delete(markers.places, 7, axis=0), atol=1e-5)
    assert np.isnan(read.places[7, 2]).all()
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(cr.FormatError, match="no C3D file"):
        mk.read_markers(path, unit="mm")


def test_joint_centers_are_found_by_their_names(moved, person):
    motion, markers = moved
    robot = person.robot
    tip = robot.pose(motion.q)[:, :3, 3]
    names = ("RightArm", "RightForeArm", "RightHand", "RightHandEnd", "LeftArm")
    places = [markers.of("SHO"), markers.of("ELB"), markers.of("WRI"), tip, tip]
    cloud = mk.Markers(names, markers.t, np.stack(places, axis=1))
    solved = mk.solve_markers(person, cloud, up="z")
    assert solved.names == names[:4]
    assert solved.rms_residual < 1e-4
    with pytest.raises(cr.ShapeError, match="placement="):
        mk.solve_markers(person, mk.Markers(("a", "b"), markers.t, np.zeros((len(markers.t), 2, 3))), up="z")
    with pytest.raises(cr.ModelError, match="closed loops"):
        mk.solve_markers(cr.load("four_bar"), cloud)
    with pytest.raises(cr.UnknownNameError, match="marker"):
        mk.solve_markers(person, cloud, {"nose": ("hand", (0, 0, 0))}, up="z")
    with pytest.raises(cr.ShapeError, match="three numbers"):
        mk.solve_markers(person, cloud, {"RightArm": ("hand", (0, 0))}, up="z")


@given(st.data())
@settings(max_examples=150)
def test_damaged_files_are_read_or_refused(moved, tmp_path_factory, data):
    """Whatever is in a file, it is read or refused by a FormatError."""
    folder = tmp_path_factory.getbasetemp()
    _, markers = moved
    kind = data.draw(st.sampled_from(["bvh", "trc"]))
    path = folder / f"damaged.{kind}"
    if kind == "trc":
        write_trc(path, mk.Markers(markers.names, markers.t[:6], markers.places[:6]))
    text = BVH if kind == "bvh" else path.read_text()
    for _ in range(data.draw(st.integers(1, 4))):
        at, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 40))
        new = data.draw(
            st.sampled_from(["", "\t", "\n", "nan", "inf", "-1e400", "{", "}", "9" * 30, "JOINT x {", "\x00"])
        )
        text = text[:at] + new + text[at + length :]
    path.write_text(text)
    try:
        read = mk.read_markers(path, unit="mm")
    except cr.FormatError:
        return
    assert read.places.shape == (len(read.t), len(read.names), 3)
    read.findings()


def test_large_files_are_refused(moved, tmp_path, monkeypatch):
    from chainrule.study.markers import reading

    _, markers = moved
    monkeypatch.setattr(reading, "MAX_TEXT_BYTES", 100)
    with pytest.raises(cr.FormatError, match="cut it into parts"):
        mk.read_markers(write_trc(tmp_path / "a.trc", markers))


@pytest.mark.parametrize("t", [[-1e308, 1e308], [0.0, np.inf], [1.0, 1.0], [0.0]], ids=str)
def test_times_of_markers_that_are_none_are_refused(t):
    with pytest.raises(cr.ShapeError, match="times of markers must be at least two, increase"):
        mk.Markers(("A",), np.array(t), np.zeros((len(t), 1, 3)))
