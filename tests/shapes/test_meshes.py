"""Meshes as surfaces: made coarser, split along edges, refused where they are broken or huge."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from chainrule.errors import FormatError
from chainrule.shapes import meshes

CUBE = """v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
"""


def test_edges_are_split_where_a_surface_is_creased(tmp_path):
    (tmp_path / "cube.obj").write_text(CUBE)
    (plain,) = meshes.read_mesh(tmp_path / "cube.obj", 1000)
    (creased,) = meshes.read_mesh(tmp_path / "cube.obj", 1000, creased=True)
    assert (len(plain.surface.corners), len(creased.surface.corners)) == (8, 24)
    assert len(plain.surface.triangles) == len(creased.surface.triangles) == 12


def test_meshes_are_read_without_trimesh_too(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    (tmp_path / "cube.obj").write_text(CUBE)
    (piece,) = meshes.read_mesh(tmp_path / "cube.obj", 999)
    assert len(piece.surface.triangles) == 12
    (tmp_path / "robot.dae").write_text("<COLLADA/>")
    with pytest.raises(FormatError, match=r"robot\.dae is not a mesh that can be read"):
        meshes.read_mesh(tmp_path / "robot.dae", 999)


def test_corners_alone_stand_for_their_hull(tmp_path):
    (tmp_path / "cloud.obj").write_text("\n".join(line for line in CUBE.splitlines() if line.startswith("v")))
    (piece,) = meshes.read_mesh(tmp_path / "cloud.obj", 1000)
    assert len(piece.surface.triangles) == 12


def test_a_coarser_mesh_has_the_same_size():
    n = 120
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    points = np.stack([x.ravel(), y.ravel(), np.sin(3 * x.ravel())], axis=1)
    k = np.arange(n * n).reshape(n, n)
    triangles = np.concatenate(
        [
            np.stack([k[:-1, :-1], k[1:, :-1], k[1:, 1:]], -1).reshape(-1, 3),
            np.stack([k[:-1, :-1], k[1:, 1:], k[:-1, 1:]], -1).reshape(-1, 3),
        ]
    )
    corners, fewer = meshes.coarsen(points, triangles, 1500)
    assert 100 < len(fewer) <= 1500
    assert np.abs(np.ptp(corners, axis=0) - np.ptp(points, axis=0)).max() < 0.08


def test_fine_meshes_are_made_coarser(tmp_path):
    turn = np.linspace(0, 2 * np.pi, 60)
    lines = [f"v {np.cos(a) * (2 + np.cos(b))} {np.sin(a) * (2 + np.cos(b))} {np.sin(b)}" for a in turn for b in turn]
    lines += [f"f {60 * i + j + 1} {60 * i + j + 61} {60 * i + j + 62}" for i in range(59) for j in range(59)]
    (tmp_path / "ring.obj").write_text("\n".join(lines))
    (piece,) = meshes.read_mesh(tmp_path / "ring.obj", 200)
    assert 50 < len(piece.surface.triangles) <= 400


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.exe", "x", "extension should be one of"),
        ("a.obj", "", "a.obj"),
        ("a.dae", "<!DOCTYPE a [<!ENTITY b 'c'>]><COLLADA/>", "which can define entities"),
        ("b.dae", "<!DOCTYPE a [<!ENTITY b 'c'>]><COLLADA/>".encode("utf-16"), "which can define entities"),
        ("a.stl", "no triangles", "a.stl"),
        ("a.glb", "no container", "cannot be read as GLB"),
    ],
    ids=["suffix", "empty", "entities", "entities in UTF-16", "stl", "glb"],
)
def test_files_that_are_no_meshes_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError, match=message):
        meshes.read_mesh(tmp_path / name, 1000)


def test_huge_files_are_refused(tmp_path, monkeypatch):
    (tmp_path / "cube.obj").write_text(CUBE)
    monkeypatch.setattr(meshes, "MAX_TRIANGLES_READ", 3)
    with pytest.raises(FormatError, match="12 triangles, and at most 3"):
        meshes.read_mesh(tmp_path / "cube.obj", 1000)
    monkeypatch.setattr(meshes, "MAX_BYTES", 10)
    (tmp_path / "other.obj").write_text(CUBE)
    with pytest.raises(FormatError, match="MiB"):
        meshes.read_mesh(tmp_path / "other.obj", 1000)
