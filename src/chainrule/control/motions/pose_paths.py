"""Configurations along a path of a frame through poses."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.control.motions.limits import MIN_LEG_LENGTH
from chainrule.control.motions.poses import plan_pose
from chainrule.errors import ModelError
from chainrule.inverse_kinematics.path import follow
from chainrule.kinematics.configurations import difference

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

POSES_PER_LEG = 40
"""Poses between two that are given, for which configurations are found."""
TOLERANCE = (1e-9, 1e-9)
"""Errors of those configurations, in m and rad; larger ones would show as accelerations."""
LARGEST_TURN = 0.5
"""Displacement of a joint between two of those poses, in rad or m, beyond which it jumps to another branch."""


def through_poses(robot: Mechanism, poses: Any, link: str | None, q0: Any) -> tuple[Array, Array]:
    """Configurations (m, nq) along a smooth path of a frame through poses, and the places of the poses among them."""
    reference = plan_pose(poses, times=1.0)
    count = len(reference.times)
    t = np.unique(np.concatenate([np.linspace(a, b, POSES_PER_LEG + 1) for a, b in pairwise(reference.times)]))
    T, _, _ = reference(t)
    path = follow(robot, T, q0, link, tolerance=TOLERANCE)
    if not path.success.all():
        place = int(np.argmin(path.success))
        leg = min(int(np.searchsorted(reference.times, t[place], side="right")), count - 1)
        position, angle = path.error[place]
        raise ModelError(
            f"plan: the path from pose {leg - 1} to pose {leg} cannot be followed: {position:.3g} m and {angle:.3g} "
            "rad are left on the way. Move the poses, add one between them, or start from another q0=..."
        )
    if path.largest_step > LARGEST_TURN:
        place, dof = map(int, np.unravel_index(int(np.abs(path.steps).argmax()), path.steps.shape))
        leg = min(int(np.searchsorted(reference.times, t[place], side="right")), count - 1)
        raise ModelError(
            f"plan: between pose {leg - 1} and pose {leg}, {path.velocity_names[dof]!r} would have to jump by "
            f"{path.largest_step:.3g}: the path goes past a singularity. Move the poses, or start from another q0=..."
        )
    keep = np.ones(len(t), dtype=bool)  # poses at which the path all but stands still would make it short of digits
    moves = np.linalg.norm(difference(robot, path.q[:-1], path.q[1:]), axis=-1)
    shortest = max(MIN_LEG_LENGTH, 1e-3 * float(moves.max()))
    stops = np.searchsorted(t, reference.times - 1e-12)
    for k in range(1, len(t)):
        last = int(np.flatnonzero(keep[:k])[-1])
        if np.linalg.norm(difference(robot, path.q[last], path.q[k])) < shortest:
            keep[last if k in stops and last not in stops else k] = False
    places = np.cumsum(keep) - 1
    return path.q[keep], places[stops]
