"""An axis of a link that keeps its direction: how far it is tilted, and the nearest configurations where it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.kinematics.poses import jacobian, pose
from chainrule.kinematics.tasks import pseudo_inverse

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

LEVER_M = 0.1
"""The length, in m, that an angle is multiplied by to be looked at as a clearance."""
INNER = 0.5
"""The share of the angle within which a configuration is brought."""
STEPS = 6
DAMPING = 1e-3


@dataclass(frozen=True)
class Upright:
    """The demand that an axis of a link, a unit vector in its frame, stays within an angle of a direction (rad)."""

    robot: Mechanism
    link: str | None
    axis: Array
    direction: Array
    angle: float

    def _axis(self, q: Array) -> Array:
        return np.asarray(pose(self.robot, q, self.link)[..., :3, :3] @ self.axis)

    def tilt(self, q: Array) -> Array:
        """The angle of the axis from its direction (...,)."""
        now = self._axis(q)
        return np.asarray(np.arctan2(np.linalg.norm(np.cross(now, self.direction), axis=-1), now @ self.direction))

    def room(self, q: Array) -> Array:
        """The rest of the angle as a length (...,): times the lever."""
        return np.asarray(LEVER_M * (self.angle - self.tilt(q)))

    def reach(self, q: Array) -> Array:
        """The largest change of the room for each unit of a coordinate (n,), at configurations (k, nq)."""
        rates = np.linalg.norm(jacobian(self.robot, q, self.link)[:, :3], axis=1)
        return np.asarray(LEVER_M * rates.max(axis=0))

    def project(self, q: Array) -> Array:
        """Configurations (k, n) near to others and within limits, in which the axis is tilted less if there are any."""
        lower, upper = self.robot.limits.lower, self.robot.limits.upper
        for _ in range(STEPS):
            now = self._axis(q)
            turn = np.cross(now, self.direction)
            sine = np.linalg.norm(turn, axis=-1)
            tilt = np.arctan2(sine, now @ self.direction)
            if (tilt <= INNER * self.angle).all():
                break
            less = np.maximum(tilt - 0.9 * INNER * self.angle, 0.0)
            turn *= (less / np.maximum(sine, 1e-9))[:, None]
            J = jacobian(self.robot, q, self.link)[:, :3]
            J = J - now[:, :, None] * (now[:, None] @ J)  # turns about the axis do not count
            q = np.clip(q + (pseudo_inverse(J, DAMPING) @ turn[..., None])[..., 0], lower, upper)
        return q
