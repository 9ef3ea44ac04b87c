"""Ellipsoids of what a frame can do: velocities, forces and accelerations for joint vectors of unit length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.arguments import Array, unit_vectors, whole_number
from chainrule.display.text import FieldsShown
from chainrule.errors import ShapeError

KINDS = ("velocity", "force", "acceleration")

MAX_NET = 10_000
"""Points of a net around the surface, and up along it, at most."""


@dataclass(frozen=True, repr=False)
class ManipulabilityEllipsoid(FieldsShown):
    """Principal axes and their lengths, longest first for velocities and accelerations, shortest first for forces.

    `axes` (..., m, m) has a unit axis in each column, in base axes; `lengths` (..., m) the semi-axes, in the unit of
    the quantity for each unit of joint velocity or torque; m is 3, or 6 with the angular part first. Those of a list of
    postures are one object, with one for each posture: `ellipsoid[k]`, or `for one in ellipsoid`.
    """

    kind: str
    task: str
    axes: Array
    lengths: Array
    rank: int
    """In how many directions the frame can move: further lengths, of a planar arm out of its plane, are always zero."""

    @property
    def volume(self) -> Array:
        """The product of the first `rank` lengths: (...). Of velocities it is the manipulability for the same task."""
        return np.asarray(self.lengths[..., : self.rank].prod(axis=-1))

    def __len__(self) -> int:
        if self.lengths.ndim < 2:
            raise TypeError("an ellipsoid of one posture has no length; those of a list of postures have")
        return len(self.lengths)

    def __getitem__(self, index: Any) -> ManipulabilityEllipsoid:
        """The ellipsoid of one posture of a list, or of several."""
        if self.lengths.ndim < 2:
            raise TypeError("this is the ellipsoid of one posture; pass a list of postures for several")
        return ManipulabilityEllipsoid(self.kind, self.task, self.axes[index], self.lengths[index], self.rank)

    def along(self, direction: Array) -> Array:
        """The distance from the center to the surface in a direction (..., m): 1 / |axes^T d / lengths|."""
        d = unit_vectors(direction, self.axes.shape[-1], "along: direction", "a number for each axis")
        try:
            parts = np.einsum("...ij,...i->...j", self.axes, d)
        except ValueError:
            raise ShapeError(
                f"along: the batches of direction {d.shape} and of the axes {self.axes.shape} do not fit together"
            ) from None
        with np.errstate(all="ignore"):
            ratios = np.where(np.abs(parts) < 1e-12, 0.0, parts / self.lengths)
            return np.asarray(1.0 / np.linalg.norm(ratios, axis=-1))

    def points(self, around: int = 41, up: int = 21) -> Array:
        """A net of points on the surface of each ellipsoid in space, about its center: (..., around, up, 3)."""
        if self.axes.shape[-2:] != (3, 3):
            raise ShapeError(f"points: the ellipsoid must be one of three axes, got axes of shape {self.axes.shape}")
        meridians = np.linspace(0, 2 * np.pi, whole_number(around, "points: around", 2, MAX_NET))
        parallels = np.linspace(0, np.pi, whole_number(up, "points: up", 2, MAX_NET))
        azimuth, polar = np.meshgrid(meridians, parallels, indexing="ij")
        sphere = np.stack([np.cos(azimuth) * np.sin(polar), np.sin(azimuth) * np.sin(polar), np.cos(polar)], axis=-1)
        return (sphere * self.lengths[..., None, None, :]) @ np.swapaxes(self.axes, -1, -2)[..., None, :, :]
