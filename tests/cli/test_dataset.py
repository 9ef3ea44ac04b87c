"""chainrule dataset: results in a folder, statistics in a table, and errors in one line."""

import json

import numpy as np
import pytest

import chainrule as cr
from cli import entry

pytest.importorskip("pyarrow")
pytest.importorskip("fsspec")

ARM = cr.load("planar_2r")


def run(*words):
    return entry.run(*map(str, words))


@pytest.fixture(scope="module")
def motions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("motions")
    for day in (1, 2):
        (folder / f"day={day}").mkdir()
        ARM.simulate([0.3 * day, 0.1], None, 0.1, dt=0.01).save(folder / f"day={day}" / "swing.parquet")
    return folder


def test_torques_go_into_a_folder_and_are_not_made_twice(motions, tmp_path):
    done = run("dataset", "planar_2r", motions, "--output", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("22 rows in 2 new files and 0 that were there")
    facts = json.loads(run("dataset", "planar_2r", motions, "--output", tmp_path / "out", "--json").stdout)
    assert (facts["rows"], facts["written"], len(facts["kept"])) == (22, [], 2)
    done = run("dataset", "planar_2r", motions / "*/*.parquet", "--compute", "mass_matrix", "--output", tmp_path / "M")
    assert done.returncode == 0
    assert len(list((tmp_path / "M").rglob("*.parquet"))) == 2


def test_statistics_are_a_table_or_json(motions):
    told = run("dataset", "planar_2r", motions, "--compute", "statistics")
    assert told.returncode == 0
    assert "joint1" in told.stdout
    assert "22 rows of 2 files" in told.stdout
    told = run("dataset", "planar_2r", motions, "--compute", "statistics", "--by", "day")
    assert told.stdout.count("joint1") == 3
    assert "\nday=2\n" in told.stdout
    facts = json.loads(run("dataset", "planar_2r", motions, "--compute", "statistics", "--by", "day", "--json").stdout)
    speeds = [ARM.simulate([0.3 * day, 0.1], None, 0.1, dt=0.01).qd[:, 0] for day in (1, 2)]
    assert facts["statistics"]["speed"]["joint1"]["maximum"] == max(np.max(speed) for speed in speeds)
    assert set(facts["groups"]) == {"1", "2"}


@pytest.mark.filterwarnings("always")
def test_a_bad_file_is_a_warning(motions, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "bad.parquet").write_bytes(b"no")
    done = run("dataset", "planar_2r", motions, tmp_path / "in", "--output", tmp_path / "out")
    assert done.returncode == 0
    assert done.stderr.startswith("warning: 1 of 3 files are set aside, 'bad.parquet': ")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere", "--output", "x"], 1, "cannot be read"),
        (["motions"], 2, "--compute torques needs --output FOLDER"),
        (["motions", "--output", "x", "--by", "day"], 2, "--by belongs to --compute statistics"),
        (["motions", "--output", "x", "--column", "a"], 2, "--column a: give a name, an equals sign and a value"),
        (["motions", "--output", "x", "--compute", "mas_matrix"], 1, "did you mean 'mass_matrix'"),
        (["motions", "--output", "x", "--motion", "episode"], 1, "no column named 'episode'"),
        (["motions", "--output", "x", "--workers", "2", "--cluster", "tcp://a:1"], 2, "give either"),
        ([], 2, "Missing argument"),
    ],
)
def test_mistakes_end_in_one_line(motions, tmp_path, monkeypatch, words, code, message):
    monkeypatch.chdir(tmp_path)
    done = run("dataset", "planar_2r", *(motions if word == "motions" else word for word in words))
    assert done.returncode == code
    assert message in done.stderr
