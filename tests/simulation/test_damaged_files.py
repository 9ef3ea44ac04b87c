"""Trajectories from damaged files: read as they were saved, or refused with an error of this library."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

import chainrule as cr
from chainrule.simulation import files
from chainrule.simulation.columns import COLUMNS

SUFFIXES = (".npz", ".parquet", ".csv")


def motion(batch: tuple[int, ...] = (2,)) -> files.StoredMotion:
    robot = cr.load("planar_2r")
    t = np.linspace(0.0, 1.0, 5)
    widths = {"work": 3, "states": 1}
    arrays = {name: np.random.default_rng(3).normal(size=(*batch, 5, widths.get(name, 2))) for name in COLUMNS}
    event = files.EventRecord("low", 0.5, (0,) * len(batch), np.zeros(2), np.ones(2))
    return files.StoredMotion(robot.model, t, arrays, "rk4", "finished", (event,))


def read(path: Path) -> object:
    robot = cr.load("planar_2r")
    return cr.Trajectory.load(path, robot if path.suffix == ".csv" else None)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_bytes_are_read_or_refused(tmp_path: Path, suffix: str):
    path = tmp_path / f"run{suffix}"
    files.save(motion(), path)
    whole = path.read_bytes()
    rng = random.Random(1)
    refused = 0
    for _ in range(400):
        content = bytearray(whole)
        how = rng.randrange(4)
        if how == 0:
            content = content[: rng.randrange(len(content))]
        elif how == 1:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        elif how == 2:
            start = rng.randrange(len(content))
            content[start : start + rng.randrange(20)] = rng.randbytes(rng.randrange(20))
        else:
            content[rng.randrange(len(content))] = rng.choice(b'\0"{}[],\n9-e')
        path.write_bytes(content)
        try:
            read(path)
        except cr.ChainruleError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_file_in_which_a_bit_was_flipped_is_read_as_it_was_or_refused(tmp_path: Path, suffix: str):
    """Numbers and facts alike: nothing else tells a wrong number from a right one."""
    path = tmp_path / f"run{suffix}"
    saved = motion()
    files.save(saved, path)
    whole = path.read_bytes()
    rng = random.Random(2)
    refused = 0
    for place in range(rng.randrange(20), len(whole), len(whole) // 200):
        content = bytearray(whole)
        content[place] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        try:
            found = files.load(path, None)
        except cr.ChainruleError:
            refused += 1
            continue
        assert found.model == saved.model
        assert found.events[0].t == saved.events[0].t
        assert np.array_equal(found.t, saved.t)
        assert all(np.array_equal(found.arrays[name], saved.arrays[name]) for name in COLUMNS)
    assert refused > 50


FACTS = {
    "no table": lambda facts: [], "no format": lambda facts: facts.pop("format") and facts,
    "no robot": lambda facts: facts.pop("robot") and facts, "method": lambda facts: facts | {"method": 3},
    "events": lambda facts: facts | {"events": {}}, "an event": lambda facts: facts | {"events": [3]},
    "an event's row": lambda facts: facts | {"events": [facts["events"][0] | {"row": 5}]},
    "an event outside": lambda facts: facts | {"events": [facts["events"][0] | {"row": [7]}]},
    "an event's q": lambda facts: facts | {"events": [facts["events"][0] | {"q": [1, 2, 3]}]},
    "an event's time": lambda facts: facts | {"events": [facts["events"][0] | {"t": "x"}]},
    "batch": lambda facts: facts | {"batch": [-1]}, "robot": lambda facts: facts | {"robot": []},
    "a robot without links": lambda facts: facts | {"robot": facts["robot"] | {"link": []}},
    "a robot that is not finite": lambda facts: facts
    | {"robot": facts["robot"] | {"link": [facts["robot"]["link"][0]] + [x | {"mass": 1e999} for x in facts["robot"]["link"][1:]]}},
    "a robot with negative friction": lambda facts: facts
    | {"robot": facts["robot"] | {"joint": [x | {"viscous": -1.0} for x in facts["robot"]["joint"]]}},
}  # fmt: skip


@pytest.mark.parametrize("what", FACTS)
def test_metadata_of_the_wrong_kind_is_refused(tmp_path: Path, what: str):
    path = tmp_path / "run.npz"
    files.save(motion(), path)
    with np.load(path) as stored:
        parts = dict(stored)
    parts["facts"] = np.array(json.dumps(FACTS[what](json.loads(str(parts["facts"])))))
    np.savez(path, **parts)
    with pytest.raises(cr.ChainruleError):
        read(path)


@pytest.mark.parametrize(
    "parts",
    [
        {"t": np.float64(3.0)}, {"t": np.zeros((5, 1))}, {"t": np.full(5, np.nan)}, {"t": np.zeros(5, dtype=int)},
        {"q": np.zeros(())}, {"q": np.zeros((5, 2))}, {"states": np.zeros(())}, {"work": np.zeros((2, 5, 4))},
        {"q": np.zeros((2, 5, 2), dtype=complex)}, {"q": np.array("text")}, {"facts": np.array("[" * 100_000)},
    ],
    ids=lambda parts: next(iter(parts)),
)  # fmt: skip
def test_arrays_of_the_wrong_kind_are_refused(tmp_path: Path, parts: dict):
    path = tmp_path / "run.npz"
    files.save(motion(), path)
    with np.load(path) as stored:
        parts = dict(stored) | parts
    np.savez(path, **parts)
    with pytest.raises(cr.FormatError):
        read(path)


@pytest.mark.parametrize("order", "<>")
def test_texts_with_characters_that_do_not_exist_are_refused(tmp_path: Path, order: str):
    path = tmp_path / "motion.npz"
    cr.load("pendulum").simulate([0.1], None, 0.01).save(path)
    with np.load(path) as stored:
        arrays = dict(stored)
    name = next(name for name, array in arrays.items() if array.dtype.kind == "U")
    characters = np.frombuffer(arrays[name].astype("<U").tobytes(), dtype="<u4").astype(f"{order}u4")
    characters[-1] = 0x61000070
    arrays[name] = np.frombuffer(characters.tobytes(), dtype=f"{order}U{characters.size}").reshape(())
    np.savez(path, **arrays)
    with pytest.raises(cr.FormatError, match="has characters that do not exist"):
        cr.Trajectory.load(path)


def test_an_array_that_announces_more_than_fits_is_refused(tmp_path: Path):
    path = tmp_path / "run.npz"
    files.save(motion(), path)
    with zipfile.ZipFile(path) as stored:
        parts = {name: stored.read(name) for name in stored.namelist()}
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000, 5, 2), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    parts["q.npy"] = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(path, "w") as stored:
        for name, content in parts.items():
            stored.writestr(name, content)
    with pytest.raises(cr.FormatError):
        read(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [], lambda lines: lines[:-1], lambda lines: [*lines, "1,2"],
        lambda lines: [lines[0], *reversed(lines[1:])], lambda lines: [lines[0].replace("row", "t"), *lines[1:]],
        lambda lines: [lines[0], lines[1].replace("0,", "inf,", 1), *lines[2:]],
        lambda lines: [lines[0], lines[1].replace("0,", "-3,", 1), *lines[2:]],
        lambda lines: [lines[0], "\0" + lines[1], *lines[2:]], lambda lines: [lines[0], '"' + "x" * 200_000],
        lambda lines: [*lines[:-1], lines[-1].replace("1,1.0", "1,9.0", 1)],
        lambda lines: [lines[0].replace(",t,", ",time,"), *lines[1:]],
    ],
)  # fmt: skip
def test_tables_that_are_no_motions_are_refused(tmp_path: Path, change):
    path = tmp_path / "run.csv"
    files.save(motion(), path)
    lines = path.read_text().splitlines()
    changed = change(lines)
    assert changed != lines
    path.write_text("\n".join(changed) + "\n")
    with pytest.raises(cr.FormatError):
        read(path)


def test_a_motion_of_a_robot_that_was_used_unchecked_comes_back(tmp_path: Path):
    model = cr.load("puma560").model
    t = np.linspace(0.0, 1.0, 3)
    arrays = {name: np.zeros((3, {"work": 3, "states": 0}.get(name, 6))) for name in COLUMNS}
    files.save(files.StoredMotion(model, t, arrays), tmp_path / "run.npz")
    assert cr.Trajectory.load(tmp_path / "run.npz").robot.model == model


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_save_that_fails_leaves_the_old_file(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / f"run{suffix}"
    files.save(motion(), path)
    before = path.read_bytes()

    def half_written(motion, path):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, f"_save_{suffix[1:]}", half_written)
    with pytest.raises(cr.FormatError, match="No space left"):
        files.save(motion((3,)), path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
