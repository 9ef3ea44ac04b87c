"""Files of meshes as surfaces with colors: made coarser where fine, refused when huge.

They are read through trimesh; where that is not installed, the readers of formats/meshes.py read what they can.
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.errors import FormatError
from chainrule.formats import meshes
from chainrule.formats.source import read
from chainrule.formats.xml import parse
from chainrule.shapes.surfaces import Surface, of_triangles

Color: TypeAlias = tuple[int, int, int]
"""Red, green and blue, from 0 to 255."""

Triangles = NDArray[np.int64]

READ_BY_TRIMESH = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off")
SUFFIXES = (*READ_BY_TRIMESH, ".msh")

MAX_BYTES = 96 * 1024 * 1024
"""Size of the largest file of a mesh that is drawn: 96 MiB."""

MAX_TRIANGLES_READ = 4_000_000
"""Triangles of a file beyond which it is not drawn at all."""

GRID, GRID_TRIANGLES = 48, 1500
"""Cells along the longest side of the first grid by which a mesh is made coarser, for so many triangles."""

CREASE = np.cos(np.radians(38))
"""Faces that meet at a larger angle are shaded apart, so that edges look like edges."""


class ColoredSurface(NamedTuple):
    """A surface, with its own color where the file has one."""

    surface: Surface
    color: Color | None
    opacity: float


def read_mesh(path: Path, most: int, *, creased: bool = False) -> tuple[ColoredSurface, ...]:
    """The surfaces in a file, in m, with at most about so many triangles; the last ones are kept until files change.

    With `creased`, corners are shared where faces meet smoothly, and split along edges.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise FormatError(f"cannot read {path.name}: {error.strerror}") from error
    return _read_mesh(path, status.st_mtime_ns, status.st_size, most, creased)


@lru_cache(maxsize=64)
def _read_mesh(path: Path, _changed: int, size: int, most: int, creased: bool) -> tuple[ColoredSurface, ...]:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FormatError(f"{path.name} is not drawn: its extension should be one of {', '.join(SUFFIXES)}")
    if size > MAX_BYTES:
        raise FormatError(f"{path.name} is not drawn: it has {size >> 20} MiB, and at most {MAX_BYTES >> 20} are read")
    found = _through_trimesh(path, suffix) if suffix in READ_BY_TRIMESH else _own_reader(path)
    count = sum(len(triangles) for _, triangles, _, _ in found)
    if count > MAX_TRIANGLES_READ:
        raise FormatError(f"{path.name} is not drawn: it has {count} triangles, and at most {MAX_TRIANGLES_READ} are")
    if not count:
        raise FormatError(f"{path.name} has no triangles")
    pieces = []
    for corners, triangles, color, opacity in found:
        if len(triangles):
            if count > most:
                corners, triangles = coarsen(corners, triangles, max(most * len(triangles) // count, 60))
            surface = _split_at_creases(corners, triangles) if creased else of_triangles(corners, triangles)
            pieces.append(ColoredSurface(surface, color, opacity))
    return tuple(pieces)


_Raw = list[tuple[Array, Triangles, Color | None, float]]


def _own_reader(path: Path) -> _Raw:
    mesh = meshes.load(path)
    if len(mesh.points) and not mesh.triangles.size:
        mesh = mesh.hull()
    return [(mesh.points, mesh.triangles, None, 1.0)]


def _through_trimesh(path: Path, suffix: str) -> _Raw:
    try:
        import trimesh
    except ImportError:
        return _own_reader(path)
    content, source, _ = read(path)
    if suffix == ".dae":
        parse(content, source)  # refuses entities, in any encoding
    try:
        # such files name others beside them, with colors or corners; trimesh lets them name none elsewhere
        resolver = trimesh.resolvers.FilePathResolver(str(path)) if suffix in (".obj", ".gltf") else None
        scene = trimesh.load_scene(BytesIO(content), file_type=suffix[1:], resolver=resolver)
        unit = _unit(scene)
        parts = [part for part in scene.dump() if isinstance(part, trimesh.Trimesh)]
    except FormatError:
        raise
    except Exception as error:  # trimesh and its readers raise anything at all on files that are broken
        raise FormatError(f"{source} is not drawn: it cannot be read as {suffix[1:].upper()} ({error})") from error
    found: _Raw = []
    for part in parts:
        part.merge_vertices(merge_tex=True, merge_norm=True)
        corners = np.asarray(part.vertices, dtype=float) * unit
        if not np.isfinite(corners).all():
            raise FormatError(f"{source} has a vertex that is not finite")
        found.append((corners, np.asarray(part.faces, dtype=np.int64), *_color_of(part)))
    return found if found or suffix != ".obj" else _own_reader(path)  # corners alone stand for their hull


def _unit(scene: Any) -> float:
    """The length of a file's unit, in m, as COLLADA files give it: "0.01 * meters"."""
    text = str(scene.metadata.get("units") or "").partition("*")[0].strip()
    try:
        unit = float(text)
    except ValueError:
        return 1.0
    return unit if np.isfinite(unit) and unit > 0 else 1.0


def _color_of(part: Any) -> tuple[Color | None, float]:
    """The color and opacity of a part, where its file gives one."""
    visual = part.visual
    if not visual.defined:
        return None, 1.0
    try:
        rgba = np.asarray(visual.main_color if visual.kind in ("face", "vertex") else visual.material.main_color)
    except (AttributeError, ValueError, IndexError):
        return None, 1.0
    red, green, blue = (int(x) for x in rgba[:3])
    opacity = float(rgba[3]) / 255 if len(rgba) > 3 else 1.0
    return (red, green, blue), opacity if opacity > 0 else 1.0


def coarsen(points: Array, triangles: Triangles, most: int) -> tuple[Array, Triangles]:
    """Corners and at most about so many triangles of a mesh: corners are moved to ever coarser grids."""
    cells = int(GRID * (most / GRID_TRIANGLES) ** 0.5)
    while len(triangles) > most and cells > 3:
        points, triangles = _coarser(points, triangles, cells)
        cells = int(cells / 1.5)
    return points, triangles


def _coarser(points: Array, triangles: Triangles, cells: int) -> tuple[Array, Triangles]:
    """Corners that share a cell of a grid become one, their mean; triangles that vanish are left out."""
    low, size = points.min(axis=0), max(float(np.ptp(points, axis=0).max()), 1e-12)
    keys = np.floor((points - low) / size * cells).astype(np.int64)
    _, which, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    sums = np.zeros((len(counts), 3))
    np.add.at(sums, which, points)
    new = which[triangles]
    real = (new[:, 0] != new[:, 1]) & (new[:, 1] != new[:, 2]) & (new[:, 0] != new[:, 2])
    new = new[real]
    _, first = np.unique(np.sort(new, axis=1), axis=0, return_index=True)
    return sums / counts[:, None], new[np.sort(first)]


def _split_at_creases(corners: Array, triangles: Triangles) -> Surface:
    """A surface whose corners are shared where faces meet smoothly, and split along edges."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b, c = (corners[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    normals /= np.where(size > 0, size, 1.0)
    # the three edges of each triangle, as (face, place of the first corner, place of the second)
    faces = np.tile(np.arange(len(triangles)), 3)
    first, second = np.repeat([0, 1, 2], len(triangles)), np.repeat([1, 2, 0], len(triangles))
    start, end = triangles[faces, first], triangles[faces, second]
    key = np.minimum(start, end) * len(corners) + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    one, two = order[:-1], order[1:]
    meet = key[one] == key[two]
    one, two = one[meet], two[meet]
    soft = np.einsum("ij,ij->i", normals[faces[one]], normals[faces[two]]) > CREASE
    one, two = one[soft], two[soft]
    same = start[one] == start[two]  # neighbors usually run along their edge in opposite directions
    corner_one = np.concatenate([3 * faces[one] + first[one], 3 * faces[one] + second[one]])
    partner_of_first = np.where(same, first[two], second[two])
    partner_of_second = np.where(same, second[two], first[two])
    corner_two = np.concatenate([3 * faces[two] + partner_of_first, 3 * faces[two] + partner_of_second])
    graph = coo_array((np.ones(len(corner_one)), (corner_one, corner_two)), shape=(triangles.size, triangles.size))
    count, labels = connected_components(graph, directed=False)
    places = np.zeros(count, dtype=np.int64)
    places[labels] = triangles.reshape(-1)
    return of_triangles(corners[places], labels.reshape(-1, 3).astype(np.int64))
