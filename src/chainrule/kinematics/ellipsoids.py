"""Ellipsoids of what a frame can do: velocities, forces and accelerations for joint vectors of unit length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array

KINDS = ("velocity", "force", "acceleration")


@dataclass(frozen=True)
class Ellipsoid:
    """Principal axes and their lengths, longest first for velocities and accelerations, shortest first for forces.

    `axes` (..., m, m) has a unit axis in each column, in base axes; `lengths` (..., m) the semi-axes, in the unit of
    the quantity for each unit of joint velocity or torque; m is 3, or 6 with the angular part first.
    """

    kind: str
    part: str
    axes: Array
    lengths: Array

    @property
    def volume(self) -> Array:
        """The product of the lengths, which is the manipulability: (...)."""
        return np.asarray(self.lengths.prod(axis=-1))

    def along(self, direction: Array) -> Array:
        """The distance from the centre to the surface in a direction (..., m): 1 / |axes^T d / lengths|."""
        d = np.asarray(direction, dtype=float)
        d = d / np.linalg.norm(d, axis=-1, keepdims=True)
        parts = np.einsum("...ij,...i->...j", self.axes, d)
        with np.errstate(all="ignore"):
            ratios = np.where(np.abs(parts) < 1e-12, 0.0, parts / self.lengths)
            return np.asarray(1.0 / np.linalg.norm(ratios, axis=-1))

    def points(self, around: int = 41, up: int = 21) -> Array:
        """A net of points on the surface of an ellipsoid in space, about its centre: (around, up, 3)."""
        azimuth, polar = np.meshgrid(np.linspace(0, 2 * np.pi, around), np.linspace(0, np.pi, up), indexing="ij")
        sphere = np.stack([np.cos(azimuth) * np.sin(polar), np.sin(azimuth) * np.sin(polar), np.cos(polar)], axis=-1)
        return (sphere * self.lengths) @ self.axes.T
