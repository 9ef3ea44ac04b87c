"""The joint axes of an arm in the base frame, with all joints at zero: the data of closed forms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainrule.algorithms.jacobians import jacobian
from chainrule.algorithms.kinematics import pose
from chainrule.arguments import Array
from chainrule.errors import ModelError
from chainrule.inverse_kinematics.periods import is_revolute
from chainrule.kinematics.tasks import RANK_TOLERANCE
from chainrule.lazy import cached_property
from chainrule.model import Model

AXIS_TOLERANCE = 1e-9
"""Axes count as parallel up to this angle, in rad, and as meeting up to this distance, in parts of the arm's size."""


@dataclass(frozen=True)
class JointAxes:
    """Revolute joints in a row: unit directions h (n, 3), a point o (n, 3) on each, and the link's pose M at home.

    T = e^[S1]q1 .. e^[Sn]qn M, with the screws S = (h, o x h) (Lynch & Park, eq. 4.14).
    """

    h: Array
    o: Array
    M: Array
    places: tuple[int, ...]
    """The places of the joints' coordinates in q."""
    scales: Array
    """Radians for each unit of a coordinate."""

    @property
    def count(self) -> int:
        """The number of joints."""
        return len(self.h)

    @cached_property
    def size(self) -> float:
        """The size of the arm, roughly, in m."""
        return max(1e-3, float(np.abs(np.vstack([self.o, self.M[None, :3, 3]])).max()))

    def parallel(self, *joints: int) -> bool:
        """Whether the axes of these joints are parallel."""
        first = self.h[joints[0]]
        return all(float(np.linalg.norm(np.cross(first, self.h[j]))) < AXIS_TOLERANCE for j in joints[1:])

    def common_point(self, *joints: int) -> Array | None:
        """The point where axes meet, or None."""
        rows = [np.eye(3) - np.outer(self.h[j], self.h[j]) for j in joints]
        A, b = np.vstack(rows), np.concatenate([row @ self.o[j] for row, j in zip(rows, joints, strict=True)])
        point, _, rank, _ = np.linalg.lstsq(A, b, rcond=RANK_TOLERANCE)
        meets = rank == 3 and float(np.abs(A @ point - b).max()) < AXIS_TOLERANCE * self.size
        return point if meets else None


def axes_of(model: Model, link: str, where: str) -> JointAxes:
    """The axes of the joints between the base and a link; refused if one of them is not revolute."""
    index, _ = model.locate(link)
    bodies = [body for body in model.ancestors(index) if body.joint.kind.nv]
    for body in bodies:
        if not is_revolute(body.joint.kind) or body.joint.mimic:
            raise ModelError(
                f"{where}: joint {body.joint.name!r} of robot {model.name!r} does more than turn about "
                f"an axis ({body.joint.type}), or follows another; robot.inverse_kinematics solves the arm numerically"
            )
    home = model.layout.neutral
    columns = jacobian(model, home, link, "space")
    w = np.array([list(columns[body.first_v].angular) for body in bodies], dtype=float).reshape(-1, 3)
    v = np.array([list(columns[body.first_v].linear) for body in bodies], dtype=float).reshape(-1, 3)
    scales = np.linalg.norm(w, axis=1)
    points = np.cross(w, v) / scales[:, None] ** 2
    M = np.array(pose(model, home, link).rows(), dtype=float)
    return JointAxes(w / scales[:, None], points, M, tuple(body.first_q for body in bodies), scales)
