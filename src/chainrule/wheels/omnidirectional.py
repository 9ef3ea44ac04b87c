"""Bases that move in any direction: omniwheels and mecanum wheels, whose rollers let them slide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, real_array, refuse_nonfinite, rows_of
from chainrule.errors import ModelError, ShapeError
from chainrule.kinematics.tasks import RANK_TOLERANCE
from chainrule.wheels.bases import Base, positive_parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class Omnidirectional(Base):
    """A base on wheels with rollers; controls are the wheels' speeds, in rad/s.

    `placing` (wheels, 4): x and y of each wheel in m, the angle beta in which it drives, and the angle gamma of its
    free sliding off its axle, 0 for omniwheels and +-45 degrees for mecanum wheels, in rad. Lynch & Park, section 13.2:
    u_i = (cos(beta + gamma), sin(beta + gamma)) . (vx - y omega, vy + x omega) / (radius cos gamma).
    """

    radius: float
    placing: Array

    directions = np.eye(3)

    def __post_init__(self) -> None:
        positive_parameter(self.radius, "the wheels' radius")
        placing = real_array(self.placing, "placing")
        if placing.ndim != 2 or placing.shape[1] != 4:
            raise ShapeError(f"placing must have a row (x, y, beta, gamma) for each wheel, got shape {placing.shape}")
        refuse_nonfinite(placing, "placing")
        if np.linalg.matrix_rank(self.matrix, tol=RANK_TOLERANCE * np.abs(self.matrix).max(initial=0.0)) < 3:
            raise ModelError(
                "these wheels do not settle the motion of the base; it takes three that drive different ways"
            )

    @staticmethod
    def mecanum(radius: float, length: float, width: float) -> Omnidirectional:
        """Four mecanum wheels, front left, front right, rear right, rear left; length and width between their axes.

        >>> base = Omnidirectional.mecanum(radius=0.1, length=0.6, width=0.4)
        >>> base.wheel_speeds([0.0, 1.0, 0.0]).round(9).tolist()
        [-10.0, 10.0, -10.0, 10.0]
        """
        l, w, tilt = positive_parameter(length, "length") / 2, positive_parameter(width, "width") / 2, np.pi / 4
        return Omnidirectional(
            radius, np.array([[l, w, 0, -tilt], [l, -w, 0, tilt], [-l, -w, 0, -tilt], [-l, w, 0, tilt]])
        )

    @staticmethod
    def three_wheels(radius: float, distance: float) -> Omnidirectional:
        """Three omniwheels at 90, -30 and 210 degrees around the middle, `distance` from it; each drives clockwise."""
        at = np.radians([90.0, -30.0, 210.0])
        d = positive_parameter(distance, "distance")
        return Omnidirectional(radius, np.stack([d * np.cos(at), d * np.sin(at), at - np.pi / 2, 0 * at], axis=1))

    @property
    def matrix(self) -> Array:
        """H with H (vx, vy, omega) the wheel speeds: (wheels, 3)."""
        x, y, beta, gamma = np.asarray(self.placing, dtype=float).T
        c, s = np.cos(beta + gamma), np.sin(beta + gamma)
        return np.stack([c, s, x * s - y * c], axis=1) / (self.radius * np.cos(gamma))[:, None]

    def wheel_speeds(self, twist: ArrayLike) -> Array:
        """The wheel speeds, in rad/s, of a body twist (vx, vy, omega): (..., wheels)."""
        return rows_of(twist, 3, "Omnidirectional: twist", "vx, vy, omega") @ self.matrix.T

    def twist(self, controls: ArrayLike) -> Array:
        """The body twist that comes nearest to the wheel speeds, by least squares."""
        return self._read(controls, "wheel speeds") @ np.linalg.pinv(self.matrix).T

    def twist_jacobian(self, controls: ArrayLike) -> Array:
        """The derivative of the twist, which is constant: (..., 3, wheels)."""
        inverse = np.linalg.pinv(self.matrix)
        return np.broadcast_to(inverse, (*self._read(controls).shape[:-1], *inverse.shape))

    def slip(self, speeds: ArrayLike) -> Array:
        """The excess speed of each wheel over rolling without slip, in rad/s: (..., wheels); zero for three wheels."""
        u = self._read(speeds, "wheel speeds")
        return u - self.wheel_speeds(self.twist(u))

    def _names(self) -> tuple[str, ...]:
        return tuple(f"wheel {i + 1}" for i in range(len(self.placing)))
