"""Triangle meshes for pictures: readers of STL, OBJ and MSH files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.errors import FormatError
from chainrule.formats.source import read

Points = NDArray[np.float64]
Triangles = NDArray[np.int64]

MAX_INDEX_DIGITS = 18
"""Digits of the largest number of a vertex: with more it would not fit into 64 bits."""

_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
"""A triangle of a binary STL file, 50 bytes."""


@dataclass(frozen=True)
class TriangleMesh:
    """Corners (n, 3), and triangles (m, 3) of indices into them, counter-clockwise seen from outside.

    A cloud of points without triangles stands for its convex hull.
    """

    points: Points
    triangles: Triangles

    def hull(self) -> TriangleMesh:
        """The convex hull."""
        from scipy.spatial import ConvexHull, QhullError

        try:
            found = ConvexHull(self.points)
        except (QhullError, ValueError) as error:
            raise FormatError("has no convex hull: its points are too few, or lie in one plane") from error
        triangles = found.simplices.astype(np.int64)
        a, b, c = (self.points[triangles[:, k]] for k in range(3))
        inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0
        triangles[inward] = triangles[inward][:, ::-1]
        return TriangleMesh(self.points, triangles)


def load(path: Path) -> TriangleMesh:
    """The mesh in a file, by the file's extension."""
    readers = {".stl": from_stl, ".obj": from_obj, ".msh": from_msh}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise FormatError(f"{path.name} is not a mesh that can be read: its extension should be {', '.join(readers)}")
    content, source, _ = read(path)
    mesh = reader(content, source)
    if not np.isfinite(mesh.points).all():
        raise FormatError(f"{source} has a vertex that is not finite")
    if mesh.triangles.size and not 0 <= mesh.triangles.min() <= mesh.triangles.max() < len(mesh.points):
        raise FormatError(f"{source} has a triangle with a corner that is not among its {len(mesh.points)} vertices")
    return mesh


def from_stl(content: bytes, source: str) -> TriangleMesh:
    """An STL file, binary or text. Corners at the same place become one vertex."""
    count = int.from_bytes(content[80:84], "little")
    if len(content) == 84 + _FACET.itemsize * count and count:
        corners = _as_doubles(np.frombuffer(content, _FACET, count, 84)["corners"].reshape(-1, 3))
    elif content.lstrip().startswith(b"solid"):
        words = content.split()
        starts = [i + 1 for i, word in enumerate(words) if word == b"vertex"]
        corners = _numbers([words[i : i + 3] for i in starts], source)
    else:
        raise FormatError(
            f"{source} is not STL: {len(content)} bytes do not fit the {count} triangles that it announces"
        )
    if len(corners) % 3 or not len(corners):
        raise FormatError(
            f"{source} is not STL: it has {len(corners)} corners, which make no whole number of triangles"
        )
    points, triangles = np.unique(corners, axis=0, return_inverse=True)
    return TriangleMesh(points, triangles.reshape(-1, 3).astype(np.int64))


def from_obj(content: bytes, source: str) -> TriangleMesh:
    """A Wavefront OBJ file: its v and f lines; polygons are split into triangles from their first corner."""
    vertices: list[list[bytes]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in content.splitlines():
        words = line.split(b"#")[0].split()
        if words and words[0] == b"v":
            vertices.append(words[1:4])
        elif words and words[0] == b"f":
            try:
                corners = [_index(word.split(b"/")[0]) for word in words[1:]]
            except ValueError:
                raise FormatError(
                    f"{source} has a face {line[:60].decode(errors='replace')!r} that cannot be read"
                ) from None
            ends = [i - 1 if i > 0 else len(vertices) + i for i in corners]
            triangles += [(ends[0], b, c) for b, c in pairwise(ends[1:])]
    return TriangleMesh(_numbers(vertices, source), np.array(triangles, dtype=np.int64).reshape(-1, 3))


def from_msh(content: bytes, source: str) -> TriangleMesh:
    """MuJoCo's own binary MSH: four counts, then vertices, normals, texture coordinates and triangles."""
    if len(content) < 16:
        raise FormatError(f"{source} is not MSH: it should begin with four counts, and has {len(content)} bytes")
    counts = np.frombuffer(content, "<i4", 4).astype(np.int64)
    if (counts < 0).any() or len(content) != 16 + int(counts @ [12, 12, 8, 12]):
        raise FormatError(f"{source} is not MSH: {len(content)} bytes do not fit the counts that it begins with")
    vertices, normals, texture, faces = (int(n) for n in counts)
    points = _as_doubles(np.frombuffer(content, "<f4", 3 * vertices, 16).reshape(-1, 3))
    after = 16 + 12 * (vertices + normals) + 8 * texture
    return TriangleMesh(points, np.frombuffer(content, "<i4", 3 * faces, after).reshape(-1, 3).astype(np.int64))


def _as_doubles(array: NDArray[Any]) -> NDArray[np.float64]:
    """Single-precision numbers as doubles; a signalling nan stays a nan, and is refused later."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def _index(word: bytes) -> int:
    """A vertex's number in an OBJ file: from 1 on, or counted back from -1."""
    if len(word) > MAX_INDEX_DIGITS or b"_" in word or not (index := int(word)):
        raise ValueError
    return index


def _numbers(rows: list[list[bytes]], source: str) -> Points:
    try:
        if any(b"_" in x for row in rows for x in row):  # which float() takes for digits, and no other reader does
            raise ValueError
        return np.array([[float(x) for x in row] for row in rows], dtype=np.float64).reshape(len(rows), 3)
    except ValueError:
        raise FormatError(f"{source} has a vertex that is not three numbers") from None
