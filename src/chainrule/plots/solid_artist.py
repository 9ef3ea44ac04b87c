"""The artist of solid bodies in space: faces that look away from the viewer are left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.proj3d import proj_transform

from chainrule.arguments import Array


class SolidFaces(Poly3DCollection):  # type: ignore[misc]
    """Faces of four corners, counter-clockwise seen from outside; those of closed solids are seen from there only.

    Matplotlib draws faces from back to front by their centers. Thin plates would show through: so their far sides are
    not drawn at all.
    """

    def __init__(self, **style: Any) -> None:
        super().__init__(np.zeros((1, 4, 3)), **style)
        self.all_faces: Array = np.zeros((1, 4, 3))
        self.all_colors: Array = np.zeros((1, 4))
        self.all_closed: Any = np.zeros(1, dtype=bool)

    def set_faces(self, faces: Array, colors: Array, closed: Any) -> None:
        """Show faces (m, 4, 3) with colors (m, 4); `closed` (m,) says which belong to closed solids."""
        self.all_faces, self.all_colors, self.all_closed = faces, colors, closed
        self._show(np.ones(len(faces), dtype=bool))

    def _show(self, chosen: Any) -> None:
        self.set_verts(self.all_faces[chosen])
        self.set_facecolor(self.all_colors[chosen])
        self.set_edgecolor(self.all_colors[chosen])

    def do_3d_projection(self) -> Any:
        """Leave out the faces that look away, and project the others."""
        if self.axes is not None and len(self.all_faces):
            x, y, _ = proj_transform(*self.all_faces.reshape(-1, 3).T, self.axes.get_proj())
            x, y = np.reshape(x, (-1, 4)), np.reshape(y, (-1, 4))
            area = ((np.roll(y, -1, axis=1) - np.roll(y, 1, axis=1)) * x).sum(axis=1)
            front = (area > 0) | ~self.all_closed
            self._show(front if front.any() else np.ones(len(front), dtype=bool))
        return super().do_3d_projection()
