"""`chainrule plot` and `chainrule show`: a picture, and a page in one file."""

import json

import pytest

from cli.entry import run


def test_a_picture_of_a_posture(tmp_path):
    pytest.importorskip("matplotlib")
    done = run("plot", "planar_2r", str(tmp_path / "arm.png"), "--q", "30,45", "--degrees", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {"robot": "planar_2r", "written": [str(tmp_path / "arm.png")]}
    assert "arm.png" in done.stderr
    assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")


def test_a_page_in_one_file(tmp_path):
    pytest.importorskip("viser")
    done = run("show", "planar_2r", str(tmp_path / "arm.html"))
    assert done.returncode == 0
    assert "<html" in (tmp_path / "arm.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("command", "ending"), [("plot", "png"), ("show", "html")])
def test_files_of_another_form_are_refused(command, ending, tmp_path):
    done = run(command, "planar_2r", str(tmp_path / "arm.txt"))
    assert done.returncode != 0
    assert f".{ending}" in done.stderr
    assert len(done.stderr.splitlines()) == 1
