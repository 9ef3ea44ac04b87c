"""Motions of a study: samples at a uniform rate, with what is in the hand and what the hand meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.control.motions.curves import Curve

if TYPE_CHECKING:
    from chainrule.robot.bodies import RigidBody
    from chainrule.simulation.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Grasp:
    """An object in the hand during a part of a motion; the body is given in the frame of the end-effector."""

    name: str
    body: RigidBody
    during: NDArray[np.bool_]
    """For each sample (T,)."""


@dataclass(frozen=True, eq=False)
class Motion:
    """One motion: times (T,), and angles, speeds and accelerations (T, n), in SI units."""

    activity: str
    t: Array
    q: Array
    qd: Array
    qdd: Array
    grasps: tuple[Grasp, ...] = ()
    contact: Array | None = None
    """The wrench (moment, force) that the end-effector applies to its surroundings, in the axes of the base (T, 6)."""
    synthetic: bool = False
    """Whether the motion was made from way-points, not measured."""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.t)

    @property
    def duration(self) -> float:
        """In s."""
        return float(self.t[-1] - self.t[0])

    @staticmethod
    def of(trajectory: Trajectory, activity: str, **options: object) -> Motion:
        """A recorded or simulated trajectory."""
        arrays = (trajectory.t, trajectory.q, trajectory.qd, trajectory.qdd)
        return Motion(activity, *arrays, notes=trajectory.notes, **options)  # type: ignore[arg-type]


def sample(curve: Curve, rate: float) -> tuple[Array, Array, Array, Array]:
    """Times, and a curve with its first two derivatives there, from its beginning to its end at `rate` samples a second.

    Piece by piece a table of powers times the coefficients, which is several times faster than a general evaluation.
    """
    start, end = curve.x[0], curve.x[-1]
    t = start + np.arange(int(np.floor((end - start) * rate + 1e-9)) + 1) / rate
    piece = np.clip(np.searchsorted(curve.x, t, side="right") - 1, 0, len(curve.x) - 2)
    bounds = np.searchsorted(piece, np.arange(len(curve.x)))
    degree, _, n = curve.c.shape
    powers = np.arange(degree - 1, -1, -1)
    out = np.empty((3, len(t), n))
    for i, (a, b) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        u = np.vander(t[a:b] - curve.x[i], degree)
        c, dc = curve.c[:, i], curve.c[:-1, i] * powers[:-1, None]
        ddc = dc[:-1] * powers[1:-1, None]
        out[0, a:b] = u @ c
        out[1, a:b] = u[:, 1:] @ dc
        out[2, a:b] = u[:, 2:] @ ddc
    return (t, *out)
