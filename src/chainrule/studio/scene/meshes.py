"""Files of meshes as surfaces with colors: read through trimesh, made coarser where fine, refused when huge."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import FormatError
from chainrule.formats import meshes
from chainrule.formats.source import read
from chainrule.plots.solids import coarsen
from chainrule.studio.scene.appearance import Color
from chainrule.studio.scene.surfaces import Surface, Triangles

READ_BY_TRIMESH = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off")
SUFFIXES = (*READ_BY_TRIMESH, ".msh")

MAX_BYTES = 96 * 1024 * 1024
"""Size of the largest file of a mesh that is drawn: 96 MiB."""

MAX_TRIANGLES_READ = 4_000_000
"""Triangles of a file beyond which it is not drawn at all."""

MAX_TRIANGLES_DRAWN = 24_000
"""Triangles of one mesh that are sent to the page; a finer one is made coarser."""

CREASE = np.cos(np.radians(38))
"""Faces that meet at a larger angle are shaded apart, so that edges look like edges."""


class ColoredSurface(NamedTuple):
    """A surface, with its own color where the file has one."""

    surface: Surface
    color: Color | None
    opacity: float


def read_mesh(path: Path) -> tuple[ColoredSurface, ...]:
    """The surfaces in a file, in m; the last files read are kept for all tabs, until they change."""
    try:
        status = path.stat()
    except OSError as error:
        raise FormatError(f"cannot read {path.name}: {error.strerror}") from error
    return _read_mesh(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _read_mesh(path: Path, _changed: int, size: int) -> tuple[ColoredSurface, ...]:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FormatError(f"{path.name} is not drawn: its extension should be one of {', '.join(SUFFIXES)}")
    if size > MAX_BYTES:
        raise FormatError(f"{path.name} is not drawn: it has {size >> 20} MiB, and at most {MAX_BYTES >> 20} are read")
    found = _own_reader(path) if suffix == ".msh" else _through_trimesh(path, suffix)
    count = sum(len(triangles) for _, triangles, _, _ in found)
    if count > MAX_TRIANGLES_READ:
        raise FormatError(f"{path.name} is not drawn: it has {count} triangles, and at most {MAX_TRIANGLES_READ} are")
    if not count:
        raise FormatError(f"{path.name} has no triangles")
    share = min(1.0, MAX_TRIANGLES_DRAWN / count)
    return tuple(
        ColoredSurface(_smooth(*_coarse(corners, triangles, share)), color, opacity)
        for corners, triangles, color, opacity in found
        if len(triangles)
    )


_Raw = list[tuple[Array, Triangles, Color | None, float]]


def _own_reader(path: Path) -> _Raw:
    mesh = meshes.load(path)
    return [(mesh.points, mesh.triangles, None, 1.0)]


def _through_trimesh(path: Path, suffix: str) -> _Raw:
    import trimesh

    content, source, _ = read(path)
    if suffix == ".dae" and (b"<!DOCTYPE" in content or b"<!ENTITY" in content):
        raise FormatError(f"{source} is not drawn: it defines entities, which no mesh needs")
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
    return found


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


def _coarse(corners: Array, triangles: Triangles, share: float) -> tuple[Array, Triangles]:
    return (corners, triangles) if share >= 1 else coarsen(corners, triangles, max(int(share * len(triangles)), 60))


def _smooth(corners: Array, triangles: Triangles) -> Surface:
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
    same = start[one] == start[two]  # neighbours usually run along their edge in opposite directions
    corner_one = np.concatenate([3 * faces[one] + first[one], 3 * faces[one] + second[one]])
    partner_of_first = np.where(same, first[two], second[two])
    partner_of_second = np.where(same, second[two], first[two])
    corner_two = np.concatenate([3 * faces[two] + partner_of_first, 3 * faces[two] + partner_of_second])
    graph = coo_array((np.ones(len(corner_one)), (corner_one, corner_two)), shape=(triangles.size, triangles.size))
    count, labels = connected_components(graph, directed=False)
    places = np.zeros(count, dtype=np.int64)
    places[labels] = triangles.reshape(-1)
    return Surface(corners[places], labels.reshape(-1, 3).astype(np.int64))
