"""What is asked of a robot and of gains before they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, real_array, refuse_nonfinite
from chainrule.core.validation import has_mass, idle_joints
from chainrule.errors import ModelError, ShapeError, shown
from chainrule.model import edits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot


def gains(value: ArrayLike, length: int, what: str, of: str) -> Array:
    """Gains (..., length) from a number, from so many numbers, or from a batch of such rows; none is negative."""
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


def known_robot(robot: Robot, what: str, *, masses: bool = True, inverse: bool = False) -> Robot:
    """The robot, if it is one, with masses where these are needed, and with an invertible mass matrix."""
    from chainrule.robot.robot import Robot

    if not isinstance(robot, Robot):
        raise ShapeError(f"{what}: the first argument must be a Robot, got {robot!r:.60}")
    if not robot.nv:
        raise ModelError(f"{what}: robot {robot.name!r} has no degrees of freedom, so there is nothing to move")
    merged = edits.merge_fixed(robot.model)
    if masses and not has_mass(merged):
        raise ModelError(
            f"{what}: robot {robot.name!r} has no masses, so its dynamics is not known; give its links masses and "
            "inertias"
        )
    if masses and merged.constraints:
        raise ModelError(
            f"{what}: robot {robot.name!r} has closed loops, and this law knows of none; PD and PID with gravity=False "
            "do without the dynamics"
        )
    idle = idle_joints(merged) if inverse else []
    if idle:
        raise ModelError(
            f"{what}: the mass matrix of robot {robot.name!r} is singular, because {shown(idle)} moves no mass; give "
            "its link an inertia, or the joint a rotor, or lock it"
        )
    return robot
