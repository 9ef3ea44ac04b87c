"""Maps of workspaces: the same as a cloud of the same postures, in bounded memory, kept in files."""

import inspect
import json
import zipfile
from dataclasses import fields

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal

import chainrule as cr
from chainrule.cli.main import cli
from chainrule.core.reading import find_link
from chainrule.kinematics import cell_table
from chainrule.kinematics.cell_table import CellTable, Filling, bytes_per_cell
from chainrule.kinematics.samples import BLOCK_POSTURES, PostureMeasures, block_of_postures, measure_postures
from chainrule.kinematics.workspace import Workspace

SIDE = 0.05
COUNT = 2 * BLOCK_POSTURES + 123


def cloud_of_blocks(robot, count, seed=0, part=None):
    """The cloud of the postures that a map has counted."""
    sizes = [min(BLOCK_POSTURES, count - start) for start in range(0, count, BLOCK_POSTURES)]
    q = np.concatenate([block_of_postures(robot, seed, block, size) for block, size in enumerate(sizes)])
    link = find_link(robot, None)
    measured = measure_postures(robot, q, link, part)
    return Workspace(robot, link, q, measured.position.T, measured.approach.T, measured.manipulability)


def assert_equal_maps(one, other):
    for field in fields(one):
        if field.name != "robot":
            assert_array_equal(getattr(one, field.name), getattr(other, field.name), err_msg=field.name)


@pytest.fixture(scope="module")
def panda():
    return cr.load("panda")


@pytest.fixture(scope="module")
def cloud(panda):
    return cloud_of_blocks(panda, COUNT, seed=5)


@pytest.fixture(scope="module")
def cells(panda):
    return panda.workspace(COUNT, cell=SIDE, rng=5)


def test_a_map_is_the_cloud_of_its_postures_in_cells(cells, cloud):
    assert cells.samples == COUNT
    assert cells.volume() == cloud.volume(SIDE)
    mine, theirs = cells.dexterity(), cloud.dexterity(SIDE)
    assert_array_equal(mine.centers, theirs.centers)
    assert_array_equal(mine.counts, theirs.counts)
    assert_array_equal(mine.share, theirs.share)
    assert_array_equal(cells.bounds, cloud.bounds)
    assert cells.radii == pytest.approx(cloud.radii, rel=1e-15)


def test_each_cell_has_its_best_posture(panda, cells, cloud):
    places = np.floor(cloud.position / SIDE).astype(int)
    best = {}
    for row, (place, w) in enumerate(zip(map(tuple, places.tolist()), cloud.manipulability, strict=True)):
        if place not in best or w > cloud.manipulability[best[place]]:
            best[place] = row
    rows = [best[tuple(place)] for place in cells.places.tolist()]
    assert_array_equal(cells.q, cloud.q[rows])
    assert_array_equal(cells.manipulability, cloud.manipulability[rows])


def test_extremes_are_postures_on_the_bounds(panda, cells, cloud):
    assert_array_equal(cells.extremes["x low"], cloud.q[cloud.position[:, 0].argmin()])
    assert_array_equal(cells.extremes["z high"], cloud.q[cloud.position[:, 2].argmax()])
    distance = np.linalg.norm(panda.pose(cells.extremes["farthest"])[:3, 3])
    assert distance == pytest.approx(cells.radii[1], abs=1e-12)
    assert list(cells.extremes) == list(cell_table.EXTREMES)


def test_equal_values_keep_the_posture_of_the_lowest_number():
    robot = cr.load("cartesian_3p").reference  # manipulability is 1 everywhere
    cells, cloud = robot.workspace(500, cell=0.5), cloud_of_blocks(robot, 500)
    assert_array_equal(cells.manipulability, 1)
    places = np.floor(cloud.position / 0.5).astype(int).tolist()
    assert_array_equal(cells.q, cloud.q[[places.index(place) for place in cells.places.tolist()]])


def test_tables_merge_to_the_same_in_any_order(panda):
    q = [block_of_postures(panda, 0, block, 3000) for block in range(3)]
    measured = [measure_postures(panda, part, "panda_link8") for part in q]
    whole = CellTable(SIDE, panda.nq)
    for k in range(3):
        whole.add(measured[k], q[k], 3000 * k)
    for order in [(2, 0, 1), (1, 2, 0)]:
        merged = CellTable(SIDE, panda.nq)
        for k in order:
            part = CellTable(SIDE, panda.nq)
            part.add(measured[k], q[k], 3000 * k)
            merged.merge(part.cells(sort=k != 0))
        merged.merge(CellTable(SIDE, panda.nq).cells())
        for name, mine, theirs in zip(whole.cells()._fields, whole.cells(), merged.cells(), strict=True):
            assert_array_equal(mine, theirs, err_msg=name)


def test_threads_change_nothing(panda, cells, monkeypatch):
    monkeypatch.setenv("CHAINRULE_THREADS", "3")
    assert_equal_maps(panda.workspace(COUNT, cell=SIDE, rng=5), cells)


def test_a_coarser_map_is_the_one_of_coarser_cells(panda, cells, cloud):
    direct = panda.workspace(COUNT, cell=4 * SIDE, rng=5)
    coarse = cells.coarser(4)
    assert_equal_maps(coarse, direct)
    assert cells.volume(4 * SIDE) == direct.volume() == cloud.volume(4 * SIDE)
    assert_array_equal(cells.dexterity(4 * SIDE).share, cloud.dexterity(4 * SIDE).share)
    assert len(cells.slice("x", 9).coarser(2)) == 0


def test_memory_is_that_of_cells(monkeypatch):
    arm = cr.load("planar_2r").reference
    few, many = arm.workspace(20_000, cell=0.5), arm.workspace(100_000, cell=0.5)
    assert len(few) == len(many) == 60
    table = CellTable(0.5, 2)
    monkeypatch.setattr(cell_table, "MAX_TABLE_BYTES", 59 * bytes_per_cell(2))
    small = CellTable(0.5, 2)
    q = block_of_postures(arm, 0, 0, 5000)
    measured = measure_postures(arm, q, "tip")
    table.add(measured, q, 0)
    with pytest.raises(cr.ShapeError, match=r"cells of 0\.5 m would be more than 59, .* take cell=0\.63 or more"):
        small.add(measured, q, 0)


def test_cells_that_are_too_many_are_refused_with_a_side_that_fits(panda):
    with pytest.raises(cr.ShapeError, match=r"cells of 0.001 m would be more than 3,960,396, .* take cell=0\.0\d+ or"):
        panda.workspace(100_000, cell=0.001)
    flat = cr.load("planar_2r").reference
    with pytest.raises(cr.ShapeError, match=r"take cell=0\.00\d+ or more"):
        flat.workspace(10_000, cell=1e-6)
    with pytest.raises(cr.ShapeError, match="would be more than"):
        flat.workspace(10_000, cell=1e-200)


def test_the_number_of_cells_is_estimated_from_a_few_points(cloud, cells):
    filling = Filling(cloud.position[:5000].T)
    assert len(cells) < filling.cells(SIDE) < 3 * len(cells)
    assert filling.box(SIDE) > filling.cells(SIDE) / 2
    line = np.array([np.linspace(0, 1, 1000), np.zeros(1000), np.zeros(1000)])
    assert 990 < Filling(line).cells(1e-3) < 1100
    assert Filling(np.zeros((3, 10))).cells(1e-3) == 1


def test_a_box_that_has_no_room_left_is_refused(monkeypatch):
    monkeypatch.setattr(cell_table, "MAX_BOX_CELLS", 1000)
    far = np.array([[0.0, 100.0], [0.0, 100.0], [0.0, 100.0]])
    with pytest.raises(cr.ShapeError, match="would be more than"):
        CellTable(1.0, 1).add(PostureMeasures(far, far, np.ones(2)), np.zeros((2, 1)), 0)


def test_points_far_from_the_origin_are_refused_with_a_side_that_fits():
    far = np.full((3, 1), 1e6)
    with pytest.raises(cr.ShapeError, match=r"take cell=0\.015 or more"):
        CellTable(0.001, 1).add(PostureMeasures(far, far, np.ones(1)), np.zeros((1, 1)), 0)
    CellTable(0.015, 1).add(PostureMeasures(far, far, np.ones(1)), np.zeros((1, 1)), 0)


def test_what_is_not_finite_is_refused():
    point = np.array([[0.0], [0.0], [np.nan]])
    with pytest.raises(cr.ModelError, match="position or a manipulability that is not finite"):
        CellTable(1.0, 1).add(PostureMeasures(point, point, np.ones(1)), np.zeros((1, 1)), 0)


def test_a_slice_has_the_cells_that_it_cuts(cells):
    slab = cells.slice("z", 0.3, 0.1)
    assert 0 < len(slab) < len(cells)
    assert (np.abs(slab.position[:, 2] - 0.3) <= 0.05 + SIDE / 2).all()
    assert slab.bounds[0, 2] >= 0.3 - 0.05 - SIDE - 1e-12
    assert slab.bounds[1, 2] <= 0.3 + 0.05 + SIDE + 1e-12
    assert slab.bounds[1, 0] <= cells.bounds[1, 0]
    near, far = slab.radii
    assert cells.radii[0] <= near < far <= cells.radii[1]
    assert len(cells[:7]) == 7
    assert len(cells[cells.counts > 5]) == (cells.counts > 5).sum()


def test_reach_is_that_of_the_cloud(cells, cloud):
    for way in ([0, 0, 1], [1, 1, 0], [1, -2, 0.5]):
        reach = cells.reach(way)
        assert reach.distance == pytest.approx(cloud.reach(way).distance, abs=1e-4)
        assert reach.distance == pytest.approx(float(reach.position @ way) / np.linalg.norm(way))


def test_robots_without_plain_coordinates_have_maps():
    leg = cr.load("quadruped").workspace(100, "FL_FOOT", cell=0.2)
    assert leg.samples == 100
    assert leg.reach([0, 0, -1]).distance > 0
    assert cr.load("four_bar").reference.workspace(20, cell=0.2).samples == 20


def test_a_table_of_pandas_has_a_row_for_each_cell(cells):
    frame = cells.to_pandas()
    assert len(frame) == len(cells)
    assert frame["count"].sum() == COUNT
    assert frame.attrs["units"]["position.x"] == "m"
    assert frame.attrs["units"]["q.panda_joint1"] == "rad"


def test_a_file_brings_the_map_back(tmp_path, panda, cells):
    cells.save(tmp_path / "map.npz")
    again = cr.WorkspaceMap.load(tmp_path / "map.npz")
    assert_equal_maps(again, cells)
    assert again.robot.name == "panda"
    assert again.reach([0, 0, 1]).distance == pytest.approx(cells.reach([0, 0, 1]).distance)
    assert cr.WorkspaceMap.load(tmp_path / "map.npz", panda).robot is panda
    with pytest.raises(cr.FormatError, match=r"q should be .* for robot 'planar_2r'.*another robot"):
        cr.WorkspaceMap.load(tmp_path / "map.npz", cr.load("planar_2r"))


def test_files_that_are_no_maps_are_refused(tmp_path, cells):
    with pytest.raises(cr.ShapeError, match=r"kept in \.npz, got 'map.csv'"):
        cells.save("map.csv")
    with pytest.raises(cr.FormatError, match="cannot be written"):
        cells.save(tmp_path / "nowhere" / "map.npz")
    with pytest.raises(cr.FormatError, match="there is no file"):
        cr.WorkspaceMap.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(cr.FormatError, match="is not a map that chainrule wrote, or it is damaged"):
        cr.WorkspaceMap.load(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", facts=np.array(json.dumps({"format": "other"})))
    with pytest.raises(cr.FormatError, match="should say format 'chainrule workspace map 1', and says 'other'"):
        cr.WorkspaceMap.load(tmp_path / "other.npz")
    cells.save(tmp_path / "cut.npz")
    with zipfile.ZipFile(tmp_path / "cut.npz") as whole, zipfile.ZipFile(tmp_path / "less.npz", "w") as less:
        for name in whole.namelist()[:4]:
            less.writestr(name, whole.read(name))
    with pytest.raises(cr.FormatError, match="damaged: KeyError"):
        cr.WorkspaceMap.load(tmp_path / "less.npz")


@pytest.mark.parametrize("color", ["manipulability", "payload", "dexterity"])
def test_maps_are_drawn(tmp_path, cells, color):
    cells.plot(tmp_path / "map.png", color=color, points=2000)
    assert (tmp_path / "map.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda arm: arm.workspace(100, cell=0), "cell must be a positive length, in m, got 0"),
        (lambda arm: arm.workspace(100, cell="a"), "cell must be"),
        (lambda arm: arm.workspace(0, cell=1.0), "samples must be a positive integer"),
        (lambda arm: arm.workspace(100, cell=1.0, rng=-1), "rng must be a whole number, at least 0"),
        (lambda arm: arm.workspace(100, cell=1.0, rng=np.random.default_rng(0)), "with cell, rng is a seed"),
        (lambda arm: arm.workspace(100, workers=2), "give the side of cells as well, such as cell=0.02"),
        (lambda arm: arm.workspace(100, checkpoint="part.npz"), "give the side of cells as well, such as cell=0.02"),
        (lambda arm: arm.workspace(100, cell=1.0, workers=2, cluster="tcp://x:1"), "not both"),
        (
            lambda arm: arm.workspace(100, cell=1.0).volume(1.5),
            "must be a whole multiple of the map's own, 1 m, got 1.5",
        ),
        (lambda arm: arm.workspace(100, cell=1.0).dexterity(0.5), "must be a whole multiple"),
        (lambda arm: arm.workspace(100, cell=1.0).coarser(0), "factor must be a positive integer"),
        (lambda arm: arm.workspace(100, cell=1.0).slice("z", 99).volume(), "this map has no cells"),
        (lambda arm: arm.workspace(100, cell=1.0).slice("z", 99).reach([1, 0, 0]), "this map has no cells"),
        (lambda arm: arm.workspace(100, cell=1.0)["a"], "a map of 16 cells has no 'a'"),
        (lambda arm: arm.workspace(100, cell=1.0).reach([0, 0, 0]), "direction must be three numbers, not all zero"),
        (lambda arm: arm.workspace(100, cell=1.0).reach([1, 0, 0], starts=0), "starts must be"),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(cr.ChainruleError, match=message):
        call(cr.load("planar_2r").reference)


def run(*words):
    return CliRunner().invoke(cli, ["workspace", *words])


def test_the_command_counts_in_cells_and_keeps_the_map(tmp_path):
    path = tmp_path / "map.npz"
    result = run("planar_2r", "--samples", "2e3", "--cell", "0.5", "--json", "--output", str(path))
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert (facts["samples"], facts["cells"], facts["cell"]) == (2000, 60, 0.5)
    assert len(cr.WorkspaceMap.load(path)) == 60
    text = run("planar_2r", "--samples", "2.5e3", "--cell", "0.5", "--checkpoint", str(tmp_path / "part.npz")).stdout
    assert (tmp_path / "part.npz").is_file()
    assert "2500 random postures within the joint limits, in 60 cells of 0.5 m" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--samples", "1.5e0"), "'1.5e0' is not a valid integer"),
        (("--samples", "1e99", "--cell", "0.5"), "samples must be a positive integer"),
        (("--workers", "2"), "are for a map of cells: give their side"),
        (("--output", "map.npz"), "are for a map of cells: give their side"),
        (("--cell", "0"), "must be a number of m above 0"),
        (("--cell", "0.1", "--workers", "2", "--cluster", "tcp://x:1"), "give either --cluster or --workers"),
    ],
)
def test_commands_that_are_wrong_say_so(words, message):
    result = run("planar_2r", *words)
    assert result.exit_code != 0
    assert message in result.output + str(result.exception)


def test_cells_find_the_points_that_they_hold(cloud, cells):
    voxels = cloud.voxels(SIDE)
    rows = voxels.find(cloud.position)
    assert_array_equal(voxels.places[rows], np.floor(cloud.position / SIDE))
    assert_array_equal(np.bincount(rows), voxels.counts)
    assert_array_equal(cells[::-1].find(cloud.position), len(cells) - 1 - rows)
    assert_array_equal(voxels.find(np.array([[9.0, 0, 0], [0, 0, -9.0]])), [-1, -1])
    assert_array_equal(cells.slice("z", 9).find(np.zeros((2, 3))), [-1, -1])


def test_the_picture_of_a_map_and_of_a_cloud_is_one_function():
    assert Workspace.plot is cr.WorkspaceMap.plot
    assert list(inspect.signature(Workspace.plot).parameters)[:3] == ["workspace", "path", "color"]
