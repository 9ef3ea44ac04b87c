"""Requirements of control laws: a robot with masses, gains that are not negative, joints with motors."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from chainrule.arguments import Array, flag, real_array, refuse_nonfinite
from chainrule.core.derived import driven_velocities, has_moving_mass, massless_joints
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_velocities
from chainrule.errors import ModelError, ModelWarning, ShapeError, quoted, short_repr
from chainrule.model.elastic import elastic_joints

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


Actuated: TypeAlias = "Sequence[str] | bool | None"
"""The joints with motors, by name; True for all; None for all but free joints and those with an effort limit of 0."""


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
        raise ShapeError(f"{what} must not be negative, got {array.min():.4g}")
    return array


def known_robot(
    robot: Mechanism, what: str, *, masses: bool = True, inverse: bool = False, loops: bool = False
) -> Mechanism:
    """The robot; refused without degrees of freedom, and without masses or an invertible mass matrix where needed.

    loops: whether the law that needs masses knows what to do with closed loops.
    """
    if not isinstance(robot, Mechanism):
        view = "; a view is no robot: angles are in radians here, np.radians(...)" * hasattr(robot, "called")
        raise ShapeError(f"{what}: the first argument must be a Robot, got {short_repr(robot)}{view}")
    if not robot.nv:
        raise ModelError(f"{what}: robot {robot.name!r} has no degrees of freedom, so there is nothing to move")
    needs_masses = flag(masses, f"{what}: gravity")
    if needs_masses and not has_moving_mass(robot):
        raise ModelError(
            f"{what}: robot {robot.name!r} has no masses, so its dynamics is not known; give its links masses and "
            "inertias"
        )
    if needs_masses and robot.model.constraints and not loops:
        raise ModelError(
            f"{what}: robot {robot.name!r} has closed loops, and this law knows of none; GravityCompensation, PD, PID "
            "and ComputedTorque do"
        )
    if inverse and massless_joints(robot):
        raise ModelError(
            f"{what}: the mass matrix of robot {robot.name!r} is singular, because {quoted(massless_joints(robot))} "
            "moves no mass; give its link an inertia, or the joint a rotor, or lock it"
        )
    return robot


def actuated_velocities(robot: Mechanism, actuated: Actuated, what: str) -> tuple[int, ...]:
    """The places in qd of the velocities that have a motor; a warning where others are left out unasked."""
    if actuated is True:
        return tuple(range(robot.nv))
    if actuated is None:
        return _with_motors(robot, what)
    names: list[object] = [None]
    if isinstance(actuated, Collection) and not isinstance(actuated, (str, np.ndarray)):
        names = [*actuated]
    if not all(isinstance(name, str) for name in names):
        raise ShapeError(
            f"{what}: actuated must be a list of joints' names, True for all, or None, got {short_repr(actuated)}"
        )
    return find_velocities(robot, what, [str(name) for name in names])


def _with_motors(robot: Mechanism, what: str) -> tuple[int, ...]:
    """All velocities but those of free joints, and those whose effort limit is zero."""
    free = {places.joint.name for places in robot.model.layout.joints if places.joint.kind.name == "free"}
    driven = set(driven_velocities(robot))
    left_out = {velocity.joint for velocity in robot.model.layout.velocities if velocity.index not in driven} | free
    left_out -= {pair.spring.name for pair in elastic_joints(robot.model)}  # their motors hold them
    if left_out and not robot.model.constraints:  # joints of closed loops are moved by the others
        names = [name for name in robot.joint_names if name in left_out]
        warnings.warn(
            f"{what}: no motor drives {quoted(names)} of robot {robot.name!r} (a free joint, or an effort limit of 0): "
            "the law gives no torque there and cannot hold it against gravity or bring it to a target. Name the joints "
            "with motors by actuated=[...], or pass actuated=True for all",
            ModelWarning,
            stacklevel=5,  # the call of the law's class
        )
    return tuple(i for i in driven_velocities(robot) if robot.model.layout.velocities[i].joint not in free)
