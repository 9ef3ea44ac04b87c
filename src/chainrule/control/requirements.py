"""Requirements of control laws: a robot with masses, gains that are not negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, real_array, refuse_nonfinite
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError, ShapeError, quoted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def gains(value: ArrayLike, length: int, what: str, of: str) -> Array:
    """Gains (..., length) from one number, from `length` numbers, or from a batch; refused if one is negative."""
    array = real_array(value, what).astype(float)
    if array.ndim == 0:
        array = np.full(length, float(array))
    if array.shape[-1] != length:
        raise ShapeError(
            f"{what} must be one number, or {length} in the last dimension ({of}), got {array.shape[-1]} in shape "
            f"{array.shape}"
        )
    refuse_nonfinite(array, what)
    if (array < 0).any():
        raise ShapeError(f"{what} must not be negative, got {array.min():.4g}: it would push away from the target")
    return array


def known_robot(robot: Mechanism, what: str, *, masses: bool = True, inverse: bool = False) -> Mechanism:
    """The robot; refused without degrees of freedom, and without masses or an invertible mass matrix where needed."""
    if not isinstance(robot, Mechanism):
        raise ShapeError(f"{what}: the first argument must be a Robot, got {robot!r:.60}")
    if not robot.nv:
        raise ModelError(f"{what}: robot {robot.name!r} has no degrees of freedom, so there is nothing to move")
    if masses and not robot.has_mass:
        raise ModelError(
            f"{what}: robot {robot.name!r} has no masses, so its dynamics is not known; give its links masses and "
            "inertias"
        )
    if masses and robot.model.constraints:
        raise ModelError(
            f"{what}: robot {robot.name!r} has closed loops, and this law knows of none; PD and PID with gravity=False "
            "do without the dynamics"
        )
    if inverse and robot.idle_joints:
        raise ModelError(
            f"{what}: the mass matrix of robot {robot.name!r} is singular, because {quoted(robot.idle_joints)} moves "
            "no mass; give its link an inertia, or the joint a rotor, or lock it"
        )
    return robot
