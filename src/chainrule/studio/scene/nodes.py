"""Surfaces and rotations as viser takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.shapes.surfaces import Surface
from chainrule.studio.scene.appearance import Color

if TYPE_CHECKING:
    from viser import SceneApi


def arrays_of(surface: Surface) -> tuple[Any, Any]:
    """Corners and triangles of a surface, of the types that are sent to the page."""
    shaded = surface.for_shading()
    return shaded.corners.astype(np.float32), shaded.triangles.astype(np.uint32)


def add_surface(scene: SceneApi, name: str, surface: Surface, color: Color, **options: Any) -> Any:
    """A node with a surface of one color."""
    return scene.add_mesh_simple(name, *arrays_of(surface), color=color, **options)


def quaternions(rotations: Array) -> Array:
    """Unit quaternions (..., 4), w first as viser has them, of rotation matrices (..., 3, 3)."""
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_quat(scalar_first=True)
    return np.asarray(flat.reshape(*rotations.shape[:-2], 4))
